/* control.h - lets `gotrace ctl` ask a recorder about the program that it records
 *
 * The recorder listens on a socket that is named by the program's process id, in Linux's abstract namespace, and
 * answers root and its own user. Each connection asks once. */

#ifndef CONTROL_H
#define CONTROL_H

#include "recorder.h"

#include <sys/types.h>

/* Lets others ask about a program. If that is not possible, the recording goes on without. */
void control_begin(pid_t process);

void control_end(void);

/* Answers who has asked. `r`: NULL after a stop. `trace`: where it is written; -1: not known yet. `start` starts a
 * recorder that is paused; `stop` completes the trace and frees the recorder. */
void control_answer(recorder *r, int trace, void (*start)(void), void (*stop)(void));

/* Waits until somebody asks, or a signal comes, or the time is over. Returns whether somebody asks. */
bool control_wait(int milliseconds);

#endif
