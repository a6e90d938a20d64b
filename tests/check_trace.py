#!/usr/bin/env python3
"""Compares the output of Go's parser for a trace with the file and with what the program emitted.

    check_trace.py [-s] TRACE [-k KINDS] [-e EXPECT] [-g RELEASE OUTPUT]...

TRACE is a file of format 1.8 to 1.21 (v1). KINDS has lines `kind NAME COUNT`, as the examples print with -k. OUTPUT is
the output of RELEASE's `go tool trace -d` (up to 1.21), `-d=1` (1.22) or `-d=parsed` (1.23 and later). With -s, strings
and stacks must come before the events that refer to them. EXPECT has the lines that Go up to 1.22 must print, in order,
without time stamps and offsets, with `=#` for any number.

Three independent accounts of one trace must agree:

    1. The program's counts equal the counts of this script's own decoder, kind by kind.
    2. Up to Go 1.22, each line that Go prints equals this script's event at the same offset: name, goroutine, arguments,
       strings. Go omits Batch, Frequency, Stack, String, TimerGoroutine and futile wake-ups, and prints Local events
       under the name of their common form.
    3. From Go 1.23 on, Go converts the events to the newer model before it prints them. This script orders the events
       as Go does and converts them by the rules in converted() below. The counts of each converted kind must be equal.

Prints one line; exit status 0 if all agree, 1 if not.
"""

import collections
import re
import sys

# number: (name, first format, names of the arguments as Go prints them, whether a stack follows)
EVENTS = {
    1: ("Batch", 1008, "p time", False),
    2: ("Frequency", 1008, "freq", False),
    3: ("Stack", 1008, None, False),
    4: ("Gomaxprocs", 1008, "procs", True),
    5: ("ProcStart", 1008, "thread", False),
    6: ("ProcStop", 1008, "", False),
    7: ("GCStart", 1008, "seq", True),
    8: ("GCDone", 1008, "", False),
    9: ("STWStart", 1008, "kindid", False),
    10: ("STWDone", 1008, "", False),
    11: ("GCSweepStart", 1008, "", True),
    12: ("GCSweepDone", 1008, "swept reclaimed", False),
    13: ("GoCreate", 1008, "g stack", True),
    14: ("GoStart", 1008, "g seq", False),
    15: ("GoEnd", 1008, "", False),
    16: ("GoStop", 1008, "", True),
    17: ("GoSched", 1008, "", True),
    18: ("GoPreempt", 1008, "", True),
    19: ("GoSleep", 1008, "", True),
    20: ("GoBlock", 1008, "", True),
    21: ("GoUnblock", 1008, "g seq", True),
    22: ("GoBlockSend", 1008, "", True),
    23: ("GoBlockRecv", 1008, "", True),
    24: ("GoBlockSelect", 1008, "", True),
    25: ("GoBlockSync", 1008, "", True),
    26: ("GoBlockCond", 1008, "", True),
    27: ("GoBlockNet", 1008, "", True),
    28: ("GoSysCall", 1008, "", True),
    29: ("GoSysExit", 1008, "g seq ts", False),
    30: ("GoSysBlock", 1008, "", False),
    31: ("GoWaiting", 1008, "g", False),
    32: ("GoInSyscall", 1008, "g", False),
    33: ("HeapAlloc", 1008, "mem", False),
    34: ("HeapGoal", 1008, "mem", False),
    35: ("TimerGoroutine", 1008, "g", False),
    36: ("FutileWakeup", 1008, "", False),
    37: ("String", 1008, None, False),
    38: ("GoStartLocal", 1008, "g", False),
    39: ("GoUnblockLocal", 1008, "g", True),
    40: ("GoSysExitLocal", 1008, "g ts", False),
    41: ("GoStartLabel", 1008, "g seq labelid", False),
    42: ("GoBlockGC", 1008, "", True),
    43: ("GCMarkAssistStart", 1009, "", True),
    44: ("GCMarkAssistDone", 1009, "", False),
    45: ("UserTaskCreate", 1011, "taskid pid typeid", True),
    46: ("UserTaskEnd", 1011, "taskid", True),
    47: ("UserRegion", 1011, "taskid mode typeid", True),
    48: ("UserLog", 1011, "id keyid", True),
    49: ("CPUSample", 1019, "ts p g", True),
}
NUMBERS = {name: number for number, (name, _, _, _) in EVENTS.items()}

# Events that had other names in some formats (as the program counts them) or in some Go releases (as Go prints them).
SAME = {"GCScanStart": "STWStart", "GCScanDone": "STWDone", "GCSTWStart": "STWStart", "GCSTWDone": "STWDone",
        "NextGC": "HeapGoal"}

LOCAL = {"GoStartLocal": "GoStart", "GoUnblockLocal": "GoUnblock", "GoSysExitLocal": "GoSysExit"}

BLOCKS = {"GoStop": "forever", "GoSleep": "sleep", "GoBlock": "", "GoBlockSend": "chan send",
          "GoBlockRecv": "chan receive", "GoBlockSelect": "select", "GoBlockSync": "sync",
          "GoBlockCond": "sync.(*Cond).Wait", "GoBlockNet": "network", "GoBlockGC": "GC mark assist wait for work"}

STOPS = {"GoSched": "runtime.Gosched", "GoPreempt": "preempted"}

# The reasons to stop the world, as Go 1.21 prints them; before 1.21 there were two. (The conversion of Go 1.23 and later
# writes number 6 as "all goroutine stack trace", and the unknown one as "".)
STW_1_21 = ("unknown", "GC mark termination", "GC sweep termination", "write heap dump", "goroutine profile",
            "goroutine profile cleanup", "all goroutines stack trace", "read mem stats", "AllThreadsSyscall",
            "GOMAXPROCS", "start trace", "stop trace", "CountPagesInUse (test)", "ReadMetricsSlow (test)",
            "ReadMemStatsSlow (test)", "PageCachePagesLeaked (test)", "ResetDebugLog (test)")

GLOBAL_PROC = 2**64 - 1
PROFILE_PROC = "samples"


class Wrong(Exception):
    pass


class Event:
    __slots__ = ("offset", "name", "ts", "p", "g", "args", "strings", "stack")


class Trace:
    """A decoded file: counts (of every kind, by name), events (in the order of the file), strings, and stacks: by id,
    a list of (pc, function, file, line), innermost first."""

    def __init__(self, data, strict):
        match = re.match(rb"go 1\.(\d+) trace\0+", data[:16])
        if not match or len(data) < 16:
            raise Wrong("no header of a trace")
        self.version = 1000 + int(match.group(1))
        self.counts = collections.Counter()
        self.strings = {0: ""}
        self.stacks = {0: []}
        self.frequency = 0
        self.timers = set()
        self.batches = {}  # proc: events in the order of the file
        self.events = []
        self._strict = strict
        self._seen = {0}
        self._ordered = None
        self._data = data
        self._at = 16
        self._parse()

    def _number(self):
        value = shift = 0
        for _ in range(10):
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise Wrong(f"a number of more than 10 bytes before offset {self._at}")

    def _bytes(self, most):
        size = self._number()
        if size > most:
            raise Wrong(f"a string of {size} bytes at offset {self._at}")
        if self._at + size > len(self._data):
            raise Wrong("the file ends within a string")
        self._at += size
        return self._data[self._at - size:self._at].decode("utf-8", "replace")

    def _parse(self):
        # A trace may name a string or a stack before the entry that defines it (Go's own do), unless the reader is strict.
        raw = []
        try:
            while self._at < len(self._data):
                raw.append(self._event())
        except IndexError:
            raise Wrong("the file ends within an event") from None
        self._link(raw)

    def _event(self):
        offset = self._at
        first = self._data[offset]
        self._at += 1
        number, narg = first & 63, (first >> 6) + 1
        if number not in EVENTS or EVENTS[number][1] > self.version:
            raise Wrong(f"unknown event {number} at offset {offset}")
        name = EVENTS[number][0]
        self.counts[name] += 1
        if name == "String":
            key, value = self._number(), self._bytes(1024)
            if key in self._seen or not value:
                raise Wrong(f"string {key} twice or empty at offset {offset}")
            self._seen.add(key)
            return offset, name, [key], value
        if narg < 4:
            args = [self._number() for _ in range(narg)]
        else:
            size = self._number()
            end = self._at + size
            args = []
            while self._at < end:
                args.append(self._number())
            if self._at != end:
                raise Wrong(f"wrong length of the event at offset {offset}")
        text = self._bytes(1024) if name == "UserLog" else None
        return offset, name, args, text

    def _argument_names(self, name):
        if name == "GCSweepDone" and self.version < 1009 or name == "STWStart" and self.version < 1010:
            return []
        return EVENTS[NUMBERS[name]][2].split()

    def _link(self, raw):
        p = g = ts = 0
        running = {}  # proc: goroutine
        known_strings, known_stacks = {0: ""}, {0}
        self.strings.update((args[0], text) for _, name, args, text in raw if name == "String")
        if not self._strict:
            known_strings.update(self.strings)
            known_stacks.update(args[0] for _, name, args, _ in raw if name == "Stack")
        for offset, name, args, text in raw:
            if name == "String":
                known_strings[args[0]] = text
                continue
            if name == "Stack":
                if len(args) < 2 or len(args) != 2 + 4 * args[1] or args[0] == 0 or args[0] in self.stacks:
                    raise Wrong(f"wrong stack at offset {offset}")
                if args[1] > 128:
                    raise Wrong(f"a stack of {args[1]} frames at offset {offset}")
                known_stacks.add(args[0])
                frames = []
                for at in range(2, len(args), 4):
                    pc, function, file, line = args[at:at + 4]
                    if function not in self.strings or file not in self.strings:
                        raise Wrong(f"the stack at offset {offset} names an unknown string")
                    frames.append((pc, self.strings[function], self.strings[file], line))
                self.stacks[args[0]] = frames
                continue
            names, has_stack = self._argument_names(name), EVENTS[NUMBERS[name]][3]
            timed = name not in ("Batch", "Frequency", "TimerGoroutine")
            if len(args) != timed + len(names) + has_stack:
                raise Wrong(f"{name} with {len(args)} arguments at offset {offset}")
            if name == "Batch":
                running[p] = g
                p, ts = args
                g = running.get(p, 0)
                continue
            if name == "Frequency":
                if args[0] == 0:
                    raise Wrong(f"a frequency of 0 at offset {offset}")
                self.frequency = args[0]  # the last one holds
                continue
            if name == "TimerGoroutine":
                self.timers.add(args[0])
                continue
            ts += args[0]
            event = Event()
            event.offset, event.name, event.ts, event.p, event.g = offset, name, ts, p, g
            event.args = args[1:len(args) - has_stack]
            event.strings = []
            event.stack = args[-1] if has_stack else 0
            if has_stack and args[-1] not in known_stacks:
                raise Wrong(f"{name} at offset {offset} names the unknown stack {args[-1]}")
            if name in ("GoStart", "GoStartLocal", "GoStartLabel"):
                g = event.g = event.args[0]
            elif name in ("GoSysExit", "GoSysExitLocal", "GoWaiting", "GoInSyscall"):
                if name != "GoSysExitLocal":
                    event.g = event.args[0]
            elif name in ("GCStart", "GCDone", "STWStart", "STWDone"):
                event.g = 0
            elif name in BLOCKS or name in STOPS or name in ("GoEnd", "GoSysBlock"):
                g = 0
            ids = {"GoStartLabel": [2], "UserTaskCreate": [2], "UserRegion": [2], "UserLog": [1]}.get(name, [])
            for index in ids:
                if event.args[index] not in known_strings:
                    raise Wrong(f"{name} at offset {offset} names the unknown string {event.args[index]}")
                event.strings.append(known_strings[event.args[index]])
            if name == "UserLog":
                event.strings.append(text)
            if name == "STWStart":
                kind = event.args[0] if event.args else 0
                event.args = [kind]
                if self.version < 1021:
                    if kind > 1:
                        raise Wrong(f"unknown kind {kind} of stopping the world at offset {offset}")
                    event.strings.append(("mark termination", "sweep termination")[kind])
                else:
                    event.strings.append(STW_1_21[kind] if kind < len(STW_1_21) else "unknown")
            if name == "GCSweepDone" and not event.args:
                event.args = [0, 0]
            batch = p
            if name == "CPUSample":
                event.ts, event.p, event.g = event.args
                event.args[0] = 0
                batch = PROFILE_PROC
            self.events.append(event)
            self.batches.setdefault(batch, []).append(event)
        if self.frequency == 0:
            raise Wrong("no frequency")
        if not self.events:
            raise Wrong("no events")

    def ordered(self):
        """The events of all procs in one order, as Go merges them: of the procs' next events that the states of their
        goroutines allow, always the earliest."""
        if self._ordered is None:
            self._ordered = self._merge()
        return self._ordered

    def _merge(self):
        queues = dict(self.batches)
        if PROFILE_PROC in queues:
            queues[PROFILE_PROC] = sorted(queues[PROFILE_PROC], key=lambda event: event.ts)
        at = dict.fromkeys(queues, 0)
        states = {}  # goroutine: (sequence, status)
        ready = {}  # proc: its next event, once it was found ready
        merged = []
        while True:
            for proc, queue in queues.items():
                if proc in ready or at[proc] == len(queue):
                    continue
                who, sequence, status, _, _ = transition(queue[at[proc]])
                now = states.get(who, (0, "dead"))
                if who is None or now[1] == status and sequence in (None, now[0]):
                    ready[proc] = queue[at[proc]]
            if not ready:
                break
            proc = min(ready, key=lambda key: ready[key].ts)
            event = ready.pop(proc)
            at[proc] += 1
            who, sequence, status, next_sequence, next_status = transition(event)
            if who is not None:
                now = states.get(who, (0, "dead"))
                if now[1] != status or sequence not in (None, now[0]):
                    raise Wrong(f"two events for one state, the later at offset {event.offset}")
                if next_sequence is None:
                    next_sequence = now[0]
                elif next_sequence == "next":
                    next_sequence = now[0] + 1
                states[who] = (next_sequence, next_status)
            if merged and event.ts < merged[-1].ts:
                raise Wrong(f"time stamps out of order at offset {event.offset}")
            merged.append(event)
        if len(merged) != len(self.events):
            raise Wrong("no consistent order of the events")
        blocked = {}
        for event in merged:
            if event.name in ("GoSysBlock", "GoInSyscall"):
                blocked[event.g] = event.ts
            elif event.name in ("GoSysExit", "GoSysExitLocal"):
                event.g = event.args[0]
                ts = event.args[-1]
                if ts == 0:
                    continue
                if event.name == "GoSysExit" and not blocked.get(event.g):
                    raise Wrong(f"a system call ends that did not block, at offset {event.offset}")
                if event.name == "GoSysExit" and ts < blocked[event.g]:
                    raise Wrong(f"time stamps out of order at offset {event.offset}")
                # Go moves a GoSysExit to the time when the call really ended.
                if event.name == "GoSysExit":
                    event.ts = ts
        merged.sort(key=lambda event: event.ts)
        return merged


def transition(event):
    """(goroutine or None, sequence needed or None, status needed, sequence after, status after)"""
    name, args = event.name, event.args
    if name == "GoCreate":
        return args[0], 0, "dead", 1, "runnable"
    if name in ("GoWaiting", "GoInSyscall"):
        return event.g, 1, "runnable", 2, "waiting"
    if name in ("GoStart", "GoStartLabel"):
        return event.g, args[1], "runnable", args[1] + 1, "running"
    if name == "GoStartLocal":
        return event.g, None, "runnable", "next", "running"
    if name in BLOCKS and name != "GoStop" or name == "GoSysBlock":
        return event.g, None, "running", None, "waiting"
    if name in STOPS:
        return event.g, None, "running", None, "runnable"
    if name in ("GoUnblock", "GoSysExit"):
        return args[0], args[1], "waiting", args[1] + 1, "runnable"
    if name in ("GoUnblockLocal", "GoSysExitLocal"):
        return args[0], None, "waiting", "next", "runnable"
    if name == "GCStart":
        return "collection", args[0], "dead", args[0] + 1, "dead"
    return None, None, None, None, None


def futile(events):
    """The offsets of the events of futile wake-ups, which Go 1.22 and earlier omit: for a goroutine with a FutileWakeup
    event, the unblock, the starts and preemptions since, and the following block."""
    wakeups = {}  # goroutine: [was it futile, its events]
    out = set()
    for event in events:
        name = LOCAL.get(event.name, event.name)
        if event.name in ("GoUnblock", "GoUnblockLocal"):
            wakeup = wakeups.setdefault(event.args[0], [False, []])
            wakeup[1] = [event.offset]
        elif name in ("GoStart", "GoPreempt", "FutileWakeup"):
            wakeup = wakeups.setdefault(event.g, [False, []])
            wakeup[1].append(event.offset)
            wakeup[0] |= name == "FutileWakeup"
        elif name in ("GoBlock", "GoBlockSend", "GoBlockRecv", "GoBlockSelect", "GoBlockSync", "GoBlockCond"):
            wakeup = wakeups.pop(event.g, None)
            if wakeup and wakeup[0]:
                out.add(event.offset)
                out.update(wakeup[1])
    return out


def printed(event):
    """What Go 1.22 and earlier print of an event, without time stamp and proc."""
    name, args = event.name, list(event.args)
    if name == "GoUnblockLocal":
        name, args = "GoUnblock", args + [0]
    elif name == "GoStartLocal":
        name, args = "GoStart", args + [0]
    elif name == "GoSysExitLocal":
        # The place of the time stamp is that of the sequence number in GoSysExit.
        name, args = "GoSysExit", args + [0]
    names = EVENTS[NUMBERS[name]][2].split()
    fields = [f"{key}={value}" for key, value in zip(names, args)]
    keys = {"GoStartLabel": ["label"], "UserTaskCreate": ["name"], "UserRegion": ["name"], "STWStart": ["kind"],
            "UserLog": ["category", "message"]}.get(name, [])
    fields += [f"{key}={value}" for key, value in zip(keys, event.strings)]
    return " ".join([name, f"g={event.g}"] + fields)


def agree(line, expected):
    """Whether a line is as expected, where `=#` stands for any number."""
    return re.fullmatch(re.escape(expected).replace(r"=\#", r"=-?\d+"), line)


LINE = re.compile(r"(?s)^-?\d+ ([A-Z]\w+) p=(-?\d+) g=(\d+) off=(\d+)(.*)$")


def check_printed(trace, output, expected):
    """Compares each line that Go 1.22 or earlier printed with the event at the same offset, and with `expected`."""
    order = trace.ordered()
    left_out = futile(order)
    want = {event.offset: printed(event) for event in order if event.offset not in left_out}
    seen = []
    # A text may contain line ends; a line that does not begin as an event does belongs to the one before.
    lines = []
    for line in output.split("\n"):
        if LINE.match(line) or not lines:
            lines.append(line)
        elif line:
            lines[-1] += "\n" + line
    for line in filter(None, lines):
        match = LINE.match(line)
        if not match:
            raise Wrong(f"Go printed: {line}")
        name, p, g, offset, rest = match.groups()
        name = SAME.get(name, name)
        got = f"{name} g={g}{rest}"
        event = want.pop(int(offset), None)
        if event is None:
            raise Wrong(f"Go printed an event that is not there, or one twice: {line}")
        if got.rstrip("\n") != event.rstrip("\n"):
            raise Wrong(f"at offset {offset} Go printed\n  {got}\nbut the file has\n  {event}")
        seen.append(f"{name} p={p} g={g}{rest}")
    if want:
        offset = min(want)
        raise Wrong(f"Go did not print {len(want)} events, the first at offset {offset}: {want[offset]}")
    at = 0
    while expected is not None and at < min(len(seen), len(expected)) and agree(seen[at], expected[at]):
        at += 1
    if expected is not None and at < max(len(seen), len(expected)):
        raise Wrong(f"line {at + 1} of {len(seen)} is\n  {(seen + ['-'])[at]}\nbut expected, of {len(expected)}, is\n"
                    f"  {(expected + ['-'])[at]}")
    return f"{len(seen)} lines equal" + (f", {len(left_out)} of futile wakeups left out" if left_out else "")


def converted(events, version):
    """The numbers of each kind of event that Go 1.23 and later print, after their conversion.

    Before the first Gomaxprocs, which itself is not shown, a trace tells what there was when it began: a GoCreate is not
    shown, a GoStart is shown as a status, and what was created and neither started, waiting nor in a system call by then
    as a runnable goroutine's status. The first ProcStart or ProcStop of a proc is shown as its status. GoSysCall becomes
    a begin, and an end unless the goroutine's next event is a GoSysBlock, which itself is not shown. GoStartLabel becomes
    two events. Two Sync events are added."""
    counts = collections.Counter({"Sync": 2})
    following = {}  # position of an event: name of its goroutine's next one
    last = {}
    for position in range(len(events) - 1, -1, -1):
        event = events[position]
        following[position] = last.get(event.g)
        last[event.g] = event.name
    beginning, created, procs, stw = True, set(), set(), ""
    go = "goroutine {}->{} {!r}".format
    for position, event in enumerate(events):
        name, args = LOCAL.get(event.name, event.name), event.args
        if name == "Gomaxprocs":
            if beginning:
                beginning = False
                counts[go("Undetermined", "Runnable", "")] += len(created)
            else:
                counts["Metric /sched/gomaxprocs:threads"] += 1
        elif name in ("ProcStart", "ProcStop"):
            state = {"ProcStart": "Running", "ProcStop": "Idle"}
            before = {"ProcStart": "Idle", "ProcStop": "Running"}[name] if event.p in procs else "Undetermined"
            procs.add(event.p)
            counts[f"proc {before}->{state[name]}"] += 1
        elif name in ("GCStart", "GCDone"):
            counts[("RangeBegin" if name == "GCStart" else "RangeEnd") + " GC concurrent mark phase"] += 1
        elif name == "STWStart":
            reason = args[0] + (version < 1021)
            stw = {0: "", 6: "all goroutine stack trace"}.get(reason) if reason in (0, 6) else STW_1_21[reason]
            counts[f"RangeBegin stop-the-world ({stw})"] += 1
        elif name == "STWDone":
            counts[f"RangeEnd stop-the-world ({stw})"] += 1
        elif name in ("GCSweepStart", "GCSweepDone"):
            counts[("RangeBegin" if name == "GCSweepStart" else "RangeEnd") + " GC incremental sweep"] += 1
        elif name in ("GCMarkAssistStart", "GCMarkAssistDone"):
            counts[("RangeBegin" if name == "GCMarkAssistStart" else "RangeEnd") + " GC mark assist"] += 1
        elif name == "GoCreate":
            if beginning:
                created.add(args[0])
            else:
                counts[go("NotExist", "Runnable", "")] += 1
        elif name == "GoStart" and beginning:
            created.discard(args[0])
            counts[go("Undetermined", "Running", "")] += 1
        elif name in ("GoStart", "GoStartLabel"):
            counts[go("Runnable", "Running", "")] += 1
            counts["Label"] += name == "GoStartLabel"
        elif name == "GoEnd":
            counts[go("Running", "NotExist", "")] += 1
        elif name in STOPS:
            counts[go("Running", "Runnable", STOPS[name])] += 1
        elif name in BLOCKS:
            counts[go("Running", "Waiting", BLOCKS[name])] += 1
        elif name == "GoUnblock":
            counts[go("Waiting", "Runnable", "")] += 1
        elif name == "GoSysCall":
            counts[go("Running", "Syscall", "")] += 1
            counts[go("Syscall", "Running", "")] += following[position] != "GoSysBlock"
        elif name == "GoSysExit":
            counts[go("Syscall", "Runnable", "")] += 1
        elif name in ("GoWaiting", "GoInSyscall"):
            created.discard(args[0])
            counts[go("Undetermined", "Waiting" if name == "GoWaiting" else "Syscall", "")] += 1
        elif name == "HeapAlloc":
            counts["Metric /memory/classes/heap/objects:bytes"] += 1
        elif name == "HeapGoal":
            counts["Metric /gc/heap/goal:bytes"] += 1
        elif name == "UserTaskCreate":
            counts["TaskBegin"] += 1
        elif name == "UserTaskEnd":
            counts["TaskEnd"] += 1
        elif name == "UserRegion":
            counts["RegionEnd" if args[1] else "RegionBegin"] += 1
        elif name == "UserLog":
            counts["Log"] += 1
        elif name == "CPUSample":
            counts["StackSample"] += 1
        elif name == "FutileWakeup":
            raise Wrong("a FutileWakeup, which Go 1.23 and later refuse")
        elif name != "GoSysBlock":
            raise Wrong(f"no rule for {name}")
    return +counts


EVENT = re.compile(r"^M=-?\d+ P=-?\d+ G=-?\d+ (\w+) Time=-?\d+(.*)$")


def check_converted(trace, output):
    """Compares the numbers of events of each kind that Go 1.23 or later printed with converted()."""
    got = collections.Counter()
    for line in output.split("\n"):
        match = EVENT.match(line)
        if not match:
            continue  # a stack, or the rest of a text with line ends
        kind, rest = match.groups()
        if kind == "StateTransition":
            what, before, after = re.search(r" (Go|Proc)ID=-?\d+ (\w+)->(\w+)", rest).groups()
            if what == "Go":
                reason = re.search(r' Reason="([^"]*)"', rest).group(1)
                got[f"goroutine {before}->{after} {reason!r}"] += 1
            else:
                got[f"proc {before}->{after}"] += 1
        elif kind in ("Metric", "RangeBegin", "RangeEnd"):
            got[kind + " " + re.match(r' Name="([^"]*)"', rest).group(1)] += 1
        else:
            got[kind] += 1
    want = converted(trace.ordered(), trace.version)
    # Up to Go 1.24 no Sync events are added.
    if got["Sync"] == 0:
        del want["Sync"]
    compare(got, want, "Go's output", "the file")
    return f"{sum(got.values())} converted events in {len(+got)} kinds equal"


def compare(got, want, got_name, want_name):
    bad = [f"  {kind}: {got[kind]} in {got_name}, {want[kind]} in {want_name}"
           for kind in sorted(set(got) | set(want)) if got[kind] != want[kind]]
    if bad:
        raise Wrong("different numbers of events:\n" + "\n".join(bad))


def check_kinds(trace, lines):
    """Compares the program's own counts with those of the file."""
    counted = collections.Counter()
    for line in lines:
        match = re.match(r"^kind (\w+) (\d+)$", line)
        if match:
            counted[SAME.get(match.group(1), match.group(1))] += int(match.group(2))
    if not counted:
        raise Wrong("the program counted nothing (no line `kind NAME COUNT`)")
    compare(counted, trace.counts, "the program's counts", "the file")
    return f"{sum(counted.values())} events in {len(+counted)} kinds as counted"


def release_number(release):
    major, minor = release.split(".")[:2]
    return int(major) * 1000 + int(minor)


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    strict = arguments[0] == "-s"
    path, said = arguments[strict], []
    del arguments[:strict + 1]
    expected = None
    try:
        with open(path, "rb") as file:
            trace = Trace(file.read(), strict)
        trace.ordered()
        said.append(f"{len(trace.events)} events of {trace.version // 1000}.{trace.version % 1000}")
        while arguments:
            option = arguments.pop(0)
            if option == "-k":
                with open(arguments.pop(0), encoding="utf-8", errors="replace") as file:
                    said.append(check_kinds(trace, file.read().split("\n")))
            elif option == "-g":
                release = arguments.pop(0)
                with open(arguments.pop(0), encoding="utf-8", errors="replace") as file:
                    output = file.read()
                if release_number(release) <= 1022:
                    said.append(f"Go {release}: " + check_printed(trace, output, expected))
                else:
                    said.append(f"Go {release}: " + check_converted(trace, output))
            elif option == "-e":
                with open(arguments.pop(0), encoding="utf-8", errors="replace") as file:
                    expected = [re.sub(r"^\w+", lambda match: SAME.get(match.group(), match.group()), line)
                                for line in file.read().split("\n") if line]
            else:
                sys.exit(f"check_trace.py: unknown option {option}")
    except Wrong as error:
        print(f"{path}: {error}")
        return 1
    print(f"{path}: " + "; ".join(said))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
