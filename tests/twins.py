#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
twins.py - a rule of the data plane stands once. In bpf/ and include/ each of these has one
function, or a row in tests/TWINS that names all of them and says why:

  reason NAME   the function that decides for REASON_NAME; a comparison with it is none
  limit NAME    the function that reads a limit: a member of struct budget, or a constant
  flag NAME     the function that sets a flag of a player or of a validated client
  table NAME    the function that writes a member of struct live
  enter NAME    the function that calls NAME(), which enters something in a table

twins.py [--list]: --list shows all that was found. A part of make lint.
"""
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
ENTRIES = ("players_enter", "validated_enter", "reputation_note", "player_record",
           "player_index", "under_load_note", "validation_require", "cache_require",
           "recent_mark", "greylist_seen", "limit_take", "budget_take", "player_take",
           "share_charge", "amplification_credit_prefix",
           "amplification_charge_prefix", "validated_record", "connect_keep",
           "player_address_note", "bpf_map_update_elem", "tail_ctx_put")


def functions(text):
    """(name, body) of each function; comments and strings are blank."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    text = re.sub(r"^(#(.*\\\n)*.*|SEC\(.*\))$", "", text, flags=re.M)
    for found in re.finditer(r"^(?=[a-z_])([^;{}=]*?)\b(\w+)\(([^{};]*)\)\n\{\n(.*?)^\}",
                             text, flags=re.S | re.M):
        yield found[2], found[4]


def decided(body):
    """What @body decides, as (kind, name)."""
    # REASON_COUNT says that no rule applies.
    for found in re.finditer(r"(?<![\w])REASON_(\w+)", body):
        before = body[:found.start()].rstrip()
        if found[1] != "COUNT" and not re.search(r"(==|!=|>=|<=|<|>|case)$", before) and \
                not re.search(r"^\s*(\?|==)", body[found.end():]):
            yield "reason", found[1]
    for found in re.finditer(r"\b(?:b|budget\[\w+\])(?:->|\.)(source|prefix|service|crowd)\b",
                             body):
        yield "limit", "budget." + found[1]
    for found in re.finditer(r"\b(\w+_limit|greylist_(?:hello|netquake))\.\w+", body):
        yield "limit", found[1]
    for found in re.finditer(r"\bflags\s*\|?=([^=;][^;]*);", body):
        for flag in re.findall(r"(?<![~(])\b((?:PLAYER|VALIDATED)_\w+)", found[1]):
            if not re.search(r"~\(?[^;]*" + flag, found[1]):
                yield "flag", flag
    for found in re.finditer(r"^\s*(?:l->|live\.)(\w+)[^;=()!<>?:]*(?:=|\|=|\+=|&=)(?!=)",
                             body, flags=re.M):
        yield "table", found[1]
    for found in re.finditer(r"__sync_\w+\(&(?:l->|live\.)(\w+)", body):
        yield "table", found[1]
    for name in ENTRIES:
        if re.search(r"\b%s\(" % name, body):
            yield "enter", name


def main():
    found = {}
    for path in sorted(TOP.glob("bpf/*.[ch]")) + sorted(TOP.glob("include/*.h")):
        for name, body in functions(path.read_text()):
            for what in decided(body):
                found.setdefault(what, set()).add(name)
    rows, failed = {}, 0
    for number, line in enumerate((TOP / "tests/TWINS").read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3 or len(fields[0].split()) != 2 or not fields[2]:
            print(f"tests/TWINS:{number}: not KIND NAME, functions and a reason, by tabs")
            failed = 1
            continue
        rows[tuple(fields[0].split())] = set(fields[1].split())
    if "--list" in sys.argv:
        for what in sorted(found):
            print(*what, *sorted(found[what]))
    for what in sorted(found):
        if what in rows or len(found[what]) < 2:
            continue
        print(f"{' '.join(what)}: decided in {', '.join(sorted(found[what]))}: let one of "
              "them decide, or add a row to tests/TWINS that says why not")
        failed = 1
    for what, names in rows.items():
        is_now = found.get(what, set())
        for name in sorted(is_now - names):
            print(f"{' '.join(what)}: {name}() decides it too, which tests/TWINS does not "
                  "say")
            failed = 1
        for name in sorted(names - is_now):
            print(f"{' '.join(what)}: {name}() does not decide it: take it out of "
                  "tests/TWINS")
            failed = 1
    if len(found) < 75:
        print(f"only {len(found)} rules found: the search is wrong")
        failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
