#!/usr/bin/env python3
"""A page of gotrace view has rows for 200,000 goroutines, names the number of the others, counts all, and is below 30 MB.

    tests/view/many_goroutines.py
"""
import base64
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool"))
from made_trace import *  # noqa: E402, F403

TOOL = "build/examples/gotrace"
ROWS, MORE = 200000, 100
GO, REGION, TASK, OTHERS = 2, 3, 4, 8  # kinds of rows


def many():
    """main.main creates goroutines, which run, have a region and a task, and end. Some of the last are of another function."""
    t = Trace()
    main, worker, late = t.stack("main.main"), t.stack("main.worker"), t.stack("main.late")
    region, task = t.string("region"), t.string("task")
    for m in 1, 2:
        t.event(m, 0, PROC_STATUS, m, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    for i in range(ROWS + MORE - 1):
        g, at = 2 + i, 10 + i * 10
        entry = worker if i < ROWS + MORE - 11 else late
        t.event(1, at, GO_CREATE, g, entry, main)
        t.event(2, at + 2, GO_START, g, 1)
        t.event(2, at + 3, TASK_BEGIN, g, NO_ID, task, entry)
        if i % 100 == 0 or i >= ROWS - 1:
            t.event(2, at + 4, REGION_BEGIN, g, region, entry)
            t.event(2, at + 6, REGION_END, g, region, entry)
        t.event(2, at + 7, GO_DESTROY)
    return t


def contents(page):
    with open(page, "rb") as file:
        data = file.read()
    assert len(data) < 30 << 20, len(data)
    return json.loads(zlib.decompress(base64.b64decode(re.search(rb' id="contents0">([^<]*)<', data)[1])))


def main():
    with tempfile.TemporaryDirectory() as directory:
        trace, page = os.path.join(directory, "many.trace"), os.path.join(directory, "many.html")
        with open(trace, "wb") as file:
            file.write(many().data())
        subprocess.run([TOOL, "view", "--pictures", "-o", page, trace], check=True)
        found = contents(page)
        assert found["lost"]["gos"] == MORE, found["lost"]["gos"]
        kinds = collections.Counter(found["rows"][::7])
        assert kinds[GO] == ROWS and kinds[OTHERS] == 2 and kinds[TASK] == ROWS, kinds
        assert kinds[REGION] == (ROWS - 1 + 99) // 100, kinds
        assert found["finest"] == [0, 0], found["finest"]
        # The summary counts all.
        texts, list_, at, goroutines = found["texts"], found["functions"], 0, {}
        while at < len(list_):
            name, count = texts[list_[at]], list_[at + 1]
            at += 2
            for _ in range(8):
                at += 5 + 2 * list_[at + 4]
            goroutines[name] = count
        assert goroutines == {"main.main": 1, "main.worker": ROWS + MORE - 11, "main.late": 10}, goroutines
        # A part has rows for those that have none here.
        subprocess.run([TOOL, "view", "--pictures", "--from", "%dns" % (10 * (ROWS - 10)), "-o", page, trace], check=True)
        found = contents(page)
        assert found["lost"]["gos"] == 0 and collections.Counter(found["rows"][::7])[GO] >= MORE, found["lost"]["gos"]
    print("%d goroutines" % (ROWS + MORE))


main()
