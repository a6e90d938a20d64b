#!/usr/bin/env python3
"""What `gotrace` says of traces of `gotrace record`, whose goroutines are threads: no command says that a thread runs, since
it may wait where the library does not see it, unless the trace has context switches. Threads go by the names that the
program gave them.

    tests/tool/recordings.py [TOOL]

The trace is made_trace.named(), in both families of formats. Another trace that only mentions `record` is none. See also
commands_agree.py, which compares the names in all commands.
"""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
import made_trace  # noqa: E402

TOOL = sys.argv[1] if len(sys.argv) > 1 else "build/examples/gotrace"
UNSEEN = "not seen waiting"
NAMES = {"main": 1, "pool": 2, "net": 2, "log": 1}  # of made_trace.named()


def run(*arguments):
    done = subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, "%s: %s" % (arguments, done.stderr)
    return done.stdout


def page(path):
    """The data of a page of view, and the texts of its script and markup."""
    text = run("view", "--pictures", "-o", "-", path).decode()
    packed = re.search(r'id="contents0">([^<]*)<', text).group(1)
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def outputs(path):
    """From commands to what they print for people."""
    yield "info", run("info", path)
    yield "info --brief", run("info", "--brief", path)
    yield "diff", run("diff", path, path)
    yield "path", run("path", "--go", "3", path)
    yield "path --folded", run("path", "--go", "3", "--folded", path)
    yield "export --perfetto", run("export", "--perfetto", path)


def words_of(path):
    """The commands that say "running", and those that say "not seen waiting"."""
    found = {True: set(), False: set()}
    for command, output in outputs(path):
        for word, unseen in (rb"running(?! again)", False), (UNSEEN.encode(), True):
            if re.search(word, output):
                found[unseen].add(command)
    data = page(path)
    found[data.get("running") == UNSEEN and data["recorded"]].add("view")
    return found[False], found[True]


def check_words(path, unseen, what):
    everything = {command for command, _ in outputs(path)} | {"view"}
    words = words_of(path)
    assert words == ((set(), everything) if unseen else (everything, set())), "%s: say running: %s, %s: %s" % (what, words[0], UNSEEN, words[1])


def rows(*arguments):
    return {row["name"]: row["count"] for row in json.loads(run("info", "--json", *arguments))["functions"]}


def check_names(path, what, names=NAMES):
    assert rows(path) == names, "%s: %s" % (what, rows(path))
    data = page(path)
    of_page = [data["texts"][data["rows"][i + 2]] for i in range(0, len(data["rows"]), 7) if data["rows"][i] == 2]
    assert sorted(of_page) == sorted(name for name, count in names.items() for _ in range(count)), (what, of_page)
    for name in names:
        assert rows("--function", "=" + name, path) == {name: names[name]}, (what, name)
    assert re.search(rb"blocked for [a-z: ]*: net\b", run("diff", path, path)), what
    assert b" net" in run("path", "--go", "3", path), what


def main():
    with tempfile.TemporaryDirectory() as directory:
        made, v1, part = (os.path.join(directory, name) for name in ("made", "v1", "part"))
        with open(made, "wb") as out:
            out.write(made_trace.named().data())
        run("convert", "--to", "1.21", "-o", v1, made)
        for path, what in (made, "a recording"), (v1, "a recording in 1.21"):
            check_words(path, True, what)
            check_names(path, what)
            run("cut", "--from", "205us", "-o", part, path)  # without a report of CPU time
            assert b"CPU time" not in run("dump", part), what
            check_words(part, True, "a part of " + what)
            assert rows(part) == NAMES, (what, rows(part))
        # The name of a part is that of the whole.
        assert rows("--to", "20us", made) == NAMES, rows("--to", "20us", made)
        # With context switches, a thread that runs has a processor.
        with open(made, "wb") as out:
            out.write(made_trace.named(watched=True).data())
        run("convert", "--to", "1.21", "-o", v1, made)
        for path, what in (made, "a recording with switches"), (v1, "a recording with switches in 1.21"):
            check_words(path, False, what)
            run("cut", "--from", "205us", "-o", part, path)
            check_words(part, False, "a part of " + what)
        # Neither a log that mentions the category nor a label makes a recording.
        t, stack = made_trace.running_main()
        t.event(1, 1000, made_trace.GO_LABEL, t.string("label"))
        for text in "gotrace record: CPU time 5", "about gotrace record: CPU time":
            t.event(1, 2000, made_trace.LOG, 0, t.string(text), t.string("5"), stack)
        t.event(1, 3000, made_trace.GO_CREATE, 3, stack, stack)
        t.event(1, 9000, made_trace.GO_STOP, t.string("preempted"), stack)
        t.event(1, 9500, made_trace.GO_START, 3, 1)
        t.event(1, 9900, made_trace.GO_STOP, t.string("preempted"), stack)
        with open(made, "wb") as out:
            out.write(t.data())
        check_words(made, False, "no recording")
        assert rows(made) == {"main.main": 2}, rows(made)


main()
