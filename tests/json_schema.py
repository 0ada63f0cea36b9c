#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""json_schema.py NAME [--all [PATH,...]]: hold JSON on standard input to its schema.

The schema is docs/reference/schema/NAME.json; the input is one JSON value after another. A
key without a row in the tables of `struct json_key` is an error, though the schema itself
permits more keys. --all: each key of the schema is in the input as well, but for the paths
named and what is below them. Prints what is wrong, a line each.
"""
import json
import os
import sys

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
    "integer": int, "number": (int, float),
}
KNOWN = {"$schema", "title", "description", "type", "properties", "additionalProperties",
         "required", "items"}


def fits(value, name):
    """Booleans are integers in Python alone."""
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def walk(value, schema, path, seen, wrong):
    """Compare @value with @schema; note the paths of its keys in @seen, faults in @wrong."""
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(fits(value, name) for name in names):
        wrong.add(f"{path or 'the whole'}: {json.dumps(value)[:60]} is no {' or '.join(names)}")
    elif isinstance(value, dict):
        walk_object(value, schema, path, seen, wrong)
    elif isinstance(value, list):
        for element in value:
            walk(element, schema.get("items", {}), path + "[]", seen, wrong)


def walk_object(value, schema, path, seen, wrong):
    listed = schema.get("properties", {})
    other = schema.get("additionalProperties")
    for key, of in value.items():
        at = f"{path}.{key if key in listed else '*'}".lstrip(".")
        if key in listed or other is not None:
            seen.add(at)
            walk(of, listed.get(key, other), at, seen, wrong)
        elif listed:
            wrong.add(f"{path}.{key}".lstrip(".") + ": not in the schema; each key needs a row in "
                      "the table beside its writer, and `make docs`")
    for key in schema.get("required", []):
        if key not in value:
            wrong.add(f"{path}.{key}".lstrip(".") + ": missing")


def paths(schema, path=""):
    """All keys that the schema has."""
    assert set(schema) <= KNOWN, f"unknown words in the schema: {set(schema) - KNOWN}"
    keys = dict(schema.get("properties", {}))
    if "additionalProperties" in schema:
        keys["*"] = schema["additionalProperties"]
    for key, of in keys.items():
        at = f"{path}.{key}".lstrip(".")
        yield at
        yield from paths(of, at)
    if "items" in schema:
        yield from paths(schema["items"], path + "[]")


def values(text):
    """JSON values with white space between them."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


def main(name, *rest):
    root = os.path.join(os.path.dirname(__file__), "..", "docs/reference/schema")
    with open(os.path.join(root, name + ".json")) as file:
        schema = json.load(file)
    seen, wrong, count = set(), set(), 0
    for value in values(sys.stdin.read()):
        walk(value, schema, "", seen, wrong)
        count += 1
    if not count:
        wrong.add("no JSON at all")
    if rest[:1] == ("--all",):
        but = rest[1].split(",") if rest[1:] else []
        for path in paths(schema):
            if path not in seen and not any((path + ".").startswith((one + ".", one + "[]"))
                                            for one in but):
                wrong.add(f"{path}: in the schema, and never seen")
    for line in sorted(wrong):
        print(f"{name}: {line}")
    return bool(wrong)


sys.exit(main(*sys.argv[1:]))
