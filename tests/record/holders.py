#!/usr/bin/env python3
"""Compares a trace of holders.c with what the program printed: each wait for a lock tells who had it, and where that took it.

    holders.py TOOL TRACE OUTPUT
"""
import json
import subprocess
import sys

tool, trace, output = sys.argv[1:]
LOCKS = ("sync: mutex", "sync: read lock", "sync: write lock")
dump = subprocess.run([tool, "dump", "--json", trace], stdout=subprocess.PIPE, check=True, text=True).stdout
workers, told, found = {}, {}, {}
for line in dump.splitlines():
    event = json.loads(line)
    kind, g, args = event["event"], event.get("g"), event.get("args", {})
    if kind == "GoCreate" and args["new_stack"][0]["function"] == "work":
        workers[args["new_g"]] = len(workers)
    elif kind == "UserLog" and args["key_string"] == "gotrace record: lock held by":
        told[g] = (workers.get(int(args["value_string"]), "main"), args["stack"][1]["function"])
    elif kind == "GoBlock" and g in workers:
        if args["reason_string"] in LOCKS:
            found.setdefault(workers[g], []).append(told.get(g, ("-", "")))
        told.pop(g, None)

wanted = {}
for line in open(output):
    thread, holder, function = line.rstrip("\n").split("|")
    wanted.setdefault(int(thread), []).append((int(holder) if holder != "-" else "-", function))
count = unknown = 0
for thread, rows in wanted.items():
    got = found.get(thread, [])
    assert len(got) == len(rows), f"thread {thread}: {len(got)} waits, not {len(rows)}"
    for i, (a, b) in enumerate(zip(got, rows)):
        count, unknown = count + 1, unknown + (b[0] == "-")
        assert a == b, f"thread {thread}, wait {i}: {a}, not {b}"
assert count > unknown > 0
print(f"{count} waits, of {unknown} of which the holder cannot be known")
