#!/usr/bin/env python3
"""Compares the traces of processes.c with what it printed: each wait tells which process ended it,
and `gotrace waits` tells that during the next such wait.

    processes.py TOOL OUTPUT TRACE...

Who has sent the token to a process before it waited need not be told, nor a child that has ended before. Of the others,
one of twenty may have come in the moment between the program's look at the clock and its wait.
"""
import json
import re
import subprocess
import sys

tool, output, *traces = sys.argv[1:]
WAITS = ("pipe", "network", "select: poll", "select: epoll", "select", "signal", "child process")
wanted = {}
for line in open(output):
    pid, *senders = map(int, line.split())
    wanted[pid] = senders
first = min(wanted)

def waits_at(trace, time):
    """What the process waits for at a time, and who ended its last such wait."""
    run = subprocess.run([tool, "waits", "--json", "--to", str(time), trace], stdout=subprocess.PIPE, check=True, text=True)
    main, = (row for row in json.loads(run.stdout)["goroutines"] if row["go"] == 1)
    return main.get("reason"), main.get("last_ended_by_process")


hops = told = 0
for trace in traces:
    pid = int(re.search(r"(\d+)\.trace$", trace)[1])
    dump = subprocess.run([tool, "dump", "--json", trace], stdout=subprocess.PIPE, check=True, text=True).stdout
    got, children, now, waits, enders, latest = [], [], None, None, {}, None
    for line in dump.splitlines():
        event = json.loads(line)
        args = event.get("args", {})
        if event["event"] == "UserLog" and args["key_string"] == "gotrace record: woken by process":
            enders[waits] = args["value_string"]
            program, waker, go = re.fullmatch(r"(.*) \(pid (\d+)\)(?:, goroutine (\d+))?", args["value_string"]).groups()
            assert program == "processes", args
            if waits == "child process":
                children.append(int(waker))
            else:
                assert now is None, f"process {pid}: two processes ended one wait"
                assert go == "1", args
                now = int(waker)
        elif event["event"] == "GoBlock":
            if args["reason_string"] in enders: latest = event["time"] + 1, args["reason_string"], enders.pop(args["reason_string"])
            if args["reason_string"] in WAITS or args["reason_string"].startswith("sync: "): waits = args["reason_string"]
            elif args["reason_string"] == "sleep": got, now = got + [now], None
    assert latest and waits_at(trace, latest[0]) == latest[1:], f"process {pid}: {latest}, not {waits_at(trace, latest[0])}"
    if pid == first:
        got = got[1:]  # the nap before all
        order = iter(sorted(set(wanted) - {first}, reverse=True))
        assert children and all(child in order for child in children), f"children that have ended: {children}"
    else:
        got.pop()  # the end, which is told to all at once
    assert len(got) == len(wanted[pid]), f"process {pid}: {len(got)} times, not {len(wanted[pid])}"
    for i, (a, b) in enumerate(zip(got, wanted[pid])):
        assert a in (None, abs(b)), f"process {pid}, time {i}: {a}, not {b}"
        if b > 0:
            hops, told = hops + 1, told + (a is not None)
assert told > 0.95 * hops > 0, f"{told} of {hops} are told"
print(f"{hops} times, {told} told")
