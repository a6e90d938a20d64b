/* Windows fibers: a thread whose first tracer call is on a fiber keeps its record when the fiber is deleted, by itself
 * or by another thread. When the thread ends, its record is reused. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_trace.h"

enum { CALLS = 20000 };

static LONG volatile phase;
static void *thread_fiber, *job_fiber;
static gotrace__thread *record_of_fiber, *record_of_other;

static void CALLBACK job(void *unused) {
  (void)unused;
  GOTRACE_REGION("job") gotrace_log(GOTRACE_NO_TASK, "category", "in a fiber");
  SwitchToFiber(thread_fiber);
}

static void emit(const char *name) {
  int i;
  for (i = 0; i < CALLS; i++)
    GOTRACE_REGION("piece") gotrace_log(GOTRACE_NO_TASK, "category", name);
}

static void wait_for(LONG wanted) {
  while (InterlockedCompareExchange(&phase, 0, 0) < wanted) Sleep(1);
}

static DWORD WINAPI run_fiber(void *unused) {
  (void)unused;
  CHECK((thread_fiber = ConvertThreadToFiber(NULL)) != NULL);
  CHECK((job_fiber = CreateFiber(0, job, NULL)) != NULL);
  SwitchToFiber(job_fiber);
  CHECK((record_of_fiber = gotrace__self) != NULL);
  InterlockedExchange(&phase, 1);
  wait_for(2); /* the other thread has deleted the fiber, and emitted */
  emit("thread");
  CHECK(gotrace__self == record_of_fiber);
  CHECK((job_fiber = CreateFiber(0, job, NULL)) != NULL);
  SwitchToFiber(job_fiber);
  DeleteFiber(job_fiber);
  CHECK(gotrace__self == record_of_fiber);
  emit("thread");
  return 0;
}

static DWORD WINAPI delete_fiber(void *unused) {
  (void)unused;
  wait_for(1);
  DeleteFiber(job_fiber);
  gotrace_log(GOTRACE_NO_TASK, "category", "first");
  record_of_other = gotrace__self;
  InterlockedExchange(&phase, 2);
  emit("other");
  return 0;
}

static DWORD WINAPI call_once(void *record) {
  gotrace_log(GOTRACE_NO_TASK, "category", "once");
  *(gotrace__thread **)record = gotrace__self;
  return 0;
}

static void run(DWORD(WINAPI *what)(void *), void *argument) {
  HANDLE thread = CreateThread(NULL, 0, what, argument, 0, NULL);
  CHECK(thread && WaitForSingleObject(thread, 60000) == WAIT_OBJECT_0 && CloseHandle(thread));
}

int main(void) {
  gotrace__thread *one = NULL, *two = NULL;
  HANDLE threads[2];
  const char *path = test_trace_path("fibers", GOTRACE_GO_1_23);
  CHECK_EQUAL(gotrace_start_file(path, NULL), GOTRACE_OK);
  CHECK((threads[0] = CreateThread(NULL, 0, run_fiber, NULL, 0, NULL)) != NULL);
  CHECK((threads[1] = CreateThread(NULL, 0, delete_fiber, NULL, 0, NULL)) != NULL);
  CHECK(WaitForMultipleObjects(2, threads, TRUE, 60000) < WAIT_OBJECT_0 + 2);
  CHECK(record_of_fiber && record_of_other && record_of_fiber != record_of_other);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  run(call_once, &one);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  run(call_once, &two);
  CHECK(one && one == two); /* a thread that has ended gives its record back, as soon as it has been transcribed */
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_write_kinds("fibers", GOTRACE_GO_1_23);
  return 0;
}
