"""Compares the stacks that `gotrace record` takes with gdb's: for test_record.sh.

    gdb -batch -x walked.py --args gotrace record -q -o TRACE PROGRAM...

Stops the program when the preloaded library has taken a stack, up to MOST times, and prints how many frames there were
and how many were the same. gdb reads the same descriptions and also symbols; where they differ, it prints both."""

import os

import gdb  # in gdb only

MOST = int(os.environ.get("WALKED_STOPS", "150"))
total = same = stops = shown = 0


def gdb_frames(caller):
    """The return addresses from the caller on; of interrupted code, its address + 1."""
    found, frame, newer = [], gdb.newest_frame(), None
    while frame:
        pc = int(frame.pc()) + (newer == gdb.SIGTRAMP_FRAME)
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):  # which only debug information tells
            if found or pc == caller:
                if not pc or (frame.name() or "").startswith("run_thread"):
                    break  # a coroutine's first frame has no caller; a thread's first function is the library's
                found.append(pc)
            newer = frame.type()
        frame = frame.older()
    return found


def compare(own):
    global total, same, shown
    frame = gdb.newest_frame()
    while frame:
        if frame.name() == "tell_holder":
            return  # the place where another thread has taken the lock: no walk
        frame = frame.older()
    theirs = gdb_frames(own[0])
    total += max(len(own), len(theirs))
    equal = 0
    while equal < min(len(own), len(theirs)) and own[equal] == theirs[equal]:
        equal += 1
    same += equal
    if equal < max(len(own), len(theirs)) and shown < 3:
        shown += 1
        print("own", [hex(pc) for pc in own[max(0, equal - 1):equal + 4]], "gdb", [hex(pc) for pc in theirs[max(0, equal - 1):equal + 4]])
        gdb.execute("bt 60")


for command in ("pagination off", "confirm off", "breakpoint pending on", "follow-fork-mode parent", "detach-on-fork on",
                "backtrace past-main on", "backtrace past-entry on", "backtrace limit 2000", "auto-solib-add on",
                "debuginfod enabled off", "inferior-tty /dev/null", "print thread-events off", "print finish off"):
    gdb.execute("set " + command)
gdb.execute("handle SIGALRM SIGPIPE SIGUSR1 SIGUSR2 nostop noprint pass", to_string=True)
# The first process that the command forks becomes the program.
gdb.execute("tcatch fork", to_string=True)
gdb.execute("run", to_string=True)
gdb.execute("set follow-fork-mode child")
gdb.execute("tbreak execve", to_string=True)
taking = gdb.Breakpoint("take_stack", internal=True)
taking.silent = True
try:
    gdb.execute("continue", to_string=True)
    while stops < MOST and gdb.selected_inferior().pid:
        frame = gdb.newest_frame()
        if frame.name() == "take_stack":
            pcs = frame.read_var("pcs")
            gdb.execute("set scheduler-locking on")  # other threads take stacks, too
            taking.enabled = False  # a compiler may have made two functions of it
            gdb.execute("finish", to_string=True)
            taking.enabled = True
            gdb.execute("set scheduler-locking off")
            count = int(gdb.history(0))
            if count > 1:
                compare([int(pcs[i]) for i in range(1, count)])  # after the function of the C library
                stops += 1
        gdb.execute("continue", to_string=True)
except gdb.error as error:
    if gdb.selected_inferior().pid:
        print("gdb:", error)
print("walked: %d stacks, %d of %d frames are gdb's" % (stops, same, total))
if gdb.selected_inferior().pid:
    gdb.execute("kill", to_string=True)
