/* libuv.h - libuv's event loop and its thread pool. Include it before any use of uv_queue_work and uv_async_send.
 *
 *     in libuv                        becomes
 *     gotrace_uv_begin(loop, &state)  call it on the loop's thread before uv_run
 *     gotrace_uv_end(&state)          call it before the loop closes
 *     the loop polls                  gotrace_wait_on the loop, "libuv: poll"; its thread is a plain thread
 *     uv_queue_work                   gotrace_go_create, named after the work's function
 *     the work runs on the pool       gotrace_go_start, _end: a thread of the pool is a proc
 *     it is done, uv_async_send       gotrace_wake: shows who ended the poll
 *     the callback after it           a region of the loop, "after work"
 *     uv_cancel                       gotrace_go_destroy
 *
 * libuv calls the callbacks for input and output while it polls, and has no hook for that. Such a callback must call
 * gotrace_uv_awake() first; otherwise it appears as a part of the poll. Work that libuv itself gives to the pool
 * (files, getaddrinfo) is not traced. */
#ifndef GOTRACE_LIBUV_H
#define GOTRACE_LIBUV_H

#include <stdlib.h>
#include <uv.h>

#include "gotrace.h"

/* What a request's data points to outside its callbacks. */
typedef struct gotrace_uv_work {
  gotrace_go *go;
  uv_work_cb work;
  uv_after_work_cb after;
  void *data; /* the program's */
} gotrace_uv_work;

static __thread int gotrace_uv_waits;

/* Reports that the loop's thread no longer waits. */
static inline void gotrace_uv_awake(void) {
  if (gotrace_uv_waits) gotrace_wait_end();
  gotrace_uv_waits = 0;
}

static void gotrace_uv_before_poll(uv_prepare_t *handle) {
  gotrace_uv_waits = 1;
  gotrace_wait_on(handle->loop, GOTRACE_REASON("libuv: poll") + GOTRACE_BLOCK_NET);
}

static void gotrace_uv_after_poll(uv_check_t *handle) {
  (void)handle;
  gotrace_uv_awake();
}

typedef struct gotrace_uv_loop {
  uv_prepare_t before;
  uv_check_t after;
} gotrace_uv_loop;

/* `state` must stay valid until the loop has run after gotrace_uv_end. */
static inline void gotrace_uv_begin(uv_loop_t *loop, gotrace_uv_loop *state) {
  uv_prepare_init(loop, &state->before);
  uv_check_init(loop, &state->after);
  uv_prepare_start(&state->before, gotrace_uv_before_poll);
  uv_check_start(&state->after, gotrace_uv_after_poll);
  uv_unref((uv_handle_t *)&state->before); /* they do not keep the loop alive */
  uv_unref((uv_handle_t *)&state->after);
}

static inline void gotrace_uv_end(gotrace_uv_loop *state) {
  uv_close((uv_handle_t *)&state->before, NULL);
  uv_close((uv_handle_t *)&state->after, NULL);
}

static void gotrace_uv_run_work(uv_work_t *request) {
  static __thread gotrace_proc *proc;
  gotrace_uv_work *work = (gotrace_uv_work *)request->data;
  if (!proc) gotrace_proc_start(proc = gotrace_proc_create());
  gotrace_go_start(work->go);
  request->data = work->data;
  work->work(request);
  work->data = request->data;
  request->data = work;
  gotrace_wake(request->loop, 1);
  work->go = NULL;
  gotrace_go_end();
}

static void gotrace_uv_run_after(uv_work_t *request, int status) {
  gotrace_uv_work *work = (gotrace_uv_work *)request->data;
  uv_after_work_cb after = work->after;
  gotrace_uv_awake();
  request->data = work->data;
  if (work->go) gotrace_go_destroy(work->go); /* cancelled */
  free(work);
  GOTRACE_REGION("after work") {
    if (after) after(request, status);
  }
}

static inline int gotrace_uv_queue_work(gotrace_site *site, const gotrace_location *entry, uv_loop_t *loop,
                                        uv_work_t *request, uv_work_cb run, uv_after_work_cb after) {
  gotrace_uv_work *work = (gotrace_uv_work *)malloc(sizeof *work);
  int result;
  if (!work) return UV_ENOMEM;
  gotrace_go_self(); /* makes the loop's thread a goroutine, so that the work has a creator */
  work->go = gotrace_go_create_at(site, entry);
  work->work = run;
  work->after = after;
  work->data = request->data;
  request->data = work;
  result = uv_queue_work(loop, request, gotrace_uv_run_work, gotrace_uv_run_after);
  if (result != 0) {
    gotrace_go_destroy(work->go);
    request->data = work->data;
    free(work);
  }
  return result;
}

#define uv_queue_work(loop, request, work, after)                                               \
  (__extension__({                                                                              \
    static const gotrace_location gotrace_uv_entry = GOTRACE_ENTRY(work);                       \
    gotrace_uv_queue_work(GOTRACE_HERE, &gotrace_uv_entry, (loop), (request), (work), (after)); \
  }))
#define uv_async_send(async) (gotrace_wake((async)->loop, 1), uv_async_send(async))

#endif
