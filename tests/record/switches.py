#!/usr/bin/env python3
"""Compares the states of switches.c's threads with what the program and the kernel have measured. What sleeps unseen
must tell where its thread was last.

    switches.py TOOL TRACE OUTPUT
"""
import collections
import json
import subprocess
import sys

tool, trace, output = sys.argv[1:]
info = json.loads(subprocess.run([tool, "info", "--json", trace], stdout=subprocess.PIPE, check=True, text=True).stdout)
found = {one["name"]: one for one in info["functions"]}
blocked = {}
for one in info["function_reasons"]:
    blocked[one["function"], one["reason"]] = one["blocked_total"]
v1 = any(reason == "unspecified" for _, reason in blocked)
failed = False


def compare(what, seen, true):
    """Within 2 %, and the time that it takes a thread to start and to end."""
    global failed
    wrong = abs(seen - true) > 0.02 * true + 4e6
    failed |= wrong
    print(f"{what}: {seen / 1e6:.3f} ms, measured {true / 1e6:.3f} ms{' WRONG' if wrong else ''}")


lines = [line.split() for line in open(output)]
assert len(lines) == 4, lines
for name, *numbers in lines:
    on, ready, slept, unseen = map(int, numbers)
    one = found[name]
    if name != "mixes":  # what entering and leaving a wait takes counts as waiting
        compare(f"{name} on a processor", one["running"], on)
    off = blocked.get((name, "unspecified" if v1 else "off cpu"), 0)
    if name.startswith("shares"):
        if not ready:
            print("the kernel does not count how long threads are ready")
            sys.exit(77)
        assert ready > 100e6, f"{name} had a processor for itself: {ready}"
        assert off < 0.1 * ready, f"{name} hardly sleeps: {off}"
        # From a wake-up to the processor, the kernel counts a thread as ready; the trace cannot.
        compare(f"{name} ready or asleep", one["runnable"] + off, ready + unseen)
    else:
        compare(f"{name} asleep, unseen", off, unseen)
    compare(f"{name} asleep, seen", blocked.get((name, "sleep"), 0), slept)

names, slept, placed = {}, collections.Counter(), collections.Counter()
for line in subprocess.run([tool, "dump", "--json", trace], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines():
    event = json.loads(line)
    args = event["args"]
    if event["event"] == "GoCreate":
        names[args["new_g"]] = args["new_stack"][0]["function"]
    if event["event"] != "GoBlock" or args["reason_string"] not in ("off cpu", ""):
        continue
    name = names[event["g"]]
    slept[name] += 1
    placed[name] += any(frame["function"] == name for frame in args["stack"] or [])
print("sleeps with a place:", {name: f"{placed[name]} of {slept[name]}" for name in ("sleeps", "mixes")})
# The first sleeps of `sleeps` come before any sample of it, and its first wait.
failed |= placed["mixes"] < 0.95 * slept["mixes"] or slept["mixes"] < 90
failed |= placed["sleeps"] < 0.3 * slept["sleeps"] or slept["sleeps"] < 15
sys.exit(failed)
