#!/usr/bin/env python3
"""Opens pages of gotrace view in real browsers, and compares what they draw with gotrace dump.

    tests/view/check.py [-n WINDOWS] [-b BROWSER] [-o chosen|served] TOOL TRACE...

With -o, only so many windows of each trace in each browser: of a trace that is chosen on gotrace-view.html, or that gotrace view serves. Otherwise,
for each trace and WINDOWS random windows (with two browsers, the first has two thirds of them): each slice implied by
dump's events (story.py) for a goroutine, proc, thread, the collector, a region or a task that is at least a pixel long
is drawn exactly, with its state and reason or its name; shorter slices are within merged ones no longer than a pixel;
nothing else is drawn. Logs, CPU samples, arrows and the heap's size match the events. What the page tells of
selected times is what gotrace info prints. The same holds for a page of a part, into which everything older is carried, and for one with a
filter, except that other goroutines have no rows. For the first trace also: keys, mouse, search, links, selection and the
address's fragment work as documented; a page of a trace with hostile names runs no script in them; ids and times beyond
JavaScript's numbers do no harm; of too many results the longest are kept; a colour's area is its share of the time; names
stay in their boxes; tables say what they leave out; many tasks, or tasks that take no time, are shown. No page reports an
error.
"""

import bisect
import collections
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from time import monotonic

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path[1:1] = [os.path.join(sys.path[0], "../tool"), os.path.join(sys.path[0], "..")]
import browser  # noqa: E402
import faults  # noqa: E402
import made_trace  # noqa: E402
import serve  # noqa: E402
from made_trace import numbers  # noqa: E402
from protobuf import varint  # noqa: E402
from story import Story  # noqa: E402

STATES = ["running", "runnable", "syscall", "blocked", "blocked", "blocked", "blocked", "blocked"]
COLOURS = 8


class Wrong(Exception):
    pass


def check(condition, *words):
    if not condition:
        raise Wrong(" ".join(str(word) for word in words))


KIND = {"proc": 0, "thread": 1, "go": 2, "region": 3, "task": 4, "collection": 5, "stopped world": 6}  # as in model.js
MOST_ARROWS = 150
COMPARED = ["goroutine", "proc", "thread", "region", "task", "collector", "mark", "arrow", "counter"]


class Slice:
    def __init__(self, values):
        self.row, self.begin, self.end, self.size, self.colour, self.reason, self.label, self.who, self.times = values


def compare_slices(title, drawn, expected, window, pixel, tolerated):
    """Compares the slices drawn on one row: those of at least a pixel are exact; shorter ones may be within merged
    slices. `expected`: {(begin, end): label}. `tolerated`: whether a slice that no events imply is allowed, since one
    of them is missing."""
    begin, end = window
    exact = {(s.begin, s.end): s.label for s in drawn if s.size == 1}
    merged = sorted((s.begin, s.end) for s in drawn if s.size > 1)
    compared = 0
    for (low, high), label in expected.items():
        if high <= begin or low >= end or low == high:
            continue
        compared += 1
        if (low, high) in exact:
            check(exact[low, high] == label, "%s at %d: %s, not %s" % (title, low, exact[low, high], label))
        else:
            check(high - low < pixel, "%s at %d to %d: %s is missing" % (title, low, high, label))
            check(any(a <= low and high <= z for a, z in merged), "%s at %d: %s is in no merged slice" % (title, low, label))
    for low, high in exact:
        check(low == high or (low, high) in expected or tolerated(low, high), "%s at %d to %d: no event says so: %s" % (title, low, high, exact[low, high]))
    return compared


def compare_goes(g, slices, expected, window, pixel):
    begin, end = window
    ends = [s[1] for s in expected]
    exact = {(s.begin, s.end): s for s in slices if s.size == 1}
    merged = [s for s in slices if s.size > 1]
    compared = 0
    for m in merged:
        check(m.end - m.begin <= pixel, "G%d: merged slice of %g ns, a pixel is %g" % (g, m.end - m.begin, pixel))
        inside = [s for s in expected[bisect.bisect_left(ends, m.begin):bisect.bisect_right(ends, m.end)] if m.begin <= s[0]]
        least = sum(s[0] < s[1] for s in inside)  # empty ones may belong to a neighbour
        if inside and inside[0][0] == m.begin and inside[-1][1] == m.end:
            check(least <= m.size <= len(inside), "G%d at %d: %d slices, not %d" % (g, m.begin, m.size, len(inside)))
    for low, high, what, reason in expected:
        if high <= begin or low >= end or low == high:
            continue
        compared += 1
        s = exact.get((low, high))
        if s:
            check(STATES[s.colour] == what and (what != "blocked" or s.reason == reason), "G%d at %d: %s %s, not %s %s" % (g, low, STATES[s.colour], s.reason, what, reason))
        else:
            check(high - low < pixel, "G%d at %d to %d: %s is missing, a pixel is %g" % (g, low, high, what, pixel))
            check(any(m.begin <= low and high <= m.end for m in merged), "G%d at %d to %d: %s is in no merged slice" % (g, low, high, what))
    for s in slices:
        check(abs(sum(s.times) - (s.end - s.begin)) < 1, "G%d at %d: the times of a slice do not add up" % (g, s.begin))
    return compared


def compare_marks(g, drawn, story, window):
    begin, end = window
    inside = lambda time: begin <= time <= end  # noqa: E731
    want = sorted((m[0], m[1], m[2]) for m in story.logs.get(g, ()) if inside(m[0]))
    got = sorted((m[0], m[2], m[3]) for m in drawn if m[1])
    check(got == want, "logs of G%d: %s, not %s" % (g, got[:3], want[:3]))
    want = sorted(time for time in story.samples.get(g, ()) if inside(time))
    check(sorted(m[0] for m in drawn if not m[1]) == want, "CPU samples of G%d" % g)
    return len(drawn)


def compare_arrows(drawn, rows, slices, story, window, pixel):
    """Events imply each arrow; each implied arrow whose wait is drawn as a slice of its own exists."""
    for waker, woken, time in drawn:
        check((waker, woken, time) in story.wakes, "arrow from G%d to G%d at %d" % (waker, woken, time))
    visible = {g for g, count in rows.items() if count == 1}
    waits = {(g, s.end) for g, found in slices.items() if g in visible for s in found if s.size == 1 and STATES[s.colour] == "blocked"}
    want = {(waker, woken, time) for waker, woken, time in story.wakes if window[0] <= time < window[1] and waker in visible and waker != woken and (woken, time) in waits}
    if len(drawn) and len(want) <= MOST_ARROWS:
        check(want <= drawn, "no arrow from G%d to G%d at %d" % min(want - drawn, default=(0, 0, 0)))
    return len(drawn)


def compare_counters(b, story, generator):
    """The sizes of the heap and its goal at a time, and the number of goroutines per state, if the events give all. Samples
    closer than a step become one, with the greater values; the step is doubled when there are too many of them, so that
    a value may have come from up to a step after the next sample."""
    sampled = b.run("return gotrace.app.data.files[0].counters")
    if not story.sizes["heap"] or len(sampled) >= 7 * 8000:  # of many samples only the greatest are kept
        return 0
    times = sampled[::7]
    steps = collections.Counter(later - time for time, later in zip(times, times[1:])).most_common(1)
    step = steps[0][0] if steps and steps[0][1] > len(times) // 10 else 0  # 0: none has been merged
    for _ in range(20):
        at = generator.randrange(len(times))
        for place, name in ((5, "heap"), (6, "goal")):
            values = story.sizes[name]
            before = bisect.bisect_right([v[0] for v in values], times[at])
            want = values[before - 1][1] if before else 0
            later = times[at + 1] + step if at + 1 < len(times) else story.end
            seen = [v[1] for v in values[before:] if v[0] < later]
            check(sampled[7 * at + place] in [want, *seen] or not before, "%s at %d: %d, not %d" % (name, times[at], sampled[7 * at + place], want))
    return 20


def compare_window(b, story, begin, end, width, counts, known=None):
    """`known`: the time whose events the story has; it tells nothing of slices that began before or go on. None: all."""
    b.run("gotrace.setView(arguments[0], arguments[1])", begin, end)
    b.frame()
    b.run("window.found = null; gotrace.visible().then((all) => { window.found = all; })")
    b.wait_for("window.found")
    found = b.run("return window.found")
    # A large trace's page may be complete only down to a coarser zoom, which it states: it merges slices up to that.
    window, pixel = (found["from"], found["to"]), max((found["to"] - found["from"]) / width, complete_to(b))
    slices = collections.defaultdict(list)
    for values in found["slices"]:
        one = Slice(values)
        if not known or one.size > 1 or known[0] <= one.begin and one.end <= known[1]:
            slices[values[0]].append(one)
    goes, rows = collections.defaultdict(list), collections.Counter()
    of_tasks = collections.defaultdict(list)
    for row, kind, ident, name, depth, used in found["rows"]:
        g, here = int(ident), slices[row]
        ends_known = lambda low, high: low == found["begin"] or high == found["end"]  # noqa: E731
        if kind == KIND["go"]:
            rows[g] += used
            goes[g] += here
            if used == 1:  # otherwise the id was reused, and the row may be any of these goroutines
                counts["goroutine"] += compare_goes(g, here, story.goes.get(g, []), window, pixel)
                counts["mark"] += compare_marks(g, [m[1:] for m in found["marks"] if m[0] == row], story, window)
        elif kind in (KIND["proc"], KIND["thread"]) and (kind == KIND["proc"] or not story.v1):
            kept = story.procs if kind == KIND["proc"] else story.threads

            def tolerated(low, high, here=here):  # a goroutine's states may be unknown at times
                g = next(int(s.label[1:]) for s in here if (s.begin, s.end) == (low, high))
                return g not in story.known or not story.known[g][0] <= low < high <= story.known[g][1]
            for s in here:
                s.label = s.label.split(" ")[0]
            title = "proc" if kind == KIND["proc"] else "thread"
            counts[title] += compare_slices("%s %d" % (title, g), here, {at: "G%d" % ran for at, ran in kept[g].items()}, window, pixel, tolerated)
        elif kind == KIND["region"] and used == 1:
            counts["region"] += compare_slices("regions of G%d" % g, here, story.regions[g, depth], window, pixel, ends_known)
        elif kind == KIND["task"]:
            of_tasks[name].append((here, used))
        elif kind >= KIND["collection"]:
            title = "collection" if kind == KIND["collection"] else "stopped world"
            counts["collector"] += compare_slices(title, here, story.collector[title], window, pixel, ends_known)
    for name, of_name in of_tasks.items():
        if len(of_name) == of_name[0][1]:  # all rows of the name are visible
            expected = {(low, high, task): (low, high) for low, high, task in story.tasks[name]}
            here = [s for found_here, _ in of_name for s in found_here]
            exact = {(s.begin, s.end, int(s.label.split()[1])) for s in here if s.size == 1}
            for low, high, task in exact:
                check((low, high, task) in expected, "task %d at %d to %d: no event says so" % (task, low, high))
            for low, high, task in expected:
                if high <= window[0] or low >= window[1] or low == high:
                    continue
                counts["task"] += 1
                check((low, high, task) in exact or high - low < pixel and any(s.begin <= low and high <= s.end for s in here if s.size > 1), "task %d at %d is missing" % (task, low))
    counts["arrow"] += compare_arrows({(int(x), int(y), time) for x, y, time in found["arrows"]}, rows, goes, story, window, pixel)


def complete_to(b):
    """The nanoseconds per pixel down to which the page has all slices; 0: it has all."""
    finest = max(b.run("return gotrace.app.data.finest"))
    return 16 * 8 ** finest if finest else 0


def check_hint(b, first, last):
    """A page that does not have all details names a part that has them, even where the whole trace is visible."""
    b.run("gotrace.setView(arguments[0], arguments[1])", first, last)
    b.frame()
    hint = b.run("const app = gotrace.app, finest = app.data.finest; app.data.finest = [9, 9];"
                 "const hint = app.painter.statusText(); app.data.finest = finest; return hint;")
    part = re.search(r"--from (\d+) --to (\d+)", hint)
    check(part, "no hint:", hint)
    begin, end = map(int, part.groups())
    check(first <= begin < end <= last and end - begin <= (last - first) / 2, "the hint of a large page:", hint)


def compare(b, story, windows, generator):
    b.keys("e")  # all groups are unfolded
    first, last = b.run("return [gotrace.app.data.begin, gotrace.app.data.end]")
    if last - first > 1000:
        check_hint(b, first, last)
    width = b.run("return gotrace.state().width")
    counts = collections.Counter()
    # Compares the visible rows: the first ones, those around a goroutine's row that has slices, or any others.
    least = width * complete_to(b)
    rows = {int(g): row for g, row in b.run("return gotrace.app.model.rows.filter((r) => r.kind === 2 && r.begin <= r.end).map((r) => [r.id, r.number])")}
    all_of = [(g, s) for g, found in story.goes.items() if g in rows for s in found]
    for number in range(windows):
        size = max((last - first) * 10 ** generator.uniform(-4, 0) if number else last - first, least)
        begin = generator.uniform(first, max(first, last - size))
        if number % 3 == 0 or not all_of:
            b.keys("Home")
        elif number % 3 == 1:
            b.run("gotrace.app.view.scroll = arguments[0] * gotrace.app.model.lines(gotrace.app.view).height", generator.random())
        else:
            g, (low, high, _, _) = generator.choice(all_of)
            begin = generator.uniform(low, high) - size * generator.random()
            b.run("gotrace.app.view.scroll = 0; gotrace.app.reveal(arguments[0])", rows[g])
        compare_window(b, story, begin, begin + size, width, counts)
    counts["counter"] = compare_counters(b, story, generator)
    counts["coarse window"] = windows if least else 0
    return counts


def open_page(b, tool, page, *arguments):
    subprocess.run([tool, "view", "-o", page, *arguments], check=True)
    b.open_page(page)


def compare_part(b, tool, page, trace, story, begin, end, windows, generator):
    """A page of a part shows what the page of the trace shows there."""
    open_page(b, tool, page, "--from", "%dns" % begin, "--to", "%dns" % end, trace)
    return compare(b, story.part(begin, end), windows, generator)


def compare_filter(b, tool, page, trace, story, windows, generator):
    """With a filter, only a goroutine that it selects has a row; what all share is as without it, and the page fits it."""
    counters = b.run("return gotrace.app.data.files[0].counters")
    rows = b.run("return gotrace.app.model.rows.filter((r) => r.kind === 2 && r.begin <= r.end).map((r) => r.id)")
    g = max(rows, key=lambda g: (len(story.goes.get(int(g), [])), str(g)))
    open_page(b, tool, page, "--go", str(g), trace)
    low, high = (b.run("const v = gotrace.state(); return [v.from, v.to]"))
    counts = compare(b, story.chosen(int(g)), windows, generator)
    shown = b.run("return gotrace.app.model.rows.filter((r) => r.kind === 2 && r.begin <= r.end).map((r) => [r.id, r.begin, r.end])")
    check({str(row[0]) for row in shown} == {str(g)}, "--go", g, "shows", shown[:5])
    check(b.run("return gotrace.app.data.files[0].counters") == counters, "--go changes the counters")
    # Its tasks may go on in other goroutines.
    shown = b.run("return gotrace.app.model.rows.filter((r) => arguments[0].includes(r.kind) && r.begin <= r.end).map((r) => [r.id, r.begin, r.end])",
                  [KIND[kind] for kind in ("go", "region", "task")])
    begin, end = min(row[1] for row in shown), max(row[2] for row in shown)
    check(low <= begin and end <= high and high - low <= 1.25 * max(end - begin, 20), "--go", g, "is from", begin, "to", end, "and the picture from", low, "to", high)
    return counts


def plain(text):
    """As the page shows it: data.js."""
    return re.sub("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", "?", text)


def has_reader(b):
    return b.run("return gotrace.app.data.files.every((file) => file.trace)")


def answer(b, *words):
    """What the page's reader says to a command, of the trace that it shows."""
    return b.run("return gotrace.answer(arguments[0])", list(words))


def compare_flames(b, tool, trace, begin, end):
    """The page draws the folded stacks of gotrace profile, of all and of a time, whose lines are equal to the byte."""
    part = ["--from", "%dns" % begin, "--to", "%dns" % end]
    if not has_reader(b):
        return compare_pictured_flames(b, [tool, "profile", "--scheduler", "--folded", trace])
    for kind in "--sync", "--network", "--blocked", "--syscall", "--scheduler", "--cpu":
        native = subprocess.run([tool, "profile", kind, "--folded", *part, trace], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8")
        there = b.run("return gotrace.app.data.files[0].trace.folded(arguments[0], arguments[1], arguments[2], new AbortController().signal, () => {})", kind, begin, end)
        check(there == native.split("\n")[:-1], kind, "from", begin, "to", end, "differs")
    native = subprocess.run([tool, "profile", "--scheduler", "--folded", *part, trace], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8").splitlines()
    b.run("""
      const {app} = gotrace;
      window.root = null;
      app.panels.drawFlame = (content, title, root) => { window.root = root; };
      app.panels.fillTree(document.createElement("div"), document.createElement("div"), app.panels.flameKinds()[3], {from: arguments[0], to: arguments[1]});""", begin, end)
    b.wait_for("window.root")
    drawn = b.run("""
      delete gotrace.app.panels.drawFlame;
      const walk = (node, above) => [...node.children].flatMap(([name, child]) => [[[...above, name].join(";"), child.value], ...walk(child, [...above, name])]);
      return walk(window.root, []);""")
    want = collections.Counter()
    for line in native:
        stack, value = line.rsplit(" ", 1)
        frames = plain(stack).split(";")
        for depth in range(len(frames)):
            want[";".join(frames[:depth + 1])] += int(value)
    check(dict(drawn) == dict(want), "the flame graph is not that of the stacks")
    return None


def compare_pictured_flames(b, command):
    """A page of pictures has the sums by stack of gotrace profile, which leaves out what has not ended."""
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode("utf-8", "replace").splitlines()
    want = {stack: int(time) for stack, time in (line.rsplit(" ", 1) for line in lines) if re.fullmatch(r"[\w.*()/;-]+", stack) and "(unknown)" not in stack}
    got = collections.Counter()
    for stack, time in b.run("""
        const {model, data} = gotrace.app;
        return model.details.filter((d) => d.colour === 1).map((d) => [data.stack(d.stack).reverse().map((f) => f.function).join(";"), d.total])"""):
        got[stack] += time
    for stack, time in want.items():
        check(got[stack] >= time, "%s was runnable for %d in the flame graph, for %d in the profile" % (stack, got[stack], time))
    b.keys("3")
    b.wait_for("document.querySelector('#flame canvas')")
    b.keys("1")


def compare_selection(b, expected, generator, tool, trace):
    """The sums of a selected time are those of gotrace info, to the byte, and those of the events; the panel shows them."""
    first, last = b.run("return [gotrace.app.data.begin, gotrace.app.data.end]")
    names = {int(g): name for g, name in b.run("return gotrace.app.model.rows.filter((r) => r.kind === 2).map((r) => [r.id, r.name])")}
    known = {g for g, found in expected.items() if found}
    columns = ["running", "runnable", "syscall", "blocked"]
    for turn in range(3):
        begin, end = sorted(int(generator.uniform(first, last)) for _ in range(2))
        if begin == end:
            continue
        if not has_reader(b):  # the panel names the command that adds up
            b.run("gotrace.app.setRange(arguments[0], arguments[1])", begin, end)
            b.wait_for("document.getElementById('panel').textContent.includes('gotrace info --from %dns --to %dns FILE')" % (begin, end))
            continue
        text = answer(b, "info", "--json", "--from", "%dns" % begin, "--to", "%dns" % end)
        native = subprocess.run([tool, "info", "--json", "--from", "%dns" % begin, "--to", "%dns" % end, trace], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8")
        check(text == native.replace(json.dumps(trace), '"/trace"'), "the page and info differ from", begin, "to", end)
        want = collections.Counter()
        for g in known:
            for low, high, what, _ in expected[g]:
                want[what] += max(0, min(high, end) - max(low, begin))
        got = collections.Counter()
        for f in json.loads(text)["functions"]:
            for what in columns:
                got[what] += f[what] + (f["syscall_blocked"] if what == "syscall" else 0)
        for what in columns:
            # info also has stretches that begin before the first event or end after the last.
            check(got[what] >= want[what] - 1, "%s from %d to %d: %g in info, %g by the events" % (what, begin, end, got[what], want[what]))
            if what == "running":
                check(got[what] <= want[what] + len(names) * (end - begin), what, got[what], want[what])
        if turn:
            continue
        b.run("gotrace.app.setRange(arguments[0], arguments[1])", begin, end)
        if not json.loads(text)["functions"]:
            b.wait_for("document.getElementById('panel').textContent.includes('no goroutine was there')")
            continue
        b.wait_for("document.querySelector('#panel table.places tbody tr')")
        rows = b.run("return [...document.querySelector('#panel table.places').rows].map((row) => [...row.cells].map((cell) => cell.textContent))")
        shown = sorted((row[0], row[1], row[rows[0].index("runnable")]) for row in rows[1:])
        told = lambda time: b.run("return arguments[0] ? duration(arguments[0]) : ''", time)  # noqa: E731
        if len(rows) <= 100:
            check(shown == sorted((plain(f["name"]) or "(unknown)", told(f["running"] - f["stopped"]), told(f["runnable"])) for f in json.loads(text)["functions"]), "the panel shows", shown)


def check_began(b, tool, trace):
    """The page shows the wall clock at the trace's start, if info knows it."""
    report = subprocess.run([tool, "info", "--json", trace], stdout=subprocess.PIPE, check=True).stdout
    began = json.loads(report)["trace"]["began"]
    facts = b.run("return document.getElementById('facts').textContent")
    check(facts.endswith(", began " + began) if began else "began" not in facts, "the page says: %s; it began %s" % (facts, began))


def no_errors(b):
    errors = b.errors()
    check(not errors, errors)


def try_hands(b, url):
    """Keys and mouse work as the help sheet says."""
    def span():
        b.frame()
        return b.run("return [gotrace.state().from, gotrace.state().to]")

    def near(got, want, size):
        return abs(got - want) < size / 100

    def until(condition, message):
        try:
            b.wait_for(condition)
        except TimeoutError:
            raise Wrong(message) from None

    b.keys("0")
    first, last = span()
    whole = last - first
    b.keys("w")
    low, high = span()
    check(near(high - low, whole * 0.75, whole) and near(low + high, first + last, whole), "W does not zoom at the middle")
    b.keys("a")
    check(near(span()[0], low - 0.15 * (high - low), whole) and near(span()[1], high - 0.15 * (high - low), whole), "A does not move to the left")
    b.keys("d")
    check(near(span()[0], low, whole), "D does not move to the right")
    b.keys("ArrowLeft", "ArrowRight", "s")
    check(near(span()[1] - span()[0], whole, whole), "S does not zoom out")
    b.keys("0")
    at = b.run("return gotrace.app.painter.time(600)")
    b.mouse((600, 300))
    b.keys("w", "w")
    check(near(b.run("return gotrace.app.painter.time(600)"), at, whole), "W does not zoom at the pointer")
    check(near(span()[1] - span()[0], whole * 0.75 ** 2, whole), "W does not zoom in")
    b.keys("s", "s")
    check(near(span()[0], first, whole) and near(span()[1], last, whole), "S does not zoom out at the pointer")
    b.keys("0")
    for times in (1, 2):
        b.wheel(600, 300, -60, "Control")
        until("gotrace.state().to - gotrace.state().from < %r" % (whole * 0.75 ** times), "Ctrl and the wheel do not zoom")
        low, high = span()
        check(near(b.run("return gotrace.app.painter.time(600)"), at, high - low), "the time at the pointer moves while zooming")
    b.mouse((600, 300), "down", (560, 300), (500, 300), "up")
    width = b.run("return gotrace.state().width")
    check(near(span()[0], low + (high - low) * 100 / width, high - low), "the picture does not follow the pointer")
    # Another button, or a drag that the browser takes over, does not leave the picture following the pointer.
    before, (left, top) = span(), b.corner()
    move = lambda x: {"type": "pointerMove", "x": int(left + x), "y": int(top + 300), "duration": 0, "origin": "viewport"}  # noqa: E731
    b.perform("pointer", {"parameters": {"pointerType": "mouse"}},
              [move(600), {"type": "pointerDown", "button": 2}, move(500), {"type": "pointerUp", "button": 2}])
    check(span() == before, "the second button moves the picture")
    b.mouse((600, 300), "down")
    b.run("gotrace.app.canvas.dispatchEvent(new PointerEvent('pointercancel'))")
    b.mouse((500, 300))
    check(span() == before, "the picture follows the pointer after the browser has taken a drag over")
    b.mouse("up")
    b.keys("Escape")
    # The overview: a click moves the view there.
    b.mouse((700, 20), "down", "up")
    check(near(sum(span()) / 2, first + (700 - 230) / width * whole, whole), "the overview leads elsewhere")

    # A double click fits a slice, also one at the bottom, which the details hide after the first click.
    b.keys("0", "e"), b.frame()
    b.run("gotrace.app.scroll(1e9)"), b.frame()
    place = b.run("""
        const {painter} = gotrace.app;
        for (const line of painter.visibleLines().reverse()) {
          const y = Math.floor(painter.lineTop(line) + line.height / 2);
          const x = line.row ? Math.floor(painter.x((line.row.begin + line.row.end) / 2)) : 0;
          const slice = line.row?.kind === 2 && y < painter.height - 10 && painter.at(x, y);
          if (slice) return [x, y, slice.row, slice.begin, slice.end];
        }""")
    b.mouse(tuple(place[:2]), "down", "up", "down", "up")
    until("gotrace.app.view.selected", "a double click selects nothing")
    selected = b.run("return gotrace.app.view.selected")
    check([selected["row"], selected["begin"]] == place[2:4], "a double click selects another slice")
    check(near(span()[1] - span()[0], max(place[4] - place[3], 20) * 1.2, max(place[4] - place[3], 20)), "a double click does not fit the slice")
    b.keys("Escape")

    # With the keyboard only: folds a group, selects a slice of the row below it, and the visible time.
    b.keys("0", "e", "Home"), b.frame()
    lines = b.run("return gotrace.app.model.lines(gotrace.app.view).lines.map((l) => gotrace.app.model.lineKey(l))")
    here = next(i for i, key in enumerate(lines) if key.startswith("group go "))
    below = [key for key in lines if key]
    b.keys(*"j" * (below.index(lines[here]) + 1))
    check(b.run("return gotrace.state().line") == lines[here], "J leads to another line")
    b.keys(" ")
    key = lines[here][len("group "):]
    check(b.run("return gotrace.app.model.folded.has(arguments[0])", key), "Space does not fold the group")
    b.keys(" ")
    check(not b.run("return gotrace.app.model.folded.has(arguments[0])", key), "Space does not unfold the group")
    b.frame()
    b.keys("j", "j", "k", " ")
    until("gotrace.app.view.selected", "Space selects no slice")
    check("row %d" % b.run("return gotrace.app.view.selected.row") == b.run("return gotrace.state().line"), "Space selects a slice of another line")
    b.keys("Escape", "r")
    told = "(document.querySelector('#panel table tbody tr') || document.getElementById('panel').textContent.includes('gotrace info --from'))"  # of a selected time
    until(told, "R shows no table")
    check(b.run("const v = gotrace.state(); return v.range.from <= v.from || v.range.from === gotrace.app.data.begin"), "R selects another time")
    b.keys("Escape")

    # A wait: its details say what ended it, and B goes back to that.
    b.keys("0", "e"), b.frame()
    b.run("window.waits = null; gotrace.endedWaits().then((all) => { window.waits = all; })")
    b.wait_for("window.waits")
    waits = b.run("return window.waits.map((s) => [s.row, s.begin, s.end, s.who])")
    check(waits, "no wait was ended by anyone")
    row, begin, end, who = max(waits, key=lambda w: w[2] - w[1])
    b.run("gotrace.app.goTo(arguments[0], arguments[1])", row, (begin + end) / 2)
    b.wait_for("gotrace.app.view.selected")
    panel = b.run("return document.getElementById('panel').textContent")
    waker = b.run("return gotrace.app.model.goName(arguments[0])", who - 1)
    check("ended by" + waker in panel, "the panel does not name %s: %s" % (waker, panel))
    fragment = b.run("gotrace.app.writeFragment(); return location.hash")
    b.keys("b")
    until("gotrace.app.view.selected.row === %d" % (who - 1), "B does not follow back")
    selected = b.run("return gotrace.app.view.selected")
    check(selected["begin"] <= end <= selected["end"], "following back leads to another time")
    b.keys("Escape")
    check(b.run("return gotrace.app.view.selected === null"), "Escape does not end the selection")
    no_errors(b)
    # The address opens the same place.
    b.open("about:blank")
    b.open(url + fragment)
    until("window.gotrace && gotrace.app.answered && gotrace.app.view.selected", "the fragment selects nothing")
    again = b.run("return gotrace.app.view.selected")
    check(again["row"] == row and again["begin"] == begin, "the fragment leads to another slice")
    # Also in a page that shows something else.
    b.keys("h", "r")
    until("gotrace.state().range && location.hash.includes('r=')", "R selects no time")
    b.run("location.hash = arguments[0]", fragment)
    until("gotrace.app.view.selected && !gotrace.state().range", "another fragment selects nothing")
    check(not b.run("return gotrace.state().hideIdle"), "another fragment leaves rows hidden")
    until("location.hash.includes('s=')", "the fragment does not follow")
    b.run("location.hash = arguments[0]", re.sub("&s=[^&]*", "", fragment))
    until("!gotrace.app.view.selected", "a fragment without a slice leaves one selected")
    # A selected time: on the ruler, and with Shift anywhere.
    b.mouse((400, 55), "down", (500, 55), (600, 55), "up")
    until("gotrace.state().range && " + told, "no table of a selected time")
    low, high = span()
    scale = (high - low) / width
    found = b.run("return gotrace.state().range")
    check(near(found["from"], low + (400 - 230) * scale, high - low) and near(found["to"], low + (600 - 230) * scale, high - low), "another time was selected")
    # Search.
    b.keys("Escape")
    name = b.run("return gotrace.app.model.rows.find((r) => r.kind === 2 && r.name).name")
    matching = b.run("return gotrace.app.model.rows.filter((r) => r.kind === 2 && r.begin <= r.end && r.name.toLowerCase().includes(arguments[0])).length", name.lower())
    b.keys("/")
    check(b.run("return document.activeElement.id") == "search", "/ does not search")
    b.keys(*name, "Enter")
    until("gotrace.app.results && gotrace.app.result === 0", "nothing is found")
    check(b.run("return document.getElementById('search').value") == name, "the keys of the search did something else")
    results = b.run("return gotrace.app.results.length")
    check(results >= matching > 0, "%d results, %d goroutines" % (results, matching))
    b.keys("Enter")
    until("gotrace.app.result === %d" % (1 % results), "Enter does not lead to the next result")
    b.keys("Escape")
    check(b.run("return gotrace.app.results === null && document.activeElement.id === 'canvas'"), "Escape does not end the search")
    # Tabs, help, folds, theme.
    b.keys("2")
    check(b.run("return document.querySelectorAll('#summary tbody tr').length") > 1, "no summary")
    b.run("document.querySelector('#summary th').focus()")
    b.keys("Enter")
    names = b.run("return [...document.querySelectorAll('#summary table')[0].querySelectorAll('tbody tr')].map((r) => r.firstChild.textContent)")
    check(sorted(names) == sorted(b.run("return gotrace.app.model.functions.map((f) => f.name || '(unknown)')")), "the summary has other functions")
    b.run("document.querySelector('#summary th').focus()")
    b.keys("Enter")
    check(b.run("return [...document.querySelectorAll('#summary table')[0].querySelectorAll('tbody tr')].map((r) => r.firstChild.textContent)") == names[::-1],
          "Enter on a title does not turn the order round")
    b.keys("3")
    until("document.querySelector('#flame canvas')", "no flame graph")
    total = b.run("document.querySelector('#flame .flame').focus(); return document.querySelector('#flame > .place').textContent")
    b.keys("ArrowRight")
    box = b.run("return document.querySelector('#flame > .place').textContent")
    b.keys("Enter")
    alone = b.run("return document.querySelector('#flame > .place').textContent")
    check(box != total and alone.endswith("(100.0 %)") and alone.split(":")[0] == box.split(":")[0], "Enter shows %s, not %s" % (alone, box))
    b.keys("Enter")
    check(b.run("return document.querySelector('#flame > .place').textContent") == total, "Enter on the first box does not show all again")
    b.keys("1", "c"), b.frame()
    check(b.run("return gotrace.app.painter.layout.lines.filter((l) => l.type === 'group' && !l.folded).length") == 0, "C does not fold")
    dark = b.run("return document.documentElement.classList.contains('dark')")
    b.keys("t")
    check(b.run("return document.documentElement.classList.contains('dark')") != dark, "T does not change the theme")
    b.keys("?")
    check(b.run("return document.getElementById('help').open"), "? shows no help")
    b.keys("Escape")
    check(not b.run("return document.getElementById('help').open"), "Escape does not close the help")


def strings_of(data):
    """Where the strings of a trace of Go 1.23 are: (place, size) of each."""
    at = 16  # after the header
    while at < len(data):
        kind, at = varint(data, at)
        check(kind == 1, "a batch of kind %d" % kind)  # EventBatch
        for _ in "generation", "thread", "time":
            _, at = varint(data, at)
        size, at = varint(data, at)
        end = at + size
        if data[at] == 4:  # EventStrings
            at += 1
            while at < end:
                _, at = varint(data, at + 1)  # after EventString: its id
                size, at = varint(data, at)
                yield at, size
                at += size
        at = end


def try_hostile(b, tool, directory, trace):
    """Replaces the names of a trace by hostile ones of the same length."""
    attacks = [b"</script><script>window.harmed=1</script>", b"<img src=x onerror=window.harmed=1>", b"\"};window.harmed=1;//", b"\xff\xfe\x00<b>&amp;"]
    with open(trace, "rb") as file:
        data = bytearray(file.read())
    count = 0
    for at, size in strings_of(data):
        if size >= 4:
            part = attacks[count % len(attacks)][:size]
            data[at:at + len(part)] = part
            count += 1
    check(count >= 20, "no names to replace")
    hostile, page = os.path.join(directory, "hostile.trace"), os.path.join(directory, "hostile.html")
    with open(hostile, "wb") as file:
        file.write(data)
    subprocess.run([tool, "view", "-o", page, hostile], check=True)
    b.open("file://" + page)
    b.wait_for("window.gotrace && gotrace.app.answered")
    b.frame()
    b.keys(*"e23")
    b.run("gotrace.app.search('script')")
    check(b.run("return window.harmed === undefined && document.querySelector('img') === null"), "a name became script or markup")
    no_errors(b)
    # If markup got in nevertheless, the policy would stop it.
    with open(page, encoding="utf-8", errors="replace") as file:
        check("base-uri 'none'; form-action 'none'" in file.read(2000), "the policy allows bases and forms")
    b.run("const s = document.createElement('script'); s.nonce = 'gotrace'; s.textContent = 'window.harmed = 1'; document.body.append(s)")
    check(b.run("return window.harmed === undefined"), "the policy allows a foreign script")
    b.errors()


def try_names(b, tool, directory):
    """Names neither turn the direction of what follows nor leave their boxes; "=" finds goroutines only."""
    page = os.path.join(directory, "names.html")
    open_page(b, tool, page, write(directory, "names.trace", made_trace.names()))
    b.keys("e"), b.frame()
    check(b.run("return gotrace.app.model.rows.map((r) => r.name).filter((name) => name.includes('evil'))") == ["?evil?", "?evil?"], "a name turns the direction")
    b.run("gotrace.app.search('=?evil?')")
    b.wait_for("gotrace.app.result === 0")
    check(b.run("return gotrace.app.results.length") == 1, "= finds more than the goroutines of a function")
    b.keys("Escape")
    x, y = b.run("""
        const {painter} = gotrace.app, line = painter.layout.lines.find((l) => l.row?.kind === 2 && l.row.name.length > 500);
        gotrace.app.reveal(line.row.number), painter.draw();
        return [painter.x((line.row.begin + line.row.end) / 2), painter.lineTop(line) + line.height / 2];""")
    b.mouse((x, y))
    b.wait_for("!document.getElementById('tip').hidden")
    b.mouse((x + 1, y), "down", "up")
    b.wait_for("!document.getElementById('panel').hidden")
    for box in "tip", "panel":
        wide, room = b.run("const box = document.getElementById(arguments[0]); box.hidden = false; return [box.scrollWidth, box.clientWidth]", box)
        check(0 < wide <= room, "a name leaves the box", box, wide, room)
    no_errors(b)


def try_functions(b, tool, directory):
    """The search finds functions in stacks. What a running slice adds up is of its function, not of the program."""
    page = os.path.join(directory, "functions.html")
    open_page(b, tool, page, write(directory, "functions.trace", made_trace.chain()))
    for text, wanted in ("sync.wait", ["in sync.Wait, sync"]), ("unlock", ["in main.unlock, runnable"]), ("main.worker", ["G2 main.worker"]), \
            ("=sync.Wait", []):
        b.run("gotrace.app.search(arguments[0])", text)
        b.wait_for("gotrace.app.results && document.getElementById('found').textContent")
        found = b.run("return gotrace.app.results.map((result) => result.what)")
        check(found == wanted, "the search for", text, "finds", found)
        b.keys("Escape")
    b.run("const {model} = gotrace.app, row = model.rows.find((r) => r.name === 'main.worker');"
          "return gotrace.app.sliceAt(row.number, 10000, false).then((slice) => gotrace.app.select(slice))")
    b.wait_for("document.getElementById('panel').textContent.includes('running')")
    panel = b.run("return document.getElementById('panel').textContent")
    told = "all of this function3, 25.000 µs, longest 12.000 µs"
    check(told in panel, "the details of a running slice:", panel)
    no_errors(b)


def try_recorded(b, tool, directory):
    """Of a trace of `gotrace record`, the page says nowhere that a thread runs, and nothing else if the trace has context switches.
    Threads are grouped by their names."""
    for watched in False, True:
        try_named(b, tool, directory, watched)


def try_named(b, tool, directory, watched):
    page = os.path.join(directory, "recorded.html")
    open_page(b, tool, page, write(directory, "recorded.trace", made_trace.named(watched=watched)))
    told, other = ("running", "not seen waiting") if watched else ("not seen waiting", "running")
    b.run("""
        const c = gotrace.app.painter.context, draw = c.fillText;
        window.drawn = [];
        c.fillText = function (text, ...rest) { window.drawn.push(text); return draw.call(this, text, ...rest); };
        gotrace.app.painter.draw();""")
    drawn = b.run("return window.drawn")
    check(any(told in text for text in drawn), "the picture does not say that a thread was %s:" % told, drawn)
    check({"▾ net", "▾ pool", "G5 log"} <= set(drawn), "groups of threads:", drawn)
    b.run("const {model} = gotrace.app, row = model.rows.find((r) => r.name === 'net');"
          "return gotrace.app.sliceAt(row.number, 16500, false).then((slice) => gotrace.app.select(slice))")
    b.wait_for("document.getElementById('panel').textContent.includes('G3')")
    b.keys("2")
    said = drawn + b.run("return ['panel', 'summary', 'legend', 'status', 'facts'].map((id) => document.getElementById(id).textContent)")
    check(sum(told in text for text in said[len(drawn):]) == 3, "panel, summary, legend:", said[len(drawn):])
    check(not any(other in text for text in said), "the page says %s:" % other, [text for text in said if other in text])
    b.keys("1")
    no_errors(b)


def try_unended(b, tool, directory):
    """The panel of a wait, and the table of waits, say how many have not ended."""
    page = os.path.join(directory, "unended.html")
    open_page(b, tool, page, write(directory, "unended.trace", made_trace.waits_for_ever()))
    b.run("const {model} = gotrace.app, row = model.rows.find((r) => r.name === 'main.leak');"
          "return gotrace.app.sliceAt(row.number, 5000, false).then((slice) => gotrace.app.select(slice))")
    b.wait_for("document.getElementById('panel').textContent.includes('forever')")
    panel = b.run("return document.getElementById('panel').textContent")
    check("1, 7.000 µs, longest 7.000 µs, 1 not ended" in panel, "the panel of a wait for ever:", panel)
    b.keys("2")
    rows = b.run("return [...document.querySelectorAll('#summary tr')].map((row) => [...row.children].map((c) => c.textContent))")
    check(["reason", "where", "count", "total", "longest", "not ended"] in rows and ["forever", "main.leak  x.go:1", "1", "7.000 µs", "7.000 µs", "1"] in rows, rows)
    b.keys("1")
    no_errors(b)


def try_many(b, tool, directory):
    """The summary says what it leaves out, and keys scroll it. Many tasks of one name do not block the page for minutes."""
    page = os.path.join(directory, "many.html")
    open_page(b, tool, page, write(directory, "many.trace", made_trace.many_functions()))
    b.keys("2")
    rows = b.run("return [...document.querySelector('#summary table').querySelectorAll('tbody tr')].map((r) => r.textContent)")
    check(len(rows) == 501 and rows[-1] == "and 201 more", len(rows), "rows, and at last", rows[-1])
    b.keys("ArrowDown", "ArrowDown")
    b.wait_for("document.getElementById('summary').scrollTop > 0")
    # Enter leads to the next result, but on a button it presses that.
    b.keys("1")
    b.run("gotrace.app.search('main.f')")
    for key, result in (("", 0), ("Enter", 1)):
        b.keys(*[key] if key else [])
        b.wait_for("gotrace.app.result === %d" % result)
    dark = b.run("document.getElementById('theme').focus(); return gotrace.app.dark")
    b.keys("Enter")
    check(b.run("return gotrace.app.dark") != dark and b.run("return gotrace.app.result") == 1, "Enter on a button does something else")
    # Slots of a factor of four: the last but one begins at 268 ms, the last at 1.07 s.
    check(b.run("return gotrace.bars([[4 * 28 - 4, 5], [4 * 30 - 4, 7]]).title").endswith(": 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 7"), "the last bars")
    no_errors(b)
    trace = write(directory, "tasks.trace", made_trace.open_tasks())
    subprocess.run([tool, "view", "-o", page, trace], check=True)
    started = monotonic()
    b.open("file://" + page)
    b.wait_for("window.gotrace && gotrace.app.answered")
    check(monotonic() - started < 100, "a page with many tasks takes %d s to open" % (monotonic() - started))
    no_errors(b)


def try_instant_tasks(b, tool, directory):
    """Each of several tasks that have the same row and time has its own parts."""
    page = os.path.join(directory, "instant.html")
    open_page(b, tool, page, write(directory, "instant.trace", made_trace.InstantTasks))
    for task in 1, 2, 3:
        b.run("""
            const {app} = gotrace, row = app.model.rows.find((r) => r.kind === 4);
            app.select({row: row.number, begin: row.begin, end: row.begin, size: 1, colour: 0, what: arguments[0], who: 0, times: []});""", task)
        b.wait_for("document.getElementById('panel').textContent.includes('Parts (1)')")
        panel = b.run("return document.getElementById('panel').textContent")
        check("log job: log %d" % task in panel, "task", task, "has the parts", panel)
    no_errors(b)


def write(directory, name, trace):
    path = os.path.join(directory, name)
    with open(path, "wb") as file:
        file.write(trace.data())
    return path


def try_carried(b, tool, directory):
    """What began before a part, in an earlier generation or before the trace."""
    trace, page = write(directory, "carried.trace", made_trace.carried()), os.path.join(directory, "carried.html")
    story = Story(tool, trace)
    open_page(b, tool, page, trace)
    counts = compare(b, story, 3, random.Random(1))
    check(all(counts[what] for what in ("region", "task", "collector")), counts)
    for begin, end in ((50000, 80000), (50000, 103500), (90200, 101000), (150000, 250000), (265000, 290501)):
        part = compare_part(b, tool, page, trace, story, begin, end, 3, random.Random(1))
        check(part["region"] and part["task"], "from", begin, "to", end, part)
        cuts = b.run("return gotrace.app.model.rows.filter((r) => (r.kind === 3 || r.kind === 4) && r.begin <= r.end && r.begin === gotrace.app.data.begin && !r.cut.first).length")
        check(cuts == 0, "what began before the part is not marked")
    b.run("gotrace.app.goTo(gotrace.app.model.rows.find((r) => r.kind === 4).number, gotrace.app.data.begin + 1)")
    b.wait_for("gotrace.app.view.selected")
    panel = b.run("return document.getElementById('panel').textContent")
    check("before this part" in panel and "lasts279.000 µs" in panel, panel)
    no_errors(b)


def try_longest(b, tool, directory):
    """Of too many results, the longest are kept."""
    page = os.path.join(directory, "many.html")
    open_page(b, tool, page, write(directory, "many.trace", made_trace.many_regions()))
    b.run("gotrace.app.panels.showSpans(gotrace.app.model.spans.find((s) => s.name === 'read'))")
    b.wait_for("gotrace.app.view.selected")
    selected = b.run("return gotrace.app.view.selected")
    check(selected["end"] - selected["begin"] == 777000, "the longest region lasts", selected["end"] - selected["begin"])
    found = b.run("return document.getElementById('found').textContent")
    check("20,000 of 24,958" in found, found)
    b.keys("Escape")
    b.run("gotrace.app.search('read')")
    b.wait_for("gotrace.app.results && gotrace.app.result === 0")
    found = b.run("return document.getElementById('found').textContent")
    check("first 20,000 of 24,958" in found and b.run("return gotrace.app.results[0].time") == 1000, found)
    no_errors(b)


def try_shares(b, tool, directory):
    """The area of a colour is its share of the time, at any zoom."""
    page = os.path.join(directory, "rarely.html")
    open_page(b, tool, page, write(directory, "rarely.trace", made_trace.runs_rarely()))
    for size in (1, 0.3, 0.03):
        b.run("const {begin, end} = gotrace.app.data; gotrace.setView(begin, begin + (end - begin) * arguments[0])", size)
        b.frame()
        part = b.run("""
            const {painter, model} = gotrace.app, line = painter.layout.lines.find((l) => l.row?.kind === 2 && l.row.id === 1);
            const {width} = painter.canvas, ratio = painter.ratio, x = Math.round((painter.width - painter.view.width) * ratio);
            const {pixels} = painter, colour = painter.stateColours[0] >>> 0;
            const top = Math.round((painter.lineTop(line) + 2) * ratio), bottom = Math.round((painter.lineTop(line) + line.height - 1) * ratio);
            let count = 0;
            for (let y = top; y < bottom; y++) for (let k = x; k < width; k++) count += pixels[y * width + k] === colour;
            return count / ((bottom - top) * (width - x));""")
        check(0.003 < part < 0.013, "running 0.66 % of the time has", 100 * part, "% of the pixels")
    no_errors(b)


def try_counters(b, tool, directory):
    """The program's counters are lines, with their values where and when the program reported them."""
    page = os.path.join(directory, "counters.html")
    trace = write(directory, "counters.trace", made_trace.counters())
    open_page(b, tool, page, trace)
    counts = compare(b, Story(tool, trace), 3, random.Random(1))
    check(counts["mark"] > 0, counts)
    titles = b.run("return gotrace.app.painter.layout.lines.filter((l) => l.own).map((l) => l.title)")
    check(titles == ["(no name)", "balance", "load", "once", "queue"], titles)
    b.keys("Home"), b.run("gotrace.setView(0, 100000)"), b.frame()
    points = (("queue", 500, None, 0), ("queue", 2500, 3, 3 / 9), ("queue", 7500, 9, 1), ("queue", 49000, 6, 6 / 9), ("balance", 10500, -30, -30 / 42),
              ("balance", 11500, 12, 12 / 42), ("load", 13500, 0.25, 0), ("load", 14500, 1e20, 1))
    shown = b.run("""
        const {painter} = gotrace.app, ratio = painter.ratio, {width, height} = painter.canvas;
        const pixels = painter.context.getImageData(0, 0, width, height).data;
        return arguments[0].map(([name, time]) => {
          const line = painter.layout.lines.find((l) => l.own && l.title === name), [series] = line.series, x = painter.x(time);
          const top = painter.lineTop(line) + 3, room = line.height - 6, zero = top + room * (1 + series.least / (series.most - series.least));
          let above = 0, below = 0;
          for (let y = Math.round(top * ratio); y < (top + room) * ratio; y++) {
            const at = 4 * (y * width + Math.round(x * ratio));
            const drawn = [0, 1, 2].some((k) => Math.abs(pixels[at + k] - (painter.backColour >> 8 * k & 255)) > 40);
            if (drawn && y < zero * ratio) above++;
            if (drawn && y >= zero * ratio) below++;
          }
          return [painter.counterText(line, x), above / room / ratio, below / room / ratio];
        });""", [point[:2] for point in points])
    for (name, time, value, share), (text, above, below) in zip(points, shown):
        text = text.split(": ")[1]
        check(text == "no value yet" if value is None else float(text) == value, name, "at", time, "is", text, "not", value)
        check(abs(above - max(share, 0)) < 0.1 and abs(below - max(-share, 0)) < 0.1, name, "at", time, "is drawn", above, below, "not", share)
    no_errors(b)


def try_far_times(b, tool, directory):
    page = os.path.join(directory, "far.html")
    open_page(b, tool, page, write(directory, "far.trace", made_trace.long_ago()), "--from", "%dns" % (2**54 - 50))
    b.keys("e", *"w" * 30, "r", "a", "d", *"s" * 5)
    b.frame()
    low, high = b.run("const v = gotrace.state(); return [v.from, v.to]")
    check(high > low >= 2**53, "from", low, "to", high)
    no_errors(b)


BIG = [2**53 + 1, 2**53 + 2, 2**63 + 5, 2**64 - 7]  # ids that JavaScript's numbers cannot distinguish from others


def write_big_ids(path):
    """A trace in Go 1.22's format, with large ids of goroutines and tasks."""
    def batch(m, time, data):
        return numbers(1, 1, m, time, len(data)) + data

    nobody, names = 2**64 - 1, [b"big.go", b"part", b"done", b"message"]
    strings = numbers(4) + b"".join(numbers(5, i + 1, len(name)) + name for i, name in enumerate(names))
    events = numbers(13, 10, 0, 1) + numbers(25, 10, BIG[0], 7, 2)  # ProcStatus, GoStatus
    for task, parent in ((BIG[2], 0), (BIG[3], BIG[2])):
        events += numbers(40, 500, task, parent, 2, 0) + numbers(42, 500, task, 2, 0) + numbers(44, 500, task, 1, 4, 0)
    events += numbers(14, 500, BIG[1], 0, 0) + numbers(14, 500, BIG[3], 0, 0)  # GoCreate
    for g in (BIG[1], BIG[3], BIG[0]):
        # GoStop or GoBlock; GoStart; GoUnblock
        events += numbers(20 if g == BIG[1] else 19, 700, 3, 0) + numbers(16, 300, g, 2 if g == BIG[0] else 1)
        if g == BIG[1]:
            events += numbers(21, 400, BIG[0], 1, 0)
    events += numbers(43, 500, BIG[3], 2, 0) + numbers(41, 500, BIG[3], 0) + numbers(43, 500, BIG[2], 2, 0) + numbers(41, 500, BIG[2], 0)
    with open(path, "wb") as file:
        file.write(b"go 1.22 trace\0\0\0" + batch(nobody, 1000, numbers(8, 10**9)) + batch(nobody, 1000, strings) + batch(7, 1000, events))


def try_big_ids(b, tool, directory):
    trace, page = os.path.join(directory, "big_ids.trace"), os.path.join(directory, "big_ids.html")
    write_big_ids(trace)
    subprocess.run([tool, "view", "-o", page, trace], check=True)
    b.open("file://" + page)
    b.wait_for("window.gotrace && gotrace.app.answered")
    b.frame()
    counts = compare(b, Story(tool, trace), 6, random.Random(1))
    check(all(counts[what] for what in ("goroutine", "region", "task", "arrow", "proc")), counts)
    names = b.run("return gotrace.app.model.rows.filter((r) => r.kind === 2).map((r) => gotrace.app.model.goName(r.number))")
    check(sorted(name.split(" ")[0] for name in names) == sorted("G%d" % g for g in (BIG[0], BIG[1], BIG[3])), names)
    b.keys("/", *"task %d" % BIG[3], "Enter")
    b.wait_for("gotrace.app.view.selected && document.querySelector('#panel h2').textContent.startsWith('task')")
    panel = b.run("return document.getElementById('panel').textContent")
    check("task %d" % BIG[3] in panel and "part of" + "task %d" % BIG[2] in panel and "Parts (2)" in panel, panel)
    b.keys("Escape", "Escape", "0", "n")
    b.wait_for("gotrace.app.view.mark")
    b.keys("n")
    panel = b.run("return document.getElementById('panel').textContent")
    check("message" in panel and "G%d" % BIG[0] in panel and "task %d" % BIG[3] in panel, "N leads to " + panel)
    b.keys("p")
    check("task %d" % BIG[2] in b.run("return document.getElementById('panel').textContent"), "P does not lead back")
    no_errors(b)


def try_lenient(b, tool, directory):
    """Regions that end out of order keep their rows and times."""
    trace, page = os.path.join(directory, "misused.trace"), os.path.join(directory, "misused.html")
    with open(trace, "wb") as file:
        file.write(made_trace.misused().data())
    subprocess.run([tool, "view", "--lenient", "-o", page, trace], check=True, stderr=subprocess.DEVNULL)
    b.open("file://" + page)
    b.wait_for("window.gotrace && gotrace.app.answered")
    b.keys("e")
    b.frame()
    b.run("window.found = null; gotrace.visible().then((all) => { window.found = all; })")
    b.wait_for("window.found")
    found = b.run("return window.found")
    depths = {row: depth for row, kind, ident, name, depth, used in found["rows"] if kind == KIND["region"]}
    slices = sorted((depths[s.row], s.begin, s.end, s.label) for s in map(Slice, found["slices"]) if s.row in depths)
    check(slices == [(-1, 0, 6500, "never"), (0, 1000, 3000, "outer"), (0, 6000, 7000, "last"), (1, 2000, 5000, "middle"), (2, 2500, 4000, "inner")], slices)
    no_errors(b)


@contextlib.contextmanager
def opened(b, how, trace):
    """A trace on the page that opens traces, or on the one that is served."""
    with contextlib.ExitStack() as stack:
        if how == "chosen":
            b.open("file://" + os.path.abspath(serve.PAGE))
            b.wait_for("!document.getElementById('start').hidden")
            b.choose("#file", os.path.abspath(trace))
        else:
            b.open(stack.enter_context(serve.Server(trace)).address)
        b.wait_for("window.gotrace && gotrace.app.answered && document.getElementById('start').hidden", 600)
        b.frame()
        yield
        b.open("about:blank")  # while there is a server


def compare_opened(browsers, how, windows, tool, traces):
    generator, wrong = random.Random(2), []
    for kind in browsers:
        for trace in traces:
            with kind(1280, 800) as b:
                try:
                    with opened(b, how, trace):
                        counts = compare(b, Story(tool, trace), windows, generator)
                    check(counts["goroutine"] > 0, "nothing was compared")
                    no_errors(b)
                    print("%s, %s %s: %d windows, %s" % (kind.name, os.path.basename(trace), how, windows, ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items()) if n)), flush=True)
                except (Wrong, RuntimeError, TimeoutError) as error:
                    wrong.append("%s, %s %s: %s" % (kind.name, os.path.basename(trace), how, error))
                    print(wrong[-1], flush=True)
    faults.repeat(wrong)
    return wrong != []


def main(words):
    windows, only, how = 20, None, None
    while words and words[0].startswith("-"):
        if words[0] == "-n":
            windows = int(words[1])
        if words[0] == "-b":
            only = words[1]
        if words[0] == "-o":
            how = words[1]
        words = words[2:]
    tool, traces = words[0], words[1:]
    browsers = [b for b in browser.all_there() if not only or b.name == only]
    if not browsers:
        print("needs chromium, chromium-driver and the name localhost, or firefox-esr (make deps)")
        return 77
    if how:
        return compare_opened(browsers, how, windows, tool, traces)
    generator, wrong, all_counts = random.Random(1), [], collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        for kind in browsers:
            share = windows if len(browsers) == 1 else windows // 3 if kind is browsers[-1] else windows - windows // 3
            with kind(1280, 800) as b:
                for number, trace in enumerate(traces):
                    page = os.path.join(directory, "page.html")
                    url = "file://" + page
                    try:
                        story = Story(tool, trace)
                        open_page(b, tool, page, trace)
                        counts = compare(b, story, share, generator)
                        compare_selection(b, story.goes, generator, tool, trace)
                        check(counts["goroutine"] > 0, "nothing was compared")
                        compare_flames(b, tool, trace, story.end // 4, story.end)
                        check_began(b, tool, trace)
                        all_counts += counts
                        no_errors(b)
                        if number == 0:
                            try_hands(b, url)
                            no_errors(b)
                            try_hostile(b, tool, directory, trace)
                            try_big_ids(b, tool, directory)
                            try_lenient(b, tool, directory)
                            try_carried(b, tool, directory)
                            try_longest(b, tool, directory)
                            try_shares(b, tool, directory)
                            try_far_times(b, tool, directory)
                            try_counters(b, tool, directory)
                            try_names(b, tool, directory)
                            try_functions(b, tool, directory)
                            try_recorded(b, tool, directory)
                            try_unended(b, tool, directory)
                            try_many(b, tool, directory)
                            try_instant_tasks(b, tool, directory)
                            open_page(b, tool, page, trace)
                        few = (share + 2) // 3
                        all_counts += compare_filter(b, tool, page, trace, story, few, generator)
                        all_counts += compare_part(b, tool, page, trace, story, story.end // 3, story.end // 2, few, generator)
                        no_errors(b)
                        print("%s, %s: %s" % (kind.name, os.path.basename(trace), ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items()) if n)))
                    except (Wrong, RuntimeError, TimeoutError) as error:
                        wrong.append("%s, %s: %s" % (kind.name, os.path.basename(trace), error))
                        print(wrong[-1])
    missing = [what for what in COMPARED if not all_counts[what]] if len(traces) > 1 else []
    if missing:
        wrong.append(" ".join(["nothing compared:", *missing]))
    faults.repeat(wrong)
    return wrong != []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
