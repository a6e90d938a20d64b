#!/usr/bin/env python3
"""A page of gotrace view is not larger than it may be, whichever of its tables a trace fills, and tells what it leaves out.
The tool is built with a limit of 2.5 MB, in place of 30, by which all other limits shrink.

    tests/view/page_limits.py
"""
import base64
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(sys.path[0], "..", "tool"))
import browser  # noqa: E402
from made_trace import *  # noqa: E402, F403

LIMIT = 2500000
MOST_LENGTHS = 1000  # of which each is known
dice = random.Random(1)


def share(count):
    """A limit of which a page of 30 MB has this many."""
    return count * (LIMIT >> 10) // (30 << 10)


def requests(count=20000):
    """Each request is a goroutine with a task, a region and a log. Its name is theirs alone."""
    t, main = running_main()
    worker = t.stack("main.worker")
    t.event(2, 0, PROC_STATUS, 2, 1)
    for i in range(count):
        g, at, name = 2 + i, 1000 + i * 1000, t.string("request %d of client %d" % (i, dice.randrange(100000)))
        t.event(1, at, GO_CREATE, g, worker, main)
        t.event(2, at + 20, GO_START, g, 1)
        t.event(2, at + dice.randrange(30, 60), TASK_BEGIN, g, NO_ID, name, worker)
        t.event(2, at + dice.randrange(60, 99), REGION_BEGIN, g, name, worker)
        t.event(2, at + 100, LOG, g, t.string("user"), name, worker)
        t.event(2, at + dice.randrange(200, 500), REGION_END, g, name, worker)
        t.event(2, at + dice.randrange(500, 800), TASK_END, g, worker)
        t.event(2, at + 900, GO_DESTROY)
    return t


def threads(count=10000):
    t = Trace()
    main = t.stack("main")
    for i in range(count):
        t.event(i, i * 100, PROC_STATUS, i, 1)
        t.event(i, i * 100 + 1, GO_STATUS, i + 1, i, RUNNING)
        t.event(i, i * 100 + 10**6, GO_STOP, t.string("preempted"), main)
    return t


def ended_regions(count=20000):
    """Regions whose starts are not in the trace: each has a row."""
    t, main = running_main()
    for i in range(count):
        t.event(1, 100 + i * 10, REGION_END, 0, t.string("region %d" % i), main)
    return t


def nested_regions(count=20000):
    t, main = running_main()
    for i in range(count):
        t.event(1, 100 + i * 10, REGION_BEGIN, 0, t.string("region %d" % i), main)
    for i in reversed(range(count)):
        t.event(1, 100 + (2 * count - i) * 10, REGION_END, 0, t.string("region %d" % i), main)
    return t


def logs(count=20000, size=300):
    t, main = running_main()
    for i in range(count):
        t.event(1, 100 + i * 10, LOG, 0, t.string("log"), t.string("".join(chr(dice.randrange(33, 126)) for _ in range(size))), main)
    return t


def stacks(count=8000, depth=20):
    """Waits in functions of which each is met once."""
    t, main = running_main()
    for i in range(count):
        at = 100 + i * 1000
        t.event(1, at, GO_BLOCK, t.string("sync"), t.stack(*("f%x.g%x" % (dice.randrange(2**40), i) for _ in range(depth))))
        t.event(2, at + 1, GO_UNBLOCK, 1, 2 * i + 1, 0)
        t.event(1, at + 2, GO_START, 1, 2 * i + 2)
    return t


def functions(count=3000):
    t, main = running_main()
    for i in range(count):
        t.event(1, 100 + i * 10, GO_CREATE, i + 2, t.stack("main.f%d" % i), main)
    return t


# What is left out.
CASES = [(requests, {"gos", "tasks", "marks", "names", "texts"}), (threads, {"places"}), (ended_regions, {"regions"}),
         (nested_regions, {"regions", "names"}), (logs, {"marks", "texts"}), (stacks, {"stacks", "texts"}), (functions, {"names"})]


def build(tool):
    stb = ["-isystem", "/usr/include/stb"] if os.path.isdir("/usr/include/stb") else []
    sources = [os.path.join(at, name) for at, _, names in os.walk("examples/gotrace") if "preload" not in at for name in names if name.endswith(".c")]
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O0", "-w", "-I.", *stb, "-DHAVE_ZLIB", "-DPAGE_SIZE=%d" % LIMIT, "-DMOST_LENGTHS=%d" % MOST_LENGTHS, "-o", tool, *sources,
                    "-pthread", "-lz", "-ldl"], check=True)


def make(tool, page, trace):
    path = page + ".trace"
    with open(path, "wb") as out:
        out.write(trace.data())
    subprocess.run([tool, "view", "--pictures", "-o", page, path], check=True)
    with open(page, "rb") as file:
        data = file.read()
    return len(data), json.loads(zlib.decompress(base64.b64decode(re.search(rb' id="contents0">([^<]*)<', data)[1])))


def growing(count=5000):
    """Regions of 1000, 1001, ... nanoseconds, one every 10 us, after one of which the trace has only the end."""
    t, main = running_main()
    t.event(1, 500, REGION_END, 0, t.string("early"), main)
    for i in range(count):
        t.event(1, 10000 * (i + 1), REGION_BEGIN, 0, t.string("grows"), main)
        t.event(1, 10000 * (i + 1) + 1000 + i, REGION_END, 0, t.string("grows"), main)
    return t


def lengths(tool, path, begin, end):
    """By kind and name. Each count is that of its buckets."""
    found = json.loads(subprocess.run([tool, "view", "--lengths", "%d-%d" % (begin, end), path], check=True, stdout=subprocess.PIPE).stdout)
    assert all(of["count"] == sum(count for _, count in of["buckets"]) for of in found), found
    return {(of["kind"], of["name"]): of for of in found}


def check_lengths(tool, directory):
    """Counts are exact, of many lengths too, and whether a page has room for them or not; medians and tails then within 0.4 %."""
    path = os.path.join(directory, "lengths.trace")
    with open(path, "wb") as file:
        file.write(growing().data())
    for first, count in (0, 5000), (1200, 900), (4999, 1):
        all_of = lengths(tool, path, 10000 * (first + 1), 10000 * (first + count) + 1)
        assert set(all_of) == {("region", "grows")}, all_of
        grows = all_of["region", "grows"]
        assert grows["count"] == count and grows["longest"] == 999 + first + count and grows["exact"] == (count < MOST_LENGTHS), grows
        assert grows["total"] == sum(1000 + i for i in range(first, first + count)), grows
        for percent in 50, 90, 99:
            true = 1000 + first + -(-count * percent // 100) - 1
            assert abs(grows["p%d" % percent] - true) <= (0 if grows["exact"] else 0.004 * true), (percent, true, grows)
        for bucket, number in grows["buckets"]:
            low, high = (2 ** (at // 4 - 1) * (at % 4 + 4) for at in (bucket, bucket + 1))
            assert number == sum(low <= 1000 + i < high for i in range(first, first + count)), (bucket, number)
    with open(path, "wb") as file:
        file.write(requests().data())
    all_of = lengths(tool, path, 0, 10 ** 12)
    assert all_of["state", 0]["count"] == 20001 and all_of["state", 1]["count"] == 20000, (all_of["state", 0], all_of["state", 1])
    assert sum(of["count"] for (kind, _), of in all_of.items() if kind == "task") == 20000


def look(pages):
    """The page says what is left out, and works with what has no totals of its own."""
    with browser.all_there()[0](1280, 800) as b:
        def status(name):
            b.open("file://" + pages[name])
            b.wait_for("window.gotrace && gotrace.app.painter.drawnAt !== undefined")
            return b.run("return document.getElementById('status').textContent")

        said = status("requests")
        assert "the rows of %s goroutines" % format(20001 - share(200000), ",") in said and "is otherwise complete down to" in said, said
        said = status("functions")
        assert "Left out, because it came last: the names of %s goroutines" % format(3001 - share(20000), ",") in said, said
        b.run("const {model} = gotrace.app, row = model.rows.find((r) => r.name === 'main.f2999');"
              "return gotrace.app.sliceAt(row.number, row.begin, false).then((slice) => gotrace.app.select(slice))")
        b.wait_for("document.getElementById('panel').textContent.includes('main.f2999')")
        others = b.run("return gotrace.app.model.functions.find((f) => f.name === '(others)').goroutines")
        assert others == 3001 - share(20000), others

def main():
    if not shutil.which("cc") and "CC" not in os.environ:
        print("needs a C compiler")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        tool, pages = os.path.join(directory, "gotrace"), {}
        build(tool)
        for case, wanted in CASES:
            name = case.__name__
            pages[name] = os.path.join(directory, name + ".html")
            size, data = make(tool, pages[name], case())
            lost = {table: count for table, count in data["lost"].items() if count}
            assert size < LIMIT, "%s: %d bytes; left out: %s" % (name, size, lost)
            assert set(lost) == wanted, "%s: left out: %s, not %s" % (name, lost, wanted)
            rows = data["rows"]
            if name == "requests":
                assert lost["gos"] == 20001 - share(200000) and rows[::7].count(2) == share(200000), lost
            if name == "threads":
                assert lost["places"] == 20000 - share(50000) and sum(kind < 2 for kind in rows[::7]) == share(50000), lost
        check_lengths(tool, directory)
        if browser.all_there():
            look(pages)
    print("%d cases" % len(CASES))


main()
