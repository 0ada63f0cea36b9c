/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * commands.h - the subcommands: one row each, in the order of the help text.
 *
 * argv[0] is the subcommand's own name. Each returns the exit status: 0, or 1 after
 * one message on stderr that quotes what was wrong.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

/* clang-format off */
#define COMMANDS(X)							\
	X("run", cmd_run, "protect interfaces: [-c FILE] [-i IFACE]... [--mode M] [--observe]") \
	X("check", cmd_check, "validate a configuration: [-c FILE] [--print]")		\
	X("load", cmd_load, "load and pin, attach nothing: [-c FILE] --pin DIR")	\
	X("reload", cmd_reload, "apply the configuration again, keeping all state")	\
	X("stats", cmd_stats, "what was counted: [--json] [--pin DIR]")			\
	X("status", cmd_status, "what is attached where, in which mode, since when")	\
	X("allow", cmd_allow, "sources never judged: add|del CIDR, list")		\
	X("deny", cmd_deny, "sources always dropped: add|del CIDR, list")		\
	X("top", cmd_top, "live view in a terminal: [--pin DIR]")			\
	X("detach", cmd_detach, "take the shield down and forget its state")		\
	X("decode", cmd_decode,								\
	  "decode captures and demos: [--json] [--summary] [--protocol P] FILE...")
/* clang-format on */

#define AS_DECLARATION(name, function, help) int function(int argc, char **argv);
COMMANDS(AS_DECLARATION)
#undef AS_DECLARATION

#endif /* COMMANDS_H */
