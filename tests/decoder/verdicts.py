#!/usr/bin/env python3
"""Compares the verdicts of `gotrace check` with those of Go's reader.

    tests/decoder/verdicts.py [-n N] [-s SEED] [-k DIRECTORY]

First on traces made by hand, for which both verdicts are known: those on which Go's readers are easily misunderstood,
and those on which the decoder differs on purpose (gotrace.h, >>decoder). Then on N (default 400) traces in which threads
have events at equal times, on as many changed copies of v2 traces, fuzz/seeds and these, and as many of v1: events and
batches are changed, removed, repeated and truncated, while the sizes of v2's batches remain correct. Formats from 1.11 to
1.21 have two readers, Go 1.21's and 1.27's; both must accept. A difference is allowed only where gotrace.h documents it.
-k: keeps the files that differ.

Exit status 1 if a verdict is wrong, 77 if Go is missing.
"""

import argparse
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
GOTRACE = os.path.join(ROOT, "build/examples/gotrace")
NO_THREAD = 2**64 - 1

(EVENT_BATCH, STRINGS, STRING, CPU_SAMPLES, CPU_SAMPLE, FREQUENCY, PROC_START, PROC_STOP, PROC_STATUS, GO_CREATE, GO_BLOCK, SYSCALL_BEGIN,
 GO_STATUS, STW_BEGIN, GC_ACTIVE, GC_BEGIN, EXPERIMENT, SYNC, SNAPSHOT, END) = (
    1, 4, 5, 6, 7, 8, 10, 11, 13, 14, 20, 22, 25, 26, 28, 29, 49, 50, 51, 52)


def number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def numbers(*values):
    return b"".join(number(value) for value in values)


def header(version):
    return f"go 1.{version} trace".encode().ljust(16, b"\0")


def batch(generation, thread, *values, time=100):
    data = numbers(*values)
    return numbers(EVENT_BATCH, generation, thread, time, len(data)) + data


def experiment(number_of_it, generation, thread, *values):
    data = numbers(*values)
    return bytes([EXPERIMENT, number_of_it]) + numbers(generation, thread, 100, len(data)) + data


def sync(generation, version=22):
    if version < 25:
        return batch(generation, NO_THREAD, FREQUENCY, 15625000)
    return batch(generation, NO_THREAD, SYNC, FREQUENCY, 15625000, SNAPSHOT, 1, 2, 3, 4)


def running(proc=0, go=1, thread=0):
    return (PROC_STATUS, 1, proc, 1, GO_STATUS, 1, go, thread, 2)


def v1(version, *events):
    """Each event: its kind, then its arguments; of a string its bytes come last."""
    out = header(version)
    for kind, *values in events:
        if isinstance(values[-1], bytes):
            out += number(kind) + numbers(values[0], len(values[1])) + values[1]
        else:
            out += bytes([kind | len(values) - 1 << 6]) + numbers(*values)
    return out


V1_BATCH, V1_FREQUENCY, V1_STACK, V1_PROC_START, V1_PROC_STOP, V1_GC_START, V1_GC_DONE, V1_HEAP_ALLOC, V1_FUTILE_WAKEUP, V1_STRING = (
    1, 2, 3, 5, 6, 7, 8, 33, 36, 37)
FREQUENCY_1 = (V1_FREQUENCY, 10**9)


def v1_proc(version, proc):
    return v1(version, (V1_BATCH, 0, 100), FREQUENCY_1, (V1_BATCH, proc, 100), (V1_PROC_START, 1, 7), (V1_PROC_STOP, 1))


def v1_stack(version, size):
    """A stack whose arguments take so many bytes."""
    frames = (size - 3) // 13
    body = numbers(1, frames) + numbers(2**42, 0, 0, 2**21) * frames
    body = number(2**(7 * (size - len(body)))) + body[1:]  # as id
    return (v1(version, (V1_BATCH, 0, 100), FREQUENCY_1, (V1_PROC_START, 1, 7)) + bytes([V1_STACK | 3 << 6]) + number(len(body)) + body)


def stops(count):
    """A goroutine stops the world so often, each time for another reason."""
    strings = [value for i in range(1, count + 1) for value in (STRING, i, 2, 65 + i % 26, 65 + i // 26)]
    events = [value for i in range(1, count + 1) for value in (STW_BEGIN, 1, i, 0)]
    return header(22) + sync(1) + batch(1, NO_THREAD, STRINGS, *strings) + batch(1, 0, *running(), *events)


# Name: the trace, whether Go accepts it, whether the decoder does.
def passed_on(threads, at=0):
    """Each thread but the last gets a proc when the one before loses it, at the same time. The last one has an event when
    the one numbered `at` has the proc. If Go then sorts more than 12 threads, it may put the one that loses the proc first,
    which it does not try again."""
    data = header(22) + sync(1)
    for thread in threads:
        if thread == len(threads) - 1:
            data += batch(1, thread, PROC_STATUS, 0, 1, 2, time=105 + 10 * at)
        else:
            get = (PROC_START, 0, 0, thread) if thread else (PROC_STATUS, 0, 0, 1)
            data += batch(1, thread, *get, PROC_STOP, 10, time=100 + 10 * thread)
    return data


BY_HAND = {
    "good": (header(22) + sync(1) + batch(1, 0, *running()), True, True),
    "clock-snapshot-before-1.25": (header(22) + sync(1) + batch(1, 0, SNAPSHOT, 0, 1, 0, 0), False, False),
    "clock-snapshot-of-a-thread": (header(25) + sync(1, 25) + batch(1, 0, *running(), SNAPSHOT, 0, 1, 0, 0), False, False),
    "first-generation-without-events": (header(22) + sync(1) + sync(2) + batch(2, 0, *running()), True, True),
    "two-generations-without-events": (header(22) + sync(1) + sync(2) + sync(3) + batch(3, 0, *running()), True, True),
    "status-of-a-new-goroutine-later": (
        header(22) + sync(1) + batch(1, 0, *running()) + sync(2) + batch(2, 0, *running(go=2)), False, False),
    "strings-after-the-end": (
        header(26) + sync(1, 26) + batch(1, 0, *running()) + number(END) + batch(1, NO_THREAD, STRINGS, STRING, 1, 1, 65), True, True),
    "string-twice-after-the-end": (
        header(26) + sync(1, 26) + batch(1, 0, *running()) + number(END) +
        batch(1, NO_THREAD, STRINGS, STRING, 1, 1, 65, STRING, 1, 1, 65), False, False),
    "sync-after-the-end": (
        header(26) + sync(1, 26) + batch(1, 0, *running()) + number(END) + sync(2, 26), True, True),
    "events-after-the-end": (
        header(26) + sync(1, 26) + batch(1, 0, *running()) + number(END) + batch(2, 0, *running()), False, False),
    "empty-batch-after-the-end": (
        header(26) + sync(1, 26) + batch(1, 0, *running()) + number(END) + batch(2, 0), False, False),
    "high-bits-of-a-goroutine-status": (
        header(22) + sync(1) + batch(1, 0, PROC_STATUS, 1, 0, 1, GO_STATUS, 1, 1, 0, 2 | 1 << 62, GO_BLOCK, 1, 0, 0), True, True),
    "high-bits-of-a-proc-status": (header(22) + sync(1) + batch(1, 0, PROC_STATUS, 1, 0, 1 | 1 << 63), True, True),
    "status-beyond-the-last": (header(22) + sync(1) + batch(1, 0, PROC_STATUS, 1, 0, 1 << 63 | 5), False, False),
    "experiment": (header(23) + sync(1) + experiment(1, 1, 0, 1, 2, 3) + batch(1, 0, *running()), True, True),
    "experiment-200": (header(23) + sync(1) + experiment(200, 1, 0, 1, 2, 3) + batch(1, 0, *running()), True, True),
    "experiment-0-of-events": (header(23) + sync(1) + experiment(0, 1, 0, *running()), True, True),
    "experiment-0-of-broken-events": (header(23) + sync(1) + experiment(0, 1, 0, *running(), 255, 255), False, False),
    "experiment-0-of-strings": (
        header(22) + sync(1) + experiment(0, 1, NO_THREAD, STRINGS, STRING, 1, 1, 65) + batch(1, 0, *running()), True, True),
    "experiment-truncated-in-its-generation": (header(23) + sync(1) + batch(1, 0, *running()) + bytes([EXPERIMENT, 1, 128]), False, False),
    "proc-of-two-threads-abandoned": (
        header(22) + sync(1) + batch(1, 1, PROC_STATUS, 0, 0, 1, GO_STATUS, 0, 1, 1, 2, SYSCALL_BEGIN, 30, 1, 0) +
        batch(1, 2, PROC_STATUS, 10, 0, 1, PROC_STOP, 1) + batch(1, 3, PROC_STATUS, 100, 0, 4), True, True),
    "goroutine-with-the-id-of-none": (
        header(22) + sync(1) + batch(1, 0, PROC_STATUS, 1, 0, 1, GO_STATUS, 1, 2**64 - 1, 7, 4, GO_CREATE, 1, 5, 0, 0), False, False),
    "collection-in-a-generation-numbered-as-the-first": (
        header(26) + sync(1, 26) + batch(1, 0, *running(), GC_BEGIN, 1, 5, 0) + number(END) +
        sync(1, 26) + batch(1, 0, *running(), GC_ACTIVE, 1, 6) + number(END), False, False),
    "equal-times-of-12-threads": (passed_on(range(12)), True, True),
    "equal-times-of-14-threads": (passed_on(range(14)), False, False),
    # Formats from 1.11 on are read by Go 1.27, too, which is stricter.
    "v1-2048-bytes": (v1_stack(11, 2048), True, True),
    "v1-2049-bytes": (v1_stack(11, 2049), False, False),
    "v1-2049-bytes-in-1.10": (v1_stack(10, 2049), True, True),
    "v1-procs": (v1_proc(11, 2**31 - 1), True, True),
    "v1-proc-beyond-the-last": (v1_proc(11, 2**31), False, False),
    "v1-no-proc": (v1_proc(11, 2**64 - 1), True, True),
    "v1-proc-before-no-proc": (v1_proc(11, 2**64 - 2), False, False),
    "v1-proc-in-1.10": (v1_proc(10, 2**31), True, True),
    "v1-frequency-before-the-first-batch": (v1(11, FREQUENCY_1, (V1_BATCH, 0, 100), (V1_PROC_START, 1, 7)), False, False),
    "v1-frequency-before-the-first-batch-in-1.10": (v1(10, FREQUENCY_1, (V1_BATCH, 0, 100), (V1_PROC_START, 1, 7)), True, True),
    "v1-string-before-the-first-batch": (
        v1(11, (V1_STRING, 1, b"a"), (V1_BATCH, 0, 100), FREQUENCY_1, (V1_PROC_START, 1, 7)), True, True),
    "v1-equal-times": (
        v1(11, (V1_BATCH, 0, 100), FREQUENCY_1, (V1_HEAP_ALLOC, 1, 5), (V1_GC_DONE, 1), (V1_BATCH, 1, 100), (V1_GC_START, 2, 0, 0)),
        True, True),
    # Deliberate differences.
    "header-with-a-space": (b"go 1. 22 trace\0\0\0" + sync(1) + batch(1, 0, *running()), True, False),
    "v1-futile-wake-up": (v1(11, (V1_BATCH, 0, 100), FREQUENCY_1, (V1_PROC_START, 1, 7), (V1_FUTILE_WAKEUP, 1)), False, True),
    "v1-collection-with-the-last-number": (
        v1(11, (V1_BATCH, 0, 100), FREQUENCY_1, (V1_GC_START, 1, 2**64 - 1, 0)), True, False),
    "v1-number-of-65-bits-in-1.10": (
        v1(10, (V1_BATCH, 0, 100), FREQUENCY_1) + bytes([V1_HEAP_ALLOC | 1 << 6, 1]) + b"\xff" * 9 + b"\x7f", True, False),
    "stops-of-the-world": (stops(1024), True, True),
    "too-many-stops-of-the-world": (stops(1025), True, False),
    "v1-string-with-the-last-id": (
        v1(11, (V1_BATCH, 0, 100), FREQUENCY_1, (V1_STRING, 2**64 - 1, b"a"), (V1_PROC_START, 1, 7)), True, False),
    "experiment-truncated": (header(23) + sync(1) + batch(1, 0, *running()) + bytes([EXPERIMENT]), True, False),
    "frequency-0": (header(22) + batch(1, NO_THREAD, FREQUENCY, 0) + batch(1, 0, *running()), True, False),
    "frequency-truncated": (header(22) + batch(1, NO_THREAD, FREQUENCY), True, False),
    "string-truncated": (header(22) + sync(1) + batch(1, NO_THREAD, STRINGS, STRING), True, False),
    "snapshot-truncated": (header(25) + batch(1, NO_THREAD, SYNC, FREQUENCY, 5, SNAPSHOT, 1), True, False),
    "sample-truncated": (header(22) + sync(1) + batch(1, NO_THREAD, CPU_SAMPLES, CPU_SAMPLE, 1, 2), True, False),
}

# Verdicts of the decoder from which Go may differ: Go takes the end of a table inside an entry for the end of the
# trace, accepts a frequency of 0, and panics only if it needs the number of a string.
ON_PURPOSE = r"truncated in a number .*\(?offset \d+, (Frequency|ClockSnapshot|String|Stack|CPUSample)\)|frequency of 0|truncated before its experiment|no numbers are left after it"


def read_number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def take_apart(data):
    """The batches of a v2 trace: their headers without the size, and their contents."""
    at, batches = 16, []
    try:
        while at < len(data):
            start = at
            if data[at] == END:
                batches.append([data[at:at + 1], None])
                at += 1
                continue
            at += 2 if data[at] == 49 else 1
            for _ in range(3):
                _, at = read_number(data, at)
            head = data[start:at]
            size, at = read_number(data, at)
            batches.append([head, bytearray(data[at:at + size])])
            at += size
    except IndexError:
        pass
    return batches


def put_together(data, batches):
    out = bytearray(data[:16])
    for head, contents in batches:
        out += head if contents is None else head + number(len(contents)) + contents
    return bytes(out)


def change_bytes(data, some):
    at = some.randrange(len(data) + 1)
    size = some.choice([1, 1, 1, 2, 3, 5, 9])
    what = some.randrange(6)
    if what == 0:
        del data[at:at + size]
    elif what == 1:
        data[at:at] = bytes(some.choice([0, 1, 2, 3, 4, 25, 0x7F, 0x80, 0xFF, some.randrange(256)]) for _ in range(size))
    elif what == 2 and data:
        start = some.randrange(len(data))
        data[at:at] = data[start:start + some.randrange(1, 24)]
    elif at < len(data):
        data[at] = some.choice([0, 1, 2, 3, 4, 5, 0x80, data[at] ^ 1 << some.randrange(8), (data[at] + 1) & 0xFF, some.randrange(54)])


def changed(data, some):
    batches = take_apart(data)
    if not batches or some.randrange(8) == 0:
        data = bytearray(data)
        body = data[16:]
        for _ in range(some.randrange(1, 3)):
            change_bytes(body, some)
        return bytes(data[:16] + body)
    for _ in range(some.randrange(1, 4)):
        i = some.randrange(len(batches))
        what = some.randrange(14)
        if what == 0 and len(batches) > 1:
            del batches[i]
        elif what == 1:
            batches.insert(some.randrange(len(batches) + 1), [batches[i][0], batches[i][1] and bytearray(batches[i][1])])
        elif what == 2:
            head = bytearray(batches[i][0])
            if head[:1] == bytes([EVENT_BATCH]) and some.randrange(3) == 0:
                head[:1] = bytes([EXPERIMENT, some.choice([0, 0, 1, 2, 0x7F, 0x80, 0xFF])])
            else:
                change_bytes(head, some)
            batches[i][0] = bytes(head)
        elif batches[i][1] is not None:
            change_bytes(batches[i][1], some)
    return put_together(data, batches)


# ---------------------------------------------------------------------------------------------------------------- v1 ----

V1_NUMBERS = [0, 1, 2, 3, 127, 128, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]


def take_apart_v1(data):
    """The events of a v1 trace: kinds with the number of arguments, and arguments; strings with their bytes."""
    at, events = 16, []
    try:
        while at < len(data):
            first, values = data[at], []
            at += 1
            if first & 0x3F == V1_STRING:
                id, at = read_number(data, at)
                size, at = read_number(data, at)
                events.append([first, [id], data[at:at + size]])
                at += size
                continue
            if first >> 6 < 3:
                for _ in range((first >> 6) + 1):
                    value, at = read_number(data, at)
                    values.append(value)
            else:
                size, at = read_number(data, at)
                end = at + size
                while at < end:
                    value, at = read_number(data, at)
                    values.append(value)
            events.append([first, values, None])
    except IndexError:
        pass
    return events


def put_together_v1(data, events):
    out = bytearray(data[:16])
    for first, values, string in events:
        body = numbers(*values)
        out.append(first)
        if string is not None:
            out += body + number(len(string)) + string
        else:
            out += (number(len(body)) if first >> 6 == 3 else b"") + body
    return bytes(out)


def changed_v1(data, some):
    events = take_apart_v1(data)
    if not events or some.randrange(10) == 0:
        body = bytearray(data[16:])
        change_bytes(body, some)
        return bytes(data[:16] + body)
    for _ in range(some.randrange(1, 4)):
        i, what = some.randrange(len(events)), some.randrange(12)
        first, values, string = events[i]
        if what == 0 and len(events) > 1:
            del events[i]
        elif what == 1:
            events.insert(some.randrange(len(events) + 1), [first, list(values), string])
        elif what == 2:
            events[i][0] = first & 0xC0 | some.choice([first & 0x3F, some.randrange(64)])
        elif what == 3:
            j = some.randrange(len(events))
            events[i], events[j] = events[j], events[i]
        elif values and what < 9:  # the same number everywhere in the trace, so that it remains consistent
            old, new = some.choice(values), some.choice(V1_NUMBERS)
            for each in events:
                each[1] = [new if value == old else value for value in each[1]]
        elif values:
            values[some.randrange(len(values))] = some.choice([*V1_NUMBERS, some.randrange(40)])
    return put_together_v1(data, events)


def ours(directory, names, jobs):
    verdicts = {}
    for i in range(0, len(names), 500):
        run = subprocess.run([GOTRACE, "check", f"--jobs={jobs}"] + names[i:i + 500], cwd=directory, capture_output=True, text=True, errors="replace", timeout=300)
        if run.returncode not in (0, 1):
            sys.exit(f"gotrace check: exit status {run.returncode}\n{run.stderr}")
        for line in run.stdout.splitlines():
            name, _, said = line.partition(": ")
            verdicts[name] = None if said.startswith("ok,") else said
    return verdicts


def gos(directory):
    """By the parser of v1's own release, and by the newest one."""
    run = subprocess.run([os.path.join(ROOT, "tests/go/check_many.sh"), directory], capture_output=True, text=True, errors="replace", timeout=600)
    if run.returncode == 77:
        print((run.stdout + run.stderr).strip())
        sys.exit(77)
    if not re.search(r"^\d+ accepted, \d+ refused$", run.stdout, re.M):
        sys.exit(run.stdout + run.stderr)
    refused = {}
    for line in run.stdout.splitlines():
        match = re.match(re.escape(directory) + r"/([^:]+): (.*)", line)
        if match:
            refused.setdefault(match.group(1), match.group(2))
    return refused


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=400)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-k")
    asked = parser.parse_args()
    subprocess.run(["make", "-s", "build/examples/gotrace"], cwd=ROOT, check=True)
    some = random.Random(asked.s)
    traces = {name + ".trace": data for name, (data, _, _) in BY_HAND.items()}
    seeds = [data for name, data in traces.items() if not name.startswith(("v1-", "header-")) and len(data) < 10000]
    # Not those whose changed copies would differ in the same way as they do, without a message that tells it.
    seeds_v1 = [data for name, data in traces.items() if name.startswith("v1-") and not re.search("last-number|65-bits", name)]
    for path in sorted(glob.glob(os.path.join(ROOT, "fuzz/seeds/decode_*/*"))):
        data = open(path, "rb").read()
        if data[:5] == b"go 1." and len(data) < 100000:
            (seeds if b"go 1.22" <= data[:7] <= b"go 1.29" and data[6:7].isdigit() else seeds_v1).append(data)
    for i in range(asked.n):
        threads = some.choice((12, 16, 24, 40, 60, 100))
        traces[f"equal-times-{i}.trace"] = passed_on(some.sample(range(threads), threads), some.randrange(threads))
        traces[f"changed-{i}.trace"] = changed(some.choice(seeds), some)
        traces[f"changed-v1-{i}.trace"] = changed_v1(some.choice(seeds_v1), some)
    wrong = agreed_good = agreed_bad = on_purpose = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, data in traces.items():
            with open(os.path.join(directory, name), "wb") as file:
                file.write(data)
        decoder, refused = ours(directory, sorted(traces), 1), gos(directory)
        side_by_side = ours(directory, sorted(traces), 3)
        for name in traces:
            if decoder[name] != side_by_side[name]:
                print(f"{name}:\n  --jobs 1: {decoder[name] or 'ok'}\n  --jobs 3: {side_by_side[name] or 'ok'}")
                wrong += 1
        for name in traces:
            we, go = decoder[name], refused.get(name)
            known = BY_HAND.get(name[:-6])
            if known and ((go is None) != known[1] or (we is None) != known[2]):
                print(f"{name}: not as expected")
            elif (we is None) == (go is None):
                agreed_good += we is None
                agreed_bad += we is not None
                continue
            elif known or (we and re.search(ON_PURPOSE, we)) or (go and "unexpected event type 36" in go):  # FutileWakeup
                on_purpose += 1
                continue
            print(f"{name}:\n  Go:      {go or 'ok'}\n  decoder: {we or 'ok'}")
            wrong += 1
            if asked.k:
                os.makedirs(asked.k, exist_ok=True)
                with open(os.path.join(asked.k, name), "wb") as file:
                    file.write(traces[name])
    print(f"{agreed_good} good and {agreed_bad} bad for both, {on_purpose} differ on purpose, {wrong} wrong")
    if not asked.n or not agreed_good or not agreed_bad or not on_purpose:
        sys.exit("nothing was compared")
    sys.exit(wrong != 0)


main()
