#!/usr/bin/env python3
"""`gotrace info --json --details` reports the same as Go 1.27's own summarizer, to the nanosecond.

    tests/tool/summary_agrees_with_go.py TOOL GO_PROGRAM TRACE...      GO_PROGRAM: compiled from tests/go/print_summary.go

Compares each goroutine (name, begin, end, times by status and reason), region and task, the pauses by reason, and the
minimum mutator utilization; and that the tables by function, task, region and reason are the sums of these. Traces that
Go rejects must be rejected too. These differences are deliberate. Each is undone in Go's numbers, so that everything
else must still be equal:

switch      Go gives no reason for waiting in a coroutine switch; info says "coroutine switch". In v1, Go gives none for
            GoBlock either; info has "unspecified", as Go 1.22.
names       Go's conversion of v1 drops the functions of goroutines that are older than the trace, and takes the
            outermost function of their stacks, which in v1 may be an inner one. info knows their functions. Go's
            summary names goroutines older than the trace by stacks of transitions; info also by those of other events
            that happen on them, such as logs, regions and wake-ups. So one whose first transition of its own comes after
            its function has returned is called runtime.goexit1 there.
times       Go's conversion of v1 moves events of equal times apart, and gives a nanosecond to system calls without a
            duration; info has the times in the file. The conversion also drops the first number of procs, without
            which there is no mutator utilization. print_summary.go omits these steps.
order       Go 1.27 reads v1 events of equal times in another order than Go 1.21, whose order info uses. If a goroutine's
            system call loses its proc, or begins, when
            another goroutine's call that began on this proc ends (print_summary.go, ties()), only the sum of the
            times with and without a proc is compared.
pending     If a system call without a proc lasts until the end of the trace, Go counts this time twice: as system call,
            and as time in which the goroutine was runnable. info counts it once, as blocked system call.
held        Among events of equal times, Go's reader may delay a thread for long and give its events later times
            (decoder_agrees_with_go.py, which leaves a file .held beside such a trace). Then no times are compared.
forever     Go takes a goroutine that blocks forever for dead: its times and regions end there. In info it is blocked to
            the end of the trace (print_summary.go renames the reason).
collector   Go counts a background worker twice from its second run on, and more (GotraceUtilization in
            access_summary.go undoes it). utilization_agrees_with_go.py compares with Go 1.21, which does not.
lives       C threads that call Go reuse goroutine ids. Go's summary keeps the last goroutine of each id; info counts
            all of them in its tables. Then the tables must be the sums of the goroutines that info lists.
"""
import collections
import json
import os
import subprocess
import sys

STATUSES = ["running", "runnable", "syscall", "syscall_blocked"]


def waits(blocked):
    """Times by reason, without zero times, and with the same word for unknown reasons and switches."""
    found = collections.Counter()
    for reason, time in blocked.items():
        found["" if reason in ("(unknown)", "coroutine switch", "unspecified") else reason] += time
    return {reason: time for reason, time in found.items() if time}


def times(row):
    return [row[status] for status in STATUSES] + [waits(row["blocked"])]


def goroutines(report):
    return {row["id"]: (row["function"], row["created"], row.get("started"), row.get("ended"), times(row))
            for row in report["goroutines"]}


def regions(report):
    return sorted((row["goroutine"], row["name"], row["task"], row.get("begin", -1), row["end"], row["inherited"],
                   str(times(row))) for row in report["regions"])


def tasks(report):
    return sorted((row["id"], row["name"], row["parent"], row.get("begin", -1), row.get("end", -1)) for row in report["tasks"])


def undo_pending(go):
    lost = {row["id"]: go["duration"] - row["pending"] for row in go["goroutines"] if "pending" in row}
    for rows, key in (go["goroutines"], "id"), (go["regions"], "goroutine"):
        for row in rows:
            if row[key] in lost and (key == "id" or row["end"] == go["duration"]):
                row["syscall"] -= lost[row[key]]
                row["runnable"] -= lost[row[key]]
                row["syscall_blocked"] += lost[row[key]]
    return len(lost)


def undo_order(go, ours):
    """Divides the system-call times of such goroutines and their regions as info does, if the sums are equal."""
    tied = {row["id"] for row in go["goroutines"] if row.get("tied")}
    calls = STATUSES[2:]
    for rows, own, keys in ((go["goroutines"], ours["goroutines"], ["id"]),
                            (go["regions"], ours["regions"], ["goroutine", "name", "task", "begin", "end", "inherited"])):
        of_info = {tuple(row.get(key) for key in keys): row for row in own if row[keys[0]] in tied}
        for row in rows:
            same = of_info.get(tuple(row.get(key) for key in keys))
            if same and sum(row[call] for call in calls) == sum(same[call] for call in calls):
                row.update({call: same[call] for call in calls})


def undo_names(go, ours):
    known = {row["id"]: row["function"] for row in ours["goroutines"]}
    for row in go["goroutines"]:
        if row["created"] == 0 and (ours["trace"]["family"] == 1 or row["function"] in ("", None, "runtime.goexit1")):
            row["function"] = known.get(row["id"])


def by_name(rows, name):
    """The sum of the rows with each name: count, times."""
    found = {}
    for row in rows:
        entry = found.setdefault(row[name], [0, collections.Counter()])
        entry[0] += 1
        entry[1].update({status: row[status] for status in STATUSES})
        entry[1]["blocked"] += sum(row["blocked"].values())
    return {key: (count, [sums[status] for status in STATUSES + ["blocked"]]) for key, (count, sums) in found.items()}


def table(rows):
    return {row["name"]: (row["count"], [row[status] for status in STATUSES + ["blocked"]]) for row in rows}


def pauses(go):
    found = {}
    for pause in go["pauses"]:
        found.setdefault(pause["reason"], []).append((pause["end"] - pause["begin"], -pause["begin"]))
    return sorted((reason, len(all), sum(time for time, _ in all), max(all)[0], -max(all)[1]) for reason, all in found.items())


def without_times(value):
    """A table row or object without its times: ids, names and counts."""
    if isinstance(value, dict):
        return {key: row[0] for key, row in value.items()}
    if isinstance(value, list):
        return len(value)
    return None


def compare(go, ours, held):
    wrong = []

    def check(what, theirs, own):
        if held:
            theirs, own = without_times(theirs), without_times(own)
        if theirs == own:
            return
        if isinstance(theirs, dict):
            keys = [key for key in {**theirs, **own} if theirs.get(key) != own.get(key)]
            wrong.extend("%s %s: Go %s, info %s" % (what, key, theirs.get(key), own.get(key)) for key in keys[:3])
        elif isinstance(theirs, list):
            wrong.extend("%s: only Go %s" % (what, row) for row in [row for row in theirs if row not in own][:3])
            wrong.extend("%s: only info %s" % (what, row) for row in [row for row in own if row not in theirs][:3])
            wrong.append("%s: %d, %d" % (what, len(theirs), len(own)))
        else:
            wrong.append("%s: Go %s, info %s" % (what, theirs, own))

    for key in "goroutines", "regions", "tasks", "pauses", "utilization":
        go[key] = go[key] or []
    ours["regions"], own_regions = ours["goroutine_regions"], ours["regions"]
    ours["tasks"], own_tasks = ours["task_list"], ours["tasks"]
    undo_pending(go)
    undo_names(go, ours)
    if ours["trace"]["family"] == 1:
        undo_order(go, ours)
    check("duration", go["duration"], ours["trace"]["duration"])
    check("goroutine", goroutines(go), goroutines(ours))
    check("region", regions(go), regions(ours))
    check("task", tasks(go), tasks(ours))
    all_lives = ours["goroutines"] if len(goroutines(ours)) < len(ours["goroutines"]) else go["goroutines"]
    check("function", by_name(all_lives, "function"), table(ours["functions"]))
    check("region name", by_name([row for row in go["regions"] if not row["inherited"]], "name"), table(own_regions))
    check("pauses", pauses(go), sorted((row["reason"], row["pauses_count"], row["pauses_total"], row["pauses_longest"],
                                        row["pauses_longest_at"]) for row in ours["pauses"]))
    least = [row["minimum"] for row in ours["utilization"]]
    theirs = go["utilization"]
    if not held and not (len(least) == len(theirs) and all(abs(a - b) < 1e-9 for a, b in zip(theirs, least))):
        check("utilization", theirs, least)
    by_reason = collections.Counter()
    for row in all_lives:
        by_reason.update(waits(row["blocked"]))
    if not held:
        check("reason", dict(by_reason), waits({row["reason"]: row["blocked_total"] for row in ours["reasons"]}))
    return wrong


def main():
    tool, program, traces = sys.argv[1], sys.argv[2], sys.argv[3:]
    failed = compared = rejected = 0
    for path in traces:
        go = json.loads(subprocess.run([program, path], check=True, stdout=subprocess.PIPE).stdout)
        done = subprocess.run([tool, "info", "--json", "--details", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if "error" in go:
            rejected += 1
            continue
        if done.returncode != 0:
            wrong = ["info fails: %s" % done.stderr.decode(errors="replace").strip()]
        else:
            wrong = compare(go, json.loads(done.stdout.decode(errors="replace")), os.path.exists(path + ".held"))
            compared += 1
        if wrong:
            failed += 1
            print("\n    ".join([path] + [line[:400] for line in wrong[:8]]))
    print("%d traces compared, %d differ; Go rejects %d others" % (compared, failed, rejected))
    sys.exit(1 if failed or not compared else 0)


main()
