#!/usr/bin/env python3
"""`gotrace info` and `gotrace path` tell who had what was waited for, what kind of wait it was, and what is wrong.

    tests/tool/findings.py known      in made traces, whose times are known to the nanosecond
    tests/tool/findings.py go         eight Go programs with a fault, each named first, and ten healthy ones, without any
    tests/tool/findings.py c          the same faults in C, half of them recorded by `gotrace record`, and four healthy ones

Other programs may take the processors from a program for so long that a fault hides or a healthy program looks ill. So each
program has three tries.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from go_program import build_go  # noqa: E402
from made_trace import *  # noqa: E402, F403

TOOL = "build/examples/gotrace"

# The first finding of each program with a fault: its kind, and what its text names.
FAULTS = {"lock": ("lock", "rebuild"), "rwlock": ("lock", "scan"), "leak": ("leak", "forget"), "channel": ("channel", "consume"),
          "pauses": ("pauses", {"go": "watchMemory", "c": "snapshot"}), "task": ("task", "fetch"), "procs": ("procs", "idle"),
          "collector": ("collector", "%"), "deadlock": ("deadlock", "took in transfer")}
RECORDED = {"deadlock"}  # what is found only in traces of `gotrace record`


# ------------------------------------------------------------------------------------------------------------- known ----

def threads(t, count):
    for m in range(1, count + 1):
        t.event(m, 0, PROC_STATUS, m, 1)
        t.event(m, 1, GO_STATUS, m, m, RUNNING)


def locks(t, kind="Mutex", lock="Lock", unlock="Unlock"):
    """The stacks of a function that takes a lock, and of one that releases it"""
    return (lambda name: t.stack("sync.(*%s).%s" % (kind, lock), name, "main.main"),
            lambda name: t.stack("sync.(*%s).%s" % (kind, unlock), name, "main.main"))


def handed_on():
    """1 has a lock. 2 and 3 wait for it; 1 wakes 2, and that wakes 3, which really waited for 1."""
    t = Trace()
    threads(t, 3)
    take, give = locks(t)
    t.event(2, 1000, GO_BLOCK, t.string("sync"), take("main.get"))
    t.event(3, 2000, GO_BLOCK, t.string("sync"), take("main.get"))
    t.event(1, 10000, GO_UNBLOCK, 2, 1, give("main.rebuild"))
    t.event(2, 10100, GO_START, 2, 2)
    t.event(2, 12000, GO_UNBLOCK, 3, 1, give("main.get.deferwrap1"))
    t.event(3, 12100, GO_START, 3, 2)
    for m in 1, 2, 3:
        t.event(m, 13000, GO_DESTROY)
    return t, {("mutex", "main.get", "main.rebuild"): (2, 17000), ("mutex", "main.get", "main.get"): (1, 2000)}


def another_lock():
    """2 has a lock for which 3 waits, and meanwhile waits for another lock, which 1 has: not a hand-over of the first one."""
    t = Trace()
    threads(t, 3)
    take, give = locks(t)
    t.event(3, 1000, GO_BLOCK, t.string("sync"), take("main.get"))
    t.event(2, 2000, GO_BLOCK, t.string("sync"), take("main.other"))
    t.event(1, 8000, GO_UNBLOCK, 2, 1, give("main.slow"))
    t.event(2, 8100, GO_START, 2, 2)
    t.event(2, 9000, GO_UNBLOCK, 3, 1, give("main.rebuild"))
    t.event(3, 9100, GO_START, 3, 2)
    for m in 1, 2, 3:
        t.event(m, 10000, GO_DESTROY)
    return t, {("mutex", "main.get", "main.rebuild"): (1, 8000), ("mutex", "main.other", "main.slow"): (1, 6000)}


def helpers():
    """The same as handed_on, but with functions of the program that take and release locks for others, in one of its functions"""
    t = Trace()
    threads(t, 3)
    take = t.stack("sync.(*Mutex).Lock", "main.acquire", "main.get", "main.main")
    give = t.stack("sync.(*Mutex).Unlock", "main.release", "main.get", "main.main")
    t.event(2, 1000, GO_BLOCK, t.string("sync"), take)
    t.event(3, 2000, GO_BLOCK, t.string("sync"), take)
    t.event(1, 10000, GO_UNBLOCK, 2, 1, t.stack("sync.(*Mutex).Unlock", "main.rebuild"))
    t.event(2, 10100, GO_START, 2, 2)
    t.event(2, 12000, GO_UNBLOCK, 3, 1, give)
    t.event(3, 12100, GO_START, 3, 2)
    for m in 1, 2, 3:
        t.event(m, 13000, GO_DESTROY)
    return t, {("mutex", "main.acquire", "main.rebuild"): (2, 17000), ("mutex", "main.acquire", "main.acquire"): (1, 2000)}


def other_waits():
    """Who received, the last Done, who signalled: what ended the wait, whatever that waited for before"""
    t = Trace()
    threads(t, 4)
    t.event(1, 1000, GO_BLOCK, t.string("chan send"), t.stack("runtime.chansend1", "main.produce"))
    t.event(2, 1100, GO_BLOCK, t.string("sync"), t.stack("sync.(*WaitGroup).Wait", "main.parallel"))
    t.event(3, 1200, GO_BLOCK, t.string("sync.(*Cond).Wait"), t.stack("sync.(*Cond).Wait", "main.idle"))
    t.event(4, 2000, GO_BLOCK, t.string("sync"), t.stack("sync.(*RWMutex).RLock", "main.look"))
    t.event(4, 3000, GO_UNBLOCK, 4, 1, 0)
    t.event(4, 3100, GO_START, 4, 2)
    t.event(4, 5000, GO_UNBLOCK, 1, 1, t.stack("runtime.chanrecv1", "main.consume"))
    t.event(4, 6000, GO_UNBLOCK, 2, 1, t.stack("sync.(*WaitGroup).Add", "sync.(*WaitGroup).Done", "main.part"))
    t.event(4, 7000, GO_UNBLOCK, 3, 1, t.stack("sync.(*Cond).Signal", "main.wake"))
    t.event(4, 8000, GO_DESTROY)
    for g in 1, 2, 3:
        t.event(g, 8000 + g, GO_START, g, 2)
        t.event(g, 9000, GO_DESTROY)
    return t, {("channel send", "main.produce", "main.consume"): (1, 4000), ("WaitGroup", "main.parallel", "main.part"): (1, 4900),
               ("condition variable", "main.idle", "main.wake"): (1, 5800)}


def permits():
    """A channel that counts permits: 1 has the only one; 2 and 3 wait to send; 1 receives, 2 goes on and receives, and so does 3,
    which really waited for 1."""
    t = Trace()
    threads(t, 3)
    take, give = t.stack("runtime.chansend1", "main.query"), t.stack("runtime.chanrecv1", "main.query.func1", "main.query")
    t.event(2, 1000, GO_BLOCK, t.string("chan send"), take)
    t.event(3, 2000, GO_BLOCK, t.string("chan send"), take)
    t.event(1, 10000, GO_UNBLOCK, 2, 1, t.stack("runtime.chanrecv1", "main.slowQuery"))
    t.event(2, 10100, GO_START, 2, 2)
    t.event(2, 12000, GO_UNBLOCK, 3, 1, give)
    t.event(3, 12100, GO_START, 3, 2)
    for m in 1, 2, 3:
        t.event(m, 13000, GO_DESTROY)
    return t, {("channel send", "main.query", "main.slowQuery"): (2, 17000), ("channel send", "main.query", "main.query"): (1, 2000)}


def passed_through():
    """2 sends what it receives, and 1 sends to 2: 1 waited for 2, not for 3, for which 2 waited before in another function"""
    t = Trace()
    threads(t, 3)
    t.event(1, 1000, GO_BLOCK, t.string("chan send"), t.stack("runtime.chansend1", "main.source"))
    t.event(2, 2000, GO_BLOCK, t.string("chan send"), t.stack("runtime.chansend1", "main.stage"))
    t.event(3, 8000, GO_UNBLOCK, 2, 1, t.stack("runtime.chanrecv1", "main.sink"))
    t.event(2, 8100, GO_START, 2, 2)
    t.event(2, 9000, GO_UNBLOCK, 1, 1, t.stack("runtime.chanrecv1", "main.stage"))
    t.event(1, 9100, GO_START, 1, 2)
    for m in 1, 2, 3:
        t.event(m, 10000, GO_DESTROY)
    return t, {("channel send", "main.source", "main.stage"): (1, 8000), ("channel send", "main.stage", "main.sink"): (1, 6000)}


CLASSES = [  # reason, frames, class, place
    ("sync", ("runtime.gcStart", "runtime.mallocgc", "fmt.Sprintf", "main.format"), "collector: start of a cycle", "main.format"),
    ("sync", ("runtime.gcMarkDone", "runtime.gcAssistAlloc", "runtime.mallocgc", "main.a"), "collector: end of marking", "main.a"),
    ("GC mark assist wait for work", ("runtime.gcParkAssist", "example.com/x/y.F"), "collector: assist", "example.com/x/y.F"),
    ("wait until GC ends", ("runtime.GC", "main.a"), "collector: until a cycle ends", "main.a"),
    ("sync", ("runtime.stopTheWorldGC", "runtime.GOMAXPROCS", "main.a"), "stop-the-world", "main.a"),
    ("sync", ("internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "main.a"), "mutex", "main.a"),
    ("sync", ("sync.(*RWMutex).Lock", "main.a"), "read-write lock", "main.a"),
    ("sync", ("sync.(*Mutex).Lock", "sync.(*Once).doSlow", "main.a"), "once", "main.a"),
    ("sync", ("sync.(*WaitGroup).Wait", "main.a"), "WaitGroup", "main.a"),
    ("sync.(*Cond).Wait", ("sync.(*Cond).Wait", "net/http.(*conn).serve"), "condition variable", "net/http.(*conn).serve"),
    ("chan receive", ("runtime.chanrecv1", "time.Sleep", "mine/util.Wait"), "channel receive", "mine/util.Wait"),
    ("select", ("runtime.selectgo", "context.x", "main.(*T[...]).a"), "select", "main.(*T[...]).a"),
    ("network", ("internal/poll.(*FD).Read", "net.(*conn).Read", "main.a"), "network", "main.a"),
    ("sleep", ("time.Sleep", "main.a.func1"), "sleep", "main.a.func1"),
    ("system goroutine wait", ("runtime.gopark", "runtime.bgscavenge"), "runtime's own", "runtime.bgscavenge"),
    ("sync", ("runtime.gcMarkDone", "runtime.gcBgMarkWorker"), "runtime's own", "runtime.gcBgMarkWorker"),
    ("sync: mutex", ("pthread_mutex_lock@@GLIBC_2.2.5", "std::mutex::lock", "ns::Pool::take"), "mutex", "ns::Pool::take"),
    ("sync: write lock", ("pthread_rwlock_wrlock", "put"), "read-write lock", "put"),
    ("sync: semaphore", ("sem_wait", "take"), "semaphore", "take"),
    ("sync", ("lock_queue",), "sync, by a C program", "lock_queue"),
    ("my own reason", ("main.a",), "other", "main.a"),
    # Wrappers are not the program's.
    ("sync: mutex", ("pthread_mutex_lock", "__gthread_mutex_lock(pthread_mutex_t*)", "std::mutex::lock()", "Cache::get(int)"), "mutex",
     "Cache::get(int)"),
    ("sync: mutex", ("pthread_mutex_lock", "_ZNSt5mutex4lockEv", "_ZN5Cache3getEi"), "mutex", "_ZN5Cache3getEi"),
    ("sync: mutex", ("pthread_mutex_lock", "g_mutex_lock_slowpath", "g_mutex_lock", "load"), "mutex", "load"),
    ("sync: futex", ("__syscall", "std::sys::sync::mutex::futex::Mutex::lock_contended", "<std::sync::Mutex<T>>::lock", "app::fetch"), "futex",
     "app::fetch"),
    ("sync: condition variable", ("pthread_cond_wait", "os::PlatformMonitor::wait(long)", "Monitor::wait(long)", "VMThread::execute", "thread_native_entry"),
     "condition variable", "VMThread::execute"),
    ("sync: condition variable", ("pthread_cond_wait", "PlatformMonitor::wait", "Monitor::wait", "VMThread::run", "thread_native_entry"),
     "condition variable", "VMThread::run"),
    ("sync: semaphore", ("sem_wait", "PyThread_acquire_lock_timed", "lock_PyThread_acquire_lock", "acquire"), "semaphore", "acquire"),
    # CPython's global lock: with symbols, without, and inlined; not what an extension waits for.
    ("sync: condition variable", ("pthread_cond_timedwait", "take_gil", "_PyEval_EvalFrameDefault"), "Python's GIL", "take_gil"),
    ("sync: condition variable", ("pthread_cond_timedwait", "PyCOND_TIMEDWAIT", "take_gil", "PyEval_RestoreThread"), "Python's GIL", "take_gil"),
    ("sync: mutex", ("pthread_mutex_lock", "python3.11!0x4f92c0", "PyEval_RestoreThread", "time_sleep"), "Python's GIL", "take_gil"),
    ("sync: condition variable", ("pthread_cond_wait", "PyEval_SaveThread", "time_sleep"), "Python's GIL", "take_gil"),
    ("sync: mutex", ("pthread_mutex_lock", "python3.11!0x634310", "_PyThreadState_DeleteCurrent"), "Python's GIL", "take_gil"),
    ("sync: condition variable", ("pthread_cond_wait", "wait_for_job", "_PyEval_EvalFrameDefault"), "condition variable", "wait_for_job"),
    ("sync: semaphore", ("sem_wait", "take_gil"), "semaphore", "take_gil"),
]


def all_classes():
    """A wait of each class, of 1000 ns and more, by which it is found"""
    t = Trace()
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    time = 1000
    wanted = {}
    for i, (reason, frames, name, place) in enumerate(CLASSES):
        t.event(1, time, GO_BLOCK, t.string(reason), t.stack(*frames))
        t.event(1, time + 1000 + i, GO_UNBLOCK, 1, 2 * i + 1, 0)
        t.event(1, time + 1100 + i, GO_START, 1, 2 * i + 2)
        time += 3000
        wanted[1000 + i] = (name, place)
    t.event(1, time, GO_DESTROY)
    return t, wanted


def held_by(t, go, time, holder, *taken):
    """A recording tells who has a lock, and where that took it"""
    t.event(go, time, LOG, 0, t.string("gotrace record: lock held by"), t.string(str(holder)), t.stack("pthread_mutex_lock", *taken))


def told():
    """The trace of a recording tells that 1 had the lock when 2 began to wait, whoever ended that."""
    t = Trace()
    threads(t, 3)
    held_by(t, 2, 900, 1, "grab", "main")
    t.event(2, 1000, GO_BLOCK, t.string("sync: mutex"), t.stack("pthread_mutex_lock", "get", "main"))
    t.event(3, 5000, GO_UNBLOCK, 2, 1, t.stack("pthread_mutex_unlock", "drop", "main"))
    t.event(2, 5100, GO_START, 2, 2)
    for m in 1, 2, 3:
        t.event(m, 6000, GO_DESTROY)
    return t, {("mutex", "get", "grab"): (1, 4000)}


def told_then_handed_on():
    """The same, but 1 hands the lock to 3, which waited for it before, and that to 2."""
    t = Trace()
    threads(t, 3)
    take, drop = t.stack("pthread_mutex_lock", "get", "main"), t.stack("pthread_mutex_unlock", "get", "main")
    held_by(t, 3, 800, 1, "grab", "main")
    t.event(3, 900, GO_BLOCK, t.string("sync: mutex"), take)
    held_by(t, 2, 950, 1, "grab", "main")
    t.event(2, 1000, GO_BLOCK, t.string("sync: mutex"), take)
    t.event(1, 3000, GO_UNBLOCK, 3, 1, t.stack("pthread_mutex_unlock", "drop", "main"))
    t.event(3, 3100, GO_START, 3, 2)
    t.event(3, 6000, GO_UNBLOCK, 2, 1, drop)
    t.event(2, 6100, GO_START, 2, 2)
    for m in 1, 2, 3:
        t.event(m, 7000, GO_DESTROY)
    return t, {("mutex", "get", "grab"): (2, 4100), ("mutex", "get", "get"): (1, 3000)}


def waits_for_python(again=False):
    """2 waits for 1 to release CPython's lock, three times in a row, and 3, which slept after its first time."""
    t = Trace()
    threads(t, 3)
    for go, name in (1, "one"), (2, "two"), (3, "three"):
        t.event(go, 100 + go, LOG, 0, t.string("begins"), t.string(""), t.stack(name))
    take = t.stack("pthread_cond_timedwait", "take_gil", "_PyEval_EvalFrameDefault")
    drop = t.stack("pthread_cond_signal", "drop_gil", "_PyEval_EvalFrameDefault")
    numbers = {2: 0, 3: 0}

    def wait(go, begin, end, by, reason="sync: condition variable", stack=take):
        t.event(go, begin, GO_BLOCK, t.string(reason), stack)
        t.event(by, end, GO_UNBLOCK, go, numbers[go] + 1, drop if by != go else 0)
        t.event(go, end + 10, GO_START, go, numbers[go] + 2)
        numbers[go] += 2
    wait(2, 1000, 6000, 2)
    wait(3, 1500, 6500, 3)
    wait(3, 6600, 6900, 3, "sleep", t.stack("nanosleep", "three"))
    wait(2, 6020, 11020, 2)
    wait(3, 12000, 13500, 1)
    wait(2, 11040, 14000, 1)
    if again:
        wait(2, 14200, 14700, 1)
    for m in 1, 2, 3:
        t.event(m, 15000, GO_DESTROY)
    return t, {("Python's GIL", "take_gil", "one"): (2, 13000 + 1500)}


def deadlocked(how):
    """1 and 2 wait for each other's lock; but if 2 has handed on what it had, that is not known. Or 3 waits for its own."""
    t = Trace()
    threads(t, 4)
    names = ("", "one", "two", "three", "four")
    for go in 1, 2, 3, 4:
        t.event(go, 100 + go, LOG, 0, t.string("begins"), t.string(""), t.stack(names[go]))

    def wait(go, time, holder, where):
        held_by(t, go, time, holder, "take_" + names[holder], names[holder])
        t.event(go, time + 1, GO_BLOCK, t.string("sync: mutex"), t.stack("pthread_mutex_lock", where, names[go]))
    if how == "alone":
        wait(3, 900, 3, "again")
    else:
        if how == "handed on":
            wait(4, 900, 2, "want")
        wait(1, 1000, 2, "want")
        if how == "handed on":
            t.event(2, 1500, GO_UNBLOCK, 4, 1, t.stack("pthread_mutex_unlock", "want", "main"))
            t.event(4, 1600, GO_START, 4, 2)
        wait(2, 2000, 1, "wish")
    t.event(4, 9000, GO_DESTROY)
    return t, {"each other": ["deadlock: goroutine 1 (one) waits in want for a lock that goroutine 2 took in take_two; "
                              "goroutine 2 (two) waits in wish for a lock that goroutine 1 took in take_one"],
               "handed on": [],
               "alone": ["deadlock: goroutine 3 (three) waits in again for a lock that it took in take_three"]}[how]


def stopped():
    """2 stops the world for 2000 ns, while 1 runs and is in a region."""
    t = Trace()
    threads(t, 2)
    main, stopper = t.stack("main.main"), t.stack("runtime.ReadMemStats", "main.watch")
    t.event(1, 1000, REGION_BEGIN, 0, t.string("step"), main)
    t.event(2, 3000, STW_BEGIN, t.string("read mem stats"), stopper)
    t.event(2, 5000, STW_END)
    t.event(1, 8000, REGION_END, 0, t.string("step"), t.stack("main.inner", "main.main"))
    t.event(1, 10000, GO_BLOCK, t.string("sleep"), main)
    t.event(1, 11000, GO_UNBLOCK, 1, 1, 0)
    t.event(1, 12000, GO_START, 1, 2)
    t.event(1, 13000, GO_DESTROY)
    t.event(2, 13000, GO_DESTROY)
    return t


def run(*arguments):
    done = subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit("gotrace %s: status %d, %s" % (" ".join(arguments), done.returncode, done.stderr.decode()))
    return done.stdout.decode("utf-8", "replace")


def info(file, *arguments):
    return json.loads(run("info", "--json", *arguments, file))


def write(trace, file):
    with open(file, "wb") as out:
        out.write(trace.data())


def check_stopped(file):
    write(stopped(), file)
    found = info(file)
    times = {row["name"]: (row["running"], row["stopped"]) for row in found["functions"]}
    assert times["main.main"][1] == 2000, times  # and as much of the running time of the other one
    assert sum(row["stopped"] for row in found["functions"]) == 4000, times
    assert [(row["place"], row["reason"], row["pauses_total"]) for row in found["stops"]] == [
        ("main.watch", "read mem stats", 2000)], found["stops"]
    steps = json.loads(run("path", "--go", "1", "--json", file))
    got = [(step["since"], step["time"], step["state"], step.get("region"), step.get("stopped"), step.get("own")) for step in steps["path"]]
    assert got == [(0, 1000, "running", None, None, "main.main"), (1000, 7000, "running", "step", 2000, "main.inner"),
                   (8000, 2000, "running", None, None, "main.main"), (10000, 1000, "waiting", None, None, "main.main"),
                   (11000, 1000, "runnable", None, None, None), (12000, 1000, "running", None, None, None)], got
    assert [(row.get("name"), row["time"]) for row in steps["regions"]] == [("step", 7000), (None, 6000)], steps["regions"]
    assert "running     stopped    runnable" in run("info", file)
    assert re.search(r" 2\.000 us +15\.4 % +1  stopped +the world", run("path", "--go", "1", file)), run("path", "--go", "1", file)


def check_samples(file):
    """CPU samples count for the function of their goroutine, also if that is known only later; in a part, its own."""
    write(samples(), file)
    for options, wanted in ([], 3), (["--from", "550ns"], 2), (["--from", "550ns", "--to", "650ns"], 1), (["--go", "1"], 3):
        rows = info(file, *options)["functions"]
        assert [(row["name"], row["samples"]) for row in rows] == [(rows[0]["name"], wanted)], (options, rows)
    assert rows[0]["name"] == "main.main" and re.search(r"count CPU samples +running.*\n +1 +3 ", run("info", file)), run("info", file)
    write(stopped(), file)
    assert all("samples" not in row for row in info(file)["functions"]) and "CPU samples" not in run("info", file)
    # Half of 40 samples are in code whose names nobody has told, in five places, or in what it calls.
    for called, told in (["compiled"], "50 % of the CPU samples are in compiled"), (
            ["compiled", "lives", "moves", "sweeps", "marks"], "50 % of the CPU samples are in (code in no file) and what it calls"), (
            [], "50 % of the CPU samples are in (code in no file)"):
        t = Trace()
        threads(t, 1)
        for i in range(20):
            t.sample(100 + i, 1, 1, 1, t.stack(*called[i % 5:i % 5 + 1] or called[:1], "0x%x" % (4096 + i % 5), "0x5000", "main"))
            t.sample(200 + i, 1, 1, 1, t.stack("f%d" % (i % 10), "main"))
        t.event(1, 1000, GO_STOP, t.string("preempted"), t.stack("main"))
        write(t, file)
        assert info(file)["trace"]["stands_out"].endswith("; " + told), (info(file)["trace"]["stands_out"], told)
        row, = [row for row in info(file)["sampled"] if row["name"] == "(code in no file)"]
        assert (row["self"], row["total"]) == (0 if called else 20, 20) and not any("0x" in row["name"] for row in info(file)["sampled"])
    # The kernel's part of a clock's reading, which has no name, counts as the call.
    t = Trace()
    threads(t, 1)
    for i in range(40):
        t.sample(100 + i, 1, 1, 1, t.stack("linux-vdso.so.1!0xaf0", "clock_gettime", "main"))
    t.event(1, 1000, GO_STOP, t.string("preempted"), t.stack("main"))
    write(t, file)
    assert [row["name"] for row in info(file)["sampled"]] == ["clock_gettime", "main"], info(file)["sampled"]
    # All samples are in what a goroutine began with, and what it calls: that is no news.
    t = Trace()
    threads(t, 1)
    for i in range(60):
        t.sample(100 + i, 1, 1, 1, t.stack("f%d" % (i % 10), "main"))
    t.event(1, 1000, GO_STOP, t.string("preempted"), t.stack("main"))
    write(t, file)
    assert "CPU samples" not in info(file)["trace"]["stands_out"], info(file)["trace"]


def check_waits_for_python(file):
    """`waits` counts waits that only end by their time-out as one, and tells who ended the last one."""
    write(waits_for_python(again=True)[0], file)

    def at(time):
        report = json.loads(run("waits", "--to", str(time), "--json", file))
        assert report["at"] == time, report
        row = [row for row in report["goroutines"] if row["go"] == 2][0]
        return row["since"] - begin, row["time"], row.get("last_ended_by")
    begin = 0
    begin = at(3000)[0] - 1000  # the time of the first event
    end = 10000 + begin
    assert at(end) == (1000, 9000, None), at(end)
    assert at(14500 + begin) == (14200, 300, 1), at(14500 + begin)
    assert "its last such wait ended by goroutine 1, one\n" in run("waits", "--to", str(14500 + begin), file)


def check_slept_after(file):
    """A thread slept unseen between a wait that another process ended and the log that tells so."""
    t = Trace()
    threads(t, 1)
    read, process = t.stack("read", "take", "main"), "sh (pid 7), goroutine 1"
    t.event(1, 500, LOG, 0, t.string("gotrace record: CPU time"), t.string("0"), read)
    for i, (reason, begin, end) in enumerate((("pipe", 1000, 2000), ("off cpu", 2100, 2500), ("pipe", 4000, 5000))):
        t.event(1, begin, GO_BLOCK, t.string(reason), read)
        t.event(1, end, GO_UNBLOCK, 1, 2 * i + 1, 0)
        t.event(1, end + 10, GO_START, 1, 2 * i + 2)
        if reason == "off cpu":
            t.event(1, 2600, LOG, 0, t.string("gotrace record: woken by process"), t.string(process), read)
    t.event(1, 6000, GO_DESTROY)
    write(t, file)
    rows = [(row["class"], row["place"], row["process"], row["blocked_total"]) for row in info(file)["holders"]]
    assert rows == [("pipe", "take", process, 1000)], rows
    steps = [step for step in json.loads(run("path", "--go", "1", "--json", file))["path"] if step.get("woken_by_process")]
    assert [(step["reason"], step["woken_by_process"]) for step in steps] == [("pipe", process)], steps
    rows = json.loads(run("waits", "--to", "4500", "--json", file))["goroutines"]
    assert [row.get("last_ended_by_process") for row in rows] == [process], rows


def headlines():
    """Traces, and what `info` says first of each: what the busiest function did, whatever that was."""
    def recorded(first):
        t = Trace()
        t.event(1, 0, PROC_STATUS, 1, 1)
        t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
        if first == "main":
            t.string("gotrace record: context switches")
            t.event(1, 2, LOG, 0, t.string("gotrace record: CPU time"), t.string("1000"), t.stack("main"))
        return t

    def calls(t, times):
        """Of goroutine 1: from when to when it is in a system call in a stack."""
        for count, (begin, end, stack) in enumerate(times):
            t.event(1, begin, SYSCALL_BEGIN, count + 1, stack)
            t.event(1, end, SYSCALL_END)
        t.event(1, 10000, GO_DESTROY)
        return t

    t = recorded("main")
    read, write, take = t.stack("read", "copy", "main"), t.stack("write", "copy", "main"), t.stack("read", "begin", "main")
    yield (calls(t, [(1000, 3000, read), (4000, 6000, write), (7000, 9900, take)]),
           "main is busiest, but in system calls 69 % of its time, most of that in read")
    t = recorded("main")
    read, write, sync = t.stack("read", "main"), t.stack("write", "main"), t.stack("fsync", "main")
    yield (calls(t, [(1000, 3000, read), (4000, 6000, write), (7000, 9500, sync)]),
           "main is busiest, but in system calls 65 % of its time")
    t = recorded("main.main")
    load = t.stack("syscall.Syscall", "syscall.read", "os.(*File).Read", "main.load", "main.main")
    yield (calls(t, [(1000, 3500, load), (6000, 7500, load)]),
           "main.main is busiest: it ran 6.000 us, 60 % of its time; it was in system calls 40 % of its time, most of that in main.load")
    t = recorded("main")
    yield calls(t, [(1000, 2500, t.stack("read", "main"))]), "main is busiest: it ran 8.500 us, 85 % of its time"
    # Threads of a function take turns on a processor. None of them has it for most of its time.
    for turns, text in ([(2, 200), (3, 3000), (4, 6000)], "work (3 goroutines) waited 9.110 us for a processor, and ran 8.780 us"), (
            [(2, 200), (3, 3000), (2, 6000), (3, 8500)],
            "work (2 goroutines) is busiest: it ran 8.770 us, 50 % of its time; it was waiting for a processor 50 % of its time"):
        t = recorded("main")
        t.event(2, 0, PROC_STATUS, 2, 1)
        for g in sorted({g for g, _ in turns}):
            t.event(1, 10 * g, GO_CREATE, g, t.stack("work"), t.stack("main"))
        t.event(1, 100, GO_BLOCK, t.string("sync: join"), t.stack("join", "main"))
        for i, (g, begin) in enumerate(turns):
            t.event(2, begin, GO_START, g, 1 + [g for g, _ in turns[:i]].count(g))
            end = turns[i + 1][1] - 10 if i + 1 < len(turns) else 9000
            if g in [g for g, _ in turns[i + 1:]]:
                t.event(2, end, GO_STOP, t.string("preempted"), t.stack("work"))
            else:
                t.event(2, end, GO_DESTROY)
        yield t, text


def known(directory):
    file = os.path.join(directory, "known.trace")
    for make in handed_on, another_lock, helpers, other_waits, permits, passed_through, told, told_then_handed_on, waits_for_python:
        trace, wanted = make()
        write(trace, file)
        found = {(row["class"], row["place"], row["holder"]): (row["blocked_count"], row["blocked_total"]) for row in info(file)["holders"]}
        assert found == wanted, "%s: %s" % (make.__name__, found)
        # The path of a goroutine that waited has the same, of its own waits.
        for go in "123":
            path = json.loads(run("path", "--go", go, "--json", file))
            for row in path["waits"]:
                assert (row["class"], row["in"], row["through"]) in wanted, "%s: %s" % (make.__name__, row)
    write(handed_on()[0], file)
    rows = [(row["through"], row["time"], row["go"]) for row in json.loads(run("path", "--go", "3", "--json", file))["waits"]]
    assert rows == [("main.rebuild", 8000, 1), ("main.get", 2000, 2)], rows
    assert "mutex in main.get: main.rebuild" in run("path", "--go", "3", file)
    trace, wanted = all_classes()
    write(trace, file)
    found = {row["blocked_longest"]: (row["class"], row["place"]) for row in info(file)["waits"]}
    assert sum(row["blocked_count"] for row in info(file)["waits"]) == len(CLASSES)
    for time, row in found.items():
        assert wanted[time] == row, "%s, not %s" % (row, wanted[time])
    for trace, text in headlines():
        write(trace, file)
        assert info(file)["trace"]["stands_out"] == text, (info(file)["trace"]["stands_out"], text)
    check_stopped(file)
    check_samples(file)
    check_waits_for_python(file)
    check_slept_after(file)
    for how in "each other", "handed on", "alone":
        trace, wanted = deadlocked(how)
        write(trace, file)
        found = [row["text"].replace(" (x.go:1)", "") for row in info(file)["findings"]]
        assert found == wanted, (how, found)
        now, shown = json.loads(run("waits", "--json", file)), run("waits", file).split("\n")
        assert (now["deadlock"] and [shown[0].replace(" (x.go:1)", "")]) == wanted, (how, shown)
        assert now["deadlock"] == {"each other": [1, 2], "handed on": [], "alone": [3]}[how], now
    now = {row["go"]: row for row in json.loads(run("waits", "--json", "--to", "950ns", file))["goroutines"]}
    assert [now[go]["does"] for go in (1, 2, 3, 4)] == ["running", "running", "mutex", "running"], now
    assert (now[3]["since"], now[3]["time"], now[3]["place"], now[3]["held_by"], now[3]["taken_in"]) == (901, 49, "again", 3, "take_three"), now
    shown = re.sub(" +", " ", run("waits", "--to", "950ns", file))
    assert "\n 1 49 ns 3 mutex three, in again (x.go:1); goroutine 3 has it, taken in take_three (x.go:1)\n" in shown, shown
    print("8 traces with holders, %d classes" % len(CLASSES))


# ---------------------------------------------------------------------------------------------------------- programs ----

def findings(file):
    found = info(file)["findings"]
    shown = [line for line in run("info", file).split("\n") if re.match(r"[123]\. ", line)]
    assert [line[3:] for line in shown] == [row["text"] for row in found], (shown, found)
    assert not found or run("info", file).startswith("1. "), "not first"
    for row in found:
        if row["look"]:
            run(*row["look"].split(" "), file)  # it works
    return found


def right(name, found, language):
    if name.startswith("healthy"):
        return not found
    kind, named = FAULTS[name]
    return bool(found) and found[0]["kind"] == kind and (named if isinstance(named, str) else named[language]) in found[0]["text"]


def programs(language, names, make):
    """Runs each program; `make` returns its trace."""
    for name in names:
        for attempt in range(3):
            found = findings(make(name))
            if right(name.replace("_recorded", ""), found, language):
                break
        else:
            sys.exit("%s, %s: found %s" % (language, name, [row["text"] for row in found]))
        print("%s: %s" % (name, found[0]["text"] if found else "-"))
    faults = set(FAULTS) - (RECORDED if language == "go" else set())
    assert {name.replace("_recorded", "") for name in names} >= faults, names
    healthy = [name for name in names if name.startswith("healthy")]
    assert len(healthy) >= {"go": 10, "c": 4}[language], healthy
    print("%d faults, %d healthy programs" % (len(faults), len(healthy)))


def lines_of(program):
    return subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout.decode().split()


def in_go(directory):
    program, trace = os.path.join(directory, "faults"), os.path.join(directory, "go.trace")
    build_go("tests/go/faults.go", program)

    def make(name):
        on_one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if name == "procs" else []
        subprocess.run([*on_one, program, name, trace], check=True)
        return trace
    programs("go", lines_of(program), make)


def in_c(directory):
    program, trace = os.path.join(directory, "faults"), os.path.join(directory, "c.trace")
    subprocess.run([os.environ.get("CC") or "cc", "-O1", "-g", "-I.", "-o", program, "tests/tool/faults.c", "-pthread", "-ldl"], check=True)

    def make(name):
        if os.path.exists(trace):
            os.remove(trace)
        if name.endswith("_recorded"):
            subprocess.run([TOOL, "record", "-q", "-o", trace, program, name], check=True)
        else:
            subprocess.run([program, name, trace], check=True)
        return trace
    programs("c", lines_of(program), make)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "go" and not shutil.which("taskset"):
        print("needs taskset")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        {"known": known, "go": in_go, "c": in_c}[sys.argv[1]](directory)


main()
