/* libuv: work for the pool from a timer, one piece of it cancelled, and an async handle that another thread signals. */
#include "../../examples/adapters/libuv.h"
#include "story.h"

enum { TICKS = 10, WORKS = 4 };

static uv_work_t works[TICKS * WORKS], blocker[4], cancelled;
static uv_timer_t timer;
static uv_async_t async;
static uv_sem_t release;
static int ticks, done, numbers[TICKS * WORKS];

static void compute(uv_work_t *request) { ++*(int *)request->data; }

static void computed(uv_work_t *request, int status) {
  CHECK(status == 0 && request->data == &numbers[request - works] && *(int *)request->data == 1);
  done++;
}

static void block(uv_work_t *request) {
  (void)request;
  uv_sem_wait(&release);
}

static void blocked(uv_work_t *request, int status) {
  (void)request;
  CHECK(status == 0);
  done++;
}

static void never(uv_work_t *request) {
  (void)request;
  CHECK(false);
}

static void was_cancelled(uv_work_t *request, int status) {
  int i;
  CHECK(status == UV_ECANCELED && request->data == &ticks);
  for (i = 0; i < 4; i++) uv_sem_post(&release);
}

static void tick(uv_timer_t *handle) {
  int i;
  for (i = 0; i < WORKS; i++) {
    uv_work_t *work = &works[ticks * WORKS + i];
    work->data = &numbers[ticks * WORKS + i];
    CHECK(uv_queue_work(handle->loop, work, compute, computed) == 0);
  }
  if (++ticks == TICKS) uv_timer_stop(handle);
}

static void signalled(uv_async_t *handle) {
  gotrace_uv_awake();
  uv_close((uv_handle_t *)handle, NULL);
}

static void other(void *argument) {
  (void)argument;
  gotrace_thread_begin("other");
  uv_async_send(&async);
}

int main(int argc, char **argv) {
  uv_loop_t *loop = uv_default_loop();
  gotrace_uv_loop state;
  uv_thread_t thread;
  int i;
  CHECK(argc == 2 && setenv("UV_THREADPOOL_SIZE", "4", 1) == 0);
  CHECK(gotrace_start_file(argv[1], NULL) == GOTRACE_OK);
  gotrace_uv_begin(loop, &state);
  CHECK(uv_timer_init(loop, &timer) == 0 && uv_timer_start(&timer, tick, 1, 2) == 0);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  /* All threads of the pool are busy, so the next piece of work waits, and can be cancelled. */
  CHECK(uv_sem_init(&release, 0) == 0);
  for (i = 0; i < 4; i++) CHECK(uv_queue_work(loop, &blocker[i], block, blocked) == 0);
  cancelled.data = &ticks;
  CHECK(uv_queue_work(loop, &cancelled, never, was_cancelled) == 0);
  CHECK(uv_cancel((uv_req_t *)&cancelled) == 0);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(uv_async_init(loop, &async, signalled) == 0 && uv_thread_create(&thread, other, NULL) == 0);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0 && uv_thread_join(&thread) == 0);
  uv_close((uv_handle_t *)&timer, NULL);
  gotrace_uv_end(&state);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0 && uv_loop_close(loop) == 0);
  CHECK(gotrace_stop() == GOTRACE_OK);
  CHECK_EQUAL(done, TICKS * WORKS + 4);
  story_read(argv[1]);
  story_expect("created compute", TICKS * WORKS);
  story_expect("started compute", TICKS * WORKS);
  story_expect("ended compute", TICKS * WORKS);
  story_expect("ended block", 4);
  story_expect("created never", 1);
  story_expect("ended never", 1);
  story_expect("region after work", TICKS * WORKS + 5);
  CHECK(story_count("blocked libuv libuv: poll") >= TICKS);
  CHECK(story_count("woken libuv") >= 1); /* by the work, or by the other thread */
  return 0;
}
