#!/usr/bin/env python3
"""`gotrace profile` of parts of traces whose times are known (chain and carried in made_trace.py), and wrong uses of it.

    tests/tool/profile_parts.py

Profiles of whole traces are compared with Go's by profiles_agree_with_go.py.
"""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import made_trace  # noqa: E402

TOOL = "build/examples/gotrace"
# Arguments, and the expected folded stacks with their values.
KNOWN = [
    ("--sync", {"main.main;sync.Wait": 64000, "main.worker": 30000}),
    ("--network", {"main.helper": 10000}),
    ("--blocked", {"main.main;sync.Wait": 64000, "main.worker": 30000, "main.helper": 10000}),
    ("--syscall", {"main.worker": 5000}),
    ("--scheduler", {"(unknown)": 2000, "main.helper;main.unlock": 3000, "main.main": 3000, "main.worker": 5000}),
    ("--create", {"main.main": 1}),
    ("--cpu", {}),
    # Waits cut at both ends; at the end; at the start.
    ("--sync --from 25000 --to 45000", {"main.main;sync.Wait": 20000, "main.worker": 20000}),
    ("--network --from 25000 --to 35000", {"main.helper": 5000}),
    ("--sync --from 60000", {"main.main;sync.Wait": 10000}),
    ("--syscall --from 56us --to 57us", {"main.worker": 1000}),
    ("--scheduler --from 39us --to 51us", {"(unknown)": 2000, "main.helper;main.unlock": 1000}),
    # The worker is created at 5000 and runs from 8000 on.
    ("--scheduler --to 9000", {"main.main": 3000}),
    ("--scheduler --to 7000", {"main.main": 2000}),
    ("--scheduler --from 6000 --to 9000", {"main.main": 2000}),
    ("--create --to 4999", {}),
    ("--create --from 5000 --to 5000", {"main.main": 1}),
    ("--create --from 5001", {}),
]
# A wait that began in a generation before the part.
CARRIED = [("--sync --from 150us --to 250us", {"main.worker": 100000})]
WRONG = ["", "--sync --cpu", "--sync --sync", "--sync=1", "--sync --from 9 --to 8"]


def run(arguments, trace):
    return subprocess.run([TOOL, "profile", *arguments.split(), trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def main():
    with tempfile.TemporaryDirectory() as directory:
        trace, carried = os.path.join(directory, "chain.trace"), os.path.join(directory, "carried.trace")
        data = made_trace.chain().data()
        for path, content in ((trace, data), (carried, made_trace.carried().data())):
            with open(path, "wb") as out:
                out.write(content)
        for path, arguments, known in [(trace, *case) for case in KNOWN] + [(carried, *case) for case in CARRIED]:
            done = run(arguments + " --folded", path)
            assert done.returncode == 0, "%s: %s" % (arguments, done.stderr)
            found = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in done.stdout.decode().split("\n")[:-1]}
            assert found == known, "%s: %s" % (arguments, found)
        for arguments in WRONG:
            done = run(arguments, trace)
            assert done.returncode == 2 and not done.stdout and done.stderr, "'%s': %d" % (arguments, done.returncode)
        # A broken trace gives no profile or, with --partial, that of the events before the error.
        with open(trace, "wb") as out:
            out.write(data + b"\1\2")
        done = run("--sync --folded", trace)
        assert done.returncode == 1 and not done.stdout and done.stderr
        done = run("--sync --folded --partial", trace)
        assert done.returncode == 0 and done.stderr and done.stdout == b"main.main;sync.Wait 64000\nmain.worker 30000\n", done
    print("%d known profiles" % len(KNOWN + CARRIED))


if __name__ == "__main__":
    sys.exit(main())
