/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * digits.h - write numbers as decimal digits. Most values of a record are numbers, and
 * printf(3) executes about ten times as many instructions for each. Each function returns
 * the end of the digits, and writes at most DIGITS_ROOM bytes.
 */
#ifndef DIGITS_H
#define DIGITS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_ROOM 32 /* bytes; no number here is longer */

/* All pairs of digits. */
static const char digits_pairs[] = "00010203040506070809101112131415161718192021222324"
				   "25262728293031323334353637383940414243444546474849"
				   "50515253545556575859606162636465666768697071727374"
				   "75767778798081828384858687888990919293949596979899";

/* Write @value, which has at most @n digits, with zeros in front. */
static inline char *digits_fixed(char *to, uint64_t value, unsigned int n)
{
	char *end = to + n, *at = end;

	for (; at - to >= 2; value /= 100)
		memcpy(at -= 2, digits_pairs + value % 100 * 2, 2);
	if (at > to)
		*to = (char)('0' + value % 10);
	return end;
}

static inline char *digits_uint(char *to, uint64_t value)
{
	unsigned int n = 1;

	for (uint64_t limit = 10; n < 20 && value >= limit; limit *= 10)
		n++;
	return digits_fixed(to, value, n);
}

static inline char *digits_int(char *to, int64_t value)
{
	if (value >= 0)
		return digits_uint(to, (uint64_t)value);
	*to++ = '-';
	return digits_uint(to, 0 - (uint64_t)value);
}

/* Write an address as inet_ntop(3) does: A.B.C.D. */
static inline char *digits_ipv4(char *to, const uint8_t bytes[4])
{
	for (unsigned int i = 0; i < 4; i++) {
		if (i)
			*to++ = '.';
		to = digits_uint(to, bytes[i]);
	}
	return to;
}

#define DIGITS_SHOWN 9 /* as many as tell any two 32-bit floats apart */

/*
 * Write @value as "%.9g" does. The caller makes sure that 0.0001 <= |@value| < 999999999,
 * where printf(3) writes no exponent. A double is an integer times a power of two, so the
 * first nine digits are exact here, and rounded as printf(3) rounds: half to even.
 */
static inline char *digits_fraction(char *to, double value)
{
	static const uint64_t tens[] = {
		1,	     10,	   100,		 1000,	    10000,
		100000,	     1000000,	   10000000,	 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000
	};
	double size = fabs(value);
	unsigned int decimals = DIGITS_SHOWN, shift;
	unsigned __int128 scaled, half;
	uint64_t bits, digits;

	for (uint64_t whole = (uint64_t)size; whole; whole /= 10)
		decimals--;
	for (double least = 0.1; size < least && decimals < 12; least /= 10)
		decimals++;
	memcpy(&bits, &size, sizeof(bits));
	shift = 1075 - (unsigned int)(bits >> 52);
	scaled = (unsigned __int128)((bits & ((1ULL << 52) - 1)) | 1ULL << 52) *
		 tens[decimals];
	half = (unsigned __int128)1 << (shift - 1);
	digits = (uint64_t)(scaled >> shift);
	scaled &= (half << 1) - 1;
	digits += scaled > half || (scaled == half && digits & 1);
	for (; decimals && digits % 10 == 0; decimals--)
		digits /= 10;
	if (value < 0)
		*to++ = '-';
	to = digits_uint(to, digits / tens[decimals]);
	if (!decimals)
		return to;
	*to++ = '.';
	return digits_fixed(to, digits % tens[decimals], decimals);
}

/*
 * Write @value, which is not whole, as "%.9g" does, if it is a multiple of 1/32 of at
 * most nine digits: coordinates are eighths, and angles of a byte are 45/32 degrees.
 * Return NULL if it is not.
 */
static inline char *digits_binary(char *to, double value)
{
	static const uint16_t fives[] = { 3125, 625, 125, 25, 5 };
	double size = fabs(value), scaled = size * 32;
	uint64_t parts;
	unsigned int zeros;

	if (size >= 1e6 || scaled != (double)(uint64_t)scaled)
		return NULL;
	parts = (uint64_t)scaled;
	zeros = (unsigned int)__builtin_ctzll(parts);
	if (zeros < 2 && size >= 1e4)
		return NULL;
	if (value < 0)
		*to++ = '-';
	to = digits_uint(to, parts / 32);
	*to++ = '.';
	return digits_fixed(to, (parts % 32 >> zeros) * fives[zeros], 5 - zeros);
}

/*
 * Write as few digits as give the same 32-bit float again. @value is finite. Nearly all
 * values on the wire are integers, and have no exponent below 10^15.
 */
static inline char *digits_float(char *to, double value)
{
	double size = fabs(value);
	char *end;

	if (size < 1e15 && value == (double)(int64_t)value)
		return digits_int(to, (int64_t)value);
	end = digits_binary(to, value);
	if (end)
		return end;
	if (size >= 1e-4 && size < 999999999)
		return digits_fraction(to, value);
	return to + snprintf(to, DIGITS_ROOM, "%.9g", value);
}

#endif /* DIGITS_H */
