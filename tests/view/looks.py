#!/usr/bin/env python3
"""How the page of gotrace view looks and what a screen reader gets, in Chromium and Firefox.

    tests/view/looks.py

The details stand at the right: a selection moves no row, their width can be dragged and is kept. In a window of 1,280
pixels all columns of the summary fit, and no table breaks a word; in one of 2,560 rows grow. Colours have one meaning each, in light and dark, and the
legend has all. Before anything is selected, what stands out is told there as by gotrace info; in a finding of many words, its second link stands after the last of them. Running time is hatched where the world was stopped. Tables say how they are sorted and are one stop of the tabulator; a line that the keys lead to is said.
"""

import colorsys
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(sys.path[0], "../tool"))
import browser  # noqa: E402
import made_trace  # noqa: E402

ROWS = "return JSON.stringify(gotrace.app.painter.visibleLines().map((line) => [gotrace.app.model.lineKey(line), gotrace.app.painter.lineTop(line), line.height]))"
GREY = 0.2  # the saturation below which a colour has no hue


def check_panel(b, page):
    size = "return [gotrace.app.painter.width, gotrace.app.painter.height, document.getElementById('panel').offsetWidth]"
    b.run("localStorage.clear()")
    b.open_page(page)
    rows, before = b.run(ROWS), b.run(size)
    assert b.run("return document.querySelectorAll('#panel .legend li').length") > 10
    b.run("const row = gotrace.app.model.rows.find((r) => r.kind === 2); return gotrace.app.goTo(row.number, row.begin + 1)")
    b.frame()
    assert b.run("return gotrace.app.view.selected !== null") and b.run(ROWS) == rows and b.run(size) == before
    b.run("gotrace.app.setRange(gotrace.app.data.begin, gotrace.app.data.end)")
    b.wait_for("document.querySelector('#panel table')")
    assert b.run(ROWS) == rows and b.run(size) == before
    wide = "return document.querySelectorAll('#panel th').length"
    few = b.run(wide)
    assert b.run("const {scrollWidth, clientWidth} = document.getElementById('panel'); return scrollWidth <= clientWidth")
    b.run("[...document.querySelectorAll('#panel button')].find((x) => x.textContent === 'all columns').click()")
    assert b.run(wide) > few
    assert b.run("const {scrollWidth, clientWidth} = document.getElementById('panel'); return scrollWidth <= clientWidth")
    # Its width: dragged, changed by keys, kept.
    x, y = b.run("const box = document.getElementById('split').getBoundingClientRect(); return [box.left + box.width / 2, box.top + 100]")
    at = lambda to: {"type": "pointerMove", "x": int(to), "y": int(y), "duration": 0, "origin": "viewport"}  # noqa: E731
    b.perform("pointer", {"parameters": {"pointerType": "mouse"}}, [at(x), {"type": "pointerDown", "button": 0}, at(x - 60), at(x - 100), {"type": "pointerUp", "button": 0}])
    b.wait_for("document.getElementById('panel').offsetWidth > %d" % (before[2] + 90))
    b.run("document.getElementById('split').focus()")
    b.keys("ArrowRight")
    width = b.run(size)[2]
    assert abs(width - (before[2] + 80)) <= 5 and int(b.run("return document.getElementById('split').getAttribute('aria-valuenow')")) == width, (before, width)
    b.open_page(page)
    assert b.run(size)[2] == width
    b.run("localStorage.clear()")


def broken_words(b, place):
    """Words of tables that are on more than one line: between spaces, and places where a name may be broken."""
    return b.run("""
      const found = [], range = document.createRange(), walker = document.createTreeWalker(document.querySelector(arguments[0]), NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = walker.currentNode;
        if (!node.parentElement.closest("td, th")) continue;
        for (const {0: word, index} of node.data.matchAll(/[^ ]+/g)) {
          range.setStart(node, index), range.setEnd(node, index + word.length);
          if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(word);
        }
      }
      return found;""", place)


def check_words(b, page):
    """In the narrowest panel that a page of 1,280 pixels begins with, no column breaks a word, and none is cut off."""
    b.open_page(page)
    asked = "document.querySelector('#panel table.places')"
    b.run("gotrace.app.setRange(gotrace.app.data.begin, gotrace.app.data.end)")
    b.wait_for(asked)
    for more in False, True:
        if more:
            b.run("[...document.querySelectorAll('#panel button')].find((x) => x.textContent === 'all columns').click()")
        else:
            assert b.run("return [...document.querySelectorAll('#panel .wide')].every((box) => box.scrollWidth <= box.clientWidth)")
        assert broken_words(b, "#panel") == [], broken_words(b, "#panel")
    b.run("gotrace.app.panels.showRow(gotrace.app.model.rows.find((row) => row.kind === 2 && row.begin <= row.end))")
    b.wait_for(asked)
    assert broken_words(b, "#panel") == [], broken_words(b, "#panel")
    b.run("return gotrace.app.search('read')")
    assert b.run("return document.querySelectorAll('#results tbody tr').length") > 1
    assert broken_words(b, "#results") == [], broken_words(b, "#results")
    b.keys("2")
    assert broken_words(b, "#summary") == [], broken_words(b, "#summary")
    b.keys("1")


def check_widths(b, page):
    b.open_page(page)
    b.run("""
      for (const f of gotrace.app.model.functions) f.name += "x".repeat(80), f.states.forEach((state) => { state.total += 123456789012, state.longest += 123456789012; });
      gotrace.app.open("summary");""")
    assert b.run("const s = document.getElementById('summary'); return s.scrollWidth <= s.clientWidth"), "the summary is wider than the window"
    b.run("gotrace.app.open('timeline')")


def check_growth(kind, page):
    heights = {}
    for width, height in (1280, 600), (2560, 1440):
        with kind(width, height) as b:
            b.open_page(page)
            b.keys("c")
            b.frame()
            heights[width] = b.run("const {layout, height} = gotrace.app.painter; return [layout.lines[0].height, layout.height / height]")
    assert heights[2560][0] > 1.5 * 20 and heights[1280][0] >= 20, heights


def hues_of(b):
    """The hues of what has one, by its meaning; names share theirs."""
    theme = b.run("return gotrace.app.painter.theme")
    parts = lambda text: [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]  # noqa: E731
    hsv = lambda text: colorsys.rgb_to_hsv(*parts(text))  # noqa: E731
    found = [("state %d" % k, hsv(colour)) for k, colour in enumerate(theme["states"])] + [("collector", hsv(theme["collector"]))]
    assert hsv(theme["counter"])[1] < GREY
    return [(name, 360 * h, v) for name, (h, s, v) in found if s >= GREY], [360 * hsv(colour)[0] for colour in theme["names"]]


def check_colours(b, page):
    b.open_page(page)
    for dark in "false", "true":
        b.run("gotrace.app.setTheme(%s)" % dark)
        hues, names = hues_of(b)
        assert len(hues) == 6 and len(names) == 8, hues
        for i, (name, hue, value) in enumerate(hues):
            for other, of, bright in hues[:i]:
                apart = min(abs(hue - of), 360 - abs(hue - of))
                assert apart > 15 or abs(value - bright) > 0.2, (name, other, hue, of)
            assert not min(names) - 15 < hue < max(names) + 15, (name, hue, names)
        said = b.run("return document.querySelector('#panel .legend').textContent")
        for what in "running", "runnable", "system call", "synchronization", "network", "channel", "sleeping", "other", "greens", "collector", "log", "CPU", "woke":
            assert what in said, (what, said)
    b.run("gotrace.app.setTheme(false)")


def check_first(b, page, trace):
    b.open_page(page)
    told = json.loads(browser.tool("info", "--json", trace)[0])["trace"]["stands_out"]
    assert told and b.run("return document.querySelector('#panel p').textContent") == told
    b.run("gotrace.app.setRange(gotrace.app.data.begin, gotrace.app.data.end)")
    assert told not in b.run("return document.getElementById('panel').textContent")
    with browser.page_of(made_trace.late_request(), "late.trace") as late:
        b.open_page(late)
    places = """
      const [first, second] = document.querySelectorAll('#findings li button');
      first.textContent += " words".repeat(200);
      return [first, second].map((link) => link.getBoundingClientRect()).map(({top, bottom, right}) => [top, bottom, right]);"""
    (top, bottom, _), (other, last, right) = b.run(places)
    assert bottom - top > 30 and other > top + 10 and abs(last - bottom) < 4 and right <= b.run("return innerWidth"), (top, bottom, other, last, right)


def check_stopped(b):
    """Half of the pixels of running time are not painted where the world was stopped, and its length is told."""
    with browser.page_of(made_trace.collecting(), "stopped.trace") as page:  # stopped from 7.5 to 8 us
        b.open_page(page)
    share = """
      const {painter} = gotrace.app, {pixels, ratio} = painter, {width} = painter.canvas;
      const line = painter.layout.lines.find((l) => l.row?.kind === arguments[2]), [x0, x1] = [arguments[0], arguments[1]].map((time) => Math.round(painter.x(time) * ratio));
      const top = Math.round((painter.lineTop(line) + 4) * ratio), bottom = Math.round((painter.lineTop(line) + line.height - 4) * ratio);
      let blank = 0;
      for (let y = top; y < bottom; y++) for (let x = x0; x < x1; x++) blank += pixels[y * width + x] === painter.backColour >>> 0;
      return blank / (bottom - top) / (x1 - x0);"""
    for kind in 0, 2:  # a proc, a goroutine
        hatched, before, after = (b.run(share, *times, kind) for times in ((7510, 7990), (1000, 7490), (8010, 8800)))
        assert 0.4 < hatched < 0.6 and before == after == 0, (kind, hatched, before, after)
    b.run("return gotrace.app.sliceAt(gotrace.app.model.rows.find((r) => r.id === 1 && r.kind === 2).number, 5000, false).then((slice) => gotrace.app.select(slice))")
    told = "document.getElementById('panel').textContent.includes('the world was stopped for %s')"
    b.wait_for(told % "500 ns")
    b.run("gotrace.app.setRange(7700, 9000)")
    b.wait_for(told % "300 ns")
    b.run("gotrace.app.setRange(0, 7500)")
    b.wait_for("document.querySelector('#panel h2').textContent === 'From ' + moment(0) + ' to ' + moment(7500) && document.querySelector('#panel table.places')")
    assert not b.run("return " + told % "")
    # The summary does not count it as running.
    b.keys("2")
    rows = b.run("return [...document.querySelector('#summary table').rows].map((row) => [...row.cells].map((cell) => cell.textContent))")
    of = {row[0]: dict(zip(rows[0], row)) for row in rows[1:]}
    assert {name: (row["running"], row["world stopped"]) for name, row in of.items()} == {"main.main": ("8.400 µs", "500 ns"), "main.worker": ("8.500 µs", "500 ns")}, rows
    assert b.run("return [...document.querySelectorAll('#summary h2')].map((title) => title.textContent)").count("Stopped world, by whom") == 1
    b.keys("1")


def check_reader(b, page):
    """What assistive technology gets."""
    b.open_page(page)
    assert b.run("return document.getElementById('canvas').getAttribute('role')") == "application"
    for tab in b.run("return [...document.querySelectorAll('[role=tab]')].map((tab) => tab.getAttribute('aria-controls'))"):
        assert b.run("return document.getElementById(arguments[0]).getAttribute('role')", tab) == "tabpanel", tab
    b.run("gotrace.app.canvas.focus()")
    b.keys("j", "j")
    said = "return document.getElementById('said').textContent"
    lines = b.run("const {model, view} = gotrace.app; return model.lines(view).lines.filter((line) => model.lineKey(line)).slice(0, 3).map((line) => model.lineText(line))")
    assert b.run(said) == lines[1] and len(set(lines)) == 3, (b.run(said), lines)
    b.run("const row = gotrace.app.model.rows.find((r) => r.kind === 2); return gotrace.app.goTo(row.number, row.begin + 1)")
    assert b.run(said) == b.run("return document.querySelector('#panel h2').textContent")
    b.keys("2")
    stops = b.run("return [...document.querySelectorAll('#summary table')].filter((t) => t.querySelector('.sorts')).map((t) => [...t.querySelectorAll('*')].filter((e) => e.tabIndex >= 0).length)")
    assert stops and set(stops) == {1}, stops
    assert b.run("return [...document.querySelectorAll('#summary table')].every((t) => t.getAttribute('aria-label'))")
    sort = "return [...document.querySelector('#summary table').querySelectorAll('th')].map((th) => th.getAttribute('aria-sort'))"
    assert b.run(sort).count("descending") == 1 and b.run(sort).count("none") == len(b.run(sort)) - 1, b.run(sort)
    b.run("document.querySelector('#summary th').focus()")
    b.keys("ArrowRight", "Enter")
    assert b.run(sort)[1] == "descending", b.run(sort)
    b.keys("Enter")
    assert b.run(sort)[1] == "ascending", b.run(sort)
    b.keys("ArrowDown", "ArrowDown")
    assert b.run("return document.activeElement === document.querySelector('#summary tbody').children[1]")
    b.keys("ArrowUp", "ArrowUp")
    assert b.run("return document.activeElement === document.querySelector('#summary th')")
    assert b.run("return [...document.querySelector('#summary table').querySelectorAll('*')].filter((e) => e.tabIndex >= 0).length") == 1
    b.keys("1")


def main():
    browsers = browser.needed()
    with tempfile.TemporaryDirectory() as directory:
        trace, page = os.path.join(directory, "scheduler.trace"), os.path.join(directory, "page.html")
        subprocess.run(["build/examples/scheduler", "-o", trace, "-f", "1.23", "-j", "4", "examples", "tests"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["build/examples/gotrace", "view", "-o", page, trace], check=True)
        for kind in browsers:
            with browser.session(kind) as b:
                b.open_page(page)
                for check in check_panel, check_words, check_widths, check_colours, check_reader:
                    check(b, page)
                check_first(b, page, trace)
                check_stopped(b)
            check_growth(kind, page)
            print(kind.name)


if __name__ == "__main__":
    main()
