#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Draw a terminal's screen as SVG.

usage: tmux capture-pane -p -e | screen_svg.py TITLE >FILE.svg

Reads lines of text with SGR sequences (colours 30-37 and 90-97, bold, dim, underline,
reverse) and draws words as <text> of exact width, so that columns stand under each other in every
font. Any other control sequence is an error.
"""
import re
import sys
from xml.sax.saxutils import escape, quoteattr

WIDE, HIGH, EDGE = 7.8, 16, 10  # px: a character, a line, the space around all of them
PAPER, INK = "#16191d", "#d3d7cf"
COLOURS = ["#555753", "#ef5350", "#8ae234", "#fce94f", "#729fcf", "#c792c4", "#34e2e2", "#eeeeec"]
SPLIT = re.compile(r"(\x1b\[[0-9;]*m)")
WORDS = re.compile(r"\S+(?: \S+)*")


def look_after(look, sequence):
    """Return the look after an SGR sequence."""
    look = dict(look)
    for word in sequence[2:-1].split(";"):
        code = int(word or 0)
        if code == 0:
            look = {}
        elif code in (1, 2, 4, 7):
            look[code] = True
        elif code in (22, 24, 27):
            for off in {22: (1, 2), 24: (4,), 27: (7,)}[code]:
                look.pop(off, None)
        elif code == 39:
            look.pop("colour", None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            look["colour"] = COLOURS[code % 10]
        elif code not in (40, 49):
            sys.exit(f"screen_svg.py: not drawn: {sequence[1:]!r}")
    return look


def runs_of(line, look):
    """Return the runs (column, text, look) of a line, and the look after it."""
    runs, column = [], 0
    for part in SPLIT.split(line):
        if part.startswith("\x1b"):
            look = look_after(look, part)
        elif part:
            runs.append((column, part, look))
            column += len(part)
    return runs, look


def draw_run(row, column, text, look):
    """Return the elements of one run: its background, its line, and its words, each word of exact width."""
    x, y, width = EDGE + column * WIDE, EDGE + row * HIGH, len(text) * WIDE
    colour, out = look.get("colour", INK), ""
    if look.get(7):
        out += f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{HIGH}" fill="{colour}"/>\n'
        colour = PAPER
    if look.get(4):
        out += f'<rect x="{x:g}" y="{y + 14:g}" width="{width:g}" height="1" fill="{colour}"/>\n'
    style = (' font-weight="bold"' if look.get(1) else "") + (' opacity="0.65"' if look.get(2) else "")
    for words in WORDS.finditer(text):
        out += (f'<text x="{x + words.start() * WIDE:g}" y="{y + 12:g}"'
                f' textLength="{len(words[0]) * WIDE:g}" fill="{colour}"{style}>{escape(words[0])}</text>\n')
    return out


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: screen_svg.py TITLE <SCREEN >FILE.svg")
    lines, look, drawn, columns = sys.stdin.read().splitlines(), {}, [], 0
    for row, line in enumerate(lines):
        runs, look = runs_of(line, look)
        columns = max(columns, sum(len(text) for _, text, _ in runs))
        drawn += [draw_run(row, *run) for run in runs]
    width, height = columns * WIDE + 2 * EDGE, len(lines) * HIGH + 2 * EDGE
    title = escape(sys.argv[1])
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
          f' width="{width:g}" height="{height:g}" role="img" aria-label={quoteattr(sys.argv[1])}>\n'
          f"<title>{title}</title>\n"
          f'<rect width="100%" height="100%" rx="6" fill="{PAPER}"/>\n'
          '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13">\n'
          + "".join(drawn) + "</g>\n</svg>")


main()
