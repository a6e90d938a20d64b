#!/usr/bin/env python3
"""Lists what sections of the implementation use from later ones. gotrace.h is read from top to bottom, each section
building on those before it.

    tests/sources/forward_references.py [-a]        -a: also lists the allowed ones

A reference is allowed only by a line of ALLOWED, with its cause. A line that is no longer needed is an error, too.
"""
import re
import sys

# (function, section that refers to it): why it is not defined earlier.
ALLOWED = {
    # The platform calls back:
    ("gotrace__exit", "platform"): "the process ends",
    ("gotrace__end_use", "platform"): "the library is unloaded",
    ("gotrace__service", "platform"): "the service thread begins",
    ("gotrace__thread_gone", "platform"): "a thread ends",
    ("gotrace__sink_waits", "platform"): "a pipe takes nothing",
    ("gotrace__before_fork", "platform"): "a fork begins",
    ("gotrace__after_fork", "platform"): "a fork ends in the parent",
    ("gotrace__after_fork_in_child", "platform"): "a fork ends in the child",
    ("gotrace__free_all", "platform"): "the library is unloaded",
    # What a call that was left had is given up:
    ("gotrace__give_up", "state"): "a call that a handler has left",
    # The service thread has to do what no other thread is left to do:
    ("gotrace__write_asked", "reader"): "main has left by pthread_exit",
    ("gotrace__say_stats", "reader"): "main has left by pthread_exit",
    # A thread's first call registers it; a plain thread's first call makes it a goroutine:
    ("gotrace__thread_register", "state"): "a thread's first call",
    ("gotrace__attach", "goroutines"): "a plain thread",
    ("gotrace__attach", "capture"): "a plain thread",
    ("gotrace__attach", "tasks"): "a plain thread",
    ("gotrace__attach", "waits"): "a plain thread",
    # Any call but the end of a wait settles a wait that began while tracing was off:
    ("gotrace__set_wait_aside", "state"): "the thread waits",
    # `gotrace record` runs the program:
    ("gotrace__pause_go", "procs"): "the goroutine of a worker's thread is blocked",
    ("gotrace__join_recorder", "environment"): "the recorder's library has begun to capture",
    # In builds without threads, a call may read before it continues:
    ("gotrace__drain", "capture"): "a call waits for room, or a round is due",
    # Each event may be the first of its object in a generation:
    ("gotrace__write_sync", "lanes"): "the generation's first batch",
    ("gotrace__write_creation", "writing"): "a goroutine that the trace lacks",
    ("gotrace__write_program", "writing"): "the collection, the heap, the stopped world",
    # The reader finishes the session:
    ("gotrace__clean_up", "reader"): "the end of the trace has been read",
}

NAME = re.compile(r"\bgotrace_\w+")


def sections(lines):
    """The section of each line."""
    section, of_line = "", []
    for line in lines:
        match = re.match(r"/\* -+ >>([\w-]+)", line)
        section = match.group(1) if match else section
        of_line.append(section)
    return of_line


def without_comments(text):
    """The same lines, with comments and strings blanked."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def definitions(lines):
    """{function: (line, ...)}: functions begin in the first column, and their heads end in a brace."""
    found = {}
    i = 0
    while i < len(lines):
        if re.match(r"[A-Za-z_]", lines[i]) and "(" in lines[i] and not re.match(r"(typedef|struct|enum)\b", lines[i]):
            first = i
            while not lines[i].rstrip().endswith(("{", "}", ";")) and i + 1 < len(lines):
                i += 1
            head = re.sub(r"GOTRACE__\w+\([^)]*\)", "", " ".join(lines[first:i + 1]))
            match = re.search(r"\b(gotrace_\w+)\(", head)
            if match and "{" in head and "=" not in head.split("(")[0]:
                found.setdefault(match.group(1), []).append(first)
        i += 1
    return found


def main():
    lines = without_comments(open("gotrace.h").read()).split("\n")
    of_line = sections(open("gotrace.h").read().split("\n"))
    begin = of_line.index("implementation")
    defined = {name: [i for i in where if i >= begin] for name, where in definitions(lines).items()}
    first = {name: min(where) for name, where in defined.items() if where}
    order = list(dict.fromkeys(of_line[begin:]))
    found = {}
    for i in range(begin, len(lines)):
        for name in NAME.findall(lines[i]):
            if name in first and order.index(of_line[first[name]]) > order.index(of_line[i]):
                # A declaration is not a use.
                if not re.match(r"(static|GOTRACE_\w+|extern)\b[^{]*;$", lines[i]):
                    found.setdefault((name, of_line[i]), []).append(i + 1)
    for (name, section), where in sorted(found.items(), key=lambda item: item[1]):
        if (name, section) not in ALLOWED or "-a" in sys.argv:
            print("%s uses %s of >>%s: line %s" % (section, name, of_line[first[name]], ", ".join(map(str, where))))
    unneeded = [key for key in ALLOWED if key not in found]
    for key in unneeded:
        print("ALLOWED has %s in %s, which is not needed" % key)
    sys.exit(1 if unneeded or any(key not in ALLOWED for key in found) else 0)


main()
