#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""prose_lint.py [--write | --table] [FILE...]: hold the style of the prose, as a ratchet.

Counts three things in each file, in comments (C, shell), messages (strings of four or more
words in user/), names of unit tests, and running text (Markdown, man pages). Other identifiers,
code, tables and quoted text are left out:

  who    who, whom, whose, whoever; nobody, somebody, anybody, everybody
  inv    a comment, a paragraph or a sentence that begins with a word of BEGINNINGS
  word   a private word of WORDS, for which the field has a term

A file may have as many of each as tests/prose_baseline.json says, or 1 per 500 words, if that
is more. --write lowers the baseline to what the files have and forgets files that are gone. A
file that is not listed (it was renamed or split) gets what it has, and is named; so does a
FILE that is given with --write, which is the way to accept more.
--table prints the counts by directory, of the tree in the current directory.
"""
import glob
import json
import os
import re
import sys

BASELINE = "tests/prose_baseline.json"
TREES = ["bpf", "include", "user", "tests", "vmtests"]
PAGES = ["README.md", "docs/**/*.md", "docs/*.[58]"]
GENERATED = ("docs/reference/",)
WORDS = (r"strangers?|friends?|friendship|pressed|unheard|deaf|gladly|mend(?:s|ed|ing)?|"
         r"dear(?:er|est)?|proven|ask(?:s|ed|ing)? for proof|proof of address|ledgers?|"
         r"(?:short|long|odd) way|takes? turns?|its turn|budgets?|octets?")
BEGINNINGS = r"(?:Of|Who|What|Whose|Whom|Nobody|Somebody|Or|Nor|Beside|Behind|To whom?)"
COUNTS = {
    "who": re.compile(r"\b(?:who|whom|whose|whoever|(?:no|some|any|every)body)\b", re.I),
    "inv": re.compile(r"(?:^|[.:;]\s+)%s\b(?!\?)" % BEGINNINGS),
    "word": re.compile(r"\b(?:%s)\b" % WORDS, re.I),
}
TOKEN = re.compile(r"""(?P<note>/\*.*?\*/|//[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*")|'(?:\\.|[^'\\\n])+'"""
                   r"|(?P<code>[^\s\\'\"/]+|.)", re.S)
SAID = re.compile(r"@\w+|`[^`]*`|\"[^\"]*\"")


def c_prose(source, messages):
    """The comments of C source, the names of its tests as sentences, its messages if wanted."""
    for name in re.findall(r"cmocka_unit_test\w*\(\s*(\w+)", source):
        yield name.replace("_", " ").capitalize() + "."
    strings = ""
    for token in TOKEN.finditer(source):
        if token["text"]:
            strings += token["text"][1:-1]
            continue
        if token["code"] and token["code"].isspace() or token["code"] == "\\":
            continue
        if messages and len(re.findall(r"[A-Za-z]{2,}", strings)) >= 4:
            yield re.sub(r"\\.", " ", strings)
        strings = ""
        if token["note"]:
            yield re.sub(r"\s*\n\s*\*?[ \t]*", " ", token["note"].strip("/").strip("*")).strip()


def shell_prose(source):
    """Each block of lines that are comments."""
    for block in re.findall(r"(?m)(?:^[ \t]*#(?!!).*\n)+", source):
        yield re.sub(r"(?m)\s*^[ \t]*#[ \t]*", " ", block).strip()


def markdown_prose(source):
    source = re.sub(r"(?ms)^```.*?^```", "", source)
    return re.sub(r"(?m)^(?:\||    |#).*$", "\n", source).split("\n\n")


def man_prose(source):
    source = re.sub(r"(?ms)^\.Bd -literal.*?^\.Ed", "", source)
    source = re.sub(r"(?m)^\.(?:\\\"|Pp|Bl|El|Sh|Ss|It).*$", "\n", source)
    return re.sub(r"(?m)^\.[A-Z][a-z] ", "", source).split("\n\n")


def prose(path):
    with open(path, errors="replace") as file:
        source = file.read()
    if path.endswith((".c", ".h")):
        return c_prose(source, path.startswith("user/"))
    if path.endswith(".md"):
        return markdown_prose(source)
    return man_prose(source) if path.endswith((".5", ".8")) else shell_prose(source)


def count(path):
    parts = [SAID.sub("", part).strip() for part in prose(path)]
    counts = {name: sum(len(rule.findall(part)) for part in parts)
              for name, rule in COUNTS.items()}
    counts["words"] = sum(len(part.split()) for part in parts)
    return counts


def files():
    found = ["Makefile"]
    for tree in TREES:
        found += glob.glob(tree + "/**/*.[ch]", recursive=True)
        found += glob.glob(tree + "/**/*.sh", recursive=True)
    for pages in PAGES:
        found += glob.glob(pages, recursive=True)
    return sorted(path for path in found if not path.startswith(GENERATED))


def table():
    sums = {}
    for path in files():
        under = path.split("/")[0] if "/" in path else "."
        for name, n in count(path).items():
            sums.setdefault(under, {}).setdefault(name, 0)
            sums[under][name] += n
    print(f"{'':10}{'who':>7}{'inv':>7}{'word':>7}{'words':>9}")
    for under, counts in sums.items():
        print(f"{under:10}" + "".join(f"{counts[name]:7}" for name in COUNTS) +
              f"{counts['words']:9}")


def write(baseline, paths, accept):
    """One line a file, so that two changes of it seldom meet."""
    kept = dict(baseline) if accept else {}
    for path in paths:
        n = count(path)
        had = baseline.get(path)
        room = dict(n) if accept or not had else {
            name: min(n[name], had.get(name, 0)) for name in COUNTS}
        if baseline and any(room[name] > max((had or {}).get(name, 0), n["words"] // 500)
                            for name in COUNTS):
            print(f"{path}: more room: {room}")
        kept[path] = {name: room[name] for name in COUNTS if room[name]}
    lines = [f"{json.dumps(path)}: {json.dumps(kept[path])}" for path in sorted(kept) if kept[path]]
    with open(BASELINE, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def main(arguments):
    named = [path for path in arguments if not path.startswith("--")]
    if "--table" in arguments:
        return table()
    os.chdir(os.path.join(os.path.dirname(__file__), ".."))
    try:
        with open(BASELINE) as file:
            baseline = json.load(file)
    except OSError:
        baseline = {}
    if "--write" in arguments:
        return write(baseline, named or files(), bool(named))
    bad = 0
    for path in named or files():
        n = count(path)
        for name in COUNTS:
            room = max(baseline.get(path, {}).get(name, 0), n["words"] // 500)
            if n[name] > room:
                print(f"{path}: {name}: {n[name]}, at most {room}", file=sys.stderr)
                bad = 1
    if bad:
        print("prose_lint.py: the head of tests/prose_lint.py says what is counted",
              file=sys.stderr)
    return bad


sys.exit(main(sys.argv[1:]))
