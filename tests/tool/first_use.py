#!/usr/bin/env python3
"""What people try in their first hour with the tool.

    tests/tool/first_use.py

Parts outside of the trace and times without a unit are errors, the same in each command. Results that are not text do not
go to a terminal. Names that are empty, long, or formulas. Compressed and empty inputs. What opens a browser.
"""
import csv
import io
import json
import os
import pty
import stat
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from made_trace import *  # noqa: E402, F403

TOOL = os.path.abspath("build/examples/gotrace")
SOME = "tests/traces/carried_over_generations"  # three generations, each of 100 us
# What each command takes besides a file, and what it calls a result that is not text.
COMMANDS = {"info": ([], None), "dump": ([], None), "diff": ([SOME], None), "path": (["--go", "1"], None), "waits": ([], None),
            "view": ([], "a page"), "cut": (["--go", "1"], "a trace"), "profile": (["--sync"], "a profile"),
            "export": (["--perfetto"], "an export")}


def run(words, status=0, **more):
    """Standard output and standard error."""
    done = subprocess.run([TOOL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    assert done.returncode == status, "%s: status %d, not %d: %s" % (words, done.returncode, status, done.stderr.decode())
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def parts():
    outside = "gotrace: %s: 5.000000000 s is outside of the trace, which is 0.000290501 s long\n" % SOME
    for command, (options, _) in COMMANDS.items():
        for more in [], ["--to", "6s"]:
            out, said = run([command, *options, "--from", "5s", *more, SOME], 1)
            assert (out, said) == ("", outside * (2 if command == "diff" else 1)), (command, out, said)
        if command == "dump":  # its own way through the trace
            assert run([command, "--function", "main", "--from", "5s", SOME], 1) == ("", outside)
        run([command, *options, "--from", "0", "--to", "5s", SOME])
    for begin, end, count in ("0", "300us", 3), ("120us", "130us", 1), ("120us", "210us", 2), ("0", "50us", 1), ("250us", "1s", 1):
        got = json.loads(run(["info", "--json", "--from", begin, "--to", end, SOME])[0])["trace"]["generations"]
        assert got == count, "%d generations from %s to %s, not %d" % (got, begin, end, count)


def times():
    for word, said in (("1.5", "time '1.5' needs a unit: 1.5s or 1.5ms"), (".5", "time '.5' needs a unit: .5s or .5ms"),
                       *((bad, "invalid time '%s'; valid are 1.5s, 20ms, 300us, 100ns, and times of the wall clock: 21:40:05.123" % bad)
                         for bad in ("5h", "soon", "", "1e9", "-1", "ns", "1.5 s"))):
        got = run(["info", "--from", word, SOME], 2)[1]
        assert got == "gotrace: %s\nsee gotrace help info\n" % said, got
    whole = run(["dump", SOME, "--from", "120000"])[0]
    for same in "120000ns", "120us", "120\u00b5s", "0.12ms", "0.00012s":
        assert run(["dump", SOME, "--from", same])[0] == whole, same


def terminal(directory):
    """Each result that is not text is refused on a terminal, unless -o says so."""
    for command, (options, result) in {**COMMANDS, "convert": (["--to", "1.22"], "a trace"), "symbolize": ([], "a trace")}.items():
        for more in [], ["-o", "-"], ["-o", os.path.join(directory, "out")]:
            if more and not result:
                continue
            if command == "view" and not more:
                continue  # it is shown: tests/view/serve.py
            refused = result and not more
            parent, child = pty.openpty()
            process = subprocess.Popen([TOOL, command, *options, *more, SOME], stdin=subprocess.DEVNULL, stdout=child, stderr=subprocess.PIPE)
            os.close(child)
            shown = b""
            try:
                while True:
                    shown += os.read(parent, 65536)
            except OSError:  # the other side was closed
                os.close(parent)
            said = process.stderr.read().decode()
            process.stderr.close()
            assert process.wait() == (2 if refused else 0), (command, more, said)
            if refused:
                assert said == "gotrace: %s is not for a terminal; write it to a file by -o OUT\nsee gotrace help %s\n" % (result, command), said
            assert bool(shown) == (not refused and more != ["-o", os.path.join(directory, "out")]), (command, more, shown)
    # -o - is standard output.
    into = os.path.join(directory, "empty")
    os.mkdir(into)
    trace = os.path.abspath(SOME)
    assert run(["view", "-o", "-", trace], cwd=into)[0] == run(["view", trace])[0]
    assert not os.listdir(into), os.listdir(into)
    assert run(["record", "-o", "-", "true"], 2)[1] == "gotrace: standard output is the program's; give -o FILE\nsee gotrace help record\n"
    assert not os.path.exists("-")
    assert run(["view", "--open", "-o", "-", trace], 2)[1].startswith("gotrace: --open shows a file, not standard output\n")


def named():
    """Goroutines that run functions of these names; each has a task and a region. Those of the first one are named ""."""
    t = Trace()
    for g, name in enumerate(FUNCTIONS, 1):
        stack = t.stack(name)
        task, region = ("", "") if g == 1 else ("task of " + name, "region of " + name)
        t.event(g, 0, PROC_STATUS, g, 1)
        t.event(g, g, GO_STATUS, g, g, RUNNING)
        t.event(g, 1000, TASK_BEGIN, g, NO_ID, t.string(task), stack)
        t.event(g, 2000, REGION_BEGIN, g, t.string(region), stack)
        t.event(g, 5000, REGION_END, g, t.string(region), stack)
        t.event(g, 6000, TASK_END, g, stack)
        t.event(g, 7000, GO_STOP, t.string("preempted"), stack)
    t.event(1, 6500, TASK_END, 99, stack)  # of which the trace does not have the start
    return t


LONG = "main." + "\u00e9" * 500 + "long"
FUNCTIONS = "main.main", "main.main.func1", LONG, "=1+1", "-x", "+y", "@z"


def names(directory):
    trace = write(os.path.join(directory, "named.trace"), named().data())
    # --function, a part of a name or the whole one.
    for word, count in ("main.main", 2), ("=main.main", 1), ("=main.main.func1", 1), ("=1+1", 0), ("==1+1", 1), ("=main", 0):
        out = run(["info", "--json", "--function", word, trace], 0 if count else 1)
        got = {f["name"] for f in json.loads(out[0])["functions"]} if count else set()
        assert len(got) == count, (word, got)
        assert count or "began with a function '%s'" % word in out[1], out
    # No name is another thing than an unknown one.
    text = run(["info", trace])[0]
    lines = [line for line in text.splitlines() if line.endswith(("(no name)", "(unknown)"))]
    assert [line.split()[0] for line in lines if line.endswith("(unknown)")] == [], lines
    assert len(lines) == 4, lines  # tasks and regions, each in two tables
    assert run(["path", "--task", "", trace])[0].startswith("task 1 (no name): 5.003 us,")
    found = [line for line in run(["diff", trace, trace])[0].splitlines() if line.endswith("(no name)")]
    assert len(found) == 2, found
    # Long names do not break lines, and are whole in JSON.
    shown = "main." + "\u00e9" * 36 + "..." + "\u00e9" * 37 + "long"
    for words in ["info", trace], ["diff", trace, trace], ["path", "--task", "3", trace], ["path", "--go", "3", trace]:
        out = run(words)[0]
        assert shown in out, (words, out)
        assert max(len(line.encode()) for line in out.splitlines()) < 500, words
    assert LONG in {f["name"] for f in json.loads(run(["info", "--json", trace])[0])["functions"]}
    # Of long names of C++, the parameters are left out first, then the template arguments.
    many = ", ".join(["std::allocator<char>"] * 8)
    for name, short in (("a::f<int>(%s) const" % many, "a::f<int>(...) const"),
                        ("a::Map<%s>::operator()(%s)" % (many, many), "a::Map<...>::operator()(...)"),
                        ("a::operator<< <%s>(A&, %s)" % (many, many), "a::operator<< <...>(...)"),
                        ("(anonymous namespace)::g(%s)" % many, "(anonymous namespace)::g(...)"),
                        ("h(%s" % many, None), ("(*T).m<%s->x>%s" % (many, many), None)):
        t, main = running_main()
        t.event(1, 100, GO_CREATE, 2, t.stack(name), main)
        out = run(["info", write(os.path.join(directory, "long.trace"), t.data())])[0]
        line = next(line for line in out.splitlines() if name[:2] in line and "goroutines" not in line)
        assert line.endswith("  " + short) if short else "..." in line, line
    # No cell is a formula.
    cells = [cell for row in csv.reader(io.StringIO(run(["info", "--csv", trace])[0])) for cell in row]
    assert not [cell for cell in cells if cell[:1] in tuple("=+@") or (cell[:1] == "-" and not cell[1:].isdigit())]
    assert {"'=1+1", "'-x", "'+y", "'@z"} <= set(cells)


def words():
    version = run(["--version"])
    assert version[0].startswith("gotrace ")
    for word in "-V", "version":
        assert run([word]) == version, word
    known = run(["info", SOME])
    assert run([SOME]) == known and run([SOME, "--json", SOME]) == run(["info", SOME, "--json", SOME])
    with open(SOME, "rb") as file:
        data = file.read()
    assert run(["-"], input=data)[0] == known[0]
    assert run(["tests"], 2)[1] == "gotrace: unknown command 'tests'\nsee gotrace help\n"  # a folder


def browsers(directory):
    """--open starts what BROWSER names; what fails is an error of one line."""
    def program(name, text):
        path = write(os.path.join(directory, name), b"#!/bin/sh\n" + text)
        os.chmod(path, stat.S_IRWXU)
        return path
    out, log = os.path.join(directory, "page.html"), os.path.join(directory, "log")
    shows = program("shows", b'echo "$1" >%s\n' % os.fsencode(log))
    refuses = program("xdg-open", b"echo no method available >&2\necho nor here >&2\nexit 3\n")
    environment = {key: value for key, value in os.environ.items() if key != "BROWSER"}
    assert run(["view", "--open", "-o", out, SOME], env={**environment, "BROWSER": shows}) == ("", "")
    with open(log) as file:
        assert file.read() == out + "\n"
    for browser, path, named in (None, directory, "xdg-open"), (None, "/nonexistent", "xdg-open"), ("/nonexistent", directory, "/nonexistent"), (refuses, directory, refuses):
        env = {**environment, "PATH": path, **({"BROWSER": browser} if browser else {})}
        env["PATH"] += ":/usr/bin:/bin" if path == directory else ""
        assert run(["view", "--open", "-o", out, SOME], 1, env=env) == ("", "gotrace: no browser could be started by %s; set BROWSER, or open %s\n" % (named, out)), browser
        os.unlink(out)


def main():
    with tempfile.TemporaryDirectory() as directory:
        parts()
        times()
        terminal(directory)
        names(directory)
        words()
        browsers(directory)
    print("parts, times, terminals, names, words, browsers")


main()
