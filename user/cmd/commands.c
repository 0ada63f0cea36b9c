// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * commands.c - the subcommands: one row each, in the order of the help text.
 */
#include "cmd/commands.h"

#define BIT(id)		OPTION_BIT(id)

#define LIST_OPERANDS	"add|del NETWORK... | list"
#define LIST_COMPLETION "add del list"
#define LIST_MORE                                                                      \
	"NETWORK is 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32; - reads them from\n" \
	"standard input, one a line, with comments behind a #. `list` shows all."

const struct command commands[] = {
	{
		.name = "run",
		.run = cmd_run,
		.help = "the daemon: protect interfaces, in the foreground",
		.options = BIT(CONFIG) | BIT(SET) | BIT(INTERFACE) | BIT(MODE) |
			   BIT(OBSERVE) | BIT(PIN) | BIT(TAKE_OVER),
		.operands = "",
		.completion = "",
	},
	{
		.name = "check",
		.run = cmd_check,
		.help = "validate a configuration",
		.options = BIT(CONFIG) | BIT(SET) | BIT(PRINT) | BIT(JSON),
		.operands = "",
		.completion = "",
	},
	{
		.name = "probe",
		.run = cmd_probe,
		.help = "would it work here, at which interface; what fixes the rest",
		.options = BIT(INTERFACE) | BIT(JSON),
		.operands = "",
		.completion = "",
		.more = "Without -i the interface is the one where the default route leads. "
			"Changes nothing.\n"
			"The exit status is 0 if the shield would work there, 4 if this "
			"process may not load it,\n"
			"5 if it would not protect.",
	},
	{
		.name = "discover",
		.run = cmd_discover,
		.help = "find the game servers of this host: a configuration of them",
		.options = BIT(CONFIG) | BIT(CONTAINERS) | BIT(OUTPUT) | BIT(JSON),
		.operands = "",
		.completion = "",
		.more = "Each UDP socket is asked one harmless question of each protocol. "
			"Takes three seconds.\n"
			"With -c the servers are compared with that file, and the exit status is "
			"5 if one is in\n"
			"no service, or in one of another protocol.",
	},
	{
		.name = "load",
		.run = cmd_load,
		.help = "load and pin, attach nothing; --pin says where",
		.options = BIT(CONFIG) | BIT(SET) | BIT(PIN),
		.operands = "",
		.completion = "",
	},
	{
		.name = "reload",
		.run = cmd_reload,
		.help = "apply the configuration again, keeping all state",
		.options = BIT(CONFIG) | BIT(SET) | BIT(UNDO) | BIT(CONFIRM) |
			   BIT(TRIAL) | BIT(FOR) | BIT(PIN) | BIT(JSON),
		.operands = "",
		.completion = "",
		.more = "Without -c a running daemon is asked to read its own file "
			"again.\n"
			"--trial lasts a minute, or as long as --for says, or until it "
			"is interrupted.",
	},
	{
		.name = "stats",
		.run = cmd_stats,
		.help = "what was counted",
		.options = BIT(HISTORY) | BIT(JSON) | BIT(PIN),
		.operands = "",
		.completion = "",
	},
	{
		.name = "explain",
		.run = cmd_explain,
		.help = "why an address cannot play, or a datagram is dropped",
		.options = BIT(SERVICE) | BIT(FROM) | BIT(CONFIG) | BIT(JSON) | BIT(PIN),
		.operands = "ADDRESS[:PORT] | HEX | FILE",
		.completion = "@file",
		.least = 1,
		.most = 1,
		.more = "HEX is a frame, an IP packet or, with --service, a payload; FILE "
			"has one, or is a\n"
			"capture, of which the first datagram is judged.\n"
			"Nothing is charged: a copy of the program judges datagrams that "
			"such a client sends.\n"
			"The last lines name the causes.",
	},
	{
		.name = "watch",
		.run = cmd_watch,
		.help = "what happens to an address, until interrupted",
		.options = BIT(SERVICE) | BIT(JSON) | BIT(PIN),
		.operands = "ADDRESS[:PORT]",
		.completion = "",
		.least = 1,
		.most = 1,
		.more = "Refusals are samples: one in 16 of each kind and reason is looked "
			"at.",
	},
	{
		.name = "attacks",
		.run = cmd_attacks,
		.help = "attacks on services, past and present",
		.options = BIT(JSON) | BIT(PIN),
		.operands = "",
		.completion = "",
		.more = "lasted: + it goes on, ? its daemon has gone; players: before > least "
			"since.",
	},
	{
		.name = "on-attack",
		.run = cmd_on_attack,
		.help = "run the configured command for attacks: for systemd",
		.options = BIT(CONFIG),
		.operands = "",
		.completion = "",
		.more = "Runs `on-attack` of the configuration for each event that the daemon "
			"has left,\n"
			"in a unit of its own. Started by quakeshield-attack.path.",
	},
	{
		.name = "status",
		.run = cmd_status,
		.help = "what is attached where, in which mode, since when",
		.options = BIT(LISTED) | BIT(MASTER) | BIT(ADDRESS) | BIT(SERVICE) |
			   BIT(JSON) | BIT(PIN),
		.operands = "",
		.completion = "",
		.more = "The exit status is 0 if every interface is protected, 3 if "
			"nothing is loaded,\n"
			"4 without permission to look, 5 if an interface is not "
			"protected.\n"
			"--listed sends each master a few questions, each twice at most, "
			"and shows the result\n"
			"instead: 0 if each service is in a list, 5 if one is in none. "
			"Without --master the\n"
			"well-known masters of the services' protocols are asked.",
	},
	{
		.name = "allow",
		.run = cmd_allow,
		.help = "sources that no limit refuses: add, del, list",
		.options = BIT(UNLIMITED) | BIT(FORCE) | BIT(FOR) | BIT(COMMENT) |
			   BIT(JSON) | BIT(PIN),
		.operands = LIST_OPERANDS,
		.completion = LIST_COMPLETION,
		.least = 1,
		.most = -1,
		.more = LIST_MORE,
	},
	{
		.name = "deny",
		.run = cmd_deny,
		.help = "sources that are always dropped: add, del, list",
		.options = BIT(FORCE) | BIT(FOR) | BIT(COMMENT) | BIT(JSON) | BIT(PIN),
		.operands = LIST_OPERANDS,
		.completion = LIST_COMPLETION,
		.least = 1,
		.most = -1,
		.more = LIST_MORE,
	},
	{
		.name = "top",
		.run = cmd_top,
		.help = "a live view in a terminal",
		.options = BIT(ONCE) | BIT(PIN),
		.operands = "",
		.completion = "",
		.more = "h shows the keys; it reads what is pinned, daemon alive or not.",
	},
	{
		.name = "lag",
		.run = cmd_lag,
		.help = "the cause of lag: the server, the uplink or one player",
		.options = BIT(JSON) | BIT(PIN),
		.operands = "",
		.completion = "",
		.more = "A verdict on the last minute of each followed player, and the "
			"letters of up to 60\n"
			"minutes: . none, S server, U uplink, A attack, H host, D shield, P "
			"player,\n"
			"? unknown. Needs the daemon, and `follow` in its configuration.",
	},
	{
		.name = "detach",
		.run = cmd_detach,
		.help = "take the shield down and forget its state",
		.options = BIT(PIN) | BIT(PURGE),
		.operands = "",
		.completion = "",
	},
	{
		.name = "decode",
		.run = cmd_decode,
		.help = "decode captures and demos",
		.options = BIT(JSON) | BIT(SUMMARY) | BIT(LAGOMETER) | BIT(VERBOSE) |
			   BIT(TRACE) | BIT(AS) | BIT(HEX) | BIT(KIND) | BIT(STATUS) |
			   BIT(HOST) | BIT(FILTER) | BIT(LIMIT) | BIT(PROTOCOL) |
			   BIT(EXTRACT) | BIT(SECRETS) | BIT(PROGRESS) | BIT(KEYLOG) |
			   BIT(PSK_NAME) | BIT(PSK),
		.operands = "FILE...",
		.completion = "@file",
		.least = 1,
		.most = -1,
		.more = "FILE is a capture (pcap, pcapng) or a demo (.dem .qwd .mvd .dm2 "
			".mvd2 .dm_NN .urtdemo),\n"
			"packed by gzip or not, or a zip archive of such; - is standard input. "
			"Without an option each "
			"datagram or demo block is\n"
			"a line to read.",
	},
	{
		.name = "replay",
		.run = cmd_replay,
		.help = "what the shield would decide about packets of captures",
		.options = BIT(CONFIG) | BIT(SET) | BIT(DIFF) | BIT(WRITE) |
			   BIT(VERBOSE) | BIT(FILTER) | BIT(PROGRESS) | BIT(JSON),
		.operands = "FILE...",
		.completion = "@file",
		.least = 1,
		.most = -1,
		.more = "FILE is a pcap or pcapng file, packed by gzip or not; - is standard "
			"input. Files are\n"
			"judged in order, as one stretch of traffic, by the capture's time, in "
			"tables that\n"
			"no interface uses. A running shield is not touched.",
	},
	{
		.name = "completion",
		.run = cmd_completion,
		.help = "what bash, zsh or fish needs to complete all this",
		.operands = "bash|zsh|fish",
		.completion = "bash zsh fish",
		.least = 1,
		.most = 1,
	},
	{
		.name = "help",
		.run = cmd_help,
		.help = "this text, or that of one command",
		.operands = "[COMMAND]",
		.completion = "@command",
		.most = 1,
	},
	{ .name = NULL },
};
