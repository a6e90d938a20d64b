#!/usr/bin/env python3
"""Compares two traces of the same run: what `gotrace info --json` says of durations, counts and times, and how many
bytes were swept.

    tests/tool/conversion_keeps_info.py TOOL <PAIRS      PAIRS: lines of two paths, separated by a tab

Ignores the kinds of events, which differ between formats. Times may differ by the rounding of each interval that they sum up.
"""
import collections
import functools
import json
import re
import subprocess
import sys

TABLES = ["goroutines by function", "blocked, by reason", "proc"]
UNKNOWN = {"(unknown)", "runtime.goexit1"}  # the second: the function had returned when the goroutine first stopped
NO_ROWS = {"FutileWakeup"}  # a trace with only these kinds has no goroutines and procs


@functools.lru_cache(maxsize=4)
def report_of(tool, path):
    done = subprocess.run([tool, "info", "--json", path], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(done.decode("utf-8", "replace"))


def figures(report):
    """{(table, name): (count, [times])}"""
    found = {("duration", ""): (1, [report["trace"]["duration"]])}
    for row in report["functions"]:
        found[TABLES[0], row["name"] or "(unknown)"] = (row["count"], [row["running"], row["blocked"], row["runnable"]])
    for row in report["reasons"]:
        found[TABLES[1], row["reason"]] = (row["blocked_count"], [row["blocked_total"]])
    for row in report["procs"]:
        found[TABLES[2], str(row["id"])] = (1000, [row["running"] + row["syscall"]])
    return found


@functools.lru_cache(maxsize=4)
def scan(tool, path):
    """The time of the last event in nanoseconds, since `info` rounds the duration of a long trace; the largest number of
    system calls without a duration (of v1, with an implied end) in one goroutine; and the bytes that were swept."""
    dump = subprocess.run([tool, "dump", path], check=True, stdout=subprocess.PIPE).stdout
    calls = collections.Counter(re.findall(rb"^\d+ GoSyscallEnd .*\bg=(\d+).* implied$", dump, re.MULTILINE))
    for line in reversed(dump.splitlines()):
        match = re.match(rb"(\d+) [A-Z]", line)
        if match:
            swept = sum(map(int, re.findall(rb"^\d+ GCSweepEnd .*\bswept=(\d+)", dump, re.MULTILINE)))
            return int(match.group(1)), max(calls.values(), default=0), swept
    sys.exit("no events in what `dump` says of %s" % path)


def total(rows):
    return sum(count for count, _ in rows), [sum(column) for column in zip(*(times for _, times in rows))] or [0, 0, 0]


def differences(tool, *paths):
    reports = [report_of(tool, path) for path in paths]
    one, two = (figures(report) for report in reports)
    if len(one) < 2 and not {row["kind"] for row in reports[0]["kinds"]} <= NO_ROWS:
        return ["no tables in what `info` says of %s" % paths[0]]
    # The function of a goroutine may have become known, since a conversion's first generation is longer. The tool may
    # also have added unknown goroutines that take no time.
    functions = {key for key in one.keys() | two.keys() if key[0] == TABLES[0] and
                 (key[1] in UNKNOWN or two.get(key, [0])[0] > one.get(key, [0])[0])}
    for found in one, two:
        found["goroutines of these functions", ""] = total([found.pop(key) for key in functions if key in found])
    # Readers place each status at the end one nanosecond after the one before, which lengthens what lasts until then.
    (last, calls, swept), (other_last, other_calls, other_swept) = (scan(tool, path) for path in paths)
    later = abs(last - other_last)
    # A GoSysCall takes no time. In v2 it becomes a start and an end, to which readers give different times. Such a call
    # takes a nanosecond in which the goroutine does not run.
    calls = abs(calls - other_calls)
    wrong = ["lasts %.0f ns longer" % later] if later > 2000 + 0.002 * one["duration", ""][1][0] else []
    if swept != other_swept:
        wrong.append("swept: %d, %d bytes" % (swept, other_swept))
    for key in sorted(one.keys() | two.keys()):
        a, b = one.get(key), two.get(key)
        a, b = a or (0, [0] * len(b[1])), b or (0, [0] * len(a[1]))
        if key[0] == "proc" and not any(a[1] + b[1]):
            continue
        slack = 20 + later + (calls if key[0] in (TABLES[0], "goroutines of these functions") else 0)
        far = any(abs(x - y) > slack * (max(a[0], b[0]) + 1) + 0.002 * max(x, y) for x, y in zip(a[1], b[1]))
        if far or (a[0] != b[0] and not (key[0].startswith("goroutines of") and b[0] > a[0])):
            wrong.append("%s: %s, %s" % (" ".join(key), a, b))
    return wrong


def main():
    pairs = failed = 0
    for line in sys.stdin:
        paths = line.rstrip("\n").split("\t")
        wrong = differences(sys.argv[1], *paths)
        pairs += 1
        if wrong:
            failed += 1
            print("\n    ".join(["%s and %s:" % tuple(paths)] + wrong[:5]))
    print("%d pairs, %d differ" % (pairs, failed))
    sys.exit(1 if failed or not pairs else 0)


main()
