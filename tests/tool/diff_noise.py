#!/usr/bin/env python3
"""`gotrace diff` marks as many changes between two runs of one program as its help says, and marks a real change.

    tests/tool/diff_noise.py [-n RUNS] [-s SEED]

Simulates runs of a program in which nothing is independent: workers that are woken together share procs, so each waits for
those before it; jobs take longer while the machine is disturbed, which lasts for several rounds. Each run is compared
with the three that follow. Of the averages and rates that are compared, one in 370 should be marked. All rows of a pair
depend on the same disturbances, so the number varies: twice as many pass, and some must be marked, or the limit would be
too high. A run whose jobs take twice as long must be told from the others.
"""
import argparse
import heapq
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import made_trace  # noqa: E402
from made_trace import GO_BLOCK, GO_CREATE, GO_START, GO_STATUS, GO_UNBLOCK, NO_ID, PROC_STATUS, RUNNING, WAITING  # noqa: E402

TOOL = "build/examples/gotrace"
WORKERS, PROCS, ROUNDS = 16, 4, 400
CHANCE = 1 / 370


def simulate(seed, slower=1.0):
    """A run. Goroutine 1 wakes all workers in each round; it has a proc of its own, and so have those who run workers."""
    rng = random.Random(seed)
    t, main = made_trace.running_main()
    stacks = [t.stack("main.worker%d" % i) for i in range(WORKERS)]
    receive = t.string("chan receive")
    for p in range(PROCS):
        t.event(2 + p, 2, PROC_STATUS, 2 + p, 1)
    numbers = [0] * WORKERS
    for i in range(WORKERS):
        t.event(1, 10 + i, GO_STATUS, 2 + i, NO_ID, WAITING)
    now, disturbed = 1000, 0.0
    for _ in range(ROUNDS):
        disturbed = 0.8 * disturbed + rng.gauss(0, 0.2)
        jobs = rng.sample(range(WORKERS), WORKERS)
        free = [(now + 100 * WORKERS, p) for p in range(PROCS)]
        heapq.heapify(free)
        for place, worker in enumerate(jobs):
            t.event(1, now + 100 * place, GO_UNBLOCK, 2 + worker, numbers[worker] + 1, main)
            begin, p = heapq.heappop(free)
            end = begin + 100 + int(slower * math.exp(disturbed) * rng.expovariate(1 / 20000))
            t.event(2 + p, begin, GO_START, 2 + worker, numbers[worker] + 2)
            t.event(2 + p, end, GO_BLOCK, receive, stacks[worker])
            numbers[worker] += 2
            heapq.heappush(free, (end + 50, p))
        now = max(time for time, _ in free) + 1000 + int(rng.expovariate(1 / 30000))
    t.event(1, now, GO_BLOCK, receive, main)
    return t.data()


def compare(a, b):
    """(numbers compared, marked ones, rows)"""
    out = subprocess.run([TOOL, "diff", "--json", a, b], check=True, stdout=subprocess.PIPE).stdout.decode()
    rows = [json.loads(line) for line in out.splitlines()]
    compared = sum(1 for row in rows if row["a"]["count"] > 1 and row["b"]["count"] > 1)
    return 2 * compared, sum(row["average_beyond_noise"] + row["rate_beyond_noise"] for row in rows), rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=60, help="number of runs (60)")
    parser.add_argument("-s", type=int, default=1, help="seed (1)")
    args = parser.parse_args()
    compared = marked = 0
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, str(i)) for i in range(args.n)]
        for i, path in enumerate(paths):
            with open(path, "wb") as out:
                out.write(simulate(args.s * 1000 + i))
        for i, a in enumerate(paths):
            for b in paths[i + 1:i + 4]:
                numbers, beyond, _ = compare(a, b)
                compared, marked = compared + numbers, marked + beyond
        slow = os.path.join(directory, "slow")
        with open(slow, "wb") as out:
            out.write(simulate(args.s * 1000 + args.n, 2))
        told = [row["name"] for row in compare(paths[0], slow)[2] if row["kind"] == "running" and row["average_beyond_noise"]]
    print("%d of %d numbers marked, one in %.0f; of the slower program, the running times of %d functions" %
          (marked, compared, compared / marked if marked else math.inf, len(told)))
    sys.exit(0 if 0 < marked <= 2 * CHANCE * compared and len(told) > WORKERS / 2 else 1)


main()
