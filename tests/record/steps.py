"""Ends a recorded program after one of its own instructions, and compares its trace with what the program itself noted.

    tests/record/steps.py TOOL PROGRAM RUNS [TRACE]     PROGRAM is tests/record/steps.c; leaves the last trace in TRACE

So the program ends in the midst of whatever the recorder's library does in it: when it takes a chunk of its box, adds to
a table, registers a thread, forgets one, ends. The trace has all actions that were over, in their order, and no other
than the one that had begun. Status 77 if a process may not trace another.
"""

import json
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile

PARTS, SLEEPS = 6, 2  # as in steps.c
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM]


def actions_of(sleeps):
    """All that the program does, in its order: (thread, action)."""
    result = [(0, "sleep")] * sleeps
    for part in range(PARTS):
        result += [(0, "sleep")] if part % 2 == 0 else [(0, "create")] + [(part // 2 + 1, "sleep")] * SLEEPS
    return result


def events_of(actions):
    return [(thread, kind) for thread, action in actions for kind in (("begin", "end") if action == "sleep" else (action,))]


def events_in(tool, trace):
    """The same of the trace. A thread that crashes before it begins is no goroutine yet, so the log of the crash is on another one."""
    events, threads, sleeping, crashed = [], {}, set(), set()
    dump = subprocess.run([tool, "dump", "--json", trace], stdout=subprocess.PIPE, check=True)
    for line in dump.stdout.splitlines():
        event = json.loads(line)
        args = event["args"]
        if event["event"] == "GoCreate":
            if threads and "g" not in event:
                crashed.add(args["new_g"])
                continue
            if threads:
                events.append((threads[event["g"]], "create"))
            threads[args["new_g"]] = len(threads)
        elif event["event"] == "UserLog" and event["g"] in crashed:
            assert args["key_string"] == "gotrace record: crashed by", event
            crashed.remove(event["g"])
        elif event["event"] == "GoBlock" and args["reason_string"] == "sleep":
            events.append((threads[event["g"]], "begin"))
            sleeping.add(event["g"])
        elif event["event"] == "GoUnblock" and args["g"] in sleeping:
            events.append((threads[args["g"]], "end"))
            sleeping.remove(args["g"])
    assert not crashed, "goroutines of no thread: %s" % crashed
    return events


def run(tool, program, directory, sleeps, part, steps, number):
    """Runs the program and checks its trace. Returns how many instructions it ran, and the length of the part, if it ended."""
    log, trace = os.path.join(directory, "log"), os.path.join(directory, "trace")
    with open(log, "wb") as file:
        file.write(bytes(32))
    ended = subprocess.run([tool, "record", "--no-symbolize", "--no-sample", "--no-switches", "-o", trace, program, log, str(sleeps), str(part), str(steps), str(number)],
                           stderr=subprocess.PIPE, check=False)
    if ended.returncode == 77:
        print("steps: a process may not trace another")
        sys.exit(77)
    with open(log, "rb") as file:
        begun, over, ran, length = struct.unpack("<4Q", file.read())
    where = "%d sleeps, part %d, signal %d after %d of %d instructions" % (sleeps, part, number, steps, ran)
    assert ended.returncode == (-number if ran >= steps or length else 3), (where, ended)
    assert b"problems" not in ended.stderr, (where, ended)
    checked = subprocess.run([tool, "check", trace], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert checked.returncode == 0, (where, checked)
    actions, events = actions_of(sleeps), events_in(tool, trace)
    least, most = len(events_of(actions[:over])), len(events_of(actions[:begun]))
    assert events == events_of(actions)[:len(events)], "%s: %s" % (where, events[-20:])
    assert least <= len(events) <= most, "%s: %d to %d events, and the trace has %d" % (where, least, most, len(events))
    return ran, length


def main():
    tool, program, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = random.randrange(10**6)
    random.seed(seed)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    steps = 0
    with tempfile.TemporaryDirectory() as directory:
        lengths = []
        for part in range(PARTS + 1):
            ran, length = run(tool, program, directory, 0, part, 10**12, signal.SIGKILL)
            lengths.append(length or ran)
        print("seed %d; instructions of each part: %s" % (seed, lengths), flush=True)
        for count in range(runs):
            part = count % len(lengths)
            # A thread's first chunks have room for few sleeps.
            steps += run(tool, program, directory, random.randrange(random.choice((1, 100, 3000))), part,
                         random.randrange(1, lengths[part]), random.choice(SIGNALS))[0]
        if len(sys.argv) > 4:
            os.replace(os.path.join(directory, "trace"), sys.argv[4])
    assert steps > runs * 1000, "nothing was tested: %d instructions" % steps
    print("%d runs, %d instructions" % (runs, steps))


main()
