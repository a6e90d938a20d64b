/* A sandbox that the program puts around itself after its first call may forbid what the tracer stops threads' calls with:
 * membarrier(2). Traces are right all the same. Linux. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "test_collect.h"

#include <pthread.h>
#include <time.h>
#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#define THREADS 3

static uint32_t quit; /* atomic */

static void *emit(void *unused) {
  const struct timespec pause = {0, 20000}; /* the traces are to be read in the end */
  (void)unused;
  while (!__atomic_load_n(&quit, __ATOMIC_RELAXED)) {
    GOTRACE_REGION("outer") gotrace_log(GOTRACE_NO_TASK, "category", "message");
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
    nanosleep(&pause, NULL);
  }
  return NULL;
}

static bool forbid(void) {
#if defined(__linux__)
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
         syscall(SYS_membarrier, 1 << 3, 0, 0) != 0;
#else
  return false;
#endif
}

int main(void) {
  pthread_t threads[THREADS];
  long round, rounds = test_scaled(200);
  size_t i;
  gotrace_thread_begin("main");
  if (!forbid()) {
    puts("needs seccomp of Linux");
    return 77;
  }
  for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, emit, NULL) == 0);
  for (round = 0; round < rounds; round++) {
    test_bytes bytes = {NULL, 0, 0};
    gotrace_options options;
    memset(&options, 0, sizeof options);
    options.format = round % 2 ? GOTRACE_GO_1_23 : GOTRACE_GO_1_11;
    options.write = test_sink;
    options.context = &bytes;
    options.cut_milliseconds = 1;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    usleep(3000);
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    CHECK_OPENS(&bytes);
    test_free(&bytes);
  }
#if !GOTRACE_SEQ_CST_FLAG
  CHECK_EQUAL(gotrace__t.fence, 1);
#endif
  __atomic_store_n(&quit, 1, __ATOMIC_RELAXED);
  for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  return 0;
}
