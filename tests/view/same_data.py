#!/usr/bin/env python3
"""The tool as WebAssembly, as the page runs it, and the tool itself: the same output, messages and status.

    tests/view/same_data.py [-n COPIES] TRACE...

For each trace, whole and broken in COPIES ways, the data of gotrace view, how long what begins in a time lasts, and what info, profile, path, check and dump print, of all and of a time.
"""

import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile

TOOL, WASM = "build/examples/gotrace", "build/wasm/view.wasm"
COMMANDS = (["view", "--batches"], ["view", "--lengths", "1000-1000000000"], ["view", "--data", "-o", "-"], ["view", "--data", "-o", "-", "--from", "1ms", "--partial", "--lenient"], ["info", "--json"], ["info"],
            ["info", "--json", "--from", "1000ns", "--to", "1000000000ns"], ["info", "--json", "--from", "0ns", "--to", "2000000ns", "--go", "1"],
            ["profile", "--blocked", "--folded", "--from", "1000ns", "--to", "1000000000ns"], ["profile", "--cpu", "--folded"], ["path", "--go", "1"], ["check"], ["dump", "--partial"])


def outcome(command):
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode, done.stdout, b"\n".join(line for line in done.stderr.split(b"\n") if b"ExperimentalWarning" not in line and b"(Use `node" not in line)


def broken(data, generator):
    """A copy with some bytes changed, or cut."""
    data = bytearray(data)
    for _ in range(generator.choice((0, 1, 1, 5))):
        data[generator.randrange(len(data))] = generator.randrange(256)
    if generator.random() < 0.3:
        del data[generator.randrange(len(data)):]
    return bytes(data)


def main():
    arguments, copies = sys.argv[1:], 3
    if not os.path.exists(WASM) or not shutil.which("node"):
        print("needs node; clang, lld, wasi-libc and libclang-rt-dev-wasm32, to build %s (make deps)" % WASM)
        sys.exit(77)
    if arguments[0] == "-n":
        copies, arguments = int(arguments[1]), arguments[2:]
    generator = random.Random(1)
    statuses = collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace")
        for trace in arguments:
            with open(trace, "rb") as file:
                data = file.read()
            for i in range(1 + copies):
                with open(path, "wb") as file:
                    file.write(broken(data, generator) if i else data)
                for command in COMMANDS if not i else [generator.choice(COMMANDS)]:
                    native = outcome([TOOL, *command, path])
                    there = outcome(["node", "--no-warnings", "tests/view/run_wasm.mjs", WASM, *command, path])
                    if native != there:
                        sys.exit("%s, copy %d: %s differs: %s\n%s\n%s" % (trace, i, command, [a == b for a, b in zip(native, there)], native[2], there[2]))
                    statuses[native[0]] += 1
    assert statuses[0] and (statuses[1] or not copies), statuses
    print("status and number of outputs:", dict(statuses))


if __name__ == "__main__":
    main()
