#!/usr/bin/env python3
"""The page that opens traces, build/gotrace-view.html, in Chromium and Firefox.

    tests/view/reader.py

A trace that is chosen, or dropped, compressed by gzip or not, is drawn as in the page that gotrace view makes of it,
which check.py compares with gotrace dump. Another takes its place. What is no trace is refused with the
tool's own words, and the next one opens. Of a broken trace what comes before the error is shown. What is wrong with a program is said above the picture, as by gotrace info; a
click goes there, and the critical path is that of gotrace path. The policy lets the page connect to nothing, and the
page has less than a megabyte. A page of gotrace view has the beginning of a trace that is too large, and says so.
"""

import datetime
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(sys.path[0], "../tool"))
import browser  # noqa: E402
import made_trace  # noqa: E402
from browser import read, tool  # noqa: E402

PAGE = os.path.abspath("build/gotrace-view.html")
PICTURE = "return gotrace.visible().then((all) => JSON.stringify([all, gotrace.app.data.events, gotrace.app.data.format]))"
CONNECT = """return fetch("http://127.0.0.1:9/").then(() => "connected", () => "refused")"""


class Traces:
    """Files, with what their own pages draw."""

    def __init__(self, directory):
        self.directory = directory
        self.path = lambda name: os.path.join(directory, name)
        subprocess.run(["build/examples/scheduler", "-o", self.path("scheduler.trace"), "-f", "1.23", "examples"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["build/examples/scheduler", "-o", self.path("v1.trace"), "-f", "1.11", "examples"], check=True, stdout=subprocess.DEVNULL)
        self.write("task.trace", made_trace.late_request().data())
        self.write("service.trace", made_trace.service().data())
        self.write("named.trace", made_trace.named().data())
        self.write("packed.trace.gz", gzip.compress(read(self.path("scheduler.trace"))))
        self.write("broken.trace.gz", gzip.compress(read(self.path("scheduler.trace")))[:-1000])
        self.write("empty.trace", b"")
        self.write("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(100))
        self.write("cut.trace", read(self.path("scheduler.trace"))[:-1000])

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def page(self, name):
        tool("view", "-o", self.path(name + ".html"), self.path(name))
        return "file://" + self.path(name + ".html")


def opened(b, name, seconds=60):
    """Waits until a trace is shown, with what is wrong, or refused; then returns the message."""
    told = "[...document.querySelectorAll('#findings p, #start:not([hidden]) #opening')].map((e) => e.textContent).find((text) => text.startsWith(%s))" % json.dumps(name + ": ")
    b.wait_for("(window.gotrace && gotrace.app.data.name === %s && gotrace.app.answered && document.getElementById('start').hidden) || %s" % (json.dumps(name), told), seconds)
    return b.run("return %s || ''" % told)


def check_opening(b, traces):
    pictures = {}
    for name in "scheduler.trace", "v1.trace":
        b.open(traces.page(name))
        assert opened(b, name) == ""
        b.frame()
        pictures[name] = b.run(PICTURE)
        assert len(json.loads(pictures[name])[0]["slices"]) > 100, pictures[name][:300]
    b.open("file://" + PAGE)
    b.wait_for("!document.getElementById('start').hidden")
    assert b.run(CONNECT) == "refused"
    b.choose("#file", traces.path("picture.png"))
    assert opened(b, "picture.png").startswith("picture.png: ")
    assert b.run("return ['start', 'progress', 'sketch'].map((id) => document.getElementById(id).hidden)") == [False, True, True]
    for name, of in ("scheduler.trace", "scheduler.trace"), ("v1.trace", "v1.trace"), ("packed.trace.gz", "scheduler.trace"):
        b.choose("#file", traces.path(name))
        assert opened(b, name) == "", name
        b.frame()
        assert b.run(PICTURE) == pictures[of], name
    b.choose("#file", traces.path("broken.trace.gz"))
    assert opened(b, "broken.trace.gz") == "broken.trace.gz: the gzip file is broken"
    for name in "picture.png", "empty.trace", "cut.trace":
        b.choose("#file", traces.path(name))
        told = tool("view", "-o", os.devnull, traces.path(name), status=1)[1].replace("gotrace: %s: " % traces.path(name), "").strip()
        assert told and opened(b, name) == name + ": " + told, (name, told, opened(b, name))
        # What was shown before stays.
        assert b.run("return [gotrace.app.data.name, document.getElementById('start').hidden]") == ["packed.trace.gz", True]
    b.drop(("dropped", read(traces.path("v1.trace"))))
    assert opened(b, "dropped") == ""
    b.frame()
    assert b.run(PICTURE) == pictures["v1.trace"]


def check_broken(b, traces):
    """Of a broken trace what comes before the error is shown, and the error is told."""
    traces.write("broken.trace", read("tests/traces/carried_over_generations")[:-10])
    told = tool("view", "--partial", "-o", traces.path("part.html"), traces.path("broken.trace"))[1].replace("gotrace: %s: " % traces.path("broken.trace"), "").strip()
    assert "; kept what comes before: " in told, told
    b.open("file://" + traces.path("part.html"))
    assert opened(b, "broken.trace") == ""
    b.frame()
    picture = b.run(PICTURE)
    b.open("file://" + PAGE)
    b.wait_for("!document.getElementById('start').hidden")
    b.choose("#file", traces.path("broken.trace"))
    assert opened(b, "broken.trace") == ""
    b.frame()
    assert b.run(PICTURE) == picture
    assert b.run("return [...document.querySelectorAll('#findings p')].map((e) => e.textContent)") == [told]
    assert "not known" not in b.run("return document.getElementById('findings').textContent")


def check_asking(b, traces):
    """What the panel asks is answered although another file is opened, and refused, at that moment."""
    b.choose("#file", traces.path("task.trace"))
    assert opened(b, "task.trace") == ""
    b.drop(("none.trace", b"no trace"), first="window.spent = document.createElement('div'); gotrace.app.panels.fillSpent(window.spent, gotrace.app.data.files[0], '12');")
    b.wait_for("window.spent.textContent.includes('60.000 ms')")
    assert opened(b, "none.trace").startswith("none.trace: ")


def search(b, text):
    b.run("return gotrace.app.search(arguments[0])", text)
    b.frame()
    return b.run("return document.getElementById('found').textContent")


def check_search(b, traces):
    """Times, waits by length, procs and regular expressions."""
    b.choose("#file", traces.path("task.trace"))
    assert opened(b, "task.trace") == ""
    assert search(b, "wait > 50ms") == "1 of 1: sleep"
    selected = b.run("return gotrace.app.view.selected")
    assert selected["end"] - selected["begin"] > 59e6
    assert search(b, "wait>50us").startswith("1 of 21: ")
    assert search(b, "wait > 50ms") == "1 of 1: sleep"
    b.run("gotrace.app.canvas.focus()")
    for key, moves in (".", True), (",", False):
        b.keys(key)
        b.wait_for("(gotrace.app.view.selected.begin > %r) === %s" % (selected["begin"], "true" if moves else "false"))
    assert b.run("return gotrace.app.view.selected.begin") == selected["begin"]
    assert search(b, "wait>1000s") == "nothing found"
    assert search(b, "0.05s").startswith("in the middle: ")
    state = b.run("return gotrace.state()")
    assert abs((state["from"] + state["to"]) / 2 - 5e7) < 1, state
    assert search(b, "1000s") == "nothing found"
    assert search(b, "proc 1").startswith("1 of 1: ") and search(b, "proc 7") == "nothing found"
    assert search(b, "/^REQ.*t$/") == search(b, "request") and search(b, "request").startswith("1 of ")
    assert search(b, "/^equest/") == "nothing found" and search(b, "/(/") == "nothing found"
    assert search(b, "task 12").startswith("1 of 1: task 12 request")


def check_found(b, traces):
    """A stopped world is found by its reason, a wait by its own, and a function anywhere in a slice's stack."""
    b.choose("#file", traces.path("service.trace"))
    assert opened(b, "service.trace") == ""
    assert search(b, "read mem") == "1 of 20: stopped world: read mem stats"
    selected, panel = b.run("return [gotrace.app.view.selected, document.getElementById('panel').innerText]")
    assert selected["end"] - selected["begin"] == 10 ** 7 - 20 and "read mem stats" in panel, (selected, panel)
    assert search(b, "/^sync$/") == "1 of 1: sync"
    assert search(b, "/^sleep$/").startswith("1 of 327: sleep")
    for name in "Lock", "layer3", "parseHeader":
        assert search(b, name).startswith("1 of 1: in ") and search(b, name).endswith(name + ", sync"), name
    assert search(b, "main.serve").startswith("1 of 1: ")  # the row: all that it does begins with this function
    # Threads that have names are not called by the function that they began with.
    b.choose("#file", traces.path("named.trace"))
    assert opened(b, "named.trace") == ""
    search(b, "pool")
    found = b.run("const {model, results} = gotrace.app; return results.map(({row, what}) => [model.rows[row].name, what])")
    assert {(name, what) for name, what in found if name != "pool"} == {(name, "in pool, sync: mutex") for name in ("net", "log")}, found
    assert all(what.endswith(" pool") for name, what in found if name == "pool"), found


def check_slow_search(b, traces):
    """Nothing comes of a search that ends after a later one, or after its trace was closed."""
    late = """const {app} = gotrace, open = new Promise((done) => { window.release = done; });
      for (const chunk of app.data.chunks) chunk.load = () => open.then(() => Object.getPrototypeOf(chunk).load.call(chunk));
      window.late = app.search("wait > 50ms");"""
    told = "return [document.getElementById('found').textContent, document.getElementById('results').textContent]"
    b.choose("#file", traces.path("v1.trace"))
    assert opened(b, "v1.trace") == ""
    b.choose("#file", traces.path("task.trace"))
    assert opened(b, "task.trace") == ""
    b.frame()
    b.run(late)
    b.run("gotrace.app.search('task 12')")
    b.run("window.release(); return window.late")
    b.frame()
    found, results = b.run(told)
    assert found.startswith("1 of 1: task 12 request") and "1 result" in results and "request" in results, (found, results)
    b.run(late)
    b.choose("#file", traces.path("v1.trace"))
    assert opened(b, "v1.trace") == ""
    b.run("window.release(); return window.late")
    b.frame()
    assert b.run(told) == ["", ""], b.run(told)


def check_parts(b, traces):
    """The options of gotrace view are those of the page's reader."""
    for options in [], ["--partial", "--lenient"], ["--from", "1us", "--to=1s", "--partial", "--go", "1"]:
        tool("view", *options, "-o", traces.path("part.html"), traces.path("task.trace"))
        b.open("file://" + traces.path("part.html"))
        assert opened(b, "task.trace") == ""
        assert "not known" not in b.run("return document.getElementById('findings').textContent"), options
        assert b.run("return gotrace.app.data.filtered") == ("--go" in options) and (b.run("return gotrace.app.data.begin") > 0) == ("--go" in options)
    # The wall clock of this computer, in a browser whose own is another.
    subprocess.run(["build/examples/scheduler", "-o", traces.path("clock.trace"), "-f", "1.25", "examples"], check=True, stdout=subprocess.DEVNULL)
    began = json.loads(tool("info", "--json", traces.path("clock.trace"))[0])["trace"]["began"]
    local = datetime.datetime.fromisoformat(began[:19]) + datetime.timedelta(hours=5, minutes=30)
    os.environ["TZ"] = "IST-5:30"
    tool("view", "--from", local.strftime("%Y-%m-%d %H:%M:%S"), "-o", traces.path("part.html"), traces.path("clock.trace"))
    del os.environ["TZ"]
    b.open("file://" + traces.path("part.html"))
    assert opened(b, "clock.trace") == ""
    assert b.run("return gotrace.app.data.begin === 0 && gotrace.app.data.end > 0")


def check_time_left(b, traces):
    """While a trace is read, the page tells how long the rest will take, by a clock that here runs a thousand times as fast,
    and shows how many goroutines were running and runnable in what has been read: of a large trace of Go 1.22 and later beside its
    outline. One with a single generation is shown when all is read."""
    traces.write("many.trace", made_trace.runs_rarely(400000).data())
    tool("convert", "--to", "1.21", "-o", traces.path("old.trace"), traces.path("many.trace"))
    for name, outlined in ("many.trace", True), ("old.trace", False):
        b.open("file://" + PAGE)
        b.wait_for("!document.getElementById('start').hidden")
        b.run("""
          const now = performance.now.bind(performance), begin = now(), words = (id) => document.getElementById(id).textContent;
          performance.now = () => begin + (now() - begin) * 1000;
          window.told = [], window.pictures = [];
          const canvas = document.getElementById("sketch"), note = () => {
            const {outline} = window.gotrace?.app.data || {};
            window.told.push(outline ? words("facts") + "; " + words("status") : words("opening"));
            if (outline?.points.length) window.pictures.push(true);
            if (!outline && !canvas.hidden && !window.pictures.length) // the browser warns if this is read twice
              window.pictures.push(![...new Uint32Array(canvas.getContext("2d").getImageData(0, 0, 720, 120).data.buffer)].some((pixel) => pixel));
          };
          new MutationObserver(note).observe(document.body, {childList: true, subtree: true});""")
        b.choose("#file", traces.path(name))
        b.wait_for("window.gotrace && gotrace.app.data.name === '%s' && gotrace.app.answered && document.getElementById('start').hidden" % name)
        told, pictures = b.run("return [window.told, window.pictures]")
        assert told[0] == "Reading " + name, told
        left = r"about [\d.]+ .?s, reading: \d+ %, about \d+ (s|min) left; Which threads wrote how much when. Details come when all is read." if outlined else "Reading " + name + r": \d+ %, about \d+ (s|min) left"
        assert any(re.fullmatch(left, text) for text in told), told
        assert outlined in pictures, pictures
    for elapsed, part, want in (500, 0.5, ""), (9000, 0.01, ""), (2000, 0.25, ", about 6 s left"), (100000, 0.1, ", about 15 min left"):
        assert b.run("return timeLeft(arguments[0], arguments[1])", elapsed, part) == want, (elapsed, part)


def check_cut(b, traces):
    """A page has as many whole generations of a trace that is too large as fit, and says how to see all."""
    traces.write("large.trace", made_trace.many_messages().data())
    size, page = os.path.getsize(traces.path("large.trace")), traces.path("cut.html")
    for limit, all_there in (2 << 20, False), (3 << 20, False), (20 << 20, True):
        told = tool("view", "--size", str(limit), "-o", page, traces.path("large.trace"))[1]
        assert os.path.getsize(page) <= limit, (os.path.getsize(page), limit)
        b.open("file://" + page)
        assert opened(b, "large.trace") == ""
        shown, marks = b.run("return [gotrace.app.data.end, gotrace.app.model.marks.length]")
        generations = marks // 2000
        assert marks % 2000 == 0 and abs(shown - 1000000 * (generations - 1) - 800000) < 10, (shown, marks)
        note = b.run("return document.querySelector('#findings p')?.textContent || ''")
        if all_there:
            assert generations == 12 and told == note == "", (generations, told, note)
            continue
        assert 2 <= generations < 12 and os.path.getsize(page) > limit / 2, (generations, os.path.getsize(page))
        parts = re.match(r"This page has the first ([\d.]+) of ([\d.]+) MB .* gotrace view FILE, .*--size (\d+)M ", note)
        assert parts and told.strip().endswith(note), (note, told)
        assert abs(float(parts[1]) * 1e6 - size * generations / 12) < 2e5 and abs(float(parts[2]) * 1e6 - size) < 1e5, (note, size)
        # What it suggests is enough.
        assert tool("view", "--size", parts[3] + "M", "-o", page, traces.path("large.trace"))[1] == ""
    # One that shrinks more than most is in the page.
    traces.write("alike.trace", made_trace.many_messages(12, 3900, alike=True).data())
    assert os.path.getsize(traces.path("alike.trace")) > 8 << 20
    assert tool("view", "--size", "2M", "-o", page, traces.path("alike.trace"))[1] == ""
    b.open("file://" + page)
    assert opened(b, "alike.trace") == "" and b.run("return document.querySelector('#findings p')") is None
    # A goroutine that is only in the rest: not the beginning, but a page that has it.
    assert "cannot be cut" in tool("view", "--size", "2M", "--go", "1", "-o", page, traces.path("large.trace"), status=1)[1]
    assert "at least 2M" in tool("view", "--size", "100K", "-o", page, traces.path("large.trace"), status=1)[1]
    tool("view", "--size", "1M", "--pictures", "-o", page, traces.path("large.trace"), status=2)
    os.remove(page)
    traces.write("one.trace", made_trace.many_messages(1, 24000).data())
    assert "its first generation" in tool("view", "--size", "2M", "-o", page, traces.path("one.trace"), status=1)[1] and not os.path.exists(page)


def check_findings(b, traces):
    b.choose("#file", traces.path("task.trace"))
    assert opened(b, "task.trace") == ""
    said = json.loads(tool("info", "--json", traces.path("task.trace"))[0])["findings"]
    assert [f["kind"] for f in said] == ["task"], said
    assert b.run("return document.querySelector('#findings li').textContent") == said[0]["text"] + " critical path"
    b.run("document.querySelector('#findings button').click()")
    b.wait_for("gotrace.app.view.selected !== null")
    b.frame()
    words = said[0]["look"].split()
    title = b.run("return document.querySelector('#panel h2').textContent")
    assert words[:2] == ["path", "--task"] and title == "task %s: request" % words[2], title
    b.run("document.querySelectorAll('#findings button')[1].click()")
    b.wait_for("(document.querySelector('#panel pre')?.textContent.length || 0) > 100")
    assert b.run("return document.querySelector('#panel pre').textContent") == tool(*words, traces.path("task.trace"))[0]
    traces.write("short.trace", read("tests/traces/counters"))
    assert json.loads(tool("info", "--json", traces.path("short.trace"))[0])["findings"] == []
    b.choose("#file", traces.path("short.trace"))
    assert opened(b, "short.trace") == ""
    assert b.run("return document.getElementById('findings').hidden")


def main():
    if not os.path.exists(PAGE):
        print("needs clang, lld, wasi-libc and libclang-rt-dev-wasm32, to build the page (make deps)")
        sys.exit(77)
    browsers = browser.needed()
    assert os.path.getsize(PAGE) < 1 << 20, os.path.getsize(PAGE)
    with tempfile.TemporaryDirectory() as directory:
        traces = Traces(directory)
        for kind in browsers:
            with kind(1280, 800) as b:
                check_opening(b, traces)
                check_broken(b, traces)
                check_asking(b, traces)
                check_findings(b, traces)
                check_search(b, traces)
                check_found(b, traces)
                check_slow_search(b, traces)
                check_parts(b, traces)
                check_cut(b, traces)
                check_time_left(b, traces)
                errors = [error for error in b.errors() if "127.0.0.1:9/" not in error]  # Firefox may tell of that late
                assert not errors, errors
                print(kind.name)


if __name__ == "__main__":
    main()
