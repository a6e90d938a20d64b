/* library.c - the implementation of gotrace.h, compiled once: the tool needs the decoder and the tables of events */

#define GOTRACE_IMPLEMENTATION
#include "tool.h"
