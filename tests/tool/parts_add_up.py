#!/usr/bin/env python3
"""The reports of `gotrace info --from --to` on the parts of a trace add up to that on the whole trace, and `gotrace
dump` of all parts shows the events of the whole. A part is not read beyond its end, so a goroutine whose name the trace
tells only later has none there.

    tests/tool/parts_add_up.py TOOL TRACE...
"""
import json
import re
import subprocess
import sys

PARTS = 7
SHORTEST = 10 * PARTS  # ns
MANY = 40000  # events whose text is not compared
CALLS = ("syscall", "syscall_blocked")
STATES = ("running", "runnable", "blocked") + CALLS


def run(tool, *arguments):
    return subprocess.run([tool, *arguments], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")


def info(tool, path, *options):
    return json.loads(run(tool, "info", "--json", *options, path))


def quiet_moment(tool, path, time):
    """The first time from the given one on without an event. An event at that time would belong to both parts."""
    while any(line[0].isdigit() for line in run(tool, "dump", "--from", str(time), "--to", str(time), path).splitlines()):
        time += 1
    return time


def events(tool, path, *options):
    return run(tool, "dump", *options, path).splitlines()


def procs_told(lines):
    """When the trace tells the number of procs: a part that ends before has no shares of them. None: unknown, or Go takes an
    assist of a goroutine that waits for one of the goroutine that tells it, which a part before that does not."""
    of_other = any(re.search(r"^\d+ GCMarkAssistActive .*\bg=(\d+) \| g=(?!\1$)", line) for line in lines)
    return None if of_other else next((int(line.split()[0]) for line in lines if re.match(r"\d+ ProcsChange ", line)), None)


def collectors_time(report):
    """The collector's share of the procs, as a time."""
    least = {row["window"]: row["minimum"] for row in report["utilization"]}
    return round((1 - least.get(10**9, 1)) * report["trace"]["duration"])


def totals(report):
    found = {name: sum(row[name] for row in report["functions"]) for name in STATES}
    found["procs running"] = sum(row["running"] for row in report["procs"])
    found["procs in system calls"] = sum(row["syscall"] for row in report["procs"])
    found["stopped world"] = report["collector"].get("pauses_total", 0)
    found["collections"] = report["collector"].get("collections_total", 0)
    found["complete tasks"] = sum(row["complete"] for row in report["tasks"])
    for row in report["reasons"]:
        found["blocked: " + row["reason"]] = row["blocked_total"]
    for row in report["functions"]:
        for name in STATES:
            found["%s: %s" % (row["name"], name)] = row[name]
    return found


def differences(tool, path):
    whole = info(tool, path, "--details")
    generations = whole["trace"].get("generations", 0)
    duration = whole["trace"]["duration"]
    cuts = [0] + [quiet_moment(tool, path, duration * i // PARTS) for i in range(1, PARTS)] + [duration]
    parts = [info(tool, path, "--from", str(begin), "--to", str(end)) for begin, end in zip(cuts, cuts[1:])]
    # Readers place each status at the end one nanosecond after the one before.
    slack = PARTS * len(whole["goroutines"])
    known = totals(whole)
    wrong = ["%d %d" % (part["trace"]["duration"], end - begin) for part, begin, end in zip(parts, cuts, cuts[1:])
             if part["trace"]["duration"] != end - begin]
    sums = {}
    if duration < 10**9 and whole["trace"]["events"] < MANY:
        told = procs_told(events(tool, path))
        if told is not None and told <= cuts[1]:
            known["the collector's share"] = collectors_time(whole)
            sums["the collector's share"] = sum(map(collectors_time, parts))
    for part in parts:
        for name, value in totals(part).items():
            sums[name] = sums.get(name, 0) + value
    nameless = {state: sums.get(": " + state, 0) - known.get(": " + state, 0) for state in STATES}
    for name in sorted(known.keys() | sums.keys()):
        function, _, state = name.rpartition(": ")
        lacks = known.get(name, 0) - sums.get(name, 0)
        if function and slack < lacks <= nameless.get(state, 0) + slack:
            nameless[state] -= lacks
        elif abs(lacks) > slack and not (name.startswith(": ") and lacks < 0):
            wrong.append("%s: %d, but in parts %d" % (name, known.get(name, 0), sums.get(name, 0)))
    wrong += ["%s without a name: %d more in parts" % (state, more) for state, more in nameless.items() if more > slack]
    if generations > 1 and whole["trace"]["events"] < MANY:
        shown = [line for begin, end in zip(cuts, cuts[1:])
                 for line in events(tool, path, "--from", str(begin), "--to", str(end))]
        all_events = events(tool, path)
        at = next((i for i, (x, y) in enumerate(zip(shown, all_events)) if x != y), min(len(shown), len(all_events)))
        if shown != all_events:
            wrong.append("dump: %s, but in a part %s" % (all_events[at:at + 1], shown[at:at + 1]))
    for part, length in zip([whole] + parts, [duration] + [end - begin for begin, end in zip(cuts, cuts[1:])]):
        wrong += ["proc %d: %d ns of %d" % (row["id"], row["running"] + row["syscall"], length) for row in part["procs"]
                  if row["running"] + row["syscall"] > length + slack]
        # A row without a count may have time, since a task may have ended.
        wrong += ["%s: listed without anything" % row["name"] for kind in ("functions", "tasks", "regions")
                  for row in part[kind] if not row["count"] and not any(row[state] for state in STATES)]
    return wrong


def main():
    tool, paths = sys.argv[1], sys.argv[2:]
    compared = failed = 0
    for path in paths:
        valid = subprocess.run([tool, "check", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        if not valid or info(tool, path)["trace"]["duration"] < SHORTEST:
            continue
        compared += 1
        wrong = differences(tool, path)
        failed += bool(wrong)
        if wrong:
            print("%s: %s" % (path, "; ".join(wrong[:6])))
    print("%d traces in %d parts each, %d wrong" % (compared, PARTS, failed))
    sys.exit(1 if failed or not compared else 0)


main()
