#!/usr/bin/env python3
"""Questions to a trace, each answered on the page of gotrace view with five inputs at most, in Chromium and Firefox.

    tests/view/inputs.py        of a trace whose faults are known to the nanosecond: made_trace.service()
    tests/view/inputs.py go     the first four questions, of a trace that a Go program writes: server.go

An input is a key, a click, or a text that is typed. Why was the slowest request slow? Which mutex was waited for, and who had it? Who stopped the
world? What did one goroutine do all its life? How do two kinds of tasks differ? What did all procs do at 3.466 s? Where is
a function that is deep in a stack? What happened in 100 us in the middle?
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(sys.path[0], "../tool"))
import browser  # noqa: E402
import made_trace  # noqa: E402
from go_program import build_go  # noqa: E402

MOST = 5


class Person:
    """Uses the page as a person would, and counts the inputs."""

    def __init__(self, b):
        self.b, self.count = b, 0

    def input(self):
        self.count += 1
        assert self.count <= MOST

    def press(self, key):
        self.input()
        self.b.keys(key)

    def search(self, text):
        self.press("/")
        self.input()
        self.b.keys(*text, "Enter")
        self.b.wait_for("document.getElementById('found').textContent")
        self.b.frame()

    def click(self, element):
        """On what a script finds, which is looked for on the page, not pressed by the script."""
        self.input()
        self.b.wait_for(element)
        x, y = self.b.run("const element = %s; element.scrollIntoView({block: 'center'}); const box = element.getBoundingClientRect(), picture = document.getElementById('canvas').getBoundingClientRect();"
                          "return [box.left + box.width / 2 - picture.left, box.top + box.height / 2 - picture.top]" % element)
        self.b.mouse((x, y), "down", "up")

    def panel(self, *words):
        """What the details say, once they have all of these words."""
        for word in words:
            self.b.wait_for("document.getElementById('panel').innerText.includes('%s')" % word)
        return self.b.run("return document.getElementById('panel').innerText")


def slowest_request(p):
    p.press("2")
    p.click("[...document.querySelectorAll('#summary tbody tr')].find((row) => row.cells[0].textContent === 'request')?.querySelector('.bars i[title]:nth-last-child(-n + 4)')")
    p.panel("task 150: request", "61.000 ms", "Time on the critical path", "main.rebuild")


def mutex(p):
    p.search("wait>50ms")
    p.click("[...document.querySelectorAll('#results tbody tr')].find((row) => row.textContent.includes('sync'))")
    text = p.panel("sync", "(*Mutex).Lock", "Who had it when the wait began", "meanwhile ")
    assert text.split("Who had it when the wait began")[1].strip().startswith("G11 main.rebuild in main.rebuild"), text
    assert "60.000 ms" in text, text


def stopped(p):
    p.click("[...document.querySelectorAll('#findings button')].find((link) => link.textContent.includes('stops the world'))")
    assert "main.watch" in p.b.run("return document.getElementById('findings').innerText")
    p.b.frame()
    state = p.b.run("return gotrace.state()")
    assert any(state["from"] <= at <= state["to"] for at in range(6000000, 4 * 10 ** 9, 200000000)) and state["to"] - state["from"] < 1e8, state


def life(p):
    p.search("g12")
    row, state = p.b.run("const line = gotrace.app.painter.visibleLines().find((l) => l.row?.id === 12 && l.row.kind === 2); return [line && line.row.end - line.row.begin, gotrace.state()]")
    assert row and state["to"] - state["from"] >= row > 3.9e9, (row, state)


def distributions(p):
    p.press("2")
    table = "[...document.querySelectorAll('#summary table')].find((t) => t.getAttribute('aria-label') === 'medians and tails')"
    p.b.wait_for(table)
    titles, *rows = p.b.run("return [...%s.rows].map((row) => [...row.cells].map((cell) => cell.textContent))" % table)
    assert {title[2:] for title in titles[1:]} == {"task request", "task upload"}, titles
    of = {title[2:]: dict((row[0], row[place]) for row in rows) for place, title in enumerate(titles) if place}
    assert of["task request"]["count"] == "200" and of["task upload"]["count"] == "100", of
    assert of["task request"]["median"] == "999.980 µs" and of["task request"]["longest"] == "61.000 ms" and of["task upload"]["median"] == "3.000 ms", of


def all_procs(p):
    p.search("3.466s")
    shown, state = p.b.run("return [gotrace.app.painter.visibleLines().filter((l) => l.row?.kind === 0).map((l) => l.row.id), gotrace.state()]")
    assert shown == [0, 1, 2, 3, 4] and abs((state["from"] + state["to"]) / 2 - 3.466e9) < 1e6, (shown, state)


def deep_function(p):
    p.search("parseHeader")
    p.panel("main.parseHeader", "main.layer6", "60.000 ms")


def in_the_middle(p):
    p.search("2s 100us")
    state, slices = p.b.run("""return gotrace.visible().then(({slices}) => [gotrace.state(), slices.filter(([row]) => gotrace.app.model.rows[row].id === 14 && gotrace.app.model.rows[row].kind === 2).map((s) => s.slice(0, 5))])""")
    assert abs(state["to"] - state["from"] - 1e5) < 1 and state["from"] < 2e9 + 10000 and state["to"] > 2e9 + 30000, state
    assert [(begin, end) for row, begin, end, size, colour in slices if size == 1 and colour == 0] == [(2000010000, 2000030000)], slices


def server_slowest(p):
    p.press("2")
    p.click("[...document.querySelectorAll('#summary tbody tr')].find((row) => row.cells[0].textContent === 'request')?.querySelector('.bars i[title]:nth-last-child(1 of [title])')")
    text = p.panel("Time on the critical path", "main.(*cache).rebuild", "mutex in main.(*cache).get: main.(*cache).rebuild", "look up")
    # It is the slowest one, and the mutex is nearly all of its time.
    longest, shown = p.b.run("const {model, view} = gotrace.app; return [Math.max(...model.tasks.map((task) => task.end - task.begin)), view.selected.end - view.selected.begin]")
    assert longest == shown > 1e8, (longest, shown)
    waited = re.search(r"([\d.]+) ms\s+([\d.]+) %\s+mutex in main", text)
    assert waited and float(waited.group(2)) > 50, text


def server_mutex(p):
    p.press("r")
    text = p.panel("Waits, by who had it", "mutex in main.(*cache).get: main.(*cache).rebuild")
    times = [float(time) * {"s": 1000, "ms": 1}.get(unit, 0) for time, unit in re.findall(r"mutex in main\.\(\*cache\)\.get: main\.\(\*cache\)\.rebuild\s+\d+\s+([\d.]+) (\S+)", text)]
    others = [float(time) * {"s": 1000, "ms": 1}.get(unit, 0) for time, unit in re.findall(r"mutex in main\.\(\*cache\)\.get: main\.\(\*cache\)\.get\s+\d+\s+([\d.]+) (\S+)", text)]
    assert len(times) == 1 and times[0] > 100 and sum(others) < times[0] / 4, (times, others)
    p.click("[...document.querySelectorAll('#panel tbody tr')].find((row) => row.textContent.includes('(*cache).get: main.(*cache).rebuild'))")
    p.panel("ended by", "main.maintain", "(*Mutex).Lock")  # its longest wait


def server_stopped(p):
    p.press("r")
    p.panel("Stopped world, by whom", "main.watch, read mem stats")
    count = p.b.run("return [...document.querySelectorAll('#panel tbody tr')].find((row) => row.textContent.startsWith('main.watch, read mem stats')).cells[1].textContent")
    assert int(count) > 10, count


def server_life(p):
    p.search("main.beat")
    x, y = p.b.run("const {painter} = gotrace.app, line = painter.visibleLines().find((l) => l.row?.name === 'main.beat' && l.row.kind === 2); return [60, painter.lineMiddle(line)]")
    p.input()
    p.b.mouse((x, y), "down", "up")
    text = p.panel("main.beat", "sleep in main.beat", "created by", "G1 main.main")
    assert float(re.search(r"([\d.]+) %\s+sleep in main.beat", text).group(1)) > 50, text


def server(directory):
    """The path of a page with the trace of server.go."""
    program, trace, page = (os.path.join(directory, name) for name in ("server", "server.trace", "page.html"))
    build_go("tests/view/server.go", program)
    subprocess.run([program, trace], check=True)
    browser.tool("view", "-o", page, trace)
    return page


def ask(browsers, page, questions):
    for kind in browsers:
        counts = {}
        with browser.session(kind) as b:
            for question in questions:
                b.open("about:blank")
                b.open_page(page)
                b.run("gotrace.app.canvas.focus()")
                person = Person(b)
                question(person)
                counts[question.__name__] = person.count
        print(kind.name + ", inputs:", ", ".join("%s %d" % count for count in counts.items()))


def main():
    browsers = browser.needed()
    if sys.argv[1:] == ["go"]:
        # Other programs may take the processors from the server for so long that something else is slow.
        for left in 2, 1, 0:
            try:
                with tempfile.TemporaryDirectory() as directory:
                    return ask(browsers, server(directory), (server_slowest, server_mutex, server_stopped, server_life))
            except (AssertionError, TimeoutError) as error:
                if not left:
                    raise
                print("again:", str(error)[:2000])
    with browser.page_of(made_trace.service(), "service.trace") as page:
        return ask(browsers, page, (slowest_request, mutex, stopped, life, distributions, all_procs, deep_function, in_the_middle))


if __name__ == "__main__":
    main()
