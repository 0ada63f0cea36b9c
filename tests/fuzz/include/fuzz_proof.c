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

#include "proof.h"

#define HEAD 9

/* The beginning of a payload as the shield looks at it: zeros behind it. */
static struct proof_text text_of(const uint8_t *bytes, size_t n)
{
	struct proof_text t = { { 0 } };

	if (n)
		memcpy(t.at, bytes, n < PROOF_TEXT ? n : PROOF_TEXT);
	return t;
}

static void plain_letters(const uint8_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		must(isalnum(at[i]) || strchr("_-.", at[i]));
}

/* Zeros stay behind whatever is written. */
static void clean_behind(const struct proof_text *t, size_t n)
{
	for (size_t i = n; i < PROOF_TEXT; i++)
		must(!t->at[i]);
}

/*
 * The echo of @form with @letters, written over the request of @n bytes, @bytes, where no
 * more than it is there. Returns its length; 0: there is none.
 */
static __u32 echo_of(struct proof_text *ret, const uint8_t *bytes, size_t n,
		     enum cookie_form form, __u64 letters)
{
	__u32 length = proof_said_length(FAMILY_QUAKE3, form, (__u32)n);
	size_t room = n < length ? length : n;
	uint8_t *at = malloc(room);
	struct proof_said said;

	must(at != NULL);
	memcpy(at, bytes, n);
	memset(ret, 0, sizeof(*ret));
	proof_echo(form, letters, &said);
	if (form == COOKIE_ARGUED &&
	    proof_arguments(at, at + n, (__u32)n, (__u8)said.words[2]) < 0)
		length = 0;
	if (length) {
		must(proof_store(at, at + room, form, length, &said));
		memcpy(ret->at, at, length);
	}
	free(at);
	return length;
}

/* `echo TOKEN`, then TOKEN, then the request again, octet for octet. */
static void echo_comes_back(const uint8_t *bytes, size_t n, enum wire_kind kind,
			    uint64_t hash)
{
	enum cookie_form form = proof_form(kind, (__u32)n);
	__u64 letters = cookie_letters(hash, hash >> 7);
	struct proof_text t, back = { { 0 } };
	__u32 said, returned, asked;

	said = echo_of(&t, bytes, n, form, letters);
	if (!said)
		return;
	must(said <= PROOF_TEXT && (said <= n || form == COOKIE_STATUS));
	must(!memcmp(t.at + PROOF_BACK, "echo ", 5));
	plain_letters(t.at + PROOF_TOKEN, said - PROOF_TOKEN);
	clean_behind(&t, said);

	returned = said - 5;
	memset(back.at, 0xff, PROOF_BACK);
	memcpy(back.at + PROOF_BACK, t.at + PROOF_TOKEN, said - PROOF_TOKEN);
	must(proof_begins(back.at[PROOF_BACK], returned));
	must(proof_returned(back.at[PROOF_BACK + PROOF_LETTERS], returned) == form);
	must(proof_letters(&back, form) ==
	     (form == COOKIE_BARE ? letters & 0xffffffffffffffull : letters));
	asked = proof_ask(&back, form, returned);
	if (form == COOKIE_INFO || form == COOKIE_STATUS)
		return;
	must(asked == n && !memcmp(back.at + 4, bytes + 4, n - 4));
	clean_behind(&back, asked);
}

/* Whatever comes back, what is made of it fits and begins with a request's word. */
static void returned_is_bounded(const uint8_t *bytes, size_t n)
{
	struct proof_text t = text_of(bytes, n);
	enum cookie_form form =
		proof_returned(t.at[PROOF_BACK + PROOF_LETTERS], (__u32)n);
	__u32 asked;

	if (!form)
		return;
	must(form < COOKIE_FORMS && n < PROOF_TEXT);
	asked = proof_ask(&t, form, (__u32)n);
	must(asked >= 13 && asked <= PROOF_TEXT);
	must(!memcmp(t.at + PROOF_BACK, "get", 3));
}

/* The third number of a connect: what is found is ten digits behind two words. */
static void number_is_where_it_says(const uint8_t *bytes, size_t n)
{
	struct proof_text t = text_of(bytes, n);
	__u32 at = proof_number_at(&t), number;
	__u8 again[COOKIE_DIGITS];

	if (!at)
		return;
	must(at >= PROOF_NUMBER_AT && at + COOKIE_DIGITS + 1 <= PROOF_TEXT);
	must(t.at[at - 1] == ' ');
	number = proof_number(t.at + at);
	if (!number)
		return;
	cookie_decimal(number, again);
	must(!memcmp(again, t.at + at, COOKIE_DIGITS));
}

/* Our own challenge, and what it becomes in a connect. */
static void challenge_comes_back(enum wire_family family, uint64_t hash)
{
	enum cookie_form form = proof_asks_by(family, KIND_GETCHALLENGE, 17);
	struct proof_text t = { { 0 } };
	__u32 n = proof_said_length(family, form, 17), more;
	struct proof_said said;
	__u64 parity, letters;
	uint8_t tail[PROOF_TAIL] = "\\challenge\\";

	proof_say(family, form, hash, hash >> 9, &said);
	must(proof_store(t.at, t.at + n, form, n, &said));
	clean_behind(&t, n);
	if (family != FAMILY_NETQUAKE) {
		uint8_t digits[COOKIE_DIGITS + 1];
		__u32 at = family == FAMILY_QUAKE2 ? PROOF_Q2_AT : PROOF_BACK + 1;

		memcpy(digits, t.at + at, COOKIE_DIGITS);
		digits[COOKIE_DIGITS] = ' ';
		must(cookie_number_fits(proof_number(digits), &parity));
		must(proof_number(digits) == cookie_number(hash, hash >> 9));
		must(parity == (hash >> 9 & 1));
		return;
	}
	memcpy(tail + PROOF_TAIL - PROOF_CHARS, t.at + PROOF_Q2_AT, PROOF_CHARS);
	plain_letters(t.at + PROOF_Q2_AT, PROOF_CHARS);
	must(proof_tail(tail, &letters, &more));
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
	returned_is_bounded(bytes, n);
	number_is_where_it_says(bytes, n);
	challenge_comes_back((enum wire_family)(data[0] % 3), hash);
	/* What the classifier has called so begins so. */
	if (n >= PROOF_BARE_N && !memcmp(bytes, word, PROOF_BARE_N))
		echo_comes_back(bytes, n, KIND_GETCHALLENGE, hash);
	else if (n >= PROOF_QUERY_N)
		echo_comes_back(bytes, n, kinds[1 + data[0] % 2], hash);
	free(bytes);
	return 0;
}
