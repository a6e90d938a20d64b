#!/usr/bin/env python3
"""Compares examples/latency.c with `gotrace info`: how long the goroutines of each function were runnable.

    tests/tool/latency.py LATENCY GOTRACE TRACE...

The two derive it by different code: the first from what gotrace_decoder_change tells, the second from the tool's model.
A trace that info refuses is skipped, unless latency accepts it. Exit status 1 if any differs.
"""

import json
import re
import subprocess
import sys


def output(command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return run.returncode, run.stdout.decode("utf-8", "surrogateescape")


def compare(latency, gotrace, trace):
    status, text = output([gotrace, "info", "--json", trace])
    ours_status, lines = output([latency, trace])
    if status or ours_status:
        return None if status and ours_status else f"exit status {ours_status}, info {status}"
    found = re.findall(r"^ *(\d+) +\d+  (.*)$", lines, re.M)
    ours = {name: int(total) for total, name in found}
    info = {function["name"]: function["runnable"] for function in json.loads(text)["functions"] if function["runnable"]}
    for name in sorted(set(ours) | set(info)):
        if ours.get(name, 0) != info.get(name, 0):
            return f"{name}: {ours.get(name, 0)} ns, info {info.get(name, 0)}"
    if len(found) != len(ours) or len(found) != lines.count("\n"):
        return "a function is listed twice, or a line is no function"
    return None


def main():
    if len(sys.argv) < 4:
        print(__doc__)
        return 2
    wrong = 0
    for trace in sys.argv[3:]:
        difference = compare(*sys.argv[1:3], trace)
        wrong += difference is not None
        if difference:
            print(f"{trace}: {difference}")
    print(f"{len(sys.argv) - 3} traces, {wrong} differ")
    return 1 if wrong else 0


sys.exit(main())
