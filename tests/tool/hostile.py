#!/usr/bin/env python3
"""Traces made to harm whoever looks at them: texts that a terminal obeys or that are not UTF-8; small traces that take
much memory or many processes. What takes long is not tested, because a test must not measure time.

    tests/tool/hostile.py TOOL DIRECTORY
"""
import base64
import json
import lzma
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import zlib

from made_trace import (GO_BLOCK, GO_CREATE, GO_DESTROY, GO_START, GO_STATUS, GO_UNBLOCK, HEAP_ALLOC, NO_ID, PROC_STATUS,
                        RUNNING, TASK_BEGIN, TASK_END, Trace, numbers)

REGION_BEGIN, REGION_END, LOG = 42, 43, 44

# Controls of both kinds, separators of lines, marks and overrides of the direction; bytes that are not UTF-8: alone, cut
# off, overlong, a surrogate, too large. The words between them show that the text is there. No `;`: folded stacks use it.
CONTROLS = "".join(map(chr, [*range(1, 0x20), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x206a)]))
BAD = b"\x80 \x9b31m \xff \xc3 \xe2\x80 \xf0\x9f\x98 \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80".decode("utf-8", "surrogateescape")
NAME = "\x1b]52,c,aGk=\x07" + CONTROLS + "g\u00fct" + BAD + "\n0 forged" + "\u4e16\U0001f600"
SHOWN = re.sub("[\udc80-\udcff]", "\ufffd", NAME)  # as valid UTF-8
FORBIDDEN = re.compile("[%s]" % re.escape(CONTROLS.replace("\n", "")))

failures = 0


def fail(text):
    global failures
    failures += 1
    print(text)


def name(kind):
    return kind + " " + NAME


def texts(goroutine):
    """Every text that an event can have. `goroutine`: the number of a second goroutine's function."""
    t = Trace()
    main, other = t.stack(name("inner"), name("main")), t.stack(goroutine)
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    t.event(1, 2, TASK_BEGIN, 1, 0, t.string(name("task")), main)
    t.event(1, 3, REGION_BEGIN, 1, t.string(name("region")), main)
    t.event(1, 4, LOG, 1, t.string(name("key")), t.string(name("value")), main)
    t.event(1, 5, GO_CREATE, 2, other, main)
    t.event(1, 6, GO_BLOCK, t.string(name("reason")), main)
    t.event(1, 2000000, GO_START, 2, 1)
    t.event(1, 3000000, GO_UNBLOCK, 1, 1, other)
    t.event(1, 3000001, GO_DESTROY)
    t.event(1, 9000000, GO_START, 1, 2)
    t.event(1, 9000001, REGION_END, 1, t.string(name("region")), main)
    t.event(1, 9000002, TASK_END, 1, main)
    # A module whose path is a control sequence, and whose file is missing; the frames' addresses are in it.
    t.string("gotrace.module 0 1-100000 abcdef0123456789 /nowhere/" + NAME)
    t.line = 0
    return t.data()


def run(tool, *arguments, status=0):
    done = subprocess.run([tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != status:
        fail("%s: status %d: %s" % (" ".join(map(repr, arguments)), done.returncode, done.stderr.decode("utf-8", "replace")[-500:]))
    return done.stdout, done.stderr


def check_text(what, data, words):
    """What a terminal shows: valid, without controls, and without a line that a name forged."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        fail("%s: %s" % (what, error))
        return
    found = FORBIDDEN.search(text)
    if found:
        fail("%s: %r in %r" % (what, found.group(), text[max(0, found.start() - 30):found.start() + 30]))
    if re.search("^0 forged", text, re.M):
        fail(what + ": a name forges a line")
    for word in words:
        if word not in text:
            fail("%s: no %s" % (what, word))


def strings_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from strings_of(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from strings_of(each)


def check_json(what, data, words, lines=True):
    """JSON that a terminal can show, and whose strings are those of the trace, apart from bad UTF-8."""
    check_text(what, data, [])
    try:
        found = [json.loads(line) for line in data.decode("utf-8").splitlines()] if lines else json.loads(data.decode("utf-8"))
    except ValueError as error:
        fail("%s: %s" % (what, error))
        return
    strings = set(strings_of(found))
    for word in words:
        if word + " " + SHOWN not in strings:
            fail("%s: no %s, or it is changed" % (what, word))


def check_bytes(what, data, words):
    """Strings in a binary format: valid UTF-8, otherwise unchanged."""
    for word in words:
        if (word + " " + SHOWN).encode() not in data:
            fail("%s: no %s, or it is changed" % (what, word))
    if NAME.encode("utf-8", "surrogateescape") in data:
        fail(what + ": bad UTF-8")


def check_texts(tool, directory):
    trace, other, folder = (os.path.join(directory, each) for each in ("texts", "other", "\x1b]0;x\x07\x9b"))
    for path, goroutine in (trace, name("function")), (other, "plain"):
        with open(path, "wb") as file:
            file.write(texts(goroutine))
    newer = trace + "-1.26"
    run(tool, "convert", "--to", "1.26", "-o", newer, trace)
    older = trace + "-1.21"
    run(tool, "convert", "--to", "1.21", "-o", older, trace)
    for path in trace, newer, older:
        check_text("dump", run(tool, "dump", path)[0], ["inner ", "function ", "task ", "g\u00fct\ufffd", "\u4e16\U0001f600"])
        check_text("dump --wire", run(tool, "dump", "--wire", path)[0], ["region ", "key "])
        check_json("dump --json", run(tool, "dump", "--json", path)[0], ["inner", "main", "function", "task", "region", "key", "value"])
        check_json("dump --wire --json", run(tool, "dump", "--wire", "--json", path)[0], [])
        reason = [] if path == older else ["reason"]
        check_text("info", run(tool, "info", path)[0], ["main ", "function ", "task ", "region ", *(each + " " for each in reason)])
        for column in range(20, 140, 7):
            os.environ["COLUMNS"] = str(column)
            check_text("info, %d columns" % column, run(tool, "info", path)[0], [])
        del os.environ["COLUMNS"]
        check_text("info --csv", run(tool, "info", "--csv", "--details", path)[0], ["main ", "task "])
        check_json("info --json", run(tool, "info", "--json", "--details", path)[0], ["main", "task", "region", *reason])
        check_text("path", run(tool, "path", "--task", "1", path)[0], ["main ", "function "])
        check_text("path --folded", run(tool, "path", "--task", "1", "--folded", path)[0], ["main "])
        check_json("path --json", run(tool, "path", "--task", "1", "--json", path)[0], ["main", "function"], lines=False)
        check_text("waits", run(tool, "waits", "--to", "3us", path)[0], [])
        check_json("waits --json", run(tool, "waits", "--to", "3us", "--json", path)[0], [], lines=False)
        check_text("profile --folded", run(tool, "profile", "--create", "--folded", path)[0], ["main ", "inner "])
        check_bytes("profile", run(tool, "profile", "--create", path)[0], ["main", "inner"])
        check_text("diff", run(tool, "diff", path, other)[0], ["main ", "region "])
        check_json("diff --json", run(tool, "diff", "--json", path, other)[0], ["main", "region", *reason])
        check_json("export --chrome", run(tool, "export", "--chrome", path)[0], ["task", "region", "key"], lines=False)
        check_bytes("export --perfetto", run(tool, "export", "--perfetto", path)[0], ["inner", "function", "task", "region", "key"])
        page = run(tool, "view", "--pictures", path)[0].decode("utf-8")
        contents = zlib.decompress(base64.b64decode(re.search('id="contents0">([^<]*)<', page).group(1)))
        check_json("view", contents, ["main", "function", "task", "region", "key", "value"], lines=False)
    # Messages: names of files and of modules.
    os.mkdir(folder)
    path = os.path.join(folder, os.fsdecode(NAME.encode("utf-8", "surrogateescape")[:200].replace(b"/", b"")))
    with open(path, "wb") as file:
        file.write(b"no trace")
    for command in ["info"], ["dump"], ["convert", "--to", "1.26"], ["view"], ["symbolize"]:
        check_text(" ".join(command), b"".join(run(tool, *command, path, status=1)), ["]0;x"])
        check_text(" ".join(command), b"".join(run(tool, *command, path + "-", status=1)), ["]0;x"])
    check_text("check", b"".join(run(tool, "check", path, status=1)), ["]0;x"])
    check_text("an option", b"".join(run(tool, "info", "--" + NAME.replace("=", ""), trace, status=2)), ["unknown option"])
    said = run(tool, "symbolize", "-o", os.path.join(directory, "named"), trace)[1]
    check_text("symbolize", said, ["/nowhere/", "]52"])


# ------------------------------------------------------------------------------------------------------- much work ----

class Called(Trace):
    """The name of a function is its address."""

    def pc(self, function):
        return int(function, 16)


def started():
    t = Called()
    t.line = 0
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    return t


def write(path, t):
    with open(path, "wb") as file:
        file.write(t.data())
    return path


def megabytes(tool, *arguments):
    """Runs the tool; the peak memory of it and of what it runs, or of this program if that is more."""
    process = subprocess.Popen([tool, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        fail("%s: status %d" % (" ".join(arguments), process.returncode))
    return used.ru_maxrss / 1024


def library(directory):
    """A file with code and debug information: its path, build id, lowest and highest address."""
    path = os.path.join(directory, "library.so")
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write("int it(void) { return 1; }\n")
    subprocess.run([os.environ.get("CC", "cc"), "-g", "-shared", "-nostdlib", "-Wl,--build-id", "-o", path, path + ".c"], check=True)
    with open(path, "rb") as file:
        elf = file.read()
    headers, size, count = struct.unpack_from("<Q", elf, 32)[0], *struct.unpack_from("<HH", elf, 54)
    low, high, id = 1 << 64, 0, ""
    for at in range(headers, headers + size * count, size):
        kind, _, offset, address, _, in_file, in_memory = struct.unpack_from("<IIQQQQQ", elf, at)
        if kind == 1:
            low, high = min(low, address), max(high, address + in_memory)
        if kind == 4 and elf[offset + 12:offset + 16] == b"GNU\0" and elf[offset + 8] == 3:
            id = elf[offset + 16:offset + in_file][:struct.unpack_from("<I", elf, offset + 4)[0]].hex()
    return path, id, low, high


def module(base, file, path=None):
    return "gotrace.module %x %x-%x %s %s" % (base, base + file[2], base + file[3], file[1], path or file[0])


def named_functions(tool, trace, named):
    """What symbolize calls the functions of a trace: a dictionary."""
    run(tool, "symbolize", "-o", named, trace)
    found = {}
    for line in run(tool, "dump", "--json", named)[0].splitlines():
        for value in json.loads(line)["args"].values():
            if isinstance(value, list):
                found.update((frame["pc"], frame["function"]) for frame in value)
    return found


def check_modules(tool, directory):
    """One file as 300 modules that overlap: only an address in exactly one of them has a name; one process answers."""
    file, chance = library(directory), random.Random(1)
    log, programs = os.path.join(directory, "log"), os.path.join(directory, "programs")
    os.mkdir(programs)
    with open(os.path.join(programs, "llvm-symbolizer"), "w", encoding="utf-8") as script:
        script.write("#!/bin/sh\necho >>'%s'\nwhile read -r address; do printf '%%s\\nat_%%s\\nx.c:7\\n' $address $address; done\n" % log)
    os.chmod(os.path.join(programs, "llvm-symbolizer"), 0o755)
    size, t, bases = file[3] - file[2], started(), []
    for i in range(300):
        bases.append(chance.randrange(0x100000, 0x100000 + 200 * size))
        t.string(module(bases[-1], file, file[0].replace("/", "/" * (1 + i % 7), 1)))
    pcs = [chance.randrange(0x100000 - size, 0x100000 + 202 * size) for _ in range(400)]
    pcs += [base + edge + more for base in bases[:30] for edge in file[2:] for more in (0, 1)]
    for i, pc in enumerate(pcs):
        t.event(1, 10 + i, LOG, 0, t.string("key"), t.string("value"), t.stack(hex(pc)))
    want = {}
    for pc in pcs:
        holds = [base for base in bases if base + file[2] <= pc - 1 < base + file[3]]
        want[pc] = "at_0x%x" % (pc - 1 - holds[0]) if len(holds) == 1 else hex(pc)
    path, os.environ["PATH"] = os.environ["PATH"], programs + ":" + os.environ["PATH"]
    found = named_functions(tool, write(os.path.join(directory, "modules"), t), os.path.join(directory, "named"))
    os.environ["PATH"] = path
    if not any(name.startswith("at_") for name in want.values()) or not any(name.startswith("0x") for name in want.values()):
        fail("modules: the test is wrong")
    for pc, name_of_pc in want.items():
        if found.get(pc) != name_of_pc:
            fail("modules: %x is %s, not %s" % (pc, found.get(pc), name_of_pc))
    with open(log, encoding="utf-8") as lines:
        count = len(lines.readlines())
    if count != 1:
        fail("modules: %d processes for one file" % count)


def check_debug_link(tool, directory):
    """What a debug link names turns into a pipe again and again: the tool itself does not wait for somebody to
    write to it. (A debugger would; there is none on PATH. See check_debugger_waits.)"""
    folder = os.path.join(directory, "linked")
    os.mkdir(folder)
    file = library(folder)
    debug, pipe, at = (os.path.join(folder, name) for name in ("library.debug", "pipe", "there"))
    subprocess.run(["objcopy", "--only-keep-debug", file[0], debug], check=True)
    shutil.copy(debug, at)
    subprocess.run(["objcopy", "--strip-debug", "--add-gnu-debuglink=" + at, file[0]], check=True)
    os.mkfifo(pipe)
    t = started()
    t.string(module(0x100000, file))
    t.event(1, 10, LOG, 0, t.string("key"), t.string("value"), t.stack(hex(0x100000 + file[2] + 1)))
    trace, over = write(os.path.join(folder, "trace"), t), []

    def change():
        while not over:
            for other in pipe, debug:
                os.link(other, at + ".new")
                os.rename(at + ".new", at)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(150):
            subprocess.run([tool, "symbolize", "-o", os.path.join(folder, "named"), trace], stderr=subprocess.DEVNULL, check=True,
                           timeout=20, env=dict(os.environ, PATH=folder))
    except subprocess.TimeoutExpired:
        fail("debug link: symbolize waits for a pipe")
    over.append(True)
    thread.join()


def check_debugger_waits(tool, directory):
    """A debugger that opens a pipe is ended. The real ones do so, for example, if FILE.dwp is one."""
    folder = os.path.join(directory, "waits")
    os.mkdir(folder)
    file = library(folder)
    os.mkfifo(os.path.join(folder, "pipe"))
    for program in "llvm-symbolizer", "addr2line":
        with open(os.path.join(folder, program), "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\nexec </dev/null\nread line <%s/pipe\n" % folder)
        os.chmod(script.name, 0o755)
    t = started()
    t.string(module(0x100000, file))
    t.event(1, 10, LOG, 0, t.string("key"), t.string("value"), t.stack(hex(0x100000 + file[2] + 1)))
    try:
        ended = subprocess.run([tool, "symbolize", "-o", os.path.join(folder, "named"), write(os.path.join(folder, "trace"), t)],
                               stderr=subprocess.PIPE, check=True, timeout=60, env=dict(os.environ, PATH=folder))
        if b"failed for" not in ended.stderr:
            fail("a debugger that waits for a pipe: %s" % ended.stderr)
    except subprocess.TimeoutExpired:
        fail("a debugger waits for a pipe, and symbolize for it")


def check_unpacked(tool, directory):
    """A file whose small symbol table unpacks to 250 MB, 7,000 times its size."""
    file = library(directory)
    zeros = os.path.join(directory, "zeros.xz")
    packer = lzma.LZMACompressor(preset=1)
    with open(zeros, "wb") as out:
        for _ in range(250):
            out.write(packer.compress(bytes(1 << 20)))
        out.write(packer.flush())
    subprocess.run(["objcopy", "--add-section", ".gnu_debugdata=" + zeros, file[0]], check=True)
    t = started()
    t.string(module(0x100000, file))
    t.event(1, 10, LOG, 0, t.string("key"), t.string("value"), t.stack(hex(0x100000 + file[2] + 1)))
    used = megabytes(tool, "symbolize", "-o", os.path.join(directory, "named"), write(os.path.join(directory, "unpacked"), t))
    if used > 200:
        fail("symbolize takes %d MB for .gnu_debugdata" % used)


def check_demangled(tool, directory):
    """A name of 250 bytes that stands for 600 MB."""
    digits, doubled = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", "_Z1f1AIiiE"
    for i in range(24):
        doubled += "S_I" + 2 * ("S%s_" % digits[i]) + "E"
    t = Trace()
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    t.event(1, 10, LOG, 0, t.string("key"), t.string("value"), t.stack(doubled, "_Z5shortv"))
    trace, named = write(os.path.join(directory, "doubled"), t), os.path.join(directory, "named")
    used = megabytes(tool, "symbolize", "-o", named, trace)
    if used > 400:
        fail("symbolize takes %d MB for a name" % used)
    if doubled.encode() not in run(tool, "dump", named)[0]:
        fail("symbolize: the long name is not there")
    check_demanglers(tool, directory)


# Demanglers of any kind, by what they do with two names.
DEMANGLERS = {"good": "while read -r name; do echo short; done",
              "one line too many": "while read -r name; do echo short; echo more; done",
              "a line too few": "read -r name; echo short",
              "killed": "while read -r name; do echo short; done; kill -9 $$",
              "fails": "while read -r name; do echo short; done; exit 1",
              "endless": "exec yes",
              "sleeps": "echo short; exec sleep 1000"}
ENLARGE = """#include <sys/mman.h>
__attribute__((constructor)) static void enlarge(void) { mmap(0, 1 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
"""


def check_demanglers(tool, directory):
    """A demangler that goes wrong changes no name, is reported, and does not outlast its time. So does one that is
    forked by a large process whose parent ignores SIGCHLD and SIGPIPE."""
    t = Trace()
    t.event(1, 0, PROC_STATUS, 1, 1)
    t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
    t.event(1, 10, LOG, 0, t.string("key"), t.string("value"), t.stack("_Z5shortv", "_Z5otherv"))
    trace, named, programs = (os.path.join(directory, name) for name in ("mangled", "named", "demanglers"))
    write(trace, t)
    os.mkdir(programs)
    path, script = os.environ["PATH"], os.path.join(programs, "llvm-cxxfilt")

    def names(what, enlarged=None):
        env = dict(os.environ, PATH=programs + ":" + path if enlarged is None else programs)
        if enlarged:
            env["LD_PRELOAD"] = enlarged
        begin = time.time()
        done = subprocess.run(["sh", "-c", "trap '' CHLD PIPE; exec \"$@\"", "sh", os.path.abspath(tool), "symbolize", "-o", named, trace],
                              stderr=subprocess.PIPE, env=env, timeout=60, executable="/bin/sh")
        if done.returncode or time.time() - begin > (25 if what == "sleeps" else 8):
            fail("demangler %s: status %d after %.0f s" % (what, done.returncode, time.time() - begin))
        dump = run(tool, "dump", named)[0]
        return [name in dump for name in (b"_Z5shortv", b"_Z5otherv", b"other()")], b"llvm-cxxfilt failed" in done.stderr

    for what, does in DEMANGLERS.items():
        with open(script, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\n%s\n" % does)
        os.chmod(script, 0o755)
        got = names(what)
        if got != (([False, False, False], False) if what == "good" else ([True, True, False], True)):
            fail("demangler %s: %s" % (what, got))
    os.unlink(script)
    enlarge = os.path.join(directory, "enlarge")
    with open(enlarge + ".c", "w", encoding="utf-8") as out:
        out.write(ENLARGE)
    subprocess.run(["cc", "-shared", "-fPIC", enlarge + ".c", "-o", enlarge + ".so"], check=True)
    small, large = names("none", ""), names("none, large process", enlarge + ".so")
    if small != large:
        fail("demangled in a large process: %s, not %s" % (large, small))


def batches(thread, head, items):
    """Batches as large as is allowed, each of which begins with `head`. An item that is an event takes a nanosecond."""
    time, data, count = 1000, head, 0
    for item in [*items, None]:
        if item is None or len(data) + len(item) > 60000:
            yield numbers(1, 1, thread, time, len(data)) + data
            time, data, count = time + count, head, 0
        if item is not None:
            data += item
            count += 1


def check_memory(tool, directory):
    """25,000 goroutines, each with a function of its own."""
    trace, count = os.path.join(directory, "names"), 25000
    strings, stacks, events = [], [], [numbers(PROC_STATUS, 1, 1, 1), numbers(GO_STATUS, 1, 1, 1, RUNNING)]
    for i in range(1, count + 1):
        text = b"f%d" % i
        strings.append(numbers(5, i, len(text)) + text)
        stacks.append(numbers(3, i, 1, 4096 + i, i, 0, 1))
        events += [numbers(GO_CREATE, 1, i + 1, i, 0), numbers(GO_BLOCK, 1, 0, 0), numbers(GO_START, 1, i + 1, 1),
                   numbers(GO_UNBLOCK, 1, 1, 2 * i - 1, 0), numbers(GO_DESTROY, 1), numbers(GO_START, 1, 1, 2 * i)]
    with open(trace, "wb") as out:
        out.write(b"go 1.23 trace\0\0\0")
        for batch in *batches(1, b"", events), *batches(NO_ID, b"", [numbers(8, 10**9)]), *batches(NO_ID, b"\2", stacks), *batches(NO_ID, b"\4", strings):
            out.write(batch)
    used = megabytes(tool, "view", "-o", os.path.join(directory, "page"), trace)
    if used > 100:
        fail("view takes %d MB for %d names" % (used, count))


def check_threads(tool, directory):
    """50,000 threads, each with 30 events in 120 bytes. Read ahead, they are 40 times as large."""
    trace, count = os.path.join(directory, "threads"), 50000
    with open(trace, "wb") as out:
        out.write(b"go 1.23 trace\0\0\0")
        for batch in batches(NO_ID, b"", [numbers(8, 10**9)]):
            out.write(batch)
        for i in range(count):
            for batch in batches(i, b"", [numbers(PROC_STATUS, 1, i, 1)] + 30 * [numbers(HEAP_ALLOC, 1000, 1)]):
                out.write(batch)
    for command in "check", "info":
        used = megabytes(tool, command, trace)
        if used > 100:
            fail("%s takes %d MB for %d threads" % (command, used, count))


def check_details(tool, directory):
    """200,000 goroutines, whose rows are 30 MB of JSON: they take no more memory than without rows."""
    trace, count = os.path.join(directory, "details"), 200000
    events = [numbers(PROC_STATUS, 1, 1, 1), numbers(GO_STATUS, 1, 1, 1, RUNNING)]
    events += [numbers(GO_CREATE, 1, i, 0, 0) for i in range(2, count + 1)]
    with open(trace, "wb") as out:
        out.write(b"go 1.23 trace\0\0\0")
        for batch in *batches(1, b"", events), *batches(NO_ID, b"", [numbers(8, 10**9)]):
            out.write(batch)
    for form in "--json", "--csv":
        less, more = megabytes(tool, "info", form, trace), megabytes(tool, "info", form, "--details", trace)
        if more > less + 10:
            fail("info %s takes %d MB, with --details %d" % (form, less, more))
        limited = "ulimit -f 100 && TMPDIR='%s' exec '%s' info %s --details '%s' | cat" % (directory, tool, form, trace)
        said = subprocess.run(["sh", "-c", limited], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False).stderr.decode()
        if "cannot write a temporary file in %s: " % directory not in said:
            fail("info %s --details, if its temporary file is too large: %s" % (form, said))
    rows = json.loads(run(tool, "info", "--json", "--details", trace)[0])["goroutines"]
    if sorted(row["id"] for row in rows) != list(range(1, count + 1)):
        fail("info --json --details: %d goroutines" % len(rows))


def check_shorter(tool, directory):
    """An input that becomes shorter while it is read: a message, status 1, and no incomplete output."""
    with open(os.path.join(directory, "names"), "rb") as file:
        data = file.read()
    trace, results = os.path.join(directory, "shorter"), os.path.join(directory, "results")
    os.mkdir(results)
    for _ in range(100):
        with open(trace, "wb") as file:
            file.write(data)
        process = subprocess.Popen([tool, "export", "--perfetto", "-o", os.path.join(results, "result"), trace], stderr=subprocess.PIPE)
        while process.poll() is None and not os.listdir(results):
            pass
        process.send_signal(signal.SIGSTOP)
        os.truncate(trace, 4096)
        process.send_signal(signal.SIGCONT)
        said = process.communicate()[1].decode()
        if process.returncode == 0:  # it had been read
            os.remove(os.path.join(results, "result"))
            continue
        if process.returncode != 1 or "became shorter" not in said and "truncated" not in said:
            fail("a shorter input: status %d, %s" % (process.returncode, said))
        if os.listdir(results):
            fail("a shorter input leaves %s" % os.listdir(results))
        if "became shorter" in said:
            return
    fail("no input became shorter in time")


def check_folded(tool, directory):
    """1,100 stacks of 120 frames, which share a name. Written out, they are 130 MB."""
    trace, count, frames = os.path.join(directory, "folded"), 1100, 120
    name_of_all = b"f" * 1000
    stacks = [numbers(3, i, frames, *[n for k in range(frames) for n in (1000 * i + k, 1, 0, i)]) for i in range(1, count + 1)]
    events = [numbers(PROC_STATUS, 1, 1, 1), numbers(GO_STATUS, 1, 1, 1, RUNNING)]
    events += [numbers(GO_CREATE, 1, i + 1, i, i) for i in range(1, count + 1)]
    with open(trace, "wb") as out:
        out.write(b"go 1.23 trace\0\0\0")
        for batch in *batches(1, b"", events), *batches(NO_ID, b"", [numbers(8, 10**9)]), *batches(NO_ID, b"\2", stacks), *batches(NO_ID, b"\4", [numbers(5, 1, len(name_of_all)) + name_of_all]):
            out.write(batch)
    used = megabytes(tool, "profile", "--create", "--folded", "-o", os.path.join(directory, "lines"), trace)
    if used > 100:
        fail("profile --folded takes %d MB for %d stacks" % (used, count))


def check_lines(tool, directory):
    """The command lines of the fuzz target succeed on a good trace, so that no option in them is out of date."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fuzz/tool.c"), encoding="utf-8") as file:
        lines = re.findall('^    "(.* FILE)",$', file.read(), re.M)
    if len(lines) < 30:
        fail("the command lines of fuzz/tool.c were not found")
    for line in lines:
        places = {"FILE": "texts", "NEW": "new"}  # of that directory
        run(tool, *(os.path.join(directory, places[word]) if word in places else word for word in line.split()))


check_texts(sys.argv[1], sys.argv[2])
# The last one takes much memory itself: see megabytes().
for check in check_lines, check_modules, check_debug_link, check_debugger_waits, check_unpacked, check_demangled, check_memory, check_threads, check_shorter, check_folded, check_details:
    check(sys.argv[1], sys.argv[2])
sys.exit(failures > 0)
