#!/usr/bin/env python3
"""Mouse, keys and fingers on the page of gotrace view, in Chromium and Firefox.

    tests/view/hands.py

check.py tests the keys on traces of all kinds. Here: the wheel scrolls, and zooms with Ctrl, strongly; one finger moves
the picture, two fingers zoom it; a measured time snaps to the edges of slices and is read out while it is dragged; M
marks times; F fits; the browser's back leads to the place before; an address that is changed is read.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(sys.path[0], "../tool"))
import browser  # noqa: E402
import made_trace  # noqa: E402

DRAWN = """
  const c = gotrace.app.painter.context, draw = c.fillText, drawn = [];
  c.fillText = function (text, ...rest) { drawn.push(text); return draw.call(this, text, ...rest); };
  gotrace.app.painter.draw();
  delete c.fillText;
  return drawn;"""
# The end of a long slice of a visible row, with no other edge near: its place and time.
EDGE = """
  const {painter} = gotrace.app, chunks = painter.chooseChunks();
  for (const line of painter.visibleLines().filter((l) => l.type === "row")) {
    const edges = [], ends = [];
    for (const part of chunks) {
      const span = part.index.get(line.row.number);
      for (let i = span ? span.from : 0; i < (span ? span.to : 0); i++) {
        edges.push(part.begin[i], part.end[i]);
        if (part.size[i] === 1 && painter.x(part.end[i]) - painter.x(part.begin[i]) > 60) ends.push(part.end[i]);
      }
    }
    const lonely = ends.find((end) => edges.every((edge) => edge === end || Math.abs(painter.x(edge) - painter.x(end)) > 20) &&
      painter.x(end) > 300 && painter.x(end) < painter.width - 200);
    if (lonely !== undefined) return [painter.x(lonely), painter.lineTop(line) + line.height / 2, lonely];
  }"""


def view(b):
    b.frame()
    return b.run("const {from, to, scroll} = gotrace.state(); return [from, to, scroll]")


def time_at(b, x):
    return b.run("return gotrace.app.painter.time(arguments[0])", x)


def near(a, b, size):
    assert abs(a - b) < size / 100, (a, b, size)


def reset(b):
    b.run("gotrace.app.canvas.focus()")
    b.keys("Escape", "0", "e", "Home")
    return view(b)


def check_wheel(b):
    first, last, _ = reset(b)
    b.wheel(600, 300, 120)
    b.wait_for("gotrace.state().scroll > 0")
    assert view(b)[:2] == [first, last]
    reset(b)
    at = time_at(b, 600)
    b.wheel(600, 300, -100, "Control")
    b.wait_for("gotrace.state().to - gotrace.state().from < %r" % (last - first))
    low, high, scroll = view(b)
    assert scroll == 0
    near(time_at(b, 600), at, high - low)
    # A notch of the wheel: e ** (0.0018 * 5 * 100), five times as strong as in 0.2.
    near((last - first) / (high - low), 2.46, 2.46)
    b.wheel(600, 300, 100, "Shift")
    b.wait_for("gotrace.state().from > %r" % low)
    now = view(b)
    near(now[1] - now[0], high - low, high - low)
    assert now[2] == 0


def check_touch(b):
    first, last, _ = reset(b)
    b.keys("w", "w")
    low, high, _ = view(b)
    scale = (high - low) / b.run("return gotrace.state().width")
    b.touch([(600, 300), (580, 290), (560, 270), (500, 250)])
    now = view(b)
    near(now[0], low + 100 * scale, high - low)
    assert round(now[2]) == 50, now
    assert b.run("return gotrace.app.view.selected === null")
    # Two fingers, from 100 to 400 pixels apart: what was between them stays there.
    reset(b)
    middle = time_at(b, 600)
    b.touch([(550, 300), (500, 300), (400, 300)], [(650, 300), (700, 300), (800, 300)])
    low, high, _ = view(b)
    near((last - first) / (high - low), 4, 4)
    near(time_at(b, 600), middle, high - low)
    assert b.run("return window.visualViewport.scale") == 1 and b.run("return gotrace.app.fingers.size") == 0
    # A tap selects.
    reset(b)
    x, y, _ = b.run(EDGE)
    b.touch([(x - 20, y)])
    b.wait_for("gotrace.app.view.selected")
    # A gesture that the browser ends leaves nothing behind.
    reset(b)
    before = view(b)
    b.run("""
      const {canvas} = gotrace.app, send = (type, id, x) => canvas.dispatchEvent(new PointerEvent(type, {pointerId: id, pointerType: "touch", clientX: x, clientY: 300}));
      canvas.setPointerCapture = () => {};
      send("pointerdown", 7, 500), send("pointerdown", 8, 600), send("pointercancel", 8, 600), send("pointermove", 7, 300);
      delete canvas.setPointerCapture;""")
    assert view(b) == before and b.run("return gotrace.app.fingers.size") == 0


def check_measuring(b):
    reset(b)
    x, y, edge = b.run(EDGE)
    left, top = b.corner()
    move = lambda to: {"type": "pointerMove", "x": int(left + to), "y": int(top + y), "duration": 0, "origin": "viewport"}  # noqa: E731
    shift = lambda kind: {"actions": [{"type": "key", "id": "key", "actions": [{"type": kind, "value": browser.KEYS["Shift"]}]}]}  # noqa: E731
    b.input(shift("keyDown"))
    b.perform("pointer", {"parameters": {"pointerType": "mouse"}}, [move(x + 3), {"type": "pointerDown", "button": 0}, move(x + 60), move(x + 150)])
    b.wait_for("gotrace.state().range")
    begin, end = b.run("const {range} = gotrace.state(); return [range.from, range.to]")
    assert begin == edge, (begin, edge)
    length = b.run("return duration(arguments[0])", end - begin)
    assert length in b.run(DRAWN), (length, b.run(DRAWN))
    b.perform("pointer", {"parameters": {"pointerType": "mouse"}}, [{"type": "pointerUp", "button": 0}])
    b.input(shift("keyUp"))
    b.wait_for("document.querySelector('#panel table')")
    assert b.run("return gotrace.state().range.from") == edge
    b.keys("f")
    now = view(b)
    assert [now[0], now[1]] == [begin, end], (now, begin, end)


def check_marked_times(b):
    reset(b)
    x, y, edge = b.run(EDGE)
    for at in x + 2, x + 100:
        b.mouse((at, y))
        b.keys("m")
    flags = b.run("return gotrace.state().flags")
    assert len(flags) == 2 and flags[0] == edge, (flags, edge)
    drawn = b.run(DRAWN)
    assert "1: " + b.run("return moment(arguments[0])", edge) in drawn and "2: +" + b.run("return duration(arguments[0])", flags[1] - edge) in drawn, drawn
    b.wait_for("location.hash.includes('k=%d,%d')" % tuple(flags))
    b.run("gotrace.app.view.flags = []; return gotrace.app.readFragment()")
    assert b.run("return gotrace.state().flags") == flags
    b.keys("m")
    assert b.run("return gotrace.state().flags") == flags[:1]
    b.mouse((x, y))
    b.keys("m")
    assert b.run("return gotrace.state().flags") == []


def check_fit(b):
    first, last, _ = reset(b)
    x, y, edge = b.run(EDGE)
    b.mouse((x - 10, y), "down", "up")
    b.wait_for("gotrace.app.view.selected")
    b.keys("f")
    begin, end = b.run("const {begin, end} = gotrace.app.view.selected; return [begin, end]")
    low, high, _ = view(b)
    assert end == edge and low < begin < end < high
    near(high - low, 1.2 * (end - begin), high - low)
    b.keys("Escape", "f")
    assert view(b)[:2] == [first, last]


def check_back(b):
    """Each jump is a place to go back to; small moves are not."""
    reset(b)
    settled = "location.hash === gotrace.app.fragment() && !gotrace.app.reading"
    b.wait_for(settled)
    before, first = view(b), b.run("return history.length")
    x, y, _ = b.run(EDGE)
    b.mouse((x - 10, y), "down", "up")
    b.wait_for("gotrace.app.view.selected")
    b.wait_for(settled)
    places = b.run("return history.length")
    assert places == first + 1, (places, first)
    b.keys("f")
    b.wait_for(settled)
    fitted = view(b)
    assert b.run("return history.length") == places + (fitted[1] - fitted[0] < (before[1] - before[0]) / 4)
    for _ in range(3):
        b.keys("d")
        b.frame()
    b.wait_for(settled)
    places = b.run("return history.length")
    b.keys("2")
    b.wait_for(settled)
    assert b.run("return history.length") == places + 1

    def back():
        b.run("return new Promise((done) => { window.addEventListener('hashchange', () => done(), {once: true}); history.back(); })")
        b.wait_for(settled)

    back()
    assert b.run("return gotrace.app.tab === 'timeline' && gotrace.app.view.selected !== null")
    for _ in range(places - first):
        back()
    assert not b.run("return gotrace.app.view.selected") and view(b)[:2] == before[:2], (view(b), before)
    b.run("history.forward()")
    b.wait_for("gotrace.app.view.selected")


def check_address(b):
    """An address that was changed is read, and not overwritten by the place that was to be written at that moment."""
    reset(b)
    x, y, _ = b.run(EDGE)
    b.mouse((x - 10, y), "down", "up")
    b.wait_for("gotrace.app.view.selected && location.hash === gotrace.app.fragment() && location.hash.includes('s=')")
    b.run("location.hash = location.hash.replace(/&s=[^&]*/, ''); gotrace.app.writeFragment()")
    b.wait_for("!gotrace.app.view.selected && !location.hash.includes('s=')")
    reset(b)


def check_ends(b):
    """A time that is selected has its ends in the trace; one whose drag is broken off is not kept; a list keeps its keys;
    places of another trace in the browser's history are left alone."""
    reset(b)
    ends = """const {app} = gotrace, {begin, end} = app.data;
      app.setRange(end + 10, end + 20);
      const {from, to} = app.view.range;
      return from === end && to === end;"""
    assert b.run(ends)
    broken = """const {app} = gotrace, range = app.view.range = {from: app.data.begin, to: app.data.end};
      const send = (name, x, id) => app.canvas.dispatchEvent(new PointerEvent(name, {clientX: x, clientY: app.canvas.getBoundingClientRect().top + 50, pointerId: id, bubbles: true}));
      app.canvas.setPointerCapture = () => {};
      send("pointerdown", 400, 1), send("pointermove", 500, 1);
      const dragged = app.view.range !== range;
      send("pointercancel", 500, 1);
      delete app.canvas.setPointerCapture;
      return dragged && app.view.range === range && !app.drag;"""
    assert b.run(broken)
    listed = """const {app} = gotrace, list = document.createElement("select");
      document.body.append(list);
      const before = app.view.to - app.view.from;
      list.dispatchEvent(new KeyboardEvent("keydown", {key: "w", bubbles: true}));
      list.remove();
      return app.view.to - app.view.from === before;"""
    assert b.run(listed)
    foreign = """const {app} = gotrace, {from, to} = app.view;
      history.replaceState({app: "another"}, "", "#t=" + app.data.begin + "-" + (app.data.begin + 1000));
      return app.readFragment().then(() => app.view.from === from && app.view.to === to);"""
    assert b.run(foreign)
    reset(b)


def main():
    browsers = browser.needed()
    with browser.page_of(made_trace.in_turn(), "in_turn.trace") as page:
        for kind in browsers:
            # The places of the browser's history are counted, so there are no others before.
            for checks in (check_wheel, check_touch, check_measuring, check_marked_times, check_fit, check_address, check_ends), (check_back,):
                with browser.session(kind) as b:
                    b.open_page(page)
                    for check in checks:
                        check(b)
            print(kind.name)


if __name__ == "__main__":
    main()
