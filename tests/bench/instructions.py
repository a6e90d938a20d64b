#!/usr/bin/env python3
"""The number of instructions that the calls of each row of tests/bench/events.c take.

    instructions.py ROWS CALLGRIND

ROWS is the output of `events -c`: each line has the names of a row's results, each with the number of calls made.
CALLGRIND.1, CALLGRIND.2, ... are callgrind's counts for the same rows. (Its own counts of calls include earlier calls.)
Prints lines `instructions NAME NUMBER`: instructions per call in the tracer's functions and everything they call,
including new chunks in between.
"""
import re
import sys

JOB = ["gotrace_go_create_at", "gotrace_go_start", "gotrace_go_end"]
WAIT = ["gotrace_wait_begin_at", "gotrace_wait_end"]

# The functions of a result, by its name without suffixes; others are those of regions.
FUNCTIONS = {
    "region_begin": ["gotrace_region_begin_at"],
    "region_end": ["gotrace_region_end_at"],
    "string": ["gotrace_region_begin_at"],
    "string_new": ["gotrace_region_begin_at"],
    "log": ["gotrace__log_constant"],
    "task_begin": ["gotrace__task_begin_constant"],
    "task_end": ["gotrace_task_end_at"],
    "go_start": ["gotrace_go_start"],
    "go_block": ["gotrace_go_block_at"],
    "go_unblock": ["gotrace_go_unblock_at"],
    "go_stop": ["gotrace_go_stop_at"],
    "go_end": ["gotrace_go_end"],
    "go_create": ["gotrace_go_create_at"],
    "go_switch": ["gotrace_go_switch_at"],
    "syscall_begin": ["gotrace_go_syscall_begin_at"],
    "syscall_end": ["gotrace_go_syscall_end"],
    "proc_start": ["gotrace_proc_start"],
    "proc_stop": ["gotrace_proc_stop"],
    "job": JOB,
    "wait": WAIT,
    "site": ["gotrace_site_make"],
    "untracked_job": JOB,
    "untracked_wait": WAIT,
}
REGIONS = ["gotrace_region_begin_at", "gotrace_region_end_at"]


def costs(path):
    """Instructions in the calls of each function in one of callgrind's files."""
    names, found, callee, call = {}, {}, None, False
    with open(path) as file:
        for line in file:
            if line.startswith(("cfn=", "fn=")):
                number, name = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line).groups()
                if name:
                    names[number] = name
                if line.startswith("cfn="):
                    callee = names[number]
            elif line.startswith("calls="):
                call = True
            elif call:
                found[callee] = found.get(callee, 0) + int(line.split()[1])
                call = False
    return found


def main(rows, callgrind):
    with open(rows) as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            found = costs("%s.%d" % (callgrind, number))
            words = line.split()
            for name, calls in zip(words[::2], words[1::2]):
                base = re.sub(r"^off_|(_v1)?(_seq_cst)?$", "", name)
                cost = sum(found.get(f, 0) for f in FUNCTIONS.get(base, REGIONS))
                if cost:
                    print("instructions %s %.0f" % (name, cost / int(calls)))


main(*sys.argv[1:])
