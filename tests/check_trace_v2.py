#!/usr/bin/env python3
"""Compares Go's output for a v2 trace (format 1.22 and later) with what the program emitted.

    check_trace_v2.py TRACE -w WIRE [-k KINDS] [-e EXPECT] [-g RELEASE OUTPUT]...

WIRE is the output of `go tool trace -d=wire`: every event in file order, from Go's own decoder. KINDS has lines
`kind NAME COUNT`, as the examples print with -k. OUTPUT is the output of RELEASE's `-d=1` (1.22, 1.23) or `-d=parsed`
(later): the events in order, after Go has checked them. EXPECT has regular expressions, one per line, each of which
must match a line of every OUTPUT, in order.

Three independent accounts must agree:

    1. The program's counts equal those of WIRE, kind by kind.
    2. The counts of each kind of event in OUTPUT follow from the kinds in WIRE.
    3. Every string or stack id in WIRE is in the tables of its generation, before the batch that refers to it unless
       the file permits otherwise; generations are numbered in order; the first batch of each has the frequency, once.

Go's wire decoder does not know the events of experiments and stops at the first one. If WIRE ends like this, only the
program's counts and OUTPUT are compared.

Prints one line; exit status 0 if all agree, 1 if not.
"""

import collections
import re
import sys

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
FRAME = {"EventBatch", "ExperimentalBatch", "Stacks", "Strings", "CPUSamples", "Sync", "EndOfGeneration"}  # not counted alike
STRUCTURE = FRAME | {"Stack", "String", "Frequency", "ClockSnapshot"}


class Wrong(Exception):
    pass


class Wire:
    """The counts of WIRE, and the rules for its tables."""

    def __init__(self, path):
        self.counts = collections.Counter()
        self.generations = 0
        self.last = None  # generation's number
        self.complete = True
        strings, stacks, used_strings, used_stacks = {0}, {0}, set(), set()
        frequencies = 0

        def end_of_generation():
            if not self.generations:
                return
            if frequencies != 1:
                raise Wrong(f"generation {self.generations} has {frequencies} frequencies")
            for what, used, there in (("strings", used_strings, strings), ("stacks", used_stacks, stacks)):
                if used - there:
                    raise Wrong(f"generation {self.generations} lacks {what} {sorted(used - there)[:5]}")

        for line in open(path, encoding="utf-8", errors="replace"):
            if line.startswith("Trace "):
                self.version = line.split("Go")[-1].strip()
                continue
            if line.startswith("invalid event type: "):
                self.complete = False
                return
            if line[0] in " \t":
                if "func=" in line:  # a frame of a stack
                    used_strings.update(int(x) for x in re.findall(r"(?:func|file)=(\d+)", line))
                continue
            name, _, rest = line.rstrip("\n").partition(" ")
            self.counts[name] += 1
            if name in ("EventBatch", "ExperimentalBatch"):
                generation = int(re.search(r"gen=(\d+)", rest).group(1))
                if generation != self.last:
                    end_of_generation()
                    if self.last is not None and generation != self.last + 1:
                        raise Wrong(f"generation {generation} follows {self.last}")
                    self.last = generation
                    self.generations += 1
                    strings, stacks, used_strings, used_stacks = {0}, {0}, set(), set()
                    frequencies = 0
                continue
            if name == "Frequency":
                frequencies += 1
            for key, value in re.findall(r"(\w+)=(\d+)", rest.partition("data=")[0]):
                value = int(value)
                if name == "String" and key == "id":
                    if value in strings:
                        raise Wrong(f"string {value} twice in generation {self.generations}")
                    strings.add(value)
                elif name == "Stack" and key == "id":
                    if value in stacks:
                        raise Wrong(f"stack {value} twice in generation {self.generations}")
                    stacks.add(value)
                elif key.endswith("stack"):
                    used_stacks.add(value)
                elif key.endswith("_string"):
                    used_strings.add(value)
        end_of_generation()
        if not self.generations:
            raise Wrong("no generation")


def compare_kinds(wire, path):
    said = collections.Counter()
    for line in open(path, encoding="utf-8"):
        if line.startswith("kind "):
            _, name, count = line.split()
            said[name] = int(count)
    if not wire.complete:
        wire.counts, wire.generations = said, None
        return sum(said[name] for name in set(said) - STRUCTURE)
    for name in sorted((set(said) | set(wire.counts)) - FRAME):
        if said.get(name, 0) != wire.counts[name]:
            raise Wrong(f"{name}: the program counted {said.get(name, 0)}, the file has {wire.counts[name]}")
    return sum(said.get(name, 0) for name in set(said) - STRUCTURE)


def compare_output(wire, release, path, expect):
    counts = collections.Counter()
    wanted = list(expect)
    thefts = 0  # a goroutine that ends in a system call loses its proc, which Go tells as a theft
    for line in open(path, encoding="utf-8", errors="replace"):
        match = re.match(r"M=-?\d+ P=-?\d+ G=-?\d+ (\w+)", line)
        if match:
            counts[match.group(1)] += 1
            thefts += bool(re.match(r"M=-?\d+ P=\d+ .* Syscall->NotExist", line))
        if wanted and re.search(wanted[0], line):
            wanted.pop(0)
    if wanted:
        raise Wrong(f"Go {release} does not print: {wanted[0]}")
    last = release not in ("1.22", "1.23", "1.24")  # they have one more, at the end
    want = collections.Counter({"Sync": counts["Sync"] if wire.generations is None else wire.generations + last,
                                "StateTransition": thefts})
    for kind, count in wire.counts.items():
        if kind in KINDS:
            # A switch is a wake-up, a block or end, and a start.
            want[KINDS[kind]] += count * (3 if kind.startswith("GoSwitch") else 1)
        elif kind not in STRUCTURE:
            raise Wrong(f"Go knows a kind {kind} that this script does not")
    if counts != want:
        differences = [f"{kind} {counts[kind]}, not {want[kind]}" for kind in sorted(set(counts) | set(want))
                       if counts[kind] != want[kind]]
        raise Wrong(f"Go {release} finds: " + "; ".join(differences))


def main():
    arguments = sys.argv[2:]
    kinds = expect = wire = None
    outputs = []
    while arguments:
        option = arguments.pop(0)
        if option == "-g":
            outputs.append((arguments.pop(0), arguments.pop(0)))
        elif option == "-k":
            kinds = arguments.pop(0)
        elif option == "-e":
            expect = arguments.pop(0)
        elif option == "-w":
            wire = arguments.pop(0)
    lines = [line.rstrip("\n") for line in open(expect, encoding="utf-8")] if expect else []
    try:
        wire = Wire(wire)
        if not kinds and not wire.complete:
            raise Wrong("has events of an experiment: needs the program's counts")
        events = compare_kinds(wire, kinds) if kinds else sum(wire.counts[k] for k in wire.counts if k not in STRUCTURE)
        for release, path in outputs:
            compare_output(wire, release, path, lines)
    except Wrong as wrong:
        print(f"{sys.argv[1]}: {wrong}")
        return 1
    print(f"{sys.argv[1]}: {events} events in {wire.generations or 'some'} generations; Go " + ", ".join(r for r, _ in outputs))
    return 0


sys.exit(main())
