/* ticks.c - a program that would notice the timers by which `gotrace record` takes CPU samples without perf events
 *
 *     ticks storm            calls that a signal handler ends, while another thread sends this one what such a timer
 *                            sends: none may end but by its own time or by the program's own handler
 *     ticks busy ROUNDS      the same calls without a storm, so many times, by a thread that uses its processor
 *     ticks uses             SIGPROF belongs to the program once it has set a handler
 *     ticks pending          a SIGPROF that is pending before that is not lost
 *     ticks others           what other signals and children see of it
 *     ticks executes COUNT   executes itself so often, each time in the middle of its CPU time
 *     ticks dies HOW         of a SIGPROF of its own
 *     ticks stack            prints how many bytes of a stack a timer's signal uses
 *
 * Without the recorder it does the same, but for the storm, of which it would die. */

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAIL(...)                                                  \
  do {                                                             \
    fprintf(stderr, "ticks.c:%d: ", __LINE__);                     \
    fprintf(stderr, __VA_ARGS__);                                  \
    fprintf(stderr, " (%s, call of %s)\n", strerror(errno), call); \
    _exit(1);                                                      \
  } while (0)
#define CHECK(condition)                      \
  do {                                        \
    if (!(condition)) FAIL("%s", #condition); \
  } while (0)

static const char *call = "none";

static uint64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void burn(uint64_t nanoseconds) {
  uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + nanoseconds;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end) continue;
}

/* ------------------------------------------------------------------------------------------------------- calls ---- */

static long wait_for = 200000; /* nanoseconds that each call waits */
static atomic_uint handled;
static void handle(int number) {
  (void)number;
  atomic_fetch_add(&handled, 1u);
}

static struct timespec time_to_wait(void) { return (struct timespec){0, wait_for}; }
static struct timespec time_until(clockid_t clock) {
  uint64_t until = now(clock) + (uint64_t)wait_for;
  return (struct timespec){(time_t)(until / 1000000000), (long)(until % 1000000000)};
}
static int milliseconds(void) { return (int)(wait_for / 1000000); }

static int empty[2], sockets[2], set;
static sem_t semaphore;
static sigset_t none;

static void calls_poll(void) {
  struct pollfd one = {empty[0], POLLIN, 0};
  CHECK(poll(&one, 1, milliseconds()) == 0);
}
static void calls_poll_at_once(void) {
  struct pollfd one = {empty[0], POLLIN, 0};
  unsigned i;
  for (i = 0; i < 20; i++) CHECK(poll(&one, 1, 0) == 0);
}
static void calls_ppoll(void) {
  struct pollfd one = {empty[0], POLLIN, 0};
  struct timespec time = time_to_wait();
  CHECK(ppoll(&one, 1, &time, &none) == 0);
  CHECK(ppoll(&one, 1, &time, NULL) == 0);
  time.tv_nsec = 0;
  CHECK(ppoll(&one, 1, &time, &none) == 0);
}
static void calls_select(void) {
  struct timeval time = {0, wait_for / 1000};
  fd_set in;
  FD_ZERO(&in);
  FD_SET(empty[0], &in);
  CHECK(select(empty[0] + 1, &in, NULL, NULL, &time) == 0);
  time = (struct timeval){0, 0};
  FD_SET(empty[0], &in);
  CHECK(select(empty[0] + 1, &in, NULL, NULL, &time) == 0);
}
static void calls_pselect(void) {
  struct timespec time = time_to_wait();
  fd_set in;
  FD_ZERO(&in);
  FD_SET(empty[0], &in);
  CHECK(pselect(empty[0] + 1, &in, NULL, NULL, &time, &none) == 0);
}
static void calls_epoll(void) {
  struct epoll_event event;
  CHECK(epoll_wait(set, &event, 1, milliseconds()) == 0);
  CHECK(epoll_wait(set, &event, 1, 0) == 0);
  CHECK(epoll_pwait(set, &event, 1, milliseconds(), &none) == 0);
}
static void calls_sleep(void) {
  struct timespec time = time_to_wait(), rest = {7, 7};
  uint64_t begin = now(CLOCK_MONOTONIC);
  CHECK(nanosleep(&time, &rest) == 0 && rest.tv_sec == 7);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == 0);
  CHECK(usleep((useconds_t)(wait_for / 1000)) == 0);
  CHECK(now(CLOCK_MONOTONIC) - begin >= 3 * (uint64_t)wait_for);
  time = time_until(CLOCK_MONOTONIC);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == 0);
}
static void calls_semaphore(void) {
  struct timespec until = time_until(CLOCK_REALTIME);
  CHECK(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
}
static void calls_futex(void) {
  struct timespec time = time_to_wait();
  uint32_t word = 1;
  CHECK(syscall(SYS_futex, &word, 128 /* FUTEX_WAIT_PRIVATE */, 1, &time, NULL, 0) == -1 && errno == ETIMEDOUT);
}
static void calls_raw(void) {
  struct timespec time = time_to_wait();
  struct pollfd one = {empty[0], POLLIN, 0};
  struct epoll_event event;
  uint64_t mask = 0;
  struct {
    const uint64_t *mask;
    size_t size;
  } of_select = {&mask, sizeof mask};
  CHECK(syscall(SYS_ppoll, &one, 1, &time, &mask, sizeof mask) == 0);
  time = time_to_wait();
  CHECK(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &time, &of_select) == 0);
  CHECK(syscall(SYS_epoll_pwait, set, &event, 1, milliseconds(), &mask, sizeof mask) == 0);
}
static void calls_receive(void) {
  char byte;
  CHECK(recv(sockets[0], &byte, 1, 0) == -1 && errno == EAGAIN);
}
static void calls_message(void) {
  struct {
    long type;
    char text[8];
  } message = {1, "message"};
  int queue = msgget(IPC_PRIVATE, 0600);
  CHECK(queue >= 0 && msgsnd(queue, &message, sizeof message.text, 0) == 0);
  CHECK(msgrcv(queue, &message, sizeof message.text, 0, 0) == sizeof message.text);
  CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
}
static void calls_operations(void) {
  struct timespec time = time_to_wait();
  struct sembuf one = {0, -1, 0};
  int semaphores = semget(IPC_PRIVATE, 1, 0600);
  CHECK(semaphores >= 0);
  CHECK(semtimedop(semaphores, &one, 1, &time) == -1 && errno == EAGAIN);
  CHECK(semctl(semaphores, 0, IPC_RMID) == 0);
}
static void calls_signals(void) {
  struct timespec time = time_to_wait();
  sigset_t one;
  siginfo_t details;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  CHECK(sigtimedwait(&one, &details, &time) == -1 && errno == EAGAIN);
}

/* These go on after a handler with SA_RESTART. */
static void calls_child(void) {
  pid_t child = fork();
  if (child == 0) {
    usleep(2000);
    _exit(0);
  }
  CHECK(waitpid(child, NULL, 0) == child);
}

/* A transfer is whole, however long it takes: the other thread moves all in small parts. */
#define TRANSFERRED 300000
static int pipe_to[2], pipe_from[2];
static char data[TRANSFERRED], back[TRANSFERRED];
static void *echo(void *unused) {
  char part[5000];
  ssize_t size, done;
  while ((size = read(pipe_to[0], part, sizeof part)) > 0)
    for (done = 0; done < size;) {
      ssize_t n = send(pipe_from[1], part + done, (size_t)(size - done), 0);
      CHECK(n > 0);
      done += n;
    }
  return unused;
}
static void *send_all(void *unused) {
  CHECK(write(pipe_to[1], data, sizeof data) == sizeof data);
  return unused;
}
static void calls_transfer(void) {
  pthread_t writer;
  pthread_create(&writer, NULL, send_all, NULL);
  CHECK(recv(pipe_from[0], back, sizeof back, MSG_WAITALL) == sizeof back);
  CHECK(memcmp(data, back, sizeof data) == 0);
  pthread_join(writer, NULL);
}
static void *receive_all(void *unused) {
  CHECK(recv(pipe_from[0], back, sizeof back, MSG_WAITALL) == sizeof back);
  return unused;
}
static void calls_write(void) {
  pthread_t other;
  CHECK(pthread_create(&other, NULL, receive_all, NULL) == 0);
  CHECK(write(pipe_to[1], data, sizeof data) == sizeof data);
  pthread_join(other, NULL);
}

/* The program's own handler does end a wait. A call that takes a set of signals cannot miss it; to the others it is
 * sent until they have ended. */
static pthread_t main_thread;
static atomic_bool ended;
static bool has_mask;
static void *send_soon(void *unused) {
  do {
    usleep(300);
    pthread_kill(main_thread, SIGUSR1);
  } while (!has_mask && !atomic_load(&ended));
  return unused;
}
static void interrupted(const char *name, bool masked, int (*wait)(void)) {
  pthread_t sender;
  unsigned before = atomic_load(&handled);
  sigset_t one;
  call = name;
  has_mask = masked;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  if (masked) pthread_sigmask(SIG_BLOCK, &one, NULL);
  atomic_store(&ended, false);
  pthread_create(&sender, NULL, send_soon, NULL);
  if (wait() != -1 || errno != EINTR) FAIL("it was not interrupted");
  if (masked && atomic_load(&handled) != before + 1) FAIL("%u handlers have run", atomic_load(&handled) - before);
  if (atomic_load(&handled) == before) FAIL("no handler has run");
  atomic_store(&ended, true);
  pthread_join(sender, NULL);
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}
static int waits_in_poll(void) { return poll(NULL, 0, -1); }
static int waits_in_pause(void) { return pause(); }
static int waits_in_ppoll(void) { return ppoll(NULL, 0, NULL, &none); }
static int waits_in_pselect(void) { return pselect(0, NULL, NULL, NULL, NULL, &none); }
static int waits_in_epoll(void) {
  struct epoll_event event;
  return epoll_pwait(set, &event, 1, -1, &none);
}
static int waits_in_suspend(void) { return sigsuspend(&none); }
static int waits_in_raw_suspend(void) {
  uint64_t mask = 0;
  return (int)syscall(SYS_rt_sigsuspend, &mask, sizeof mask);
}
static int waits_in_sleep(void) {
  struct timespec time = {100, 0}, rest = {0, 0};
  int result = nanosleep(&time, &rest);
  if (rest.tv_sec < 90) FAIL("%ld seconds are left", (long)rest.tv_sec);
  return result;
}

static const struct {
  const char *name;
  void (*make)(void);
} all_calls[] = {
    {"poll", calls_poll},
    {"poll_at_once", calls_poll_at_once},
    {"ppoll", calls_ppoll},
    {"select", calls_select},
    {"pselect", calls_pselect},
    {"epoll", calls_epoll},
    {"sleep", calls_sleep},
    {"semaphore", calls_semaphore},
    {"futex", calls_futex},
    {"raw", calls_raw},
    {"receive", calls_receive},
    {"message", calls_message},
    {"operations", calls_operations},
    {"signals", calls_signals},
};

static void make_all_calls(bool transfers) {
  size_t i;
  for (i = 0; i < sizeof all_calls / sizeof all_calls[0]; i++) {
    call = all_calls[i].name;
    all_calls[i].make();
  }
  if (!transfers) return;
  call = "child", calls_child();
  call = "transfer", calls_transfer();
  call = "write", calls_write();
  interrupted("poll", false, waits_in_poll);
  interrupted("pause", false, waits_in_pause);
  interrupted("nanosleep", false, waits_in_sleep);
  interrupted("ppoll", true, waits_in_ppoll);
  interrupted("pselect", true, waits_in_pselect);
  interrupted("epoll_pwait", true, waits_in_epoll);
  interrupted("sigsuspend", true, waits_in_suspend);
  interrupted("rt_sigsuspend", true, waits_in_raw_suspend);
}

static void prepare(void) {
  struct timeval limit = {0, 1000};
  struct sigaction action;
  pthread_t echoes;
  size_t i;
  CHECK(pipe(empty) == 0 && pipe(pipe_to) == 0);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pipe_from) == 0);
  CHECK(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  set = epoll_create1(0);
  sem_init(&semaphore, 0, 0);
  sigemptyset(&none);
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, NULL);
  for (i = 0; i < sizeof data; i++) data[i] = (char)(i * 7);
  main_thread = pthread_self();
  pthread_create(&echoes, NULL, echo, NULL);
  pthread_detach(echoes);
}

/* Sends what a timer of the recorder's would: to this process, anybody may send anything. */
static void send_tick(pid_t thread) {
  siginfo_t details;
  memset(&details, 0, sizeof details);
  details.si_signo = SIGPROF;
  details.si_code = SI_TIMER;
  details.si_value.sival_ptr = (void *)(uintptr_t)0x676f7472; /* TICK_VALUE */
  syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, SIGPROF, &details);
}

static pid_t stormed;
static atomic_bool over;
static atomic_ulong sent;
static void *storm(void *unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  while (!atomic_load(&over)) {
    unsigned i;
    send_tick(stormed);
    atomic_fetch_add(&sent, 1ul);
    for (i = 0; i < 300; i++) atomic_load(&over);
    sched_yield();
  }
  return unused;
}

static int test_storm(void) {
  pthread_t thread;
  unsigned i;
  prepare();
  wait_for = 2000000;
  stormed = (pid_t)syscall(SYS_gettid);
  pthread_create(&thread, NULL, storm, NULL);
  for (i = 0; i < 30 || (atomic_load(&sent) <= 1000 && i < 3000); i++)
    make_all_calls(true); /* beside load, few are sent */
  atomic_store(&over, true);
  pthread_join(thread, NULL);
  printf("%s\n", atomic_load(&sent) > 1000 ? "many" : "few");
  return 0;
}

static int test_busy(unsigned rounds) {
  struct pollfd one;
  unsigned i, k;
  char byte = 1;
  prepare();
  wait_for = 1000;
  for (i = 0; i < rounds; i++) {
    make_all_calls(i % 1000 == 0);
    one = (struct pollfd){empty[0], POLLIN, 0};
    for (k = 0; k < 200; k++) {
      call = "pipe";
      CHECK(write(empty[1], &byte, 1) == 1 && poll(&one, 1, 1000) == 1 && read(empty[0], &byte, 1) == 1);
    }
  }
  printf("%u\n", rounds);
  return 0;
}

/* ------------------------------------------------------------------------------------------------ whose it is ---- */

static atomic_uint profiled, foreign;
static void profile(int number, siginfo_t *details, void *context) {
  (void)number, (void)context;
  atomic_fetch_add(details->si_code == SI_TIMER ? &foreign : &profiled, 1u);
}

static void *burn_all(void *unused) {
  burn(300000000);
  return unused;
}

static int test_uses(void) {
  struct itimerval each = {{0, 4000}, {0, 4000}};
  struct sigaction action, old;
  pthread_t threads[3];
  unsigned i;
  for (i = 0; i < 3; i++) pthread_create(&threads[i], NULL, burn_all, NULL);
  burn(50000000);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = profile;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  CHECK(sigaction(SIGPROF, &action, &old) == 0);
  CHECK(old.sa_handler == SIG_DFL && old.sa_flags == 0);
  burn(50000000);
  CHECK(atomic_load(&profiled) == 0);
  setitimer(ITIMER_PROF, &each, NULL);
  burn(100000000);
  for (i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  CHECK(atomic_load(&foreign) == 0);
  printf("%s\n", atomic_load(&profiled) > 10 ? "many" : "few");
  return 0;
}

/* A signal that is pending before stays so. */
static int test_pending(void) {
  struct sigaction action;
  sigset_t one, pending;
  sigemptyset(&one);
  sigaddset(&one, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &one, NULL);
  burn(30000000);
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGPROF) == 0);
  raise(SIGPROF);
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGPROF) == 1);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = profile;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGPROF, &action, NULL);
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
  CHECK(atomic_load(&profiled) == 1 && atomic_load(&foreign) == 0);
  return 0;
}

/* A thread that takes all signals gets none of the timer's. */
static void *send_later(void *unused) {
  burn(30000000);
  kill(getpid(), SIGUSR2);
  return unused;
}
static void *read_signal(void *unused) {
  struct signalfd_siginfo details;
  sigset_t all;
  int file;
  sigfillset(&all);
  burn(30000000);
  file = signalfd(-1, &all, 0);
  CHECK(read(file, &details, sizeof details) == sizeof details && details.ssi_signo == SIGUSR2);
  close(file);
  return unused;
}
static void test_waiting(void) {
  sigset_t all, old;
  siginfo_t details;
  pthread_t sender, reader;
  int number = 0;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &old);
  burn(30000000);
  pthread_create(&sender, NULL, send_later, NULL);
  CHECK(sigwait(&all, &number) == 0 && number == SIGUSR2);
  pthread_join(sender, NULL);
  burn(30000000);
  pthread_create(&sender, NULL, send_later, NULL);
  CHECK(sigwaitinfo(&all, &details) == SIGUSR2);
  pthread_join(sender, NULL);
  pthread_create(&reader, NULL, read_signal, NULL);
  usleep(1000);
  pthread_create(&sender, NULL, send_later, NULL);
  pthread_join(sender, NULL);
  pthread_join(reader, NULL);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Whether a process has the signal blocked, pending, or ignored: lines of its status. */
static void print_status(const char *of) {
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, file))
    if (strncmp(line, "SigBlk", 6) == 0 || strncmp(line, "SigPnd", 6) == 0 || strncmp(line, "SigIgn", 6) == 0)
      printf("%s %s", of, line);
  fclose(file);
  fflush(stdout);
}
static void fork_in_handler(int number) {
  (void)number;
  if (fork() == 0) {
    print_status("of a handler");
    execlp("sh", "sh", "-c", "grep SigBlk /proc/self/status", (char *)NULL);
  }
  wait(NULL);
}
static int test_others(void) {
  sigset_t blocked;
  struct sigaction old;
  int status;
  stack_t stack;
  burn(30000000);
  CHECK(sigaction(SIGPROF, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && sigismember(&blocked, SIGPROF) == 0);
  CHECK(sigaltstack(NULL, &stack) == 0 && stack.ss_flags == SS_DISABLE);
  usleep(1000);
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && sigismember(&blocked, SIGPROF) == 0);
  if (fork() == 0) {
    burn(30000000);
    print_status("child");
    _exit(0);
  }
  wait(&status);
  CHECK(status == 0);
  if (vfork() == 0) {
    unsigned i;
    for (i = 1; i < 32; i++) signal((int)i, SIG_DFL);
    execlp("sh", "sh", "-c", "grep 'Sig[BPI]' /proc/self/status", (char *)NULL);
    _exit(127);
  }
  wait(&status);
  CHECK(status == 0);
  CHECK(system("grep 'Sig[BPI]' /proc/self/status") == 0);
  signal(SIGUSR1, fork_in_handler);
  main_thread = pthread_self();
  {
    pthread_t sender;
    has_mask = true;
    pthread_create(&sender, NULL, send_soon, NULL);
    poll(NULL, 0, 100);
    pthread_join(sender, NULL);
  }
  burn(30000000);
  test_waiting();
  return 0;
}

static int test_executes(int count, char *program) {
  char left[16];
  burn(5000000 + (uint64_t)count * 7919);
  if (count == 0) {
    print_status("at last");
    return 0;
  }
  snprintf(left, sizeof left, "%d", count - 1);
  execl(program, program, "executes", left, (char *)NULL);
  return 127;
}

static int test_dies(const char *how) {
  struct itimerval each = {{0, 20000}, {0, 20000}};
  burn(20000000);
  if (strcmp(how, "timer") == 0) {
    setitimer(ITIMER_PROF, &each, NULL);
    burn(2000000000);
  }
  if (strcmp(how, "raise") == 0) raise(SIGPROF);
  if (strcmp(how, "own") == 0) { /* a timer with another value */
    struct sigevent event;
    struct itimerspec soon = {{0, 0}, {0, 1000000}};
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGPROF;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    burn(2000000000);
  }
  return 1;
}

/* What the signal leaves on an alternate stack, on which the thread is; filled with a pattern before. */
static unsigned char small_stack[65536];
static void use_stack(int number) {
  unsigned char *here = (unsigned char *)__builtin_frame_address(0), *at;
  (void)number;
  for (at = small_stack; at < here - 512; at++) *at = 0xa5;
  send_tick((pid_t)syscall(SYS_gettid));
  for (at = small_stack; *at == 0xa5; at++) continue;
  printf("%ld\n", (long)(here - at));
}
static int test_stack(void) {
  stack_t stack = {.ss_sp = small_stack, .ss_size = sizeof small_stack};
  struct sigaction action;
  sigaltstack(&stack, NULL);
  memset(&action, 0, sizeof action);
  action.sa_handler = use_stack;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  return 0;
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "";
  if (strcmp(what, "storm") == 0) return test_storm();
  if (strcmp(what, "busy") == 0 && count > 2) return test_busy((unsigned)atoi(words[2]));
  if (strcmp(what, "uses") == 0) return test_uses();
  if (strcmp(what, "pending") == 0) return test_pending();
  if (strcmp(what, "others") == 0) return test_others();
  if (strcmp(what, "executes") == 0 && count > 2) return test_executes(atoi(words[2]), words[0]);
  if (strcmp(what, "dies") == 0 && count > 2) return test_dies(words[2]);
  if (strcmp(what, "stack") == 0) return test_stack();
  return 2;
}
