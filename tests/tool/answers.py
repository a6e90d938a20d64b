#!/usr/bin/env python3
"""What `gotrace` says of traces whose answers are known, where Go's own tools are wrong or silent: the share of the procs
that the collector leaves, goroutines that wait for ever, times that began before the trace, and calls and timers of v1.

    tests/tool/answers.py

summary_agrees_with_go.sh, utilization_agrees_with_go.sh and profiles_agree_with_go.sh compare with Go.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import made_trace  # noqa: E402

TOOL = "build/examples/gotrace"
# What the trace has, the trace, procs that the collector has for how long, its end, the least share in any microsecond.
COLLECTED = [
    ("a worker that runs twice", made_trace.working([(1000, "GC (dedicated)", 2000), (5000, "GC (fractional)", 6000)]), 2000 / 4, 0.75),
    ("a worker that is idle the second time", made_trace.working([(1000, "GC (dedicated)", 2000), (5000, "GC (idle)", 6000)]), 1000 / 4, 0.75),
    ("a worker that runs to the end", made_trace.working([(10000, "GC (dedicated)", 0)], procs=1), 10001, 0),
    ("an assist that waits when the trace begins", made_trace.assisting(), 1000 / 4, 0.75),
    ("a worker that assists, a worker's label on one that assists", made_trace.assisting_workers(), 1798 / 4, 0.75025),
    ("the same, where the number of procs is told late", made_trace.assisting_workers(6000), 1798 / 4, 0.75025),
]
WAITED = {"forever": 7000, "chan receive": 6000}  # in made_trace.waits_for_ever(), to its end at 10000


def run(*arguments):
    done = subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, "%s: %s" % (arguments, done.stderr)
    return done.stdout.decode()


def info(*arguments):
    return json.loads(run("info", "--json", "--details", *arguments))


def check_collector(path, what, trace, collected, least):
    with open(path, "wb") as out:
        out.write(trace.data())
    found = {row["window"]: row["minimum"] for row in info(path)["utilization"]}
    whole = 20001
    assert abs(found[1000] - least) < 1e-9, "%s: %s" % (what, found)
    assert abs(found[10**6] - (1 - collected / whole)) < 1e-9, "%s: %s, not %s" % (what, found[10**6], 1 - collected / whole)


def reasons(report):
    return {row["reason"]: (row["blocked_count"], row["blocked_total"], row.get("blocked_unended", 0)) for row in report["reasons"]}


def check_forever(directory):
    path, part, other = (os.path.join(directory, name) for name in ("ever.trace", "part.trace", "other.trace"))
    with open(path, "wb") as out:
        out.write(made_trace.waits_for_ever().data())
    report = info(path)
    assert reasons(report) == {reason: (1, time, 1) for reason, time in WAITED.items()}, reasons(report)
    assert all("ended" not in row for row in report["goroutines"]), report["goroutines"]
    region = report["regions"][0]
    assert (region["duration_total"], region["duration_unended"], region["blocked"]) == (7500, 1, 7000), region
    text = run("info", path)
    assert "forever (1 not ended)" in text and "chan receive (1 not ended)" in text, text
    report = info("--from", "5us", path)
    assert reasons(report) == {reason: (1, 5000, 1) for reason in WAITED}, reasons(report)
    assert reasons(info("--from", "5us", "--to", "6us", path)) == {reason: (1, 1000, 1) for reason in WAITED}
    folded = run("profile", "--sync", "--folded", path)
    assert folded == "main.leak 7000\nmain.wait 6000\n", folded
    assert run("profile", "--sync", "--folded", "--from", "8us", path) == "main.leak 2000\nmain.wait 2000\n"
    for go, (reason, time) in (2, ("forever", "7.000 us")), (3, ("chan receive", "6.000 us")):
        lines = [line for line in run("path", "--go", str(go), path).splitlines() if reason in line]
        assert lines and time in lines[0] and "waiting" in lines[0], lines
    rows = [json.loads(line) for line in run("diff", "--json", path, path).splitlines()]
    waits = {row["reason"]: row["a"] for row in rows if row["kind"] == "blocked"}
    assert {reason: (row["count"], row["unended"], row["unended_total"]) for reason, row in waits.items()} == \
        {reason: (0, 1, time) for reason, time in WAITED.items()}, waits
    assert "not ended: 1 in A, 1 in B" in run("diff", path, path)
    # A part, in both families of formats; of a part, one in the other family.
    for options in ["--from", "1us"], ["--from", "5us"], ["--from", "5us", "--go", "2"], ["--to", "8us"]:
        begin, end = 1000 * int(options[1][0]) * (options[0] == "--from"), 8000 if options[0] == "--to" else 10000
        waited = {reason: (1, end - max(10000 - time, begin), 1) for reason, time in WAITED.items() if reason == "forever" or "--go" not in options}
        run("cut", *options, "-o", part, path)
        for format in None, "1.25", "1.21":
            if format:
                run("convert", "--to", format, "-o", other, part)
                os.replace(other, part)
            found = {row["reason"]: (row["blocked_count"], round(row["blocked_total"], -3), row.get("blocked_unended", 0))
                     for row in info(part)["reasons"]}
            if format or "5us" in options:  # Go 1.21 has other words for waits that begin in the part
                found = {reason if reason != "unspecified" else "forever": row for reason, row in found.items()}
            assert found == waited, (options, format, found)


def check_older(directory):
    """A time that began before the trace or part is no sample of diff, which tells how many there are."""
    path, v1 = (os.path.join(directory, name) for name in ("older.trace", "v1.trace"))
    t, main = made_trace.running_main()
    work, region = t.stack("main.work"), t.string("working")
    t.event(1, 10, made_trace.GO_STATUS, 2, made_trace.NO_ID, made_trace.WAITING)
    t.event(1, 4000, made_trace.GO_UNBLOCK, 2, 1, main)
    t.event(1, 5000, made_trace.GO_BLOCK, t.string("sync"), main)
    t.event(1, 6000, made_trace.GO_START, 2, 2)
    t.event(1, 7000, made_trace.REGION_END, 0, region, work)
    t.event(1, 7000, made_trace.REGION_BEGIN, 0, region, work)
    t.event(1, 8000, made_trace.REGION_END, 0, region, work)
    t.event(1, 8500, made_trace.GO_UNBLOCK, 1, 1, work)
    t.event(1, 9000, made_trace.GO_BLOCK, t.string("chan receive"), work)
    t.event(1, 9500, made_trace.GO_START, 1, 2)
    t.event(1, 9900, made_trace.GO_DESTROY)
    with open(path, "wb") as out:
        out.write(t.data())
    run("convert", "--to", "1.21", "-o", v1, path)

    def samples(path, *options):
        """Samples, and times that began before."""
        rows = [json.loads(line) for line in run("diff", "--json", *options, path, path).splitlines()]
        return {(row["kind"], row["name"]): (row["a"]["count"], row["a"]["total"], row["a"]["unbegun"], row["a"]["unbegun_total"])
                for row in rows if row["a"]["count"] + row["a"]["unbegun"]}

    whole = {("running", "main.main"): (1, 400, 1, 5000), ("blocked", "main.work"): (0, 0, 1, 4000),
             ("runnable", "main.work"): (1, 2000, 0, 0), ("running", "main.work"): (1, 3000, 0, 0),
             ("blocked", "main.main"): (1, 3500, 0, 0), ("runnable", "main.main"): (1, 1000, 0, 0),
             ("region", "working"): (1, 1000, 1, 7000)}
    found = samples(path)
    assert {key: (row[0], round(row[1], -2), row[2], round(row[3], -2)) for key, row in found.items()} == whole, found
    found = samples(v1)
    assert {key: (row[0], row[3]) for key, row in found.items()} == {key: (row[0], row[3]) for key, row in whole.items()}, found
    found = samples(path, "--from", "6500ns")
    assert {key: row for key, row in found.items() if row[2]} == \
        {("running", "main.work"): (0, 0, 1, 2500), ("blocked", "main.main"): (0, 0, 1, 2000), ("region", "working"): (1, 999, 1, 500)}, found
    assert "blocked: main.work (begun before: 1 in A, 1 in B)" in run("diff", path, path), run("diff", path, path)
    assert "unbegun" not in run("info", "--json", path)


def check_old_calls(directory):
    """Of a v1 trace: procs and threads are those in it, also in a part; a call is of unknown length if it kept its proc; a
    timer's goroutine has not done what ends a wait."""
    path = os.path.join(directory, "calls.trace")
    with open(path, "wb") as out:
        out.write(made_trace.OldCalls.data())
    for options in (), ("--to", "5ns"):
        found = info(*options, path)
        assert [[row["id"] for row in found[what]] for what in ("procs", "threads")] == [[1], [7] if options else [7, 8]], found
    done = subprocess.run([TOOL, "convert", "--to", "1.23", "-o", path + ".23", path], stderr=subprocess.PIPE)
    assert b"durations of system calls that kept their proc, which end at once (1)" in done.stderr, done.stderr
    assert "main.timer" not in run("path", "--go", "2", path), run("path", "--go", "2", path)


def main():
    with tempfile.TemporaryDirectory() as directory:
        for case in COLLECTED:
            check_collector(os.path.join(directory, "collector.trace"), *case)
        check_forever(directory)
        check_older(directory)
        check_old_calls(directory)
    print("%d known shares of the collector; waits for ever in 6 commands" % len(COLLECTED))


main()
