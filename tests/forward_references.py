#!/usr/bin/env python3
"""Lists what sections of the implementation use from later ones. gotrace.h is read from top to bottom, each section
building on those before it.

    tests/forward_references.py [-a]        -a: also lists the allowed ones

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
    ("gotrace__registered", "platform"): "a thread ends",
    ("gotrace__thread_gone", "platform"): "a thread ends",
    ("gotrace__before_fork", "platform"): "a fork begins",
    ("gotrace__after_fork", "platform"): "a fork ends in the parent",
    ("gotrace__after_fork_in_child", "platform"): "a fork ends in the child",
    ("gotrace__free_all", "platform"): "the library is unloaded",
    # The first event of a thread in a generation may write what concerns all threads:
    ("gotrace__resume_stw", "streams"): "the stopped world, if this thread stopped it",
    ("gotrace__write_globals", "streams"): "the collection, the number of procs, open tasks",
    # In builds without threads, and with GOTRACE_LIMIT_BLOCK, a call may read before it continues:
    ("gotrace__drain", "streams"): "a call waits for room",
    ("gotrace__drain", "entry"): "a cut is due in a build without threads",
    # Before the call itself, the tracer makes those that the program has omitted:
    ("gotrace__attach", "entry"): "the thread is new",
    ("gotrace__regain_proc", "entry"): "a plain thread's proc is not running",
    ("gotrace__start_own_proc", "entry"): "a plain thread has no proc",
    ("gotrace_go_syscall_end", "entry"): "the last system call was not ended",
    ("gotrace__lose_proc_silently", "entry"): "a goroutine whose start a new trace has undone is started again",
    ("gotrace__start_go", "entry"): "the same",
    ("gotrace__begin_syscall", "entry"): "the same",
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
                if not re.match(r"(static|GOTRACE__\w+|extern)\b[^{]*;$", lines[i]):
                    found.setdefault((name, of_line[i]), []).append(i + 1)
    for (name, section), where in sorted(found.items(), key=lambda item: item[1]):
        if (name, section) not in ALLOWED or "-a" in sys.argv:
            print("%s uses %s of >>%s: line %s" % (section, name, of_line[first[name]], ", ".join(map(str, where))))
    unneeded = [key for key in ALLOWED if key not in found]
    for key in unneeded:
        print("ALLOWED has %s in %s, which is not needed" % key)
    sys.exit(1 if unneeded or any(key not in ALLOWED for key in found) else 0)


main()
