#!/usr/bin/env python3
"""Compares a trace with the counts of the program that wrote it and with the output of Go's parsers.

    check_trace.py [-s] TRACE [-k KINDS] [-e EXPECT] [-g RELEASE OUTPUT]...

KINDS has lines `kind NAME COUNT`, as the examples print with -k. OUTPUT is what `open_in_go.sh --print RELEASE TRACE`
prints. With -s, a v1 trace must define strings and stacks before the events that refer to them. EXPECT: v1: the lines
that Go up to 1.22 must print, without times and offsets, with `=#` for any number. v2: regular expressions, each of
which must match a line of every OUTPUT, in order.

The trace is read with `gotrace dump` (the library's decoder), which decoder_agrees_with_go.sh compares with Go's. What
neither that decoder nor Go's parsers check is checked here:

    1. The program counted as many events of each kind as are in the file.
    2. Go finds the events that are in the file, no more and no less. v1 up to Go 1.22: each printed line equals the
       event at its offset. v1 from Go 1.23 on and v2: the numbers of events of each kind, after Go's conversion.
    3. Each string and stack that is referred to is defined, once. v2: in the same generation. Generations are
       numbered without gaps, and each has one frequency.

Prints one line; exit status 0 if all agree, 1 if not.
"""

import codecs
import collections
import itertools
import json
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
TOOL = os.path.join(ROOT, "build/examples/gotrace")

# Each byte that is not UTF-8 becomes U+FFFD, as in the output of `gotrace dump`.
codecs.register_error("bytes", lambda error: ("\ufffd" * (error.end - error.start), error.end))


class Wrong(Exception):
    pass


def read_text(path):
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "bytes")


def read_lines(path):
    """The lines of a file that a test wrote. Programs for Windows end lines with a carriage return, too."""
    return read_text(path).replace("\r\n", "\n")


def dump(path, *options):
    """The events of a trace, as `gotrace dump` shows them."""
    run = subprocess.run([TOOL, "dump", "--json", *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode:
        raise Wrong("gotrace dump: " + run.stderr.decode("utf-8", "replace").strip())
    return [json.loads(line) for line in run.stdout.decode().split("\n") if line]


def compare(got, want, got_name, want_name):
    bad = [f"  {kind}: {got[kind]} in {got_name}, {want[kind]} in {want_name}"
           for kind in sorted(set(got) | set(want)) if got[kind] != want[kind]]
    if bad:
        raise Wrong("different numbers of events:\n" + "\n".join(bad))


# ----------------------------------------------------------------------------------------- strings, stacks, counts ----

class Trace:
    """The events of a trace in the order of the file, and the number of each kind."""

    def __init__(self, path, strict):
        self.path = path
        with open(path, "rb") as file:
            self._data = file.read()
        match = re.match(rb"go 1\.(\d+) trace\0+", self._data[:16])
        if not match:
            raise Wrong("no header of a trace")
        self.v1 = int(match.group(1)) < 22
        self.events = dump(path, "--wire")
        self.counts = collections.Counter(event["event"] for event in self.events)
        self.generations = 0
        ends = [event["offset"] for event in self.events[1:]] + [len(self._data)]
        if self.v1:
            self._check_ids(self.events, ends, strict, "the file")
            if not self.counts["Frequency"]:
                raise Wrong("no frequency")
        else:
            self._check_generations(ends)

    def _check_generations(self, ends):
        batches = [i for i, event in enumerate(self.events) if event["event"] in ("EventBatch", "ExperimentalBatch")]
        last = None
        for number, group in itertools.groupby(batches, lambda i: self.events[i]["args"]["gen"]):
            if last not in (None, number - 1):
                raise Wrong(f"generation {number} follows {last}")
            last = number
            self.generations += 1
            group = list(group)
            begin = group[0]
            end = next((i for i in batches if i > group[-1]), len(self.events))
            events = self.events[begin:end]
            frequencies = sum(event["event"] == "Frequency" for event in events)
            if frequencies != 1:
                raise Wrong(f"generation {number} has {frequencies} frequencies")
            self._check_ids(events, ends[begin:end], False, f"generation {number}")

    def _numbers(self, begin, end):
        """The base-128 numbers between two offsets."""
        value = shift = 0
        for byte in self._data[begin:end]:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                yield value
                value = shift = 0

    def _check_ids(self, events, ends, strict, where):
        defined = {"string": {0}, "stack": {0}}
        used = {"string": set(), "stack": set()}
        for event, end in zip(events, ends):
            name, args = event["event"], event["args"]
            if name in ("String", "Stack"):
                kind = name.lower()
                if args["id"] in defined[kind]:
                    raise Wrong(f"{kind} {args['id']} twice in {where}, at offset {event['offset']}")
                defined[kind].add(args["id"])
                if name == "Stack":  # in v1 preceded by its length; of a frame's four numbers, the function and file
                    frames = list(self._numbers(event["offset"] + 1, end))[2 + self.v1:][:4 * args["nframes"]]
                    used["string"].update(frames[1::4], frames[2::4])
                continue
            for key, value in args.items():
                for kind in defined:
                    if key.endswith(kind):
                        used[kind].add(value)
                        if strict and value not in defined[kind]:
                            raise Wrong(f"{name} at offset {event['offset']} precedes {kind} {value}, to which it refers")
        for kind in defined:
            if used[kind] - defined[kind]:
                raise Wrong(f"{where} lacks the {kind}s {sorted(used[kind] - defined[kind])[:5]}")


# The framing of v2's events, which the program counts in another way.
FRAME = ("EventBatch", "ExperimentalBatch", "Stacks", "Strings", "CPUSamples", "Sync", "EndOfGeneration")


def check_kinds(trace, text):
    counted = collections.Counter({name: int(count) for name, count in re.findall(r"^kind (\w+) (\d+)$", text, re.M)})
    if not counted:
        raise Wrong("the program counted nothing (no line `kind NAME COUNT`)")
    in_file = collections.Counter(trace.counts)
    for name in FRAME if not trace.v1 else ():
        del counted[name], in_file[name]
    compare(counted, in_file, "the program's counts", "the file")
    return f"{sum(counted.values())} events in {len(+counted)} kinds as counted"


# ------------------------------------------------------------------------------------------------ v1, Go up to 1.22 ----

# Events have other names in some formats and in some Go releases.
SAME = {"GCScanStart": "STWStart", "GCScanDone": "STWDone", "GCSTWStart": "STWStart", "GCSTWDone": "STWDone",
        "NextGC": "HeapGoal"}

# Go's names of the arguments, in order, without the last stack.
ARGUMENTS = {"Gomaxprocs": "procs", "ProcStart": "thread", "GCStart": "seq", "STWStart": "kindid",
             "GCSweepDone": "swept reclaimed", "GoCreate": "g stack", "GoStart": "g seq", "GoUnblock": "g seq",
             "GoSysExit": "g seq ts", "GoWaiting": "g", "GoInSyscall": "g", "HeapAlloc": "mem", "HeapGoal": "mem",
             "GoStartLabel": "g seq labelid", "UserTaskCreate": "taskid pid typeid", "UserTaskEnd": "taskid",
             "UserRegion": "taskid mode typeid", "UserLog": "id keyid", "CPUSample": "ts p g"}
STRINGS = {"GoStartLabel": "label", "UserTaskCreate": "name", "UserRegion": "name", "UserLog": "category"}


def printed(event, wire, label, old):
    """The line that Go up to 1.22 prints for an event, without time and offset. `event`: lifted to v2, with its texts and its
    place; `wire`: in the file, with its ids; `label`: that of a GoStartLabel; `old`: before 1.21, which has other reasons."""
    name = re.sub("Local$", "", wire["event"])
    name = SAME.get(name, name)
    numbers = [value % 2**64 for key, value in wire["args"].items() if key != "stack"]
    if name == "CPUSample":
        numbers[0] = 0
    if wire["event"] == "GoSysExitLocal":
        numbers.insert(1, 0)
    fields = [f"{key}={value}" for key, value in
              itertools.zip_longest(ARGUMENTS.get(name, "").split(), numbers, fillvalue=0)]
    texts = [value for value in event["args"].values() if isinstance(value, str)]
    if name in STRINGS:
        fields.append(f"{STRINGS[name]}={label if name == 'GoStartLabel' else texts[0]}")
    if name == "UserLog":
        fields.append(f"message={texts[1]}")
    elif name == "STWStart":
        fields.append("kind=" + (event["data"].replace("GC ", "") if old else event["data"]))
    g = 0 if name in ("STWStart", "STWDone") else event.get("g", 0)
    return " ".join([name, f"p={event.get('p', -1)}", f"g={g}"] + fields)


LINE = re.compile(r"(?s)^-?\d+ ([A-Z]\w+)( p=-?\d+ g=\d+) off=(\d+)(.*)$")


def check_printed(trace, output, expected):
    """Compares each line that Go up to 1.22 printed with the event at its offset, and with `expected`."""
    wires = {event["offset"]: event for event in trace.events}
    events = list(dump(trace.path))
    labels = {event["offset"]: event["args"]["label_string"] for event in events if event["event"] == "GoLabel"}
    old = not read_text(trace.path).startswith("go 1.21 ")
    want = {event["offset"]: printed(event, wires[event["offset"]], labels.get(event["offset"]), old)
            for event in events if not event.get("implied")}
    lines = []
    for line in output.split("\n"):
        if LINE.match(line) or not lines:
            lines.append(line)
        elif line:  # the continuation of a text that contains a line end
            lines[-1] += "\n" + line
    seen = []
    for line in filter(None, lines):
        match = LINE.match(line)
        if not match:
            raise Wrong(f"Go printed: {line}")
        name, where, offset, rest = match.groups()
        got = f"{SAME.get(name, name)}{where}{rest}"
        event = want.pop(int(offset), None)
        if event is None:
            raise Wrong(f"Go printed an event that is not there, or one twice: {line}")
        if got.rstrip("\n") != event.rstrip("\n"):
            raise Wrong(f"at offset {offset} Go printed\n  {got}\nbut the file has\n  {event}")
        seen.append(got)
    if want:
        offset = min(want)
        raise Wrong(f"Go did not print {len(want)} events, the first at offset {offset}: {want[offset]}")
    for number, (got, wanted) in enumerate(itertools.zip_longest(seen, expected or seen, fillvalue="-"), 1):
        if got != wanted and not re.fullmatch(re.escape(wanted).replace(r"=\#", r"=-?\d+"), got):
            raise Wrong(f"line {number} of {len(seen)} is\n  {got}\nbut expected, of {len(expected)}, is\n  {wanted}")
    return f"{len(seen)} lines equal"


# --------------------------------------------------------------------------------------------- v1, Go 1.23 and later ----

EVENT = re.compile(r"^M=-?\d+ P=(-?\d+) G=-?\d+ (\w+) Time=-?\d+(.*)$", re.M)

# The v1 event for which Go prints a transition, by its reason.
REASONS = {"forever": "GoStop", "sleep": "GoSleep", "": "GoBlock", "chan send": "GoBlockSend",
           "chan receive": "GoBlockRecv", "select": "GoBlockSelect", "sync": "GoBlockSync",
           "sync.(*Cond).Wait": "GoBlockCond", "network": "GoBlockNet", "GC mark assist wait for work": "GoBlockGC",
           "runtime.Gosched": "GoSched", "preempted": "GoPreempt"}
TRANSITIONS = {"Running->NotExist": "GoEnd", "Waiting->Runnable": "GoUnblock", "Running->Syscall": "GoSysCall",
               "Syscall->Runnable": "GoSysExit", "Syscall->Running": "calls that did not block",
               "Runnable->Running": "GoStart"}
STATUSES = {"Running": ["GoStart"], "Waiting": ["GoWaiting"], "Syscall": ["GoInSyscall"]}
RANGES = {"GC concurrent mark phase": ("GCStart", "GCDone"), "GC incremental sweep": ("GCSweepStart", "GCSweepDone"),
          "GC mark assist": ("GCMarkAssistStart", "GCMarkAssistDone")}
METRICS = {"/sched/gomaxprocs:threads": "Gomaxprocs", "/memory/classes/heap/objects:bytes": "HeapAlloc",
           "/gc/heap/goal:bytes": "HeapGoal"}


def v1_events(kind, rest, known):
    """The v1 events that Go 1.23 or later converted to one that it printed. `known`: the goroutines seen so far."""
    if kind == "StateTransition":
        what, number, old, new = re.search(r" (Go|Proc)ID=(-?\d+) (\w+)->(\w+)", rest).groups()
        reason = re.search(r' Reason="([^"]*)"', rest).group(1)
        if what == "Proc":
            return ["ProcStart" if new == "Running" else "ProcStop"]
        if old in ("NotExist", "Undetermined"):  # at the start of a trace Go prints only the status after a GoCreate
            created = [] if number in known else ["GoCreate"]
            known.add(number)
            return created + STATUSES.get(new, [])
        if old == "Running" and new in ("Waiting", "Runnable"):
            return [REASONS[reason]]
        return [TRANSITIONS[f"{old}->{new}"]]
    name = (re.match(r' Name="([^"]*)"', rest) or [None, None])[1]
    if kind in ("RangeBegin", "RangeEnd"):
        return [RANGES.get(name, ("STWStart", "STWDone"))[kind == "RangeEnd"]]
    return [METRICS[name]] if kind == "Metric" else [kind]


def check_converted(trace, output):
    """Compares what Go 1.23 or later printed of a v1 trace with the numbers of events in the file. One GoSysCall is
    printed as a start, and an end unless a GoSysBlock follows. The first Gomaxprocs is not printed."""
    got, known = collections.Counter(), set()
    for _, kind, rest in EVENT.findall(output):
        got.update(v1_events(kind, rest, known))
    want = collections.Counter()
    for name, count in trace.counts.items():
        want[re.sub("Local$", "", SAME.get(name, name))] += count
    if want["FutileWakeup"]:
        raise Wrong("a FutileWakeup, which Go 1.23 and later refuse")
    for name in ("Batch", "Frequency", "Stack", "String", "TimerGoroutine"):
        del want[name]
    want["calls that did not block"] = want["GoSysCall"] - want.pop("GoSysBlock", 0)
    want["Gomaxprocs"] -= 1
    want["Label"] = want.pop("GoStartLabel", 0)
    want["GoStart"] += want["Label"]
    for name, kind in (("UserTaskCreate", "TaskBegin"), ("UserTaskEnd", "TaskEnd"), ("UserLog", "Log"),
                       ("CPUSample", "StackSample")):
        want[kind] = want.pop(name, 0)
    ends = sum(event["event"] == "UserRegion" and event["args"]["mode"] == 1 for event in trace.events)
    want["RegionBegin"], want["RegionEnd"] = want.pop("UserRegion", 0) - ends, ends
    want["Sync"] = 2 if got["Sync"] else 0  # printed by Go 1.25 and later
    compare(got, want, "Go's output", "the file")
    return f"{sum(got.values())} converted events as many as in the file"


# --------------------------------------------------------------------------------------------------------------- v2 ----

# The kinds to which Go's reader converts each kind (eventType's table in internal/trace/event.go).
KINDS = {}
for parsed, kinds in {
        "StateTransition": "ProcStart ProcStop ProcSteal ProcStatus GoCreate GoCreateBlocked GoCreateSyscall GoStart GoDestroy "
                           "GoDestroySyscall GoStop GoBlock GoUnblock GoSyscallBegin GoSyscallEnd GoSyscallEndBlocked GoStatus "
                           "GoStatusStack GoSwitch GoSwitchDestroy",
        "RangeBegin": "STWBegin GCBegin GCSweepBegin GCMarkAssistBegin",
        "RangeActive": "GCActive GCSweepActive GCMarkAssistActive",
        "RangeEnd": "STWEnd GCEnd GCSweepEnd GCMarkAssistEnd",
        "Metric": "ProcsChange HeapAlloc HeapGoal",
        "Label": "GoLabel", "TaskBegin": "UserTaskBegin", "TaskEnd": "UserTaskEnd", "RegionBegin": "UserRegionBegin",
        "RegionEnd": "UserRegionEnd", "Log": "UserLog", "StackSample": "CPUSample",
        "Experimental": "Span SpanAlloc SpanFree HeapObject HeapObjectAlloc HeapObjectFree GoroutineStack GoroutineStackAlloc "
                        "GoroutineStackFree"}.items():
    for kind in kinds.split():
        KINDS[kind] = parsed
TABLES = ("Stack", "String", "Frequency", "ClockSnapshot")


def check_v2(trace, release, output, expected):
    got = collections.Counter()
    thefts = 0  # a goroutine that ends in a system call loses its proc, which Go prints as a theft
    for proc, kind, rest in EVENT.findall(output):
        got[kind] += 1
        thefts += "Syscall->NotExist" in rest and int(proc) >= 0
    at_end = release not in ("1.22", "1.23", "1.24")  # later ones print a Sync at the end
    want = collections.Counter({"Sync": trace.generations + at_end, "StateTransition": thefts})
    for kind, count in trace.counts.items():
        if kind in KINDS:
            # A switch is a wake-up, a block or end, and a start.
            want[KINDS[kind]] += count * (3 if kind.startswith("GoSwitch") else 1)
        elif kind not in FRAME + TABLES:
            raise Wrong(f"this script does not know the kind {kind}")
    compare(got, want, f"the output of Go {release}", "the file")
    lines = iter(output.split("\n"))
    for pattern in expected or ():
        if pattern.startswith("anywhere: "):  # Go orders equal times of two threads at random
            if not re.search(pattern.removeprefix("anywhere: "), output, re.MULTILINE):
                raise Wrong(f"Go {release} does not print {pattern}")
        elif not any(re.search(pattern, line) for line in lines):
            raise Wrong(f"Go {release} does not print, in this order: {pattern}")
    return f"{sum(got.values())} events as many as in the file"


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    strict = arguments[0] == "-s"
    path, said = arguments[strict], []
    del arguments[:strict + 1]
    expected = None
    try:
        trace = Trace(path, strict)
        while arguments:
            option, file = arguments.pop(0), arguments.pop(0)
            if option == "-k":
                said.append(check_kinds(trace, read_lines(file)))
            elif option == "-e":
                expected = [line for line in read_lines(file).split("\n") if line]
                if trace.v1:
                    expected = [re.sub(r"^\w+", lambda match: SAME.get(match[0], match[0]), line) for line in expected]
            elif option == "-g":
                release, output = file, read_text(arguments.pop(0))
                if not trace.v1:
                    result = check_v2(trace, release, output, expected)
                elif int(release.split(".")[1]) <= 22:
                    result = check_printed(trace, output, expected)
                else:
                    result = check_converted(trace, output)
                said.append(f"Go {release}: {result}")
            else:
                sys.exit(f"check_trace.py: unknown option {option}")
    except Wrong as error:
        print(f"{path}: {error}")
        return 1
    print(f"{path}: " + "; ".join([f"{len(trace.events)} events"] + said))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
