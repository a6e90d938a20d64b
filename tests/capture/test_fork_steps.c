/* A signal handler forks after each instruction of the calls that change lists of waits, while they hold the list's
 * lock. The child finishes the interrupted call; then its lists are well-formed, and its calls are not taken for nested
 * ones.
 *
 * The handler handles SIGTRAP, which the processor raises after each instruction.
 *
 * Not in: thread valgrind, which have no such signal. */
#define _GNU_SOURCE 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(TEST_THREAD_SANITIZER)
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_FLAG = 0x100 };
#define SET_TRAP_FLAG(operation)                                                                                 \
  __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n " operation ", (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" :: \
                       : "memory", "cc")

static sem_t listed;
static int key;
static volatile bool is_child;
static volatile unsigned children;

static void fork_after_step(int number, siginfo_t *details, void *context) {
  ucontext_t *interrupted = (ucontext_t *)context;
  int status;
  pid_t child;
  (void)number, (void)details;
  if (is_child || !gotrace__inside) return; /* only while it holds a lock */
  CHECK((child = fork()) >= 0);
  if (!child) {
    is_child = true;
    interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    return;
  }
  children++;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void *wait_for_ever(void *unused) {
  gotrace_wait_on(&key, GOTRACE_BLOCK_SYNC);
  CHECK(sem_post(&listed) == 0);
  for (;;) pause();
  return unused;
}

static void check_child(unsigned waits) {
  gotrace__wait_bucket *bucket = gotrace__wait_bucket_of(&key);
  int i;
  if (!is_child) return;
  CHECK(gotrace_wake(&key, 100) <= waits);
  while (waits--) gotrace_wait_end();
  CHECK(!bucket->first && !bucket->last);
  for (i = 0; i < 3; i++) {
    gotrace_wait_on(&key, GOTRACE_BLOCK_SYNC);
    CHECK(bucket->first && bucket->first == bucket->last && !bucket->first->next && !bucket->first->previous);
    gotrace_wait_end();
    CHECK(!bucket->first && !bucket->last);
  }
  _exit(0);
}

int main(void) {
  struct sigaction action;
  gotrace_options options;
  test_bytes bytes = {NULL, 0, 0};
  pthread_t thread;
  int i;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = fork_after_step;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGTRAP, &action, NULL) == 0 && sem_init(&listed, 0, 0) == 0);
  memset(&options, 0, sizeof options);
  options.write = test_sink;
  options.context = &bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 3; i++) { /* before, after and around the wait that is stepped through */
    CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0 && sem_wait(&listed) == 0);
    if (i) continue;
    gotrace_wait_on(&key, GOTRACE_BLOCK_SYNC); /* what is needed the first time is there */
    gotrace_wait_end();
  }
  SET_TRAP_FLAG("orq $0x100");
  gotrace_wait_on(&key, GOTRACE_BLOCK_SYNC);
  if (!is_child) SET_TRAP_FLAG("andq $~0x100");
  check_child(1);
  SET_TRAP_FLAG("orq $0x100");
  gotrace_wait_end();
  if (!is_child) SET_TRAP_FLAG("andq $~0x100");
  check_child(0);
  SET_TRAP_FLAG("orq $0x100");
  gotrace_wake(&key, 1);
  if (!is_child) SET_TRAP_FLAG("andq $~0x100");
  check_child(0);
  CHECK(children > 20);
  CHECK_EQUAL(gotrace_wake(&key, 100), 2);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_free(&bytes);
  return 0;
}
#else
int main(void) { return 0; }
#endif
