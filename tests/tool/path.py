#!/usr/bin/env python3
"""`gotrace path` finds the critical path.

    tests/tool/path.py known                 in made traces, whose paths are known to the nanosecond
    tests/tool/path.py canned|RELEASE        in Go's traces, compared with an independent search in Go's output
    tests/tool/path.py examples              in the examples' traces, compared in the same way

In every trace the steps of a path must fill its time without gaps, and the tables and folded stacks must add up to it.
The search below is used for v2 traces. It looks for the goroutine that ran at a time, where the tool keeps references.
It omits traces with coroutine switches, in which paths have many thousand steps, and traces in which Go moves times.
"""
import bisect
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import profiles_agree_with_go as profiles  # noqa: E402
from made_trace import *  # noqa: E402, F403

TOOL = "build/examples/gotrace"


# ------------------------------------------------------------------------------------------------------- known paths ----

def waiting_chain():
    """The path returns from each wait to the goroutine that waited, unless --no-return is given."""
    t = chain()
    steps = """1000 6000 running 1 sync.Wait
               6000 8000 runnable 2
               8000 20000 running 2 main.worker
               20000 30000 running 3 main.helper
               30000 40000 waiting 3 main.helper network
               40000 42000 runnable 3
               42000 50000 running 3 main.unlock
               50000 53000 runnable 2 woken 3 main.unlock
               53000 55000 running 2 main.worker
               55000 60000 syscall 2 main.worker
               60000 70000 running 2 main.worker
               70000 75000 runnable 1 woken 2 main.worker
               75000 80000 running 1 main.main"""
    folded = """main.helper;[running] 10000
                main.helper;[waiting, network] 10000
                main.helper;[runnable] 2000
                main.helper;main.unlock;[running] 8000
                main.worker;[runnable] 5000
                main.worker;[running] 24000
                main.worker;[syscall] 5000
                main.main;sync.Wait;[running] 5000
                main.main;[running] 5000
                main.main;[runnable] 5000"""
    never = "1000 30000 running 3 main.helper\n" + steps[steps.index("30000 40000"):]
    created = """0 5000 running 1 main.main
                 5000 8000 runnable 2 created 1 main.main
                 8000 15000 running 2"""
    return t, [("--task 7", steps, folded), ("--task job", steps, folded), ("--task 7 --no-return", never, None),
               ("--go 2 --to 15000", created, None),
               ("--go 2 --from 6000 --to 15000", "6000 8000 runnable 2\n8000 15000 running 2", None),
               ("--go 1 --from 51000 --to 72000", """51000 53000 runnable 2
                                                     53000 55000 running 2 main.worker
                                                     55000 60000 syscall 2 main.worker
                                                     60000 70000 running 2 main.worker
                                                     70000 72000 runnable 1 woken 2 main.worker""", None),
               ("--go 1 --to 10000", "0 6000 running 1 sync.Wait\n6000 10000 waiting 1 sync.Wait sync", None)]


def switching():
    t = switches()
    steps = """0 1001 running 1
               1001 1002 runnable 2
               1002 3000 running 2
               3000 3002 runnable 3 woken 2
               3002 7000 running 3
               7000 7002 runnable 1 woken 3
               7002 9000 running 1 main.main"""
    return t, [("--go 1 --to 9000", steps, None),
               ("--go 1 --to 9000 --no-return", steps.replace("0 1001", "0 1000").replace("1001 1002 runnable 2", "1000 1002 runnable 2 woken 1"), None),
               ("--go 2 --to 9000", "0 1000 running 1\n1000 1002 runnable 2 woken 1\n1002 3001 running 2\n3001 9000 waiting 2 coroutine switch", None)]


def begun_before():
    """Of a part that begins in a later generation: a task, a function and a reason that the first one tells. The task's region
    ends before the task."""
    steps = """150000 260000 running 1 main.main
               260000 290501 runnable 2 woken 1 main.main"""
    return carried(), [("--go 2 --from 150000", steps, None), ("--task job --from 150000", "150000 270000 running 1 main.main\n270000 280000 running 1 main.main", None),
                       ("--go 2 --from 150000 --to 200000", "150000 200000 waiting 2 main.worker sync", None)]


def used_again():
    """An id that three goroutines use: the path is that of the last one, which no goroutine created. At its end,
    readers first take its proc away, which takes a nanosecond."""
    return lives(), [("--go 6", """0 4707 outside
                                   4707 4857 syscall 6
                                   4857 4907 runnable 6
                                   4907 5007 running 6 main.f1
                                   5007 5209 syscall 6 main.f1
                                   5209 5307 running 6 main.f2
                                   5307 5708 syscall 6 main.f2""", None),
                     ("--go 6 --to 1300", """0 707 outside
                                             707 857 syscall 6
                                             857 907 runnable 6
                                             907 1007 running 6 main.f1
                                             1007 1207 syscall 6 main.f1
                                             1207 1300 running 6""", None)]


def unknown_creator():
    """A goroutine that no goroutine created, and one that ends a task that began before the part."""
    t = Trace()
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 4000, GO_CREATE, 5, t.stack("main.five"), 0)
    t.event(1, 6000, GO_START, 5, 1)
    t.event(1, 7000, TASK_BEGIN, 1, NO_ID, t.string("a b"), 0)
    t.event(1, 8000, TASK_END, 1, 0)
    t.event(1, 8500, TASK_BEGIN, 2, NO_ID, t.string("a b"), 0)
    t.event(1, 8600, TASK_END, 2, 0)
    t.event(1, 8700, TASK_BEGIN, 3, NO_ID, t.string("1"), 0)
    t.event(1, 8800, TASK_END, 3, 0)
    t.event(1, 9000, GO_DESTROY)
    return t, [("--go 5", "0 4000 outside\n4000 6000 runnable 5\n6000 9000 running 5", None),
               ("--task 1 --from 7500", "7500 8000 running 5", None),
               ("--task 1", "7000 8000 running 5", None), ("--task 2", "8500 8600 running 5", None)]


def causes():
    """The worker (2) of a collector, which was idle in the network for long before it woke main (1): main's own time counts. Then
    main is preempted, which the worker ends; main waits for the worker, which no goroutine has started; and main waits for a
    goroutine (3) whose creator is unknown."""
    t = Trace()
    main, worker = t.stack("main.main"), t.stack("runtime.gcBgMarkWorker")
    for m, g in ((1, 1), (2, 2), (3, None)):
        t.event(m, 0, PROC_STATUS, m, 1)
        if g:
            t.event(m, 1, GO_STATUS, g, m, RUNNING)
    t.event(2, 20, GO_BLOCK, t.string("network"), worker)
    t.event(2, 90000, GO_UNBLOCK, 2, 1, 0)
    t.event(2, 90010, GO_START, 2, 2)
    t.event(1, 91000, GO_BLOCK, t.string("sync"), main)
    t.event(2, 92000, GO_UNBLOCK, 1, 1, worker)
    t.event(1, 92010, GO_START, 1, 2)
    t.event(2, 92100, GO_BLOCK, t.string("system goroutine wait"), worker)
    t.event(2, 94000, GO_UNBLOCK, 2, 3, 0)
    t.event(2, 94100, GO_START, 2, 4)
    t.event(1, 95000, GO_BLOCK, t.string("preempted"), main)
    t.event(2, 95100, GO_UNBLOCK, 1, 3, worker)
    t.event(2, 95200, GO_BLOCK, t.string("system goroutine wait"), worker)
    t.event(1, 95300, GO_START, 1, 4)
    t.event(1, 96000, GO_BLOCK, t.string("GC mark assist wait for work"), main)
    t.event(2, 97000, GO_UNBLOCK, 2, 5, 0)
    t.event(2, 97100, GO_START, 2, 6)
    t.event(2, 97200, GO_BLOCK, t.string("sleep"), worker)
    t.event(2, 97500, GO_UNBLOCK, 2, 7, 0)
    t.event(2, 97600, GO_START, 2, 8)
    t.event(2, 98000, GO_UNBLOCK, 1, 5, worker)
    t.event(1, 98100, GO_START, 1, 6)
    t.event(1, 99000, GO_BLOCK, t.string("chan receive"), main)
    t.event(3, 99500, GO_CREATE, 3, main, 0)
    t.event(3, 99600, GO_START, 3, 1)
    t.event(3, 99900, GO_UNBLOCK, 1, 7, main)
    t.event(1, 99950, GO_START, 1, 8)
    t.event(1, 100000, GO_DESTROY)
    return t, [("--go 1", """0 91000 running 1 main.main
                             91000 92000 running 2 runtime.gcBgMarkWorker
                             92000 92010 runnable 1 woken 2 runtime.gcBgMarkWorker
                             92010 95000 running 1 main.main
                             95000 95100 waiting 1 main.main preempted
                             95100 95300 runnable 1
                             95300 96000 running 1 main.main
                             96000 97000 waiting 1 main.main GC mark assist wait for work
                             97000 97100 runnable 2
                             97100 97200 running 2 runtime.gcBgMarkWorker
                             97200 97500 waiting 2 runtime.gcBgMarkWorker sleep
                             97500 97600 runnable 2
                             97600 98000 running 2 runtime.gcBgMarkWorker
                             98000 98100 runnable 1 woken 2 runtime.gcBgMarkWorker
                             98100 99000 running 1 main.main
                             99000 99500 waiting 1 main.main chan receive
                             99500 99600 runnable 3
                             99600 99900 running 3 main.main
                             99900 99950 runnable 1 woken 3 main.main
                             99950 100000 running 1""", None),
               ("--go 1 --no-return --to 95500", """0 20 running 2 runtime.gcBgMarkWorker
                                                    20 90000 waiting 2 runtime.gcBgMarkWorker network
                                                    90000 90010 runnable 2
                                                    90010 92100 running 2 runtime.gcBgMarkWorker
                                                    92100 94000 waiting 2 runtime.gcBgMarkWorker system goroutine wait
                                                    94000 94100 runnable 2
                                                    94100 95100 running 2 runtime.gcBgMarkWorker
                                                    95100 95300 runnable 1 woken 2 runtime.gcBgMarkWorker
                                                    95300 95500 running 1""", None),
               ("--go 1 --no-return", "0 99500 outside\n99500 99600 runnable 3\n99600 99900 running 3 main.main\n"
                "99900 99950 runnable 1 woken 3 main.main\n99950 100000 running 1", None)]


def nested():
    """Waits in waits. Worker (2) begins to wait for helper (3) before main (1) begins to wait for worker, and helper for another (4)
    after that. Each begin is returned from, once."""
    t = Trace()
    main, worker, helper, other = (t.stack("main." + name) for name in ("main", "worker", "helper", "other"))
    for m in 1, 2, 3, 4:
        t.event(m, 0, PROC_STATUS, m, 1)
        t.event(m, 1, GO_STATUS, m, m, RUNNING)
    t.event(2, 1000, GO_BLOCK, t.string("sync"), worker)
    t.event(1, 2000, GO_BLOCK, t.string("chan receive"), main)
    t.event(3, 3000, GO_BLOCK, t.string("select"), helper)
    t.event(4, 4000, GO_BLOCK, t.string("chan send"), other)
    t.event(1, 5000, GO_UNBLOCK, 4, 1, 0)  # by nobody
    t.event(4, 5100, GO_START, 4, 2)
    t.event(4, 6000, GO_UNBLOCK, 3, 1, other)
    t.event(3, 6100, GO_START, 3, 2)
    t.event(3, 7000, GO_UNBLOCK, 2, 1, helper)
    t.event(2, 7100, GO_START, 2, 2)
    t.event(2, 8000, GO_UNBLOCK, 1, 1, worker)
    t.event(1, 8100, GO_START, 1, 2)
    t.event(1, 9000, GO_DESTROY)
    for m in 2, 3, 4:
        t.event(m, 9500, GO_DESTROY)
    end = """5000 5100 runnable 4
             5100 6000 running 4 main.other
             6000 6100 runnable 3 woken 4 main.other
             6100 7000 running 3 main.helper
             7000 7100 runnable 2 woken 3 main.helper
             7100 8000 running 2 main.worker
             8000 8100 runnable 1 woken 2 main.worker
             8100 9000 running 1"""
    return t, [("--go 1", """0 2000 running 1 main.main
                             2000 3000 running 3 main.helper
                             3000 5000 waiting 3 main.helper select\n""" + end, None),
               ("--go 1 --from 2500", """2500 3000 running 3 main.helper
                                         3000 5000 waiting 3 main.helper select\n""" + end, None),
               ("--go 1 --no-return", """0 4000 running 4 main.other
                                         4000 5000 waiting 4 main.other chan send\n""" + end, None)]


def handed_over():
    """Worker (2) does something else, then gets the task from main (1) and ends it. What it did before is not on the path."""
    t = Trace()
    main, worker = t.stack("main.main"), t.stack("main.worker")
    for m in 1, 2:
        t.event(m, 0, PROC_STATUS, m, 1)
        t.event(m, 1, GO_STATUS, m, m, RUNNING)
    t.event(1, 1000, TASK_BEGIN, 1, NO_ID, t.string("job"), main)
    t.event(2, 3000, GO_BLOCK, t.string("chan receive"), worker)
    t.event(1, 5000, GO_UNBLOCK, 2, 1, main)
    t.event(2, 5100, GO_START, 2, 2)
    t.event(2, 6000, TASK_END, 1, worker)
    t.event(2, 6500, GO_STOP, t.string("preempted"), worker)
    steps = "5000 5100 runnable 2 woken 1 main.main\n5100 6000 running 2 main.worker"
    return t, [("--task 1", "1000 5000 running 1 main.main\n" + steps, None),
               ("--go 2 --to 6000", "0 3000 running 2 main.worker\n3000 5000 running 1 main.main\n" +
                steps.replace(" main.worker", ""), None)]


def line_of(step):
    """A step as the tests above write it."""
    words = [step["since"], step["since"] + step["time"], step["state"], step.get("go"), step.get("at"), step.get("reason")]
    for kind in "woken", "created":
        by = step.get(kind + "_by")
        words += [kind, by["go"], by.get("at")] if by else []
    return " ".join(str(word) for word in words if word is not None)


def normal(text):
    return [" ".join(line.split()) for line in text.split("\n") if line.strip()]


def run(arguments, trace, status=0):
    done = subprocess.run([TOOL, "path", *arguments, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != status:
        sys.exit("gotrace path %s %s: status %d, %s" % (" ".join(arguments), trace, done.returncode, done.stderr.decode()))
    return done.stdout.decode("utf-8", "replace")


def path(arguments, trace):
    """The path as JSON, after a check that it fills its time."""
    found = json.loads(run([*arguments, "--json"], trace))
    at = found["begin"]
    for step in found["path"]:
        assert step["since"] == at and step["time"] > 0, "%s %s: %s at %d" % (trace, arguments, step, at)
        at += step["time"]
    assert at == found["end"], "%s %s ends at %d" % (trace, arguments, at)
    length = found["end"] - found["begin"]
    assert sum(total["time"] for total in found["totals"]) == length, "%s %s: totals" % (trace, arguments)
    assert sum(total["count"] for total in found["totals"]) == len(found["path"]), "%s %s: counts" % (trace, arguments)
    folded = run([*arguments, "--folded"], trace).split("\n")[:-1]
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded) == length, "%s %s: folded" % (trace, arguments)
    return found


def check_choice(file):
    assert path(["--task", "a b"], file)["task"] == 1  # the longer one
    for wrong in (["--task", "8"], ["--task", "a"], ["--go", "6"], ["--go", "x"], ["--task", "1", "--to", "7500"],
                  ["--task", "1", "--from", "8650"],  # an id, though the part has only a task with this name
                  ["--task", "1", "--go", "5"]):
        run(wrong, file, 1)
    run([], file, 2)


def known(directory):
    file = os.path.join(directory, "known.trace")
    paths = 0
    for make in waiting_chain, switching, begun_before, used_again, unknown_creator, causes, nested, handed_over:
        trace, wanted = make()
        with open(file, "wb") as out:
            out.write(trace.data())
        for arguments, steps, folded in wanted:
            found = [line_of(step) for step in path(arguments.split(), file)["path"]]
            assert found == normal(steps), "%s, %s: found\n%s" % (make.__name__, arguments, "\n".join(found))
            if folded:
                found = run([*arguments.split(), "--folded"], file).strip().split("\n")
                assert sorted(found) == sorted(normal(folded)), "\n".join(found)
            rows = [line for line in run(arguments.split(), file).split("\n") if re.match(r" +\d+\.\d{9} s ", line)]
            assert len(rows) == len(normal(steps)), rows
            paths += 1
        if make == unknown_creator:
            check_choice(file)
    # The path is the same in other formats. In v1 a system call that keeps its proc has no end.
    trace, wanted = waiting_chain()
    steps = normal(wanted[0][1])
    old = [step for step in steps if " syscall " not in step and not step.startswith("60000")]
    old.insert(9, "55000 70000 running 2 main.worker")
    for format in "1.11", "1.19", "1.21", "1.22", "1.25", "1.26":
        with open(file, "wb") as out:
            out.write(trace.data())
        subprocess.run([TOOL, "convert", "--to", format, "-o", file, file], check=True)
        found = [line_of(step) for step in path(["--task", "7"], file)["path"]]
        assert found == (old if format < "1.22" else steps), "%s: %s" % (format, found)
        paths += 1
    print("%d known paths" % paths)


# -------------------------------------------------------------------------------------------------------- the search ----

class Life:
    """A goroutine: the starts of its stretches; of each the state, the reason, and who ended it; and its end."""

    def __init__(self, begin, state, reason, creator):
        self.begins, self.stretches, self.end, self.creator = [begin], [[state, reason, None]], None, creator

    def change(self, time, state, reason, by):
        self.stretches[-1][2] = by
        self.begins.append(time)
        self.stretches.append([state, reason, None])


TRANSITION = re.compile(rb"^M=(\S+) P=\S+ G=(\S+) StateTransition Time=(\d+) GoID=(\d+) (\w+)->(\w+) Reason=\"([^\"]*)\"")


def read(trace):
    """({goroutine: [Life, ...]}, first time, last time), as Go reads it"""
    lives, seen, first, last = collections.defaultdict(list), set(), None, None
    for line in subprocess.run(["sh", "tests/go/oracle.sh", trace], stdout=subprocess.PIPE).stdout.split(b"\n"):
        time = re.match(rb"^M=(\S+) \S+ \S+ (\w+) Time=(\d+)", line)
        if not time:
            continue
        first, last = first or int(time[3]), int(time[3])
        match = TRANSITION.match(line)
        if match:
            by, go, old, new = int(match[2]), int(match[4]), match[5].decode().lower(), match[6].decode().lower()
            reason = match[7].decode()
            mine = lives[go]
            if old == "undetermined":
                was = new in ("waiting", "runnable") or match[1] not in seen
                mine.append(Life(first if was else last, new, reason, None))
            elif old == "notexist":
                mine.append(Life(last, new, reason, by if by >= 0 else None))
            elif new == "notexist":
                mine[-1].end = last
            elif old != new:
                waker = by if old == "waiting" and by not in (-1, go) else None
                mine[-1].change(last, new, reason, waker)
        if time[2] != b"StackSample" and b"Undetermined" not in line:
            seen.add(time[1])
    return lives, first, last


def search(lives, first, last, go, returns):
    """[(begin, end, goroutine, state)] from the first time on"""
    life = lives[go][-1]
    time, steps = life.end or last, []
    end, waits = time, []  # of each wait that others explain now: begin, goroutine that is returned to, goroutine that waits
    while time > first or waits:
        floor = waits[-1][0] if waits else first
        if time <= floor:
            time, (go, life), _ = waits.pop()
            continue
        place = bisect.bisect_left(life.begins, time) - 1
        state, reason, by = life.stretches[place]
        full = place + 1 < len(life.begins) and life.begins[place + 1] == time
        own = returns and (reason == "preempted" or by is None and ("network" in reason or "sleep" in reason))
        lost = False
        if state == "waiting" and full and by is not None and not own:
            if returns and waits and life.begins[place] <= floor:
                waits[-1][2] = go
            elif returns:
                waits.append([max(first, life.begins[place]), (go, life), go])
            go = by
        elif state == "waiting" and full and waits and not own:
            lost = True
        else:
            begin = max(floor, life.begins[place])
            steps.append((begin - first, time - first, go, state))
            time = begin
            if place or time <= floor:
                continue
            lost, go = life.creator is None, life.creator
        if lost:
            steps.append((floor - first, time - first, waits[-1][2] if waits else None, "waiting" if waits else "outside"))
            time = floor
            continue
        life = next(one for one in reversed(lives[go]) if one.begins[0] < time)
    return end - first, steps[::-1]


def joined(steps):
    """The steps as the search finds them, which knows no regions, at whose begins and ends the tool splits them"""
    found = []
    for step in steps:
        one = (step["since"], step["since"] + step["time"], step.get("go"), step["state"])
        same = found and one[3] == found[-1][3] == "running" and one[2] == found[-1][2] and "woken_by" not in step
        found[-1:] = [(found[-1][0], *one[1:])] if same else found[-1:] + [one]
    return found


def compare(trace):
    """The number of paths of the trace that were compared with the search, and of those that were only checked."""
    if subprocess.run([TOOL, "check", trace], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        return 0, 0
    dump = subprocess.run([TOOL, "dump", trace], stdout=subprocess.PIPE).stdout
    tasks = sorted({match[1].decode() for match in re.finditer(rb"UserTaskEnd .*\btask=(\d+)", dump)})[:10]
    for task in tasks:
        path(["--task", task], trace)
    old = re.match(rb"go 1\.(5|7|8|9|1\d|2[01]) trace", open(trace, "rb").read(16))
    searched = not old and b" GoSwitch" not in dump and not profiles.times_differ(trace)
    if searched:
        lives, first, last = read(trace)
        ids = sorted(lives)
    else:
        ids = sorted({int(id) for id in re.findall(rb"\bg=(\d+)", dump)} - {0})
    # v1: unblocks by timers and the network, which are on pseudo-procs
    outside = {(int(match[1]), int(match[2])) for match in re.finditer(rb"^(\d+) GoUnblock\w* .*\bp=1\d{6}\b.* g=(\d+)", dump, re.MULTILINE)}
    ids = ids[:3] + ids[3:][::max(1, len(ids) // 6)]
    for id in ids:
        for options in [], ["--no-return"]:
            found = path(["--go", str(id), *options], trace)
            for step in found["path"]:
                assert "woken_by" not in step or (step["since"], step["go"]) not in outside, "%s: %s" % (trace, step)
            if searched:
                end, steps = search(lives, first, last, id, not options)
                ours = joined(found["path"])
                assert (found["end"], ours) == (end, steps), "%s, goroutine %d%s: %s" % (
                    trace, id, "".join(options), next((pair for pair in zip(ours, steps) if pair[0] != pair[1]), (found["end"], end)))
    return (2 * len(ids) if searched else 0), (0 if searched else 2 * len(ids)) + len(tasks)


def main():
    with tempfile.TemporaryDirectory() as directory:
        if sys.argv[1] == "known":
            known(directory)
            return
        if sys.argv[1] == "examples":
            make = ["-c", "for example in scheduler threads; do for format in 1.11 1.21 1.22 1.23 1.26; do build/examples/$example "
                    "-o $0/$example-$format.trace -f $format -j 4 examples tests >/dev/null || exit; done; done", directory]
        elif sys.argv[1] == "canned":
            make = ["tests/go/testdata.sh", directory, "1.15", "1.19", "1.21", "1.22", "1.23", "1.25", "1.27"]
        else:
            make = ["tests/go/write_traces.sh", directory, sys.argv[1]]
        status = subprocess.run(["sh", *make]).returncode
        if status:
            sys.exit(status)
        compared = checked = 0
        for name in sorted(os.listdir(directory)):
            if name.endswith(".trace"):
                one, two = compare(os.path.join(directory, name))
                compared, checked = compared + one, checked + two
    print("%d paths as expected, %d more without gaps" % (compared, checked))
    sys.exit(0 if compared + checked > 20 else 1)


main()
