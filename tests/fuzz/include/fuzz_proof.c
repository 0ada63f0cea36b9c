// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any request, as an engine's that has to prove its address: what asks for the proof,
 * what a client makes of that, and what becomes of what comes back. And any bytes as if
 * they had come back.
 *
 *	family:8 number:64 payload
 */
#include <ctype.h>
#include <string.h>

#include "fuzz/fuzz.h"

#include "challenge.h"

#define HEAD 9

/* The beginning of a payload as the shield looks at it: zeros behind it. */
static struct challenge_text text_of(const uint8_t *bytes, size_t n)
{
	struct challenge_text t = { { 0 } };

	if (n)
		memcpy(t.at, bytes, n < CHALLENGE_TEXT ? n : CHALLENGE_TEXT);
	return t;
}

static void plain_letters(const uint8_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		must(isalnum(at[i]) || strchr("_-.", at[i]));
}

/* Zeros stay behind whatever is written. */
static void clean_behind(const struct challenge_text *t, size_t n)
{
	for (size_t i = n; i < CHALLENGE_TEXT; i++)
		must(!t->at[i]);
}

/*
 * The echo of @form with @letters, written over the request of @n bytes, @bytes, where no
 * more than it is there. Returns its length; 0: there is none.
 */
static __u32 echo_of(struct challenge_text *ret, const uint8_t *bytes, size_t n,
		     enum cookie_form form, __u64 letters)
{
	__u32 length = challenge_length(FAMILY_QUAKE3, form, (__u32)n);
	size_t room = n < length ? length : n;
	uint8_t *at = malloc(room);
	struct challenge_words said;

	must(at != NULL);
	memcpy(at, bytes, n);
	memset(ret, 0, sizeof(*ret));
	challenge_echo(form, letters, &said);
	if (form == COOKIE_ARGUED &&
	    challenge_arguments(at, at + n, (__u32)n, (__u8)said.words[2]) < 0)
		length = 0;
	if (length) {
		must(challenge_store(at, at + room, form, length, &said));
		memcpy(ret->at, at, length);
	}
	free(at);
	return length;
}

/* `echo TOKEN`, then TOKEN, then the request again, octet for octet. */
static void echo_comes_back(const uint8_t *bytes, size_t n, enum wire_kind kind,
			    uint64_t hash)
{
	enum cookie_form form = challenge_form(FAMILY_QUAKE3, kind, (__u32)n);
	__u64 letters = cookie_letters(hash, hash >> 7);
	struct challenge_text t, back = { { 0 } };
	__u32 said, returned, asked;

	said = echo_of(&t, bytes, n, form, letters);
	if (!said)
		return;
	must(said <= CHALLENGE_TEXT && (said <= n || form == COOKIE_STATUS));
	must(!memcmp(t.at + ECHO_BACK_AT, "echo ", 5));
	plain_letters(t.at + ECHO_TOKEN_AT, said - ECHO_TOKEN_AT);
	clean_behind(&t, said);

	returned = said - 5;
	memset(back.at, 0xff, ECHO_BACK_AT);
	memcpy(back.at + ECHO_BACK_AT, t.at + ECHO_TOKEN_AT, said - ECHO_TOKEN_AT);
	must(echo_begins(FAMILY_QUAKE3, back.at[ECHO_BACK_AT], returned));
	must(echo_form(FAMILY_QUAKE3, back.at[ECHO_BACK_AT + ECHO_LETTERS], returned) ==
	     form);
	must(echo_letters(&back, form) ==
	     (form == COOKIE_BARE ? letters & 0xffffffffffffffull : letters));
	asked = rewrite_echo(&back, FAMILY_QUAKE3, form, returned);
	if (form == COOKIE_INFO || form == COOKIE_STATUS)
		return;
	must(asked == n && !memcmp(back.at + 4, bytes + 4, n - 4));
	clean_behind(&back, asked);
}

/* Whatever comes back, what is made of it fits and begins with a request's word. */
static void returned_is_bounded(enum wire_family family, const uint8_t *bytes, size_t n)
{
	struct challenge_text t = text_of(bytes, n);
	enum cookie_form form =
		echo_form(family, t.at[ECHO_BACK_AT + ECHO_LETTERS], (__u32)n);
	__u32 asked;

	if (!form)
		return;
	must(form < COOKIE_FORMS && n < CHALLENGE_TEXT);
	asked = rewrite_echo(&t, family, form, (__u32)n);
	must(asked >= 10 && asked <= CHALLENGE_TEXT);
	if (family == FAMILY_QUAKE3)
		must(!memcmp(t.at + ECHO_BACK_AT, "get", 3));
	else
		must(!memcmp(t.at + ECHO_BACK_AT,
			     form == COOKIE_INFO ? "info 34" : "status", asked - 4));
}

/* The third number of a connect: what is found is ten digits behind two words. */
static void number_is_where_it_says(const uint8_t *bytes, size_t n)
{
	struct challenge_text t = text_of(bytes, n);
	__u32 at = connect_number_at(&t), number;
	__u8 again[COOKIE_DIGITS];

	if (!at)
		return;
	must(at >= CONNECT_NUMBER_AT && at + COOKIE_DIGITS + 1 <= CHALLENGE_TEXT);
	must(t.at[at - 1] == ' ');
	number = connect_number(t.at + at);
	if (!number)
		return;
	cookie_decimal(number, again);
	must(!memcmp(again, t.at + at, COOKIE_DIGITS));
}

/* Our own challenge, and what it becomes in a connect. */
static void challenge_comes_back(enum wire_family family, uint64_t hash)
{
	enum cookie_form form = challenge_form(family, KIND_GETCHALLENGE, 17);
	struct challenge_text t = { { 0 } };
	__u32 n = challenge_length(family, form, 17), more;
	struct challenge_words said;
	__u64 parity, letters;
	uint8_t tail[CONNECT_TAIL_N] = "\\challenge\\";

	challenge_make(family, form, hash, hash >> 9, &said);
	must(challenge_store(t.at, t.at + n, form, n, &said));
	clean_behind(&t, n);
	if (family != FAMILY_NETQUAKE) {
		uint8_t digits[COOKIE_DIGITS + 1];
		__u32 at = family == FAMILY_QUAKE2 ? CHALLENGE_Q2_AT : ECHO_BACK_AT + 1;

		memcpy(digits, t.at + at, COOKIE_DIGITS);
		digits[COOKIE_DIGITS] = ' ';
		must(cookie_number_fits(connect_number(digits), &parity));
		must(connect_number(digits) == cookie_number(hash, hash >> 9));
		must(parity == (hash >> 9 & 1));
		return;
	}
	memcpy(tail + CONNECT_TAIL_N - CHALLENGE_CHARS, t.at + CHALLENGE_Q2_AT,
	       CHALLENGE_CHARS);
	plain_letters(t.at + CHALLENGE_Q2_AT, CHALLENGE_CHARS);
	must(connect_tail(tail, &letters, &more));
	must(letters == cookie_letters(hash, hash >> 9));
	must(more == cookie_letters_more(hash));
	must(cookie_letters_parity(letters) == (hash >> 9 & 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum wire_kind kinds[] = { KIND_GETCHALLENGE, KIND_GETINFO,
						KIND_GETSTATUS };
	static const char word[] = "\xff\xff\xff\xffgetchallenge";
	uint64_t hash;
	uint8_t *bytes;
	size_t n;

	if (size < HEAD)
		return 0;
	memcpy(&hash, data + 1, sizeof(hash));
	n = size - HEAD;
	bytes = exact_copy(data + HEAD, n);
	returned_is_bounded(data[0] % 2 ? FAMILY_QUAKE2 : FAMILY_QUAKE3, bytes, n);
	number_is_where_it_says(bytes, n);
	challenge_comes_back((enum wire_family)(data[0] % 3), hash);
	/* What the classifier has called so begins so. */
	if (n >= CHALLENGE_BARE_N && !memcmp(bytes, word, CHALLENGE_BARE_N))
		echo_comes_back(bytes, n, KIND_GETCHALLENGE, hash);
	else if (n >= CHALLENGE_QUERY_N)
		echo_comes_back(bytes, n, kinds[1 + data[0] % 2], hash);
	free(bytes);
	return 0;
}
