"""Derives from gotrace dump what gotrace view must draw: see check.py."""

import collections
import copy
import json
import subprocess

from made_trace import counter_of

STOPS = {"GoStop": ("blocked", "forever"), "GoSched": ("runnable", ""), "GoPreempt": ("runnable", ""), "GoSleep": ("blocked", "sleep"),
         "GoBlock": ("blocked", "unspecified"), "GoBlockSend": ("blocked", "chan send"), "GoBlockRecv": ("blocked", "chan receive"),
         "GoBlockSelect": ("blocked", "select"), "GoBlockSync": ("blocked", "sync"), "GoBlockCond": ("blocked", "sync.(*Cond).Wait"),
         "GoBlockNet": ("blocked", "network"), "GoBlockGC": ("blocked", "GC mark assist wait for work"), "GoEnd": (None, "")}
INTRODUCTIONS = ("GoCreate", "GoWaiting", "GoInSyscall", "Gomaxprocs")


def in_file(e):
    """An event of v1 as it is in the file: gotrace dump shows it lifted to v2."""
    args = e["args"]
    if e["v1"] == "GoCreate":
        args["new_g"] = args.get("new_g", args.get("g"))
    elif e["v1"] == "UserRegion":
        args["mode"] = int(e["event"] == "UserRegionEnd")
    elif e["v1"].startswith("GoSysExit"):
        args["g"] = e["g"]
    e["event"] = e["v1"]
    return e


def v1_changes(events):
    """Yields (event, time, goroutine, state, reason) for v1. Goroutines older than the trace begin with it; so does one
    that runs before the first Gomaxprocs if neither it nor its proc had an event before. A system call lasts only if
    the goroutine's next event says that it lost its proc."""
    blocking, calls = set(), {}
    for number, e in enumerate(events):
        if e["event"] == "GoSysCall":
            calls[e.get("g")] = number
        elif "g" in e and e["event"] != "CPUSample":
            call = calls.pop(e["g"], None)
            if e["event"] == "GoSysBlock" and call is not None:
                blocking.add(call)
    started, in_call, seen = False, set(), set()
    running = any(e["event"] == "Gomaxprocs" for e in events)
    for number, e in enumerate(events):
        kind, args, time = e["event"], e["args"], e["time"]
        started = started or kind not in INTRODUCTIONS
        if kind == "GoCreate":
            waits = events[number + 1]["event"] if number + 1 < len(events) else ""
            waits = waits if events[min(number + 1, len(events) - 1)]["args"].get("g") == args["new_g"] else ""
            state = {"GoWaiting": "blocked", "GoInSyscall": "syscall"}.get(waits, "runnable")
            yield e, time if started else events[0]["time"], args["new_g"], state, ""
        elif kind.startswith("GoStart"):
            first = running and not {("g", args["g"]), ("p", e.get("p"))} & seen
            yield e, events[0]["time"] if first else time, args["g"], "running", ""
        elif kind.startswith("GoUnblock") or kind.startswith("GoSysExit") and args["g"] in in_call:
            in_call.discard(args["g"])
            yield e, time, args["g"], "runnable", ""
        elif kind in STOPS:
            yield (e, time, e["g"], *STOPS[kind])
        elif kind == "GoSysCall":
            yield e, time, e["g"], "syscall", ""
            if number in blocking:
                in_call.add(e["g"])
            else:
                yield e, time, e["g"], "running", ""
        elif kind == "GoSysBlock" and e["g"] not in in_call:
            in_call.add(e["g"])
            yield e, time, e["g"], "syscall", ""
        running = running and kind != "Gomaxprocs"
        if kind not in INTRODUCTIONS + ("ProcStart",):
            seen |= {("g", args.get("g")), ("p", e.get("p"))}


class Story:
    """Slices are {row: {(begin, end): label}}; those of goroutines are lists of (begin, end, state, reason), beginning
    with the goroutine's first event. `known`: the time in which a goroutine's states are known. A region without a start
    lasts from the start of the trace or its goroutine; the first of a goroutine has depth -1, the next -2 and so on. With
    `begin` and `end` it is what the events between them tell, without what began before or goes on."""

    def __init__(self, tool, trace, begin=None, end=None):
        with open(trace, "rb") as file:
            self.v1 = int(file.read(16).split(b".")[1].split()[0]) < 22
        slices = lambda: collections.defaultdict(dict)  # noqa: E731
        self.goes, self.known = collections.defaultdict(list), {}
        self.procs, self.threads, self.regions, self.tasks, self.collector = slices(), slices(), slices(), slices(), slices()
        self.logs, self.samples = collections.defaultdict(list), collections.defaultdict(list)  # of goroutines
        self.wakes, self.sizes = set(), {"heap": [], "goal": []}
        self.now, self.open_regions, self.open_tasks, self.open = {}, collections.defaultdict(list), {}, {}
        self.created, self.early, self.begun_tasks = {}, collections.Counter(), {}
        self.without_begin = set()  # (row, slice) of which only the end is known
        self.stopped = 0
        of_part = [] if begin is None else ["--from", "%dns" % begin, "--to", "%dns" % end]
        process = subprocess.Popen([tool, "dump", "--json", *of_part, trace], stdout=subprocess.PIPE)
        events = map(json.loads, process.stdout)
        if self.v1:
            events = [in_file(e) for e in events if not e.get("implied")]
            for e, time, g, state, reason in v1_changes(events):
                self.change(e, g, time, state, reason)
        self.end = 0
        for e in events:
            self.end = e["time"]
            if not self.v1:
                self.take_v2(e)
            self.take(e)
        if process.wait() != 0:
            raise RuntimeError("dump failed")
        if of_part:
            return
        for g in list(self.open_regions):
            self.end_regions(g, self.end)
        for task in list(self.open_tasks):
            self.end_task(task, self.end)
        for kind in list(self.open):
            self.end_open(kind, self.end)

    def change(self, e, g, time, state, reason=""):
        g %= 2**64  # dump writes an event's own goroutine as a signed number
        if e["event"].startswith("GoCreate"):
            self.created[g] = time
            self.early[g] = 0
        if g in self.now and self.now[g][0] is not None:
            since, old, why, p, m = self.now[g]
            self.goes[g].append((since, time, old, why))
            if old == "running":
                self.procs[p][since, time] = g
            if old in ("running", "syscall") and m is not None:
                self.threads[m][since, time] = g
        self.now[g] = (time, state, reason, e.get("p"), e.get("m"))
        self.known[g] = (self.known.get(g, (time,))[0], time)
        if state is None:
            self.now.pop(g)
            self.end_regions(g, time)

    def take_v2(self, e):
        kind, time, args, g = e["event"], e["time"], e["args"], e.get("g")
        if kind in ("GoCreate", "GoCreateBlocked"):
            self.change(e, args["new_g"], time, "runnable" if kind == "GoCreate" else "blocked")
        elif kind == "GoStart":
            self.change(e, args["g"], time, "running")
        elif kind in ("GoUnblock", "GoSwitch", "GoSwitchDestroy"):  # the rest of a switch are the implied events
            self.change(e, args["g"], time, "runnable")
        elif kind == "GoStop":
            self.change(e, g, time, "runnable")
        elif kind == "GoBlock":
            self.change(e, g, time, "blocked", "coroutine switch" if e.get("implied") else args.get("reason_string", ""))
        elif kind in ("GoSyscallBegin", "GoSyscallEnd", "GoSyscallEndBlocked"):
            self.change(e, g, time, {"GoSyscallBegin": "syscall", "GoSyscallEnd": "running", "GoSyscallEndBlocked": "runnable"}[kind])
        elif kind in ("GoDestroy", "GoDestroySyscall"):
            self.change(e, g, time, None)

    def take(self, e):
        kind, time, args, g = e["event"], e["time"], e["args"], e.get("g")
        if kind in ("GoUnblock", "GoUnblockLocal", "GoSwitch", "GoSwitchDestroy", "GoCreate", "GoCreateBlocked", "GoCreateSyscall"):
            self.wakes.add((g, args.get("g", args.get("new_g")), time))
        elif kind == "UserRegionBegin" or kind == "UserRegion" and args["mode"] == 0:
            self.open_regions[g].append((time, args["name_string"]))
        elif kind in ("UserRegionEnd", "UserRegion"):
            if not self.open_regions[g]:
                self.early[g] += 1
                self.regions[g, -self.early[g]][self.created.get(g, 0), time] = args["name_string"]
                self.without_begin.add(((g, -self.early[g]), (self.created.get(g, 0), time)))
            self.end_region(g, time)
        elif kind in ("UserTaskBegin", "UserTaskCreate"):
            self.begun_tasks.setdefault(args["task"], {}).setdefault(time, g)
            self.open_tasks.setdefault(args["task"], (time, args["name_string"]))
        elif kind == "UserTaskEnd":
            if args["task"] not in self.begun_tasks:
                self.begun_tasks[args["task"]] = {0: g}
                self.tasks[""][0, time, args["task"]] = "task %d" % args["task"]
                self.without_begin.add(("", (0, time, args["task"])))
            self.end_task(args["task"], time)
        elif kind == "UserLog":
            text = args.get("value_string", e.get("data", ""))
            if not counter_of(args["key_string"], text):
                self.logs[g].append((time, args["key_string"], text))
        elif kind == "CPUSample":
            self.samples[args["g"]].append(time)
        elif kind in ("HeapAlloc", "HeapGoal", "NextGC"):
            self.sizes["heap" if kind == "HeapAlloc" else "goal"].append((time, args["bytes"]))
        elif kind in ("GCBegin", "GCStart"):
            self.open.setdefault("collection", (time, "GC"))
        elif kind in ("GCEnd", "GCDone"):
            self.end_open("collection", time)
        elif kind in ("STWBegin", "GCSTWStart", "STWStart"):
            self.stopped += 1
            self.open.setdefault("stopped world", (time, args["kind_string"] if "kind_string" in args else "GC " * (kind == "GCSTWStart") + e.get("data", "")))
        elif kind in ("STWEnd", "GCSTWDone", "STWDone"):
            self.stopped -= 1
            if self.stopped <= 0:
                self.stopped = 0
                self.end_open("stopped world", time)

    def end_region(self, g, time):
        if self.open_regions[g]:
            begin, name = self.open_regions[g].pop()
            self.regions[g, len(self.open_regions[g])][begin, time] = name

    def end_regions(self, g, time):
        while self.open_regions[g]:
            self.end_region(g, time)

    def end_task(self, task, time):
        if task in self.open_tasks:
            begin, name = self.open_tasks.pop(task)
            self.tasks[name][begin, time, task] = "task %d" % task

    def end_open(self, kind, time):
        if kind in self.open:
            begin, name = self.open.pop(kind)
            self.collector[kind][begin, time] = name

    def chosen(self, g):
        """The story on the page of --go: only the tasks that the goroutine begins."""
        chosen = copy.copy(self)
        chosen.tasks = collections.defaultdict(dict, {name: {key: label for key, label in tasks.items() if self.begun_tasks[key[2]][key[0]] == g}
                                                      for name, tasks in self.tasks.items()})
        return chosen

    def part(self, begin, end):
        """The story of a part: slices are cut at its ends, but their names stay. It lacks what only an end after it tells."""
        def cut(row, slices):
            return {(max(key[0], begin), min(key[1], end), *key[2:]): label for key, label in slices.items()
                    if key[0] <= end and key[1] >= begin and not ((row, key) in self.without_begin and key[1] > end)}

        def inside(list_of, time):
            return [item for item in list_of if begin <= time(item) <= end]
        part = copy.copy(self)
        part.goes = collections.defaultdict(list, {g: [(max(s[0], begin), min(s[1], end), *s[2:]) for s in slices if s[0] <= end and s[1] >= begin]
                                                   for g, slices in self.goes.items()})
        for name in ("procs", "threads", "regions", "tasks", "collector"):
            setattr(part, name, collections.defaultdict(dict, {row: cut(row, slices) for row, slices in getattr(self, name).items()}))
        part.logs = {g: inside(logs, lambda log: log[0]) for g, logs in self.logs.items()}
        part.samples = {g: inside(samples, lambda time: time) for g, samples in self.samples.items()}
        part.wakes = set(inside(self.wakes, lambda wake: wake[2]))
        part.end = end
        return part
