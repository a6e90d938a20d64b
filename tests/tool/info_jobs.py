#!/usr/bin/env python3
"""`gotrace info` reports the same on one thread, on several, and with an end after that of the trace. Such an end makes
it read all events in the general way; otherwise it adds up most of them without looking at each.

    tests/tool/info_jobs.py [-n N] [-s SEED] [-k DIRECTORY] TOOL TRACE...

First for the traces; then for N changed copies of those with several generations, since reading on several threads must
also work for broken traces. -k: keeps the files for which reports differ.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

GENERAL = ("--to", "100000000s")
WAYS = [("--jobs", "1"), ("--jobs", "2"), ("--jobs", "3")]
DETAILS = [(), ("--details", "--histogram")]
AT_ONCE = 100  # files


def info(tool, paths, *options):
    """The report on each file, and the messages on all of them."""
    run = subprocess.run([tool, "info", "--json", *options, *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode not in (0, 1):
        sys.exit("gotrace info %s: status %d: %s" % (" ".join(options), run.returncode, run.stderr.decode()[:500]))
    said = {json.loads(line)["file"]: line for line in run.stdout.decode("utf-8", "replace").splitlines()}
    return said, run.stderr


def generations(tool, paths):
    return {path: json.loads(line)["trace"].get("generations", 0) for path, line in info(tool, paths)[0].items()}


def compare(tool, paths, ways):
    """The paths for which reports differ, and the difference. If only messages differ, the first path of the batch."""
    wrong = {}
    for details in DETAILS:
        wanted, errors = info(tool, paths, *details, *GENERAL)
        for way in ways:
            found, found_errors = info(tool, paths, *details, *way)
            for path in wanted.keys() | found.keys():
                if wanted.get(path) != found.get(path):
                    wrong[path] = " ".join(way + details)
            if errors != found_errors:
                wrong.setdefault(paths[0], "%s: errors %s" % (" ".join(way + details), found_errors[:200]))
    return wrong


def change(data, dice):
    """Changes a few bytes, and rarely truncates. Most changes keep the sizes of numbers, and so those of batches."""
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        at = dice.randrange(16, len(data))
        what = dice.randrange(16)
        if what == 0:
            del data[max(at, 17):]
        elif what < 4:
            data[at] ^= 0x80
        elif what < 8:
            data[at] ^= 1 << dice.randrange(7)
        elif what < 12:
            data[at] = data[at] & 0x80 | dice.randrange(128)
        else:
            data[at] = data[at] & 0x80 | (data[at] + dice.choice((1, 127))) & 0x7F
    return data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=0)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-k")
    parser.add_argument("tool")
    parser.add_argument("traces", nargs="+")
    options = parser.parse_args()
    dice = random.Random(options.s)
    wrong = {}

    def note(found):
        for path, how in found.items():
            wrong[path] = how
            print("%s: %s" % (path, how))
            if options.k:
                os.makedirs(options.k, exist_ok=True)
                shutil.copy(path, os.path.join(options.k, "%d.trace" % len(wrong)))

    note(compare(options.tool, options.traces, WAYS))
    several = [path for path, count in sorted(generations(options.tool, options.traces).items()) if count >= 3]
    if options.n and not several:
        sys.exit("no trace has three generations")
    contents = [open(path, "rb").read() for path in several]
    with tempfile.TemporaryDirectory() as directory:
        for begin in range(0, options.n, AT_ONCE):
            paths = []
            for i in range(begin, min(begin + AT_ONCE, options.n)):
                paths.append(os.path.join(directory, "%d.trace" % i))
                with open(paths[-1], "wb") as file:
                    file.write(change(bytearray(dice.choice(contents)), dice))
            note(compare(options.tool, paths, [WAYS[0], WAYS[2]]))
            for path in paths:
                os.remove(path)
    print("%d traces, %d with several generations, and %d changed copies: %d differ" %
          (len(options.traces), len(several), options.n, len(wrong)))
    sys.exit(bool(wrong))


main()
