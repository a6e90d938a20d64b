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

/* Answers who has asked. `trace`: where it is written; -1: not known yet. `start`: starts a recorder that is paused. */
void control_answer(recorder *r, int trace, void (*start)(void));

#endif
