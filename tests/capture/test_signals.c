/* CPU samples from signal handlers, while threads emit: the samples written and those that found no room add up to
 * those taken, and the trace opens. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#define THREADS 3

static uint64_t taken; /* atomic */
static uint32_t go_on; /* atomic */

static void on_profile(int signal, siginfo_t *info, void *ucontext) {
  int saved = errno;
  (void)signal, (void)info;
  errno = 4711;
  gotrace_cpu_sample(ucontext);
  if (errno != 4711) abort();
  errno = saved;
  __atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST);
}

static __attribute__((noinline)) uint64_t spin(int depth, uint64_t x) {
  int i;
  for (i = 0; i < 5000; i++) x = x * 6364136223846793005u + 1442695040888963407u;
  return depth ? spin(depth - 1, x) + 1 : x;
}

static void *emit(void *unused) {
  uint64_t x = 1;
  sigset_t profile;
  (void)unused;
  sigemptyset(&profile);
  sigaddset(&profile, SIGPROF);
  pthread_sigmask(SIG_UNBLOCK, &profile, NULL);
  while (__atomic_load_n(&go_on, __ATOMIC_RELAXED)) {
    GOTRACE_REGION("spin") {
      x = spin(20, x);
    }
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
    gotrace_wait_end();
    gotrace_go_syscall_begin();
    x = spin(3, x);
    gotrace_go_syscall_end();
  }
  pthread_sigmask(SIG_BLOCK, &profile, NULL); /* so that no sample is taken while the thread ends */
  return (void *)(uintptr_t)(x & 1);
}

static void profile(gotrace_format format, gotrace_stacks stacks) {
  gotrace_options options;
  gotrace_stats stats;
  test_bytes bytes = {NULL, 0, 0};
  pthread_t threads[THREADS];
  struct itimerval timer;
  struct timespec pause = {0, 20000000};
  size_t i;
  int waits;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.stacks = stacks;
  options.write = test_sink;
  options.context = &bytes;
  options.cut_milliseconds = 10;
  taken = 0;
  go_on = 1;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, emit, NULL) == 0);
  memset(&timer, 0, sizeof timer);
  timer.it_interval.tv_usec = timer.it_value.tv_usec = 1000;
  CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
  for (waits = 0; waits < 250 && __atomic_load_n(&taken, __ATOMIC_SEQ_CST) < 20; waits++) nanosleep(&pause, NULL);
  memset(&timer, 0, sizeof timer);
  CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
  __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
  for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(taken >= 5);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  test_check_statistics(&bytes);
  gotrace_get_stats(&stats);
  if (format < GOTRACE_GO_1_19) {
    CHECK_EQUAL(stats.kinds[GOTRACE_V1_CPU_SAMPLE], 0);
  } else {
    gotrace_decoder *decoder;
    gotrace_event event;
    size_t named = 0, with_stack = 0, deep = 0;
    CHECK_EQUAL(test_count(&bytes, "CPUSample") + stats.problems[GOTRACE_PROBLEM_SAMPLE_LOST], taken);
    CHECK_EQUAL(test_open_decoder(&decoder, bytes.data, bytes.size, false), GOTRACE_OK);
    while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) {
      size_t depth = gotrace_decoder_stack(decoder, event.stack, NULL, 0);
      if (strcmp(event.spec->name, "CPUSample") != 0) continue;
      named += event.g > 0;
      with_stack += depth > 0;
      deep += depth > 1;
    }
    gotrace_decoder_close(decoder);
    CHECK(named > 0); /* some were taken in goroutines outside system calls */
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    CHECK_EQUAL(with_stack, test_count(&bytes, "CPUSample")); /* at least the sampled address */
#else
    (void)with_stack;
#endif
    /* With GOTRACE_STACKS_FRAME_POINTERS the stack extends to the callers of spin, which is recursive; otherwise it is
     * only the sampled address. Code compiled without frame pointers (-O2 alone) has no chain to follow. */
#if defined(__linux__) && defined(__x86_64__) && !defined(__OPTIMIZE__)
    if (stacks == GOTRACE_STACKS_FRAME_POINTERS) CHECK(deep > 0);
#endif
    if (stacks != GOTRACE_STACKS_FRAME_POINTERS) CHECK_EQUAL(deep, 0);
  }
  test_free(&bytes);
}

/* Without a reader the ring fills, and samples without room are counted. */
static void overflow(void) {
  gotrace_options options;
  gotrace_stats stats;
  test_bytes bytes = {NULL, 0, 0};
  gotrace_decoder *decoder;
  gotrace_event event;
  int i, round;
  memset(&options, 0, sizeof options);
  options.format = GOTRACE_GO_1_21;
  for (round = 0; round < 3; round++) {
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    GOTRACE_REGION("region") {
      for (i = 0; i < 700; i++) gotrace_cpu_sample(NULL);
    }
    CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
    gotrace_cpu_sample(NULL); /* tracing is off: nothing */
    test_read_to_end(&bytes);
    gotrace_get_stats(&stats);
    CHECK_EQUAL(stats.kinds[GOTRACE_V1_CPU_SAMPLE], 512);
    CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_SAMPLE_LOST], 700 - 512);
    CHECK_EQUAL(stats.dropped, 700 - 512);
    CHECK_OPENS(&bytes);
    test_check_statistics(&bytes);
    CHECK_EQUAL(test_open_decoder(&decoder, bytes.data, bytes.size, false), GOTRACE_OK);
    for (i = 0; gotrace_decoder_next(decoder, &event) == GOTRACE_OK;) {
      if (event.kind != GOTRACE_V2_CPU_SAMPLE) continue;
      i++;
      CHECK_EQUAL(event.g, gotrace_go_id(gotrace_go_self()));
      CHECK((int64_t)event.args[2] >= 0); /* the proc */
    }
    CHECK_EQUAL(i, 512);
    gotrace_decoder_close(decoder);
  }
  test_free(&bytes);
}

/* Samples of a thread unknown to the tracer, and of one without a goroutine. */
static void *sample_of_a_stranger(void *unused) {
  (void)unused;
  gotrace_cpu_sample(NULL);
  return NULL;
}

int main(void) {
  struct sigaction action;
  sigset_t profile_signal;
  pthread_t thread;
  test_bytes bytes = {NULL, 0, 0};
  gotrace_stats stats;
  gotrace_options options;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_profile;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  CHECK(sigaction(SIGPROF, &action, NULL) == 0);
  sigemptyset(&profile_signal);
  sigaddset(&profile_signal, SIGPROF);
  CHECK(pthread_sigmask(SIG_BLOCK, &profile_signal, NULL) == 0);
  gotrace_cpu_sample(NULL); /* as the program's first call */
  memset(&options, 0, sizeof options);
  options.format = GOTRACE_GO_1_21;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, sample_of_a_stranger, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.kinds[GOTRACE_V1_CPU_SAMPLE], 1);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
  overflow();
  profile(GOTRACE_GO_1_26, GOTRACE_STACKS_FRAME_POINTERS);
  profile(GOTRACE_GO_1_21, GOTRACE_STACKS_FRAME_POINTERS);
  profile(GOTRACE_GO_1_19, GOTRACE_STACKS_CALL_SITE);
  profile(GOTRACE_GO_1_11, GOTRACE_STACKS_CALL_SITE);
  return 0;
}
