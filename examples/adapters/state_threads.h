/* state_threads.h - the threads of State Threads (libst) as goroutines. Include it before any use of st_thread_create,
 * and call gotrace_st_init() instead of st_init(), on the thread that runs the state threads.
 *
 *     in State Threads                    becomes
 *     st_init                             gotrace_proc_start: the system's thread is the only proc. The primordial
 *                                         state thread is a goroutine, "main"
 *     st_thread_create                    gotrace_go_create, named after the start function
 *     switch out                          gotrace_go_block; the call that the thread is in gives the reason
 *     st_cond_signal, _broadcast,         gotrace_go_unblock of the waiters
 *       st_mutex_unlock, a thread's end
 *     switch in                           gotrace_go_unblock if nobody did that (time-outs, input), gotrace_go_start
 *     the thread returns,                 gotrace_go_end
 *       or st_thread_exit
 *
 * The switch hooks (ST_SWITCH_CB, compiled in by Debian) tell neither why a thread waits nor who wakes it. The macros
 * below record both. All state threads run on one system thread, so nothing here needs a lock. */
#ifndef GOTRACE_STATE_THREADS_H
#define GOTRACE_STATE_THREADS_H

#include <limits.h>
#include <st.h>
#include <stdlib.h>

#include "gotrace.h"

typedef struct gotrace_st_thread gotrace_st_thread;
struct gotrace_st_thread {
  gotrace_go *go;
  void *(*start)(void *argument);
  void *argument;
  unsigned reason;         /* of a wait in its current call */
  const void *object;      /* what such a wait is for: a condition variable, a mutex, a thread; or NULL */
  gotrace_st_thread *next; /* in the list of waiting threads, longest wait first */
};

static int gotrace_st_key;
static gotrace_st_thread gotrace_st_main, *gotrace_st_waiting;

static gotrace_st_thread *gotrace_st_self(void) { return (gotrace_st_thread *)st_thread_getspecific(gotrace_st_key); }

/* The next place in the list, from `at` on, that holds this thread or one that waits for this object. */
static gotrace_st_thread **gotrace_st_find(gotrace_st_thread **at, const gotrace_st_thread *thread,
                                           const void *object) {
  while (*at && *at != thread && !(object && (*at)->object == object)) at = &(*at)->next;
  return at;
}

static void gotrace_st_switch_out(void) {
  gotrace_st_thread *self = gotrace_st_self();
  if (!self) return; /* the library's idle thread, or one that has ended */
  *gotrace_st_find(&gotrace_st_waiting, NULL, NULL) = self;
  self->next = NULL;
  gotrace_go_block(self->reason);
}

/* Wakes up to `count` of the threads that wait for an object. */
static void gotrace_st_wake(const void *object, int count) {
  gotrace_st_thread **at = &gotrace_st_waiting;
  for (; count > 0 && *(at = gotrace_st_find(at, NULL, object)); count--) {
    gotrace_go_unblock((*at)->go);
    *at = (*at)->next;
  }
}

static void gotrace_st_switch_in(void) {
  gotrace_st_thread *self = gotrace_st_self(), **at;
  if (!self) return;
  at = gotrace_st_find(&gotrace_st_waiting, self, NULL);
  if (*at) {
    gotrace_go_unblock(self->go);
    *at = self->next;
  }
  self->object = NULL; /* it may wait next in a call of a file that does not include this one */
  gotrace_go_start(self->go);
}

/* Runs in place of the start function. When the thread was switched in before this, it had no handle yet. */
static void *gotrace_st_run(void *argument) {
  gotrace_st_thread *self = (gotrace_st_thread *)argument;
  st_thread_setspecific(gotrace_st_key, self);
  gotrace_go_start(self->go);
  return self->start(self->argument);
}

/* The key's destructor: the thread ends, however that happened. */
static void gotrace_st_ends(void *argument) {
  gotrace_st_thread *self = (gotrace_st_thread *)argument;
  gotrace_st_wake(st_thread_self(), 1);
  gotrace_go_end();
  if (self != &gotrace_st_main) free(self);
}

static inline int gotrace_st_init(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("main");
  gotrace_proc *proc;
  if (st_init() != 0 || st_key_create(&gotrace_st_key, gotrace_st_ends) != 0) return -1;
  proc = gotrace_proc_create();
  gotrace_proc_start(proc);
  gotrace_st_main.go = gotrace_go_create(&entry);
  gotrace_go_start(gotrace_st_main.go);
  st_thread_setspecific(gotrace_st_key, &gotrace_st_main);
  st_set_switch_out_cb(gotrace_st_switch_out);
  st_set_switch_in_cb(gotrace_st_switch_in);
  return 0;
}

static inline st_thread_t gotrace_st_create(gotrace_site *site, const gotrace_location *entry,
                                            void *(*start)(void *argument), void *argument, int joinable,
                                            int stack_size) {
  gotrace_st_thread *self = (gotrace_st_thread *)calloc(1, sizeof *self);
  st_thread_t thread;
  if (!self) return NULL;
  self->start = start;
  self->argument = argument;
  self->go = gotrace_go_create_at(site, entry);
  thread = st_thread_create(gotrace_st_run, self, joinable, stack_size);
  if (!thread) {
    gotrace_go_destroy(self->go);
    free(self);
  }
  return thread;
}

#define st_thread_create(start, argument, joinable, stack_size)                                        \
  (__extension__({                                                                                     \
    static const gotrace_location gotrace_st_entry = GOTRACE_ENTRY(start);                             \
    gotrace_st_create(GOTRACE_HERE, &gotrace_st_entry, (start), (argument), (joinable), (stack_size)); \
  }))

/* A call in which the thread may wait, with the object and the reason. The object may be NULL. */
#define GOTRACE_ST_CALL(object_, reason_, call)               \
  (__extension__({                                            \
    gotrace_st_thread *gotrace_st_caller = gotrace_st_self(); \
    if (gotrace_st_caller) {                                  \
      gotrace_st_caller->object = (object_);                  \
      gotrace_st_caller->reason = (reason_);                  \
    }                                                         \
    call;                                                     \
  }))
#define st_usleep(time) GOTRACE_ST_CALL(NULL, GOTRACE_BLOCK_SLEEP, st_usleep(time))
#define st_sleep(time) GOTRACE_ST_CALL(NULL, GOTRACE_BLOCK_SLEEP, st_sleep(time))
#define st_thread_join(thread, result) \
  GOTRACE_ST_CALL(thread, GOTRACE_REASON("st_thread_join") + GOTRACE_BLOCK_SYNC, st_thread_join(thread, result))
#define st_cond_wait(cond) GOTRACE_ST_CALL(cond, GOTRACE_BLOCK_COND_WAIT, st_cond_wait(cond))
#define st_cond_timedwait(cond, time) GOTRACE_ST_CALL(cond, GOTRACE_BLOCK_COND_WAIT, st_cond_timedwait(cond, time))
#define st_mutex_lock(mutex) GOTRACE_ST_CALL(mutex, GOTRACE_BLOCK_SYNC, st_mutex_lock(mutex))
#define GOTRACE_ST_NET(name, ...) GOTRACE_ST_CALL(NULL, GOTRACE_REASON(#name) + GOTRACE_BLOCK_NET, name(__VA_ARGS__))
#define st_accept(...) GOTRACE_ST_NET(st_accept, __VA_ARGS__)
#define st_connect(...) GOTRACE_ST_NET(st_connect, __VA_ARGS__)
#define st_read(...) GOTRACE_ST_NET(st_read, __VA_ARGS__)
#define st_read_fully(...) GOTRACE_ST_NET(st_read_fully, __VA_ARGS__)
#define st_readv(...) GOTRACE_ST_NET(st_readv, __VA_ARGS__)
#define st_read_resid(...) GOTRACE_ST_NET(st_read_resid, __VA_ARGS__)
#define st_readv_resid(...) GOTRACE_ST_NET(st_readv_resid, __VA_ARGS__)
#define st_write(...) GOTRACE_ST_NET(st_write, __VA_ARGS__)
#define st_writev(...) GOTRACE_ST_NET(st_writev, __VA_ARGS__)
#define st_write_resid(...) GOTRACE_ST_NET(st_write_resid, __VA_ARGS__)
#define st_writev_resid(...) GOTRACE_ST_NET(st_writev_resid, __VA_ARGS__)
#define st_recvfrom(...) GOTRACE_ST_NET(st_recvfrom, __VA_ARGS__)
#define st_sendto(...) GOTRACE_ST_NET(st_sendto, __VA_ARGS__)
#define st_recvmsg(...) GOTRACE_ST_NET(st_recvmsg, __VA_ARGS__)
#define st_sendmsg(...) GOTRACE_ST_NET(st_sendmsg, __VA_ARGS__)
#define st_netfd_poll(...) GOTRACE_ST_NET(st_netfd_poll, __VA_ARGS__)
#define st_poll(...) GOTRACE_ST_CALL(NULL, GOTRACE_BLOCK_SELECT, st_poll(__VA_ARGS__))

#define st_cond_signal(cond) (gotrace_st_wake(cond, 1), st_cond_signal(cond))
#define st_cond_broadcast(cond) (gotrace_st_wake(cond, INT_MAX), st_cond_broadcast(cond))
#define st_mutex_unlock(mutex) (gotrace_st_wake(mutex, 1), st_mutex_unlock(mutex))

#endif
