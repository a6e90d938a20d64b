#!/usr/bin/env python3
"""Compares the CPU samples of samples.c with the CPU time that the program measured, and with what info says of them.

    samples.py TOOL TRACE OUTPUT HERTZ [LEAST]

LEAST: the least share of the samples that may be there, by default 0.8.
"""
import collections
import json
import subprocess
import sys

tool, trace, output, hertz, least = (sys.argv[1:] + ["0.8"])[:5]
FUNCTIONS = ("half", "third", "fifth")
dump = subprocess.run([tool, "dump", "--json", trace], stdout=subprocess.PIPE, check=True, text=True).stdout
samples, working, goroutines, by_function = 0, 0, collections.defaultdict(set), collections.Counter()
names = {}
for line in dump.splitlines():
    event = json.loads(line)
    if event["event"] == "GoCreate":
        names[event["args"]["new_g"]] = event["args"]["new_stack"][0]["function"]
    if event["event"] != "CPUSample":
        continue
    samples += 1
    stack = [frame["function"] for frame in event["args"]["stack"]]
    if "work" not in stack:
        continue  # it starts or ends
    working += 1
    goroutines[event["args"]["m"]].add(event["args"]["g"])
    assert event["args"]["g"] and event["args"]["p"] >= 0, line
    if stack[0] in FUNCTIONS:
        by_function[stack[0]] += 1
        assert stack[1:3] == ["measure", "work"], stack
        outermost = {"main": "_start", "work": "clone"}[names[event["args"]["g"]]]
        assert outermost in stack[-1], stack

measured = collections.Counter()
for line in open(output):
    words = line.split()
    measured.update({name: float(value) for name, value in zip(words[::2], words[1::2])})
whole, seen = sum(measured.values()), sum(by_function.values())
assert len(goroutines) == 2 and all(len(one) == 1 for one in goroutines.values()), goroutines
assert len(set.union(*goroutines.values())) == 2, goroutines
for name in FUNCTIONS:
    found, true = by_function[name] / seen, measured[name] / whole
    print(f"{name} {found:.1%}, measured {true:.1%}")
    assert abs(found - true) <= 0.02, name
info = json.loads(subprocess.run([tool, "info", "--json", trace], stdout=subprocess.PIPE, check=True, text=True).stdout)
sampled = {row["name"]: (row["self"], row["total"]) for row in info["sampled"]}
for name in FUNCTIONS:
    assert sampled[name] == (by_function[name], by_function[name]), (name, sampled, by_function)
assert sampled["work"][1] == working and sampled["measure"][1] >= seen, (sampled, working, seen)
assert f"{100 * by_function['half'] / samples:.0f} % of the CPU samples are in half" in info["trace"]["stands_out"], info["trace"]
print(f"{seen} samples in {whole:.2f} s")
assert float(least) <= seen / (whole * float(hertz)) <= 1.1, seen / whole
