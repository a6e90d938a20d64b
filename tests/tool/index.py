#!/usr/bin/env python3
"""The commands that begin at an index show the same with one as without, for random parts of traces. An index that is
damaged, or is that of another trace, is refused with a line.

    tests/tool/index.py [-n PARTS] [-s SEED] [--dense DENSE] TOOL TRACE...

DENSE is the tool with a moment in its indexes for each generation, however small the trace is.
"""
import argparse
import itertools
import os
import pty
import random
import subprocess
import sys
import tempfile

import made_trace
from made_trace import (GC_ACTIVE, GC_BEGIN, GO_BLOCK, GO_CREATE, GO_START, GO_STATUS, GO_UNBLOCK, LOG, NO_ID, PROC_STATUS,
                        REGION_BEGIN, REGION_END, RUNNABLE, RUNNING, STW_BEGIN, STW_END, TASK_BEGIN, TASK_END, Generations, Trace)


def run(tool, *words):
    done = subprocess.run([tool, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


TABLES = "TABLES"  # stands for a new directory


def outcome(tool, *words):
    """The same, and the tables that it writes."""
    if TABLES not in words:
        return run(tool, *words)
    with tempfile.TemporaryDirectory() as directory:
        made = os.path.join(directory, "tables")
        done = run(tool, *(made if word == TABLES else word for word in words))
        files = {name: open(os.path.join(made, name), "rb").read() for name in os.listdir(made)} if os.path.exists(made) else {}
        return done + (files,)


def check(condition, *words):
    if not condition:
        sys.exit(" ".join(str(word) for word in words))


# One command of each kind that takes --index.
EACH = (["info"], ["cut"], ["profile", "--sync", "--folded"], ["path", "--go", "1"], ["view", "--data"], ["export", "--perfetto"],
        ["export", "--chrome"], ["export", "--tables", TABLES])


def random_command(dice):
    """One that shows a part, and has to know in which state that begins."""
    kind = dice.choice(("--cpu", "--sync", "--network", "--syscall", "--scheduler", "--create"))
    return dice.choice((
        ["profile", kind, "--folded"],
        ["profile", kind],
        ["export", "--perfetto"],
        ["export", "--chrome"],
        ["export", "--tables", TABLES],
        ["cut"],
        ["path", "--go", str(dice.randrange(60))],
        ["path", "--task", dice.choice(("work", "request", "task", "other", "task 1", str(dice.randrange(12)))), "--json"],
        ["view", "--data"],
        ["view", "--lengths", "%d-%d" % (dice.randrange(10 ** 6), dice.randrange(10 ** 10))],
        ["info", *dice.choice(((), ("--json",), ("--json", "--details"), ("--csv",)))],
        ["info", "--json", "--details"],
    ))


def random_filter(dice):
    """Nothing, or options that select some events. What they select of what is open when a part begins depends on where it began."""
    some = lambda most: ",".join(str(dice.randrange(most)) for _ in range(dice.choice((1, 1, 2, 5))))
    return [word for _ in range(dice.choice((0, 1, 1, 1, 2))) for word in dice.choice((
        ["--go", some(60)],
        ["--go", some(4)],
        ["--function", dice.choice(("main", "worker", "=main.main", "main.worker", "runtime", "a"))],
        ["--task", dice.choice(("work", "request", "task", "other", "task 0", "task 1", "task 2"))],
        ["--task", str(dice.randrange(12))],
        ["--task", str(dice.randrange(12))],
        ["--proc", some(6)],
        ["--thread", some(6)],
        ["--kind", dice.choice(("UserTaskBegin", "UserRegionBegin,UserTaskBegin", "UserLog", "GoBlock,GoUnblock", "GoStart"))],
        ["--reason", dice.choice(("sync", "chan receive", "select", "sleep"))],
    ))]


def random_part(dice, length):
    start = dice.randrange(length + length // 10 + 2)
    part = ["--from", str(start)]
    if dice.randrange(3):
        part += ["--to", str(start + dice.randrange(length // dice.choice((1, 10, 100)) + 2))]
    return part + (["--json"] if dice.randrange(2) else [])


def compare(tool, dice, trace, index, parts):
    """Returns whether the trace has an index."""
    bare = os.path.join(os.path.dirname(index), "no.trace")
    if os.path.lexists(bare):
        os.remove(bare)
    os.symlink(os.path.abspath(trace), bare)  # has no index beside it
    status, _, said = run(tool, "index", "--index", index, bare)
    check((status == 0) == os.path.exists(index), trace, "index: status", status, said)
    if status:
        return False
    whole = run(tool, "dump", bare)[1]
    times = [int(line.split()[0]) for line in whole.splitlines() if not line.startswith(b" ")]
    for _ in range(parts):
        part, selects = random_part(dice, times[-1] if times else 1), random_filter(dice)
        wanted = run(tool, "dump", *part, *selects, bare)
        found = run(tool, "dump", *part, *selects, "--index", index, bare)
        check(wanted == found, trace, *part, *selects, "differs with an index:", found[2], wanted[2])
        part = random_command(dice) + [word for word in part if word != "--json"]
        part += [] if part[0] == "path" else selects
        if part[0] != "cut" and dice.randrange(5) == 0:
            part.append("--lenient")
        wanted = outcome(tool, *part, bare)
        found = outcome(tool, *part, "--index", index, bare)
        check(wanted == found, trace, *part, "differs with an index:", found[2], wanted[2])
    return True


def refuse(tool, dice, trace, index):
    """Damage in the head or in the last moment, with which the part begins, is found, and does not change what is printed."""
    good = open(index, "rb").read()
    moments = Index(good)
    part = ["dump", "--from", str(moments.moments[-1].time + 1), "--index", index, trace]
    wanted = run(tool, *part)
    check(wanted[2] == b"", trace, "said", wanted[2])
    last = len(good) - moments.moments[-1].size  # other moments are not read
    for _ in range(20):
        data = bytearray(good)
        if dice.randrange(3):
            at = dice.choice((dice.randrange(moments.begin), dice.randrange(last, len(good))))
            data[at] ^= 1 << dice.randrange(8)
        else:
            del data[dice.randrange(len(data)):]
        open(index, "wb").write(data)
        found = run(tool, *part)
        check(found[:2] == wanted[:2] and b"gotrace index" in found[2], trace, "with a damaged index:", found[2])
    open(index, "wb").write(good)
    status, _, said = run(tool, "dump", "--wire", "--index", index, trace)
    check(status and b"--index does not go" in said, "an index that is not used:", status, said)
    status, _, said = run(tool, "info", "--from", "1", "--index", index, trace, trace)
    check(status == 2 and b"--index is of one FILE" in said, "an index of two traces:", status, said)
    status, _, said = run(tool, "index", "--index", trace, trace)
    check(status == 1 and b"is no index" in said, "replaces a trace:", said)


def skips(tool, directory):
    """With an index the beginning is not read: a trace that is broken there, out of what the index checks, has its later parts."""
    made = Generations()
    for generation in range(40):
        t, start = Trace(), generation * 1000000
        t.event(1, start, PROC_STATUS, 0, 1)
        t.event(1, start + 1, GO_STATUS, 1, 1, RUNNING)
        if generation == 0:
            main = t.stack("main.main")
            t.event(1, start + 2, TASK_BEGIN, 3, NO_ID, t.string("long"), main)
            t.event(1, start + 3, REGION_BEGIN, 3, t.string("around"), main)
        if generation == 36:
            t.event(1, start + 2, TASK_BEGIN, 7, 3, t.string("3"), 0)
        if generation == 37:
            t.event(1, start + 2, TASK_END, 7, 0)
        for i in range(800):
            t.event(1, start + 100 + 1000 * i, LOG, 0, t.string("number %d" % i), t.string("of generation %d" % generation), 0)
        made.append(t)
    path, index = os.path.join(directory, "made.trace"), os.path.join(directory, "made.gtx")
    data = bytearray(made.data())
    open(path, "wb").write(data)
    check(run(tool, "index", "--index", index, path)[0] == 0, "a made trace has no index")
    written = subprocess.run([tool, "index", "--index", "-", path], stdout=subprocess.PIPE, check=True).stdout
    parts = [[*command, "--from", "35ms", path] for command in [["dump"], *EACH, ["path", "--task", "7"]]]
    parts.append(["view", "--lengths", "35000000-36000000", path])
    filters = ("--go", "1"), ("--function", "=main.main"), ("--task", "3"), ("--task", "long"), ("--proc", "0"), ("--thread", "1")
    parts += [[*command, "--from", "35ms", *selects, path] for command in [["dump"], *EACH] for selects in filters if command[0] != "path"]
    wanted = [outcome(tool, *part) for part in parts]
    check(wanted[0][1].count(b"of generation 3") > 3000, "a part of a made trace:", wanted[0][2])
    for part, (_, found, *_) in zip(parts, wanted):  # they select all, if they know what the first generation says
        check(part[0] != "dump" or found.count(b"UserLog") == wanted[0][1].count(b"UserLog"), *part, "selects only some")
        check(part[:2] != ["export", "--chrome"] or b'"name":"long"' in found, *part, "lacks the task that is open")
    for kind, shown in (("UserTaskBegin", True), ("UserLog", False)):  # what is open is selected by where it began
        found = run(tool, "export", "--chrome", "--from", "35ms", "--kind", kind, path)[1]
        check((b'"name":"long"' in found) == shown, "a part with", kind, "has" if not shown else "lacks", "the task that is open")
    for word in ("7", "8", "other"):  # 7 has ended
        status, _, said = run(tool, "dump", "--from", "38ms", "--task", word, path)
        check(status == 1 and b"no task %s in this part" % word.encode() in said, "a part has task", word, said)
    at = len(data) // 4
    check(65536 < at < len(data) - 65536, "the made trace is too small:", len(data))
    data[at:at + 1000] = b"\xff" * 1000
    open(path, "wb").write(data)
    beside = path + ".gtx"
    for part, good in zip(parts, wanted):
        check(good[0] == 0 and not good[2], *part, "fails:", good[2])
        check(outcome(tool, *part)[0], *part, "is not read from its beginning without an index")
        check(outcome(tool, *part, "--index", index) == good, *part, "reads the beginning although there is an index")
        os.rename(index, beside)
        check(outcome(tool, *part) == good, *part, "does not use the index beside the trace")
        os.rename(beside, index)
    open(index, "wb").write(written)
    check(outcome(tool, *parts[0], "--index", index) == wanted[0], "an index on standard output is another one")


def many_tasks(tool, directory, dice):
    """An index of a trace with very many ids of tasks, in no order, does not have them: --task ID reads the beginning, nothing else."""
    made = Generations()
    ids = [dice.randrange(1, 2 ** 63) for _ in range(20000)]
    for generation in range(40):
        t, start = Trace(), generation * 1000000
        t.event(1, start, PROC_STATUS, 0, 1)
        t.event(1, start + 1, GO_STATUS, 1, 1, RUNNING)
        for i, task in enumerate(ids[generation * 500:generation * 500 + 500]):
            t.event(1, start + 100 + 1000 * i, TASK_BEGIN, task, NO_ID, t.string(str(ids[0])), 0)
            t.event(1, start + 200 + 1000 * i, TASK_END, task, 0)
        made.append(t)
    path, index = os.path.join(directory, "many.trace"), os.path.join(directory, "many.gtx")
    data = bytearray(made.data())
    open(path, "wb").write(data)
    check(run(tool, "index", "--index", index, path)[0] == 0, "a trace of many tasks has no index")
    late = ["dump", "--from", "35ms", "--index", index, path]
    for word in (str(ids[0]), str(ids[-1]), "8"):  # an id and a name, an id, nothing
        for part in (["dump", "--from", "35ms", "--task", word], ["path", "--from", "35ms", "--task", word]):
            check(run(tool, *part, path) == run(tool, *part, "--index", index, path), *part, "differs with an index")
    data[len(data) // 4:len(data) // 4 + 1000] = b"\xff" * 1000
    open(path, "wb").write(data)
    check(run(tool, *late)[0] == 0, "a part of a trace of many tasks reads its beginning")
    check(run(tool, *late[:-1], "--task", str(ids[-1]), path)[0] == 1, "a trace of many tasks has their ids in its index")


def advises(tool, index, dense, trace):
    """Without an index, a line tells a person at a terminal of it, where the part begins late: in DENSE, anywhere."""
    def shown(tool, *words):
        ours, theirs = pty.openpty()
        done = subprocess.run([tool, *words], stdout=subprocess.PIPE, stderr=theirs)
        os.write(theirs, b"end")
        said = b""
        while not said.endswith(b"end"):
            said += os.read(ours, 1000)
        os.close(theirs)
        os.close(ours)
        return done.returncode, done.stdout, said[:-3]

    for command, end in itertools.product((["dump"], *EACH), ((), ("--to", "260us"))):  # until then nothing happens
        part = [*command, "--from", "250us", *end, trace]
        if TABLES in part:
            continue  # a set that is there is an error
        good = run(dense, *part)
        check(not good[2], *part, "says to a file:", good[2])
        status, made, said = shown(dense, *part)
        check((status, made) == good[:2], *part, "shows something else to a terminal")
        check(said.count(b"gotrace index") == said.count(b"\n") == 1, *part, "does not tell of an index:", said)
        check(shown(dense, *part, "--index", index) == (*good[:2], b""), *part, "tells of an index although there is one")
        check(shown(tool, *part) == (*good[:2], b""), *part, "tells of an index where little is read")
        check(command == ["cut"] or shown(dense, *command, trace)[2] == b"", *command, "tells of an index without a part")


def forge(tool, dice, trace, index):
    """An index that is damaged before it gets its hashes is refused, or gives something wrong, but no crash."""
    good = open(index, "rb").read()
    check(Index(good).data() == good, "an index is not understood")
    for _ in range(200):
        forged = Index(good)
        for _ in range(dice.choice((1, 1, 2, 5))):
            of = dice.choice((dice.choice(forged.moments).contents,) * 6 + (forged.numbers, forged.facts))
            of[dice.randrange(len(of))] = dice.choice((0, 1, 127, 128, 255, dice.randrange(256)))
        with open(index, "wb") as file:
            file.write(forged.data())
        command = random_command(dice)
        command += [] if command[0] == "path" else random_filter(dice)
        status, _, said = outcome(tool, *command, "--from", str(dice.randrange(1, 400000)), "--index", index, trace)[:3]
        check(status in (0, 1) and b"Sanitizer" not in said and b"runtime error" not in said, "a forged index: status", status, said)
    with open(index, "wb") as file:
        file.write(good)


class Moment:
    def __init__(self, time, foretold, sizes):
        self.time, self.foretold, self.sizes, self.size = time, foretold, sizes, sum(sizes)


class Index:
    """An index in parts: see index.h. `begin`: where the contents of its moments begin. `numbers`: the head's first ones."""

    def __init__(self, data):
        self.line = data[:data.index(b"\n") + 1]
        self.at, self.all = len(self.line), data
        size, self.hash = self.take(), self.take()
        self.begin = self.at + size
        self.numbers = [self.take() for _ in range(3)]
        self.moments = []
        for _ in range(self.take()):
            self.moments.append(Moment(self.take(), self.take(), [self.take() for _ in range(CONTENTS)]))
            self.take()
        self.facts = bytearray(data[self.at:self.begin])
        self.at = self.begin
        for moment in self.moments:
            moment.contents = bytearray(data[self.at:self.at + moment.size])
            self.at += moment.size

    def take(self):
        value = shift = 0
        while True:
            byte = self.all[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def data(self):
        number = made_trace.number
        head = b"".join(map(number, [*self.numbers, len(self.moments)]))
        for m in self.moments:
            head += b"".join(map(number, [m.time, m.foretold, *m.sizes, stable_hash(m.contents)]))
        head += self.facts
        contents = b"".join(bytes(m.contents) for m in self.moments)
        return self.line + number(len(head)) + number(stable_hash(head)) + head + contents


CONTENTS = 4  # of a moment: see index_contents in index.h


def stable_hash(data):
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % 2**64
    return value


def carries_on():
    """A trace of which the parts depend on what happened in the first generation: main (1) begins a task, stops the world, begins
    a collection, and has woken worker (2), which goes on and ends the task in the last generation."""
    made = Generations()
    for generation in range(4):
        t, start = Trace(), generation * 100000
        main, worker, wait = t.stack("main.main"), t.stack("main.worker"), t.stack("sync.Wait", "main.worker")
        t.event(1, start, PROC_STATUS, 1, 1)
        t.event(1, start + 1, GO_STATUS, 1, 1, RUNNING)
        t.event(3, start, PROC_STATUS, 3, 1)
        if generation == 0:
            t.event(1, 1000, TASK_BEGIN, 7, NO_ID, t.string("work"), main)
            t.event(1, 2000, GO_CREATE, 2, worker, main)
            t.event(3, 3000, GO_START, 2, 1)
            t.event(3, 4000, GO_BLOCK, t.string("sync"), wait)
            t.event(1, 5000, GC_BEGIN, 0, main)
            t.event(1, 6000, STW_BEGIN, t.string("testing"), main)
            t.event(1, 7000, GO_UNBLOCK, 2, 2, main)
        else:
            t.event(1, start + 2, GC_ACTIVE, generation)
            t.event(3, start + 3, GO_STATUS, 2, NO_ID, RUNNABLE)
        if generation == 3:
            t.event(3, start + 20000, GO_START, 2, 1)
            t.event(3, start + 30000, GO_BLOCK, t.string("sync"), wait)
            t.event(1, start + 40000, GO_UNBLOCK, 2, 2, main)
            t.event(3, start + 50000, GO_START, 2, 3)
            t.event(3, start + 60000, TASK_END, 7, worker)
            t.event(1, start + 70000, STW_END)
        made.append(t)
    return made.data()


def with_tasks(dice):
    """A trace that mentions tasks at any time: before they begin, after they have ended once or twice, in regions, as parents; ids
    are used again."""
    made = Generations()
    regions, begun = {1: [], 3: []}, set()
    for generation in range(8):
        t, start = Trace(), generation * 50000
        stack = {1: t.stack("main.main"), 3: t.stack("main.worker")}
        for thread in (1, 3):
            t.event(thread, start, PROC_STATUS, thread, 1)
            t.event(thread, start + 1, GO_STATUS, thread, thread, RUNNING)
        for time in range(start + 1000, start + 40000, 1500):
            thread, task = dice.choice((1, 3)), dice.randrange(1, 12)
            kind = dice.choice((TASK_BEGIN, TASK_BEGIN, TASK_END, TASK_END, LOG, REGION_BEGIN, REGION_END))
            if kind == TASK_BEGIN and task not in begun:
                begun.add(task)
                t.event(thread, time, kind, task, dice.choice((NO_ID, 3)), t.string("task %d" % dice.randrange(3)), stack[thread])
            elif kind == TASK_END:
                begun.discard(task)
                t.event(thread, time, kind, task, stack[thread])
            elif kind == LOG:
                t.event(thread, time, kind, task, t.string("key"), t.string("value"), stack[thread])
            elif kind == REGION_BEGIN and len(regions[thread]) < 3:
                regions[thread].append((task, "region %d" % dice.randrange(3)))
                t.event(thread, time, kind, task, t.string(regions[thread][-1][1]), stack[thread])
            elif kind == REGION_END and regions[thread]:
                task, name = regions[thread].pop()
                t.event(thread, time, kind, task, t.string(name), stack[thread])
        made.append(t)
    return made.data()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("-n", type=int, default=5)
    options.add_argument("-s", type=int, default=1)
    options.add_argument("--dense")
    options.add_argument("tool")
    options.add_argument("traces", nargs="+")
    given = options.parse_args()
    dice = random.Random(given.s)
    large = None
    with tempfile.TemporaryDirectory() as directory:
        count = 0
        made = os.path.join(directory, "carries_on.trace")
        with open(made, "wb") as file:
            file.write(carries_on())
        check(run(given.tool, "check", made)[0] == 0, "a made trace is not valid:", run(given.tool, "check", made))
        tasks = [os.path.join(directory, "tasks-%d" % i) for i in range(min(given.n, 20))]
        for trace in tasks:
            with open(trace, "wb") as file:
                file.write(with_tasks(dice))
            check(run(given.tool, "check", trace)[0] == 0, "a made trace is not valid:", run(given.tool, "check", trace))
        for trace in given.traces + [made] * 10 + tasks if given.dense else ():
            index = os.path.join(directory, "dense.gtx")
            if compare(given.dense, dice, trace, index, given.n):
                os.remove(index)
        if given.dense:
            index = os.path.join(directory, "made.gtx")
            run(given.dense, "index", "--index", index, made)
            advises(given.tool, index, given.dense, made)
            forge(given.dense, dice, made, index)
        for trace in given.traces:
            index = os.path.join(directory, "%d.gtx" % count)
            if not compare(given.tool, dice, trace, index, given.n):
                continue
            count += 1
            if os.path.getsize(index) > 60:
                large = trace, index  # has a snapshot
            said = run(given.tool, "index", "--index", index, trace)[2]
            check((b"of no use" in said) == (os.path.getsize(index) <= 60), trace, "an index without snapshots:", said)
        check(large, "no index has a snapshot")
        refuse(given.tool, dice, *large)
        other = os.path.join(directory, "other.trace")
        with open(large[0], "rb") as trace, open(other, "wb") as copy:
            copy.write(trace.read() + b"x")
        said = run(given.tool, "dump", "--from", "1", "--index", large[1], other)[2]
        check(b"is not an index of this trace" in said, "the index of another trace:", said)
        skips(given.tool, directory)
        many_tasks(given.tool, directory, dice)
    print("%d traces with an index, %d parts of each" % (count, given.n))


if __name__ == "__main__":
    sys.exit(main())
