/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crc16.h - CRC-16 of polynomial 0x1021, most significant bit first, for the checksums of
 * QuakeWorld's and Quake II's moves. Pure.
 */
#ifndef CRC16_H
#define CRC16_H

#include <stdint.h>

#define CRC16_BEGIN 0xffff

/* Return @crc with one byte more: what eight single steps do, without a table. */
static inline uint16_t crc16_step(uint16_t crc, uint8_t byte)
{
	unsigned int x = crc >> 8 ^ byte;

	x ^= x >> 4;
	return (uint16_t)((unsigned int)crc << 8 ^ x << 12 ^ x << 5 ^ x);
}

#endif /* CRC16_H */
