#!/usr/bin/env python3
"""Several traces on one page of gotrace view, in Chromium and Firefox.

    tests/view/several.py

A page with two traces has all that their own pages have: slices, their stacks and wakers, marks, tasks, sums. The second
is as much later as its wall clock tells; traces without that clock, and those that are far apart, begin together, and the
page says so. Each has a section. Search, a selected time, tables, findings and panels tell of which trace they speak, and
what the tool says of one is about that one; what it says of several is told once. It makes no difference whether the traces are in the page, served, dropped,
chosen or added. One that was read before needs no second pass, and one that is refused does not hide the others.
"""

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
import serve  # noqa: E402
from browser import read, tool  # noqa: E402

PAGE = os.path.abspath("build/gotrace-view.html")
# All that a trace has on the page, in its own numbers and times, as lines. Kinds of rows: 2 goroutine, 3 region, 4 task.
ALL = """
  const {model, data} = gotrace.app, file = data.files.find((f) => f.name === arguments[0]), lines = [];
  const at = (time) => time - file.time, go = (number) => (number < 0 ? "nobody" : model.goName(number)), mine = (number) => model.fileOf(number) === file;
  return data.load(0, data.begin, data.end).then((chunks) => {
    for (const {slices} of chunks) for (const [number, span] of slices.index) if (mine(number)) for (let i = span.from; i < span.to; i++) {
      const row = model.rows[number], slice = {row: number, begin: slices.begin[i], end: slices.end[i], size: slices.size[i], colour: slices.colour[i], what: slices.what[i], who: slices.who[i]};
      const detail = row.kind === 2 && slice.size === 1 && model.details[slice.what];
      lines.push([row.kind, row.id, row.name, row.depth, at(slice.begin), at(slice.end), slice.size, slice.colour, slice.size > 1 ? "" : model.label(row, slice),
        row.kind === 2 && slice.who ? model.title(model.rows[slice.who - 1]) : "", row.kind === 3 && slice.who ? model.taskName(slice.who - 1) : "",
        detail && detail.count + JSON.stringify(data.stack(detail.stack)), row.parent < 0 ? "" : go(row.parent), row.stack && data.innermost(row.stack), JSON.stringify(row.cut || 0)].join());
    }
    for (const m of model.marks) if (mine(m.row)) lines.push(["mark", at(m.time), m.row < 0 ? "" : go(m.row), m.log, m.name, m.value, data.innermost(m.stack), m.task < 0 ? "" : model.taskName(m.task)].join());
    for (const t of model.tasks) if (mine(t.row)) lines.push(["task", t.id, at(t.begin), at(t.end), model.rows[t.row].name, t.parent < 0 ? "" : model.taskName(t.parent)].join());
    for (const list of [model.functions, model.spans, model.details]) for (const {file: of, stack, ...sum} of list) if (of === file) lines.push(JSON.stringify([sum, stack && data.innermost(stack)]));
    for (const series of [...file.counts, ...file.ownCounts]) for (let i = 0; i < series.length; i++) lines.push(["count", series.name, at(series.time(i)), series.value(i)].join());
    return lines.sort();
  });"""


def shown(b, *names):
    """Waits until these traces are shown, and what is wrong with them."""
    b.wait_for("window.gotrace && gotrace.app.answered && document.getElementById('start').hidden && gotrace.app.data.files.map((f) => f.title).sort().join() === %s" % json.dumps(",".join(sorted(names))))
    b.frame()


def said(b):
    return b.run("return document.getElementById('findings').textContent")


def check_same(b, alone, names):
    for name in names:
        both = b.run(ALL, name)
        assert both == alone[name], (name, len(both), len(alone[name]), next((pair for pair in zip(both, alone[name]) if pair[0] != pair[1]), None))


def check_times(b, path):
    """By the wall clock, from the first trace's start on."""
    begins = {}
    for name in "a.trace", "b.trace":
        text = json.loads(tool("info", "--json", path(name))[0])["trace"]["began"]
        hours, minutes, seconds, fraction = re.search(r"(\d+):(\d+):(\d+)\.(\d{9})", text).groups()
        begins[name] = ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 10 ** 9 + int(fraction)
    later = (begins["b.trace"] - begins["a.trace"]) % (24 * 3600 * 10 ** 9)
    times = dict(b.run("return gotrace.app.data.files.map((f) => [f.name, f.time])"))
    assert times == {"a.trace": 0, "b.trace": later} and later > 0, (times, later)
    assert b.run("return gotrace.app.data.end") == later + b.run("return gotrace.app.data.files[1].end")
    assert "own beginning" not in said(b), said(b)
    # Times that are far apart, or of which one is not known.
    place = "const files = gotrace.app.data.files.map((f) => ({...f})); files[1].began = arguments[0]; const data = new gotrace.app.data.constructor(files); return [data.apart, data.files.map((f) => f.time)]"
    assert b.run(place, "2031-01-01T00:00:00.000000001Z") == ["Each trace is shown from its own beginning, since they are too far apart.", [0, 0]]
    apart, places = b.run(place, None)
    assert apart.startswith("Each trace is shown from its own beginning, since b.trace has no wall clock") and places == [0, 0], apart


def check_sections(b):
    """Two sections with the traces' names, of which one is folded and is opened by a jump into it."""
    sections = "return gotrace.app.painter.layout.lines.filter((l) => l.group?.type === 'file').map((l) => [l.group.title, l.folded])"
    assert b.run(sections) == [["a.trace", False], ["b.trace", False]], b.run(sections)
    rows = "return gotrace.app.painter.layout.lines.filter((l) => l.type === 'row').map((l) => l.row.file.number)"
    numbers = b.run(rows)
    assert numbers == sorted(numbers) and set(numbers) == {0, 1}, numbers
    b.run("const {model} = gotrace.app; gotrace.app.fold(model.groups.filter((g) => g.type === 'file')[1], true); gotrace.app.painter.draw()")
    assert set(b.run(rows)) == {0} and b.run(sections)[1] == ["b.trace", True]
    b.run("gotrace.app.scroll(1e9)")
    b.wait_for("gotrace.app.painter.strips.get('1/file')?.most > 0")  # a strip of all its goroutines
    b.run("const {app} = gotrace, row = app.model.rows.find((r) => r.file.number === 1 && r.kind === 2 && r.begin <= r.end); return app.goTo(row.number, (row.begin + row.end) / 2)")
    b.frame()
    assert set(b.run(rows)) == {0, 1} and b.run("return gotrace.app.model.fileOf(gotrace.app.view.selected.row).name") == "b.trace"


def table(b, label):
    return b.run("const t = [...document.querySelectorAll('table')].find((t) => t.getAttribute('aria-label') === arguments[0]); return [...t.rows].map((r) => [...r.cells].map((c) => c.textContent))", label)


def column(rows, title):
    place = rows[0].index(title)
    return [row[place] for row in rows[1:]]


def check_words(b):
    """Lists and panels name the trace, and a row of a table of one trace leads there."""
    b.run("return gotrace.app.search('task 1')")
    b.frame()
    assert sorted(set(column(table(b, "results"), "trace"))) == ["a.trace", "b.trace"], table(b, "results")
    for number in 0, 1:
        b.run("return gotrace.app.goToResult(gotrace.app.results.find((r) => gotrace.app.model.fileOf(r.row).number === arguments[0]))", number)
        b.wait_for("document.querySelectorAll('#panel .steps li').length")
        text = b.run("return document.getElementById('panel').textContent")
        assert ("ab"[number] + ".trace") in text and ("ab"[1 - number] + ".trace") not in text, text
        step = b.run("document.querySelectorAll('#panel .steps button')[0].click()")
        b.wait_for("gotrace.app.model.rows[gotrace.app.view.selected?.row]?.kind === 2")
        assert b.run("return gotrace.app.model.fileOf(gotrace.app.view.selected.row).number") == number, step
    b.run("gotrace.app.setRange(gotrace.app.data.begin, gotrace.app.data.end)")
    b.wait_for("document.querySelector('#panel table.places')")
    rows = table(b, "time by function")
    assert sorted(set(column(rows, "trace"))) == ["a.trace", "b.trace"], rows
    for name in "a.trace", "b.trace":
        both = sorted([row[0], *row[2:3]] for row in rows if name in row)
        assert len(both) == len(set(map(tuple, both))), both
    b.run("document.querySelector('#panel table.places tbody tr').click()")
    b.wait_for("gotrace.app.results?.length")
    wanted = rows[1][rows[0].index("trace")]
    assert b.run("return [...new Set(gotrace.app.results.map((r) => gotrace.app.model.fileOf(r.row).name))]") == [wanted]
    b.run("gotrace.app.show('summary')")
    b.wait_for("[...document.querySelectorAll('#summary table')].some((t) => t.getAttribute('aria-label') === 'tasks')")
    for label in "by function", "waits, by reason and place", "Tasks, by name", "goroutines", "tasks":
        assert sorted(set(column(table(b, label), "trace"))) == ["a.trace", "b.trace"], label
    # At first, what two traces have is compared.
    kinds = table(b, "medians and tails")[0][1:]
    assert sorted(kind.split(" · ")[1] for kind in kinds) == ["a.trace", "b.trace"] and kinds[0][2:].split(" · ")[0] == kinds[1][2:].split(" · ")[0], kinds
    b.run("gotrace.app.show('timeline')")


def check_stopped(b):
    """Nobody ran while the world of the first trace was stopped; those of the second did."""
    b.run("const {app} = gotrace; app.data.files[0].stoppedRows.push(app.model.rows.find((r) => r.file.number === 0 && r.kind === 4).number); app.painter.draw()")
    assert b.run("return gotrace.app.painter.stopped.map((columns) => columns.some((share) => share > 0))") == [True, False]
    b.run("gotrace.app.data.files[0].stoppedRows.pop()")


def check_findings(b, path):
    """What is wrong with one of two traces, how it came to be, and where, is that of its own page."""
    b.drop(*((name, read(path(name))) for name in ("b.trace", "task.trace")))
    shown(b, "b.trace", "task.trace")
    finding = json.loads(tool("info", "--json", path("task.trace"))[0])["findings"][0]
    first, *lines = b.run("return [...document.querySelectorAll('#findings p, #findings li')].map((e) => e.textContent)")
    assert first.startswith("Each trace is shown from its own beginning, since task.trace has no wall clock"), first
    assert b.run("return document.body.innerText.split('own beginning').length") == 2
    place = lines.index(finding["text"] + " · task.trace critical path")
    assert all(line.endswith(" · b.trace") for line in lines if line != lines[place]), lines
    b.run("document.querySelectorAll('#findings li')[arguments[0]].querySelector('button').click()", place)
    b.wait_for("gotrace.app.view.selected !== null")
    selected, title = b.run("return [gotrace.app.model.fileOf(gotrace.app.view.selected.row).name, document.querySelector('#panel h2').textContent]")
    words = finding["look"].split()
    assert selected == "task.trace" and title == "task %s: request" % words[2], (selected, title)
    b.run("document.querySelectorAll('#findings li')[arguments[0]].querySelectorAll('button')[1].click()", place)
    b.wait_for("(document.querySelector('#panel pre')?.textContent.length || 0) > 100")
    assert b.run("return document.querySelector('#panel pre').textContent") == tool(*words, path("task.trace"))[0]


def check_standing(b, path):
    """What stands out in each trace is told; once, and last, if the same is told of several."""
    told = {name: json.loads(tool("info", "--json", path(name))[0])["trace"]["stands_out"] for name in ("b.trace", "task.trace")}
    b.drop(("first", read(path("b.trace"))), ("other", read(path("task.trace"))), ("second", read(path("b.trace"))))
    shown(b, "first", "other", "second")
    lines = b.run("const [title] = [...document.querySelectorAll('#panel h2')].filter((e) => e.textContent === 'What stands out'), lines = []; for (let e = title; (e = e.nextSibling);) lines.push(e.textContent); return lines")
    assert lines == ["other: " + told["task.trace"], "first, second: " + told["b.trace"]], lines


def check_while_reading(b, path):
    """Traces that are dropped with Shift while others are read are shown beside them; those that are dropped without take their place."""
    gate = """const open = new Promise((done) => { window.release = done; }), {postMessage} = Worker.prototype;
      Worker.prototype.postMessage = function (...of) { open.then(() => postMessage.apply(this, of)); };"""
    for shift, want in (True, ("a.trace", "b.trace")), (False, ("b.trace",)):
        b.open("file://" + PAGE)
        b.wait_for("!document.getElementById('start').hidden")
        b.run(gate)
        b.drop(("a.trace", read(path("a.trace"))))
        b.drop(("b.trace", read(path("b.trace"))), shift=shift)
        b.run("window.release()")
        shown(b, *want)
        assert said(b).count("clock") == 0


def check_steps(b, path):
    """A step of a task leads to the task's trace, also where another trace has the same at the same time."""
    trace = read(path("task.trace"))
    b.drop(("task.trace", trace), ("task.trace", trace))
    shown(b, "task.trace", "task.trace (2)")
    for number in 1, 0:
        b.run("const {app} = gotrace, {model} = app, task = model.tasks.find((t) => t.id === 12 && model.fileOf(t.row).number === arguments[0]); return app.goTo(task.row, (task.begin + task.end) / 2)", number)
        b.wait_for("document.querySelectorAll('#panel .steps li').length > 2")
        b.run("document.querySelectorAll('#panel .steps button')[2].click()")
        b.wait_for("gotrace.app.model.rows[gotrace.app.view.selected.row].kind === 2")
        assert b.run("return gotrace.app.model.fileOf(gotrace.app.view.selected.row).number") == number


def check_names(b):
    """No two traces have the same title, and no name can change the direction of what follows it."""
    titles = """const [file] = gotrace.app.data.files, data = new gotrace.app.data.constructor(arguments[0].map((name) => ({...file, name})));
      return data.files.map((f) => f.title);"""
    assert b.run(titles, ["a", "a", "a (2)", "a"]) == ["a", "a (2)", "a (2) (2)", "a (3)"]
    assert b.run(titles, ["a (2)", "a", "a", "b\u202etxt"]) == ["a (2)", "a", "a (3)", "b?txt"]
    b.drop(("b\u202etxt", b"no trace"))
    b.wait_for("document.querySelector('#findings p')?.textContent.startsWith('b?txt: ')")


def check_opening(b, path, alone):
    """Chosen, added, opened again, and beside one that is no trace."""
    b.open("file://" + PAGE)
    b.wait_for("!document.getElementById('start').hidden")
    b.choose("#file", path("a.trace"))
    shown(b, "a.trace")
    b.run("window.reads = []; const {prototype} = gotrace.app.data.files[0].trace.reader.constructor, {run} = prototype; prototype.run = function (source, words, ...rest) { if (words[0] === 'view') window.reads.push(source.file.name); return run.call(this, source, words, ...rest); }")
    b.run("HTMLInputElement.prototype.click = () => {}; document.getElementById('add').click()")  # without the browser's dialog
    b.choose("#file", path("b.trace"))
    shown(b, "a.trace", "b.trace")
    check_same(b, alone, ("a.trace", "b.trace"))
    b.choose("#file", path("b.trace"))
    shown(b, "b.trace")
    b.choose("#file", path("a.trace") + "\n" + path("b.trace"))
    shown(b, "a.trace", "b.trace")
    check_same(b, alone, ("a.trace", "b.trace"))
    assert b.run("return window.reads") == ["b.trace"], b.run("return window.reads")
    b.run("""window.told = [];
      new MutationObserver(() => window.told.push(document.getElementById("opening").textContent)).observe(document.getElementById("opening"), {childList: true});""")
    b.choose("#file", path("none.trace") + "\n" + path("b.trace"))
    shown(b, "b.trace")
    assert b.run("return window.told.at(-1)").startswith("Reading 2 traces: 100 %"), b.run("return window.told")
    told = tool("view", "-o", os.devnull, path("none.trace"), status=1)[1].replace("gotrace: %s: " % path("none.trace"), "").strip()
    assert b.run("return document.querySelector('#findings p').textContent") == "none.trace: " + told, (said(b), told)
    b.run("document.getElementById('add').click()")
    b.choose("#file", path("none.trace"))
    b.wait_for("document.getElementById('start').hidden")
    shown(b, "b.trace")
    # What was shown before may still be drawn; it stays as it was.
    placed = "return window.old.data.files.map((f) => [f.name, f.title, f.number, f.time, f.firstRow])"
    b.run("window.old = gotrace.app")
    before = b.run(placed)
    b.drop(("a.trace", read(path("a.trace"))), shift=True)
    shown(b, "a.trace", "b.trace")
    assert b.run(placed) == before and b.run("return gotrace.app.data.files.find((f) => f.name === 'b.trace').time") > 0
    b.drop(("a.trace", read(path("a.trace"))), shift=True)
    shown(b, "a.trace", "a.trace (2)", "b.trace")
    # They are read at once where there are processors.
    b.run("""window.reading = 0, window.most = 0;
      const {prototype} = gotrace.app.data.files[0].trace.constructor, {read} = prototype;
      prototype.read = function (...of) { window.most = Math.max(window.most, ++window.reading); return read.apply(this, of).finally(() => { window.reading--; }); };""")
    b.drop(*((name, read(path(name))) for name in ("task.trace", "b.trace")))
    shown(b, "b.trace", "task.trace")
    assert b.run("return window.most === Math.min(2, navigator.hardwareConcurrency || 1)"), b.run("return window.most")


def check_pages(path):
    """Small traces leave their room to a large one; what cannot be done is refused."""
    with open(path("none.trace"), "wb") as file:
        file.write(b"no trace")
    out = path("refused.html")
    assert "FILE" in tool("view", "--pictures", "-o", out, path("a.trace"), path("b.trace"), status=2)[1]
    assert "FILE" in tool("view", "--data", "-o", out, path("a.trace"), path("b.trace"), status=2)[1]
    assert "FILE" in tool("view", "--lengths", "0-1", path("a.trace"), path("b.trace"), status=2)[1]
    for wrong in "5", "-1-2", "1-2x", "1s-2s", "99999999999999999999-1":
        assert "invalid value '%s' for --lengths" % wrong in tool("view", "--lengths", wrong, path("a.trace"), status=2)[1]
    assert path("none.trace") in tool("view", "-o", out, path("a.trace"), path("none.trace"), status=1)[1]
    assert not os.path.exists(out)
    with open(path("large.trace"), "wb") as file:
        file.write(made_trace.many_messages().data())
    tool("view", "-o", path("large.html"), path("large.trace"))
    page, least = os.path.getsize(path("large.html")), 2 << 20
    assert page > least
    # With little more room than it needs, while half of the room would not be enough.
    assert tool("view", "--size", str(page + (1 << 20)), "-o", out, path("a.trace"), path("large.trace"))[1] == ""


def check_programs(b, path):
    """Of recordings, as of the children of a program, the titles tell which program each is."""
    for program in "cat", "sort":
        tool("record", "-q", "-o", path(program + "s.trace"), program, os.devnull)
    tool("view", "-o", path("programs.html"), path("cats.trace"), path("sorts.trace"), path("a.trace"))
    b.open("file://" + path("programs.html"))
    shown(b, "cats.trace (cat)", "sorts.trace (sort)", "a.trace")
    assert b.run("return gotrace.app.painter.layout.lines.filter((l) => l.group?.type === 'file').map((l) => l.group.title)") == b.run("return gotrace.app.data.files.map((f) => f.title)")


def main():
    if not os.path.exists(PAGE):
        print("needs clang, lld, wasi-libc and libclang-rt-dev-wasm32, to build the page (make deps)")
        sys.exit(77)
    browsers = browser.needed()
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)  # noqa: E731
        for name in "a", "b":
            subprocess.run(["build/examples/scheduler", "-o", path(name + ".trace"), "-f", "1.25", "examples"], check=True, stdout=subprocess.DEVNULL)
            tool("view", "-o", path(name + ".html"), path(name + ".trace"))
        with open(path("task.trace"), "wb") as file:
            file.write(made_trace.late_request().data())
        check_pages(path)
        tool("view", "-o", path("both.html"), path("b.trace"), path("a.trace"))
        for kind in browsers:
            with serve.Server(path("a.trace"), path("b.trace")) as server, browser.session(kind) as b:
                alone = {}
                for name in "a", "b":
                    b.open("file://" + path(name + ".html"))
                    shown(b, name + ".trace")
                    alone[name + ".trace"] = b.run(ALL, name + ".trace")
                    assert len(alone[name + ".trace"]) > 1000
                b.open("file://" + path("both.html"))
                shown(b, "a.trace", "b.trace")
                check_same(b, alone, alone)
                check_times(b, path)
                check_sections(b)
                check_words(b)
                check_stopped(b)
                check_findings(b, path)
                check_standing(b, path)
                check_while_reading(b, path)
                check_names(b)
                check_steps(b, path)
                check_opening(b, path, alone)
                check_programs(b, path)
                b.open(server.address)
                shown(b, "a.trace", "b.trace")
                check_same(b, alone, alone)
                assert server.ask("trace1")[2] == read(path("b.trace")) and server.ask("trace2")[0] == 404
            print(kind.name)


if __name__ == "__main__":
    main()
