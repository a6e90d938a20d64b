#!/usr/bin/env python3
"""hello.py - traces from Python, through the library by ctypes

    hello.py libgotrace.so.0.3 hello.trace

The names with _at are the functions behind the macros of gotrace.h. Each takes the place of the call, or None."""
import ctypes
import sys

library, path = sys.argv[1:]
gotrace = ctypes.CDLL(library)


class Task(ctypes.Structure):
    _fields_ = [('id', ctypes.c_uint64)]


NO_TASK = Task(0)
pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
gotrace.gotrace_start_file.argtypes = [text, pointer]
gotrace.gotrace_result_string.restype = text
gotrace.gotrace_site_make.argtypes = [text, text, ctypes.c_uint32]
gotrace.gotrace_site_make.restype = pointer
gotrace.gotrace_region_begin_at.argtypes = [pointer, Task, text, number]
gotrace.gotrace_region_end_at.argtypes = [pointer, Task, text, number]
gotrace.gotrace_log_at.argtypes = [pointer, Task, text, text]


def place():
    """The caller's place, as the stack of an event."""
    frame = sys._getframe(1)
    return gotrace.gotrace_site_make(frame.f_code.co_name.encode(), frame.f_code.co_filename.encode(), frame.f_lineno)


def main():
    result = gotrace.gotrace_start_file(path.encode(), None)
    if result:
        sys.exit(gotrace.gotrace_result_string(result).decode())
    gotrace.gotrace_region_begin_at(place(), NO_TASK, b'greet', 0)  # 0: the name is copied
    gotrace.gotrace_log_at(place(), NO_TASK, b'greeting', b'hello, world')
    gotrace.gotrace_region_end_at(place(), NO_TASK, b'greet', 0)
    return gotrace.gotrace_stop()


sys.exit(main())
