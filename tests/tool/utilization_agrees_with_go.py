#!/usr/bin/env python3
"""The mutator utilization of `gotrace info` is the one that Go 1.21 computes.

    tests/tool/utilization_agrees_with_go.py TOOL PROGRAM TRACE...      PROGRAM: compiled from tests/go/print_utilization.go

Later releases of Go count background workers wrong. So every trace of one is converted for Go 1.21. `info` on the result
must agree with Go to the ninth digit. `info` on the trace itself may differ by what the conversion moves: in a trace of Go
1.22 and later a worker gets its label some nanoseconds after it starts, in one of Go 1.21 at once. These times are added
up: no window can have more of them. Traces shorter than a microsecond, the shortest window, are left out.
"""
import json
import os
import re
import subprocess
import sys
import tempfile


def info(tool, path):
    """(the part "trace" of the report, {window: least utilization}); None: refused, or too short."""
    done = subprocess.run([tool, "info", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        return None
    report = json.loads(done.stdout.decode(errors="replace"))
    if report["trace"]["duration"] < 1000:
        return None
    return report["trace"], {row["window"]: row["minimum"] for row in report["utilization"]}


def moved(tool, path):
    """By how much the conversion lengthens the work of labelled goroutines, and the least number of procs."""
    begun, late, procs = {}, 0, []
    dump = subprocess.run([tool, "dump", path], check=True, stdout=subprocess.PIPE).stdout.decode(errors="replace")
    for time, kind, thread, count in re.findall(r"(?m)^(\d+) (GoStart|GoLabel|ProcsChange)(?: m=(\d+))?.*?(?:\bprocs=(\d+)|$)", dump):
        if kind == "ProcsChange":
            procs.append(int(count))
        elif kind == "GoStart":
            begun[thread] = int(time)
        elif thread in begun:
            late += int(time) - begun.pop(thread)
    return late, min([count for count in procs if count] or [1])


def main():
    tool, program, traces = sys.argv[1], sys.argv[2], sys.argv[3:]
    wrong, compared, collects = [], 0, 0
    with tempfile.TemporaryDirectory() as directory:
        for trace in traces:
            converted = os.path.join(directory, "converted")
            report = info(tool, trace)
            if report is None:
                continue
            family, duration, own = report[0]["family"], report[0]["duration"], report[1]
            if family == 1:
                converted = trace
            elif subprocess.run([tool, "convert", "--to", "1.21", "-o", converted, trace], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL).returncode:
                continue
            go = json.loads(subprocess.run([program, converted], check=True, stdout=subprocess.PIPE).stdout)
            if "error" in go:
                if family == 2:
                    wrong.append("%s: Go 1.21 refuses the conversion: %s" % (trace, go["error"]))
                continue
            theirs = {10 ** (3 + i): value for i, value in enumerate(go["utilization"] or [])}
            ours = own if family == 1 else info(tool, converted)[1]
            compared += 1
            collects += any(value < 0.999 for value in theirs.values())
            if ours.keys() != theirs.keys() or any(abs(ours[window] - theirs[window]) > 1e-9 for window in ours):
                wrong.append("%s as Go 1.21 reads it: Go 1.21 %s, info %s" % (trace, theirs, ours))
            elif family == 2:
                late, procs = moved(tool, trace)
                off = [w for w in own if abs(own[w] - theirs[w]) > late / (procs * min(w, duration)) + 1e-9]
                if off:
                    wrong.append("%s, labels %d ns late: Go 1.21 %s, info %s" % (trace, late, theirs, own))
    print("\n".join(wrong + ["%d traces compared, in %d of them the collector works: %d differ" % (compared, collects, len(wrong))]))
    sys.exit(1 if wrong or not compared else 0)


main()
