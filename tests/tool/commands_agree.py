#!/usr/bin/env python3
"""Commands that answer the same question give the same answer.

    tests/tool/commands_agree.py [-n COPIES] [-s SEED] [--brief] TOOL TRACE...

For each trace that `check` accepts, and for COPIES changed copies that it accepts too (of those with at most 100 KB):

- the times of goroutines by function, in `info`, `diff`, the page of `view`, the tracks of `export --perfetto`, and for
  traces of Go 1.22 and later the events of `dump`;
- the name of each goroutine, in `info --details`, the page, the tracks, and `path`;
- the tasks with a start and an end, in `info`, the page, `export` and `path`;
- the number of events, in `check`, `info` and the page;
- with each option that selects something (check_selections), and without: the times of goroutines, tasks and regions, in
  `info`, `diff`, the page, both exports and, where the option allows it, `dump`; the profiles of the goroutines add up to
  that of all, and none has more time than `info`;
- how many goroutines run, are runnable and wait at the end, in `view` and `export`; how many procs run, in `view` and `dump`;
- the values of the program's counters, in `dump`, `info`, `diff`, the page and `export`, also of a part and of a goroutine;
- with --function, for each function: the rows of `info` and the page are those without it, and `dump`, `export` and
  `profile` select what --go selects with the goroutines of that function;
- the headline of `info` names what ran for longest; a task that has not ended has been open since its start;
- an id, function, task or reason that the trace does not have is an error in every command, without a result.

--brief compares only traces of at most BRIEF bytes, and without filters or parts: the traces of a release in a minute.
"""
import argparse
import base64
import collections
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib

from made_trace import burst, counter_of
from protobuf import fields

MOST_FUNCTIONS = 6  # that are tried as filters, of each trace
MOST_TASKS = 6
MOST_GOROUTINES = 12  # whose profiles are added up
BRIEF = 200000
STATES = ("running", "runnable", "syscall", "blocked")
UNSEEN = "not seen waiting"  # what running is called in traces of `gotrace record`
wrong = 0


def check(right, *words):
    global wrong
    if not right:
        wrong += 1
        if wrong <= 40:
            print(*[word if isinstance(word, str) else str(word)[:300] for word in words])
    return right


class Failed(Exception):
    pass


def run(*arguments):
    done = subprocess.run([tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise Failed("%s: %s" % (" ".join(arguments), done.stderr.decode("utf-8", "replace").strip()))
    return done.stdout


def text_of(data):
    return data.decode("utf-8", "replace")


# ------------------------------------------------------------------------------------------------ what commands say ----

def info(path, *options):
    report = json.loads(text_of(run("info", "--json", "--details", *options, path)))
    report["times"] = {row["name"]: [row["count"], row["running"], row["runnable"], row["syscall"] + row["syscall_blocked"],
                                     row["blocked"]] for row in report["functions"]}
    return report


def page_data(path, *options):
    html = run("view", "--pictures", *options, path)
    packed = base64.b64decode(re.search(rb'id="contents0">([^<]*)<', html).group(1))
    try:
        return json.loads(zlib.decompress(packed))
    except zlib.error:
        return json.loads(zlib.decompress(packed, -15))


def check_burst(path):
    """Where samples of counters are merged, the last values count until the next sample."""
    with open(path, "wb") as file:
        file.write(burst().data())
    numbers = page_data(path)["counters"]
    rows = [numbers[at:at + 7] for at in range(0, len(numbers), 7)]
    times = [row[0] for row in rows]
    check(len(rows) < 18000 and times == sorted(times), path, "samples", len(rows))
    idle = [row for row in rows if row[0] < rows[-1][0] - 900000][-1]
    check(idle[1] == 0 and idle[2] == 0, path, "running and runnable while idle:", idle)


def page(path, *options):
    """The data of a page: times by function, names of goroutines, complete tasks by name."""
    data = page_data(path, *options)
    texts, numbers, at = data["texts"], data["functions"], 0

    def take():
        nonlocal at
        at += 1
        return numbers[at - 1]

    def skip_latencies():
        nonlocal at
        pairs = take()
        at += 2 * pairs

    times = {}
    while at < len(numbers):
        row = times.setdefault(texts[take()], [0] * 5)
        row[0] += take()
        for colour in range(8):
            take()
            row[1 + min(colour, 3)] += take()
            take(), take()  # the longest, how many have not ended
            skip_latencies()
    numbers, at, tasks, regions = data["spans"], 0, {}, {}
    while at < len(numbers):
        kind, name, count, total = take(), texts[take()], take(), take()
        take(), take()
        skip_latencies()
        if kind == 4:
            tasks[name] = [count, total]
        elif kind == 3:
            regions[name] = total
    numbers, at, series = data["series"], 0, []
    while at < len(numbers):
        name, size = texts[take()], take()
        series.append((name, [(take(), take()) for _ in range(size)]))
    rows = [data["rows"][i:i + 7] for i in range(0, len(data["rows"]), 7)]
    names = collections.Counter((int(row[1]), texts[row[2]]) for row in rows if row[0] == 2)
    reasons = {texts[reason] for reason in data["details"][1::7]}
    return {"times": times, "names": names, "tasks": tasks, "regions": regions, "events": data["events"], "counts": data["counters"][-6:-3],
            "procs": data["counters"][-3], "series": sorted(series)}


def perfetto(path, *options):
    """Times by function and names of goroutines, of the goroutine tracks; spans of tasks by id."""
    data = run("export", "--perfetto", *options, path)
    tracks, words, open_slices = {}, {}, collections.defaultdict(list)
    times, counted, names, tasks, series, counts = {}, set(), set(), collections.defaultdict(list), {}, collections.Counter()
    slices, now = collections.Counter(), 0
    for _, packet in fields(data):
        packet = dict_of(packet)
        time, = packet.get(8, [0])
        if 58 not in packet:  # on the clock of differences
            time = now = now + time
        for table in packet.get(12, []):
            for kind, entry in fields(table):
                entry = dict(fields(entry))
                words[kind, entry[1]] = text_of(entry.get(2, b"")) if isinstance(entry.get(2, b""), bytes) else None
        for track in packet.get(60, []):
            track = dict(fields(track))
            tracks[track[1]] = track
        for event in packet.get(11, []):
            event = dict(fields(event))
            track = tracks[event[11]]
            if event[9] == 4 and 44 in event:
                value, = struct.unpack("<d", event[44])
                series.setdefault(event[11], (text_of(track.get(2, b"")), []))[1].append((time, value))
            elif event[9] == 4:
                counts[text_of(track.get(2, b""))] += event[30] - (event[30] >> 63 << 64)
            elif event[9] == 1:
                open_slices[event[11]].append((time, words.get((1, event.get(3))), words.get((2, event.get(10)))))
            elif event[9] == 2:
                if not open_slices[event[11]]:
                    raise Failed("export: a slice ends that has not begun")
                begin, category, name = open_slices[event[11]].pop()
                label = text_of(track.get(2, b""))
                group = text_of(tracks.get(track.get(5), {}).get(2, b""))
                if group != "goroutines":
                    slices[category, name or ""] += time - begin
                if group == "tasks":
                    tasks[int(label.split()[-1])].append((begin, time, name))
                if group != "goroutines":
                    continue
                go, _, function = label.partition(" ")
                names.add((int(go[1:]), function))
                row = times.setdefault(function, [0] * 5)
                state = "blocked" if category == "waiting" else {"system call": "syscall", UNSEEN: "running"}.get(name, name)
                row[1 + STATES.index(state)] += time - begin
                if event[11] not in counted:
                    counted.add(event[11])
                    row[0] += 1
    return {"times": times, "names": names, "tasks": tasks, "series": sorted(series.values()), "slices": slices,
            "counts": [counts["goroutines running"] + counts["goroutines " + UNSEEN], counts["goroutines runnable"], counts["goroutines waiting"]]}


def chrome(path, *options):
    """Times by category and name, and by proc."""
    open_slices, slices, procs = collections.defaultdict(list), collections.Counter(), collections.Counter()
    for event in json.loads(text_of(run("export", "--chrome", *options, path)))["traceEvents"]:
        if event["ph"] not in ("B", "E", "b", "e"):
            continue
        time, place = round(1000 * event["ts"]), open_slices[event["tid"], event.get("id")]
        if event["ph"] in "Bb":
            place.append((time, event["cat"], event["name"]))
            continue
        if not place:
            raise Failed("export --chrome: a slice ends that has not begun")
        begin, category, name = place.pop()
        slices[category, name] += time - begin
        if category == "goroutine":
            procs[event["tid"]] += time - begin
    return {"slices": slices, "procs": procs}


def dict_of(message):
    found = collections.defaultdict(list)
    for number, value in fields(message):
        found[number].append(value)
    return found


def dump(path, *options):
    return [json.loads(line) for line in text_of(run("dump", "--json", *options, path)).splitlines()]


STATUS = {"Runnable": "runnable", "Running": "running", "Syscall": "syscall", "Waiting": "blocked"}
NEXT = {"GoStop": "runnable", "GoBlock": "blocked", "GoDestroy": None, "GoDestroySyscall": None, "GoSyscallBegin": "syscall",
        "GoSyscallEnd": "running", "GoSyscallEndBlocked": "runnable"}
BEGIN = {"GoCreate": "runnable", "GoCreateBlocked": "blocked", "GoCreateSyscall": "syscall"}


def times_of_events(events, first=0, last=2**63):
    """Times of each goroutine from `first` to `last`, from a whole trace of Go 1.22 or later."""
    state, times, end = {}, collections.defaultdict(lambda: dict.fromkeys(STATES, 0)), 0

    def change(go, to, time):
        if go in state:
            was, since = state.pop(go)
            times[go][was] += max(0, min(time, last) - max(since, first))
        if to:
            state[go] = to, time
            times[go]

    for event in events:
        kind, time, arguments, end = event["event"], event["time"], event["args"], max(end, event["time"])
        if kind in BEGIN:
            change(arguments["new_g"], BEGIN[kind], time)
        elif kind in ("GoStatus", "GoStatusStack"):
            if event.get("before") == "Unknown" and arguments["gstatus"] in STATUS:
                change(arguments["g"], STATUS[arguments["gstatus"]], 0)
        elif kind in ("GoUnblock", "GoSwitch", "GoSwitchDestroy"):  # the implied events that follow are the rest of a switch
            change(arguments["g"], "runnable", time)
        elif kind == "GoStart":
            change(arguments["g"], "running", time)
        elif kind in NEXT:
            change(event["g"], NEXT[kind], time)
    for go in list(state):
        change(go, None, end)
    return {go: [row[state] for state in STATES] for go, row in times.items()}


def folded(path, kind, *options):
    """A profile, as a counter."""
    found = collections.Counter()
    for line in text_of(run("profile", "--" + kind, "--folded", *options, path)).splitlines():
        stack, _, value = line.rpartition(" ")
        found[stack] += int(value)
    return found


# ------------------------------------------------------------------------------------------------------ comparisons ----

def same(what, path, one, other, slack=0):
    """Compares rows by name; `slack`: by how much times may differ."""
    for name in one.keys() | other.keys():
        a, b = one.get(name), other.get(name)
        if a is None or b is None or len(a) != len(b) or any(abs(x - y) > slack for x, y in zip(a, b)):
            check(False, path, "%s: %s:" % (what, name), a, "and", b)
            return


def check_times(path, report, whole, tracks):
    for what, rows in ("view", whole["times"]), ("export", tracks["times"]):
        same("info and " + what, path, {name: row[1:] for name, row in report["times"].items()},
             {name: row[1:] for name, row in rows.items()})
    same("number of goroutines in info and view", path, {name: row[:1] for name, row in report["times"].items()},
         {name: row[:1] for name, row in whole["times"].items()})
    check_sums(path, report, tracks, [])


def check_sums(path, report, tracks, options):
    """Compares `info`, `diff`, both exports and the profiles, with the same options."""
    words = " ".join(options) + ":"
    of_diff = collections.defaultdict(lambda: [0] * 4)
    named = {"task": {}, "region": {}, "stopped world": {}}

    def total_of(row):
        return row["a"]["total"] + row["a"]["unended_total"] + row["a"]["unbegun_total"]

    for row in map(json.loads, text_of(run("diff", "--json", *options, path, path)).splitlines()):
        if row["kind"] in named:
            named[row["kind"]][row["name"]] = [row["a"]["count"] + row["a"]["unended"] + row["a"]["unbegun"], total_of(row)]
        if row["kind"] in ("running", "runnable", "in system calls", "blocked"):
            place = ("running", "runnable", "in system calls", "blocked").index(row["kind"])
            of_diff[row["name"]][place] += total_of(row)
    singles = {row["name"]: [row["running_total"], row["runnable_total"], row["syscall_total"],
                             sum(r["blocked_total"] for r in report["function_reasons"] if r["function"] == row["name"])]
               for row in report["functions"]}
    same("info and diff " + words, path, {name: row for name, row in singles.items() if any(row)},
         {name: row for name, row in of_diff.items() if any(row)})
    for kind, table, key, count, total in (("task", "tasks", "name", "complete", "latency_total"),
                                           ("region", "regions", "name", "count", "duration_total"),
                                           ("stopped world", "pauses", "reason", "pauses_count", "pauses_total")):
        same("%ss in info and diff %s" % (kind, words), path, named[kind],
             {row[key]: [row[count], row[total]] for row in report[table] if row[count]})
    kinds = collections.Counter({row["kind"]: row["count"] for row in report["kinds"]})
    of_chrome = chrome(path, *options)
    same("export --perfetto and --chrome " + words, path, {name: [time] for name, time in tracks["slices"].items() if time},
         {name: [time] for name, time in of_chrome["slices"].items() if time})
    if set(options[::2]) <= {"--from", "--to", "--go"}:  # other options select parts of what a proc does at a time
        same("procs in export --chrome and info " + words, path, {proc: [time] for proc, time in of_chrome["procs"].items() if time},
             {row["id"]: [row["running"] + row["syscall"]] for row in report["procs"] if row["running"] + row["syscall"]},
             # A goroutine that a C thread made loses its proc a nanosecond before it ends.
             slack=kinds["GoDestroySyscall"])
    sums = {state: sum(row[state] for row in report["functions"]) for state in (*STATES, "syscall_blocked")}
    ids = sorted({row["id"] for row in report["goroutines"]})
    for kind, most in (("scheduler", sums["runnable"]), ("sync", sums["blocked"]), ("network", sums["blocked"]),
                       # Go gives a system call without an end a nanosecond.
                       ("syscall", sums["syscall"] + sums["syscall_blocked"] + kinds["GoSysCall"])):
        whole, parts = folded(path, kind, *options), collections.Counter()
        check(sum(whole.values()) <= most, path, "profile", kind, words, sum(whole.values()), "but in info", most)
        if len(ids) <= MOST_GOROUTINES and "--go" not in options:
            for go in ids:
                parts += folded(path, kind, *options, "--go", str(go))
            check(parts == +whole, path, "profile", kind, words, "of each goroutine")


def check_names(path, report, whole, tracks):
    told = collections.Counter((row["id"], row["function"]) for row in report["goroutines"])
    check(told.keys() == whole["names"].keys(), path, "names in info and view:",
          sorted(told.keys() - whole["names"].keys())[:4], "and", sorted(whole["names"].keys() - told.keys())[:4])
    check(told.keys() == tracks["names"], path, "names in info and export:", sorted(told.keys() - tracks["names"])[:4],
          "and", sorted(tracks["names"] - told.keys())[:4])
    now = json.loads(text_of(run("waits", "--json", path)))["goroutines"]
    left = collections.Counter((row["id"], row["function"]) for row in report["goroutines"] if "ended" not in row)
    found = collections.Counter((row["go"], row.get("function", "")) for row in now)
    check(found == left, path, "goroutines in waits and info:", sorted((found - left).keys())[:4], "and",
          sorted((left - found).keys())[:4])
    for go, function in sorted(told)[:8]:
        steps = json.loads(text_of(run("path", "--json", "--go", str(go), path)))["path"]
        of_path = {step.get("function", "") for step in steps if step.get("go") == go}
        check(of_path <= {name for other, name in told if other == go}, path, "name in path of", go, of_path, "not", function)


def value_of(event):
    """The name and value of a counter that an event tells, or None."""
    arguments = event["args"]
    return event["event"] == "UserLog" and counter_of(arguments["key_string"], arguments.get("value_string", event.get("data", "")))


def check_counters(path, events):
    """Compares all commands with the events; `events`: those of the whole trace."""
    if not any(map(value_of, events)):
        return
    middle = sorted(event["time"] for event in events if value_of(event))[2]
    goes = sorted({event["g"] for event in events if value_of(event) and "g" in event})
    for options in [[], ["--from", str(middle), "--to", str(events[-1]["time"] - 1)]] + [["--go", str(g)] for g in goes[:2]]:
        told, carried = collections.defaultdict(list), collections.defaultdict(list)  # by name: times and values
        for event in dump(path, *options):
            if value_of(event):
                name, value = value_of(event)
                told[name].append((event["time"], value))
        for event in events:
            if options and options[0] == "--from" and value_of(event) and event["time"] < middle:
                carried[value_of(event)[0]] = [(middle, value_of(event)[1])]
        drawn = sorted((name, carried[name] + told[name]) for name in told.keys() | carried.keys())
        if any("\ufffd" in name for name, _ in drawn) or sum(len(points) for _, points in drawn) > 50000:
            return  # several names look the same; the page has a choice
        words = " ".join(options)
        of_page, of_export = page(path, *options)["series"], perfetto(path, *options)["series"]
        check(of_page == drawn, path, "counters in dump and view", words, drawn, "and", of_page)
        check(of_export == drawn, path, "counters in dump and export", words, drawn, "and", of_export)
        of_chrome = collections.defaultdict(list)
        for event in json.loads(text_of(run("export", "--chrome", *options, path)))["traceEvents"]:
            if event["ph"] == "C" and event.get("cat") == "counter":
                of_chrome[event["name"]].append((round(1000 * event["ts"]), event["args"]["value"]))
        check(sorted(of_chrome.items()) == drawn, path, "counters in dump and export --chrome", words)
        rows = [[name, len(points), min(v for _, v in points), max(v for _, v in points), points[-1][1],
                 sum(v for _, v in points) / len(points)] for name, points in sorted(told.items(), key=lambda item: item[0].encode())]
        fields = ("name", "count", "least", "most", "last", "mean")
        of_info = info(path, *options)["counters"]
        check([[row[field] for field in fields] for row in of_info] == rows, path, "counters in dump and info", words, rows, "and", of_info)
        of_diff = [row for row in map(json.loads, text_of(run("diff", "--json", *options, path, path)).splitlines()) if row["kind"] == "counter"]
        check([dict(row["a"], name=row["name"]) for row in of_diff] == of_info == [dict(row["b"], name=row["name"]) for row in of_diff],
              path, "counters in info and diff", words)


def is_complete(task):
    return "begin" in task and task.get("end", -1) >= task["begin"]


def check_tasks(path, report, whole, tracks):
    complete = [row for row in report["task_list"] if is_complete(row)]
    check(sum(row["complete"] for row in report["tasks"]) == len(complete), path, "info: complete tasks")
    by_name = {row["name"]: [row["complete"], row.get("latency_total", 0)] for row in report["tasks"] if row["complete"]}
    same("tasks in info and view", path, by_name, whole["tasks"])
    for row in complete:
        shown = [(begin, end) for begin, end, _ in tracks["tasks"].get(row["id"], [])]
        check(shown == [(row["begin"], row["end"])], path, "task", row["id"], "in export:", shown, "not", row)
    for row in complete[:MOST_TASKS]:
        walked = json.loads(text_of(run("path", "--json", "--task", str(row["id"]), path)))
        check((walked["begin"], walked["end"]) == (row["begin"], row["end"]), path, "task", row["id"], "in path:", walked["begin"],
              walked["end"], "not", row)
        if row["name"] and sum(other["name"] == row["name"] for other in complete) == 1:
            walked = json.loads(text_of(run("path", "--json", "--task", row["name"], path)))
            # A name that is a number may be another task's id.
            check(walked["task"] == row["id"] or walked["task"] == int(row["name"]), path, "task", row["name"])


def check_filters(path, report, whole, tracks):
    functions = sorted({row["function"] for row in report["goroutines"]})
    for name in functions[:: max(1, len(functions) // MOST_FUNCTIONS)]:
        if not name or not name.isprintable() or any(name in other for other in functions if other != name):
            continue
        chosen = info(path, "--function", name)
        same("info --function", path, {name: report["times"][name]}, chosen["times"])
        check([row for row in report["goroutines"] if row["function"] == name] == chosen["goroutines"], path, "info --function", name)
        same("view --function", path, {name: whole["times"].get(name)}, page(path, "--function", name)["times"])
        same("export --function", path, {name: tracks["times"].get(name)},
             {name: perfetto(path, "--function", name)["times"].get(name)})
        ids = sorted({row["id"] for row in report["goroutines"] if row["function"] == name})
        others = {row["id"] for row in report["goroutines"] if row["function"] != name}
        if len(ids) > 50 or others & set(ids):
            continue
        ids = ",".join(map(str, ids))
        check(run("dump", "--function", name, path) == run("dump", "--go", ids, path), path, "dump --function", name)
        for kind in "sync", "scheduler":
            check(folded(path, kind, "--function", name) == folded(path, kind, "--go", ids), path, "profile", kind, "--function", name)
    for name in sorted({row["name"] for row in report["task_list"] if row["name"]})[:MOST_TASKS]:
        if name.isdigit() and int(name) in {row["id"] for row in report["task_list"]}:
            continue
        of_info = info(path, "--task", name)
        check([row["name"] for row in of_info["tasks"]] == [name], path, "info --task", name, "has tasks",
              [row["name"] for row in of_info["tasks"]])
        wanted = [row for row in report["task_list"] if row["name"] == name]
        check(of_info["task_list"] == wanted, path, "info --task", name, of_info["task_list"][:2], "not", wanted[:2])
        for row in of_info["functions"] + of_info["regions"] + of_info["tasks"]:
            check(row["count"] or any(row[state] for state in STATES), path, "info --task", name, "lists", row["name"])


def procs_in_use(events):
    """How many procs run, or are in system calls, at the end of a trace of Go 1.22 or later."""
    used = set()
    for event in events:
        proc = event["args"].get("p")
        told = event["event"] == "ProcStatus" and event.get("before") == "Unknown"
        if event["event"] == "ProcStart" or (told and event["args"]["pstatus"] in ("Running", "Syscall")):
            used.add(proc)
        elif event["event"] == "ProcSteal":
            used.discard(proc)
        elif event["event"] == "ProcStop":
            used.discard(event["p"])
    return len(used)


def times_of_rows(report):
    """Times of each goroutine that has any, from info --details."""
    told = collections.defaultdict(lambda: [0] * 4)
    for row in report["goroutines"]:
        row = [row["running"], row["runnable"], row["syscall"] + row["syscall_blocked"], sum(row["blocked"].values())], row["id"]
        told[row[1]] = [a + b for a, b in zip(told[row[1]], row[0])]
    return {go: row for go, row in told.items() if any(row)}


def check_selections(path, report, events):
    """The times of what each option selects; `events`: all, or None if they cannot be added up."""
    duration = report["trace"]["duration"]
    gos = sorted({row["id"] for row in report["goroutines"]})
    if not gos:
        return
    selections = [["--go", ",".join(map(str, gos[::3]))], ["--kind", "GoBlock,GoUnblock"]]
    if duration > 100:
        selections += [["--from", str(duration // 3)], ["--to", str(duration // 2)],
                       ["--from", str(duration // 4), "--to", str(duration * 3 // 4), "--go", ",".join(map(str, gos[1::2] or gos))]]
    selections += [["--proc", str(row["id"])] for row in report["procs"][:2]]
    selections += [["--thread", str(row["id"])] for row in report["threads"][:2]]
    selections += [["--reason", row["reason"]] for row in report["reasons"][:2] if row["reason"] != "(unknown)"]
    selections += [["--task", str(row["id"])] for row in report["task_list"][:3]]
    for options in selections:
        words = " ".join(options) + ":"
        try:
            of_info = info(path, *options)
        except Failed as failure:
            check("in this part of the trace" in str(failure), path, failure)
            for other in (["view"], ["export", "--perfetto"], ["export", "--chrome"], ["profile", "--sync"], ["dump"]):
                try:
                    run(*other, *options, path)
                    check(False, path, words, "not in this part for info, but for", *other)
                except Failed:
                    pass
            continue
        of_view = page(path, *options)

        def rows(times):
            return {name: row[1:] for name, row in times.items() if any(row[1:])}

        same("info and view " + words, path, rows(of_info["times"]), rows(of_view["times"]))
        most = {row["name"]: row.get("duration_total", 0) for row in of_info["regions"]}  # also of those without a start or an end
        check(all(total <= most.get(name, 0) for name, total in of_view["regions"].items()), path, "regions in info and view",
              words, most, "and", of_view["regions"])
        if events and "--to" not in options:
            check(of_view["procs"] == procs_in_use(events), path, "procs that run at the end", words, of_view["procs"], "not",
                  procs_in_use(events))
        if options[0] == "--task":
            # A task has no times of the runtime's goroutines that inherit it.
            own = [row for row in of_info["functions"] if not row["name"].startswith("runtime.") and row["name"]]
            for state in "running", "runnable", "blocked":
                check(sum(row[state] for row in own) == sum(row[state] for row in of_info["tasks"]), path, "info", words, state,
                      "by function and by task:", own, of_info["tasks"])
        tracks = perfetto(path, *options)
        check(tracks["counts"] == of_view["counts"], path, "goroutines at the end in view and export", words, of_view["counts"],
              tracks["counts"])
        same("info and export " + words, path, rows(of_info["times"]), rows(tracks["times"]))
        check_sums(path, of_info, tracks, options)
        if events and set(options[::2]) <= {"--from", "--to", "--go"}:
            chosen = dict(zip(options[::2], options[1::2]))
            of_events = times_of_events(events, int(chosen.get("--from", 0)), int(chosen.get("--to", 2**63)))
            if "--go" in chosen:
                of_events = {go: row for go, row in of_events.items() if str(go) in chosen["--go"].split(",")}
            same("info and dump " + words, path, times_of_rows(of_info), {go: row for go, row in of_events.items() if any(row)})


COMMANDS = (["info"], ["info", "--json"], ["dump"], ["dump", "--json"], ["cut"], ["view"], ["export", "--perfetto"],
            ["export", "--chrome"], ["profile", "--sync"])


def check_unknown(path):
    """What the trace does not have is an error; no result is written, except that `dump` may print what is there."""
    for options in (["--go", "987654321"], ["--function", "no such function"], ["--task", "no such task"],
                    ["--task", "987654321"], ["--proc", "987654321"], ["--thread", "987654321987"], ["--reason", "no such reason"]):
        for command in COMMANDS:
            with tempfile.TemporaryDirectory() as directory:
                output = [] if command[0] in ("info", "dump") else ["-o", os.path.join(directory, "result")]
                done = subprocess.run([tool, *command, *options, *output, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                said = text_of(done.stderr)
                check(done.returncode == 1 and not done.stdout and not os.listdir(directory) and said.count("\n") == 1 and
                      "no " in said, path, command, options, "ends with", done.returncode, said, done.stdout[:100])
        done = subprocess.run([tool, "diff", *options, path, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 1 and not done.stdout, path, "diff", options)
    for options in ["--go", "987654321"], ["--task", "no such task"]:
        done = subprocess.run([tool, "path", *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 1 and not done.stdout, path, "path", options)


def check_headline(path, report):
    """The function that the headline names has run longer than others, for at least 1 % of the time, or did something else for
    longer. What it did for longest, apart from running, has the share that is told."""
    told = report["trace"]["stands_out"]
    named = re.search(r"^(.*?)(?: \((\d+) goroutines\))? (?:is busiest|waited \S+ m?u?s for a proc(?:essor)?, and ran )", told)
    idle = re.search(r"^(.*?)(?: \((\d+) goroutines\))? was (?:blocked|waiting|in system calls) .*; it ran ", told)
    own = {row["name"]: row["running"] for row in report["functions"]
           if row["name"] and (not row["name"].startswith("runtime.") or row["name"] == "runtime.main")}
    if not all(name.isprintable() and len(name.encode()) < 160 for name in own):  # these are shown differently
        named = idle = None
    rest = re.search(r"(?:is busiest, but|; it was|^.*? was) (blocked|waiting for a proc|in system calls)\D* (\d+) % of its time", told)
    if named:
        check(own.get(named.group(1)) == max(own.values()) >= report["trace"]["duration"] / 100, path, "headline:", told)
    if idle:
        check(own.get(idle.group(1)) == max(own.values()) < report["trace"]["duration"] / 100, path, "headline:", told)
    if named or idle:
        row, = [row for row in report["functions"] if row["name"] == (named or idle).group(1)]
        check(int((named or idle).group(2) or 1) == max(row["count"], 1), path, "headline:", told, row)
    if (named or idle) and rest:
        others = {"blocked": row["blocked"], "waiting for a proc": row["runnable"], "in system calls": row["syscall"] + row["syscall_blocked"]}
        share = 100 * others[rest.group(1)] / (row["running"] + sum(others.values()))
        check(others[rest.group(1)] == max(others.values()) and abs(share - int(rest.group(2))) <= 0.51, path, "headline:", told, row)
        check(("it was" in rest.group(0)) == (others[rest.group(1)] <= row["running"]), path, "headline:", told, row)
    functions = {row["id"]: row["function"] for row in report["goroutines"]}
    for row in report["latencies"]:
        check(row["function"] == functions[row["goroutine"]] or len(functions) < len(report["goroutines"]), path, "latency of", row)


def check_open_tasks(path, report):
    for row in report["task_list"][:1]:
        if "begin" not in row or row.get("end", row["begin"]) - row["begin"] < 2000:
            continue
        until = row["begin"] + 1000
        of_part = [other for other in info(path, "--to", str(until))["task_list"] if other["id"] == row["id"]]
        check([other.get("open") for other in of_part] == [1000] or "end" in of_part[0], path, "an open task in a part:", of_part)
        done = subprocess.run([tool, "path", "--task", str(row["id"]), "--to", str(until), path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        check("end" in of_part[0] or "it has been open for 0.000001000 s" in text_of(done.stderr), path, "path:", text_of(done.stderr))
    unended = [row for row in report["task_list"] if "begin" in row and not is_complete(row)]
    check(sum(row["open_total"] for row in report["tasks"]) == sum(row["open"] for row in unended), path, "times of open tasks")
    check(sum(row["open_count"] for row in report["tasks"]) == len(unended), path, "number of open tasks")
    text = text_of(run("info", path))
    check(not unended or "not ended, so far" in text, path, "info does not show open tasks")
    for row in [row for row in unended if "end" not in row][:2]:  # an end before the start is another task's
        done = subprocess.run([tool, "path", "--task", str(row["id"]), path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 1 and "it has been open for %.9f s" % (row["open"] / 1e9) in text_of(done.stderr), path,
              "path of an open task:", text_of(done.stderr), row)


def compare(path):
    report = info(path)
    whole, tracks, events = page(path), perfetto(path), dump(path)
    accepted = int(re.search(r"(\d+) events", text_of(run("check", path))).group(1))
    check(accepted == report["trace"]["events"] == whole["events"], path, "events in check, info, view:", accepted,
          report["trace"]["events"], whole["events"])
    check_times(path, report, whole, tracks)
    check_names(path, report, whole, tracks)
    check_tasks(path, report, whole, tracks)
    if not brief:
        check_filters(path, report, whole, tracks)
        check_selections(path, report, events if report["trace"]["family"] == 2 else None)
    check_headline(path, report)
    check_open_tasks(path, report)
    check_counters(path, events)
    if report["trace"]["family"] == 2:
        same("info and dump", path, times_of_rows(report), {go: row for go, row in times_of_events(events).items() if any(row)})


def change(data, dice):
    for _ in range(dice.choice((1, 1, 2))):
        at = dice.randrange(16, len(data))
        data[at] = data[at] & 0x80 | dice.randrange(128)
    return data


def accepts(path):
    return subprocess.run([tool, "check", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def is_at_odds(path):
    """Whether the trace says that a goroutine has been running on a thread from the start, after events of that thread
    on which another goroutine ran; or that in a new generation it runs on another thread or proc than before. No tracer
    does. Go counts for the place that is told nevertheless, and so does `info`; pictures show what can be."""
    seen, places, syncs = set(), {}, 0
    for event in dump(path):
        kind, arguments, place = event["event"], event["args"], (event.get("m"), event.get("p"))
        syncs += kind == "Sync"
        is_status = kind in ("GoStatus", "GoStatusStack")
        if is_status and arguments["gstatus"] in ("Running", "Syscall") and syncs < 2:
            if event.get("before") == "Unknown" and event.get("m") in seen:
                return True
        elif is_status and arguments["gstatus"] == "Running" and places.get(arguments["g"], place) != place:
            return True
        if not kind.endswith(("Status", "StatusStack", "Active")):
            seen.add(event.get("m"))
        if kind == "GoStart" or is_status:
            places[arguments["g"]] = place
        elif "g" in event:
            places[event["g"]] = place
    return False


def main():
    global tool, brief
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=0)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("-k", help="keep changed copies that differ in this directory")
    parser.add_argument("tool")
    parser.add_argument("traces", nargs="+")
    options = parser.parse_args()
    tool, brief = options.tool, options.brief
    valid = [path for path in options.traces if accepts(path) and not (brief and os.path.getsize(path) > BRIEF)]

    def attempt(path):
        before = wrong
        try:
            compare(path)
        except Failed as failure:
            check(False, path, "fails:", failure)
        return wrong == before

    for path in valid:
        attempt(path)
    if valid:
        check_unknown(valid[0])
    dice, copies = random.Random(options.s), 0
    small = [open(path, "rb").read() for path in valid if os.path.getsize(path) <= 100000]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "copy.trace")
        check_burst(path)
        while small and copies < options.n:
            data = change(bytearray(dice.choice(small)), dice)
            with open(path, "wb") as file:
                file.write(data)
            if not accepts(path) or is_at_odds(path):
                continue
            copies += 1
            if not attempt(path) and options.k:
                os.makedirs(options.k, exist_ok=True)
                with open(os.path.join(options.k, "%d.trace" % copies), "wb") as file:
                    file.write(data)
    print("%d traces, %d changed copies, %d wrong" % (len(valid), copies, wrong))
    sys.exit(bool(wrong) or not valid)


main()
