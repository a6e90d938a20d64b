#!/usr/bin/env python3
"""Checks the options that select a part of a trace, and info's percentiles and output. See test_selection.sh.

    tests/tool/test_selection.py TOOL TRACE...
"""
import csv
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

failed = 0


def check(right, *words):
    global failed
    if not right:
        failed += 1
        print(*words)


def run(tool, *arguments):
    done = subprocess.run([tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 0, arguments, done.stderr.decode())
    return done.stdout.decode("utf-8", "replace")


def dump(tool, path, *options):
    return [json.loads(line) for line in run(tool, "dump", "--json", *options, path).splitlines()]


def info(tool, path, *options):
    return json.loads(run(tool, "info", "--json", *options, path))


OTHER = {"GoCreate": "new_g", "GoCreateBlocked": "new_g", "GoStart": "g", "GoStartLocal": "g", "GoStartLabel": "g",
         "GoUnblock": "g", "GoUnblockLocal": "g", "GoSysExit": "g", "GoSysExitLocal": "g", "GoWaiting": "g",
         "GoInSyscall": "g", "GoStatus": "g", "GoStatusStack": "g", "GoSwitch": "g", "GoSwitchDestroy": "g",
         "GCMarkAssistActive": "g", "GoCreateSyscall": "new_g"}
PROC = {"ProcStart": "p", "ProcSteal": "p", "ProcStatus": "p", "GCSweepActive": "p"}


def concerned(event, table):
    name = table.get(event["event"])
    if name is None:
        return None
    arguments = event["args"]
    return arguments.get(name, next((value for key, value in arguments.items() if key.endswith("g")), None))


def functions(events):
    """The start function of each goroutine."""
    found = {}
    for event in events:
        arguments = event["args"]
        if event["event"] in ("GoCreate", "GoCreateBlocked"):
            frames = arguments["new_stack"]
            goroutine = arguments["new_g"]
        elif event["event"] == "GoStatusStack":
            frames, goroutine = arguments["stack"], arguments["g"]
        else:
            continue
        if frames and goroutine not in found:
            found[goroutine] = frames[-1]["function"]
    return found


def wall_clock(tool, path):
    """Nanoseconds since 1970 at the first event; None: unknown."""
    wire = dump(tool, path, "--wire")
    clock = next((event for event in wire if event["event"] == "ClockSnapshot"), None)
    if not clock:
        return None
    frequency = next(event["args"]["freq"] for event in wire if event["event"] == "Frequency")
    first = min(event["time"] for event in wire if event["event"] == "EventBatch" and event["args"]["gen"] == 1)
    return clock["args"]["sec"] * 10**9 + clock["args"]["nsec"] - (clock["time"] - first) * 10**9 // frequency


def check_dump(tool, path):
    events = dump(tool, path)
    v1 = events[0]["event"] != "Sync"
    goroutines = sorted({event["g"] for event in events if "g" in event})
    chosen = goroutines[len(goroutines) // 2:][:2]
    kinds = sorted({event["event"] for event in events})[:6:2]
    span = events[-1]["time"]
    begin, end = span // 4, max(event["time"] for event in events[:len(events) // 2 + 1])
    begin = min(begin, end)

    def compare(selected, *options):
        got = dump(tool, path, *options)
        check(selected, path, options, "select nothing: no test")
        check(got == selected, path, options, "gives", len(got), "events, not", len(selected))

    compare([event for event in events if event.get("g") in chosen or concerned(event, OTHER) in chosen],
            "--go", ",".join(map(str, chosen)))
    compare([event for event in events if event["event"] in kinds or event.get("v1") in kinds], "--kind", ",".join(kinds).lower())
    compare([event for event in events if begin <= event["time"] <= end], "--from", str(begin), "--to", "%dns" % end)
    compare([event for event in events if event.get("p") == 0 or (not v1 and concerned(event, PROC) == 0)], "--proc", "0")
    thread = next(event["m"] for event in events if event.get("m", -1) >= 0)
    compare([event for event in events if event.get("m") == thread], "--thread", str(thread))
    if not v1:
        known = functions(events)
        name = sorted(set(known.values()))[-1]
        of = {goroutine for goroutine, function in known.items() if name[1:] in function}
        compare([event for event in events if event.get("g") in of or concerned(event, OTHER) in of], "--function", name[1:])
        reasons = [event["args"]["reason_string"] for event in events if event["event"] == "GoBlock"]
        check(reasons or "hello" in path, path, "no reasons")
        for reason in reasons[:1]:
            compare([event for event in events if event["event"] in ("GoBlock", "GoStop") and
                     event["args"]["reason_string"] == reason], "--reason", reason)
        both = [event for event in events if event.get("g") == chosen[0] and event["event"] == "GoBlock"]
        if both:
            compare(both, "--go", str(chosen[0]), "--kind", "GoBlock")
    tasks = [event["args"] for event in events if event["event"] in ("UserTaskBegin", "UserTaskCreate")]
    if tasks:
        number = tasks[0].get("task", tasks[0].get("taskid"))
        some = dump(tool, path, "--task", str(number))
        check(some and len(some) < len(events), path, "--task selects %d events" % len(some))
    # The wall clock, if there is one.
    told, first = info(tool, path)["trace"]["began"], wall_clock(tool, path)
    check(bool(first) == ("1.26" in path) == bool(told), path, "wall clock", first, told)
    if first:
        second = datetime.datetime.fromisoformat(told[:19] + "+00:00")
        clock = int(second.timestamp()) * 10**9 + int(told[20:29])
        check(abs(clock - first) <= 1 and told[29:] == "Z", path, "began at", first, "not", told)
        first = clock

        def moment(nanoseconds):
            at = datetime.datetime.fromtimestamp((first + nanoseconds) // 10**9)
            return at.strftime("%Y-%m-%dT%H:%M:%S") + ".%09d" % ((first + nanoseconds) % 10**9)

        whole = dump(tool, path, "--from", moment(-10**6))
        check(len(whole) == len(events), path, "the wall clock does not begin with the trace")
        check(len(dump(tool, path, "--to", moment(-10**9))) <= 1, path, "there are events before the wall clock")
        later = dump(tool, path, "--from", moment(span // 2)[11:])
        check(0 < len(later) < len(events), path, "%d events from a time of the day on" % len(later))
        began, ended = moment(0), moment(span)
        lines = [line.split() for line in run(tool, "info", path).splitlines()]
        check(["began", began] in lines, path, "info has no line 'began %s'" % began)
        for options in ["--from", moment(-2 * 10**9)], ["--to", moment(-2 * 10**9)], ["--from", moment(span + 2 * 10**9)], \
                ["--to", moment(span + 2 * 10**9)], ["--from", "0100-01-01T00:00:00"], ["--to", "9999-01-01T00:00:00"]:
            for command in "dump", "info":
                done = subprocess.run([tool, command, *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                wanted = "%s is outside of the trace, which is from %s to %s\n" % (options[1], began, ended)
                check(done.returncode == 1 and not done.stdout and done.stderr.decode().endswith(wanted), path, command, options,
                      done.stderr.decode())


def own_events(events, goroutine, kept):
    """What happens on a goroutine: times and contents, without what a new file numbers anew. Statuses depend on where
    generations begin, procs' events on what else runs there. Goroutines that are not kept cannot be created."""
    found = []
    for event in events:
        kind = event["event"]
        subject = concerned(event, OTHER) if kind.startswith(("GoStart", "GoUnblock")) else event.get("g")
        if subject != goroutine or event.get("implied") or concerned(event, OTHER) not in kept | {None} or \
                re.search("Status|Active|^Proc|^GC(Start|Done|Begin|End)|^Procs", kind):
            continue
        content = {key: value for key, value in event["args"].items() if not re.search("seq|stack$|_id$|^stackid", key)}
        found.append((event["time"], kind, {key: value for key, value in content.items() if key.endswith("string")},
                      event.get("stack")))
    return found


def check_cut(tool, path):
    """`cut` with filters keeps goroutines whole: those of which the filters select something, and no others."""
    events = dump(tool, path)
    v1 = events[0]["event"] != "Sync"
    of = {}
    for event in events:
        if event.get("g", -1) > 0 and not event.get("implied"):
            of.setdefault(event["g"], []).append(event)
    busiest = sorted(of, key=lambda goroutine: -len(of[goroutine]))
    cases = [(set(some), "--go", ",".join(map(str, some))) for some in (busiest[:2], busiest[-1:])]
    for kind in "UserLog", "GoBlock", "GoBlockSync", "GoBlockRecv":  # the last two are names of v1
        doers = {goroutine for goroutine in of if any(kind in (event["event"], event.get("v1")) for event in of[goroutine])}
        cases += [(doers, "--kind", kind)] if doers else []
    if not v1:
        reasons = [(goroutine, event["args"]["reason_string"]) for goroutine in of for event in of[goroutine] if event["event"] == "GoBlock"]
        if reasons:
            cases.append(({goroutine for goroutine, reason in reasons if reason == reasons[0][1]}, "--reason", reasons[0][1]))
        known = functions(events)
        name = sorted(set(known.values()))[-1]
        cases.append(({goroutine for goroutine in of if known.get(goroutine) == name}, "--function", name))
    part = tempfile.NamedTemporaryFile(suffix=".trace")
    for kept, *options in cases:
        run(tool, "cut", *options, "-o", part.name, path)
        cut = dump(tool, part.name)
        there = {event["g"] for event in cut if event.get("g", -1) > 0}
        check(there == kept, path, "cut", options, "keeps goroutines", sorted(there)[:9], "not", sorted(kept)[:9])
        for goroutine in sorted(kept)[:9]:
            before, after = own_events(events, goroutine, kept), own_events(cut, goroutine, kept)
            check(len(before) == len(after), path, "cut", options, "goroutine", goroutine, len(after), "events, not", len(before))
            for one, other in zip(before, after):
                if one[1:] != other[1:] or abs(one[0] - other[0]) > 5000:
                    check(False, path, "cut", options, "goroutine", goroutine, other, "not", one)
                    break


def check_info(tool, path):
    whole = info(tool, path, "--details")
    for row in whole["goroutines"][:3]:
        one = info(tool, path, "--go", str(row["id"]))["functions"]
        check(sum(function["running"] for function in one) == row["running"], path, "--go", row["id"])
    function = max(whole["functions"], key=lambda row: row["running"])
    if function["name"]:
        found = info(tool, path, "--function", function["name"])["functions"]
        check(function in found, path, "--function", function["name"])
    reason = max(whole["reasons"], key=lambda row: row["blocked_total"], default={"reason": "(unknown)"})
    check(whole["reasons"] or "hello" in path, path, "no reasons")
    if reason["reason"] != "(unknown)":
        found = info(tool, path, "--reason", reason["reason"])
        check(found["reasons"] == [reason], path, "--reason", reason["reason"])
        check(all(row["running"] == 0 for row in found["functions"]), path, "--reason", "selects what runs")
    # Only events in the file count.
    check(whole["trace"]["events"] == sum(not event.get("implied") for event in dump(tool, path)), path, "number of events")
    # Percentiles are in order; histograms are complete.
    for row in info(tool, path, "--histogram")["functions"]:
        for kind in "running", "runnable", "syscall":
            if not row[kind + "_count"]:
                continue
            marks = [row[kind + suffix] for suffix in ("_p50", "_p90", "_p99", "_longest")]
            check(marks == sorted(marks), path, row["name"], kind, marks)
            check(sum(count for _, count in row[kind + "_histogram"]) == row[kind + "_count"], path, kind, "histogram")
            check(row[kind + "_average"] == row[kind + "_total"] // row[kind + "_count"], path, kind, "average")
    # The same numbers as CSV.
    rows = list(csv.reader(run(tool, "info", "--csv", path).splitlines()))
    check(rows[0] == ["file", "table", "name", "reason", "field", "value"], "CSV begins with", rows[0])
    values = {tuple(row[1:5]): row[5] for row in rows[1:]}
    for row in whole["functions"]:
        if all(32 <= ord(letter) < 127 for letter in row["name"]):
            check(values.get(("functions", row["name"], "", "running_total")) == str(row["running_total"]), path, "CSV", row["name"])
    # Text: what stands out comes first; lines are not too long.
    text = subprocess.run([tool, "info", "--histogram", path], env=dict(os.environ, COLUMNS="90"), stdout=subprocess.PIPE).stdout
    lines = text.decode("utf-8", "replace").splitlines()
    wrong = whole["findings"]
    for number, row in enumerate(wrong, 1):  # what is wrong is before that, in whole sentences
        check(lines[0] == "%d. %s" % (number, row["text"]), path, "finding", number, "is", lines[0])
        lines = lines[2 if row["look"] else 1:]
    lines = lines[bool(wrong):]
    check(lines[0] == whole["trace"]["stands_out"] or not lines[0], path, "the first line is", lines[0])
    wide = [line for line in lines[1:] if len(line) > 90 and "least share" not in line]
    check(not wide, path, "lines are too wide:", wide[:2])


def check_percentiles(tool, path):
    """Compares percentiles with those of the running stretches that `dump` shows. Only v2, where starts and stops are
    explicit."""
    begun, found = {}, {}
    for event in dump(tool, path):
        if event["event"] == "GoStart":
            begun[event["args"]["g"]] = event["time"]
        elif event["event"] in ("GoBlock", "GoStop", "GoDestroy", "GoSyscallBegin") and event.get("g") in begun:
            found.setdefault(event["g"], []).append(event["time"] - begun.pop(event["g"]))
        elif event["event"] == "GoSyscallEnd":
            begun[event["g"]] = event["time"]
    goroutine, times = max(found.items(), key=lambda item: len(item[1]))
    check(len(times) > 24, path, "too few stretches to test percentiles")
    times.sort()
    row = info(tool, path, "--go", str(goroutine))["functions"][0]
    for field, share in ("_p50", 0.5), ("_p90", 0.9), ("_p99", 0.99):
        rank = max(-(-len(times) * round(share * 100) // 100), 1)
        exact = times[min(rank, len(times)) - 1]
        near = times[max(rank - 2, 0)] * 0.99, times[min(rank, len(times) - 1)] * 1.01
        check(near[0] <= row["running" + field] <= near[1] + 1, path, goroutine, field, row["running" + field], "not", exact)


def check_diff(tool, one, other):
    """A trace does not differ from itself; for two traces, the rows have info's numbers."""
    def diff(a, b):
        return [json.loads(line) for line in run(tool, "diff", "--json", a, b).splitlines()]

    same = diff(one, one)
    check(same and not any(row["beyond_noise"] or row["a"] != row["b"] for row in same), one, "differs from itself")
    rows, found = diff(one, other), 0
    check([row["beyond_noise"] for row in rows] == sorted((row["beyond_noise"] for row in rows), reverse=True), "order")
    for side, path in ("a", one), ("b", other):
        known = {row["name"]: (row["running_count"], row["running_total"]) for row in info(tool, path)["functions"]}
        for row in rows:
            if row["kind"] == "running" and row[side]["count"]:
                found += 1
                check(known[row["name"]] == (row[side]["count"], row[side]["total"]), path, "diff of", row["name"])
    check(found, "diff has no functions")
    check("changes beyond noise: 0" in run(tool, "diff", one, one), "text")


def main():
    tool, paths = sys.argv[1], sys.argv[2:]
    for path in paths:
        check_dump(tool, path)
        check_cut(tool, path)
        check_info(tool, path)
        if "1.26" in path and "scheduler" in path:
            check_percentiles(tool, path)
    schedulers = [path for path in paths if "scheduler" in path]
    check_diff(tool, schedulers[0], schedulers[-1])
    for arguments, message in ((["dump", "--go", "x"], "invalid goroutine"), (["dump", "--kind", "nosuch"], "no kind of event"),
                               (["cut"], "cut needs --from, --to, --go,"),
                               (["dump", "--wire", "--go", "1"], "--wire shows the whole file"),
                               (["dump", "--from", "25:00:00"], "invalid time")):
        done = subprocess.run([tool, *arguments, paths[0]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 2 and message in done.stderr.decode(), arguments, done.returncode, done.stderr.decode())
    several = run(tool, "info", "--json", *paths).splitlines()
    check([json.loads(line)["file"] for line in several] == paths, "several files")
    print("%d traces, %d wrong" % (len(paths), failed))
    sys.exit(1 if failed or not paths else 0)


main()
