/* ends.c - runs a thread `last_thing`, then ends in the way that the first argument names: see test_record.sh */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <arpa/inet.h>
#include <link.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *last_thing(void *unused);
void *last_thing(void *unused) {
  struct timespec time = {0, 1000};
  pthread_mutex_lock(&mutex);
  nanosleep(&time, NULL);
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void run_thread(void *(*function)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, NULL) == 0) pthread_join(thread, NULL);
}

void *exits(void *unused);
void *exits(void *unused) { return (void)unused, run_thread(last_thing), exit(8), NULL; }

void *stays(void *unused);
void *stays(void *unused) {
  struct timespec time = {0, 10000000};
  nanosleep(&time, NULL);
  run_thread(last_thing);
  return unused;
}

/* Waits that end by longjmp, cancellation and interruption. */
static sigjmp_buf jump;
static void jump_out(int number) { (void)number, siglongjmp(jump, 1); }
static void interrupt(int number) { (void)number, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); }

/* Waits that end by the thread's cancellation. The thread's argument selects the wait. */
static pthread_mutex_t cancelled_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cancelled_condition = PTHREAD_COND_INITIALIZER;
static sem_t cancelled_semaphore;
static pthread_t cancelled_joined;
static int empty_pipe[2], full_pipe[2], listening, cancelled_epoll;
enum { CANCELLED_WAITS = 18 };

static void unlock(void *mutex_of) { pthread_mutex_unlock(mutex_of); }

static void wait_for_condition(bool limited) {
  struct timespec until = {0, 0};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1000;
  pthread_mutex_lock(&cancelled_mutex);
  pthread_cleanup_push(unlock, &cancelled_mutex);
  for (;;)
    if (limited) pthread_cond_timedwait(&cancelled_condition, &cancelled_mutex, &until);
    else pthread_cond_wait(&cancelled_condition, &cancelled_mutex);
  pthread_cleanup_pop(1);
}

void *waits_for_ever(void *number);
void *waits_for_ever(void *number) {
  struct timespec hour = {3600, 0}, far = {0, 0};
  struct pollfd reading = {empty_pipe[0], POLLIN, 0};
  struct epoll_event event;
  fd_set set;
  char bytes[4096] = {0};
  FD_ZERO(&set);
  FD_SET(empty_pipe[0], &set);
  clock_gettime(CLOCK_REALTIME, &far);
  far.tv_sec += 1000;
  for (;;) switch (*(int *)number) {
    case 0: pause(); break;
    case 1: nanosleep(&hour, NULL); break;
    case 2: clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL); break;
    case 3: usleep(900000); break;
    case 4: sleep(3600); break;
    case 5: wait_for_condition(false); break;
    case 6: wait_for_condition(true); break;
    case 7: sem_wait(&cancelled_semaphore); break;
    case 8: sem_timedwait(&cancelled_semaphore, &far); break;
    case 9: pthread_join(cancelled_joined, NULL); break;
    case 10: poll(&reading, 1, -1); break;
    case 11: ppoll(&reading, 1, &hour, NULL); break;
    case 12: select(empty_pipe[0] + 1, &set, NULL, NULL, NULL); break;
    case 13: epoll_wait(cancelled_epoll, &event, 1, -1); break;
    case 14: accept(listening, NULL, NULL); break;
    case 15:
      while (read(empty_pipe[0], bytes, 1) < 0) continue;
      break;
    case 16:
      while (write(full_pipe[1], bytes, sizeof bytes) > 0) continue;
      break;
    case 17:
      recv(listening, bytes, 1, 0);
      pause();
      break;
    }
  return NULL;
}

void *sleeps(void *unused);
void *sleeps(void *unused) { return pause(), unused; }

static void cancel_waits(void) {
  struct sockaddr_in address;
  pthread_t thread;
  int number;
  void *result;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listening = socket(AF_INET, SOCK_STREAM, 0);
  cancelled_epoll = epoll_create1(0);
  if (pipe(empty_pipe) != 0 || pipe(full_pipe) != 0 || sem_init(&cancelled_semaphore, 0, 0) != 0 ||
      bind(listening, (struct sockaddr *)&address, sizeof address) != 0 || listen(listening, 1) != 0 ||
      pthread_create(&cancelled_joined, NULL, sleeps, NULL) != 0)
    exit(1);
  for (number = 0; number < CANCELLED_WAITS; number++) {
    if (pthread_create(&thread, NULL, waits_for_ever, &number) != 0) exit(1);
    nanosleep(&(struct timespec){0, 5000000}, NULL);
    if (number == CANCELLED_WAITS / 2) run_thread(last_thing);
    pthread_cancel(thread);
    if (pthread_join(thread, &result) != 0 || result != PTHREAD_CANCELED) exit(1);
  }
  /* The objects that they waited for are unchanged. */
  if (pthread_mutex_trylock(&cancelled_mutex) != 0 || pthread_mutex_unlock(&cancelled_mutex) != 0) exit(1);
  pthread_cancel(cancelled_joined);
  if (pthread_join(cancelled_joined, &result) != 0 || result != PTHREAD_CANCELED) exit(1);
}

static void leave_waits(void) {
  struct itimerval soon = {{0, 0}, {0, 10000}};
  struct timespec second = {0, 50000000};
  volatile int i;
  int ends[2];
  char byte;
  if (pipe(ends) != 0) exit(1);
  signal(SIGALRM, jump_out);
  for (i = 0; i < 3; i++)
    if (sigsetjmp(jump, 1) == 0) {
      setitimer(ITIMER_REAL, &soon, NULL);
      if (read(ends[0], &byte, 1) < 0) exit(1);
    }
  signal(SIGALRM, interrupt);
  setitimer(ITIMER_REAL, &soon, NULL);
  nanosleep(&second, NULL);
  cancel_waits();
}

/* Handlers that interrupt a wait fork. One child ends in the handler, the other returns from it. */
static volatile pid_t forked;
static volatile bool returns;
static void fork_in_handler(int number) {
  (void)number;
  forked = fork();
  if (forked == 0 && !returns) {
    run_thread(last_thing);
    _exit(3);
  }
}

static void wait_for_handler(void) {
  struct itimerval soon = {{0, 0}, {0, 10000}};
  int status;
  signal(SIGALRM, fork_in_handler);
  setitimer(ITIMER_REAL, &soon, NULL);
  pause();
  if (waitpid(forked, &status, 0) != forked || WEXITSTATUS(status) != 3) exit(1);
  returns = true;
  setitimer(ITIMER_REAL, &soon, NULL);
  pause();
  if (forked == 0) {
    usleep(1);
    run_thread(last_thing);
    _exit(4);
  }
  if (waitpid(forked, &status, 0) != forked || WEXITSTATUS(status) != 4) exit(1);
}

/* Crashes without a handler, as far as the program can see, or with one. */
static void *volatile nowhere;
void *crashes(void *unused);
void *crashes(void *unused) {
  run_thread(last_thing);
  *(volatile int *)nowhere = 1;
  return unused;
}

typedef void handler(int);
static void handle_crash(int number) { (void)number, _exit(10); }

static bool is_default(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL;
}

handler *__sysv_signal(int number, handler *new);
handler *bsd_signal(int number, handler *new);
#if defined(__GLIBC__)
handler *sysv_signal(int number, handler *new);
handler *ssignal(int number, handler *new);
#endif

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* sigset */

/* The program sees its own actions, with each of the functions that set one. The first call for a signal is the one
 * that meets the library's own action from the start. */
static void set_actions(void) {
  handler *(*const functions[])(int, handler *) = {
    signal,
    __sysv_signal,
    bsd_signal,
    sigset,
#if defined(__GLIBC__)
    sysv_signal,
    ssignal,
#endif
  };
  static const int numbers[] = {SIGFPE, SIGBUS, SIGILL, SIGTERM, SIGABRT, SIGSEGV};
  struct sigaction action, old;
  sigset_t set, blocked;
  size_t i;
  for (i = 0; i < sizeof functions / sizeof *functions; i++) {
    int number = numbers[i % (sizeof numbers / sizeof *numbers)];
    if (functions[i](number, SIG_IGN) != SIG_DFL || functions[i](number, SIG_DFL) != SIG_IGN ||
        functions[i](number, SIG_DFL) != SIG_DFL || !is_default(number))
      exit(1);
  }
  sigemptyset(&set);
  sigaddset(&set, SIGFPE);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (sigset(SIGFPE, SIG_DFL) != SIG_HOLD || sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 ||
      sigismember(&blocked, SIGFPE) != 0)
    exit(1);
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  if (sigaction(SIGFPE, &action, &old) != 0 || old.sa_handler != SIG_DFL || !is_default(SIGFPE)) exit(1);
}

static void crash(bool handled) {
  if (!is_default(SIGSEGV)) exit(1);
  set_actions();
  if (handled) signal(SIGSEGV, handle_crash);
  run_thread(crashes);
}

/* Handlers that print, restore the default action, and crash again: at once or after their return. */
static void restore(int number) {
  if (write(1, "crashed\n", 8) != 8 || signal(number, SIG_DFL) != restore || !is_default(number)) _exit(1);
  raise(number);
}

static void restore_and_return(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  if (write(1, "crashed\n", 8) != 8 || sigaction(number, &action, NULL) != 0) _exit(1);
}

/* A handler that is called only once; the crash repeats after its return. */
static void handle_once(int number, siginfo_t *details, void *context) {
  struct sigaction action; /* the kernel keeps the flags */
  (void)context;
  if (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL || details->si_addr != nowhere ||
      write(1, "crashed\n", 8) != 8)
    _exit(1);
}

static void print(int number) {
  if (!is_default(number) || write(1, "crashed\n", 8) != 8) _exit(1);
}

static void crash_once(bool old_way) {
  struct sigaction action, old;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle_once;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | (int)SA_RESETHAND;
  sigaddset(&action.sa_mask, SIGUSR1);
  if (sigaction(SIGSEGV, &action, &old) != 0 || old.sa_handler != SIG_DFL || sigaction(SIGSEGV, NULL, &old) != 0 ||
      old.sa_sigaction != handle_once || (old.sa_flags & action.sa_flags) != action.sa_flags ||
      sigismember(&old.sa_mask, SIGUSR1) != 1 || sigaction(SIGSEGV, &old, NULL) != 0)
    exit(1);
#if defined(__GLIBC__) /* musl's function sets a handler that stays */
  if (old_way && (__sysv_signal(SIGSEGV, print) == SIG_ERR || __sysv_signal(SIGSEGV, print) != print)) exit(1);
#else
  (void)old_way, (void)print;
#endif
  run_thread(crashes);
}

/* Uses 200 milliseconds of CPU time and crashes, without a call of the C library in which it could be reported. */
void *computes(void *unused);
void *computes(void *unused) {
  clock_t start = clock();
  while (clock() - start < CLOCKS_PER_SEC / 5) continue;
  *(volatile int *)nowhere = 1;
  return unused;
}

/* A thread crashes while the end of the trace, which needs the lock that it has, takes as long as it may. The process
 * ends in another way meanwhile. */
static int crash_in(struct dl_phdr_info *module, size_t size, void *unused) {
  (void)module, (void)size, (void)unused;
  *(volatile int *)nowhere = 1;
  return 1;
}
void *crashes_slowly(void *unused);
void *crashes_slowly(void *unused) { return dl_iterate_phdr(crash_in, NULL), unused; }

static void end_after_crash(const char *way) {
  pthread_t thread;
  run_thread(last_thing);
  if (pthread_create(&thread, NULL, crashes_slowly, NULL) != 0) exit(1);
  nanosleep(&(struct timespec){0, 400000000}, NULL);
  if (strcmp(way, "exit") == 0) exit(2);
  if (strcmp(way, "_exit") == 0) _exit(3);
  if (strcmp(way, "quick_exit") == 0) quick_exit(5);
  if (strcmp(way, "exit_group") == 0) syscall(SYS_exit_group, 6);
  if (strcmp(way, "exec") == 0) execlp("sh", "sh", "-c", "echo replaced; exit 7", NULL);
  if (strcmp(way, "abort") == 0) abort();
}

/* Other threads crash soon after one: some of them while the trace ends. */
static volatile bool has_crashed;
void *crashes_soon(void *number);
void *crashes_soon(void *number) {
  while (!has_crashed) usleep(10);
  usleep((unsigned)*(int *)number * 50);
  *(volatile int *)nowhere = 1;
  return NULL;
}

static void crash_often(void) {
  static int numbers[16];
  pthread_t thread;
  int i;
  for (i = 0; i < 500; i++) run_thread(last_thing);
  for (i = 0; i < 16; i++) {
    numbers[i] = i;
    if (pthread_create(&thread, NULL, crashes_soon, &numbers[i]) != 0) exit(1);
  }
  has_crashed = true;
  *(volatile int *)nowhere = 1;
}

/* A signal comes to a process whose threads wait. `setting`: what the program has done about it; "": nothing. */
static void exit_on(int number) { _exit(number + 10); }

static void end_by_signal(int number, const char *setting) {
  pthread_t thread;
  sigset_t set;
  int got;
  sigemptyset(&set);
  sigaddset(&set, number);
  run_thread(last_thing);
  if (pthread_create(&thread, NULL, sleeps, NULL) != 0) exit(1);
  if (strcmp(setting, "handled") == 0) signal(number, exit_on);
  else if (strcmp(setting, "restored") == 0 &&
           (signal(number, exit_on) == SIG_ERR || signal(number, SIG_DFL) != exit_on))
    exit(1);
  else if (strcmp(setting, "waited_for") == 0) sigprocmask(SIG_BLOCK, &set, NULL);
  if (strcmp(setting, "ignored") != 0 && strcmp(setting, "handled") != 0 && !is_default(number)) exit(1);
  if (strcmp(setting, "waited_for") == 0) {
    pthread_kill(pthread_self(), number);
    if (sigwait(&set, &got) != 0 || got != number) exit(1);
    return;
  }
  kill(getpid(), number);
  if (strcmp(setting, "ignored") == 0) return;
  for (;;) pause();
}

void *reads(void *unused);
void *reads(void *unused) {
  FILE *zero = fopen("/dev/zero", "r");
  char byte;
  while (zero && read(fileno(zero), &byte, 1) == 1) continue;
  return unused;
}

/* Asks a flight recorder that has much to read for snapshots, each after something new, and goes on until there is the
 * first. */
static void ask_for_snapshots(const char *first) {
  pthread_t thread;
  struct stat status;
  int i;
  if (pthread_create(&thread, NULL, reads, NULL) != 0) abort();
  for (i = 0; i < 20; i++) usleep(3000), raise(SIGUSR2);
  alarm(60);
  while (stat(first, &status) != 0) usleep(1000);
}

int main(int count, char **words) {
  const char *way = count > 1 ? words[1] : "";
  struct stat status;
  pthread_t thread;
  pid_t child;
  setvbuf(stdout, NULL, _IONBF, 0);
  printf("%s\n", way);
  if (strcmp(way, "thread") == 0) run_thread(exits);
  if (strcmp(way, "pthread_exit") == 0) {
    if (pthread_create(&thread, NULL, stays, NULL) != 0) return 1;
    pthread_exit(NULL);
  }
  if (strcmp(way, "waits") == 0) leave_waits();
  if (strcmp(way, "handler_forks") == 0) wait_for_handler();
  if (strcmp(way, "fork") == 0) {
    child = fork();
    if (child == 0) run_thread(last_thing), _exit(3);
    if (waitpid(child, &count, 0) != child || WEXITSTATUS(count) != 3) return 1;
    child = vfork();
    if (child == 0) _exit(4);
    if (waitpid(child, &count, 0) != child || WEXITSTATUS(count) != 4) return 1;
    child = vfork();
    if (child == 0) execl("/bin/sh", "sh", "-c", "exit 5", NULL), _exit(6);
    if (waitpid(child, &count, 0) != child || WEXITSTATUS(count) != 5) return 1;
  }
  if (strcmp(way, "crash") == 0) crash(false);
  if (strcmp(way, "handled_crash") == 0) crash(true);
  if (strcmp(way, "restored_crash") == 0) signal(SIGSEGV, restore), run_thread(crashes);
  if (strcmp(way, "returning_crash") == 0) signal(SIGSEGV, restore_and_return), run_thread(crashes);
  if (strcmp(way, "once_crash") == 0) crash_once(false);
  if (strcmp(way, "old_once_crash") == 0) crash_once(true);
  if (strcmp(way, "late_crash") == 0) run_thread(last_thing), run_thread(computes);
  if (strcmp(way, "many_crashes") == 0) crash_often();
  if (strcmp(way, "signal") == 0) end_by_signal(atoi(words[2]), words[3]);
  if (strcmp(way, "after_crash") == 0) end_after_crash(words[2]);
  if (strcmp(way, "snapshots") == 0) ask_for_snapshots(words[2]);
  run_thread(last_thing);
  if (strcmp(way, "thread_exits") == 0) syscall(SYS_exit, 0); /* the only thread, without the C library */
  if (strcmp(way, "exit") == 0) exit(2);
  if (strcmp(way, "_exit") == 0) _exit(3);
  if (strcmp(way, "_Exit") == 0) _Exit(4);
  if (strcmp(way, "quick_exit") == 0) quick_exit(5);
  if (strcmp(way, "exit_group") == 0) syscall(SYS_exit_group, 6);
  if (strcmp(way, "exec") == 0) execlp("sh", "sh", "-c", "echo replaced; exit 7", NULL);
  if (strcmp(way, "exec_fails") == 0) execl("/nonexistent", "nonexistent", NULL), run_thread(last_thing);
  if (strcmp(way, "abort") == 0 || strcmp(way, "kill") == 0) { /* after a cut */
    off_t size = stat(words[2], &status) == 0 ? status.st_size : 0;
    do run_thread(last_thing);
    while (stat(words[2], &status) != 0 || status.st_size < size + 100000);
    if (*way == 'a') abort();
    kill(getpid(), SIGKILL);
  }
  return 9;
}
