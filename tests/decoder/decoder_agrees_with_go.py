#!/usr/bin/env python3
"""Compares the decoder's output for traces with Go's, event by event.

    tests/decoder/decoder_agrees_with_go.py PRINT_DECODED TRACE...

PRINT_DECODED is the compiled tests/decoder/print_decoded.c. Go's output comes from tests/go/oracle.sh and is kept next to the
trace as .oracle. An .expect file next to the trace (tests/go/testdata.sh) has the result that Go's own tests require.

v2: every line must be the same, with one exception. If the thread with the earliest event is not ready, Go sorts the
threads, and among equal times it prefers whichever the sort puts first, however long the others wait
(Reader.ReadEvent). In that case the events must be the same except for their times, those of each thread, goroutine and
proc must be in the same order, and fewer than one in fifty may be in another place. A file .held is left beside such a
trace: what depends on the times of events differs as well.
v1: Go chooses at random between events of equal times, so the events are compared in the order of time and offset. The
decoder's own order must be one that Go might have chosen: times never decrease, and the events of each goroutine and
proc keep their order, except among equal times.
v1 is compared before it is lifted to v2. Of a trace that Go 1.27 reads (formats from 1.11 on), the lifted events are
compared with what Go converts it to: every goroutine and proc must have the same events in the same order, and there
must be the same others. See `converted` for where the two differ.
A trace that Go rejects must be rejected for the same cause.

Prints a line per trace; exit status 1 if any differs, 77 if Go is missing.
"""

import itertools
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.append(os.path.join(ROOT, "tests"))
import faults  # noqa: E402

# Go's error texts, and the decoder's result for the same cause (gotrace.h, GOTRACE_RESULTS).
CAUSES = [
    (r"time stamps out of order", "TIME"),
    (r"no consistent ordering|failed to advance|broken trace: frontier", "ORDER"),
    (r"expected (a proc|a goroutine|a thread|no )", "CONTEXT"),
    (r"invalid status|inconsistent status|inconsistent thread|goroutine status for new|in syscall without", "STATUS"),
    (r"not (Go)?Running|that's not|doesn't exist|already exists|is not running|is already running|is not runnable|is not waiting|"
     r"can't make sequence|expected proc|tried to (self-)?steal|stole proc|uninitialized|without known state|stray syscall", "STATE"),
    (r"expected (frequency|string event|stack event|CPU sample)|unknown event type|invalid event type|event without a timestamp", "EVENT"),
    (r"expected batch event|invalid batch size", "BATCH"),
    (r"invalid uvarint|overflows|bad value at", "NUMBER"),
    (r"wrong number of arguments|wrong length|STW kind", "ARGUMENTS"),
    (r"no frequency|no EvFrequency|multiple frequency", "FREQUENCY"),
    (r"clock snapshot", "CLOCK"),
    (r"generation", "GENERATION"),
    (r"invalid string|string size|multiple .*string|duplicate id|invalid (func|file) string", "STRING"),
    (r"invalid stack|multiple .*stack|bad number of frames", "STACK"),
    (r"EOF|read full batch|failed to read|truncated", "TRUNCATED"),
    (r"trace is empty", "EMPTY"),
    (r"task I?[dD] conflict", "TASK"),
    (r"misuse of region|invalid user region", "REGION"),
    (r"in-flight|active range|GC|STW|sweeping|mark assist", "RANGE"),
    (r"bad file format|not a trace|bad header|failed to read header", "HEADER"),
    (r"unsupported|unknown or unsupported", "FORMAT"),
]

# If the trace is truncated later, the decoder reports TRUNCATED in place of these causes.
LACKS = ["ORDER", "STATE", "STATUS", "STRING", "STACK"]


def results():
    """The decoder's result codes by name."""
    text = open(os.path.join(ROOT, "gotrace.h"), encoding="utf-8").read()
    return {name: int(code) for name, code in re.findall(r"X\(ERROR_(\w+), (-\d+),", text)}


LINK = re.compile(r" link=[-0-9]+$")
EVENT = re.compile(r"off=(\d+) \S+ ts=(-?\d+) p=(\d+) g=(\d+)")


class Run:
    def __init__(self, lines):
        self.end = lines.pop() if lines and lines[-1].startswith("end ") else "end nothing"
        self.lines = [LINK.sub("", line) if " link=" in line else line for line in lines]

    def v1(self):
        """The events, and the stacks by number, since it depends on the order which event shows a stack first."""
        events, stacks, stack = [], {}, None
        for line in self.lines:
            match = EVENT.match(line)
            if match:
                offset, time, p, g = match.groups()
                events.append((int(time), int(offset), p, g, line))
            elif line.startswith("stack "):
                stack = stacks.setdefault(line, [])
            elif line.startswith("\t"):
                stack.append(line)
        return events, stacks


def compare_v1(ours, go):
    our_events, our_stacks = ours.v1()
    go_events, go_stacks = go.v1()
    for a, b in zip(sorted(our_events), sorted(go_events)):
        if a != b:
            return f"event:\n  decoder {a[-1]}\n  Go      {b[-1]}"
    if len(our_events) != len(go_events):
        return f"{len(our_events)} events, Go has {len(go_events)}"
    if our_stacks != go_stacks:
        wrong = [key for key in set(our_stacks) | set(go_stacks) if our_stacks.get(key) != go_stacks.get(key)]
        return f"{len(wrong)} stacks, for example {wrong[0]}: {our_stacks.get(wrong[0])}, not {go_stacks.get(wrong[0])}"
    for i in range(1, len(our_events)):
        if our_events[i][0] < our_events[i - 1][0]:
            return f"goes back in time at {our_events[i][-1]}"
    # Among equal times, the events of each goroutine and each proc are in Go's order.
    for field in (2, 3):
        orders = []
        for events in (our_events, go_events):
            order = {}
            for time, equal in itertools.groupby(events, key=lambda event: event[0]):
                equal = list(equal)
                for event in equal if len(equal) > 1 else ():
                    order.setdefault((time, event[field]), []).append(event[1])
            orders.append(order)
        for key, offsets in orders[0].items():
            # Events of proc or goroutine 0 and of the parser's pseudo-procs are not ordered.
            if orders[1].get(key) != offsets and key[1] != "0" and int(key[1]) < 1000000:
                return f"order of {'proc' if field == 2 else 'goroutine'} {key[1]} at {key[0]}: {offsets}, not {orders[1][key]}"
    return None


def compare_v2_order(ours, go):
    """None if two lists of lines differ only where equal times leave a choice."""
    def by_whom(lines):
        lists = {}
        for line in lines:
            match = re.match(r"M=(-?\d+) .*? Time=-?\d+(?: (GoID|ProcID)=(\d+))?", line)
            if not match:
                continue  # a stack precedes the first event that refers to it
            bare = re.sub(r" Time=-?\d+", "", line)
            lists.setdefault(("M", match.group(1)), []).append(bare)
            if match.group(2):
                lists.setdefault(match.group(2, 3), []).append(bare)
        return lists
    a, b = by_whom(ours), by_whom(go)
    for who in sorted(set(a) | set(b)):
        for x, y in zip(a.get(who, []), b.get(who, [])):
            if x != y:
                return f"{who[0]}={who[1]}:\n  decoder {x}\n  Go      {y}"
        if len(a.get(who, [])) != len(b.get(who, [])):
            return f"{who[0]}={who[1]}: {len(a.get(who, []))} events, Go has {len(b.get(who, []))}"
    last = None
    for line in ours:
        match = re.match(r"M=.* Time=(-?\d+)", line)
        if match:
            if last is not None and int(match.group(1)) <= last:
                return f"goes back in time at {line}"
            last = int(match.group(1))
    files = []
    for lines in (ours, go):
        files.append(tempfile.NamedTemporaryFile("w", suffix=".events"))
        files[-1].writelines(re.sub(r" Time=-?\d+", "", line) + "\n" for line in lines if line.startswith("M="))
        files[-1].flush()
    run = subprocess.run(["diff", files[0].name, files[1].name], stdout=subprocess.PIPE, check=False)
    moved = sum(line.startswith(b"<") for line in run.stdout.splitlines())
    if moved * 50 > len(ours):
        return f"{moved} of {len(ours)} events stand elsewhere"
    return None


CHANGE = re.compile(r"M=-?\d+ P=(-?\d+) G=(-?\d+) (\w+) Time=(-?\d+)(.*) Stack=(\d+)$")


def converted(lines):
    """The events of a v1 trace that was lifted to v2, as (time, text), without what Go's conversion does not have or do.

    What it lacks: a goroutine that the trace names before its status (from Undetermined to itself); a system call that goes
    on without its proc (from Syscall to itself); the first Gomaxprocs; the first function of what is runnable when the trace
    begins. The decoder lacks the two Syncs that it adds. A collection's ranges happen on the goroutine of their proc. A task without a parent has the
    parent 0 when it ends. It moves events of equal times apart by a nanosecond, and those behind them.
    """
    events = []
    for line in lines:
        match = CHANGE.match(line)
        if not match:
            continue
        p, g, kind, time, rest, stack = match.groups()
        if kind == "Sync" or "Undetermined->Undetermined" in rest or "Syscall->Syscall" in rest:
            continue
        if kind.startswith("Range"):
            g = ""
        if "Undetermined->Runnable" in rest:
            rest = re.sub(r"TransitionStack=\d+", "TransitionStack=0", rest)
        if kind == "TaskEnd":
            rest = rest.replace("Parent=0", "Parent=18446744073709551615")
        events.append((f"P={p} G={g} {kind}{rest} Stack={stack}", int(time)))
    return events


def by_object(events):
    objects = {}
    for text, time in events:
        who = re.search(r"(?:GoID|ProcID)=\d+|Scope=\S+", text)
        objects.setdefault(who and who.group(0), []).append((text, time))
    return objects


def compare_lifted(program, trace):
    run = subprocess.run([program, "-v", trace], stdout=subprocess.PIPE, check=False)
    ours = converted(run.stdout.decode("utf-8", "replace").splitlines())
    run = subprocess.run(["sh", os.path.join(ROOT, "tests/go/oracle.sh"), "-c", trace], stdout=subprocess.PIPE, check=False)
    go = converted(run.stdout.decode("utf-8", "replace").splitlines())
    first = next((i for i, (text, _) in enumerate(ours) if "gomaxprocs" in text), None)
    if first is not None:
        del ours[first]
    if len(ours) != len(go):
        return f"{len(ours)} events, Go has {len(go)}"
    a, b = by_object(ours), by_object(go)
    for who in sorted(set(a) | set(b), key=str):
        x, y = a.get(who, []), b.get(who, [])
        if who is None:
            x, y = sorted(x), sorted(y)
        for one, other in zip(x, y):
            if one[0] != other[0] or not 0 <= other[1] - one[1] < 1000:
                return f"events of {who}:\n  decoder {one}\n  Go      {other}"
        if len(x) != len(y):
            return f"{len(x)} events of {who}, Go has {len(y)}: {(x + y)[min(len(x), len(y))]}"
    return None


def cause(text, codes):
    for pattern, name in CAUSES:
        if re.search(pattern, text):
            return codes[name]
    return None


def compare(program, trace, codes):
    oracle = trace[:-len(".trace")] + ".oracle" if trace.endswith(".trace") else None
    if not oracle or not os.path.exists(oracle):
        run = subprocess.run(["sh", os.path.join(ROOT, "tests/go/oracle.sh"), trace], stdout=subprocess.PIPE, check=False)
        if run.returncode == 77:
            sys.exit(77)
        text = run.stdout.decode("utf-8", "replace")
        if oracle:
            with open(oracle, "w", encoding="utf-8") as file:
                file.write(text)
    else:
        text = open(oracle, encoding="utf-8").read()
    go = Run(text.splitlines())
    run = subprocess.run([program, trace], stdout=subprocess.PIPE, check=False)
    if run.returncode not in (0, 1):
        return f"the decoder ended with status {run.returncode}"
    ours = Run(run.stdout.decode("utf-8", "replace").splitlines())
    if subprocess.run([program, "-c", trace], stdout=sys.stdout, check=False).returncode:
        return "reads differently from memory and from a stream"
    if ours.end.startswith("end ok") != go.end.startswith("end ok"):
        return f"ends with {ours.end}, Go with {go.end}"
    expect = trace[:-len(".trace")] + ".expect"
    if os.path.exists(expect):
        verdict = open(expect, encoding="utf-8").read().split()[0]
        if verdict != "ANY" and (verdict == "SUCCESS") != ours.end.startswith("end ok"):
            return f"ends with {ours.end}, Go's tests want {verdict}"
    if not go.end.startswith("end ok"):
        want, got = cause(go.end, codes), int(ours.end.split()[2])
        if go.end.startswith("end panic"):
            return None  # Go's reader panics; the decoder reports an error
        if got == codes["TRUNCATED"] and "; before that: " in ours.end and want in [codes[name] for name in LACKS]:
            got = want  # the decoder reports both causes, Go only that of the event
        if want != got:
            return f"ends with {ours.end}, which is not the cause that Go gives: {go.end}"
        if not ours.lines or not ours.lines[0].startswith("version"):
            # v2 delivers the events before the error, as Go does.
            for a, b in zip(ours.lines, go.lines):
                if a != b:
                    return f"before the error:\n  decoder {a}\n  Go      {b}"
        return None
    if ours.lines and ours.lines[0].startswith("version"):
        difference = compare_v1(ours, go)
        if difference or int(ours.lines[0].split()[1]) < 1011:
            return difference
        return compare_lifted(program, trace)
    if ours.lines == go.lines:
        return None
    difference = compare_v2_order(ours.lines, go.lines)
    if not difference:
        open(trace + ".held", "w", encoding="utf-8").close()
    return difference and f"{difference}\n  first line that differs: " + next(
        (f"{i + 1}: {a}" for i, (a, b) in enumerate(zip(ours.lines, go.lines)) if a != b), "none")


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    codes = results()
    wrong = []
    for trace in sys.argv[2:]:
        difference = compare(sys.argv[1], trace, codes)
        line = f"{os.path.basename(trace)}: " + (difference or "the same")
        print(line)
        if difference is not None:
            wrong.append(line)
    faults.repeat(wrong)
    print(f"{len(sys.argv) - 2} traces, {len(wrong)} differ")
    return 1 if wrong else 0


sys.exit(main())
