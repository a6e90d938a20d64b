#!/usr/bin/env python3
"""Serves a trace of the scheduler example with `go tool trace` and checks that each page shows what the program did.

    tests/go/pages.py RELEASE FORMAT [-p]

The expected contents of the pages are computed from the trace itself: for v1 from the output of `gotrace dump`, for v2
from that of Go's parser. Other tests compare both with the program's own counts. Pictures of the pages, taken with
Chromium, are left in build/screens; -p: no pictures. The server listens on 127.0.0.1 only and is always ended. Exit
status 77 if a required program is missing.
"""

import collections
import gzip
import html
import http.server
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import zlib

import check_trace

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path += [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests/tool"), os.path.join(ROOT, "tests/view")]
import faults  # noqa: E402
from protobuf import fields  # noqa: E402
from story import in_file  # noqa: E402

BLOCKING = {"GoBlockSend", "GoBlockRecv", "GoBlockSelect", "GoBlockSync", "GoBlockCond"}
failures = []


def check(truth, text):
    if not truth:
        failures.append(text)
        print("WRONG " + text)


def missing(what):
    print(f"needs {what} (make deps)")
    sys.exit(77)


# What the program did, from the trace.

class Facts:
    def __init__(self, events):
        self.procs = {event["p"] for event in events if event["event"] == "ProcStart"}
        self.entries = {}  # goroutine: its start function
        started = set()
        self.tasks, self.regions, self.logs = collections.Counter(), collections.Counter(), []
        # Places (function, file, line) where goroutines waited and were woken, for each profile.
        self.places = {"block": set(), "io": set(), "syscall": set(), "sched": set()}
        self.ended = {kind: set() for kind in self.places}
        waits = {}
        for event in events:
            name, args, g, time = event["event"], event["args"], event.get("g"), event["time"]
            stack = [(frame["function"], frame["file"], frame["line"]) for frame in args.get("stack", [])]
            if name == "GoCreate":
                entry = args.get("new_stack") or args.get("stack")  # the latter of what is older than the trace
                self.entries[args["new_g"]] = entry[0]["function"] if entry else ""
            elif name.startswith("GoStart"):
                started.add(g)
            elif name == "UserTaskCreate":
                self.tasks[args["name_string"]] += 1
            elif name == "UserRegion" and args["mode"] == 0:
                self.regions[args["name_string"]] += 1
            elif name == "UserLog" and args["value_string"]:
                self.logs.append(args["value_string"])
            if name in BLOCKING or name == "GoBlockNet" or name == "GoSysCall":
                kind = "io" if name == "GoBlockNet" else "syscall" if name == "GoSysCall" else "block"
                waits[g] = (kind, time, stack)
                self.places[kind].update(stack)
            elif name in ("GoUnblock", "GoSysExit"):
                kind, began, where = waits.pop(args["g"], (None, time, None))
                if began < time and where and (kind == "syscall") == (name == "GoSysExit"):
                    self.ended[kind].add(where[0])
            elif name in ("GoSleep", "GoBlock", "GoBlockGC", "GoEnd", "GoStop"):
                waits.pop(g, None)
            if name in ("GoUnblock", "GoCreate", "GoSched", "GoPreempt"):
                self.places["sched"].update(stack)
        self.started = collections.Counter(self.entries.get(g, "") for g in started)


class Transition:
    """One event as Go's parser prints it: kind, proc, goroutine, the rest of the line, and its two stacks."""
    __slots__ = ("kind", "p", "g", "time", "text", "stacks")


def parsed_events(lines):
    event = stack = None
    for line in lines:
        match = re.match(r"M=(-?\d+) P=(-?\d+) G=(-?\d+) (\w+) Time=(\d+) ?(.*)", line)
        if match:
            if event:
                yield event
            event = Transition()
            event.p, event.g, event.kind = int(match.group(2)), int(match.group(3)), match.group(4)
            event.time, event.text = int(match.group(5)), match.group(6)
            event.stacks = {}
        elif line.startswith(("TransitionStack=", "Stack=")):
            stack = event.stacks.setdefault(line.split("=")[0], [])
        elif re.match(r"\t[^\t].* @ 0x", line):
            function = line.strip().rsplit(" @ ", 1)[0]
        elif line.startswith("\t\t"):
            file, _, number = line.strip().rpartition(":")
            stack.append((function, file, int(number)))
    if event:
        yield event


class ParsedFacts:
    """The same facts, from a v2 trace."""

    # The contents of each profile: cmd/trace/pprof.go.
    REASONS = {"network": "io"}
    REASONS.update((reason, "block") for reason in ("chan send", "chan receive", "select", "sync", "sync.(*Cond).Wait"))

    def __init__(self, trace):
        said = subprocess.run([os.path.join(ROOT, "tests/go/open_in_go.sh"), "--print", "1.27", trace], stdout=subprocess.PIPE,
                              universal_newlines=True)
        if said.returncode:
            print(said.stdout[:200])
            sys.exit(said.returncode)
        self.procs, self.entries, self.logs, self.threads = set(), {}, [], set()
        self.tasks, self.regions = collections.Counter(), collections.Counter()
        self.places = {"block": set(), "io": set(), "syscall": set(), "sched": set()}
        self.ended = {kind: set() for kind in self.places}
        waits = {}
        for event in parsed_events(said.stdout.splitlines()):
            transition = event.stacks.get("TransitionStack", [])
            if event.kind == "TaskBegin":
                self.tasks[re.search(r'Type="([^"]*)"', event.text).group(1)] += 1
            elif event.kind == "RegionBegin":
                self.regions[re.search(r'Type="([^"]*)"', event.text).group(1)] += 1
            elif event.kind == "Log":
                message = re.search(r'Message="(.*)"', event.text).group(1)
                self.logs += [message] if message and "\\" not in message else []
            match = re.search(r"(GoID|ProcID)=(\d+) (\w+)->(\w+)", event.text)
            if event.kind != "StateTransition" or not match:
                continue
            what, number, old, new = match.group(1), int(match.group(2)), match.group(3), match.group(4)
            if what == "ProcID":
                if new == "Running":
                    self.procs.add(number)
                continue
            if old in ("NotExist", "Undetermined"):
                self.entries[number] = transition[-1][0] if transition else ""
            frames = set(transition)
            if new == "Waiting" and old == "Running":
                kind = self.REASONS.get(re.search(r'Reason="([^"]*)"', event.text).group(1))
                if kind:
                    self.places[kind] |= frames
                    waits[number] = (kind, event.time, transition)
            elif new == "Syscall":
                self.places["syscall"] |= frames
                waits[number] = ("syscall", event.time, transition)
            else:
                kind, time, stack = waits.pop(number, (None, 0, None))
                if stack and event.time > time:
                    self.ended[kind].add(stack[0])
            if new == "Runnable":
                self.places["sched"] |= frames | set(event.stacks.get("Stack", []))
        self.started = collections.Counter(self.entries.values())


# A pprof profile: a gzipped protobuf.

def places_of_profile(data):
    """The places (function, file, line) in a profile, and its number of samples."""
    strings, functions, lines, samples = [], {}, [], 0
    for field, value in fields(gzip.decompress(data)):
        if field == 6:
            strings.append(value.decode())
        elif field == 5:
            function = dict(fields(value))
            functions[function.get(1, 0)] = (function.get(2, 0), function.get(4, 0))
        elif field == 4:
            lines += [dict(fields(line)) for key, line in fields(value) if key == 4]
        elif field == 2:
            samples += 1
    places = set()
    for line in lines:
        name, file = functions[line[1]]
        places.add((strings[name], strings[file], line.get(2, 0)))
    return places, samples


# The pages.

class Server:
    def __init__(self, release, trace, directory):
        said = subprocess.run([os.path.join(ROOT, "tests/go/fetch_go.sh"), "--tool", release], stdout=subprocess.PIPE,
                              universal_newlines=True)
        if said.returncode:
            print(said.stdout.strip())
            sys.exit(77)
        # Keeps it from opening a browser.
        environment = dict(os.environ, PATH="/nonexistent", BROWSER="/bin/true", HOME=directory)
        self.log = open(os.path.join(directory, "log"), "w+")
        self.process = subprocess.Popen([said.stdout.strip(), "-http=127.0.0.1:0", trace], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.url = None
        for _ in range(600):
            time.sleep(0.1)
            with open(self.log.name) as log:
                match = re.search(r"listening on (http://127\.0\.0\.1:\d+)", log.read())
            if match:
                self.url = match.group(1)
                return
            if self.process.poll() is not None:
                break
        with open(self.log.name) as log:
            print("the server does not start:\n" + log.read())
        self.stop()
        sys.exit(1)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def get(self, path):
        try:
            with urllib.request.urlopen(self.url + path, timeout=120) as answer:
                return answer.read()
        except OSError as error:
            check(False, f"{path}: {error}")
            return b""

    def text(self, path):
        return html.unescape(self.get(path).decode("utf-8", "replace"))


def quote(text):
    return urllib.parse.quote(text, safe="")


def check_start(server):
    page = server.text("/")
    for link in ("/trace", "/goroutines", "/io", "/block", "/syscall", "/sched", "/usertasks", "/userregions", "/mmu"):
        check(f'"{link}' in page, f"/ has no link to {link}")


def check_goroutines(server, facts):
    """Goroutines are grouped by their start function; the page of a group has a row for each."""
    page = server.text("/goroutines")
    shown = {}
    links = {}
    for link, name, count in re.findall(r'<a href="(/goroutine\?[^"]*)">([^<]*)</a>(?:</code></td>\s*<td>| N=)(\d+)', page):
        shown[name] = shown.get(name, 0) + int(count)
        links[name] = link
    named = {name: count for name, count in facts.started.items() if name}
    check(len(named) > 1, "the trace has fewer than two kinds of named goroutines")
    for name, count in named.items():
        check(shown.get(name) == count, f"/goroutines: {count} goroutines began at {name}, shown: {shown.get(name)}")
        detail = server.text(links.get(name, "/goroutine?name=" + quote(name)))
        check(name in detail, f"the page of the goroutines {name} does not name it")
        rows = len(re.findall(r'href="/trace\?goid=\d+"', detail))
        check(rows == count, f"the page of the goroutines {name} has {rows} rows for {count}")
    check(set(shown) - set(named) <= {"", "(Inactive, no stack trace sampled)"},
          f"/goroutines shows what is not in the trace: {set(shown) - set(named)}")


def ended(facts, kind, release):
    """The places that a profile must show. Go 1.22 to 1.25 omit a system call unless an event with a stack follows."""
    return set() if kind == "syscall" and release < "1.26" and isinstance(facts, ParsedFacts) else facts.ended[kind]


def check_profiles(server, facts, release):
    for kind in ("io", "block", "syscall", "sched"):
        data = server.get(f"/{kind}?raw=1")
        if not data:
            continue
        places, samples = places_of_profile(data)
        print(f"/{kind}: {samples} stacks: " + ", ".join(f"{function}:{line}" for function, _, line in sorted(places)))
        check(not any(place[0] == "" for place in places), f"/{kind} has a place without a function")
        check(places <= facts.places[kind], f"/{kind} shows places that are not in the trace: "
              f"{sorted(places - facts.places[kind])}")
        check(ended(facts, kind, release) <= places, f"/{kind} lacks places where goroutines waited: "
              f"{sorted(ended(facts, kind, release) - places)}")
    check(places_of_profile(server.get("/sched?raw=1"))[1] > 0, "/sched is empty")
    check(places_of_profile(server.get("/block?raw=1"))[1] > 0, "/block is empty")


def check_annotations(server, facts):
    page = server.text("/usertasks")
    shown = {urllib.parse.unquote(name): int(count)
             for name, count in re.findall(r'<a href="/usertask\?type=([^"&]*)">(\d+)</a>', page)}
    check(facts.tasks, "the program has no user tasks")
    for name, count in facts.tasks.items():
        check(shown.get(name) == count, f"/usertasks: {count} tasks {name}, shown: {shown.get(name)}")
        detail = server.text("/usertask?type=" + quote(name))
        rows = len(re.findall(r"\(goroutine view\)", detail))
        check(name in detail and rows == count, f"/usertask?type={name} has {rows} tasks of {count}")
    if facts.logs:
        details = "".join(server.text("/usertask?type=" + quote(name)) for name in facts.tasks)
        check(any(log in details for log in facts.logs), "the pages of the user tasks show none of the program's logs")
    page = server.text("/userregions")
    shown = collections.Counter()
    for name, count in re.findall(r'<a href="/userregion\?type=([^"&]*)[^"]*">(\d+)</a>', page):
        shown[urllib.parse.unquote(name)] += int(count)
    check(facts.regions, "the program has no user regions")
    for name, count in facts.regions.items():
        check(shown.get(name) == count, f"/userregions: {count} regions {name}, shown: {shown.get(name)}")
        detail = server.text("/userregion?type=" + quote(name))
        check(name in detail, f"the page of the regions {name} does not name it")
        check(re.search(r'href="/trace\?goid=\d+"', detail), f"the page of the regions {name} names no goroutine")


def check_trace_view(server, facts):
    """The data of the trace view: a lane for each proc, slices named after goroutines, arrows, stacks."""
    page = server.text("/trace")
    check("/jsontrace" in page, "/trace does not load its data")
    for script in re.findall(r'(?:src|href)="(/static/[^"]*)"', page):
        check(len(server.get(script)) > 1000, f"{script} is empty")
    data = json.loads(server.get("/jsontrace").decode("utf-8", "replace"))
    events = data["traceEvents"]
    lanes = {event["args"]["name"] for event in events if event.get("name") == "thread_name"}
    for proc in facts.procs:
        check(any(lane == f"Proc {proc}" or re.search(rf"\bProc {proc}\b", lane) for lane in lanes),
              f"the trace view has no lane for proc {proc}: {sorted(lanes)}")
    slices = [event for event in events if event.get("ph") == "X"]
    names = {re.sub(r"^G\d+ (.+?)(?: \(.*\))?$", r"\1", event["name"]) for event in slices}
    for name in facts.started:
        if name:
            check(name in names, f"the trace view has no slice of a goroutine {name}")
    # A goroutine's number must appear with its own start function.
    for event in slices:
        match = re.match(r"^G(\d+) (.+?)(?: \(.*\))?$", event["name"])  # a label is in parentheses
        if match and facts.entries.get(int(match.group(1))) not in (match.group(2), ""):
            check(False, f"the trace view calls a goroutine {event['name']} that began at "
                  f"{facts.entries.get(int(match.group(1)))}")
            break
    check(any(event.get("ph") == "s" for event in events), "the trace view has no arrows")
    frames = {frame["name"].rsplit(":", 1)[0] for frame in data.get("stackFrames", {}).values()}
    for place in facts.ended["block"]:
        check(any(place[0] in frame for frame in frames), f"the trace view has no stack frame in {place[0]}")
    print(f"/jsontrace: {len(events)} records, {len(slices)} slices, lanes: {', '.join(sorted(lanes))}")


def check_threads(server):
    """The view by thread has lanes with slices and arrows."""
    data = json.loads(server.get("/jsontrace?view=thread").decode("utf-8", "replace"))
    slices = [event for event in data["traceEvents"] if event.get("ph") == "X"]
    lanes = {event["args"]["name"] for event in data["traceEvents"] if event.get("name") == "thread_name"}
    check(len(slices) > 100, f"the view by thread has {len(slices)} slices")
    check(any(re.search(r"[Tt]hread \d|M\d", lane) or lane.isdigit() for lane in lanes),
          f"the view by thread has no lane of a thread: {sorted(lanes)}")
    check(any(event.get("ph") == "s" for event in data["traceEvents"]), "the view by thread has no arrows")


def check_pprof(release, trace, facts):
    """go tool trace -pprof=net|sync|syscall|sched, which other programs read."""
    tool = subprocess.run([os.path.join(ROOT, "tests/go/fetch_go.sh"), "--tool", release], stdout=subprocess.PIPE,
                          universal_newlines=True).stdout.strip()
    for word, kind in (("net", "io"), ("sync", "block"), ("syscall", "syscall"), ("sched", "sched")):
        said = subprocess.run([tool, "-pprof=" + word, trace], stdout=subprocess.PIPE)
        check(said.returncode == 0 and said.stdout, f"-pprof={word} fails")
        if not said.stdout:
            continue
        places, samples = places_of_profile(said.stdout)
        check(places <= facts.places[kind], f"-pprof={word} shows places that are not in the trace: "
              f"{sorted(places - facts.places[kind])}")
        lacks = ended(facts, kind, release) - places
        check(not lacks, f"-pprof={word} lacks {sorted(lacks)}")


def check_utilization(server):
    plot = "/mmuPlot?flags=" if "mmuPlot" in server.text("/mmu") else "/mmu?mode=plot&flags="
    check(json.loads(server.get(plot) or b"{}").get("curve"), "/mmu has no curve")


# Pictures.

class Frame(http.server.BaseHTTPRequestHandler):
    """Serves /SECONDS/URL: a page that takes SECONDS to load, with URL in a frame. Chromium takes its picture when a
    page has loaded, but the trace view begins to draw only then."""

    def do_GET(self):
        _, seconds, rest = (self.path + "/").split("/", 2)
        rest = rest.rstrip("/")
        if rest in ("wait", ""):
            time.sleep(float(seconds) if rest else 0)
            kind, body = "text/css", b""
        else:
            frame = html.escape(urllib.parse.unquote(rest))
            kind, body = "text/html", (f'<!doctype html><body style="margin:0"><iframe src="{frame}" style="border:0;width:'
                                       f'100vw;height:100vh;display:block"></iframe><img src="/{seconds}/wait">').encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def picture(chromium, url, path, directory, seconds):
    """A screenshot of a page after some seconds, by a Chromium without other network connections."""
    frames = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Frame)
    threading.Thread(target=frames.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{frames.server_address[1]}/{seconds}/{quote(url)}"
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
               "--disable-background-networking", "--disable-component-update", "--disable-sync",
               "--disable-default-apps", "--disable-dev-shm-usage",
               "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
               f"--user-data-dir={directory}/chromium", "--window-size=1400,900",
               f"--screenshot={path}", url]
    if os.path.exists(path):
        os.remove(path)
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=180, env=dict(os.environ, HOME=directory))
    except subprocess.TimeoutExpired:
        pass
    finally:
        frames.shutdown()
        frames.server_close()
    check(os.path.exists(path), f"no picture of {url}")


def colours(path):
    """How often each colour occurs in a PNG of 8 bits a channel."""
    with open(path, "rb") as file:
        data = file.read()
    at, compressed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            compressed += body
        at += 12 + size
    if depth != 8 or colour not in (2, 6):
        raise ValueError("a picture of an unknown kind")
    pixel = 3 if colour == 2 else 4
    stride = width * pixel
    raw = zlib.decompress(compressed)
    before, counts = bytearray(stride), collections.Counter()
    for row in range(height):
        start = row * (stride + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        if kind == 1:
            for i in range(pixel, stride):
                line[i] = (line[i] + line[i - pixel]) & 255
        elif kind == 2:
            for i in range(stride):
                line[i] = (line[i] + before[i]) & 255
        elif kind == 3:
            for i in range(stride):
                line[i] = (line[i] + ((line[i - pixel] if i >= pixel else 0) + before[i]) // 2) & 255
        elif kind == 4:
            for i in range(stride):
                a, b, c = (line[i - pixel], before[i], before[i - pixel]) if i >= pixel else (0, before[i], 0)
                pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
                line[i] = (line[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
        before = line
        for i in range(0, stride, pixel):
            counts[bytes(line[i:i + 3])] += 1
    return counts


def check_pictures(server, facts, release, directory):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        missing("chromium")
    screens = os.path.join(ROOT, "build/screens")
    os.makedirs(screens, exist_ok=True)
    view = "/trace" if release.startswith("1.1") else "/trace?view=proc"
    name = max(facts.started, key=lambda key: (bool(key), facts.started[key]))
    groups = re.findall(r'<a href="(/goroutine\?[^"]*)">([^<]*)</a>', server.text("/goroutines"))
    group = next((link for link, text in groups if text == name), "/goroutines")
    pages = {"trace": view, "goroutines": "/goroutines", "goroutine": group, "usertasks": "/usertasks",
             "userregions": "/userregions"}
    if facts.tasks:
        pages["usertask"] = "/usertask?type=" + quote(max(facts.tasks, key=facts.tasks.get))
    if facts.regions:
        pages["userregion"] = "/userregion?type=" + quote(max(facts.regions, key=facts.regions.get))
    for word, path in pages.items():
        file = os.path.join(screens, f"{release}-{word}.png")
        picture(chromium, server.url + path, file, directory, 20 if word == "trace" else 1)
        if not os.path.exists(file):
            continue
        counts = colours(file)
        total, common = sum(counts.values()), counts.most_common(1)[0][1]
        drawn = 100 * (total - common) / total
        # The trace view has coloured slices and a gray frame; a text page has at least its text.
        coloured = sum(count for (r, g, b), count in counts.items() if max(r, g, b) - min(r, g, b) > 40)
        print(f"{os.path.relpath(file, ROOT)}: {drawn:.1f} % drawn, {len(counts)} colours, {coloured} coloured pixels")
        check(drawn > 0.3, f"the picture of {path} is blank")
        if word == "trace":
            check(coloured > 2000, f"the picture of {path} has no coloured slices")


def main():
    release, form = sys.argv[1:3]
    v2 = int(form.split(".")[1]) >= 22
    directory = tempfile.mkdtemp()
    server = None
    try:
        path = os.path.join(ROOT, f"build/pages-{release}-{form}.trace")
        if subprocess.run(["make", "-q", "build/examples/scheduler"], cwd=ROOT).returncode:
            print("examples/scheduler is not built, or is older than its source")
            return 1
        with open(os.path.join(directory, "kinds"), "w") as kinds:
            subprocess.run([os.path.join(ROOT, "build/examples/scheduler"), "-o", path, "-f", form, "-k", "-j", "4",
                            "examples", "tests"], stdout=kinds, check=True, cwd=ROOT)
        facts = ParsedFacts(path) if v2 else Facts([in_file(e) for e in check_trace.dump(path) if not e.get("implied")])
        server = Server(release, path, directory)
        check_start(server)
        check_goroutines(server, facts)
        check_profiles(server, facts, release)
        check_annotations(server, facts)
        check_trace_view(server, facts)
        check_utilization(server)
        if v2:
            check_threads(server)
            check_pprof(release, path, facts)
        if "-p" not in sys.argv:
            check_pictures(server, facts, f"{release}-{form}", directory)
    finally:
        if server:
            server.stop()
        shutil.rmtree(directory, ignore_errors=True)
    faults.repeat(failures)
    print(f"{len(failures)} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
