#!/usr/bin/env python3
"""Compares the output of `gotrace info` for two traces of the same run: duration, and tables of counts and times.

    tests/conversion_keeps_info.py TOOL <PAIRS      PAIRS: lines of two paths, separated by a tab

Ignores the kinds of events, which differ between formats, and the proc (900000) that the tool adds where a format
requires one for an event. Times may differ by the rounding of each interval that they sum up.
"""
import collections
import functools
import re
import subprocess
import sys

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
TABLES = ["goroutines by function", "blocked, by reason", "proc"]


def times(line):
    return [float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+) (ns|us|ms|s)\b", line)]


@functools.lru_cache(maxsize=4)
def figures(tool, path):
    """{(table, name): (count, [times])}, of which a name may come more than once"""
    lines = subprocess.run([tool, "info", path], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8", "replace").split("\n")
    found, table = {}, None
    for line in lines:
        if line.startswith("duration"):
            found["duration", ""] = (1, times(line))
        if not line.startswith(" "):
            table = None
        elif table is None:
            table = next((name for name in TABLES if line.endswith(name) or line.split()[0] == name), "")
        elif table:
            words = line.split()
            proc = table == "proc"
            name = words[0] if proc else re.sub(r"^ *\d+ +([\d.]+ (ns|us|ms|s) +)+", "", line)
            key = (table, name)
            while key in found:
                key += ("again",)
            found[key] = (1000 if proc else int(words[0]), times(line))
    return found


@functools.lru_cache(maxsize=4)
def scan(tool, path):
    """The time of the last event in nanoseconds, as `info` rounds the duration of a long trace; and how many system calls
    without a duration (v1's GoSysCall) the goroutine that has most of them has."""
    dump = subprocess.run([tool, "dump", path], check=True, stdout=subprocess.PIPE).stdout
    calls = collections.Counter(re.findall(rb"^\d+ GoSysCall .*\bg=(\d+)", dump, re.MULTILINE))
    for line in reversed(dump.splitlines()):
        match = re.match(rb"(\d+) [A-Z]", line)
        if match:
            return int(match.group(1)), max(calls.values(), default=0)
    sys.exit("no events in what `dump` says of %s" % path)


def total(rows):
    return sum(count for count, _ in rows), [sum(column) for column in zip(*(times for _, times in rows))] or [0, 0]


def differences(tool, *paths):
    one, two = (dict(figures(tool, path)) for path in paths)
    if len(one) < 2:
        return ["no tables in what `info` says of %s" % paths[0]]
    # A goroutine of unknown function may have become known: a conversion's first generation is longer. And there may be
    # unknown ones of no time, which the tool adds.
    functions = {key for key in one.keys() | two.keys() if key[0] == TABLES[0] and
                 (key[1] == "(unknown)" or two.get(key, [0])[0] > one.get(key, [0])[0])}
    for found in one, two:
        found["goroutines of these functions", ""] = total([found.pop(key) for key in functions if key in found])
    # Readers give the statuses at the end a nanosecond each: what lasts until then lasts so much longer.
    (last, calls), (other_last, other_calls) = (scan(tool, path) for path in paths)
    later = abs(last - other_last)
    # In v2 a system call begins and ends, and readers let no two events have the same time: it takes a nanosecond in which
    # the goroutine does not run, where GoSysCall takes none.
    calls = abs(calls - other_calls)
    wrong = ["lasts %.0f ns longer" % later] if later > 2000 + 0.002 * one["duration", ""][1][0] else []
    for key in sorted(one.keys() | two.keys()):
        a, b = one.get(key), two.get(key)
        a, b = a or (0, [0] * len(b[1])), b or (0, [0] * len(a[1]))
        if key == ("proc", "900000") or (key[0] == "proc" and not any(a[1] + b[1])):
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
