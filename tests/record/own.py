"""Compares a trace of tests/record/own.c with what the program says it did.

    own.py TOOL TRACE LOG [killed] [alone]

killed: of each thread, the last event may be missing. alone: the trace has nothing but the program's own events and what the system tells."""

import collections
import json
import struct
import subprocess
import sys

tool, path, log = sys.argv[1:4]
killed, alone = "killed" in sys.argv[4:], "alone" in sys.argv[4:]
ENTRY = struct.Struct("QII")

with open(log, "rb") as file:
    data = file.read()
(count,) = struct.unpack_from("I", data)
did = collections.defaultdict(list)  # by thread
ids = set()
for i in range(count):
    go, thread, what = ENTRY.unpack_from(data, 8 + ENTRY.size * i)
    if what:
        did[thread].append((go, chr(what)))
        ids.add(go)

LETTERS = {"GoStart": "S", "GoStop": "Y", "GoDestroy": "E"}
seen = collections.defaultdict(list)
waits = collections.Counter()
functions = set()  # of goroutines that are threads
tasks = {}  # the trace's goroutines, by their place among those that are created as run
running = {}
with subprocess.Popen([tool, "dump", "--json", path], stdout=subprocess.PIPE, text=True) as dump:
    for line in dump.stdout:
        event = json.loads(line)
        name, args, thread = event["event"], event["args"], event.get("m")
        if name == "GoCreate":
            function = args["new_stack"][0]["function"]
            if function == "run":
                tasks[args["new_g"]] = len(tasks)
            else:
                functions.add(function)
        g = args.get("g") if name == "GoStart" else event.get("g")
        if g not in tasks:
            continue
        if name == "GoBlock":
            waits[args["reason_string"]] += 1
        elif name in LETTERS and args.get("reason_string") != "preempted":  # by the system
            running[thread] = g
            seen[thread].append((g, LETTERS[name], args.get("g_seq")))
    if dump.wait() != 0:
        sys.exit(f"{path}: cannot be read")

# Where a task has waited, or had no processor, it starts again on the same thread. The log has only what the program
# does.
order = {go: i for i, go in enumerate(sorted(ids))}
missing = 0
for thread, entries in did.items():
    wanted = [(order[go], what) for go, what in entries]
    got, last = [], None
    for g, what, _ in seen[thread]:
        if what == "S" and last == (tasks[g], "S"):
            continue  # after a wait
        last = (tasks[g], what)
        got.append(last)
    if killed:
        missing = max(missing, len(wanted) - len(got))
        got = got[: len(wanted)] if len(got) <= len(wanted) + 1 else got
        wanted = wanted[: len(got)]
    if got != wanted:
        at = next((i for i, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]), min(len(got), len(wanted)))
        sys.exit(f"{path}: thread {thread}: event {at}: {got[at:at + 5]}, not {wanted[at:at + 5]}; {len(got)} and {len(wanted)}")
if missing > 1:
    sys.exit(f"{path}: {missing} events of a thread are missing")
if len(did) < 3 or len(tasks) != 12:
    sys.exit(f"{path}: {len(did)} threads, {len(tasks)} tasks")
if alone:
    if functions != {"main"} or set(waits) - {"off cpu"}:
        sys.exit(f"{path}: {functions}, {waits}")
elif not {"main", "work"} <= functions or waits["sync: mutex"] < 3 or waits["sleep"] < 100:
    sys.exit(f"{path}: {functions}, {waits}")
