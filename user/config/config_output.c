// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_output.c - sections sample, follow and output: which datagrams the daemon
 * samples, and where it writes them. Without them it samples none, at no cost. And the
 * command that is run at an attack.
 */
#include <errno.h>
#include <string.h>

#include "config/config_keys.h"
#include "config/config_parse.h"
#include "config/config_text.h"

/* The section if it is there; -EINVAL if it is there twice. */
static int section_get(cfg_t *cfg, const char *name, cfg_t **ret)
{
	*ret = cfg_getnsec(cfg, name, 0);
	if (cfg_size(cfg, name) < 2)
		return 0;
	return config_error(cfg_getnsec(cfg, name, 1)->filename,
			    cfg_getnsec(cfg, name, 1)->line,
			    "section '%s' is given twice", name);
}

/* Read 0 or a power of two: the kernel programs have no division. */
static int power_read(cfg_t *section, const char *name, __u32 *ret)
{
	const unsigned long most = key_of(section, name)->high;
	const struct kept *v = value_get(section, name);
	unsigned long n;

	if (!v)
		return 0;
	if (!number_parse(v->text, 0, most, &n) || n & (n - 1))
		return config_error(v->path, v->line,
				    "%s '%s' is not 0 or a power of two up to %lu", name,
				    v->text, most);
	*ret = (__u32)n;
	return 0;
}

/* Read a target: "/path", "|/path" of a FIFO, or "unix:/path". */
static int target_read(cfg_t *section, const char *key, char ret[OUTPUT_NAME])
{
	const struct kept *v = value_get(section, key);
	const char *path;

	if (!v)
		return 0;
	path = v->text;
	if (!strncmp(path, "unix:", 5))
		path += 5;
	else if (*path == '|')
		path++;
	if (*path != '/' || !text_printable(path))
		return config_error(v->path, v->line,
				    "%s '%s' is not /path, |/path or unix:/path", key,
				    v->text);
	if (strlen(v->text) >= OUTPUT_NAME)
		return config_error(v->path, v->line, "%s '%s' is longer than %d octets",
				    key, v->text, OUTPUT_NAME - 1);
	strcpy(ret, v->text);
	return 0;
}

/* Return the "/path" of all three ways to write it. */
static const char *target_path(const char *target)
{
	return target + strcspn(target, "/");
}

/* Refuse one path for both targets: lines among blocks would be neither. */
static int targets_check(cfg_t *output, const struct config *config)
{
	const struct kept *v = value_get(output, "pcapng");

	if (!config->output_json[0] || !config->output_pcapng[0] ||
	    strcmp(target_path(config->output_json),
		   target_path(config->output_pcapng)) != 0)
		return 0;
	return config_error(v->path, v->line, "json and pcapng cannot both go to '%s'",
			    target_path(v->text));
}

static int text_read(cfg_t *section, const char *key, char *ret, size_t size)
{
	const struct kept *v = value_get(section, key);

	if (!v)
		return 0;
	if (!v->text[0] || !text_printable(v->text) || strlen(v->text) >= size)
		return config_error(v->path, v->line,
				    "%s '%s' is not 1 to %zu printable characters", key,
				    v->text, size - 1);
	strcpy(ret, v->text);
	return 0;
}

/* The key itself never stands in the file that all may read. */
static int psk_read(const struct parse *p, cfg_t *follow)
{
	char *identity = p->config->follow_psk_identity;
	char *file = p->config->follow_psk_file;

	if (text_read(follow, "psk-identity", identity, PSK_IDENTITY) ||
	    text_read(follow, "psk-file", file, PSK_FILE))
		return -EINVAL;
	if (!*identity != !*file)
		return config_error(
			value_get(follow, *file ? "psk-file" : "psk-identity")->path,
			value_get(follow, *file ? "psk-file" : "psk-identity")->line,
			"psk-identity and psk-file go together");
	if (*file && *file != '/')
		return config_error(value_get(follow, "psk-file")->path,
				    value_get(follow, "psk-file")->line,
				    "psk-file '%s' is not /path", file);
	return 0;
}

static size_t words_count(const char *text)
{
	size_t count = 0;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		text += strcspn(text, " \t");
		count++;
	}
	return count;
}

/*
 * Read the command, which is not given to a shell: /path, and words, parted by spaces.
 */
static int command_read(const struct parse *p, cfg_t *cfg)
{
	char *command = p->config->on_attack;

	if (text_read(cfg, "on-attack", command, CONFIG_COMMAND))
		return -EINVAL;
	if (*command && *command != '/')
		return config_error(value_get(cfg, "on-attack")->path,
				    value_get(cfg, "on-attack")->line,
				    "on-attack '%s' is not /path", command);
	if (words_count(command) > CONFIG_WORDS)
		return config_error(value_get(cfg, "on-attack")->path,
				    value_get(cfg, "on-attack")->line,
				    "on-attack '%s' has more than %d words", command,
				    CONFIG_WORDS);
	return 0;
}

int output_read(struct parse *p, cfg_t *cfg)
{
	struct config *config = p->config;
	cfg_t *sample, *follow, *output;

	if (section_get(cfg, "sample", &sample) || section_get(cfg, "follow", &follow) ||
	    section_get(cfg, "output", &output) || command_read(p, cfg))
		return -EINVAL;
	if (sample) {
		config->sample_every = SAMPLE_EVERY;
		if (power_read(sample, "one-in", &config->sample_every) ||
		    number_read(sample, "rate", &config->sample_rate))
			return -EINVAL;
	}
	if (follow && (number_read(follow, "first", &config->follow_first) ||
		       power_read(follow, "one-in", &config->follow_every) ||
		       number_read(follow, "rate", &config->follow_rate) ||
		       list_read(follow, "addresses", config->follow, NULL,
				 &config->follow_count) ||
		       psk_read(p, follow)))
		return -EINVAL;
	if (output && (target_read(output, "json", config->output_json) ||
		       target_read(output, "pcapng", config->output_pcapng) ||
		       number_read(output, "cpu-percent", &config->output_cpu) ||
		       targets_check(output, config)))
		return -EINVAL;
	return 0;
}
