#!/usr/bin/env python3
"""Traces made to harm whoever looks at them: texts that a terminal obeys or that are not UTF-8.

    tests/hostile.py TOOL DIRECTORY
"""
import base64
import json
import os
import re
import subprocess
import sys
import zlib

from made_trace import (GO_BLOCK, GO_CREATE, GO_DESTROY, GO_START, GO_STATUS, GO_UNBLOCK, PROC_STATUS, RUNNING, TASK_BEGIN,
                        TASK_END, Trace)

REGION_BEGIN, REGION_END, LOG = 42, 43, 44

# Controls of both kinds, separators of lines, marks and overrides of the direction; bytes that are not UTF-8: alone, cut
# off, overlong, a surrogate, too large. The words between them show that the text is there. No `;`: folded stacks use it.
CONTROLS = "".join(map(chr, [*range(1, 0x20), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x206a)]))
BAD = b"\x80 \x9b31m \xff \xc3 \xe2\x80 \xf0\x9f\x98 \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80".decode("utf-8", "surrogateescape")
NAME = "\x1b]52,c,aGk=\x07" + CONTROLS + "g\u00fct" + BAD + "\n0 forged" + "\u4e16\U0001f600"
SHOWN = re.sub("[\udc80-\udcff]", "\ufffd", NAME)  # as valid UTF-8
FORBIDDEN = re.compile("[%s]" % re.escape(CONTROLS.replace("\n", "")))

failures = 0


def fail(text):
    global failures
    failures += 1
    print(text)


def name(kind):
    return kind + " " + NAME


def texts(goroutine):
    """Every text that an event can have. `goroutine`: the number of a second goroutine's function."""
    t = Trace()
    main, other = t.stack(name("inner"), name("main")), t.stack(goroutine)
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    t.event(1, 2, TASK_BEGIN, 1, 0, t.string(name("task")), main)
    t.event(1, 3, REGION_BEGIN, 1, t.string(name("region")), main)
    t.event(1, 4, LOG, 1, t.string(name("key")), t.string(name("value")), main)
    t.event(1, 5, GO_CREATE, 2, other, main)
    t.event(1, 6, GO_BLOCK, t.string(name("reason")), main)
    t.event(1, 2000000, GO_START, 2, 1)
    t.event(1, 3000000, GO_UNBLOCK, 1, 1, other)
    t.event(1, 3000001, GO_DESTROY)
    t.event(1, 9000000, GO_START, 1, 2)
    t.event(1, 9000001, REGION_END, 1, t.string(name("region")), main)
    t.event(1, 9000002, TASK_END, 1, main)
    # A module whose path is a control sequence, and whose file is missing; the frames' addresses are in it.
    t.string("gotrace.module 0 1-100000 abcdef0123456789 /nowhere/" + NAME)
    t.line = 0
    return t.data()


def run(tool, *arguments, status=0):
    done = subprocess.run([tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != status:
        fail("%s: status %d: %s" % (" ".join(map(repr, arguments)), done.returncode, done.stderr.decode("utf-8", "replace")[-500:]))
    return done.stdout, done.stderr


def check_text(what, data, words):
    """What a terminal shows: valid, without controls, and without a line that a name forged."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        fail("%s: %s" % (what, error))
        return
    found = FORBIDDEN.search(text)
    if found:
        fail("%s: %r in %r" % (what, found.group(), text[max(0, found.start() - 30):found.start() + 30]))
    if re.search("^0 forged", text, re.M):
        fail(what + ": a name forges a line")
    for word in words:
        if word not in text:
            fail("%s: no %s" % (what, word))


def strings_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from strings_of(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from strings_of(each)


def check_json(what, data, words, lines=True):
    """JSON that a terminal can show, and whose strings are those of the trace, apart from bad UTF-8."""
    check_text(what, data, [])
    try:
        found = [json.loads(line) for line in data.decode("utf-8").splitlines()] if lines else json.loads(data.decode("utf-8"))
    except ValueError as error:
        fail("%s: %s" % (what, error))
        return
    strings = set(strings_of(found))
    for word in words:
        if word + " " + SHOWN not in strings:
            fail("%s: no %s, or it is changed" % (what, word))


def check_bytes(what, data, words):
    """Strings in a binary format: valid UTF-8, otherwise unchanged."""
    for word in words:
        if (word + " " + SHOWN).encode() not in data:
            fail("%s: no %s, or it is changed" % (what, word))
    if NAME.encode("utf-8", "surrogateescape") in data:
        fail(what + ": bad UTF-8")


def check_texts(tool, directory):
    trace, other, folder = (os.path.join(directory, each) for each in ("texts", "other", "\x1b]0;x\x07\x9b"))
    for path, goroutine in (trace, name("function")), (other, "plain"):
        with open(path, "wb") as file:
            file.write(texts(goroutine))
    newer = trace + "-1.26"
    run(tool, "convert", "--to", "1.26", "-o", newer, trace)
    older = trace + "-1.21"
    run(tool, "convert", "--to", "1.21", "-o", older, trace)
    for path in trace, newer, older:
        check_text("dump", run(tool, "dump", path)[0], ["inner ", "function ", "task ", "g\u00fct\ufffd", "\u4e16\U0001f600"])
        check_text("dump --wire", run(tool, "dump", "--wire", path)[0], ["region ", "key "])
        check_json("dump --json", run(tool, "dump", "--json", path)[0], ["inner", "main", "function", "task", "region", "key", "value"])
        check_json("dump --wire --json", run(tool, "dump", "--wire", "--json", path)[0], [])
        reason = [] if path == older else ["reason"]
        check_text("info", run(tool, "info", path)[0], ["main ", "function ", "task ", "region ", *(each + " " for each in reason)])
        for column in range(20, 140, 7):
            os.environ["COLUMNS"] = str(column)
            check_text("info, %d columns" % column, run(tool, "info", path)[0], [])
        del os.environ["COLUMNS"]
        check_text("info --csv", run(tool, "info", "--csv", "--details", path)[0], ["main ", "task "])
        check_json("info --json", run(tool, "info", "--json", "--details", path)[0], ["main", "task", "region", *reason])
        check_text("path", run(tool, "path", "--task", "1", path)[0], ["main ", "function "])
        check_text("path --folded", run(tool, "path", "--task", "1", "--folded", path)[0], ["main "])
        check_json("path --json", run(tool, "path", "--task", "1", "--json", path)[0], ["main", "function"], lines=False)
        check_text("profile --folded", run(tool, "profile", "--create", "--folded", path)[0], ["main ", "inner "])
        check_bytes("profile", run(tool, "profile", "--create", path)[0], ["main", "inner"])
        check_text("diff", run(tool, "diff", path, other)[0], ["main ", "region "])
        check_json("diff --json", run(tool, "diff", "--json", path, other)[0], ["main", "region", *reason])
        check_json("export --chrome", run(tool, "export", "--chrome", path)[0], ["task", "region", "key"], lines=False)
        check_bytes("export --perfetto", run(tool, "export", "--perfetto", path)[0], ["inner", "function", "task", "region", "key"])
        page = run(tool, "view", path)[0].decode("utf-8")
        contents = zlib.decompress(base64.b64decode(re.search('id="contents0">([^<]*)<', page).group(1)))
        check_json("view", contents, ["main", "function", "task", "region", "key", "value"], lines=False)
    # Messages: names of files and of modules.
    os.mkdir(folder)
    path = os.path.join(folder, os.fsdecode(NAME.encode("utf-8", "surrogateescape")[:200].replace(b"/", b"")))
    with open(path, "wb") as file:
        file.write(b"no trace")
    for command in ["info"], ["dump"], ["convert", "--to", "1.26"], ["view"], ["symbolize"]:
        check_text(" ".join(command), b"".join(run(tool, *command, path, status=1)), ["]0;x"])
        check_text(" ".join(command), b"".join(run(tool, *command, path + "-", status=1)), ["]0;x"])
    check_text("check", b"".join(run(tool, "check", path, status=1)), ["]0;x"])
    check_text("an option", b"".join(run(tool, "info", "--" + NAME.replace("=", ""), trace, status=2)), ["unknown option"])
    said = run(tool, "symbolize", "-o", os.path.join(directory, "named"), trace)[1]
    check_text("symbolize", said, ["/nowhere/", "]52"])


check_texts(sys.argv[1], sys.argv[2])
sys.exit(failures > 0)
