// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * room.bpf.c - what a socket sends gets as much room behind it as a card's driver leaves.
 *
 * A veth hands an XDP program a frame that ends where its datagram does, so that nothing
 * longer can be written over it; of Linux 6.18, others leave some. At the client's end
 * (egress) this pads a frame with zeros to the whole of a page, and the hub, which has an
 * XDP program so that the frame gets pages of its own, cuts them off again as it routes:
 * the room stays. IP says how long the datagram is, so no checksum changes.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#define WHOLE 1514 /* more than half a page less its ends: the veth takes all of it */

SEC("tc")
int room(struct __sk_buff *skb)
{
	if (skb->len < WHOLE)
		bpf_skb_change_tail(skb, WHOLE, 0);
	return TC_ACT_OK;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
