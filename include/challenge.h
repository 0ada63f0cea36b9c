/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * challenge.h - the text of challenges, of what comes back, and of the requests that it
 * is rewritten into.
 *
 * Pure: no maps, no clock, no helpers. The first CHALLENGE_TEXT bytes of a payload are in
 * a buffer with zeros after them, the marker first, and are rewritten there.
 *
 * Quake III: the challenge is an `echo` whose frame is at most as long as the request's.
 * One to a query has CHALLENGE_QUERY_N bytes, and challenge_fits() compares the frames.
 * The client returns the marker and what follows `echo `: five bytes less.
 *
 *	getchallenge			echo 7LLLLLL
 *	getchallenge 123 Quake3Arena	echo 7LLLLLLL123xQuake3Arena
 *	getinfo xxx			echo 7LLLLLLLi
 *	getstatus			echo 7LLLLLLLs
 *
 * Quake II: the same to `info 34` and `status`; `challenge ` and ten digits to
 * `getchallenge`. QuakeWorld: `c`, ten digits and NUL. DarkPlaces:
 * `challenge ` and ten characters, after which a NUL and the server's keys may follow.
 * What returns these is a `connect`, or DarkPlaces' `d0pk\cnt\0`. It is rewritten into
 * `getchallenge`, for which the server gives its own.
 *
 * Called by the ingress programs: challenge.bpf.h writes challenges and requests,
 * validation.bpf.h, cookie_check.bpf.h and challenge_share.bpf.h read what comes back.
 * classify.h recognises it by echo_begins(), and `explain` reads it too (form_of() in
 * user/shield/shield_about.c). tests/include/test_challenge.c and
 * tests/fuzz/include/fuzz_proof.c run the same code. challenge_arguments() and
 * challenge_store() write to the frame and not to the buffer, so they compare each
 * address with the end of the frame.
 *
 * What one function writes, another reads when it comes back: challenge_arguments() and
 * rewrite_argued(); challenge_echo() and echo_letters(); challenge_ten() with
 * connect_number() and connect_tail(). Change both. No table keeps these texts.
 */
#ifndef CHALLENGE_H
#define CHALLENGE_H

#include "cookie.h"
#include "word.h"

#define CHALLENGE_TEXT \
	64 /* bytes of payload that are looked at, and that are written at most */

struct challenge_text {
	__u8 at[CHALLENGE_TEXT];
} __attribute__((aligned(8)));

#define CHALLENGE_BARE_N    16 /* bytes of `getchallenge` */
#define CHALLENGE_ARGUED_AT 17 /* offset of its arguments */
#define ECHO_TOKEN_AT	    9 /* offset of the cookie in an echo */
#define ECHO_BACK_AT	    4 /* offset of the cookie in what comes back */
#define ECHO_BACK_N	    11 /* bytes of the shortest that comes back */
#define ECHO_LETTERS	    8
#define CHALLENGE_QUERY_N   18 /* bytes of an echo to a query */
#define INFO_N		    11 /* bytes of Quake II's `info 34` */
#define STATUS_N	    10 /* and of its `status` */
#define CONNECT_NUMBER_AT   14 /* least offset of the third number of a connect */
#define CHALLENGE_QW_N	    16 /* bytes of `c`, ten digits and NUL */
#define CHALLENGE_Q2_AT	    14 /* offset after `challenge ` */
#define CHALLENGE_CHARS	    10 /* characters of DarkPlaces' challenge */
#define CONNECT_TAIL_N \
	21 /* bytes of `\challenge\` and those, with which a connect ends */
#define KEY_STEP_N 46 /* bytes of the shortest `d0pk\cnt\0...` with those */

/*
 * Put the lower @n bytes of @letters to @at, the lowest first. Called by
 * rewrite_argued(), rewrite_query(), rewrite_echo() and rewrite_connect(). @at + @n must
 * be at most CHALLENGE_TEXT, @n at most 8, and both constants, since nothing is compared
 * here.
 */
static __always_inline void text_put(struct challenge_text *t, __u32 at, __u64 letters,
				     __u32 n)
{
	for (__u32 i = 0; i < n; i++)
		t->at[at + i] = letters >> 8 * i;
}

/* --- Quake II and Quake III -----------------------------------------------------------
 */

/*
 * Return true if a datagram to a server of @family begins like the return of an echo.
 * @first: the byte after the marker. Called by classify_oob(). The range is that of the
 * first character of cookie_letters().
 */
static __always_inline bool echo_begins(enum wire_family family, __u8 first, __u64 length)
{
	return (family == FAMILY_QUAKE2 || family == FAMILY_QUAKE3) &&
	       first >= COOKIE_DIGIT_LOW && first <= COOKIE_DIGIT_TOP &&
	       length >= ECHO_BACK_N;
}

/*
 * Return true if a request of @kind, of @length bytes at @at, may be challenged: if it is
 * a query of Quake II, only as clients that return an echo spell it, which is what
 * rewrite_query() writes. Servers compare the number of `info` with their protocol, and
 * the echo has no room for it; qstat sends `status 23` and takes an echo for the end of
 * the responses. @kind: of kind_requests(), where validation_applies() is true. @end:
 * where the frame ends. Called by challenge_possible() and challenge_plain(), which ask
 * for the frame's room and for the reply's addresses, too. On false no challenge may be
 * taken from the share.
 */
static __always_inline bool challenge_carries(enum wire_kind kind, const __u8 *at,
					      const __u8 *end, __u32 length)
{
	if (kind == KIND_INFO)
		return length == INFO_N && at + INFO_N <= end &&
		       load_u64(at + INFO_N - 8) == (0xff | WORD_PART("info", 0) << 8 |
						     WORD_PART(" 34", 0) << 40);
	if (kind == KIND_STATUS)
		return length == STATUS_N && at + STATUS_N <= end &&
		       load_u64(at + STATUS_N - 8) ==
			       (0xffff | WORD_PART("status", 0) << 16);
	return true;
}

/*
 * Return bit 7 of each byte of @word that is from @low to @high. All bytes and
 * both bounds are below 0x80. Called by challenge_arguments_word().
 */
static __always_inline __u64 bytes_within(__u64 word, __u8 low, __u8 high)
{
	const __u64 each = 0x0101010101010101ull;

	return (word + (0x80 - low) * each) & ~(word + (0x7f - high) * each) &
	       0x80 * each;
}

/*
 * Rewrite eight bytes of the arguments of `getchallenge ` for an echo; @in has bit 7 of
 * each byte that counts. Allowed are digits of the number while @number is true, the
 * space after it, which becomes an `x`, and letters, digits and what game names have: one
 * token to any engine. False: something else. Called by challenge_arguments(), for 8
 * bytes after 8 bytes. rewrite_argued() must be able to undo each change.
 */
static __always_inline bool challenge_arguments_word(__u64 *word, __u64 in, bool *number)
{
	__u64 w = *word & 0x7f7f7f7f7f7f7f7full, low = ~*word & in;
	__u64 digits = bytes_within(w, '0', '9'), blank;
	__u64 plain = digits | bytes_within(w | 0x2020202020202020ull, 'a', 'z') |
		      bytes_within(w, '_', '_') | bytes_within(w, '-', '.');

	if (low != in)
		return false;
	if (*number) {
		in &= ~digits;
		blank = in & -in;
		if (!blank)
			return true;
		if (!(blank & bytes_within(w, ' ', ' ')))
			return false;
		*word ^= (blank >> 7) * (' ' ^ 'x');
		*number = false;
		in ^= blank;
	}
	return !(in & ~plain);
}

/*
 * Return the sum of the 16-bit words of @word, as they are in memory, not folded. Callers
 * add several and fold at the end.
 */
static __always_inline __u64 challenge_sum(__u64 word)
{
	return (__u32)word + (word >> 32);
}

/*
 * Rewrite the arguments of a `getchallenge `, in the request of @length bytes at @at,
 * into the rest of the token that begins with a cookie whose last letter is @letter.
 *
 * Returns the sum of all words from @letter on, below 2^17; or -1 if no token can be made
 * of the arguments: then the request may have changed, and must be dropped. @end: where
 * the frame ends. The last word is read together with the bytes before it, since the
 * frame may end with the text. Called by challenge_arguments_at(), once it is decided
 * that the challenge is sent.
 */
static __always_inline int challenge_arguments(__u8 *at, const __u8 *end, __u32 length,
					       __u8 letter)
{
	__u64 in = 0x8080808080808080ull << 16, sum = 0, word, was;
	__u32 rest = length & 7, last = length - 8;
	bool number = true;

	if (length <= CHALLENGE_ARGUED_AT || length > CHALLENGE_TEXT ||
	    at + CHALLENGE_ARGUED_AT + 1 > end || at[CHALLENGE_ARGUED_AT - 1] != ' ')
		return -1;
	if (at[CHALLENGE_ARGUED_AT] == '-')
		at[CHALLENGE_ARGUED_AT] = 'n';
	else if (!(at[CHALLENGE_ARGUED_AT] >= '0' && at[CHALLENGE_ARGUED_AT] <= '9'))
		return -1;
	at[CHALLENGE_ARGUED_AT - 1] = letter;
	for (__u32 i = (CHALLENGE_ARGUED_AT + 1) / 8; i < CHALLENGE_TEXT / 8; i++) {
		if (8 * i + 8 > length)
			break;
		if (at + 8 * i + 8 > end)
			return -1;
		word = load_u64(at + 8 * i);
		if (!challenge_arguments_word(&word, in, &number))
			return -1;
		*(__u64 *)(at + 8 * i) = word;
		sum += challenge_sum(word);
		in = 0x8080808080808080ull;
	}
	if (rest) {
		if (!index_below(&last, CHALLENGE_TEXT - 7) || at + last + 8 > end)
			return -1;
		was = load_u64(at + last);
		word = was >> (64 - 8 * rest);
		in &= ~0ull >> (64 - 8 * rest);
		if (!challenge_arguments_word(&word, in, &number))
			return -1;
		*(__u64 *)(at + last) =
			(was & ~(~0ull << (64 - 8 * rest))) | word << (64 - 8 * rest);
		sum += challenge_sum(word);
	}
	sum = (__u32)sum + (sum >> 32);
	return (int)((sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32));
}

/*
 * Return the form of the cookie that came back in @length bytes; @behind: the byte after
 * its eight characters; 0: none of the shield's to a client of @family. Called by
 * cookie_check_echo() and echo_refused(), which must agree. The bounds keep what
 * rewrite_echo() writes within CHALLENGE_TEXT.
 */
static __always_inline enum cookie_form echo_form(enum wire_family family, __u8 behind,
						  __u32 length)
{
	if (length == ECHO_BACK_AT + ECHO_LETTERS + 1 && (behind == 'i' || behind == 's'))
		return behind == 'i' ? COOKIE_INFO : COOKIE_STATUS;
	if (family != FAMILY_QUAKE3)
		return 0;
	if (length == ECHO_BACK_N)
		return COOKIE_BARE;
	if (length <= ECHO_BACK_AT + ECHO_LETTERS || length > CHALLENGE_TEXT - 5)
		return 0;
	return COOKIE_ARGUED;
}

/*
 * Return the characters that came back, as many as @form has. Called by
 * cookie_check_echo(); echo_refused() reads the same bytes from the frame.
 */
static __always_inline __u64 echo_letters(const struct challenge_text *t,
					  enum cookie_form form)
{
	/* By halves, since they are on the stack and not at a multiple of eight. */
	__u64 letters = load_u32(t->at + ECHO_BACK_AT) |
			(__u64)load_u32(t->at + ECHO_BACK_AT + 4) << 32;

	return form == COOKIE_BARE ? letters & 0xffffffffffffffull : letters;
}

/*
 * Rewrite the return of a COOKIE_ARGUED into `getchallenge` with the arguments that the
 * token carried. Returns its length. @length: at most CHALLENGE_TEXT - 5, see
 * echo_form(). Called by rewrite_echo().
 */
static __always_inline __u32 rewrite_argued(struct challenge_text *t, __u32 length)
{
	struct challenge_text was = *t;
	bool number = true;

	text_put(t, ECHO_BACK_AT, WORD_PART("getchallenge", 0), 8);
	text_put(t, ECHO_BACK_AT + 8, WORD_PART("getchallenge", 1) | 0x20ull << 32, 5);
	for (__u32 i = CHALLENGE_ARGUED_AT; i < CHALLENGE_TEXT; i++) {
		__u8 c = was.at[i - 5];

		if (i == CHALLENGE_ARGUED_AT && c == 'n')
			c = '-';
		if (number && c == 'x') {
			c = ' ';
			number = false;
		}
		t->at[i] = c;
	}
	return length + 5;
}

/*
 * Write the query of Quake II for which @form stands into @t, with zeros after its
 * marker. Returns its length. Called by rewrite_echo(). challenge_carries() must accept
 * this spelling alone.
 */
static __always_inline __u32 rewrite_query(struct challenge_text *t,
					   enum cookie_form form)
{
	if (form == COOKIE_INFO) {
		text_put(t, ECHO_BACK_AT, WORD_PART("info 34", 0), 7);
		return INFO_N;
	}
	text_put(t, ECHO_BACK_AT, WORD_PART("status", 0), 6);
	return STATUS_N;
}

/*
 * Rewrite what came back into the request for the server of @family. Returns its length.
 * @t: of text_load(), with zeros after the @length bytes. Called by rewrite_request(),
 * after the cookie was checked. @form: of echo_form(), not 0.
 */
static __always_inline __u32 rewrite_echo(struct challenge_text *t,
					  enum wire_family family, enum cookie_form form,
					  __u32 length)
{
	if (form == COOKIE_ARGUED)
		return rewrite_argued(t, length);
	__builtin_memset(t->at + ECHO_BACK_AT, 0, CHALLENGE_TEXT - ECHO_BACK_AT);
	if (family == FAMILY_QUAKE2)
		return rewrite_query(t, form);
	if (form == COOKIE_INFO) {
		text_put(t, ECHO_BACK_AT, WORD_PART("getinfo", 0) | 0x20ull << 56, 8);
		text_put(t, ECHO_BACK_AT + 8, WORD_PART("xxx", 0), 3);
		return 15;
	}
	if (form == COOKIE_STATUS) {
		text_put(t, ECHO_BACK_AT, WORD_PART("getstatus", 0), 8);
		text_put(t, ECHO_BACK_AT + 8, WORD_PART("getstatus", 1), 1);
		return 13;
	}
	text_put(t, ECHO_BACK_AT, WORD_PART("getchallenge", 0), 8);
	text_put(t, ECHO_BACK_AT + 8, WORD_PART("getchallenge", 1), 4);
	return CHALLENGE_BARE_N;
}

/* --- challenges -----------------------------------------------------------------------
 */

/* A challenge, with zeros after it: all of it but the arguments of an echo. */
struct challenge_words {
	__u64 words[3];
};

/*
 * Return the form of the cookie in a challenge to @kind of @length bytes; 0: there is
 * none. @kind: one that takes part in address validation on @family (kind_takes_part()).
 * Called by challenge_reply().
 */
static __always_inline enum cookie_form challenge_form(enum wire_family family,
						       enum wire_kind kind, __u32 length)
{
	switch (kind) {
	case KIND_GETINFO:
	case KIND_INFO:
		return COOKIE_INFO;
	case KIND_GETSTATUS:
	case KIND_STATUS:
		return COOKIE_STATUS;
	case KIND_GETCHALLENGE:
		if (family == FAMILY_QUAKE3)
			return length == CHALLENGE_BARE_N ? COOKIE_BARE : COOKIE_ARGUED;
		return family == FAMILY_NETQUAKE ? COOKIE_TEXT : COOKIE_NUMBER;
	default:
		return 0;
	}
}

/*
 * Return true if a challenge with a cookie of @form is an echo. @form: not 0. Called by
 * challenge_kind(), challenge_number() and challenge_admit(). The echoes must be the
 * first forms of enum cookie_form.
 */
static __always_inline bool form_echoes(enum cookie_form form)
{
	return form <= COOKIE_STATUS;
}

/*
 * Return the length of the challenge of @form to a request of @length bytes. Called by
 * challenge_reply(). It must be the length of what challenge_make() and challenge_store()
 * write.
 */
static __always_inline __u32 challenge_length(enum wire_family family,
					      enum cookie_form form, __u32 length)
{
	switch (form) {
	case COOKIE_BARE:
		return CHALLENGE_BARE_N;
	case COOKIE_ARGUED:
		return length;
	case COOKIE_INFO:
	case COOKIE_STATUS:
		return CHALLENGE_QUERY_N;
	default:
		return family == FAMILY_QUAKEWORLD ? CHALLENGE_QW_N
						   : CHALLENGE_Q2_AT + CHALLENGE_CHARS;
	}
}

/*
 * Make an echo with the cookie @letters. The last letter of COOKIE_BARE is left out.
 * Called by challenge_make().
 */
static __always_inline void challenge_echo(enum cookie_form form, __u64 letters,
					   struct challenge_words *ret)
{
	ret->words[0] = 0xffffffff | WORD_PART("echo", 0) << 32;
	ret->words[1] = ' ' | letters << 8;
	ret->words[2] = form == COOKIE_BARE ? 0 : letters >> 56;
	if (form == COOKIE_INFO)
		ret->words[2] |= 'i' << 8;
	if (form == COOKIE_STATUS)
		ret->words[2] |= 's' << 8;
}

/*
 * Make a challenge of ten characters: eight in @first, the first lowest, two in @more.
 * Called by challenge_make().
 */
static __always_inline void challenge_ten(enum wire_family family, __u64 first,
					  __u64 more, struct challenge_words *ret)
{
	if (family == FAMILY_QUAKEWORLD) {
		ret->words[0] = 0xffffffff | (__u64)'c' << 32 | first << 40;
		ret->words[1] = first >> 24 | more << 40;
		ret->words[2] = 0;
		return;
	}
	ret->words[0] = 0xffffffff | WORD_PART("challenge", 0) << 32;
	ret->words[1] = WORD_PART("challenge", 0) >> 32 | (__u64)'e' << 32 |
			(__u64)' ' << 40 | first << 48;
	ret->words[2] = first >> 16 | more << 48;
}

/*
 * Make the challenge with a cookie of @form that was made of @hash in @epoch. Called by
 * challenge_for(). form_echoes() and challenge_length() must say the same of each form. A
 * cookie that comes back is made anew of the same hash by echo_cookie_valid(),
 * cookie_check_number() and cookie_check_tail(): a change of its characters changes these
 * too.
 */
static __always_inline void challenge_make(enum wire_family family, enum cookie_form form,
					   __u64 hash, __u64 epoch,
					   struct challenge_words *ret)
{
	__u64 first, more;

	if (form == COOKIE_NUMBER) {
		first = cookie_digits(cookie_number(hash, epoch), &more);
		challenge_ten(family, first, more, ret);
		return;
	}
	first = cookie_letters(hash, epoch);
	if (form == COOKIE_TEXT)
		challenge_ten(family, first, cookie_letters_more(hash), ret);
	else
		challenge_echo(form, first, ret);
}

/*
 * Write a challenge of @length bytes to @at, but for the arguments of an echo, which
 * stand there: challenge_arguments(). A text of 16 bytes may be followed by one or two
 * bytes of padding before @end, where the frame ends; they become zeros. False: it has no
 * room there. Called by challenge_write(), after the frame was resized; on false the
 * frame may have changed and must be dropped.
 */
static __always_inline bool challenge_store(__u8 *at, const __u8 *end,
					    enum cookie_form form, __u32 length,
					    const struct challenge_words *challenge)
{
	if (at + CHALLENGE_BARE_N > end)
		return false;
	*(__u64 *)at = challenge->words[0];
	*(__u64 *)(at + 8) = challenge->words[1];
	if (form == COOKIE_ARGUED)
		return true;
	if (length == CHALLENGE_Q2_AT + CHALLENGE_CHARS) {
		if (at + CHALLENGE_Q2_AT + CHALLENGE_CHARS > end)
			return false;
		*(__u64 *)(at + CHALLENGE_BARE_N) = challenge->words[2];
		return true;
	}
	if (at + CHALLENGE_QUERY_N <= end) {
		*(__u16 *)(at + CHALLENGE_BARE_N) = (__u16)challenge->words[2];
		return true;
	}
	if (at + CHALLENGE_BARE_N + 1 <= end)
		at[CHALLENGE_BARE_N] = 0;
	return length == CHALLENGE_BARE_N;
}

/* --- QuakeWorld, Quake II, DarkPlaces -------------------------------------------------
 */

/*
 * Return the offset of the third word of `connect A B C "...`: the challenge of
 * QuakeWorld and Quake II. 0: no two spaces stand where they must, or too few bytes are
 * left. Whether C has ten digits is left to connect_number(). Called by
 * cookie_check_number(), and by rewrite_number(), which replaces the number that was
 * checked.
 */
static __always_inline __u32 connect_number_at(const struct challenge_text *t)
{
	__u32 at = 0, blanks = 0;

	if (t->at[CONNECT_NUMBER_AT - 3] != ' ')
		return 0;
	for (__u32 i = CONNECT_NUMBER_AT - 2; i < CHALLENGE_TEXT - COOKIE_DIGITS - 1;
	     i++) {
		if (t->at[i] == ' ') {
			if (blanks++) {
				at = i + 1;
				break;
			}
		} else if (!(t->at[i] >= '0' && t->at[i] <= '9')) {
			return 0;
		}
	}
	return at;
}

/*
 * Return ten digits and a space as a number; 0, which is no cookie: they are none, or
 * more than 2^32 - 1. Called by cookie_check_number().
 */
static __always_inline __u32 connect_number(const __u8 digits[COOKIE_DIGITS + 1])
{
	__u64 number = 0;

	for (int i = 0; i < COOKIE_DIGITS; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return 0;
		number = number * 10 + (digits[i] - '0');
	}
	return digits[COOKIE_DIGITS] == ' ' && !(number >> 32) ? number : 0;
}

/*
 * Return the bytes of the words of `d0pk\cnt\0...\challenge\` and the challenge: up to
 * the first NUL at KEY_STEP_N or after it; 0: there is none in CHALLENGE_TEXT. Called by
 * cookie_check_tail(). It may be more than the payload has, since zeros follow that.
 */
static __always_inline __u32 key_step_end(const struct challenge_text *t)
{
	for (__u32 i = KEY_STEP_N; i < CHALLENGE_TEXT; i++)
		if (!t->at[i])
			return i;
	return 0;
}

/*
 * Return true if the last CONNECT_TAIL_N bytes name a challenge; then *@ret_letters has
 * its first eight characters and *@ret_more the last two. Called by cookie_check_tail().
 */
static __always_inline bool connect_tail(const __u8 tail[CONNECT_TAIL_N],
					 __u64 *ret_letters, __u32 *ret_more)
{
	static const char name[] = "\\challenge\\";

	for (__u32 i = 0; i < CONNECT_TAIL_N - CHALLENGE_CHARS; i++)
		if (tail[i] != (__u8)name[i])
			return false;
	*ret_letters = 0;
	for (__u32 i = 0; i < ECHO_LETTERS; i++)
		*ret_letters |= (__u64)tail[CONNECT_TAIL_N - CHALLENGE_CHARS + i]
				<< 8 * i;
	*ret_more = tail[CONNECT_TAIL_N - 2] | (__u32)tail[CONNECT_TAIL_N - 1] << 8;
	return true;
}

/*
 * Rewrite a connect with the shield's challenge of @form, or a step of the key exchange,
 * into `getchallenge`. Returns its length. Called by rewrite_request(), after the cookie
 * was checked. @form: COOKIE_TEXT or COOKIE_NUMBER.
 */
static __always_inline __u32 rewrite_connect(struct challenge_text *t,
					     enum cookie_form form)
{
	__builtin_memset(t->at + ECHO_BACK_AT, 0, CHALLENGE_TEXT - ECHO_BACK_AT);
	text_put(t, ECHO_BACK_AT, WORD_PART("getchallenge", 0), 8);
	text_put(t, ECHO_BACK_AT + 8, WORD_PART("getchallenge", 1), 4);
	if (form == COOKIE_TEXT)
		return CHALLENGE_BARE_N;
	t->at[CHALLENGE_BARE_N] = '\n';
	return CHALLENGE_BARE_N + 1;
}

#endif /* CHALLENGE_H */
