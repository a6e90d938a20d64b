"""Ends a recorded program at random moments, and compares its trace with what the program itself noted in shared memory.

    tests/record/killed.py TOOL PROGRAM RUNS [TRACE]     leaves the last trace in TRACE

With `gotrace record` a trace is complete however the program ends: of each thread it has the waits that have
ended, and those that have begun but for one.
"""

import collections
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile

THREADS = 3
WAYS = {"kill": -9, "crash": -11, "abort": -6, "_exit": 0}


def waits_in(tool, trace):
    """Of each thread, in the order of creation: how many waits begin and end in the trace."""
    begun, ended, order = collections.Counter(), collections.Counter(), []
    dump = subprocess.run([tool, "dump", "--json", trace], stdout=subprocess.PIPE, check=True)
    for line in dump.stdout.splitlines():
        event = json.loads(line)
        args = event["args"]
        if event["event"] == "GoCreate":
            order.append(args["new_g"])
        elif event["event"] == "GoBlock":
            assert args["reason_string"] == "sleep", event
            assert begun[event["g"]] == ended[event["g"]], "a wait in a wait"
            begun[event["g"]] += 1
        elif event["event"] == "GoUnblock":
            ended[args["g"]] += 1
            assert begun[args["g"]] == ended[args["g"]], "a wait that ends twice"
    return [(begun[g], ended[g]) for g in order[1:]]  # the first is main


def main():
    tool, program, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = random.randrange(10**6)
    random.seed(seed)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sleeps = 0
    with tempfile.TemporaryDirectory() as directory:
        log, trace = os.path.join(directory, "log"), os.path.join(directory, "trace")
        for run in range(runs):
            way = list(WAYS)[run % len(WAYS)]
            with open(log, "wb") as file:
                file.write(bytes(16 * THREADS))
            ended = subprocess.run([tool, "record", "--no-symbolize", "--no-sample", "--no-switches", "-o", trace, program, log, way, str(random.randrange(60000))],
                                   stderr=subprocess.PIPE, check=False)
            where = "run %d of seed %d, %s" % (run, seed, way)
            assert ended.returncode == WAYS[way], (where, ended)
            subprocess.run([tool, "check", trace], stdout=subprocess.DEVNULL, check=True)
            with open(log, "rb") as file:
                noted = struct.unpack("<%dQ" % (2 * THREADS), file.read())
            traced = waits_in(tool, trace)
            traced += [(0, 0)] * (THREADS - len(traced))  # killed before they began
            for thread, (begun, done) in enumerate(traced):
                least, most = noted[2 * thread + 1], noted[2 * thread]
                assert least <= begun <= most, "%s: thread %d has noted %d to %d sleeps, and the trace has %d" % (where, thread, least, most, begun)
                assert least <= done <= begun, "%s: thread %d has noted %d whole sleeps, and the trace has %d" % (where, thread, least, done)
            sleeps += sum(noted[1::2])
        if len(sys.argv) > 4:
            os.replace(trace, sys.argv[4])
    assert sleeps > runs * 10, "nothing was tested: %d sleeps" % sleeps
    print("%d runs, %d sleeps" % (runs, sleeps))


main()
