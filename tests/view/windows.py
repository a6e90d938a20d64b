#!/usr/bin/env python3
"""A large trace that is dropped on the page: windows anywhere, parts by an index, and what both take.

    tests/view/windows.py [-p PLACES] [-b BROWSER] [MEGABYTES]      (default: 4 places of a trace of 30 MB, in all browsers)

A program of Go 1.27 writes a trace of that size. In each browser it is chosen on the page, which first shows
what the headers of batches tell: how much each thread wrote. Before it has read the trace, a window at a random place shows
what gotrace dump tells of that time, and stays where it is when all is read. At random places windows of five
lengths, 10 us to 10 ms, show the same, without reading the trace again, and so do 100 us in the middle that are asked for in the box. The page makes an index
meanwhile; a part in the middle that is opened alone is then read from near its beginning on, and is what gotrace view shows
of it. A trace that gotrace view serves is read in the same way. Of one that is broken in the middle the page shows such windows, says why there is no more, and shows all that comes before if that is asked for. While the trace is read, the page's thread is free: progress does not draw the picture again. A file that is opened again is not read again, but one that has other contents is. Memory and the processor's time for
a window have limits.
"""

import argparse
import base64
import collections
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(sys.path[0], "../tool"))
import browser  # noqa: E402
import check  # noqa: E402
import made_trace  # noqa: E402
import serve  # noqa: E402
from browser import TOOL, read, tool  # noqa: E402
from story import Story  # noqa: E402

PAGE = os.path.abspath("build/gotrace-view.html")
LENGTHS = 10**4, 10**5, 10**6, 3 * 10**6, 10**7  # of windows, in nanoseconds
# Nanoseconds of events around the longest window. Go lets a goroutine run for 10 ms at once: with less, a proc may have no slice
# of which both ends are known.
MARGIN = 12 * 10**6
MOST_MEMORY = 300  # megabytes of a page's process
MOST_OF_TOOL = 64  # megabytes that the tool has, however large the trace is
MOST_BLOCKED = 0.04  # of the time of reading in tasks of more than 50 ms, of the page's thread
MOST_TIME = 0.5  # seconds of all processors for a window, in the median
OPENED = """return Boolean(window.gotrace && gotrace.app.data.name === arguments[0] && gotrace.app.answered && document.getElementById('start').hidden)"""
HEADER = 16  # bytes of a trace, before its first generation
MOST_KEPT = 60 << 20  # bytes of the file that the reader keeps, at least
MOST_THREADS = 64  # of which the page shows how much they wrote
EVENT_BATCH, END_OF_GENERATION = 1, 52  # kinds of events
TRACE = "gotrace.app.data.files[0].trace"
INDEXED = TRACE + ".source.indexed"
STARTED = "window.started = []; window.Worker = class extends Worker { postMessage(ask) { started.push(ask.words[0]); super.postMessage(ask); } };"
OUTLINED = """
  window.outlined = null, window.blocked = 0, window.held = [];
  const reads = () => !document.getElementById("start").hidden || window.gotrace?.app.data.outline;
  const began = performance.now(), timer = setInterval(() => {
    const {outline} = window.gotrace?.app.data || {}, {painter} = window.gotrace?.app || {};
    if (!outline || !painter.layout) return;
    const {canvas, layout, view} = painter, left = painter.x(view.from) + 1, top = painter.lineTop({y: view.scroll});
    const shown = canvas.getContext("2d").getImageData(left, top, canvas.width - left, Math.min(layout.height, canvas.height - top)).data;
    const colours = new Uint32Array(shown.buffer), {nameColours: [green]} = gotrace.app.painter;
    window.outlined = [(performance.now() - began) / 1000, colours.filter((pixel) => pixel === green >>> 0).length / colours.length];
    clearInterval(timer);
  }, 20);
  if (PerformanceObserver.supportedEntryTypes.includes("longtask")) new PerformanceObserver((list) => {
    if (reads()) for (const task of list.getEntries()) window.blocked += task.duration / 1000;
  }).observe({entryTypes: ["longtask"]});
  window.Worker = class extends Worker {
    postMessage(ask, ...rest) {
      const go = () => super.postMessage(ask, ...rest);
      if (ask.words?.some((word) => word.startsWith("--from"))) this.addEventListener("message", ({data}) => { if (data.read !== undefined) window.fetched = data.read; });
      if (held && ask.words?.includes("--data") && !ask.words.some((word) => word.startsWith("--from"))) held.push(go);
      else go();
    }
  };"""
RELEASE = "const all = held; window.held = null; window.blocked = 0; all.forEach((go) => go());"
COVERED = """const {data, view} = gotrace.app, part = data.outline && data.outline.shown;
  return !data.outline || data.outline.covers(view.from, view.to) && part.begin <= view.from && part.end >= view.to && [part.begin, part.end]"""
PICTURE = "return gotrace.visible().then((all) => JSON.stringify([all, gotrace.app.data.events]))"


class Processes:
    """Those of a browser: the most memory that one that shows a page has had, and the time of all."""

    def __init__(self, root):
        self.root, self.most, self.over = root, 0, False
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def end(self):
        self.over = True
        self.thread.join()

    def all(self):
        parents = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % pid, encoding="utf-8") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                parents[int(pid)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            except OSError:
                continue

        def within(pid):
            return pid == self.root or pid in parents and within(parents[pid][0])
        return {pid: parents[pid][1] for pid in parents if within(pid)}

    def time(self):
        return sum(self.all().values())

    def watch(self):
        while not self.over:
            for pid in self.all():
                try:
                    with open("/proc/%d/cmdline" % pid, encoding="utf-8") as file:
                        words = file.read().replace("\0", " ").split()
                    if "--type=renderer" not in words and words[-1:] != ["tab"]:
                        continue
                    with open("/proc/%d/smaps_rollup" % pid, encoding="utf-8") as file:
                        self.most = max(self.most, int(next(line for line in file if line.startswith("Pss:")).split()[1]) * 1024 / 1e6)
                except OSError:
                    continue
            time.sleep(0.3)


def batches(data):
    """The thread of each batch, or None, and where its events are."""
    at = 16

    def number():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value
    while at < len(data):
        kind = number()
        if kind == END_OF_GENERATION:
            continue
        assert kind == EVENT_BATCH, kind
        _, thread, _, size = [number() for _ in range(4)]
        yield None if thread == 2**64 - 1 else thread, at, size
        at += size


def written(data):
    """How many bytes each thread wrote."""
    sizes = collections.Counter()
    for thread, _, size in batches(data):
        if size and thread is not None:
            sizes[thread] += size
    return sizes


def opened(b, name, seconds=900):
    end = time.time() + seconds
    while not b.run(OPENED, name):
        assert time.time() < end, b.run("return document.getElementById('opening').textContent")
        time.sleep(0.05)


def check_windows(b, trace, places, generator, processes):
    """Returns the processor's time of each window, and how long each was waited for."""
    b.keys("e")
    first, last, width = b.run("return [gotrace.app.data.begin, gotrace.app.data.end, gotrace.state().width]")
    counts, times, waited = collections.Counter(), [], []
    for place in range(places):
        middle = generator.uniform(first + LENGTHS[-1] + MARGIN, last - LENGTHS[-1] - MARGIN)
        known = int(middle) - LENGTHS[-1] // 2 - MARGIN, int(middle) + LENGTHS[-1] // 2 + MARGIN
        story = Story(TOOL, trace, *known)
        for length in LENGTHS:
            top = place == 0 or length == LENGTHS[-1]  # where the procs are
            b.run("gotrace.app.view.scroll = arguments[0] * gotrace.app.model.lines(gotrace.app.view).height", 0 if top else generator.random())
            before, at = processes.time(), time.time()
            b.run("gotrace.setView(arguments[0], arguments[1])", middle - length / 2, middle + length / 2)
            b.frame()
            times.append(processes.time() - before)
            waited.append(time.time() - at)
            check.compare_window(b, story, middle - length / 2, middle + length / 2, width, counts, known)
    assert counts["goroutine"] > 20 * places and counts["proc"], counts
    return times, waited, counts


def check_unread(b, trace, places, generator, processes):
    """Windows of which the page reads only the generations in which they lie and the one before, where most happens; further ones if
    nothing happens there, as on a busy machine. Returns the processor's time of each, and how long each was waited for."""
    first, end, sums = b.run("const {first, end, sums} = gotrace.app.data.outline; return [first, end, sums]")
    busy = sorted(range(len(sums)), key=lambda column: sums[column])[-len(sums) // 10:]
    counts, times, waited = collections.Counter(), [], []
    for place in range(places + 20):
        if place >= places and counts["goroutine"] and counts["proc"]:
            break
        length = LENGTHS[-1 - place % len(LENGTHS)]
        middle = min(max(first + (generator.choice(busy) + 0.5) * (end - first) / len(sums), LENGTHS[-1]), end - LENGTHS[-1])
        window = middle - length / 2, middle + length / 2
        if not b.run("return gotrace.app.data.outline.fits(...arguments)", *window):  # its generations are most of the trace
            continue
        before, at = processes.time(), time.time()
        b.run("gotrace.setView(...arguments)", *window)
        b.wait_for("(() => {%s})()" % COVERED, 300)
        times.append(processes.time() - before)
        waited.append(time.time() - at)
        part = b.run(COVERED)
        fetched, size = b.run("return [window.fetched, gotrace.app.data.outline.piece(...arguments).size]", *part)
        assert 0 < fetched and (fetched <= size + HEADER or size > MOST_KEPT), (fetched, size)  # each byte once
        # What is cut at the part's ends is not known.
        known = [int(max(part[0] + 1, window[0] - MARGIN)), int(min(part[1] - 1, window[1] + MARGIN))]
        b.keys("e")
        check.compare_window(b, Story(TOOL, trace, *known), *window, b.run("return gotrace.state().width"), counts, known)
    assert counts["goroutine"] and counts["proc"], counts
    assert b.run("return document.getElementById('tab-summary').disabled")
    return times, waited


def check_progress(b):
    """That more has been read does not draw the picture again."""
    drawn = "return gotrace.app.data.outline?.progress && [gotrace.app.data.outline.progress, gotrace.app.painter.frameTimes.length]"
    b.wait_for("(() => {%s})() || !gotrace.app.data.outline" % drawn)
    first = b.run(drawn)
    if first:  # a busy machine may need a while
        b.wait_for("gotrace.app.data.outline?.progress !== %s" % json.dumps(first[0]))
        time.sleep(0.5)
    later = b.run(drawn)
    if first and later:
        assert first[0] != later[0] and later[1] <= first[1] + 2, (first, later)


def check_question(b, trace):
    """What happened in 100 us in the middle: two inputs, a key, and a text that is typed."""
    first, last = b.run("return [gotrace.app.data.begin, gotrace.app.data.end]")
    middle = int((first + last) / 2e6)  # in milliseconds
    b.run("gotrace.app.setView(gotrace.app.data.begin, gotrace.app.data.end); gotrace.app.canvas.focus()")
    b.frame()
    b.keys("/")
    b.keys(*"%dms 100us" % middle, "Enter")
    b.wait_for("gotrace.state().to - gotrace.state().from < 100001")
    b.frame()
    begin, end = b.run("return [gotrace.state().from, gotrace.state().to]")
    assert abs((begin + end) / 2 - middle * 10**6) < 10**5 and abs(end - begin - 10**5) < 1, (begin, end, middle)
    known = int(begin) - MARGIN, int(end) + MARGIN
    check.compare_window(b, Story(TOOL, trace, *known), begin, end, b.run("return gotrace.state().width"), collections.Counter(), known)


def check_part(b, trace, generations):
    """Opens a part alone, which is read with the index: both the picture and what is wrong, of less than the trace. It is in the
    second half, where little was written: a busy machine writes generations of different sizes."""
    first, last = b.run("return [gotrace.app.data.begin, gotrace.app.data.end]")
    later = range(len(generations) // 2, len(generations) - 1)
    least = min(later, key=lambda i: generations[i + 1]["at"] - generations[i - 1]["at"])
    begin = min(generations[least]["begin"] + 10**6, last - 10**7)
    end = begin + 10**7
    b.run("gotrace.app.panels.showRange(gotrace.app.view.range = {from: arguments[0], to: arguments[1]})", begin, end)
    b.wait_for("[...document.querySelectorAll('#panel button, #panel a')].find((link) => link.textContent === 'open alone')")
    before = time.time()
    b.run("[...document.querySelectorAll('#panel button, #panel a')].find((link) => link.textContent === 'open alone').click()")
    b.wait_for("gotrace.app.data.begin === %d && !document.getElementById('whole').hidden" % begin)
    took = time.time() - before
    b.wait_for("gotrace.app.answered")
    b.frame()
    got, used = b.run(PICTURE), b.run("return [%s.took.read, %s.took.memory]" % (TRACE, TRACE))
    assert used[0] < 0.8 * os.path.getsize(trace), used
    assert used[1] < MOST_OF_TOOL * 1e6, used
    b.run("document.getElementById('whole').click()")
    b.wait_for("gotrace.app.data.begin === %d && gotrace.app.answered" % first)
    assert b.run("return document.getElementById('whole').hidden")
    return begin, end, got, took, used[0]


def check_served(kind, trace, places):
    """The same windows before all is read, of a trace that gotrace view serves: of such a window only its generations are fetched."""
    with browser.session(kind) as b, serve.Server(trace) as server:
        b.call("POST", "/goog/cdp/execute", {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": "if (location.protocol === 'http:') {%s}" % OUTLINED}})
        processes = Processes(b.process.pid)
        try:
            b.open(server.address)
            b.wait_for("window.outlined", 300)
            check_unread(b, trace, places, random.Random(2), processes)
            b.open("about:blank")
        finally:
            processes.end()


def check_broken(kind, trace, path, generations):
    """Of a trace that is broken in the middle the outline stays, with the reason; a time after that can be looked at,
    but not one in the broken generation, which says so. All that comes before is shown if it is asked for."""
    broken, later = len(generations) // 3, 2 * len(generations) // 3 + 1
    data = bytearray(read(trace))
    at, size = next((at, size) for thread, at, size in batches(data) if at > generations[broken]["at"] and thread is not None and size > 100)
    data[at + size // 2:at + size] = bytes([255] * (size - size // 2))
    with open(path, "wb") as file:
        file.write(data)
    told = tool("check", path, status=1)[1].replace("gotrace: %s: " % path, "").strip().split("\n")[0]
    with browser.session(kind) as b:
        b.open("file://" + PAGE)
        b.wait_for("!document.getElementById('start').hidden")
        b.choose("#file", path)
        b.wait_for("window.gotrace && gotrace.app.data.outline?.message", 900)
        said = b.run("return document.querySelector('#findings p').textContent")
        assert said.startswith(os.path.basename(path) + ": ") and told.split(":")[0] in said, (said, told)
        for number, shown in (later, True), (broken, False):
            begin, end = generations[number]["begin"], generations[number + 1]["begin"]
            window = (3 * begin + end) / 4, (begin + end) / 2
            b.run("gotrace.setView(...arguments)", *window)
            b.wait_for("!gotrace.app.data.outline.pending", 300)
            want = "Only the time that you look at is shown" if shown else "This time cannot be shown: "
            b.wait_for("document.getElementById('status').textContent.startsWith('%s')" % want)
            words = b.run("return document.getElementById('status').textContent")
            assert bool(b.run(COVERED)) == shown and (shown or told.split(" (")[0] in words), (words, told)
        b.run("gotrace.setView(gotrace.app.data.begin, gotrace.app.data.end)")
        b.wait_for("document.getElementById('status').textContent.startsWith(%s)" % json.dumps(said.split("\n")[0]))
        b.run("document.querySelector('#findings button').click()")
        b.wait_for("!gotrace.app.data.outline && gotrace.app.answered", 900)
        kept, said = b.run("return [gotrace.app.data.events, document.querySelector('#findings p').textContent]")
        assert "kept what comes before: %d events" % kept in said and kept > 1000, (kept, said)


def check_kept(b, name, data):
    """What is opened again is not read again; another file of this name, size and time is."""
    open_it = """
      const data = Uint8Array.from(atob(arguments[1]), (c) => c.charCodeAt(0)), files = new DataTransfer();
      files.items.add(new File([data], arguments[0], {lastModified: 1e12}));
      document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));"""
    events = "return gotrace.app.data.events"
    packed = [base64.b64encode(each).decode() for each in data]
    seen = []
    for which in 0, 1, 0, 1:
        shown = b.run("const {app} = gotrace; started.length = 0; return app.data.id")
        b.run(open_it, name, packed[which])
        b.wait_for("gotrace.app.data.id !== %r && gotrace.app.answered" % shown)
        seen.append((b.run(events), b.run("return started.filter((word) => word !== 'index')")))
    assert seen[0][0] != seen[1][0] and [row[0] for row in seen[:2]] == [row[0] for row in seen[2:]], seen
    assert [row[1] for row in seen] == [["view", "info"]] * 2 + [[]] * 2, seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", type=int, default=4)
    parser.add_argument("-b")
    parser.add_argument("megabytes", type=int, nargs="?", default=30)
    options = parser.parse_args()
    if not os.path.exists(PAGE):
        print("needs clang, lld, wasi-libc and libclang-rt-dev-wasm32, to build the page (make deps)")
        sys.exit(77)
    browsers = [kind for kind in browser.needed() if options.b in (None, kind.name)]
    with tempfile.TemporaryDirectory() as directory:
        trace = os.path.join(directory, "large.trace")
        # More generations than one a second, since an index has moments only between them.
        shorter = dict(os.environ, GODEBUG="traceadvanceperiod=%d" % (700000 * options.megabytes))
        if subprocess.run(["sh", "tests/go/write_traces.sh", "--big", trace, "%d000000" % options.megabytes, "200", "1.27"], env=shorter, stdout=subprocess.DEVNULL, check=False).returncode:
            print("needs Go 1.27 (make deps)")
            sys.exit(77)
        tool("index", trace)
        outline = json.loads(tool("view", "--batches", trace)[0])
        told = {row["thread"]: row["bytes"] for row in outline["threads"]}
        assert told == dict(written(read(trace)).most_common(MOST_THREADS)), told
        at = [place["at"] for place in outline["generations"]] + [os.path.getsize(trace)]
        assert at[0] == 16 and len(at) > 3 and all(place["at"] + place["size"] == after for place, after in zip(outline["generations"], at[1:])), outline["generations"]
        for base in "", "x", "1x", str(2**64):
            assert "invalid value" in tool("view", "--base=" + base, "--data", "-o", "-", trace, status=2)[1]
        assert "--base is for --data" in tool("view", "--base=1", "-o", os.devnull, trace, status=2)[1]
        small = [made_trace.runs_rarely(1000 + more, share=0.0066).data() for more in (0, 1)]
        for kind in browsers:
            generator = random.Random(1)
            with browser.session(kind) as b:
                processes = Processes(b.process.pid)
                try:
                    b.open("file://" + PAGE)
                    b.wait_for("!document.getElementById('start').hidden")
                    b.run(OUTLINED)
                    b.choose("#file", trace)
                    b.wait_for("window.outlined", 300)
                    outlined, pixels = b.run("return window.outlined")
                    assert 0.05 < pixels < 0.9, (outlined, pixels)
                    unread = check_unread(b, trace, options.p, generator, processes)
                    before = time.time()
                    b.run(RELEASE)
                    place = b.run("return [gotrace.app.view.from, gotrace.app.view.to]")
                    check_progress(b)
                    opened(b, "large.trace")
                    shown = time.time() - before
                    assert b.run("return [gotrace.app.view.from, gotrace.app.view.to, gotrace.app.data.outline, document.getElementById('tab-summary').disabled]") == [*place, None, False]
                    blocked = b.run("return window.blocked")
                    assert blocked < MOST_BLOCKED * shown, (blocked, shown)
                    used = b.run("return %s.took.memory" % TRACE)
                    assert used < MOST_OF_TOOL * 1e6, used
                    b.wait_for(INDEXED, 900)
                    indexed = time.time() - before
                    most = processes.most  # what follows includes what the test itself asks for
                    b.run(STARTED)
                    times, waited, counts = check_windows(b, trace, options.p, generator, processes)
                    check_question(b, trace)
                    assert b.run("return started") == []
                    begin, end, got, took, bytes_read = check_part(b, trace, outline["generations"])
                    check_kept(b, "small.trace", small)
                finally:
                    processes.end()
                page = os.path.join(directory, "part.html")
                tool("view", "--from", "%dns" % begin, "--to", "%dns" % end, "-o", page, trace)
                b.open_page(page)
                b.frame()
                assert got == b.run(PICTURE)
                print("%s: %.0f MB: outline after %.1f s, then %.2f s of the processors for a window, %.2f s waited (medians); shown after %.1f s (the page's thread blocked for %.2f s of it), index after %.1f s, with at most %.0f MB; %s; %.2f s of the processors for a window, %.2f s waited (medians); a part after %.1f s, %.1f MB read"
                      % (kind.name, os.path.getsize(trace) / 1e6, outlined, *map(statistics.median, unread), shown, blocked, indexed, most, ", ".join("%d of %ss" % (count, what) for what, count in counts.items() if count),
                         statistics.median(times), statistics.median(waited), took, bytes_read / 1e6), flush=True)
                if kind is browser.Chromium:
                    check_served(kind, trace, min(options.p, 5))
                check_broken(kind, trace, os.path.join(directory, "broken.trace"), outline["generations"])
                assert statistics.median(times) < MOST_TIME, times
                assert 50 < most < MOST_MEMORY, most


if __name__ == "__main__":
    main()
