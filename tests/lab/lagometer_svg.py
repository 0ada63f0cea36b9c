#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Draw the lagometer of a player as SVG.

usage: quakeshield decode --lagometer --json CAPTURE | lagometer_svg.py TITLE >FILE.svg

As in the game: above, a column a frame that the client drew, blue up to the newest snapshot and
yellow beyond it (extrapolated); below, a column a snapshot as high as its round trip, green where
it arrived, yellow where one before it was held back by the rate, red where it was lost.
"""
import json
import sys
from xml.sax.saxutils import escape

WIDE, HIGH, EDGE, COUNT = 4, 96, 24, 128  # px: a column, a graph, the space around; columns
FRAME_MS, PING_MS = 100, 400              # of a whole graph
BLUE, YELLOW, GREEN, RED = "#4a7dff", "#ffd21f", "#3fd24a", "#ff3b30"
PAPER, INK, LINE = "#16191d", "#d3d7cf", "#555753"


def column(x, y, high, colour):
    return f'<rect x="{x}" y="{y:.1f}" width="{WIDE}" height="{high:.1f}" fill="{colour}"/>'


def frames(player, zero):
    """A column a frame, from the line up for yellow and down for blue."""
    for i, ms in enumerate(player.get("frames", {}).get("ms", [])[-COUNT:]):
        if ms is None:
            continue
        high = min(abs(ms), FRAME_MS / 2) * HIGH / FRAME_MS
        yield column(EDGE + i * WIDE, zero - high if ms > 0 else zero, high,
                     YELLOW if ms > 0 else BLUE)


def snapshots(player, bottom):
    """A column a snapshot; one that was lost is as high as the graph."""
    way = player["s2c"]
    for i, (ms, mark) in enumerate(zip(way["pings"], way["marks"])):
        if mark == "l":
            yield column(EDGE + i * WIDE, bottom - HIGH, HIGH, RED)
        elif ms is not None:
            high = min(ms, PING_MS) * HIGH / PING_MS
            yield column(EDGE + i * WIDE, bottom - high, high, YELLOW if mark == "d" else GREEN)


def main():
    player = max((json.loads(line) for line in sys.stdin if line.strip()),
                 key=lambda one: one["snapshots"])
    wide, zero, bottom = COUNT * WIDE + 2 * EDGE, EDGE + 24 + HIGH / 2, EDGE * 2 + 24 + 2 * HIGH
    told = (f'{player["dialect"]}: ping {player["ping_ms"]} ms, {player["snapshots"]} snapshots, '
            f'{player["s2c"]["lost"]} lost, {player["delayed"]} held back by the rate')
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{bottom + EDGE * 2:.0f}" '
          f'font-family="monospace" font-size="12">')
    print(f'<rect width="100%" height="100%" fill="{PAPER}"/>')
    print(f'<text x="{EDGE}" y="{EDGE}" fill="{INK}">{escape(sys.argv[1])}</text>')
    print(*frames(player, zero), sep="\n")
    print(f'<path d="M{EDGE} {zero}h{COUNT * WIDE}M{EDGE} {bottom}h{COUNT * WIDE}" stroke="{LINE}"/>')
    print(*snapshots(player, bottom), sep="\n")
    print(f'<text x="{EDGE}" y="{bottom + EDGE}" fill="{INK}">{escape(told)}</text>')
    print("</svg>")


if __name__ == "__main__":
    main()
