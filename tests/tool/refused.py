#!/usr/bin/env python3
"""Traces that Go refuses, and inputs that are no plain traces.

    tests/tool/refused.py

--lenient: each region that ends out of order has its own times, in v1 and v2, on one thread and on several. Messages
name regions, tasks, and the options that help. gzip is unpacked. Profiles, pages and appended traces are named.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from made_trace import *  # noqa: E402, F403

TOOL = "build/examples/gotrace"
COUNTED = "regions that ended out of order, which Go refuses: %d\n"


def run(words, status=0, data=None):
    """Standard output and standard error."""
    done = subprocess.run([TOOL, *words], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == status, "%s: status %d, %s" % (words, done.returncode, done.stderr.decode())
    return done.stdout, done.stderr.decode()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def regions(trace, ends, *options):
    """[(name, task, begin, end, running, blocked)] as info sees them; `ends`: how many are out of order."""
    out, said = run(["info", "--json", "--details", "--lenient", *options, trace])
    report = json.loads(out)
    assert report["trace"]["disordered"] == ends and said.endswith(COUNTED % ends if ends else ""), said
    return sorted((r["name"], r["task"], r["begin"], r["end"], r["running"] + r["runnable"], r["blocked"].get("sleep", 0))
                  for r in report["goroutine_regions"] if "begin" in r)


def lenient(directory):
    trace = write(os.path.join(directory, "misused.trace"), misused().data())
    known = [("inner", 6, 2500, 4000, 1100, 400), ("last", 6, 6000, 7000, 1000, 0), ("middle", 6, 2000, 5000, 2600, 400),
             ("outer", 5, 1000, 3000, 2000, 0)]
    for jobs in "1", "4":
        assert regions(trace, 2, "--jobs", jobs) == known, regions(trace, 2)
    regions(trace, 1, "--from", "3100")
    regions(trace, 1, "--to", "6200")
    misuse = "misuse of region in goroutine 1: end of 'outer' of task 5, but the innermost is 'inner' of task 6 (offset "
    page = os.path.join(directory, "page")
    commands = {"info": (["--json"], "; --lenient reads on"), "dump": ([], ""), "check": ([], ""), "diff": ([trace], "")}
    for command, options in ("view", ["-o", page]), ("path", ["--go", "1"]), ("profile", ["--sync"]), ("export", ["--chrome"]):
        commands[command] = options, "; --lenient reads on, --partial keeps what comes before"
    commands["convert"] = ["--to", "1.22"], "; --partial keeps what comes before"
    commands["cut"] = ["--go", "1"], "; --partial keeps what comes before"
    for command, (options, advice) in commands.items():
        out, said = run([command, *options, trace], 1)
        said = said or out.decode()
        assert misuse in said and said.endswith(", UserRegionEnd)%s\n" % advice), "%s: %s" % (command, said)
        if "--lenient" in advice:
            out, said = run([command, *options, "--lenient", trace])
            assert said.endswith(COUNTED % 2), said
            partial = run([command, *options, "--partial", trace])[1] if command != "info" else "; kept"
            assert "; kept" in partial and "--lenient" not in partial, partial
        elif command != "diff":
            run([command, "--lenient", *options, trace], 2)
    slices, open_at = {}, []
    for event in json.loads(run(["export", "--chrome", "--lenient", trace])[0])["traceEvents"]:
        if event.get("cat") == "region" and event["id"] == "region 1":
            if event["ph"] == "b":
                open_at.append((event["name"], event["ts"]))
            else:
                name, begin = open_at.pop()
                assert name == event["name"]
                slices[name] = slices.get(name, 0) + round(1000 * (event["ts"] - begin))
    assert slices == {name: end - begin for name, _, begin, end, *_ in known}, slices


def swapped(directory):
    """The same in each format: two ends of a valid trace are swapped in the file. Their names are one letter each."""
    t = Trace()
    main = t.stack("main.main")
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    for time, kind, name in ((1000, REGION_BEGIN, "a"), (2000, REGION_BEGIN, "b"), (3000, REGION_END, "b"), (4000, REGION_END, "a")):
        t.event(1, time, kind, 0, t.string(name), main)
    t.event(1, 5000, GO_STOP, t.string("preempted"), main)
    trace = write(os.path.join(directory, "made.trace"), t.data())
    path = os.path.join(directory, "swapped.trace")
    for format in "1.11", "1.19", "1.21", "1.22", "1.23", "1.26":
        run(["convert", "--to", format, "-o", path, trace])
        plain = regions(path, 0)
        with open(path, "rb") as file:
            data = bytearray(file.read())
        places = []
        for line in run(["dump", "--wire", "--json", path])[0].splitlines():
            event = json.loads(line)
            if event["event"].startswith("UserRegion"):
                arguments = event["args"]
                name = next(arguments[key] for key in arguments if key.startswith("name"))
                mode = [arguments["mode"]] if "mode" in arguments else []
                wanted = numbers(arguments.get("task", arguments.get("taskid")), *mode, name)
                places.append((data.index(wanted, event["offset"]) + len(wanted) - 1, name))
        assert len(places) == 4 and all(data[place] == name for place, name in places), places
        (one, a), (other, b) = places[2:]
        data[one], data[other] = b, a
        write(path, data)
        assert "misuse of region" in run(["check", path], 1)[0].decode()
        found, (a, b) = regions(path, 1), plain
        assert [r[:4] for r in found] == [(*a[:3], b[3]), (*b[:3], a[3])], "%s: %s, not %s" % (format, found, plain)


def inputs(directory):
    data = misused().data()
    valid = chain().data()
    trace, packed, page = (os.path.join(directory, name) for name in ("plain.trace", "packed.gz", "page.html"))
    write(trace, valid)
    done = subprocess.run([TOOL, "check", "-"], input=gzip.compress(valid), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if b"this build cannot unpack" in done.stderr:
        print("gzip is not tested: the tool is built without zlib")
        return
    for some in gzip.compress(valid), gzip.compress(valid[:100]) + gzip.compress(valid[100:]):
        write(packed, some)
        for command in ["dump"], ["info"], ["path", "--go", "1"], ["profile", "--sync"], ["convert", "--to", "1.22"]:
            plain = run([*command, trace])[0]
            assert run([*command, packed])[0] == plain == run([*command, "-"], 0, some)[0], command
        run(["view", "-o", page, packed])
        assert b": ok, Go 1.23" in run(["check", packed])[0] and b": ok" in run(["check", "-"], 0, some)[0]
    profile = run(["profile", "--sync", trace])[0]
    old = os.path.join(directory, "old.trace")
    run(["convert", "--to", "1.21", "-o", old, trace])
    with open(old, "rb") as file:
        old = file.read()
    with open(page, "rb") as file:
        page = file.read()
    kind = "not a Go execution trace, but "
    for content, message in ((some[:-20], "truncated gzip data"), (some[:60] + b"\xff" * 60 + some[120:], "damaged gzip data"),
                             (some + b"more", "damaged gzip data"),
                             (gzip.compress(bytes(10**8)), "unpacks to more than 100 times its size"),
                             (gzip.compress(some), kind + "data that were compressed twice by gzip"),
                             (profile, kind + "a profile for pprof"), (gzip.compress(profile), kind + "a profile for pprof"),
                             (page, kind + "a page of HTML"), (b"\n <HTML>no such file", kind + "a page of HTML"),
                             (b"package main\n", "not a Go execution trace"), (b"", "not a Go execution trace: shorter than a header"),
                             (valid + data, "a second trace begins (offset %d)" % len(valid)),
                             (b"\xfd7zXZ\0" + some, kind + "data compressed by xz; use xz -d first"),
                             (b"\x28\xb5\x2f\xfd" + some, kind + "data compressed by zstd; use zstd -d first"),
                             (b"BZh91AY" + some, kind + "data compressed by bzip2; use bzip2 -d first"),
                             (b"\x04\x22\x4d\x18" + some, kind + "data compressed by lz4; use lz4 -d first"),
                             (b"PK\x03\x04" + some, kind + "a zip archive; use unzip first"),
                             *((header + b"\0\0\0", "the trace has only a header: was tracing stopped before the program ended?\n")
                               for header in (b"go 1.11 trace", b"go 1.21 trace", b"go 1.23 trace")),
                             (valid + old, "a second trace begins (offset %d)" % len(valid)),
                             (old + valid, "a second trace begins (offset %d)" % len(old)),
                             (gzip.compress(valid) + gzip.compress(valid), "a second trace begins (offset %d)" % len(valid))):
        for words, stream in ([write(packed, content)], None), (["-"], content):
            for command in "check", "info":
                out, said = run([command, *words], 1, stream)
                if command == "check" and stream and stream[:2] != some[:2] and "second" in message:
                    continue  # it reads a pipe without keeping it
                assert message in (said or out.decode()), "%s: %s%s" % (message, said, out.decode())


def main():
    with tempfile.TemporaryDirectory() as directory:
        lenient(directory)
        swapped(directory)
        inputs(directory)
    said = run(["info", "-"], 0, b"go 1.26 trace\0\0\0")[1]  # Go accepts it
    assert said == "gotrace: standard input: the trace has only a header: was tracing stopped before the program ended?\n", said
    print("all named, all lenient")


main()
