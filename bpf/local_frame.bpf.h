/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * local_frame.bpf.h - is a frame for this host? Asked before the shield sends anything
 * back for it (reply_allowed()).
 *
 * A card in promiscuous mode, or behind a switch that floods, receives frames for other
 * machines too. A reply to such a frame would be sent in their name. The daemon writes
 * which Ethernet addresses lead to this host, its containers and its virtual machines:
 * struct local_macs.
 */
#ifndef LOCAL_FRAME_BPF_H
#define LOCAL_FRAME_BPF_H

#include "pkt_ctx.bpf.h"

/*
 * Return true if the Ethernet destination at @eth is one of @h, or @h has none. Called by
 * frame_is_local() alone. The loop needs the constant bound for the verifier. The bytes
 * are in the order in which user/shield/here.c writes them.
 */
static __always_inline bool local_has(const struct local_macs *h, const __u8 *eth)
{
	__u64 mac = load_u32(eth) | (__u64)load_u16(eth + 4) << 32;
	__u32 count = h->count;

	for (__u32 i = 0; i < LOCAL_MACS && i < count; i++)
		if (h->macs[i] == mac)
			return true;
	return !count;
}

/*
 * Return true if the frame at @eth, of 14 bytes at least, is for this host, or for an
 * address that the service in @slot names. A service that names none would else be that
 * of every machine on the wire. @port: the server's, of port_number(). Called by
 * reply_allowed() alone. Without a daemon's list it must be true, or nothing would be
 * answered.
 */
static __always_inline bool frame_is_local(const struct tables *tab, const __u8 *eth,
					   __u64 port, __u32 slot)
{
	if (tab->ports[port].any != slot + 1)
		return true;
	return local_has(&live.local, eth);
}

#endif /* LOCAL_FRAME_BPF_H */
