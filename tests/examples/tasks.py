#!/usr/bin/env python3
"""examples/tasks.c: what it prints of a trace whose times are known, and the same sums as `gotrace info` for others, in
which all open regions of a goroutine have the same task.

    tests/examples/tasks.py TASKS GOTRACE TRACE...
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tool"))
from made_trace import *  # noqa: E402, F403

KNOWN = """\
7               0  "job"
7            9000  running
7          107000  waiting sync
7            2000  ready
7            1000  in a system call
8               0  "part"
8            4000  running
8            5000  ready preempted
"""


def trace():
    """A wait for a task that goes on in the next generation, where ids of texts begin anew; a region inside another."""
    generations = Generations()
    for generation in range(2):
        t, start = Trace(), generation * 100000
        main = t.stack("main.main")
        t.event(1, start, PROC_STATUS, 1, 1)
        if generation == 0:
            t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
            t.event(1, 1000, TASK_BEGIN, 7, NO_ID, t.string("job"), main)
            t.event(1, 2000, REGION_BEGIN, 7, t.string("outer"), main)
            t.event(1, 3000, GO_BLOCK, t.string("sync"), main)
            t.event(1, 4000, GO_CREATE, 2, main, 0)
            t.event(1, 5000, GO_START, 2, 1)
        else:
            t.string("another first text")
            t.event(1, start + 1, GO_STATUS, 2, 1, RUNNING)
            t.event(2, start + 100, GO_STATUS, 1, NO_ID, WAITING)
            t.event(1, start + 10000, GO_UNBLOCK, 1, 1, main)
            t.event(1, start + 11000, GO_DESTROY)
            t.event(1, start + 12000, GO_START, 1, 2)
            t.event(1, start + 15000, SYSCALL_BEGIN, 1, main)
            t.event(1, start + 16000, SYSCALL_END)
            t.event(1, start + 17000, TASK_BEGIN, 8, 7, t.string("part"), main)
            t.event(1, start + 18000, REGION_BEGIN, 8, t.string("inner"), main)
            t.event(1, start + 20000, GO_STOP, t.string("preempted"), main)
            t.event(1, start + 25000, GO_START, 1, 3)
            t.event(1, start + 27000, REGION_END, 8, t.string("inner"), main)
            t.event(1, start + 30000, REGION_END, 7, t.string("outer"), main)
            t.event(1, start + 31000, GO_BLOCK, t.string("sync"), main)
        generations.append(t)
    return generations


def check(tasks):
    with tempfile.NamedTemporaryFile(suffix=".trace") as file:
        file.write(trace().data())
        file.flush()
        found = subprocess.run([tasks, file.name], capture_output=True, text=True, check=True).stdout
    lines = [" ".join(line.split()) for line in found.splitlines()]
    assert sorted(lines) == sorted(" ".join(line.split()) for line in KNOWN.splitlines()), found


def compare(tasks, gotrace, path):
    """The times by task name and state."""
    ours, info, names = collections.Counter(), collections.Counter(), {}
    run = subprocess.run([tasks, path], capture_output=True, text=True, check=True)
    rows = [line.split(maxsplit=2) for line in run.stdout.splitlines()]
    names.update((task, what[1:-1]) for task, _, what in rows if what.startswith('"'))
    words = {"ready": "runnable", "running": "running", "in": "syscall", "waiting": "blocked"}
    for task, time, what in rows:
        if not what.startswith('"') and int(time):
            ours[names.get(task, ""), words[what.split()[0]]] += int(time)
    report = json.loads(subprocess.run([gotrace, "info", "--json", path], capture_output=True, text=True, check=True).stdout)
    for row in report["tasks"]:
        for state in words.values():
            if row.get(state):
                info[row["name"], state] += row[state]
    assert ours == info, (path, ours, info)
    return len(ours)


def main():
    tasks, gotrace, *paths = sys.argv[1:]
    check(tasks)
    with tempfile.TemporaryDirectory() as directory:
        for path in paths:  # and in the words of Go 1.21
            old = os.path.join(directory, "old.trace")
            subprocess.run([gotrace, "convert", "--to", "1.21", "-o", old, path], check=True, stderr=subprocess.DEVNULL)
            count = compare(tasks, gotrace, path)
            assert count and compare(tasks, gotrace, old) == count, path
    return 0


sys.exit(main())
