#!/usr/bin/env python3
"""`gotrace profile` finds the same stacks, counts and nanoseconds as the pprof endpoints of `go tool trace`, and the times
that these leave out.

    tests/tool/profiles_agree_with_go.py KIND,... TRACE...      KIND: a profile that must be non-empty for some trace

For every trace and every kind of profile, Go's records (tests/go/print_profiles.go) are compared with the tool's output
in pprof's format, which Go's own package reads, and with its folded stacks. Traces that Go rejects are not compared.
Among events of equal times, Go takes one at random (see decoder_agrees_with_go.py) and moves those that come late. Such
a trace, which its list of times reveals, must have the same stacks and counts, and only one in five may be like this.

print_profiles.go adds what Go leaves out, and states what else differs: ids that are reused.
"""
import collections
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

TOOL = "build/examples/gotrace"
KINDS = ["network", "sync", "syscall", "scheduler", "cpu", "create"]
COUNTED = ["cpu", "create"]
GO_FRAMES = 128  # the innermost frames by which Go distinguishes stacks; it omits the others


def run(*command, env=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    if done.returncode:
        sys.exit("%s: status %d, %s" % (" ".join(command)[:300], done.returncode, done.stderr.decode("utf-8", "replace")[-1000:]))
    return done.stdout


def chunks(items, size=50):
    return [items[i:i + size] for i in range(0, len(items), size)]


def print_profiles(program, *arguments):
    return [json.loads(line) for line in run(program, *arguments).decode().splitlines()]


def add_up(records):
    """{stack: (count, nanoseconds)}"""
    found = collections.Counter(), collections.Counter()
    for record in records:
        stack = tuple(tuple(frame) for frame in record["stack"][:GO_FRAMES])
        if stack == (("", "", 0),):
            stack = ()  # Go compares pcs, so a frame without a pc counts as none
        found[0][stack] += record["count"]
        found[1][stack] += record["time"]
    return {stack: (found[0][stack], found[1][stack]) for stack in found[0]}


def folded_name(name):
    return re.sub("[\0-\x1f\x7f]", "?", name).replace(";", ":") or "?"


def fold(records, kind):
    """{names of functions, innermost first: value}"""
    found = collections.Counter()
    for stack, values in add_up(records).items():
        found[tuple(folded_name(frame[0]) for frame in stack) or ("(unknown)",)] += values[0 if kind in COUNTED else 1]
    return found


def read_folded(data):
    found = collections.Counter()
    for line in data.decode("latin-1").split("\n")[:-1]:
        stack, value = line.rsplit(" ", 1)
        found[tuple(stack.split(";")[::-1][:GO_FRAMES])] += int(value)
    return found


def differences(one, two):
    return ["%s: %s, %s" % (stack, one.get(stack), two.get(stack)) for stack in sorted(one.keys() | two.keys(), key=str)
            if one.get(stack) != two.get(stack)]


@functools.lru_cache(maxsize=4)
def times_differ(trace):
    """Whether some events have other times in Go than in the tool; never in v1."""
    theirs = subprocess.run(["sh", "tests/go/oracle.sh", trace], stdout=subprocess.PIPE).stdout
    ours = run(TOOL, "dump", trace)
    # With the thread: if two threads are taken in the other order, the times are the same, but belong to the other one.
    theirs = [(int(time), int(m)) for m, time in re.findall(rb"^M=(\S+) P=\S+ G=\S+ \w+ Time=(\d+)", theirs, re.MULTILINE)]
    ours = {(int(time), int(m or -1)) for time, m in re.findall(rb"^(\d+) [A-Z]\w*(?: m=(\d+))?", ours, re.MULTILINE)}
    return bool(theirs) and {(time - theirs[0][0], m) for time, m in theirs} != ours  # empty for v1


def without_times(stacks):
    return {stack: values[0] for stack, values in stacks.items()}


def compare(program, traces, directory):
    """({kind: number of profiles that are not empty}, traces in which Go moves times, what differs)"""
    theirs, wrong = {}, []
    for part in chunks(traces):
        for printed in print_profiles(program, *part):
            if "error" not in printed:
                theirs[printed["file"], printed["kind"]] = printed["records"]
    ours, names = {}, {}
    for trace, kind in theirs:
        path = os.path.join(directory, "%d.pb" % len(names))
        run(TOOL, "profile", "--" + kind, "-o", path, trace)
        names[path] = trace, kind
    for part in chunks(list(names)):
        for printed in print_profiles(program, "-p", *part):
            if "error" in printed:
                sys.exit("Go does not read the profile of %s %s: %s" % (*names[printed["file"]], printed["error"]))
            ours[names[printed["file"]]] = printed["records"]
    moved = set()
    for key in theirs:
        trace, kind = key
        mine, folded = add_up(ours[key]), read_folded(run(TOOL, "profile", "--" + kind, "--folded", trace))
        different = differences(add_up(theirs[key]), mine)
        if different and times_differ(trace):
            moved.add(trace)
            different = differences(without_times(add_up(theirs[key])), without_times(mine))
        if any(record["values"] != (1 if kind in COUNTED else 2) for record in ours[key]):
            different.append("samples with a wrong number of values")
        different += differences(fold(ours[key], kind), folded)
        if different:
            wrong.append("\n    ".join(["%s, %s: %d differences" % (trace, kind, len(different))] + different[:4]))
    if len(moved) * 5 > len({trace for trace, _ in theirs}):
        wrong.append("Go moves times of too many traces: %s" % " ".join(sorted(moved)))
    return {kind: sum(1 for key in theirs if key[1] == kind and theirs[key]) for kind in KINDS}, moved, wrong


def main():
    program = subprocess.run(["tests/go/profiles.sh"], stdout=subprocess.PIPE)
    if program.returncode:
        sys.exit(program.returncode)
    with tempfile.TemporaryDirectory() as directory:
        filled, moved, wrong = compare(program.stdout.decode().strip(), sys.argv[2:], directory)
    for line in wrong:
        print(line)
    print("profiles that are not empty: %s; %d traces with moved times, %d profiles differ" %
          (", ".join("%d %s" % (filled[kind], kind) for kind in KINDS), len(moved), len(wrong)))
    sys.exit(1 if wrong or not all(filled[kind] for kind in sys.argv[1].split(",")) else 0)


if __name__ == "__main__":
    main()
