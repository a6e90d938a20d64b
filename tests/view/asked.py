#!/usr/bin/env python3
"""What the page of gotrace view asks the tool, in Chromium and Firefox: CPU samples beside running time, flame graphs of a
time, a question or a search that takes long.

    tests/view/asked.py

tests/view/check.py compares the answers with those of the tool itself, tests/view/same_data.py all bytes.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(sys.path[0], "../tool"))
import browser  # noqa: E402
import made_trace  # noqa: E402

PANEL = "document.getElementById('panel')"
LINK = "[...document.querySelectorAll('#panel button')].find((x) => x.textContent === '%s')"


def check_samples(b):
    """A time, a goroutine and a task tell how many CPU samples they have."""
    b.run("gotrace.app.setRange(0, 15000)")
    b.wait_for("document.querySelector('#panel table.places')")
    rows = b.run("return [...document.querySelector('#panel table.places').rows].map((row) => [...row.cells].map((cell) => cell.textContent))")
    assert rows[0][rows[0].index("running") + 1] == "CPU samples" and [row[0] for row in rows[1:]] == ["main.main"], rows
    assert rows[1][rows[0].index("CPU samples")] == "1", rows
    b.run("gotrace.app.panels.showRow(gotrace.app.model.rows.find((row) => row.kind === 2 && row.begin <= row.end))")
    b.wait_for(PANEL + ".textContent.includes('3 CPU samples, of that, at 100 a second')")
    b.run("return gotrace.app.search('task 7')")
    b.wait_for(PANEL + ".textContent.includes('in its regions, 48.000 µs running, with 2 CPU samples: at 100 a second, 20.000 ms')")


def check_flames(b):
    """Flame graphs of all and of a time, in which functions are found."""
    title = "document.querySelector('#flame > .place').textContent"
    b.run("gotrace.app.setRange(0, 30000)")
    b.keys("3")
    b.wait_for("[...document.querySelectorAll('#flame button')].some((button) => button.textContent === 'CPU samples')")
    b.run("[...document.querySelectorAll('#flame button')].find((button) => button.textContent === 'CPU samples').click()")
    b.wait_for(title + " === 'all: 3 samples (100.0 %)'")
    b.run("const choice = document.querySelector('#flame select'); choice.value = [...choice.options].findIndex((o) => o.text === 'the selected time'); choice.dispatchEvent(new Event('change'))")
    b.wait_for(title + " === 'all: 2 samples (100.0 %)'")
    painted = "const c = document.querySelector('#flame canvas'); return [...c.getContext('2d').getImageData(5, 5 + 19 * 1, 1, 1).data].join()"
    before = b.run(painted)
    for text, told in ("PARSE", "found: 2 samples of 2 samples (100.0 %)"), ("/^nothing/", "found: 0 samples of 2 samples (0.0 %)"):
        b.run("const box = document.querySelector('#flame input'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))", text)
        b.wait_for(title + " === '%s'" % told)
        assert b.run(painted) != before  # main.main is not what is found
    b.run("const box = document.querySelector('#flame input'); box.value = ''; box.dispatchEvent(new Event('input'))")
    assert b.run(painted) == before
    b.run("gotrace.app.canvas.focus()")
    b.keys("1")


def check_long(b):
    """A question that takes long tells how far it is. It can be given up, and asked again."""
    b.run("""
      const {reader} = gotrace.app.data.files[0].trace;
      reader.run = (file, words, progress, signal) => new Promise((resolve, reject) => {
        progress(0.42);
        signal.addEventListener("abort", () => { window.ended = words; reject(new Error("ended")); });
      });
      gotrace.app.setRange(0, 60000);""")
    b.wait_for(PANEL + ".textContent.includes('reading: 42 %')")
    b.run(LINK % "cancel" + ".click()")
    b.wait_for(LINK % "add up what happened")
    assert b.run("return window.ended.includes('info')") and "reading" not in b.run("return %s.textContent" % PANEL)
    b.run("gotrace.app.view.compared = {from: 0, to: 30000}; gotrace.app.setRange(30000, 60000)")  # each of the two times is half of it
    b.wait_for("[...document.querySelectorAll('#panel .place')].filter((line) => line.textContent.includes('reading: 42 %')).length === 2")
    b.run(LINK % "cancel" + ".click()")
    b.wait_for(LINK % "compare both times")
    b.run("delete gotrace.app.data.files[0].trace.reader.run;" + LINK % "add up what happened" + ".click()")
    b.wait_for("document.querySelector('#panel table.places')")


def check_search(b):
    """A search that takes long tells how far it is, leaves room for keys, and ends with Escape."""
    chunks = b.run("""
      const chunks = gotrace.app.data.chunks.filter((chunk) => !chunk.merged);
      for (const chunk of chunks) chunk.load = () => new Promise((done) => setTimeout(done, 350)).then(() => Object.getPrototypeOf(chunk).load.call(chunk));
      window.said = [], window.ended = false;
      const found = document.getElementById("found");
      new MutationObserver(() => window.said.push(found.textContent)).observe(found, {childList: true});
      gotrace.app.search("parse").then(() => { window.ended = true; });
      return chunks.length;""")
    assert chunks >= 3, chunks
    b.wait_for("window.ended")
    said = b.run("return window.said")
    assert said[0].startswith("searching: ") and said[-1].startswith("1 of ") and len(said) >= 2, said
    b.run("window.said = [], window.ended = false; gotrace.app.search('parse').then(() => { window.ended = true; })")
    b.wait_for("window.said.length")
    b.keys("Escape")
    b.wait_for("window.ended")
    assert b.run("return [document.getElementById('found').textContent, gotrace.app.results]") == ["", None]


def main():
    browsers = browser.needed()
    with browser.page_of(made_trace.sampled_task(), "sampled.trace") as page:
        for kind in browsers:
            with browser.session(kind) as b:
                for check in check_samples, check_flames, check_long, check_search:
                    b.open("about:blank")
                    b.open_page(page)
                    b.run("gotrace.app.canvas.focus()")
                    check(b)
                assert not b.errors(), b.errors()
            print(kind.name)


if __name__ == "__main__":
    main()
