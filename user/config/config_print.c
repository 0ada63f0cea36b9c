// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_print.c - a configuration in its own grammar, with nothing left to defaults.
 */
#include <stdio.h>

#include "config/config.h"
#include "lib/names.h"
#include "lib/rate_text.h"

static const char *const modes[] = {
	[MODE_AUTO] = "auto",
	[MODE_NATIVE] = "native",
	[MODE_SKB] = "skb",
};

static const char *const proofs[] = {
	[VALIDATION_OFF] = "off",
	[VALIDATION_UNDER_LOAD] = "under-load",
	[VALIDATION_ALWAYS] = "always",
};

static const char *const answerings[] = {
	[CACHE_OFF] = "off",
	[CACHE_UNDER_LOAD] = "under-load",
	[CACHE_ALWAYS] = "always",
};

static const char *const policies[] = {
	[POLICY_DROP] = "drop",
	[POLICY_LIMIT] = "limit",
	[POLICY_PASS] = "pass",
};

/* Print @text in double quotes, as the grammar reads it. */
static void print_string(const char *text, FILE *file)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

static void print_list(const char *key, const struct cidr *cidrs, const bool *unlimited,
		       size_t n, FILE *file)
{
	char text[CIDR_TEXT];

	if (!n)
		return;
	fprintf(file, "%s = {", key);
	for (size_t i = 0; i < n; i++) {
		cidr_format(&cidrs[i], text);
		fprintf(file, "%s\n\t\"%s%s\"", i ? "," : "", text,
			unlimited && unlimited[i] ? " unlimited" : "");
	}
	fputs("\n}\n", file);
}

static void print_live(const struct config *c, FILE *file)
{
	fprintf(file, "sample {\n\tone-in = %u\n\trate = %u\n}\n", c->sample_every,
		c->sample_rate);
	fprintf(file, "follow {\n\tfirst = %u\n\tone-in = %u\n\trate = %u\n",
		c->follow_first, c->follow_every, c->follow_rate);
	print_list("addresses", c->follow, NULL, c->follow_count, file);
	if (c->follow_psk_file[0]) {
		fputs("\tpsk-identity = ", file);
		print_string(c->follow_psk_identity, file);
		fputs("\n\tpsk-file = ", file);
		print_string(c->follow_psk_file, file);
		fputc('\n', file);
	}
	fputs("}\noutput {\n", file);
	if (c->output_json[0]) {
		fputs("\tjson = ", file);
		print_string(c->output_json, file);
		fputc('\n', file);
	}
	if (c->output_pcapng[0]) {
		fputs("\tpcapng = ", file);
		print_string(c->output_pcapng, file);
		fputc('\n', file);
	}
	fprintf(file, "\tcpu-percent = %u\n}\n", c->output_cpu);
}

static void print_addresses(const struct config_service *s, FILE *file)
{
	char text[CIDR_TEXT];

	if (!s->address_count)
		return;
	fputs("\taddress = {", file);
	for (size_t i = 0; i < s->address_count; i++) {
		struct cidr cidr = { .length = 128 };

		for (int j = 0; j < 4; j++)
			cidr.addr[j] = s->addresses[i][j];
		cidr_format(&cidr, text);
		fprintf(file, "%s\"%s\"", i ? ", " : "", text);
	}
	fputs("}\n", file);
}

static void print_budget(enum wire_class class, const struct budget *b, FILE *file)
{
	char source[RATE_TEXT], prefix[RATE_TEXT], global[RATE_TEXT];

	rate_format(&b->source, source);
	rate_format(&b->prefix, prefix);
	rate_format(&b->service, global);
	fprintf(file,
		"\t%s {\n\t\tsource = \"%s\"\n\t\tprefix = \"%s\"\n"
		"\t\tservice = \"%s\"\n\t}\n",
		class_name(class), source, prefix, global);
}

static void print_service(const struct config_service *s, FILE *file)
{
	const __u8 *policy = s->service.policy;

	fputs("\nservice ", file);
	print_string(s->service.name, file);
	fprintf(file, " {\n\tprotocol = %s\n\tport = {",
		family_name((enum wire_family)s->service.family));
	for (size_t i = 0; i < s->port_count; i++)
		fprintf(file, "%s%u", i ? ", " : "", s->ports[i]);
	fputs("}\n", file);
	print_addresses(s, file);
	fprintf(file, "\tobserve = %s\n", s->service.observe ? "true" : "false");
	fprintf(file, "\treplies = %s\n\tmalformed = %s\n\tfragments = %s\n",
		policies[policy[CLASS_REPLY - CLASS_BUDGETS]],
		policies[policy[CLASS_MALFORMED - CLASS_BUDGETS]],
		policies[policy[CLASS_FRAGMENT - CLASS_BUDGETS]]);
	fprintf(file, "\tvalidation = %s\n\tcache = %s\n", proofs[s->service.validation],
		answerings[s->service.cache]);
	fprintf(file, "\tplayers {\n\t\tsource = %u\n\t\tprefix = %u\n\t}\n",
		s->service.players_source, s->service.players_prefix);
	for (int i = 0; i < CLASS_BUDGETS; i++)
		print_budget((enum wire_class)i, &s->service.budget[i], file);
	fputs("}\n", file);
}

static void print_amplification(const struct config *c, FILE *file)
{
	fprintf(file, "amplification {\n\tmode = %s\n",
		c->amplification_strict	     ? "strict"
		: c->amplification_allowance ? "limit"
					     : "off");
	if (c->amplification_allowance && !c->amplification_strict)
		fprintf(file, "\tallowance = %u\n", c->amplification_allowance);
	fprintf(file, "\trefill = %u\n}\n", c->amplification_refill_s);
}

void config_print(const struct config *config, void *file)
{
	char listen[LISTEN_TEXT], rate[RATE_TEXT];

	if (config->interface_count) {
		fputs("interface = {", file);
		for (size_t i = 0; i < config->interface_count; i++) {
			fputs(i ? ", " : "", file);
			print_string(config->interfaces[i], file);
		}
		fputs("}\n", file);
	}
	fprintf(file, "mode = %s\nobserve = %s\non-exit = %s\n", modes[config->mode],
		config->observe ? "true" : "false",
		config->detach_on_exit ? "detach" : "keep");
	if (config->on_attack[0]) {
		fputs("on-attack = ", file);
		print_string(config->on_attack, file);
		fputc('\n', file);
	}
	print_amplification(config, file);
	rate_format(&config->validation, rate);
	fprintf(file, "validation {\n\trate = \"%s\"\n}\n", rate);
	fprintf(file, "cache {\n\tbytes-per-second = %u\n}\n", config->cache_bytes_per_s);
	listen_format(&config->metrics, listen);
	fprintf(file, "metrics {\n\tlisten = \"%s\"\n\tpublic = %s\n}\n", listen,
		config->metrics.public ? "true" : "false");
	print_live(config, file);
	print_list("allow", config->allow, config->allow_unlimited, config->allow_count,
		   file);
	print_list("deny", config->deny, NULL, config->deny_count, file);
	for (size_t i = 0; i < config->service_count; i++)
		print_service(&config->services[i], file);
}
