/* tracer.c - a private copy of gotrace.h, so that a program that contains the tracer too keeps its own traces
 *
 * The tracer calls the real functions, even when the thread is outside the library's functions: in its service thread,
 * before and after a fork, when a thread ends. */

#include "functions.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

int create_service(pthread_t *handle, void *(*function)(void *)); /* threads.c */
void finish_trace(void);                                          /* preload.c */
bool open_flight_file(const char *path);
bool finish_flight_file(void);
bool only_services_left(void);

#define pthread_mutex_lock(mutex) REAL(pthread_mutex_lock)(mutex)
#define pthread_mutex_unlock(mutex) REAL(pthread_mutex_unlock)(mutex)
#define pthread_cond_wait(condition, mutex) REAL(pthread_cond_wait)(condition, mutex)
#define pthread_cond_timedwait(condition, mutex, until) REAL(pthread_cond_timedwait)(condition, mutex, until)
#define pthread_cond_signal(condition) REAL(pthread_cond_signal)(condition)
#define pthread_cond_broadcast(condition) REAL(pthread_cond_broadcast)(condition)
#define dl_iterate_phdr(function, argument) REAL(dl_iterate_phdr)(function, argument)
#define pthread_join(handle, value) REAL(pthread_join)(handle, value)
#define pthread_create(handle, attributes, function, argument) create_service(handle, function)

#undef GOTRACE_API
#define GOTRACE_API __attribute__((visibility("hidden")))
#define GOTRACE__BOX
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

/* preload.h */
gotrace_result start_in_box(void *box, const gotrace_options *options);
void tell_modules(void);
void say_in_box(uint32_t why);
void sync_box(void);

/* The tracer's own way to write a file, which notices if the program has closed it. */
static gotrace__file flight_file;

bool open_flight_file(const char *path) { return gotrace__file_open(path, 0, &flight_file); }

static bool write_flight_file(void *file, const void *data, size_t size) {
  return gotrace__file_write(file, data, size);
}

bool finish_flight_file(void) {
  bool written = gotrace_flight_snapshot(write_flight_file, &flight_file) == GOTRACE_OK;
  int failure = errno;
  bool closed = gotrace__file_close(&flight_file);
  if (!written) errno = failure;
  return written && closed;
}

gotrace_result start_in_box(void *box, const gotrace_options *options) {
  gotrace_result result = gotrace__box_start((gotrace__box *)box, options);
  if (result == GOTRACE_OK) gotrace__box_modules();
  return result;
}

void tell_modules(void) { gotrace__box_modules(); }

void say_in_box(uint32_t why) { gotrace__box_say(why); }

void sync_box(void) { gotrace__box_sync(); }

/* Whether the process lives only for the tracer's thread and the calling one. */
bool only_services_left(void) {
  long count = gotrace__threads_after_main();
  return count > 0 && count <= 3;
}

/* Destructors run in reverse order, so this one runs before the tracer's own, which would discard the flight recorder's
 * data. Functions that the library passes to atexit run after both, because its constructor ran before the program
 * started. */
__attribute__((destructor)) static void end(void) { finish_trace(); }
