"""Makes traces of format 1.23 event by event, so that every time in them is known. A module for tests in Python.

    tests/tool/made_trace.py DIRECTORY       writes the traces of this file there
"""
import collections
import random
import re
import sys

RUNNABLE, RUNNING, SYSCALL, WAITING = 1, 2, 3, 4
(PROC_STATUS, GO_CREATE, GO_START, GO_DESTROY, GO_STOP, GO_BLOCK, GO_UNBLOCK, SYSCALL_BEGIN, SYSCALL_END, GO_STATUS, TASK_BEGIN,
 TASK_END, GO_SWITCH, GO_SWITCH_DESTROY, PROC_START, CREATE_SYSCALL, DESTROY_SYSCALL, SYSCALL_END_BLOCKED,
 PROC_STEAL, PROCS_CHANGE, GC_BEGIN, GC_END, STW_BEGIN, STW_END, HEAP_ALLOC, REGION_BEGIN,
 REGION_END, GC_ACTIVE, LOG, GO_LABEL, MARK_ASSIST_ACTIVE, MARK_ASSIST_END, MARK_ASSIST_BEGIN) = (13, 14, 16, 17, 19, 20, 21, 22, 23, 25, 40, 41, 45, 46, 10, 15, 18, 24, 12, 9, 29, 30, 26, 27, 37, 42, 43, 28, 44, 39, 34, 36, 35)
NO_ID = 2**64 - 1


def number(value):
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(encoded + bytes([value]))


def numbers(*values):
    return b"".join(number(value) for value in values)


PCS = {}  # addresses by function


class Trace:
    """A trace of Go 1.23 whose clock counts nanoseconds from 1000 on."""

    line = 1  # of all frames
    files = {}  # by function, those that are not x.go

    def __init__(self):
        self.strings, self.stacks, self.threads, self.samples = {}, {}, collections.defaultdict(list), []

    def string(self, text):
        r"""\udc80 to \udcff stand for single bytes that are not UTF-8"""
        return self.strings.setdefault(text, len(self.strings) + 1)

    def stack(self, *functions):
        """innermost first; one that is called by its address is in no file"""
        return self.stacks.setdefault(functions, len(self.stacks) + 1)

    def pc(self, function):
        """Go takes frames with equal addresses for one function, in all generations."""
        return PCS.setdefault(function, 4096 + len(PCS))

    def file(self, function):
        return 0 if function.startswith("0x") else self.string(self.files.get(function, "x.go"))

    def event(self, thread, time, kind, *arguments):
        self.threads[thread].append((time, kind, arguments))

    def sample(self, time, thread, proc, goroutine, stack):
        self.samples.append((time, thread, proc, goroutine, stack))

    def data(self, generation=1):
        def batch(thread, time, data):
            return numbers(1, generation, thread, time, len(data)) + data
        trace = b"go 1.23 trace\0\0\0" if generation == 1 else b""
        for thread, events in self.threads.items():
            data, last, start = b"", 1000, 1000
            for time, kind, arguments in sorted(events, key=lambda event: event[0]):
                if len(data) > 60000:  # of 64 KiB
                    trace += batch(thread, start, data)
                    data, start = b"", last
                data += numbers(kind, time + 1000 - last, *arguments)
                last = time + 1000
            trace += batch(thread, start, data)
        def table(kind, entries):
            found, data = b"", numbers(kind)
            for entry in entries:
                if len(data) + len(entry) > 65536:
                    found, data = found + batch(NO_ID, 1000, data), numbers(kind)
                data += entry
            return found + batch(NO_ID, 1000, data)

        trace += batch(NO_ID, 1000, numbers(8, 10**9)) + table(2, [numbers(3, id, len(functions)) + b"".join(
            numbers(self.pc(function), self.string(function), self.file(function), self.line) for function in functions)
            for functions, id in self.stacks.items()])
        for time, *sample in self.samples:
            trace += batch(NO_ID, 1000, numbers(6, 7, time + 1000, *sample))
        texts = [(id, text.encode("utf-8", "surrogateescape")) for text, id in self.strings.items()]
        return trace + table(4, [numbers(5, id, len(data)) + data for id, data in texts])


def counter_of(category, text):
    """The name and value of the counter that a log tells; None: it is not a counter's."""
    prefix, number = "gotrace.counter ", r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?"
    if not category.startswith(prefix) or not re.fullmatch(number, text) or len(text) > 63 or abs(float(text)) > 1e290:
        return None
    return category[len(prefix):], float(text)


class Generations(list):
    def data(self):
        return b"".join(trace.data(number) for number, trace in enumerate(self, 1))


def chain():
    """A trace in which main (1) waits for worker (2), which it creates and which waits for helper (3), which waited for the network."""
    t = Trace()
    main, worker, helper = (t.stack("main." + name) for name in ("main", "worker", "helper"))
    wait, unlock = t.stack("sync.Wait", "main.main"), t.stack("main.unlock", "main.helper")
    for m, g in ((1, 1), (2, None), (3, 3)):
        t.event(m, 0, PROC_STATUS, m, 1)
        if g:
            t.event(m, 1, GO_STATUS, g, m, RUNNING)
    t.event(1, 1000, TASK_BEGIN, 7, NO_ID, t.string("job"), main)
    t.event(1, 5000, GO_CREATE, 2, worker, main)
    t.event(1, 6000, GO_BLOCK, t.string("sync"), wait)
    t.event(2, 8000, GO_START, 2, 1)
    t.event(2, 20000, GO_BLOCK, t.string("chan receive"), worker)
    t.event(3, 30000, GO_BLOCK, t.string("network"), helper)
    t.event(2, 40000, GO_UNBLOCK, 3, 1, 0)  # not by a goroutine
    t.event(3, 42000, GO_START, 3, 2)
    t.event(3, 50000, GO_UNBLOCK, 2, 2, unlock)
    t.event(2, 53000, GO_START, 2, 3)
    t.event(2, 55000, SYSCALL_BEGIN, 1, worker)
    t.event(2, 60000, SYSCALL_END)
    t.event(2, 70000, GO_UNBLOCK, 1, 1, worker)
    t.event(2, 71000, GO_DESTROY)
    t.event(1, 75000, GO_START, 1, 2)
    t.event(1, 80000, TASK_END, 7, main)
    t.event(3, 90000, GO_DESTROY)
    return t


def running_main():
    """A trace whose main.main (1) runs on a proc, and its stack."""
    t = Trace()
    main = t.stack("main.main")
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    return t, main


def switches():
    """A trace in which main (1) switches to a coroutine (2), which switches to another (3), which ends by switching back to main."""
    t, main = running_main()
    for g in 2, 3:
        t.event(1, 2, GO_STATUS, g, NO_ID, WAITING)
    t.event(1, 1000, GO_SWITCH, 2, 1)
    t.event(1, 3000, GO_SWITCH, 3, 1)
    t.event(1, 7000, GO_SWITCH_DESTROY, 1, 1)
    t.event(1, 9000, GO_STOP, t.string("preempted"), main)
    return t


def lives():
    """Goroutines that block forever but continue, that never run, that end in a system call, and a reused id."""
    t = Trace()
    stack = [t.stack("main.f%d" % i) for i in range(8)]
    for g, reason in ((1, "sync"), (2, "chan receive")):
        at = g * 100
        t.event(g, 0, PROC_STATUS, g, 1)
        t.event(g, 1, GO_STATUS, g, g, RUNNING)
        t.event(g, 500 + at, GO_BLOCK, t.string("sync"), stack[1])
        t.event(g, 800 + at, GO_UNBLOCK, g, 1, stack[2])
        t.event(g, 900 + at, GO_START, g, 2)
        t.event(g, 1000 + at, GO_BLOCK, t.string("forever"), stack[3])
        t.event(g, 2000 + at, GO_UNBLOCK, g, 3, stack[4])
        t.event(g, 3000 + at, GO_START, g, 4)
        t.event(g, 4000 + at, GO_BLOCK, t.string(reason), stack[5])
        t.event(g, 6000 + at, GO_UNBLOCK, g, 5, stack[6])
        t.event(g, 7000 + at, GO_START, g, 6)
        t.event(g, 8000 + at, GO_STOP, t.string("preempted"), stack[7])
    t.event(2, 8300, GO_START, 2, 7)
    t.event(2, 8400, GO_DESTROY)  # so the times of goroutine 2 after "forever" count
    t.event(3, 450, GO_STATUS, 3, 3, SYSCALL)
    t.event(3, 5000, DESTROY_SYSCALL)
    t.event(4, 600, CREATE_SYSCALL, 4)
    t.event(4, 1600, SYSCALL_END_BLOCKED)
    t.event(5, 650, PROC_STATUS, 5, 2)
    for again in range(3):
        at = 707 + again * 2000
        t.event(5, at, CREATE_SYSCALL, 6)
        t.event(5, at + 100, PROC_START, 5, 1 + 4 * again)
        t.event(5, at + 150, SYSCALL_END_BLOCKED)
        t.event(5, at + 200, GO_START, 6, 1)
        t.event(5, at + 300, SYSCALL_BEGIN, 2 + 4 * again, stack[1])
        t.event(5, at + 500 + again, SYSCALL_END)
        t.event(5, at + 600, SYSCALL_BEGIN, 3 + 4 * again, stack[2])
        t.event(5, at + 1000, DESTROY_SYSCALL)
        t.event(1, at + 1050, PROC_STEAL, 5, 4 + 4 * again, 5)
    return t


def samples():
    """A goroutine that runs when the trace begins, with CPU samples before its first stack: they do not tell its function."""
    t = Trace()
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    for at, root in ((500, "runtime.goexit"), (600, "runtime.mcall"), (700, "main.deep")):
        t.sample(at, 1, 1, 1, t.stack("main.spin", root))
    t.event(1, 1000, GO_BLOCK, t.string("sync"), t.stack("sync.Wait", "main.main"))
    return t


def sampled_task():
    """Task 7, of which goroutine 1 runs a region from 2000 to 50000 ns, with two CPU samples in it and one after it."""
    t = Trace()
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    main = t.stack("main.main")
    t.event(1, 1000, TASK_BEGIN, 7, 0, t.string("request"), main)
    t.event(1, 2000, REGION_BEGIN, 7, t.string("parse"), main)
    for at in 10000, 20000, 60000:
        t.sample(at, 1, 1, 1, t.stack("main.parse", "main.main"))
    t.event(1, 50000, REGION_END, 7, t.string("parse"), main)
    t.event(1, 55000, TASK_END, 7, main)
    t.event(1, 70000, GO_BLOCK, t.string("sync"), t.stack("sync.Wait", "main.main"))
    return t


def waits_for_much():
    """A goroutine that waits twice for each of 300 reasons: more than `gotrace info` distinguishes."""
    t = Trace()
    main, worker = t.stack("main.main"), t.stack("main.worker")
    for m in 1, 2:
        t.event(m, 0, PROC_STATUS, m, 1)
        t.event(m, 1, GO_STATUS, m, m, RUNNING)
    for i in range(600):
        t.event(1, 10 + i * 20, GO_BLOCK, t.string("reason %d" % (i % 300)), main)
        t.event(2, 15 + i * 20, GO_UNBLOCK, 1, 1 + 2 * i, worker)
        t.event(1, 20 + i * 20, GO_START, 1, 2 + 2 * i)
    t.event(2, 13000, GO_STOP, t.string("preempted"), worker)
    return t


def unnamed():
    """Goroutines that are created without a stack, in each of several generations, and have stacks with different outermost
    functions."""
    generations = Generations()
    for generation in range(4):
        t = Trace()
        start = generation * 10000
        main, one, other = t.stack("main.main"), t.stack("f", "main.one"), t.stack("f", "main.other")
        for m in 1, 2:
            t.event(m, start, PROC_STATUS, m, 1)
            t.event(m, start + 1, GO_STATUS, m, m, RUNNING)
        for i in range(3):
            at, g = start + 100 + i * 1000, 10 + 10 * generation + i
            t.event(1, at, GO_CREATE, g, 0, main)
            t.event(1, at + 5, GO_BLOCK, t.string("sync"), main)
            t.event(1, at + 10, GO_START, g, 1)
            t.event(1, at + 20, SYSCALL_BEGIN, i + 1, one)
            t.event(1, at + 50, SYSCALL_END)
            for again in range(2):
                t.event(1, at + 80 + 90 * again, GO_BLOCK, t.string("chan receive"), other)
                t.event(2, at + 100 + 90 * again, GO_UNBLOCK, g, 2 + 2 * again, main)
                t.event(1, at + 130 + 90 * again, GO_START, g, 3 + 2 * again)
            t.event(1, at + 260, GO_DESTROY)
            t.event(2, at + 262, GO_UNBLOCK, 1, 2 * i + 1, main)
            t.event(1, at + 270, GO_START, 1, 2 * i + 2)
        generations.append(t)
    return generations


def carried():
    """Tasks, regions, a wait and a collection that go on from one generation into the next; a stopped world; an end of a
    region and of a task that the trace does not begin; a goroutine that begins what another one ends; CPU samples with and
    without a goroutine."""
    generations = Generations()
    for generation in range(3):
        t, start = Trace(), generation * 100000
        main, worker, spin = t.stack("main.main"), t.stack("main.worker"), t.stack("main.spin")
        for m in 1, 3:
            t.event(m, start, PROC_STATUS, m, 1)
            t.event(m, start + 1, GO_STATUS, m, m, RUNNING)
        t.event(1, start + 100, HEAP_ALLOC, 1000000 + generation)
        if generation == 0:
            t.event(1, 200, REGION_END, 0, t.string("older"), main)
            t.event(1, 300, TASK_END, 99, main)
            t.event(1, 1000, TASK_BEGIN, 7, NO_ID, t.string("job"), main)
            t.event(1, 2000, REGION_BEGIN, 7, t.string("outer"), main)
            t.event(1, 3000, REGION_BEGIN, 7, t.string("inner"), main)
            t.event(1, 4000, GO_CREATE, 2, worker, main)
            t.event(3, 5000, GO_STOP, t.string("preempted"), spin)
            t.event(3, 6000, GO_START, 2, 1)
            t.event(3, 7000, GO_BLOCK, t.string("sync"), worker)
            t.event(3, 8000, GO_START, 3, 1)
            t.event(3, 9000, TASK_BEGIN, 8, 7, t.string("part"), spin)
            t.event(1, 10000, GC_BEGIN, 0, main)
            t.event(1, 90000, STW_BEGIN, t.string("testing"), main)
            t.event(1, 90400, STW_END)
        else:
            t.event(3, start + 10, GO_STATUS, 2, NO_ID, WAITING)
        if generation == 1:
            t.event(1, start + 2000, REGION_END, 7, t.string("inner"), main)
            t.event(1, start + 50, GC_ACTIVE, 1)
            t.event(3, start + 3000, GC_END, 2)
            t.event(1, start + 4000, TASK_END, 8, main)
            t.sample(start + 20000, 3, 3, 3, spin)
            t.sample(start + 30000, 9, NO_ID, 0, spin)
            t.sample(start + 40000, 3, 3, 0, spin)
        if generation == 2:
            t.event(1, start + 60000, GO_UNBLOCK, 2, 1, main)
            t.event(1, start + 70000, REGION_END, 7, t.string("outer"), main)
            t.event(1, start + 80000, TASK_END, 7, main)
        t.event(1, start + 90500, HEAP_ALLOC, 2000000 + generation)
        generations.append(t)
    return generations


def ends_twice():
    """Tasks that are ended twice, as by `defer End()` after an `End()`."""
    t, main = running_main()
    for i in range(3):
        t.event(1, 1000 * i + 100, TASK_BEGIN, i + 1, NO_ID, t.string("request"), main)
        t.event(1, 1000 * i + 500, TASK_END, i + 1, main)
        t.event(1, 1000 * i + 600, TASK_END, i + 1, main)
    return t


def many_regions(count=24958, longest=777000):
    """A goroutine with many regions of one name, of which the last is the longest."""
    t, main = running_main()
    for i in range(count):
        t.event(1, 1000 + 100 * i, REGION_BEGIN, 0, t.string("read"), main)
        t.event(1, 1000 + 100 * i + (40 if i < count - 1 else longest), REGION_END, 0, t.string("read"), main)
    return t


def burst(count=9001):
    """More goroutines than a page has samples of counters run for a nanosecond each; then nothing runs for a while."""
    t, time = Trace(), 10
    t.event(1, 0, PROC_STATUS, 1, 1)
    for go in range(1, count + 1):
        t.event(1, time + go, GO_CREATE, go, t.stack("main.f"), 0)
    for go in range(1, count + 1):
        time = 4 * count + 3 * go
        t.event(1, time, GO_START, go, 1)
        t.event(1, time + 1, GO_DESTROY)
    t.event(1, time + 1000000, GO_CREATE, count + 1, t.stack("main.f"), 0)
    return t


def runs_rarely(runs=2000, period=1000000, share=0.0066):
    """A goroutine that runs for a small share of the time, and otherwise waits."""
    t = Trace()
    main, other = t.stack("main.main"), t.stack("main.other")
    for m in 1, 2:
        t.event(m, 0, PROC_STATUS, m, 1)
        t.event(m, 1, GO_STATUS, m, m, RUNNING)
    for i in range(runs):
        at, sequence = 10 + i * period, 1 + 2 * i
        t.event(1, at, GO_BLOCK, t.string("sync"), main)
        t.event(2, at + int(period * (1 - share)) - 1, GO_UNBLOCK, 1, sequence, other)
        t.event(1, at + int(period * (1 - share)), GO_START, 1, sequence + 1)
    return t


def long_ago(at=2**54):
    """Events at times that JavaScript's numbers cannot tell apart."""
    t, main = running_main()
    for i in range(20):
        t.event(1, at + 100 * i, GO_STOP, t.string("preempted"), main)
        t.event(1, at + 100 * i + 50, GO_START, 1, i + 1)
    return t


def shared_changes():
    """Goroutines 1 and 2 begin and end collections, each also one that the other has begun, and change the number of procs."""
    t = Trace()
    main = t.stack("main.main")
    for m in 1, 2:
        t.event(m, 0, PROC_STATUS, m, 1)
        t.event(m, 1, GO_STATUS, m, m, RUNNING)
    t.event(2, 300, GO_STOP, t.string("preempted"), main)  # goroutine 2 is the last to start before the collections: in v1 they
    t.event(2, 400, GO_START, 2, 1)  # have no goroutine, and a reader takes this one
    t.event(1, 500, PROCS_CHANGE, 2, main)
    for i, (begins, ends) in enumerate(((1, 2), (2, 1), (2, 2), (1, 2))):
        t.event(begins, 1000 * (i + 1), GC_BEGIN, 2 * i, main)
        t.event(ends, 1000 * (i + 1) + 300, GC_END, 2 * i + 1)
    t.event(1, 4100, GO_BLOCK, t.string("sync"), main)  # while the last collection runs
    t.event(2, 5000, PROCS_CHANGE, 7, main)
    t.event(2, 6000, GO_UNBLOCK, 1, 1, main)
    t.event(1, 6100, GO_START, 1, 2)
    t.event(1, 7000, GO_STOP, t.string("preempted"), main)
    return t


def labelled():
    """A label that a goroutine gets after it has started and the number of procs has changed."""
    t, main = running_main()
    t.event(1, 1000, GO_STOP, t.string("preempted"), main)
    t.event(1, 2000, GO_START, 1, 1)
    t.event(1, 2001, PROCS_CHANGE, 3, main)
    t.event(1, 2500, GO_LABEL, t.string("worker 1"))
    t.event(1, 9000, GO_DESTROY)
    return t


def no_thread():
    """Statuses and an unblock in a batch whose thread is none, but where a proc and a goroutine run."""
    t, main = running_main()
    t.event(NO_ID, 100, PROC_STATUS, 2, 1)
    t.event(NO_ID, 100, GO_STATUS, 3, NO_ID, RUNNING)
    t.event(NO_ID, 100, GO_STATUS, 2, NO_ID, WAITING)
    t.event(NO_ID, 2000, GO_UNBLOCK, 2, 1, 0)
    t.event(1, 3000, GO_BLOCK, t.string("sync"), main)
    t.event(1, 4000, GO_START, 2, 2)
    t.event(1, 5000, GO_STOP, t.string("preempted"), main)
    return t


def misused():
    """Regions that end out of order: "outer" before the two that are inside it, and one whose start is unknown. Go refuses this."""
    t = Trace()
    main = t.stack("main.main")
    outer, middle, inner, last, never = (t.string(name) for name in ("outer", "middle", "inner", "last", "never"))
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    for task in 5, 6:
        t.event(1, 400 + task, TASK_BEGIN, task, NO_ID, t.string("job"), main)
    for time, task, name in (1000, 5, outer), (2000, 6, middle), (2500, 6, inner):
        t.event(1, time, REGION_BEGIN, task, name, main)
    t.event(1, 3000, REGION_END, 5, outer, main)
    t.event(1, 3200, GO_BLOCK, t.string("sleep"), main)
    t.event(1, 3600, GO_UNBLOCK, 1, 1, 0)
    t.event(1, 3600, GO_START, 1, 2)
    t.event(1, 4000, REGION_END, 6, inner, main)
    t.event(1, 5000, REGION_END, 6, middle, main)
    t.event(1, 6000, REGION_BEGIN, 6, last, main)
    t.event(1, 6500, REGION_END, 6, never, main)
    t.event(1, 7000, REGION_END, 6, last, main)
    t.event(1, 8000, GO_DESTROY)
    return t


def counters():
    """Counters that two goroutines report in two generations, and logs that resemble them."""
    generations = Generations()
    for number in 0, 1:
        t, at = Trace(), 50000 * number
        main, worker = t.stack("main.main"), t.stack("main.worker")
        for g, stack in (1, main), (2, worker):
            t.event(g, at, PROC_STATUS, g, 1)
            t.event(g, at + g, GO_STATUS, g, g, RUNNING)
        counts = [("queue", g % 2 + 1, value) for g, value in enumerate((0, 3, 1, 4, 1, 5, 9, 2, 6))]
        counts += [("balance", 1, -30), ("balance", 2, 12), ("balance", 1, -7), ("load", 2, "0.25"), ("load", 2, "1e+20")]
        counts += [("once", 1, 9223372036854775807)] * (1 - number) + [("", 2, 5)]
        counts += [("queue", 1, wrong) for wrong in ("", "many", "1 ", "inf", "-nan", "0x10", "1e999", "--1", "1e", "9" * 64)]
        for i, (name, g, value) in enumerate(counts):
            t.event(g, at + 1000 * (i + 1), LOG, 0, t.string("gotrace.counter " + name), t.string(str(value)), (main, worker)[g - 1])
        for category in "gotrace.counter", "gotrace.counters queue", "Gotrace.counter queue", "queue":
            t.event(1, at + 40000, LOG, 0, t.string(category), t.string("7"), main)
        for g, stack in (1, main), (2, worker):
            t.event(g, at + 45000, GO_STOP, t.string("preempted"), stack)
            t.event(g, at + 46000, GO_START, g, 1)
        generations.append(t)
    return generations


def service():
    """A service of 4 s, with faults that are known. Goroutine 10 serves requests: tasks 1 to 200, each of 1 ms, one every 20 ms, but for
    task 150: from 2,980 ms on it waits for 60 ms, behind many functions, for the mutex that rebuild, goroutine 11, has had since
    2,970 ms. Goroutine 12 stores uploads: tasks 1001 to 1100, each of 3 ms, one every 40 ms. Goroutine 13 stops the world for
    10 ms every 200 ms. Goroutine 14 runs for 20 us at 2,000.01 ms."""
    t, ms, sequence = Trace(), 10 ** 6, collections.Counter()
    stacks = {10 + i: t.stack("main." + name) for i, name in enumerate(("serve", "rebuild", "store", "watch", "tick"))}
    serve, rebuild, store = stacks[10], stacks[11], stacks[12]
    lock, sleep = t.stack("sync.(*Mutex).Lock", *("main.layer%d" % i for i in range(7)), "main.parseHeader", "main.serve"), t.string("sleep")

    def run(go, begin, end, waker=None):
        """From a wait until the next sleep. `waker`: nobody, or a goroutine that runs."""
        sequence[go] += 2
        t.event((waker or go) - 9, begin - 200, GO_UNBLOCK, go, sequence[go] - 1, rebuild if waker else 0)
        t.event(go - 9, begin, GO_START, go, sequence[go])
        t.event(go - 9, end, GO_BLOCK, sleep, stacks[go])

    for go in stacks:
        t.event(go - 9, 0, PROC_STATUS, go - 10, 1)
        t.event(go - 9, 1, GO_STATUS, go, go - 9, RUNNING)
        t.event(go - 9, 1000, GO_BLOCK, sleep, stacks[go])
    t.event(1, 2, PROCS_CHANGE, 5, serve)
    free = 0
    for task in range(1, 201):
        begin = max(free, (task - 1) * 20 * ms + 10000)
        end = free = begin + (61 if task == 150 else 1) * ms
        t.event(1, begin + 10, TASK_BEGIN, task, NO_ID, t.string("request"), serve)
        t.event(1, end - 10, TASK_END, task, serve)
        if task == 150:
            run(10, begin, begin + 100)
            t.threads[1][-1] = (begin + 100, GO_BLOCK, (t.string("sync"), lock))
            run(10, end - ms, end, 11)
        else:
            run(10, begin, end)
        free += 1000
    run(11, 2970 * ms, 2980 * ms + 60 * ms + 10000)
    for i in range(100):
        begin = i * 40 * ms + 2 * ms
        run(12, begin, begin + 3 * ms)
        t.event(3, begin + 10, TASK_BEGIN, 1001 + i, NO_ID, t.string("upload"), store)
        t.event(3, begin + 3 * ms - 10, TASK_END, 1001 + i, store)
    for i in range(20):
        begin = i * 200 * ms + 6 * ms
        run(13, begin, begin + 10 * ms)
        t.event(4, begin + 10, STW_BEGIN, t.string("read mem stats"), t.stack("runtime.ReadMemStats", "main.watch"))
        t.event(4, begin + 10 * ms - 10, STW_END)
    run(14, 2000 * ms + 10000, 2000 * ms + 30000)
    return t


def late_request():
    """Goroutine 1 serves 20 requests, tasks 1 to 20, one after another with sleeps of 100 us between them. Each runs for 1 ms, in its
    region "render". Before that the twelfth sleeps for 60 ms in its region "fetch"."""
    t, main = running_main()
    sleep, fetch, request, ms, now, sequence = t.string("sleep"), t.stack("main.fetch", "main.main"), t.string("request"), 10 ** 6, 1000, 0

    def rest(length, stack):
        nonlocal now, sequence
        t.event(1, now, GO_BLOCK, sleep, stack)
        t.event(1, now + length - 10, GO_UNBLOCK, 1, sequence + 1, 0)
        t.event(1, now + length, GO_START, 1, sequence + 2)
        now, sequence = now + length, sequence + 2

    for task in range(1, 21):
        t.event(1, now, TASK_BEGIN, task, NO_ID, request, main)
        if task == 12:
            t.event(1, now + 10, REGION_BEGIN, task, t.string("fetch"), main)
            now += 20
            rest(60 * ms, fetch)
            t.event(1, now + 10, REGION_END, task, t.string("fetch"), main)
        t.event(1, now + 20, REGION_BEGIN, task, t.string("render"), main)
        t.event(1, now + ms - 10, REGION_END, task, t.string("render"), main)
        t.event(1, now + ms, TASK_END, task, main)
        now += ms + 10
        rest(ms // 10, main)
    return t


def many_messages(generations=12, messages=2000, alike=False):
    """A trace that hardly shrinks, unless its messages are alike: generations of a millisecond, each with so many random ones."""
    made, random_text = Generations(), random.Random(1)
    for number in range(generations):
        t, at = Trace(), 1000000 * number
        t.event(1, at, PROC_STATUS, 0, 1)
        t.event(1, at + 1, GO_STATUS, 1, 1, RUNNING)
        for i in range(messages):
            t.event(1, at + 800000 // messages * (i + 1), LOG, 0, t.string("message"), t.string("%0200x" % (i if alike else random_text.getrandbits(800))), t.stack("main.main"))
        made.append(t)
    return made


def collecting():
    """A collection, and a goroutine's assistance to it, that have been going on since the trace began, which it tells late; a
    stopped world in which one of seven equal parts ends."""
    t = Trace()
    main, worker = t.stack("main.main"), t.stack("main.worker")
    for g, at in (1, 0), (2, 5000):
        t.event(g, at, PROC_STATUS, g - 1, 1)
        t.event(g, at + 1, GO_STATUS, g, g, RUNNING)
    t.event(1, 10, PROCS_CHANGE, 4, main)
    t.event(1, 8900, GO_STOP, t.string("preempted"), main)
    t.event(2, 5002, GC_ACTIVE, 1)
    t.event(2, 5003, MARK_ASSIST_ACTIVE, 2)
    t.event(2, 7000, MARK_ASSIST_END)
    t.event(2, 7500, STW_BEGIN, t.string("GC mark termination"), worker)
    t.event(2, 8000, STW_END)
    t.event(2, 9000, GO_STOP, t.string("preempted"), worker)
    return t


def working(runs, procs=4, end=20000):
    """A background worker, in runs of (begin, label, end). On the other proc main.main runs all the time. The number of procs
    is known from 3 on, and the trace ends a nanosecond after `end`."""
    t, main = running_main()
    t.event(1, 2, PROCS_CHANGE, procs, main)
    t.event(2, 3, PROC_STATUS, 0, 1)
    t.event(2, 4, GO_STATUS, 2, NO_ID, WAITING)
    for i, (begin, label, stop) in enumerate(runs):
        t.event(2, begin - 2, GO_UNBLOCK, 2, 1 + 2 * i, 0)
        t.event(2, begin - 1, GO_START, 2, 2 + 2 * i)
        t.event(2, begin, GO_LABEL, t.string(label))
        if stop:
            t.event(2, stop, GO_BLOCK, t.string("system goroutine wait"), t.stack("runtime.gcBgMarkWorker"))
    t.event(1, end, GO_STOP, t.string("preempted"), main)
    return t


def in_turn(gos=60, procs=4, time=10**6):
    """Goroutines that run one after the other on each proc, each for the same time, and wait for it from the beginning."""
    t, main = running_main()
    worker = t.stack("main.worker")
    for i in range(gos):
        t.event(1, 10 + i, GO_CREATE, 2 + i, worker, main)
    for proc in range(2, 2 + procs):
        t.event(proc, 1000, PROC_STATUS, proc, 1)
        for turn, go in enumerate(range(proc, 2 + gos, procs)):
            t.event(proc, 1001 + turn * time, GO_START, go, 1)
            t.event(proc, 1000 + (turn + 1) * time, GO_DESTROY)
    return t


def assisting():
    """A goroutine that is in a mark assist, but waits, when the trace begins. The thread of another one tells so."""
    t, main = running_main()
    t.event(1, 2, PROCS_CHANGE, 4, main)
    t.event(2, 3, PROC_STATUS, 0, 1)
    t.event(1, 4, GO_STATUS, 2, NO_ID, WAITING)
    t.event(1, 5, MARK_ASSIST_ACTIVE, 2)
    t.event(1, 4000, GO_UNBLOCK, 2, 1, main)
    t.event(2, 5000, GO_START, 2, 2)
    t.event(2, 6000, MARK_ASSIST_END)
    t.event(1, 20000, GO_STOP, t.string("preempted"), main)
    return t


def assisting_workers(procs_told=2):
    """A worker that waits in a mark assist before its first label, and a goroutine that gets a worker's label and waits in an
    assist."""
    t, main = running_main()
    t.event(2, 3, PROC_STATUS, 0, 1)
    t.event(2, 4, GO_STATUS, 2, NO_ID, WAITING)
    seq = 0
    for at, event in (1000, "start"), (1100, MARK_ASSIST_BEGIN), (1200, "stop"), (3000, "start"), (3100, MARK_ASSIST_END), \
            (3500, "stop"), (5000, "start"), (5001, "label"), (5500, "stop"), \
            (7000, "start"), (7001, "label"), (7500, MARK_ASSIST_BEGIN), (8000, "stop"), (9000, "start"), (9100, MARK_ASSIST_END), \
            (9300, "stop"):
        if event == "start":
            seq += 2
            t.event(2, at - 1, GO_UNBLOCK, 2, seq - 1, 0)
            t.event(2, at, GO_START, 2, seq)
        elif event == "stop":
            t.event(2, at, GO_BLOCK, t.string("sync"), t.stack("runtime.gcAssistAlloc"))
        elif event == "label":
            t.event(2, at, GO_LABEL, t.string("GC (dedicated)"))
        else:
            t.event(2, at, event, *[t.stack("runtime.gcAssistAlloc")] * (event == MARK_ASSIST_BEGIN))
    t.event(1, procs_told, PROCS_CHANGE, 4, main)
    t.event(1, 20000, GO_STOP, t.string("preempted"), main)
    return t


def waits_for_ever():
    """Two goroutines that wait until the trace ends, at 10000: one for ever, in a region, and one for a channel."""
    t, main = running_main()
    leak, wait = t.stack("main.leak"), t.stack("main.wait")
    t.event(2, 0, PROC_STATUS, 0, 1)
    for g, stack in (2, leak), (3, wait):
        t.event(1, 1000, GO_CREATE, g, stack, main)
    t.event(2, 2000, GO_START, 2, 1)
    t.event(2, 2500, REGION_BEGIN, 0, t.string("leaking"), leak)
    t.event(2, 3000, GO_BLOCK, t.string("forever"), leak)
    t.event(2, 3500, GO_START, 3, 1)
    t.event(2, 4000, GO_BLOCK, t.string("chan receive"), wait)
    t.event(1, 9999, GO_STOP, t.string("preempted"), main)
    return t


def abandoned():
    """Procs that are stolen after the goroutines that took them into system calls have left them; a goroutine in a system call
    whose status another goroutine's thread tells; a region."""
    t = Trace()
    main, spin = t.stack("main.main"), t.stack("main.spin")
    for m, g in (1, 1), (3, 3):
        t.event(m, 0, PROC_STATUS, m, 1)
        t.event(m, 1, GO_STATUS, g, m, RUNNING)
    t.event(2, 500, PROC_STATUS, 2, 2)
    t.event(2, 600, CREATE_SYSCALL, 9)
    t.event(2, 700, PROC_START, 2, 1)
    t.event(2, 800, SYSCALL_END_BLOCKED)
    t.event(2, 850, GO_START, 9, 1)
    t.event(1, 900, REGION_BEGIN, 0, t.string("read"), main)
    t.event(2, 900, SYSCALL_BEGIN, 2, spin)
    t.event(2, 2000, DESTROY_SYSCALL)
    t.event(1, 3000, PROC_STATUS, 4, 4)
    t.event(1, 3001, PROC_STEAL, 4, 1, NO_ID)
    t.event(1, 6000, PROC_STEAL, 2, 3, 2)
    t.event(1, 8000, GO_STATUS, 7, 7, SYSCALL)
    t.event(1, 8500, REGION_END, 0, t.string("read"), main)
    t.event(1, 9000, GO_STOP, t.string("preempted"), main)
    return t


def converted_before():
    """A trace with a thread, late, whose id is the one that the tool gives to the thread of its own when it begins to write."""
    t, main = running_main()
    waits, late = t.stack("main.waits"), 2**40 + 1
    t.event(1, 2, GO_STATUS, 2, NO_ID, WAITING)
    t.event(1, 3, PROC_STATUS, 2, 2)
    t.event(1, 1000, GO_UNBLOCK, 2, 1, main)
    t.event(late, 2000, PROC_START, 2, 1)
    t.event(late, 2500, GO_START, 2, 2)
    t.event(late, 3000, GO_BLOCK, t.string("sync"), waits)
    t.event(1, 5000, GO_STOP, t.string("preempted"), main)
    return t


def recorded():
    """A goroutine whose CPU time `gotrace record` has reported twice: 8 us of the first 10, then 30 us of 40."""
    t, main = running_main()
    for at, used in (10000, "8000"), (50000, "30000"):
        t.event(1, at, LOG, 0, t.string("gotrace record: CPU time"), t.string(used), main)
    t.event(1, 90000, GO_STOP, t.string("preempted"), main)
    return t


def named(generations=3, watched=False):
    """A recording of five threads, one after the other on a proc, in generations. All began with pool, which main creates, in the
    first; one, and later a second, gets the name "net", a third "disk" and then "log"; two have none. The names come when
    the threads have run already. `log` waits from the second generation on. `watched`: as with --switches."""
    made = Generations()
    given = {(0, 3): "net", (1, 4): "net", (0, 5): "disk", (1, 5): "log"}
    for number in range(generations):
        t, at = Trace(), 100000 * number
        main, pool, lock = t.stack("main"), t.stack("pool"), t.stack("lock", "pool")
        t.event(1, at, PROC_STATUS, 1, 1)
        t.event(1, at + 1, GO_STATUS, 1, 1, RUNNING)
        t.event(1, at + 2, LOG, 0, t.string("gotrace record: CPU time"), t.string("1000"), main)
        if watched:
            t.string("gotrace record: context switches")
        waits, order = set(range(2, 7)) if number else set(), collections.Counter()
        for g in range(2, 7):
            if number:
                t.event(1, at + 10 * g, GO_STATUS, g, NO_ID, WAITING)
            else:
                t.event(1, at + 1000 * g, GO_CREATE, g, pool, main)
        t.event(1, at + 9000, GO_BLOCK, t.string("sync: join"), main)
        for turn in range(3):
            for g in range(2, 7):
                if number == 1 and (g, turn) == (5, 2) or number > 1 and g == 5:
                    continue
                now = at + 10000 + 20000 * turn + 2000 * g
                if g in waits:
                    order[g] += 1
                    t.event(1, now - 500, GO_UNBLOCK, g, order[g], 0)
                order[g] += 1
                t.event(1, now, GO_START, g, order[g])
                if turn == 1 and (number, g) in given:
                    t.event(1, now + 100 * g, GO_LABEL, t.string(given[number, g]))
                t.event(1, now + 1000, GO_BLOCK, t.string("sync: mutex"), lock)
                waits.add(g)
        t.event(1, at + 90000, GO_UNBLOCK, 1, 1, 0)
        t.event(1, at + 91000, GO_START, 1, 2)
        made.append(t)
    return made


def high_bits():
    """Goroutines and tasks whose ids differ in the highest bits only."""
    t = Trace()
    main = t.stack("main.main")
    for number, high in enumerate((0, 2**60, 2**61)):
        t.event(number, 0, PROC_STATUS, number, 1)
        t.event(number, 1, GO_STATUS, high + 1, number, RUNNING)
        t.event(number, 1000 + number, TASK_BEGIN, high + 1, NO_ID, t.string("job"), main)
        t.event(number, 2000 + 100 * number, TASK_END, high + 1, main)
        t.event(number, 3000 + number, GO_STOP, t.string("preempted"), main)
    return t


NAMES = ("\u202eevil\u202c", "main.template<" + 45 * "std::basic_string<" + 45 * ">" + ">")


def names():
    """Goroutines, tasks, regions and logs with each of the names: one that turns the direction, and a long one without spaces."""
    t, main = running_main()
    for i, name in enumerate(NAMES):
        at = 1000 * i + 100
        t.event(1, at, GO_CREATE, i + 2, t.stack(name), main)
        t.event(1, at + 50, TASK_BEGIN, i + 1, NO_ID, t.string(name), main)
        t.event(1, at + 60, REGION_BEGIN, i + 1, t.string(name), main)
        t.event(1, at + 70, LOG, i + 1, t.string(name), t.string(name), main)
        t.event(1, at + 700, REGION_END, i + 1, t.string(name), main)
        t.event(1, at + 750, TASK_END, i + 1, main)
    return t


def many_functions(count=700):
    """Goroutines that each begin with another function."""
    t, main = running_main()
    for i in range(count):
        t.event(1, 100 + 10 * i, GO_CREATE, i + 2, t.stack("main.f%d" % i), main)
    return t


def open_tasks(count=190000):
    """Tasks of one name that never end."""
    t, main = running_main()
    for i in range(count):
        t.event(1, 100 + 10 * i, TASK_BEGIN, i + 1, NO_ID, t.string("request"), main)
    return t


def v1_event(kind, *arguments):
    """An event of Go 1.7 to 1.21."""
    data = numbers(*arguments)
    return bytes([kind | min(len(arguments) - 1, 3) << 6]) + (number(len(data)) if len(arguments) > 3 else b"") + data


class OldCalls:
    """A trace of Go 1.11 with one proc, 1: a system call that keeps it, one that loses it, and a timer's goroutine, 3, that
    ends a wait of goroutine 2."""

    @staticmethod
    def data():
        event = v1_event
        events = event(1, 1, 1000)  # Batch
        for g, name in enumerate((b"main.main", b"main.wait", b"main.timer"), 1):
            events += number(37) + number(g) + number(len(name)) + name  # String
            events += event(3, g, 1, 100 * g, g, 0, 1)  # Stack
            events += event(13, 10, g, g, 0)  # GoCreate
        events += event(5, 10, 7) + event(14, 10, 1, 1) + event(4, 10, 1, 0)  # ProcStart, GoStart, Gomaxprocs
        events += event(28, 100, 0) + event(28, 100, 0) + event(30, 50) + event(6, 10)  # GoSysCall twice, GoSysBlock, ProcStop
        events += event(5, 10, 8) + event(14, 10, 2, 1) + event(23, 10, 2)  # ProcStart, g2 runs and waits: GoBlockRecv
        events += event(14, 10, 3, 1) + event(21, 10000, 2, 2, 3) + event(20, 10, 3)  # g3 runs, GoUnblock, GoBlock
        events += event(14, 10, 2, 3) + event(15, 100) + event(29, 10, 1, 2, 0)  # g2 runs and ends, GoSysExit
        events += event(14, 10, 1, 3) + event(15, 100)  # g1 goes on and ends
        return b"go 1.11 trace\0\0\0" + events + event(35, 3) + event(2, 10**9)  # TimerGoroutine, Frequency


class OldHandoffs:
    """A trace of Go 1.11 with one proc, 1, which leaves 20 goroutines in system calls, each for the next one, which starts at
    once. Some calls end in between."""

    @staticmethod
    def data():
        event, time, count = v1_event, 1000, 20
        events = event(1, 1, time)  # Batch
        for g in range(1, count + 1):
            events += event(13, 10, g, 0, 0)  # GoCreate
            time += 10
        events += event(5, 10, 7)  # ProcStart
        time += 10
        for g in range(1, count + 1):
            events += event(14, 10, g, 1) + event(28, 10, 0) + event(30, 10)  # GoStart, GoSysCall, GoSysBlock
            time += 30
            if g % 2 == 0:
                events += event(29, 5, g // 2, 2, time + 2)  # GoSysExit
                time += 5
        return b"go 1.11 trace\0\0\0" + events + event(2, 10**9)  # Frequency


class InstantTasks:
    """A trace of Go 1.11, where times may be equal: tasks that begin and end at once, each with a log."""

    @staticmethod
    def data():
        event = v1_event
        events = event(1, 0, 1000) + event(5, 10, 1) + event(13, 10, 1, 0, 0) + event(14, 10, 1, 1)  # Batch, ProcStart, GoCreate, GoStart
        for task in 1, 2, 3:
            events += event(45, 0 if task > 1 else 10, task, 0, 1, 0)  # UserTaskCreate
            log = numbers(0, task, 1, 0)  # UserLog, with its message
            events += bytes([48 | 3 << 6]) + number(len(log)) + log + number(5) + b"log %d" % task
            events += event(46, 0, task, 0)  # UserTaskEnd
        events += event(16, 50, 0)  # GoSched
        string = number(37) + number(1) + number(3) + b"job"  # String
        return b"go 1.11 trace\0\0\0" + string + events + event(2, 10**9)  # Frequency


if __name__ == "__main__":
    for make in recorded, named, abandoned, collecting, chain, switches, lives, samples, waits_for_much, unnamed, carried, ends_twice, shared_changes, labelled, no_thread, counters, assisting, assisting_workers, waits_for_ever, converted_before:
        with open("%s/%s.trace" % (sys.argv[1], make.__name__), "wb") as out:
            out.write(make().data())
