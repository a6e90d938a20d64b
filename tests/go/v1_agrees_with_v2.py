#!/usr/bin/env python3
"""The same program traced in 1.11 and in 1.23 gives equivalent traces: Go 1.27 finds the same goroutines in both, with
the same transitions in the same order, for the same reasons, with the same stacks; and the same tasks, regions and
logs.

Known and correct differences, which are removed here:

    - v1 represents a goroutine older than the trace by a create event and a block without a stack, v2 by its status.
    - v1 cannot create a blocked goroutine: it is created, and blocks at the same time.
    - For a block without a reason, readers of v1 give none, readers of v2 "unspecified".
"""

import os
import re
import subprocess
import sys
import tempfile

from pages import parsed_events

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def story(trace):
    said = subprocess.run([os.path.join(ROOT, "tests/go/open_in_go.sh"), "--print", "1.27", trace], stdout=subprocess.PIPE,
                          universal_newlines=True)
    if said.returncode:
        print(said.stdout.strip()[-500:])
        sys.exit(said.returncode)
    goroutines, names, annotations = {}, {}, []
    for event in parsed_events(said.stdout.splitlines()):
        if event.kind in ("TaskBegin", "TaskEnd", "RegionBegin", "RegionEnd", "Log"):
            text = re.sub(r"\b(ID|Task|Parent)=\d+ ?", "", event.text)
            annotations.append((names.get(event.g), event.kind, text, tuple(event.stacks.get("Stack", ()))))
        match = re.search(r"GoID=(\d+) (\w+)->(\w+)", event.text)
        if event.kind != "StateTransition" or not match:
            continue
        g, old, new = int(match.group(1)), match.group(2), match.group(3)
        reason = re.search(r'Reason="([^"]*)"', event.text)
        stack = tuple(event.stacks.get("TransitionStack", ()))
        if old == new:
            continue
        if g not in names:
            name = stack[-1][0] if stack else "?"
            names[g] = f"{name} {sum(n.startswith(name + ' ') for n in names.values())}"
            goroutines[names[g]] = [("begins", new)]
            continue
        story_of = goroutines[names[g]]
        if new == "Waiting" and story_of == [("begins", "Runnable")]:
            story_of[0] = ("begins", "Waiting")
            continue
        story_of.append((old, new, reason.group(1).replace("unspecified", "") if reason else "", stack))
    return goroutines, annotations


def main():
    if subprocess.run(["make", "-s", "build/tests/quick/test_story"], cwd=ROOT).returncode:
        return 1
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([os.path.join(ROOT, "build/tests/quick/test_story")], check=True, cwd=ROOT,
                       env=dict(os.environ, GOTRACE_TEST_DIR=directory))
        (old, old_notes), (new, new_notes) = (story(os.path.join(directory, f"story-{form}.trace")) for form in (1011, 1023))
    wrong = 0
    for name in sorted(set(old) | set(new)):
        a, b = old.get(name), new.get(name)
        if a == b:
            continue
        wrong += 1
        print(f"{name}: {len(a or ())} transitions in 1.11, {len(b or ())} in 1.23")
        for x, y in zip(a or (), b or ()):
            if x != y:
                print(f"    1.11: {x}\n    1.23: {y}")
                break
    if old_notes != new_notes:
        wrong += 1
        print("the annotations differ:", next(((x, y) for x, y in zip(old_notes, new_notes) if x != y), "in number"))
    print(f"{len(new)} goroutines, {sum(map(len, new.values()))} transitions, {len(new_notes)} annotations; {wrong} wrong")
    return 1 if wrong or len(new) < 5 or len(new_notes) < 30 else 0


sys.exit(main())
