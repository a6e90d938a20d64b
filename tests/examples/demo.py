#!/usr/bin/env python3
"""What the examples print about their runs is what `gotrace info` says of their traces, and `make demo` ends briefly.

    tests/examples/demo.py

A correct program has no goroutine and no proc in its trace that it did not make. Each wait of an example is measured within
the wait of its trace, so a sum is at most that of the trace.
"""
import json
import os
import re
import subprocess
import tempfile

INFO = ["build/examples/gotrace", "info", "--json"]


def output(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.decode()


def compare(directory, example, version, workers):
    trace = os.path.join(directory, "trace")
    said = output("build/examples/" + example, "-j", str(workers), "-f", version, "-o", trace, "examples", "tests")
    report = json.loads(output(*INFO, trace))
    waits = {reason["reason"]: reason for reason in report["reasons"]}
    counted = re.findall(r"^blocked +([0-9.]+) s in (\d+) times: (.*)$", said, re.M)
    assert counted and "problems    none\n" in said, said
    for seconds, times, reason in counted:
        told = waits[reason]
        assert int(times) == told["blocked_count"], (example, version, reason, times, told)
        assert float(seconds) <= told["blocked_total"] / 1e9 * 1.001 + 1e-6, (example, version, reason, seconds, told)
    if example != "scheduler":
        return
    assert "gotrace.event" not in {function["name"] for function in report["functions"]}, report["functions"]
    assert {proc["id"] for proc in report["procs"]} <= set(range(workers)), report["procs"]
    assert report["trace"]["gomaxprocs"] == workers, report["trace"]


def demo():
    lines = output("make", "-s", "demo").splitlines()
    end = [line for line in lines if not line.startswith(("tests/build.sh", "building "))]
    assert len(end) <= 25, "\n".join(end)
    text = "\n".join(end)
    for wanted in "goroutines by function", "blocked, by reason", "open build/scheduler.html", "gotrace info build/scheduler.trace":
        assert wanted in text, text
    report = json.loads(output(*INFO, "build/scheduler.trace"))
    assert "gotrace.event" not in text + json.dumps(report["functions"]), text
    words = re.search(r"for all tables: (.*)$", text, re.M)[1].split()  # the command that it ends with
    assert len(output(*words).splitlines()) > 60


def main():
    with tempfile.TemporaryDirectory() as directory:
        for version in "1.21", "1.23", "1.26":
            for example in "scheduler", "threads":
                compare(directory, example, version, 3)
    demo()
    print("waits, goroutines and procs as the programs have them; a brief demo")


main()
