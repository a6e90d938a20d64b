#!/usr/bin/env python3
"""Makes the picture in README.md: the trace of the example scheduler in gotrace view, where goroutines wake each other.

    tests/view/picture.py OUT.png
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402

with tempfile.TemporaryDirectory() as directory:
    trace, page = os.path.join(directory, "scheduler.trace"), os.path.join(directory, "page.html")
    subprocess.run(["build/examples/scheduler", "-o", trace, "-j", "4", "examples", "tests"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["build/examples/gotrace", "view", "-o", page, trace], check=True)
    with browser.Chromium(1280, 900) as b:
        b.open("file://" + page)
        b.wait_for("window.gotrace && gotrace.app.answered")
        first, last = b.run("return [gotrace.app.data.begin, gotrace.app.data.end]")
        b.run("""gotrace.app.setTheme(false);
          for (const group of gotrace.app.model.groups) if (/^(counters|threads|task directory)/.test(group.key)) gotrace.app.fold(group, true);""")
        # Of several parts, takes the one with most arrows that can still be distinguished.
        best = most = -1
        for step in range(90):
            begin = first + (last - first) * (0.1 + step / 120)
            b.run("gotrace.setView(arguments[0], arguments[1])", begin, begin + (last - first) * 0.03)
            b.frame()
            arrows = b.run("return gotrace.app.painter.arrowCount")
            if most < arrows <= 40:
                best, most = begin, arrows
        b.run("gotrace.setView(arguments[0], arguments[1])", best, best + (last - first) * 0.03)
        b.frame()
        b.screenshot(sys.argv[1])
