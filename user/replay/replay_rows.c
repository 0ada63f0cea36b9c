// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * replay_rows.c - one packet and its verdict: as a line of JSON, as a line of text, as a
 * block of a pcapng file.
 */
#include <string.h>

#include "lib/jsonl.h"
#include "lib/pcapng.h"
#include "replay/replay.h"

/* clang-format off */
static const struct json_key other_keys[] = {
	JSON_KEY("service", "string|null", NULL, "As of the first configuration."),
	JSON_KEY("protocol", "string|null", NULL, "The same."),
	JSON_KEY("kind", "string|null", NULL, "The same."),
	JSON_KEY("verdict", "string|null", NULL, "The same."),
	JSON_KEY("reason", "string", NULL, "The same."),
	JSON_END,
};

const struct json_key replay_json_keys[] = {
	JSON_KEY("frame", "integer", NULL, "Number of the packet in its file, from 1 on."),
	JSON_KEY("service", "string|null", NULL,
		 "Service that it comes to or leaves; null: none."),
	JSON_KEY("protocol", "string|null", NULL, "Protocol of the service."),
	JSON_KEY("kind", "string|null", NULL,
		 "Kind of datagram, as the shield classifies it; null: it is for no service."),
	JSON_KEY("verdict", "string|null", NULL,
		 "`pass`, `drop` or `respond`; null: it was not judged."),
	JSON_KEY("reason", "string", NULL,
		 "Reason of the verdict, as in docs/reference/reasons.md. Without a verdict: `too-long`, `cut`, `unknown-link`, `not-sent`."),
	JSON_KEY("direction", "string", NULL,
		 "`in`: judged as it arrives; `out`: as it leaves the server."),
	JSON_KEY("time", "number", "seconds", "Time of the capture, since 1970."),
	JSON_KEY("src", "string?", NULL, "Source address, of a UDP datagram."),
	JSON_KEY("sport", "integer?", NULL, "Source port."),
	JSON_KEY("dst", "string?", NULL, "Destination address."),
	JSON_KEY("dport", "integer?", NULL, "Destination port."),
	JSON_KEY("observed", "boolean?", NULL,
		 "True: it passes in spite of the verdict, because the service only observes."),
	JSON_KEY("missing", "integer?", "bytes",
		 "Bytes at its end that the capture lacks; it is judged with zeros there."),
	JSON_KEY("file", "string?", NULL, "Name of the file, where several are replayed."),
	JSON_OBJECT("other", "object?", NULL,
		    "With --diff: what the other configuration says.", other_keys),
	JSON_END,
};
/* clang-format on */

static void text_or_null(struct jsonl *json, const char *key, const char *value)
{
	jsonl_text(json, key);
	if (value)
		jsonl_string(json, value, strlen(value));
	else
		jsonl_text(json, "null");
}

static void words_json(struct jsonl *json, const struct replay_verdict *verdict)
{
	struct replay_words w = replay_words(verdict);

	text_or_null(json, "\"service\":", w.service);
	text_or_null(json, ",\"protocol\":", w.protocol);
	text_or_null(json, ",\"kind\":", w.kind);
	text_or_null(json, ",\"verdict\":", w.verdict);
	text_or_null(json, ",\"reason\":", w.reason);
}

static void end_json(struct jsonl *json, const char *address, const char *port,
		     const struct record_address *end)
{
	jsonl_text(json, address);
	jsonl_host(json, end->bytes, end->length);
	jsonl_text(json, port);
	jsonl_uint(json, end->port);
}

/* It passes although its reason drops it. */
static bool is_observed(const struct replay_verdict *v)
{
	return !v->skip && v->service && v->verdict.passes &&
	       reason_verdict(v->verdict.reason) == VERDICT_DROP;
}

static uint32_t missing(const struct replay_packet *p)
{
	return !p->by[0].skip && p->captured < p->length ? p->length - p->captured : 0;
}

void replay_to_json(struct jsonl *json, const struct replay_packet *p, bool named,
		    bool other)
{
	jsonl_text(json, "{\"frame\":");
	jsonl_uint(json, p->number);
	jsonl_text(json, ",");
	words_json(json, &p->by[0]);
	jsonl_text(json, p->out ? ",\"direction\":\"out\",\"time\":"
				: ",\"direction\":\"in\",\"time\":");
	jsonl_time(json, p->time_ns);
	if (p->has_ends) {
		end_json(json, ",\"src\":\"", "\",\"sport\":", &p->source);
		end_json(json, ",\"dst\":\"", "\",\"dport\":", &p->destination);
	}
	if (is_observed(&p->by[0]))
		jsonl_text(json, ",\"observed\":true");
	if (missing(p)) {
		jsonl_text(json, ",\"missing\":");
		jsonl_uint(json, missing(p));
	}
	if (named)
		text_or_null(json, ",\"file\":", p->file);
	if (other) {
		jsonl_text(json, ",\"other\":{");
		words_json(json, &p->by[1]);
		jsonl_text(json, "}");
	}
	jsonl_text(json, "}\n");
}

/* --- text ------------------------------------------------------------------------ */

#define WORDS_TEXT 128

/* "ffa getstatus drop source-limit", or "no-service". */
static void words_text(const struct replay_verdict *v, char ret[WORDS_TEXT])
{
	struct replay_words w = replay_words(v);

	if (v->skip)
		snprintf(ret, WORDS_TEXT, "not judged: %s", w.reason);
	else if (!w.service)
		snprintf(ret, WORDS_TEXT, "%s %s", w.verdict, w.reason);
	else
		snprintf(ret, WORDS_TEXT, "%s %s %s %s%s", w.service, w.kind, w.verdict,
			 w.reason, is_observed(v) ? " (only observed)" : "");
}

static void end_text(struct jsonl *json, const struct record_address *end)
{
	if (end->length == 16)
		jsonl_text(json, "[");
	jsonl_host(json, end->bytes, end->length);
	jsonl_text(json, end->length == 16 ? "]:" : ":");
	jsonl_uint(json, end->port);
}

void replay_to_text(struct jsonl *json, const struct replay_packet *p, bool named,
		    bool other)
{
	char words[WORDS_TEXT];

	if (named) {
		jsonl_uint(json, p->file_number + 1);
		jsonl_text(json, ":");
	}
	jsonl_uint(json, p->number);
	jsonl_text(json, " ");
	jsonl_time(json, p->time_ns);
	jsonl_text(json, p->out ? " out " : " in ");
	if (p->has_ends) {
		end_text(json, &p->source);
		jsonl_text(json, " > ");
		end_text(json, &p->destination);
		jsonl_text(json, " ");
	}
	words_text(&p->by[0], words);
	jsonl_text(json, words);
	if (other) {
		words_text(&p->by[1], words);
		jsonl_text(json, " -> ");
		jsonl_text(json, words);
	}
	jsonl_text(json, "\n");
}

/* --- pcapng ------------------------------------------------------------------------ */

/* The program's return value: linux/bpf.h, linux/pkt_cls.h. */
static uint64_t action_of(bool out, const struct replay_verdict *v)
{
	enum {
		XDP_DROP = 1,
		XDP_PASS = 2,
		XDP_TX = 3,
		TC_OK = 0,
		TC_SHOT = 2,
	};

	if (v->skip || v->verdict.passes)
		return out ? TC_OK : XDP_PASS;
	return out ? TC_SHOT : v->verdict.sent ? XDP_TX : XDP_DROP;
}

size_t replay_to_pcapng(uint8_t *to, const struct replay_packet *p, bool other)
{
	char comment[PCAPNG_COMMENT_MAX], words[2][WORDS_TEXT];
	const struct pcapng_packet packet = {
		.time_ns = p->time_ns,
		.frame = p->frame,
		.kept = p->captured,
		.length = p->length,
		.inbound = !p->out,
		.xdp = !p->out,
		.action = action_of(p->out, &p->by[0]),
		.comment = comment,
	};

	words_text(&p->by[0], words[0]);
	words_text(&p->by[1], words[1]);
	snprintf(comment, sizeof(comment), other ? "%s -> %s" : "%s", words[0], words[1]);
	return pcapng_packet(to, &packet);
}
