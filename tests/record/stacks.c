/* stacks.c - calls on stacks other than the thread's own, and on small ones
 *
 *     stacks handler    a signal handler on an alternate stack writes; it interrupts code without frame pointers
 *     stacks coroutine  coroutines sleep, on stacks of their own, with any value where frame pointers are expected
 *     stacks small      threads with the smallest stack, which most of their function uses, lock, sleep and write
 *     stacks cancel     threads are cancelled asynchronously */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <ucontext.h>
#endif

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

void *last_thing(void *unused);
void *last_thing(void *unused) {
  usleep(1);
  return unused;
}

/* The end of a page behind which nothing is mapped. */
static char *make_edge(void) {
  char *page = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + PAGE, 15 * PAGE);
  return page + PAGE;
}

static volatile sig_atomic_t handled;
static void handle(int number) {
  (void)number;
  if (write(1, "", 0) == 0) handled = handled + 1;
}

/* Calls a function with a pointer in the register that has frame pointers elsewhere. */
#if defined(__x86_64__)
static void call_with(void *value, void (*function)(void)) {
  __asm__ volatile(
      "mov %%rsp, %%rbx; sub $128, %%rsp; and $-16, %%rsp; push %%rbp; push %%rbp; mov %0, %%rbp; call *%1; pop %%rbp; "
      "pop %%rbp; mov %%rbx, %%rsp"
      : "+a"(value), "+d"(function)
      :
      : "rbx", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}
#else
static void call_with(void *value, void (*function)(void)) {
  (void)value;
  function();
}
#endif

static void wait_for_handler(void) {
  sig_atomic_t before = handled;
  while (handled == before) continue;
}

static void try_handler(void) {
  struct sigaction action;
  struct itimerval timer = {{0, 500}, {0, 500}}, none = {{0, 0}, {0, 0}};
  stack_t stack = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};
  int i;
  sigaltstack(&stack, NULL);
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  for (i = 0; i < 100; i++) call_with(make_edge(), wait_for_handler);
  setitimer(ITIMER_REAL, &none, NULL);
}

static void sleep_shortly(void) {
  struct timespec time = {0, 1000};
  nanosleep(&time, NULL);
}

static char *edge;
static void run_coroutine(void) {
  int i;
  for (i = 0; i < 100; i++) call_with(edge, sleep_shortly);
}

static void *on_thread(void *unused) {
  run_coroutine();
  return unused;
}

#if defined(__GLIBC__)
static void try_coroutine(void) {
  static ucontext_t outer, inner;
  char *stack;
  edge = make_edge();
  stack = mmap(edge - (8 << 20), 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  getcontext(&inner);
  inner.uc_stack.ss_sp = stack;
  inner.uc_stack.ss_size = 1 << 20;
  inner.uc_link = &outer;
  makecontext(&inner, run_coroutine, 0);
  swapcontext(&outer, &inner);
}
#else
static void try_coroutine(void) { edge = make_edge(); }
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *use_small(void *unused) {
  volatile char used[8192];
  memset((void *)(uintptr_t)used, 1, sizeof used);
  pthread_mutex_lock(&mutex);
  usleep(100);
  pthread_mutex_unlock(&mutex);
  if (write(1, "", 0) != 0) abort();
  return used[17] == 1 ? unused : NULL;
}

static void try_small(void) {
  pthread_t handles[20];
  pthread_attr_t attributes;
  int i;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN < 16384 ? 16384 : (size_t)PTHREAD_STACK_MIN)) abort();
  for (i = 0; i < 20; i++)
    if (pthread_create(&handles[i], &attributes, use_small, NULL)) abort();
  for (i = 0; i < 20; i++) pthread_join(handles[i], NULL);
}

static void *spin(void *spins) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  while (*(volatile bool *)spins) continue;
  return NULL;
}

static void try_cancel(void) {
  static bool spins = true;
  int round, i, cancelled = 0;
  for (round = 0; round < 100; round++) {
    pthread_t handles[7];
    void *value;
    for (i = 0; i < 7; i++)
      if (pthread_create(&handles[i], NULL, spin, &spins)) abort();
    usleep((useconds_t)(round % 50) * 20);
    for (i = 0; i < 7; i++) pthread_cancel(handles[i]);
    for (i = 0; i < 7; i++) {
      pthread_join(handles[i], &value);
      cancelled += value == PTHREAD_CANCELED;
    }
  }
  printf("%d cancelled\n", cancelled);
}

int main(int count, char **words) {
  const char *way = count > 1 ? words[1] : "";
  pthread_t handle;
  if (strcmp(way, "handler") == 0) try_handler();
  else if (strcmp(way, "coroutine") == 0)
    try_coroutine(), pthread_create(&handle, NULL, on_thread, NULL), pthread_join(handle, NULL);
  else if (strcmp(way, "small") == 0) try_small();
  else if (strcmp(way, "cancel") == 0) try_cancel();
  else return 1;
  pthread_create(&handle, NULL, last_thing, NULL);
  pthread_join(handle, NULL);
  printf("%s done\n", way);
  return 0;
}
