#!/usr/bin/env python3
"""The cost of the pages of gotrace view: to make them and, in headless Chromium, to draw and move in them, and memory.

    tests/bench/viewing.py [-q] [TRACE...]      -q: only the smaller traces

Uses traces of 10 and 100 MB that a program of Go 1.27 writes, with 8 goroutines and with 20,000, or the traces named.
Columns of the first table: time and peak memory to make the page, size of the page, the zoom down to which it is complete, time from the
start of loading until all is drawn, memory of the page's process beyond that of an empty page, frames per second while
panning and zooming, script time per frame (median and 99 %). Those of the second, of gotrace-view.html on which the trace
is chosen: time until the first picture, until all is drawn, and until it says what is wrong; how much of that the page's
thread did not answer for more than 50 ms at a time; memory as above; and of 200 frames of the whole trace, and of 200 of a
tenth, frames per second, and script time per frame (median and worst). Headless Chromium draws without a graphics card.
Prints the limits that were exceeded.
"""

import os
import subprocess
import sys
import time

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, "tests/view")
import browser  # noqa: E402

DIRECTORY = "build/bench"
LIMITS = {"make": 6, "peak": 400, "page": 30 * 2**20 / 1e6, "drawn": 1.5, "memory": 400, "median": 8, "99 %": 30}  # of a trace of 100 MB
OPENED_LIMITS = {"blocked": 1, "memory": 300, "worst": 50}  # of a trace of 100 MB
FRAMES = 200
MOVE = """
window.moved = null;
(async ([from, to, frames]) => {
  const {app} = gotrace, {painter, view} = app, span = app.data.end - app.data.begin;
  app.setView(app.data.begin + span * from, app.data.begin + span * to);
  await new Promise((done) => setTimeout(done, 500));
  painter.frameTimes.length = 0;
  const before = performance.now();
  for (let n = 0; n < frames; n++) {
    if (n < frames / 2) app.pan(n < frames / 4 ? 0.02 : -0.02);
    else app.zoom(n < frames * 3 / 4 ? 0.93 : 1 / 0.93, 700);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  const times = [...painter.frameTimes].sort((a, b) => a - b);
  window.moved = {frames: times.length / (performance.now() - before) * 1000, median: times[times.length >> 1], "99 %": times[Math.floor(times.length * 0.99)], worst: times.at(-1)};
})(arguments);
"""
WATCH = """
window.blocked = 0, window.first = null, window.began = performance.now();
new PerformanceObserver((list) => { for (const task of list.getEntries()) window.blocked += task.duration / 1000; }).observe({entryTypes: ["longtask"]});
const timer = setInterval(() => {
  if (document.getElementById("sketch").hidden && !window.gotrace) return;
  window.first = (performance.now() - began) / 1000;
  clearInterval(timer);
}, 5);
"""


def page_memory(driver):
    """Megabytes of the browser's largest page process, with a proportional share of shared memory."""
    parents, commands = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="utf-8") as file:
                parents[int(pid)] = int(file.read().rsplit(")", 1)[1].split()[1])
            with open("/proc/%s/cmdline" % pid, encoding="utf-8") as file:
                commands[int(pid)] = file.read()
        except OSError:
            continue

    def within(pid):
        return pid == driver or pid in parents and within(parents[pid])

    most = 0
    for pid, command in commands.items():
        if "--type=renderer" in command and within(pid):
            try:
                with open("/proc/%d/smaps_rollup" % pid, encoding="utf-8") as file:
                    most = max(most, int(next(line for line in file if line.startswith("Pss:")).split()[1]) * 1024 / 1e6)
            except OSError:
                continue
    return most


def measure(trace, page):
    before = time.time()
    making = subprocess.Popen(["build/examples/gotrace", "view", "--pictures", "-o", page, trace])
    _, status, usage = os.wait4(making.pid, 0)
    making.returncode = os.waitstatus_to_exitcode(status)
    if making.returncode:
        raise RuntimeError("gotrace view failed")
    found = {"make": time.time() - before, "peak": usage.ru_maxrss * 1024 / 1e6, "page": os.path.getsize(page) / 1e6}
    with browser.Chromium(1280, 800) as b:
        b.open("about:blank")
        empty = page_memory(b.process.pid)
        b.open("file://" + os.path.abspath(page))
        b.wait_for("window.gotrace && gotrace.drawnAt()")
        found["drawn"] = b.run("return gotrace.drawnAt()") / 1000
        found.update(move(b, 0.3, 0.4), memory=page_memory(b.process.pid) - empty)
        found.update({"complete": b.run("return gotrace.app.data.finest.map((k) => k ? duration(levelSize(k)) : 'the end').join(', ')")})
        errors = b.errors()
        if errors:
            raise RuntimeError(errors)
    return found


def move(b, begin, end):
    """Pans and zooms in a part of the picture."""
    b.run(MOVE, begin, end, FRAMES)
    b.wait_for("window.moved")
    return b.run("return window.moved")


def measure_opened(trace):
    with browser.Chromium(1280, 800) as b:
        b.open("about:blank")
        empty = page_memory(b.process.pid)
        b.open("file://" + os.path.abspath("build/gotrace-view.html"))
        b.wait_for("!document.getElementById('start').hidden")
        b.run(WATCH)
        b.choose("#file", os.path.abspath(trace))
        b.wait_for("window.gotrace && gotrace.drawnAt()", 600)
        found = dict(zip(("drawn", "first", "blocked"), b.run("return [(gotrace.drawnAt() - began) / 1000, first, blocked]")), memory=page_memory(b.process.pid) - empty)
        b.wait_for("gotrace.app.answered", 600)
        found["answered"] = b.run("return (performance.now() - began) / 1000")
        b.wait_for("gotrace.app.data.files.every((file) => file.trace.source.indexed)", 600)
        found["whole"], found["tenth"] = move(b, 0, 1), move(b, 0.3, 0.4)
        found["worst"] = max(found[part]["worst"] for part in ("whole", "tenth"))
        errors = b.errors()
        if errors:
            raise RuntimeError(errors)
    return found


def exceeded(found, limits):
    over = ["%s: %g" % (name, limit) for name, limit in limits.items() if found[name] > limit]
    return "  exceeded: " + ", ".join(over) if over else ""


def main(words):
    quick, traces = words[:1] == ["-q"], [word for word in words if word != "-q"]
    if not browser.Chromium.is_there():
        print("missing: chromium, chromium-driver (make deps)")
        return
    os.makedirs(DIRECTORY, exist_ok=True)
    subprocess.run(["make", "-s", "build/examples/gotrace"], check=True)
    if not traces:
        for size in (10,) if quick else (10, 100):
            for goroutines in (8, 20000):
                trace = "%s/1.27-%d-%d.trace" % (DIRECTORY, size, goroutines)
                if not os.path.exists(trace) and subprocess.run(
                        ["sh", "tests/go/write_traces.sh", "--big", trace, "%d000000" % size, str(goroutines), "1.27"], stdout=subprocess.DEVNULL).returncode:
                    print("missing: traces of Go 1.27 (make deps)")
                    return
                traces.append(trace)
    print("%-26s %8s %9s %9s %9s %10s %9s %11s %9s  %s" % ("trace", "make, s", "peak, MB", "page, MB", "drawn, s", "page's, MB", "frames/s", "median, ms", "99 %, ms", "complete: procs, others"))
    for trace in traces:
        page = os.path.join(DIRECTORY, "page.html")
        found = measure(trace, page)
        os.remove(page)
        print("%-26s %8.2f %9.0f %9.1f %9.2f %10.0f %9.0f %11.1f %9.1f  %s%s" % (
            os.path.basename(trace)[:-len(".trace")], found["make"], found["peak"], found["page"], found["drawn"], found["memory"], found["frames"],
            found["median"], found["99 %"], found["complete"], exceeded(found, LIMITS)), flush=True)
    if subprocess.run(["make", "-s", "build/gotrace-view.html"], check=False).returncode or not os.path.exists("build/gotrace-view.html"):
        print("missing: clang, lld, wasi-libc, libclang-rt-dev-wasm32 (make deps)")
        return
    part = "%9.0f %11.1f %9.1f"
    print("%-26s %8s %9s %11s %10s %10s %31s  %31s" % ("trace, opened", "first, s", "drawn, s", "answered, s", "blocked, s", "page's, MB",
                                                       "whole: frames/s, median, worst", "a tenth: the same"))
    for trace in traces:
        found = measure_opened(trace)
        print("%-26s %8.2f %9.2f %11.2f %10.2f %10.0f %s  %s%s" % (
            os.path.basename(trace)[:-len(".trace")], found["first"], found["drawn"], found["answered"], found["blocked"], found["memory"],
            *(part % tuple(found[which][name] for name in ("frames", "median", "worst")) for which in ("whole", "tenth")),
            exceeded(found, OPENED_LIMITS)), flush=True)


main(sys.argv[1:])
