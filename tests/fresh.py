#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
fresh.py - breakages that nobody has thought of: do the tests notice?

Draws lines at random, changes one thing on each (a comparison, a constant, a condition, an
operator, a statement that is left out, two arguments or rows exchanged), builds the changed
file into a copy of the tree, and runs the tests that need no lab: of user/ all unit tests,
those of the file's own room first; of bpf/ and include/ the unit tests of tests/include that
read the changed header, then all kernel tests, with the broken shield in the place of the one
that they were built with (which takes root). What does not compile or load, compiles to the
same instructions, or changes a type that both sides have, is drawn again. A line says of each
who noticed it, or that it survived, and the last one `N passed, N failed, N skipped`: a passed
one was noticed.

    fresh.py [--count N] [--seed N] [--minutes N] [--survive PERCENT] [--jobs N]
             [--tree DIR] [GLOB...]

GLOBs are of files below user/, bpf/ and include/ (all of user/ without). The same seed draws
the same again from the same tree. Not all survivors are faults: some change nothing that can
be seen. A test that fails as the tree is would notice everything: it is set aside, by name.
"""
import argparse, fnmatch, functools, os, random, re, shutil, struct, subprocess, sys, tempfile, time
from concurrent import futures
from itertools import islice

SWAPS = [
    (r"(?<![<>=!\-+*/&|^])<(?![<=])", "<="), (r"<=(?!=)", "<"),
    (r"(?<![<>=!\-])>(?![>=])", ">="), (r"(?<!>)>=", ">"),
    (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"),
    (r"\+=", "-="), (r"-=", "+="), (r"\|=", "&="), (r"(?<![&])&=", "|="),
    (r"(?<=\w)\+\+", "--"), (r"<<(?!=)", ">>"), (r">>(?!=)", "<<"),
    (r"(?<=[\w)\]]) \+ (?=[\w(])", " - "), (r"(?<=[\w)\]]) - (?=[\w(])", " + "),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<=[\w)\]]) & (?=[\w(])", " | "), (r"\bmin\b", "max"), (r"\bmax\b", "min"),
]
NUMBER = re.compile(r"(?<![\w.\"%])(0[xX][0-9a-fA-F]+|\d+)(?![\w.\"])")
CONDITION = re.compile(r"\b(if|while) \((.*)\)( \{)?$")
STATEMENT = re.compile(r"^\t+(?!return|case|break|continue|goto|default|else|do\b|"
                       r"(?:static|const|struct|enum|char|int|bool|void|size_t|ssize_t|FILE|"
                       r"double|u?int\d+_t|unsigned|uint|long|__\w+) )[\w*(&>\-.\[\]+ ]+.*;$")
CALL = re.compile(r"\b(\w+)\(([^(),]+), ([^(),]+)((?:, [^()]*)?)\)")
FIELD = re.compile(r"(?:->|\.)(\w+)\b(?!\()")


def code(line):
    """The line with what is in strings and comments blanked, as long as it was."""
    line = re.sub(r'"(?:\\.|[^"\\])*"', lambda m: '"' + "_" * (len(m.group()) - 2) + '"', line)
    line = re.sub(r"'(?:\\.|[^'\\])+'", lambda m: "'" + "_" * (len(m.group()) - 2) + "'", line)
    return re.sub(r"/\*.*?\*/|//.*", lambda m: " " * len(m.group()), line)


def changes(lines, at):
    """All that could be done to that line: (line after, what)."""
    line, plain = lines[at], code(lines[at])
    out = []
    for pattern, new in SWAPS:
        for m in re.finditer(pattern, plain):
            out.append(line[:m.start()] + new + line[m.end():])
    for m in NUMBER.finditer(plain):
        value = int(m.group(1), 0) if not re.fullmatch(r"0\d+", m.group(1)) else int(m.group(1), 8)
        out += [line[:m.start()] + str(other) + line[m.end():]
                for other in (value + 1, value - 1) if other >= 0]
    m = CONDITION.search(plain)
    if m:
        before, of, behind = line[:m.start(2)], line[m.start(2):m.end(2)], line[m.end(2):]
        out += [f"{before}!({of}){behind}"] * 2 + [f"{before}({of}) && 0{behind}"]
    if STATEMENT.match(plain) and plain.count("(") == plain.count(")"):
        out += [";"] * 3
    out += [";"] * bool(re.match(r"^\t+(break|continue);$", plain))
    m = CALL.search(plain)
    if m:
        out.append(line[:m.start(2)] + line[m.start(3):m.end(3)] + ", " +
                   line[m.start(2):m.end(2)] + line[m.end(3):])
    m = re.match(r"^(\t+return )(?!0;|true;|false;|NULL;|-)([^;]+);$", plain)
    if m:
        out.append(line[:m.start(2)] + "!(" + line[m.start(2):m.end(2)] + ");")
    fields = {f for l in lines[max(0, at - 12):at + 12] for f in FIELD.findall(code(l))}
    for m in FIELD.finditer(plain):
        for other in sorted(fields - {m.group(1)}):
            out.append(line[:m.start(1)] + other + line[m.end(1):])
    if re.match(r"^\t+\{.*\},$", plain) and at + 1 < len(lines) and \
            re.match(r"^\t+\{.*\},$", code(lines[at + 1])):
        out += ["\t/* gone */"] * 2
    return [o for o in out if o != line]


def draw(rng, files):
    """One change at random, by lines: (file, number of line, line after)."""
    while True:
        path = rng.choice(files)
        lines = open(path).read().split("\n")
        at = rng.randrange(len(lines))
        if lines[at][:1] != "\t" or code(lines[at]).strip() in ("", "*/") or \
                lines[at].lstrip().startswith("*"):
            continue
        all_of_it = changes(lines, at)
        if all_of_it:
            return path, at, rng.choice(all_of_it)


@functools.cache
def above():
    """For each room of user/, the rooms that include its headers, directly or through another."""
    rows = re.search(r"\nROOMS='\n(.*?)'", open("tests/test_layers.sh").read(), re.S).group(1)
    uses = {}
    for row in rows.strip().split("\n"):
        room, _, others = row.partition(":")
        uses.setdefault(room.split("/")[0], set()).update(o.split("/")[0] for o in others.split())
    out = {room: {room} for room in uses}
    for _ in uses:
        for room, others in uses.items():
            for reached in out.values():
                if reached & others:
                    reached.add(room)
    return out


def reaches(test, path):
    """Can this test run what is in that file?"""
    return test.split("/tests/")[1].split("/")[0] in above()[path.split("/")[1]]


class Tree:
    """A copy in which files of user/ are broken: all tests share a library that is built anew."""
    BUILDS, TESTS = "all-fresh", "test_*"

    def __init__(self, jobs, top):
        self.top, self.jobs, self.took = top or tempfile.mkdtemp(prefix="fresh-"), jobs, {}
        os.makedirs(self.top, exist_ok=True)
        # What a run that was ended has left broken.
        for d, _, files in os.walk(self.top):
            for file in files:
                if file.endswith(".kept"):
                    os.replace(os.path.join(d, file), os.path.join(d, file[:-5]))
        subprocess.run(f"tar -c --exclude=./.git --exclude='./build*' . | tar -x -C {self.top}",
                       shell=True, check=True)
        self.make(self.BUILDS)
        self.tests = self.found(self.TESTS)

    def found(self, name, room=""):
        out = subprocess.run(["find", f"build/tests/{room}", "-name", name, "-type", "f",
                              "-executable"], cwd=self.top, capture_output=True, text=True)
        return sorted(t for t in out.stdout.split() if "." not in os.path.basename(t))

    def make(self, target):
        done = subprocess.run(["make", "-s", "-j2", "O=build", target],
                              cwd=self.top, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])

    def beside(self, test):
        return {}

    def one(self, test):
        begun = time.time()
        env = dict(os.environ, **self.beside(test))
        try:
            status = subprocess.run([test], cwd=self.top, env=env, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    timeout=120).returncode
        except subprocess.TimeoutExpired:
            status = 124
        self.took.setdefault(test, time.time() - begun)
        return status

    def order(self, path):
        room = os.path.dirname(path).replace("user/", "", 1)
        return sorted((t for t in self.tests if reaches(t, path)),
                      key=lambda t: (f"tests/{room}/" not in t, self.took.get(t, 0)))

    def failing(self, path):
        """The first test that fails; those of the room of @path first, then the fast ones."""
        order = iter(self.order(path))
        with futures.ThreadPoolExecutor(self.jobs) as pool:
            running = {pool.submit(self.one, t): t for t in islice(order, self.jobs)}
            while running:
                done, _ = futures.wait(running, return_when=futures.FIRST_COMPLETED)
                for d in done:
                    test = running.pop(d)
                    # Once more: on a busy machine some fail that have seen nothing.
                    if d.result() and self.one(test):
                        return os.path.basename(test)
                    running.update({pool.submit(self.one, t): t for t in islice(order, 1)})
        return None

    def set_aside(self, files):
        """Those that could notice at all, but for those that fail as the tree is."""
        self.tests = [t for t in self.tests if any(t in self.order(f) for f in files)]
        with futures.ThreadPoolExecutor(self.jobs) as pool:
            bad = {t for t, status in zip(self.tests, pool.map(self.one, self.tests))
                   if status and self.one(t)}
        for test in sorted(bad):
            print(f"# set aside, for it fails as the tree is: {test}", flush=True)
        self.tests = [t for t in self.tests if t not in bad]

    def built(self, path):
        """What is built of that file, for the tests."""
        return [f"build/san/{path[:-2]}.o", "build/san/libuser.so"]

    def noticed(self, path):
        obj, library = self.built(path)
        self.make(obj)
        if self.same(obj):
            return None
        self.make(library)
        return self.failing(path) or ""

    def same(self, built):
        return digest(f"{self.top}/{built}") == digest(f"{self.top}/{built}.kept")

    def broken(self, path, at, new):
        """With that line in its place: who notices; "": nobody; None: it breaks nothing."""
        standing = [f"{self.top}/{file}" for file in [path, *self.built(path)]]
        lines = open(standing[0]).read().split("\n")
        lines[at] = new
        for file in standing:
            shutil.copy2(file, file + ".kept")
        try:
            open(standing[0], "w").write("\n".join(lines))
            return self.noticed(path)
        except RuntimeError:
            return None
        finally:
            for file in standing:
                os.replace(file + ".kept", file)


class Shield(Tree):
    """A copy in which bpf/ and include/ are broken: kernel tests load what is built of them."""
    BUILDS, TESTS = "kern-fresh", "kern_*"
    OBJECT = "build/bpf/shield.bpf.o"

    def __init__(self, jobs, top):
        super().__init__(jobs, top)
        self.make(self.OBJECT)
        subprocess.run("cc -D_GNU_SOURCE -shared -fPIC -o build/other_object.so "
                       "tests/kern/other_object.c -ldl", shell=True, cwd=self.top, check=True)
        self.headers = self.found("test_*", "include")

    def beside(self, test):
        return {"LD_PRELOAD": "build/other_object.so",
                "SHIELD_OBJECT": self.OBJECT} if "/kern_" in test else {}

    def set_aside(self, files):
        super().set_aside(files)
        self.headers = [t for t in self.headers if not (self.one(t) and self.one(t))]

    def order(self, path):
        return sorted(self.tests, key=lambda t: self.took.get(t, 0))

    def readers(self, path):
        return [t for t in self.headers if f" {path} " in
                open(f"{self.top}/{t}.d").read().replace("\n", " ") + " "]

    def built(self, path):
        return [self.OBJECT, *self.readers(path)]

    def loads(self, path):
        test = self.order(path)[0]
        try:
            done = subprocess.run([test], cwd=self.top, capture_output=True, text=True,
                                  env=dict(os.environ, **self.beside(test)), timeout=120)
        except subprocess.TimeoutExpired:
            return True
        return "failed to load" not in done.stderr

    def fits(self):
        """Has the object the types that the kernel tests were built with?"""
        path = f"{self.top}/{self.OBJECT}"
        types = [subprocess.run(["bpftool", "btf", "dump", "file", file, "format", "c"],
                                capture_output=True, check=True).stdout
                 for file in (path, path + ".kept")]
        return types[0] == types[1]

    def noticed(self, path):
        obj, *tests = self.built(path)
        self.make(obj)
        if not self.same(obj) and not (self.fits() and self.loads(path)):
            return None
        changed = not self.same(obj)
        for test in tests:
            self.make(test)
            if not self.same(test):
                changed = True
                if self.one(test):
                    return os.path.basename(test)
        if not changed:
            return None
        return ("" if self.same(obj) else self.failing(path)) or ""


def digest(path):
    """Of the instructions and data of an object, without what is for debuggers."""
    with open(path, "rb") as file:
        elf = file.read()
    table, size, count, names = struct.unpack_from("<40xQ10xHHH", elf)[0:4]
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * size) for i in range(count)]

    def text(header, at):
        at += header[4]
        return elf[at:elf.index(b"\0", at)]

    def name(header):
        return text(headers[names], header[0])

    def symbol(table, number):
        """Its name: its number stays if a call to another function is in its place."""
        word, _, _, section, value = struct.unpack_from("<IBBHQ", elf, table[4] + number * 24)
        if word:
            return text(headers[table[6]], word)
        return name(headers[section]) if section < count else section, value

    def content(header):
        form = {4: "<QIIq", 9: "<QII"}.get(header[1])  # RELA, REL
        if not form:
            return elf[header[4]:header[4] + header[5]]
        return [(entry[0], entry[1], symbol(headers[header[6]], entry[2]), entry[3:])
                for entry in struct.iter_unpack(form, elf[header[4]:header[4] + header[5]])]
    return [(name(h), content(h)) for h in headers if h[1] not in (0, 8) and  # NULL, NOBITS
            not re.match(rb"(\.rela?)?\.(debug|BTF|note|symtab|strtab|shstrtab|llvm)", name(h))]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    for name, of, value in (("count", int, 20), ("seed", int, random.randrange(1 << 16)),
                            ("minutes", float, 600), ("survive", int, 0),
                            ("jobs", int, os.cpu_count())):
        p.add_argument("--" + name, type=of, default=value)
    p.add_argument("--tree"), p.add_argument("glob", nargs="*")
    o = p.parse_args()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    files = sorted(os.path.join(d, f) for top in ("user", "bpf", "include")
                   for d, _, fs in os.walk(top) for f in fs
                   if f.endswith(".c" if top == "user" else (".h", ".c")))
    files = [f for f in files if any(
        fnmatch.fnmatch(f, g) or fnmatch.fnmatch(f, g + "/*") for g in o.glob or ["user"])]
    if not files:
        sys.exit(f"fresh.py: no file is named {' '.join(o.glob)}")
    shield = [f for f in files if not f.startswith("user/")]
    if shield and shield != files:
        sys.exit("fresh.py: user/ is drawn apart from bpf/ and include/, for other tests notice it")
    # By lines, not by files.
    weighed = [f for f in files for _ in range(max(1, len(open(f).read().split("\n")) // 20))]
    rng = random.Random(o.seed)
    print(f"# SEED={o.seed}", flush=True)
    tree = (Shield if shield else Tree)(o.jobs, os.path.abspath(o.tree) if o.tree else None)
    try:
        tree.set_aside(files)
        seen, noticed, survived = set(), 0, 0
        until = time.time() + o.minutes * 60
        while noticed + survived < o.count and time.time() < until:
            path, at, new = draw(rng, weighed)
            if (path, at, new) in seen or path == "user/main.c":
                continue
            seen.add((path, at, new))
            old = open(path).read().split("\n")[at]
            by = tree.broken(path, at, new)
            if by:
                print(f"noticed by {by}: {path}:{at + 1}: {new.strip()}", flush=True)
            elif by is not None:
                print(f"survived: {path}:{at + 1}: {old.strip()}  ->  {new.strip()}", flush=True)
            noticed, survived = noticed + bool(by), survived + (by == "")
        fine = survived * 100 <= o.survive * max(1, noticed + survived)
        failed = 0 if fine else survived
        print(f"{noticed} passed, {failed} failed, {o.count - noticed - failed} skipped")
        return 0 if fine else 1
    finally:
        if not o.tree:
            shutil.rmtree(tree.top, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
