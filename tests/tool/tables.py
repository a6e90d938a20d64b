#!/usr/bin/env python3
"""Checks `gotrace export --tables`.

    tests/tool/tables.py [TRACE...]     without TRACE: those in tests/traces, of the examples and of made_trace.py, and
                                        all that does not depend on a trace

- The sums of the tables equal `info`: goroutines and their times by function, waits by reason, tasks, regions, counters,
  events by kind; also of a part and of one goroutine.
- Every cell has the type that schema.sql tells, stacks have frames, and keys are unique.
- Several traces in one set have the rows that each has alone.
- The manual (examples/gotrace/README.md) loads the tables and asks six questions. sqlite3 and DuckDB, where they are
  installed, give the answers that follow from `info`.
- A set appears whole or not at all. Names that contain quotes, line breaks or formulas stay in their cells.
"""
import collections
import csv
import gzip
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import made_trace  # noqa: E402

TOOL = os.environ.get("GOTRACE_TOOL", "build/examples/gotrace")
TABLES = ("processes", "goroutines", "slices", "tasks", "regions", "events", "counters", "frames")
STATES = ("running", "runnable", "syscall", "blocked")
wrong = 0
csv.field_size_limit(1 << 30)


def check(right, *words):
    global wrong
    if not right:
        wrong += 1
        if wrong <= 30:
            print(*(word if isinstance(word, str) else str(word)[:400] for word in words))


def run(*arguments, **how):
    return subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def cell_of(name):
    """A name of `info --json` as a cell has it."""
    name = "".join("?" if ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 or c in "\u061c\u200e\u200f" or 0x2028 <= ord(c) <= 0x202e or
                   0x2066 <= ord(c) <= 0x2069 else c for c in name)
    return "'" + name if name[:1] in ("=", "+", "-", "@") else name


def load(directory):
    """The set as a database. The rows are as Python reads them, so sqlite converts their texts as the schema says."""
    db = sqlite3.connect(":memory:")
    with open(os.path.join(directory, "schema.sql"), encoding="utf-8") as file:
        schema = file.read()
    check(not any(";" in line for line in schema.splitlines() if line.startswith("--") or " -- " in line), "a comment would end a statement")
    db.executescript(schema)
    for table in TABLES:
        with gzip.open(os.path.join(directory, table + ".csv.gz"), "rt", encoding="utf-8", newline="") as file:
            rows = csv.reader(file, strict=True)
            head = next(rows)
            columns = [row[1] for row in db.execute("PRAGMA table_info(%s)" % table)]
            check(head == columns, directory, table, "has the columns", head, "but in the schema", columns)
            db.executemany("INSERT INTO %s VALUES (%s)" % (table, ",".join("?" * len(head))), rows)
    return db


def check_types(path, db):
    for table in TABLES:
        for _, name, kind, *_ in db.execute("PRAGMA table_info(%s)" % table).fetchall():
            types = {row[0] for row in db.execute("SELECT DISTINCT typeof(%s) FROM %s" % (name, table))}
            allowed = {"BIGINT": {"integer"}, "DOUBLE": {"real"}, "TEXT": {"text"}}[kind]
            check(types <= allowed, path, table, name, "is", kind, "but has", types)
    for table, key in (("processes", "trace"), ("goroutines", "trace, goroutine, reuse"), ("frames", "trace, stack, depth")):
        double = db.execute("SELECT %s FROM %s GROUP BY %s HAVING count(*) > 1" % (key, table, key)).fetchall()
        check(not double, path, table, "has rows with the same", key, double)
    for table, column in (("goroutines", "stack"), ("slices", "stack"), ("slices", "waker_stack"), ("tasks", "stack"),
                          ("regions", "stack"), ("events", "stack")):
        lost = db.execute("SELECT DISTINCT trace, %s FROM %s WHERE %s <> 0 EXCEPT SELECT trace, stack FROM frames WHERE depth = 0" %
                          (column, table, column)).fetchall()
        check(not lost, path, table, column, "has no frames:", lost)
    lost = db.execute("SELECT DISTINCT trace, goroutine, reuse FROM slices EXCEPT SELECT trace, goroutine, reuse FROM goroutines").fetchall()
    check(not lost, path, "slices of unknown goroutines:", lost)
    for table in "slices", "tasks", "regions", "goroutines":
        check(not db.execute("SELECT * FROM %s WHERE start_time > end_time OR start_time < 0" % table).fetchall(), path, table, "times")


def same(path, what, mine, theirs):
    for name in sorted(mine.keys() | theirs.keys(), key=str):
        check(mine.get(name) == theirs.get(name), path, what, repr(name), "in the tables:", mine.get(name), "in info:", theirs.get(name))


def summed(rows, width):
    """Adds up rows by their first value, since several names may look the same in cells."""
    found = collections.defaultdict(lambda: [0] * width)
    for name, *values in rows:
        found[name] = [a + b for a, b in zip(found[name], values)]
    return {name: values for name, values in found.items() if any(values)}


def check_sums(path, db, report, options=()):
    """`report`: info --json of the trace or part."""
    of_slices = db.execute("""
        SELECT function, count(DISTINCT goroutine || ' ' || reuse), %s FROM slices JOIN goroutines USING (trace, goroutine, reuse)
        WHERE trace = ? GROUP BY function""" % ", ".join("sum(iif(state = '%s', slices.end_time - slices.start_time, 0))" % s for s in STATES), [path])
    of_goroutines = db.execute("SELECT function, count(*), sum(running), sum(runnable), sum(syscall), sum(blocked) FROM goroutines "
                               "WHERE trace = ? GROUP BY function", [path])
    theirs = summed(([cell_of(row["name"]), row["count"], row["running"], row["runnable"], row["syscall"] + row["syscall_blocked"],
                      row["blocked"]] for row in report["functions"]), 5)
    same(path, "slices by function", summed(of_slices, 5), theirs)
    same(path, "goroutines by function", summed(of_goroutines, 5), theirs)
    same(path, "waits by reason",
         summed(db.execute("SELECT iif(reason = '', '(unknown)', reason), count(*), sum(end_time - start_time) FROM slices "
                           "WHERE trace = ? AND state = 'blocked' GROUP BY reason", [path]), 2),
         summed(([cell_of(row["reason"]), row["blocked_count"], row["blocked_total"]] for row in report["reasons"]), 2))
    if "--go" not in options:  # which does not select tasks here
        same(path, "tasks",
             summed(db.execute("SELECT name, sum(ended), sum(iif(ended, end_time - start_time, 0)), sum(1 - ended), "
                               "sum(iif(ended, 0, end_time - start_time)) FROM tasks WHERE trace = ? AND began GROUP BY name", [path]), 4),
             summed(([cell_of(row["name"]), row["complete"], row.get("latency_total", 0), row.get("open_count", 0), row.get("open_total", 0)]
                     for row in report["tasks"]), 4))
    of_part = "max(start_time, (SELECT p.start_time FROM processes p WHERE p.trace = regions.trace))"
    same(path, "regions",
         summed(db.execute("SELECT name, count(*), sum(end_time - %s) FROM regions WHERE trace = ? GROUP BY name" % of_part, [path]), 2),
         summed(([cell_of(row["name"]), row["count"], row["duration_total"]] for row in report["regions"]), 2))
    same(path, "counters",
         {row[0]: row[1:] for row in db.execute("SELECT name, count(*), min(value), max(value) FROM counters WHERE kind = 'program' "
                                                "AND trace = ? GROUP BY name", [path])},
         {cell_of(row["name"]): (row["count"], row["least"], row["most"]) for row in report["counters"]})
    same(path, "events", dict(db.execute("SELECT kind, count(*) FROM events WHERE trace = ? GROUP BY kind", [path])),
         {row["kind"]: row["count"] for row in report["kinds"]})
    (form, part, events), = db.execute("SELECT format, end_time - start_time, events FROM processes WHERE trace = ?", [path])
    check((form, part, events) == (report["trace"]["format"], report["trace"]["duration"], report["trace"]["events"]), path,
          "process:", form, part, events, "but in info", report["trace"])


def info(path, *options):
    return json.loads(run("info", "--json", "--details", *options, path).stdout)


def export(directory, *arguments):
    shutil.rmtree(directory, ignore_errors=True)
    done = run("export", "--tables", directory, *arguments)
    check(done.returncode == 0, "export --tables", arguments, done.stderr.decode())
    return done.returncode == 0


def compare(path, directory):
    report = info(path)
    parts = [[]]
    if report["trace"]["duration"] > 100:
        parts.append(["--from", str(report["trace"]["duration"] // 4), "--to", str(report["trace"]["duration"] * 3 // 4)])
    if report["goroutines"]:
        parts.append(["--go", str(report["goroutines"][0]["id"])])
    for options in parts:
        if not export(directory, *options, path):
            continue
        db = load(directory)
        check_types(path, db)
        words = " ".join(options)
        part = json.loads(run("info", "--json", "--details", *options, path).stdout)
        if not words:
            check_lives(path, db, part)
        check_sums(path, db, part, options)


def check_lives(path, db, report):
    """When goroutines began and ended."""
    mine = collections.Counter(db.execute("SELECT goroutine, iif(began, start_time, -1), iif(ended, end_time, -1) FROM goroutines"))
    theirs = collections.Counter()
    for row in report["goroutines"]:
        end = row.get("ended", -1)
        theirs[row["id"], row["created"], end] += 1
    for (go, start, end), count in mine.items():
        known = sum(n for (other, created, ended), n in theirs.items() if other == go and ended == end and start in (-1, created))
        check(known >= count, path, "goroutine", go, start, end, "is not in info")



# --------------------------------------------------------------------------------------------- sets of several traces ----

def check_together(paths, directory):
    """A set of several traces has the rows of the sets of each."""
    together, apart = collections.Counter(), collections.Counter()

    def add(to):
        for table in TABLES:
            with gzip.open(os.path.join(directory, table + ".csv.gz"), "rb") as file:
                to.update((table, line) for line in file.read().splitlines()[1:])

    export(directory, *paths)
    add(together)
    for path in paths:
        export(directory, path)
        add(apart)
    check(together == apart, "several traces:", list((together - apart).items())[:2], "but alone:", list((apart - together).items())[:2])


def manual():
    """The queries in the manual, and its commands by engine."""
    with open("examples/gotrace/README.md", encoding="utf-8") as file:
        text = file.read()
    commands = {re.match(r"# (\w+)", block).group(1): block for block in re.findall(r"```sh\n(.*?)```", text, re.S)
                if block.startswith("# ")}
    return re.findall(r"```sql\n(.*?)```", text, re.S), commands


def plain(rows):
    """Rows of any engine, without order, with rounded fractions."""
    return sorted(([round(float(v), 3) if isinstance(v, float) else "" if v is None else v for v in row] for row in rows), key=str)


def number(value):
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):  # a sum of DuckDB has 128 bits
        return int(value)
    return value


def ask(engine, commands, directory, set_of, queries):
    """The answers of a command-line engine that loads the set as the manual says."""
    database = {"SQLite": "traces.db", "DuckDB": "traces.duckdb"}[engine]
    script = commands[engine].replace("DIR", set_of)
    done = subprocess.run(["bash", "-euc", script], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 0 and not done.stderr, engine, "loads nothing:", done.stderr.decode())
    for query in queries:
        done = subprocess.run([{"SQLite": "sqlite3", "DuckDB": "duckdb"}[engine], "-json", database, query], cwd=directory,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 0, engine, "fails:", done.stderr.decode(), query)
        yield [[number(value) for value in row.values()] for row in json.loads(done.stdout or b"[]")]


def check_queries(paths, directory):
    set_of = os.path.join(directory, "fleet")
    if not export(set_of, *paths):
        return
    db, (queries, commands) = load(set_of), manual()
    check_types("all", db)
    reports = {path: info(path) for path in paths}
    for path, report in reports.items():
        check_sums(path, db, report)
    check(len(queries) == 6 and sorted(commands) == ["DuckDB", "SQLite"], "the manual has", len(queries), "queries,", list(commands))
    answers = [db.execute(query).fetchall() for query in queries]
    functions, waits, wakers, tasks, regions, fleet = answers
    check(all(answers), "a query finds nothing:", [len(rows) for rows in answers])

    same("all", "query by function", {row[:2]: list(row[2:]) for row in functions},
         {(path, cell_of(row["name"])): [row["count"], row["running"], row["runnable"], row["syscall"] + row["syscall_blocked"], row["blocked"]]
          for path, report in reports.items() for row in report["functions"] if row["count"]})
    reasons = collections.Counter()
    for row in (row for report in reports.values() for row in report["reasons"]):
        reasons[row["reason"]] += row["blocked_total"]
    same("all", "query by reason", summed(([row[0] or "(unknown)", row[4]] for row in waits), 1),
         {reason: [total] for reason, total in reasons.items() if total})
    check(sum(row[3] for row in wakers) <= sum(reasons.values()), "wakers ended more than there was")
    lasted = sorted((row["end"] - row["begin"] for report in reports.values() for row in report["task_list"] if "begin" in row and "end" in row),
                    reverse=True)
    check([row[3] for row in tasks] == lasted[:20], "query of tasks:", tasks[:3], lasted[:3])
    times = collections.Counter()
    for row in (row for report in reports.values() for row in report["regions"]):
        for state in STATES:
            times[cell_of(row["name"]), state] += row[state] + (row["syscall_blocked"] if state == "syscall" else 0)
    same("all", "query of regions", summed(([row[:2], row[3]] for row in regions), 1), {key: [time] for key, time in times.items() if time})
    longest = {path: max(row.get("runnable_longest", 0) for row in report["functions"]) for path, report in reports.items()}
    check({row[0]: row[4] for row in fleet} == longest, "query of the fleet", fleet, longest)

    for engine, program in ("SQLite", "sqlite3"), ("DuckDB", "duckdb"):
        if not shutil.which(program):
            print("%s is not installed, so it is not tested" % program)
            continue
        for query, mine, theirs in zip(queries, answers, ask(engine, commands, directory, set_of, queries)):
            check(plain(mine) == plain(theirs), engine, "answers", plain(theirs)[:3], "not", plain(mine)[:3], query)


# ----------------------------------------------------------------------------------------------------------- failures ----

def refused(what, directory, said, status, *arguments, **how):
    """The command fails, with one message, and leaves nothing behind."""
    before = sorted(os.listdir(directory))
    done = run(*arguments, **how)
    message = done.stderr.decode()
    check(done.returncode == status and said in message and not done.stdout, what, "ends with", done.returncode, message)
    check(sorted(os.listdir(directory)) == before, what, "leaves", os.listdir(directory))


def check_failures(trace, directory):
    place = os.path.join(directory, "place")
    os.mkdir(place)
    there, new = os.path.join(place, "there"), os.path.join(place, "new")
    os.mkdir(there)
    refused("an old directory", place, "exists already", 1, "export", "--tables", there, trace)
    check(not os.listdir(there), "an old directory has been written to")
    refused("a file", place, "exists already", 1, "export", "--tables", os.path.abspath(trace), trace)
    refused("no parent", place, "cannot make the directory", 1, "export", "--tables", os.path.join(place, "no", "new"), trace)
    refused("an empty name", place, "needs the name", 2, "export", "--tables", "", trace)
    refused("-o", place, "leave out -o", 2, "export", "--tables", new, "-o", "x", trace)
    refused("--chrome", place, "cannot be combined", 2, "export", "--tables", new, "--chrome", trace)
    refused("twice", place, "is given twice", 2, "export", "--tables", new, trace, trace)
    refused("--chrome of two", place, "takes one FILE", 2, "export", "--chrome", trace, there)
    refused("no such trace", place, "No such file", 1, "export", "--tables", new, trace, os.path.join(place, "none"))
    broken = os.path.join(directory, "broken")
    with open(trace, "rb") as whole, open(broken, "wb") as file:
        file.write(whole.read()[:-40])
    refused("a broken trace", place, "--partial", 1, "export", "--tables", new, trace, broken)
    done = run("export", "--tables", new, "--partial", trace, broken)
    check(done.returncode == 0 and b"kept what comes before" in done.stderr, "--partial:", done.stderr.decode())
    db = load(new)
    check(db.execute("SELECT complete FROM processes").fetchall() == [(1,), (0,)], "which trace is complete")
    shutil.rmtree(new)
    large = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # noqa: E731
    refused("a full disk", place, "File too large", 1, "export", "--tables", new, trace, preexec_fn=large)
    if os.path.exists("/dev/full"):
        done = run("export", "--tables", new, trace)
        check(done.returncode == 0 and os.stat(new).st_mode & 0o777 == 0o777 & ~umask(), "mode", done.stderr.decode())
        shutil.rmtree(new)


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_signals(directory):
    """A signal, at any time, leaves a whole set or nothing."""
    place = os.path.join(directory, "signals")
    os.mkdir(place)
    new, fifo = os.path.join(place, "new"), os.path.join(directory, "fifo")
    os.mkfifo(fifo)
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
        # What is ignored, as in a background job, is ignored by the tool too.
        process = subprocess.Popen([TOOL, "export", "--tables", new, fifo], stderr=subprocess.PIPE,
                                   preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL))
        until = time.time() + 20
        while time.time() < until and not any(os.path.isdir(os.path.join(place, name)) for name in os.listdir(place)):
            time.sleep(0.01)
        check(os.listdir(place) and not os.path.exists(new), "while it works there is", os.listdir(place))
        process.send_signal(number)
        check(process.wait(20) == -number, "signal", number, process.returncode)
        process.stderr.close()
        check(not os.listdir(place), "a signal leaves", os.listdir(place))


def check_names(directory):
    """Names that try to leave their cells, of the trace's file and in it."""
    names = ['a "quoted", one', "two\nlines\r\n", "=1+1", "@x", "-y", "\\", '"', "'", "\u2028", "plain"]
    made, stack = made_trace.Trace(), 0
    made.event(1, 0, made_trace.PROC_STATUS, 1, 1)
    made.event(1, 1, made_trace.GO_STATUS, 1, 1, made_trace.RUNNING)
    for at, name in enumerate(names):
        made.event(1, 10 * at + 10, made_trace.REGION_BEGIN, 0, made.string(name), stack)
        made.event(1, 10 * at + 15, made_trace.REGION_END, 0, made.string(name), stack)
    path = os.path.join(directory, 'a "b", \n=c')
    with open(path, "wb") as file:
        file.write(made.data())
    place = os.path.join(directory, "of_names")
    if export(place, path):
        db = load(place)
        found = [row[0] for row in db.execute("SELECT name FROM regions ORDER BY rowid")]
        check(sorted(found) == sorted(map(cell_of, names)), "names", found)
        check({row[0] for row in db.execute("SELECT trace FROM events")} == {cell_of(path)}, "the trace's name")


def check_known(directory):
    """Wakers, stacks, procs, and an id that is used twice, in a trace in which they are known."""
    t, path, place = made_trace.Trace(), os.path.join(directory, "known"), os.path.join(directory, "of_known")
    main, worker, waits = t.stack("main.main"), t.stack("main.worker"), t.stack("sync.Wait", "main.main")
    wakes = t.stack("main.unlock", "main.worker")
    t.event(1, 0, made_trace.PROC_STATUS, 4, 1)
    t.event(1, 0, made_trace.GO_STATUS, 1, 1, made_trace.RUNNING)
    for turn in range(2):
        at = 10000 * turn
        t.event(1, at + 1000, made_trace.GO_CREATE, 2, worker, main)
        t.event(1, at + 2000, made_trace.GO_BLOCK, t.string("sync"), waits)
        t.event(1, at + 3000, made_trace.GO_START, 2, 1)
        t.event(1, at + 4000, made_trace.GO_UNBLOCK, 1, 2 * turn + 1, wakes)
        t.event(1, at + 5000, made_trace.GO_DESTROY)
        t.event(1, at + 6000, made_trace.GO_START, 1, 2 * turn + 2)
    with open(path, "wb") as file:
        file.write(t.data())
    if not export(place, path):
        return
    db = load(place)

    def told(query, *expected):
        found = db.execute(query).fetchall()
        check(found == list(expected), "known answers:", query, found, "not", expected)

    told("SELECT goroutine, reuse, state, start_time, end_time, ended, reason, waker, thread, proc FROM slices WHERE goroutine = 2 OR state = 'blocked'"
         " ORDER BY start_time, goroutine",
         (2, 0, "runnable", 1000, 3000, 1, "", -1, -1, -1), (1, 0, "blocked", 2000, 4000, 1, "sync", 2, -1, -1),
         (2, 0, "running", 3000, 5000, 1, "", -1, 1, 4), (2, 1, "runnable", 11000, 13000, 1, "", -1, -1, -1),
         (1, 0, "blocked", 12000, 14000, 1, "sync", 2, -1, -1), (2, 1, "running", 13000, 15000, 1, "", -1, 1, 4))
    told("SELECT goroutine, reuse, function, creator, start_time, end_time, began, ended FROM goroutines ORDER BY goroutine, reuse",
         (1, 0, "main.main", -1, 0, 16001, 0, 0), (2, 0, "main.worker", 1, 1000, 5000, 1, 1), (2, 1, "main.worker", 1, 11000, 15000, 1, 1))
    frames = "SELECT DISTINCT depth, function, file, line FROM slices s JOIN frames f ON f.stack = s.%s WHERE reason = 'sync' ORDER BY depth"
    told(frames % "waker_stack", (0, "main.unlock", "x.go", 1), (1, "main.worker", "x.go", 1))
    told(frames % "stack", (0, "sync.Wait", "x.go", 1), (1, "main.main", "x.go", 1))
    told("SELECT time, thread, proc, goroutine, object, value, name FROM events WHERE kind IN ('GoUnblock', 'GoBlock') AND time < 9000 ORDER BY time",
         (2000, 1, 4, 1, -1, 0, "sync"), (4000, 1, 4, 2, 1, 0, ""))
    told("SELECT format, recorded, began, start_time, end_time, complete FROM processes", ("1.23", 0, 0, 0, 16001, 1))


def made_traces(directory):
    """Traces of both families: of the examples and of made_trace.py."""
    for form in "1.11", "1.19", "1.23", "1.26":
        for program, arguments in (("examples/scheduler", ["-j", "4", "examples", "tests"]), ("tests/quick/hello_formats", [])):
            path = os.path.join(directory, "%s-%s.trace" % (os.path.basename(program), form))
            subprocess.run(["build/" + program, "-o", path, "-f", form, *arguments], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            yield path
    for name, made in ("burst", made_trace.burst()), ("named", made_trace.named()):  # the first has several blocks of events
        path = os.path.join(directory, name)
        with open(path, "wb") as file:
            file.write(made.data())
        older = path + "-1.21"
        subprocess.run([TOOL, "convert", "--to", "1.21", "-o", older, path], check=True, stderr=subprocess.DEVNULL)
        yield path
        yield older


def main():
    with tempfile.TemporaryDirectory() as directory:
        paths = sys.argv[1:]
        place = os.path.join(directory, "set")
        if not paths:
            paths = [os.path.join("tests/traces", name) for name in sorted(os.listdir("tests/traces"))] + list(made_traces(directory))
            some = [path for path in paths if path.startswith(directory)]
            check_queries(some, directory)
            check_together(paths[::3], place)
            check_failures(some[0], directory)
            check_signals(directory)
            check_names(directory)
            check_known(directory)
        for path in paths:
            compare(path, place)
    print("%d traces, %d wrong" % (len(paths), wrong))
    sys.exit(bool(wrong))


main()
