#!/usr/bin/env python3
"""Rows, strips, results and tables of the page of gotrace view, in Chromium and Firefox.

    tests/view/rows.py

The program's goroutines come in the order in which they began, those of Go's runtime last and folded. The strip of a
folded group has the share of each state that its rows have together. A search lists its results with times, and each
leads there. The tables of goroutines and tasks have each of them, with the times of its slices, and a bar of times lists
those of its length. A task's details tell where its time went, as gotrace path does; two kinds of tasks or regions are
compared by medians and tails, and so are two selected times.
"""

import collections
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(sys.path[0], "../tool"))
import browser  # noqa: E402
import made_trace  # noqa: E402


def table(b, label):
    return b.run("return [...document.querySelectorAll('table')].find((t) => t.getAttribute('aria-label') === arguments[0])?.innerText.split('\\n').map((line) => line.split('\\t'))", label)


def check_order(b, page):
    b.open_page(page)
    groups = b.run("const {model} = gotrace.app; return model.groups.filter((g) => /^(go |runtime)/.test(g.key)).map((g) => [g.key, model.folded.has(g.key), Math.min(...g.rows.map((n) => model.rows[n].begin)), g.rows.map((n) => model.rows[n].name)])")
    program = [g for g in groups if g[0] != "runtime"]
    assert len(program) >= 1 and groups[:len(program)] == program, groups
    assert [g[2] for g in program] == sorted(g[2] for g in program)
    assert all(not name.startswith("runtime.") or name == "runtime.main" for g in program for name in g[3]), program
    assert groups[-1][0] == "runtime" and groups[-1][1] and all(name.startswith("runtime.") for name in groups[-1][3]), groups[-1]


def check_begins(b, page):
    b.open_page(page)
    begins = b.run("const {model} = gotrace.app; return model.groups.filter((g) => g.key.startsWith('go ')).map((g) => Math.min(...g.rows.map((n) => model.rows[n].begin)))")
    assert len(begins) > 4 and begins == sorted(begins), begins


def check_strips(b, page):
    """What the strip adds up is what the slices of its rows are, and its colours are painted in their order and size."""
    b.open_page(page)
    for size in 1, 0.2:
        b.keys("0", "c", "Home")
        b.run("const {begin, end} = gotrace.app.data; gotrace.setView(begin, begin + (end - begin) * arguments[0])", size)
        b.frame()
        b.wait_for("gotrace.app.painter.visibleLines().filter((l) => l.folded && l.group.rows.length).every((l) => gotrace.app.painter.strips.get(l.group.key)?.from === gotrace.app.view.from)")
        b.run("gotrace.app.painter.draw()")
        compared = 0
        for key in b.run("return gotrace.app.model.groups.filter((g) => g.rows.length).map((g) => g.key)"):
            found = b.run("""
              const {painter, model, view} = gotrace.app, strip = painter.strips.get(arguments[0]), group = model.groups.find((g) => g.key === arguments[0]);
              if (!strip || strip.from !== view.from || strip.to !== view.to) return null;
              const got = new Float64Array(8), want = new Float64Array(8), step = (strip.to - strip.from) / strip.columns;
              for (let i = 0; i < strip.columns * 8; i++) got[i % 8] += strip.sums[i] * step;
              for (const part of painter.chooseChunks()) for (const number of group.rows) {
                const span = part.index.get(number);
                for (let i = span ? span.from : 0; i < (span ? span.to : 0); i++) {
                  const inside = Math.min(part.end[i], strip.to) - Math.max(part.begin[i], strip.from), length = part.end[i] - part.begin[i];
                  if (inside > 0) part.times(i).forEach((time, c) => { want[c] += time * inside / length; });
                }
              }
              return [[...got], [...want]];""", key)
            if found:
                got, want = found
                assert all(abs(g - w) <= 1e-6 * sum(want) for g, w in zip(got, want)), (key, got, want)
                compared += sum(want) > 0  # a part of the trace may have nothing of a group
        assert compared > 3, compared
        painted = b.run("""
          const {painter} = gotrace.app, {pixels, ratio} = painter, {width} = painter.canvas, line = painter.visibleLines().find((l) => l.folded && l.group.key.startsWith("go "));
          const top = Math.round((painter.lineTop(line) + 2) * ratio), bottom = Math.round((painter.lineTop(line) + line.height - 2) * ratio);
          let count = 0, other = 0;
          for (let y = top; y < bottom; y++) for (let x = Math.round(230 * ratio); x < width; x++)
            if (painter.stateColours.some((colour) => colour >>> 0 === pixels[y * width + x])) count++;
            else if (pixels[y * width + x] !== painter.backColour >>> 0) other++;
          return [count, other];""")
        assert painted[0] > 100 and painted[1] == 0, painted


def check_results(b, page):
    b.open_page(page)
    b.run("return gotrace.app.search('walk')")
    rows = table(b, "results")
    count = b.run("return gotrace.app.results.length")
    assert count > 20 and len(rows) == count + 1 and rows[0][1] == "%d results" % count, rows[:3]
    times = b.run("return gotrace.app.results.map((r) => moment(r.time))")
    assert [row[0] for row in rows[1:]] == times
    b.run("document.querySelectorAll('#results tbody tr')[5].click()")
    b.wait_for("gotrace.app.result === 5")
    assert b.run("return gotrace.app.view.hit === gotrace.app.results[5].row")
    b.run("return gotrace.app.search('wait>1us')")
    rows = table(b, "results")
    lengths = b.run("return gotrace.app.results.slice(0, 500).map((r) => duration(r.length))")
    assert rows[0][2] == "length" and [row[2] for row in rows[1:501]] == lengths, rows[:5]
    b.run("gotrace.app.canvas.focus()")
    b.keys("Escape")
    assert b.run("return document.getElementById('results').hidden")


def check_tables(b, page):
    b.open_page(page)
    b.keys("2")
    b.wait_for("[...document.querySelectorAll('#summary table')].some((t) => t.getAttribute('aria-label') === 'goroutines')")
    rows, head = table(b, "goroutines"), ["goroutine", "function", "begins", "lasts", "running", "runnable", "in a system call", "blocked"]
    assert rows[0] == head, rows[0]
    goes = b.run("return gotrace.app.model.rows.filter((r) => r.kind === 2 && r.begin <= r.end).map((r) => ['G' + r.id, r.name, moment(r.begin), duration(r.end - r.begin)])")
    assert sorted(row[:4] for row in rows[1:]) == sorted(goes) and len(goes) > 20
    # Each time is that of its slices, and all of a goroutine add up to its life, but for what is drawn together.
    want = dict(b.run("""return gotrace.app.data.load(0, 0, gotrace.app.data.end).then((chunks) => {
      const sums = new Map();
      for (const {slices} of chunks) for (const [number, span] of slices.index) for (let i = span.from; i < span.to; i++) if (gotrace.app.model.rows[number].kind === 2 && slices.colour[i] === 0)
        sums.set(number, (sums.get(number) || 0) + slices.end[i] - slices.begin[i]);
      return [...sums].map(([number, time]) => ["G" + gotrace.app.model.rows[number].id, time ? duration(time) : ""]);
    })"""))
    assert all(row[4] == want.get(row[0], "") for row in rows[1:]), (rows[1], want)
    tasks = table(b, "tasks")
    assert len(tasks) == 1 + b.run("return gotrace.app.model.tasks.length") > 10 and tasks[0] == ["task", "name", "begins", "lasts"]
    # A bar lists what it counts.
    title = b.run("""
      const of = [...document.querySelectorAll("#summary table")].find((t) => t.getAttribute("aria-label") === "Tasks, by name"), bar = of.querySelector("tbody .bars i[title]");
      bar.click();
      return bar.title;""")
    b.wait_for("gotrace.app.results?.length")
    assert b.run("return gotrace.app.results.length") == int(title.split(" of ")[0]), title
    b.keys("2")
    title = b.run("const bar = document.querySelector('#summary table tbody .bars i[title]'); bar.click(); return bar.title")
    b.wait_for("gotrace.app.results?.length && gotrace.app.results[0].what === 'runnable'")
    assert b.run("return gotrace.app.results.length") == int(title.split(" of ")[0]), title


def columns(b, label):
    return [list(column) for column in zip(*table(b, label))]


def check_task(b, page):
    """The panel of a task tells where its time went, as gotrace path does, and each step leads there."""
    b.open_page(page)
    b.run("const task = gotrace.app.model.tasks.find((t) => t.id === 1); return gotrace.app.goTo(task.row, (task.begin + task.end) / 2)")
    b.wait_for("document.querySelectorAll('#panel .steps li').length")
    told = json.loads(subprocess.run(["build/examples/gotrace", "path", "--task", "1", "--json", page.replace(".html", ".trace")], check=True, stdout=subprocess.PIPE).stdout)
    whole, states = sum(step["time"] for step in told["path"]), collections.Counter()
    for step in told["path"]:
        stopped = step.get("stopped", 0)
        states[{"syscall": "in a system call", "waiting": "blocked"}.get(step["state"], step["state"])] += step["time"] - stopped
        states["the world was stopped"] += stopped
    wait_text = lambda w: w["class"] + (" in " + w["in"] if w.get("in") else "") + (": " + w["through"] if w.get("through") else "")  # noqa: E731
    for title, want in (("Time on the critical path, by state", [(state, time) for state, time in states.items() if time]), ("By region", [(r.get("name") or "(none)", r["time"]) for r in told["regions"]]),
                        ("By class of wait, and through whom", [(wait_text(w), w["time"]) for w in told["waits"]])):
        shown = b.run("return [...document.querySelectorAll('#panel table')].find((t) => t.getAttribute('aria-label') === arguments[0]) ? "
                      "[...[...document.querySelectorAll('#panel table')].find((t) => t.getAttribute('aria-label') === arguments[0]).rows].map((r) => [...r.cells].map((c) => c.textContent)) : null", title)
        want = [[b.run("return duration(arguments[0])", time), "%.1f %%" % (100 * time / whole), text] for text, time in sorted(want, key=lambda part: -part[1])]
        # The longest, in order. Those of equal times come in any.
        assert [row[0] for row in shown or []] == [row[0] for row in want][:20] and all(row in want for row in shown or []), (title, shown, want)
    assert b.run("return document.querySelectorAll('#panel .steps li').length") == min(200, len(told["path"]))
    last = min(10, len(told["path"]) - 1)
    step = told["path"][last]
    b.run("document.querySelectorAll('#panel .steps button')[arguments[0]].click()", last)
    b.wait_for("gotrace.app.model.rows[gotrace.app.view.selected.row].kind === 2")
    row, begin, end = b.run("const s = gotrace.app.view.selected; return [gotrace.app.model.rows[s.row].id, s.begin, s.end]")
    assert row == step["go"] and begin <= step["since"] + step["time"] / 2 <= end, (row, begin, end, step)


def check_comparison(b, page):
    """Medians and tails of two kinds of tasks or regions: of tasks exactly, of regions within 0.4 %, as the tool tells; before it has, within their bucket."""
    b.open_page(page)
    b.keys("2")

    def compare(number, kind):
        b.run("""
          const choice = document.querySelectorAll("#summary select")[arguments[0]];
          choice.value = [...choice.options].find((option) => option.text === arguments[1]).value;
          choice.dispatchEvent(new Event("change"));""", number, kind)

    compare(0, "task directory")
    compare(1, "task count words")
    rows = columns(b, "medians and tails")
    lengths = b.run("return gotrace.app.model.tasks.filter((t) => gotrace.app.model.rows[t.row].name === 'directory').map((t) => t.end - t.begin).sort((a, b) => a - b)")
    exact = [b.run("return duration(arguments[0])", lengths[max(0, math.ceil(share * len(lengths)) - 1)]) for share in (0.5, 0.9, 0.99, 1)]
    assert rows[0] == ["", "count", "median", "90 %", "99 %", "longest"] and rows[1][1:] == [str(len(lengths)), *exact], (rows, exact)
    assert rows[1][0].endswith("task directory") and rows[2][0].endswith("task count words")
    compare(1, "region read")
    told = columns(b, "medians and tails")
    b.run("const {trace} = gotrace.app.data.files[0]; window.told = trace.told; trace.told = null")
    compare(1, "region read")
    b.run("gotrace.app.data.files[0].trace.told = window.told")
    rows = columns(b, "medians and tails")
    assert rows[2][0].endswith("region read") and told[2][:2] == rows[2][:2], (rows, told)
    reads = b.run("""return gotrace.app.data.load(0, 0, gotrace.app.data.end).then((chunks) => {
      const lengths = [], {model, data} = gotrace.app;
      for (const {slices} of chunks) for (const [number, span] of slices.index) for (let i = span.from; i < span.to; i++)
        if (model.rows[number].kind === 3 && data.texts[slices.what[i]] === "read") lengths.push(slices.end[i] - slices.begin[i]);
      return lengths.sort((a, b) => a - b);
    })""")
    units = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
    for share, text, near in zip((0.5, 0.9, 0.99), rows[2][2:], told[2][2:]):
        value, unit = near.lstrip("≈ ").split(" ")
        true = reads[max(0, math.ceil(share * len(reads)) - 1)]
        assert near.startswith("≈ ") and abs(float(value) * units[unit] - true) <= 0.005 * true, (share, near, true)
        value, unit = text.lstrip("≤ ").split(" ")
        assert true <= float(value) * units[unit] * 1.001 and float(value) * units[unit] <= true * 1.26, (share, text, true)
    # Each pixel that is painted is of one of the two: the first has an area, the second a line.
    assert b.run("const canvas = document.querySelector('#summary canvas'); return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.filter((v, i) => i % 4 === 3 && v > 0).length") > 1000
    b.keys("1")


def check_compared_times(b, page):
    """What began in two selected times: counts, medians and tails of each state, task and region, from the slices themselves."""
    b.open_page(page)
    begin, end = b.run("return [gotrace.app.data.begin, gotrace.app.data.end]")
    middle = (begin + end) // 2
    link = "[...document.querySelectorAll('#panel button')].find((e) => e.textContent === '%s')"
    b.run("gotrace.app.setRange(arguments[0], arguments[1])", begin, middle)
    b.wait_for(link % "compare with another time")
    b.run(link % "compare with another time" + ".click()")
    b.wait_for(link % "now select the other time")
    b.run("gotrace.app.setRange(arguments[0], arguments[1])", middle, end)
    b.wait_for("document.querySelector('#panel select')")
    lengths = b.run("""const {model, data} = gotrace.app, found = [{}, {}], add = (begin, kind, length) => {
        const of = found[begin < arguments[0] ? 0 : 1];
        (of[kind] = of[kind] || []).push(length);
      };
      for (const t of model.tasks) add(t.begin, "task " + model.rows[t.row].name, t.end - t.begin);
      return data.load(0, data.begin, data.end).then((chunks) => {
        for (const {slices} of chunks) for (const [number, span] of slices.index) for (let i = span.from; i < span.to; i++) {
          const {kind} = model.rows[number], length = slices.end[i] - slices.begin[i];
          if (kind === 2 && slices.size[i] === 1) add(slices.begin[i], "state " + slices.colour[i], length);
          if (kind === 3 && slices.size[i] === 1) add(slices.begin[i], "region " + data.texts[slices.what[i]], length);
        }
        return found;
      });""", middle)
    names = {"state 0": "running", "state 1": "runnable", "state 5": "blocked: channel, select"}
    kinds = b.run("return [...document.querySelector('#panel select').options].map((option) => option.text)")
    assert len(kinds) >= 5 and len(set(kinds)) == len(kinds), kinds
    assert {kind for kind in kinds if kind.startswith(("task ", "region "))} == {kind for of in lengths for kind in of if not kind.startswith("state ")}, kinds
    for kind in sorted({kind for of in lengths for kind in of if not kind.startswith("state ") or kind in names}):
        b.run("const choice = document.querySelector('#panel select'); choice.value = arguments[0]; choice.dispatchEvent(new Event('change'))", kinds.index(names.get(kind, kind)))
        rows = columns(b, "medians and tails")[1:]
        for of, row in zip(lengths, rows):
            of = sorted(of.get(kind, []))
            want = [str(len(of))] + [b.run("return duration(arguments[0])", of[max(0, math.ceil(share * len(of)) - 1)]) if of else "" for share in (0.5, 0.9, 0.99, 1)]
            assert [row[1].replace(",", ""), *row[2:]] == want, (kind, row, want)
    b.run(link % "no comparison" + ".click()")
    b.wait_for("!document.querySelector('#panel select')")
    # Escape forgets the time to compare with, and a selected time a mark.
    b.run(link % "compare with another time" + ".click()")
    b.wait_for(link % "now select the other time")
    b.run("gotrace.app.canvas.focus()")
    b.keys("Escape")
    assert b.run("const {range, compared} = gotrace.app.view; return [range, compared]") == [None, None]
    b.run("gotrace.app.selectMark(gotrace.app.model.marks[0]); gotrace.app.setRange(arguments[0], arguments[1])", begin, middle)
    b.wait_for(link % "compare with another time")
    assert b.run("return gotrace.app.view.mark") is None and "&m=" not in b.run("return gotrace.app.fragment()")


def check_labels(b, page):
    """A click on a row's label shows its time by state, and its longest slices, each of which it leads to."""
    b.open_page(page)
    number, y = b.run("""const {app} = gotrace, {painter, model} = app;
      app.reveal(model.rows.find((row) => row.kind === 2 && row.begin <= row.end).number), painter.draw();
      const line = painter.visibleLines().find((l) => l.type === 'row' && l.row.kind === 2 && painter.lineMiddle(l) < painter.height - 4);
      return [line.row.number, painter.lineMiddle(line)]""")
    b.mouse((60, y), "down", "up")
    b.wait_for("document.querySelectorAll('#panel table.places tbody tr').length && document.querySelectorAll('#panel table.shares tr').length")
    title, begin, end, slices = b.run("""const {model, data} = gotrace.app, row = model.rows[arguments[0]], found = [];
      return data.load(0, data.begin, data.end).then((chunks) => {
        for (const {slices} of chunks) {
          const span = slices.index.get(row.number);
          for (let i = span?.from; i < span?.to; i++) found.push([slices.begin[i], slices.end[i], slices.colour[i], slices.size[i]]);
        }
        return [model.goName(row.number), row.begin, row.end, found];
      });""", number)
    assert all(size == 1 for *_, size in slices) and len(slices) > 3, slices
    words = lambda time: b.run("return duration(arguments[0])", time)  # noqa: E731
    assert b.run("return document.querySelector('#panel h2').textContent") == title
    sums = collections.Counter()  # by what the panel calls it; blocked: by class, so all in one
    for start, stop, colour, _ in slices:
        sums[{0: "running", 1: "runnable", 2: "in system calls"}.get(colour, "blocked")] += stop - start
    shown = b.run("return [...document.querySelectorAll('#panel table.shares tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    states = [row for row in shown if row[2] in ("running", "runnable", "in system calls")]
    assert sorted(states) == sorted([words(time), "%.1f %%" % (100 * time / (end - begin)), what] for what, time in sums.items() if time and what != "blocked"), (shown, sums)
    waits = [row for row in shown if row not in states]
    assert (len(waits) > 0) == (sums["blocked"] > 0) and (len(waits) != 1 or waits[0][0] == words(sums["blocked"])), (shown, sums)
    lengths = sorted((stop - start for start, stop, *_ in slices), reverse=True)
    longest = b.run("return [...document.querySelectorAll('#panel table.places tbody tr')].map((row) => row.cells[1].textContent)")
    assert longest == [words(length) if length else "" for length in lengths[:20]], (longest, lengths[:20])
    b.run("document.querySelector('#panel table.places tbody tr').click()")
    selected = b.run("return gotrace.app.view.selected")
    assert selected["row"] == number and selected["end"] - selected["begin"] == lengths[0], selected


def main():
    browsers = browser.needed()
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)  # noqa: E731
        subprocess.run(["build/examples/scheduler", "-o", path("scheduler.trace"), "-f", "1.23", "-j", "4", "examples", "tests"], check=True, stdout=subprocess.DEVNULL)
        with open(path("runtime.trace"), "wb") as file:
            file.write(made_trace.assisting_workers().data())
        for name in "scheduler", "runtime":
            subprocess.run(["build/examples/gotrace", "view", "-o", path(name + ".html"), path(name + ".trace")], check=True)
        for kind in browsers:
            with browser.session(kind) as b:
                check_order(b, path("runtime.html"))
                for check in check_begins, check_strips, check_results, check_tables, check_task, check_comparison, check_compared_times, check_labels:
                    check(b, path("scheduler.html"))
                print(kind.name)


if __name__ == "__main__":
    main()
