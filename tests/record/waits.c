/* waits.c - waits of every kind, of known length, ended by known threads
 *
 * Each function below waits once, on a thread of its own. The main thread sees it asleep (in /proc), lets some time
 * pass, ends the wait, and prints a line that waits.py compares with the trace:
 *
 *     FUNCTION|REASON|FUNCTION THAT ENDS THE WAIT; - if none in this process|LEAST NANOSECONDS
 *
 * Built with -rdynamic, so that the trace has the functions' names. It contains no call of the tracer. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define MUST(condition) must((condition), #condition, __LINE__)
static void must(bool holds, const char *text, int line) {
  if (holds) return;
  fprintf(stderr, "waits.c:%d: %s: %s\n", line, text, strerror(errno));
  exit(1);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct timespec from_now(clockid_t clock, int seconds) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_sec += seconds;
  return t;
}

static int waiter; /* the waiter's thread id, once it is about to wait */
static pthread_t waiter_thread;

#define WAITER(name)        \
  void *name(void *unused); \
  void *name(void *unused)
#define ABOUT_TO_WAIT() (void)unused, __atomic_store_n(&waiter, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST)

static char state_of(int thread) {
  char path[64], text[512], *at;
  FILE *file;
  size_t size;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  file = fopen(path, "r");
  if (!file) return 0;
  size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = 0;
  at = strrchr(text, ')');
  return at ? at[2] : 0;
}

static void yield(void) {
  struct timespec time = {0, 200000};
  nanosleep(&time, NULL);
}

/* Returns when the waiter was found asleep twice in a row. */
static int64_t when_asleep(void) {
  int seen = 0;
  while (!__atomic_load_n(&waiter, __ATOMIC_SEQ_CST)) yield();
  while (seen < 2) {
    yield();
    seen = state_of(waiter) == 'S' ? seen + 1 : 0;
  }
  return now();
}

static int64_t when_spinning(void) {
  clockid_t clock;
  struct timespec used;
  while (!__atomic_load_n(&waiter, __ATOMIC_SEQ_CST)) yield();
  MUST(pthread_getcpuclockid(waiter_thread, &clock) == 0);
  do {
    yield();
    MUST(clock_gettime(clock, &used) == 0);
  } while (used.tv_sec == 0 && used.tv_nsec < 50000000);
  return now();
}

static void start(void *(*function)(void *)) {
  __atomic_store_n(&waiter, 0, __ATOMIC_SEQ_CST);
  MUST(pthread_create(&waiter_thread, NULL, function, NULL) == 0);
}

/* Some time passes; then `action` ends the wait. */
#define RUN_AFTER(name, reason, ender, asleep, action)                           \
  do {                                                                           \
    struct timespec some_time = {0, 3000000};                                    \
    int64_t begin;                                                               \
    start(name);                                                                 \
    begin = asleep();                                                            \
    nanosleep(&some_time, NULL);                                                 \
    printf("%s|%s|%s|%lld\n", #name, reason, ender, (long long)(now() - begin)); \
    action;                                                                      \
    MUST(pthread_join(waiter_thread, NULL) == 0);                                \
  } while (0)
#define RUN(name, reason, ender, action) RUN_AFTER(name, reason, ender, when_asleep, action)

/* A wait that ends by itself. */
#define RUN_ALONE(name, reason, least)            \
  do {                                            \
    start(name);                                  \
    MUST(pthread_join(waiter_thread, NULL) == 0); \
    printf("%s|%s|-|%d\n", #name, reason, least); \
  } while (0)

/* ------------------------------------------------------------------------------------------------------- locks ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
WAITER(wait_mutex) {
  ABOUT_TO_WAIT();
  MUST(pthread_mutex_lock(&mutex) == 0);
  pthread_mutex_unlock(&mutex);
  return NULL;
}
WAITER(wait_mutex_timed) {
  struct timespec until = from_now(CLOCK_REALTIME, 600);
  ABOUT_TO_WAIT();
  MUST(pthread_mutex_timedlock(&mutex, &until) == 0);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
WAITER(wait_read_lock) {
  ABOUT_TO_WAIT();
  MUST(pthread_rwlock_rdlock(&lock) == 0);
  pthread_rwlock_unlock(&lock);
  return NULL;
}
WAITER(wait_write_lock) {
  ABOUT_TO_WAIT();
  MUST(pthread_rwlock_wrlock(&lock) == 0);
  pthread_rwlock_unlock(&lock);
  return NULL;
}
WAITER(wait_write_lock_timed) {
  struct timespec until = from_now(CLOCK_REALTIME, 600);
  ABOUT_TO_WAIT();
  MUST(pthread_rwlock_timedwrlock(&lock, &until) == 0);
  pthread_rwlock_unlock(&lock);
  return NULL;
}
/* Two readers: only the unlock by the last one ends the writer's wait. */
static sem_t reader_may_go;
void *reader(void *unused);
void *reader(void *unused) {
  (void)unused;
  MUST(pthread_rwlock_rdlock(&lock) == 0);
  sem_post(&reader_may_go);
  when_asleep();
  pthread_rwlock_unlock(&lock);
  return NULL;
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool told;
WAITER(wait_condition) {
  pthread_mutex_lock(&mutex);
  ABOUT_TO_WAIT();
  while (!told) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return NULL;
}
WAITER(wait_condition_timed) {
  struct timespec until = from_now(CLOCK_REALTIME, 600);
  pthread_mutex_lock(&mutex);
  ABOUT_TO_WAIT();
  while (!told) pthread_cond_timedwait(&condition, &mutex, &until);
  pthread_mutex_unlock(&mutex);
  return NULL;
}
WAITER(wait_condition_alone) {
  struct timespec until;
  (void)unused;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 20000000;
  if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
  pthread_mutex_lock(&mutex);
  while (pthread_cond_timedwait(&condition, &mutex, &until) == 0) continue;
  pthread_mutex_unlock(&mutex);
  return NULL;
}
static void tell(bool all) {
  pthread_mutex_lock(&mutex);
  told = true;
  if (all) pthread_cond_broadcast(&condition);
  else pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
}

static pthread_barrier_t barrier;
WAITER(wait_barrier) {
  ABOUT_TO_WAIT();
  pthread_barrier_wait(&barrier);
  return NULL;
}

static sem_t semaphore;
WAITER(wait_semaphore) {
  ABOUT_TO_WAIT();
  MUST(sem_wait(&semaphore) == 0);
  return NULL;
}
WAITER(wait_semaphore_timed) {
  struct timespec until = from_now(CLOCK_REALTIME, 600);
  ABOUT_TO_WAIT();
  MUST(sem_timedwait(&semaphore, &until) == 0);
  return NULL;
}

/* The main thread names the waiter while it waits, then the waiter names itself. */
WAITER(wait_named) {
  ABOUT_TO_WAIT();
  MUST(sem_wait(&semaphore) == 0);
  usleep(1);
  MUST(pthread_setname_np(pthread_self(), "own_name") == 0);
  return NULL;
}

static pthread_spinlock_t spin;
WAITER(wait_spin) {
  ABOUT_TO_WAIT();
  pthread_spin_lock(&spin);
  pthread_spin_unlock(&spin);
  return NULL;
}

static pthread_t joined;
static sem_t may_end;
void *ends(void *unused);
void *ends(void *unused) {
  (void)unused;
  sem_wait(&may_end);
  return NULL;
}
void *exits(void *unused);
void *exits(void *unused) {
  (void)unused;
  sem_wait(&may_end);
  pthread_exit(NULL);
}
WAITER(wait_join) {
  ABOUT_TO_WAIT();
  MUST(pthread_join(joined, NULL) == 0);
  return NULL;
}
WAITER(wait_join_exit) {
  ABOUT_TO_WAIT();
  MUST(pthread_join(joined, NULL) == 0);
  return NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void initialize(void) { sem_post(&reader_may_go), sem_wait(&may_end); }
void *first(void *unused);
void *first(void *unused) {
  (void)unused;
  pthread_once(&once, initialize);
  return NULL;
}
WAITER(wait_once) {
  ABOUT_TO_WAIT();
  pthread_once(&once, initialize);
  return NULL;
}

/* Clean-up handlers of a cancelled thread. In musl, they count as signal handlers. */
static void post(void *unused) { (void)unused, sem_post(&semaphore); }
void *is_cancelled(void *unused);
void *is_cancelled(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(post, NULL);
  sem_post(&reader_may_go);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(0);
  return unused;
}
WAITER(wait_cancelled) {
  ABOUT_TO_WAIT();
  MUST(sem_wait(&semaphore) == 0);
  return NULL;
}
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__i386__))
#define CANCELLED_ENDS "is_cancelled"
#else
#define CANCELLED_ENDS "-"
#endif

/* --------------------------------------------------------------------------------------------------------- C11 ---- */

static mtx_t mtx;
static cnd_t cnd;
static thrd_t thrd;
int ends_c11(void *unused);
int ends_c11(void *unused) {
  (void)unused;
  sem_wait(&may_end);
  return 7;
}
WAITER(wait_mtx) {
  ABOUT_TO_WAIT();
  MUST(mtx_lock(&mtx) == thrd_success);
  mtx_unlock(&mtx);
  return NULL;
}
WAITER(wait_cnd) {
  mtx_lock(&mtx);
  ABOUT_TO_WAIT();
  while (!told) cnd_wait(&cnd, &mtx);
  mtx_unlock(&mtx);
  return NULL;
}
WAITER(wait_thrd_join) {
  int value = 0;
  ABOUT_TO_WAIT();
  MUST(thrd_join(thrd, &value) == thrd_success && value == 7);
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------- sleep ---- */

static const struct timespec twenty = {0, 20000000};
WAITER(wait_nanosleep) {
  (void)unused;
  nanosleep(&twenty, NULL);
  return NULL;
}
WAITER(wait_clock_nanosleep) {
  (void)unused;
  clock_nanosleep(CLOCK_MONOTONIC, 0, &twenty, NULL);
  return NULL;
}
WAITER(wait_usleep) {
  (void)unused;
  usleep(20000);
  return NULL;
}
WAITER(wait_thrd_sleep) {
  (void)unused;
  thrd_sleep(&twenty, NULL);
  return NULL;
}
WAITER(wait_select_sleep) {
  struct timeval t = {0, 20000};
  (void)unused;
  select(0, NULL, NULL, NULL, &t);
  return NULL;
}
WAITER(wait_poll_alone) {
  (void)unused;
  poll(NULL, 0, 20);
  return NULL;
}

/* ------------------------------------------------------------------------------------------------- descriptors ---- */

static int pipe_ends[2], event, pair[2], set, full[2], listener;
static char byte, much[65536];
WAITER(wait_pipe) {
  ABOUT_TO_WAIT();
  MUST(read(pipe_ends[0], &byte, 1) == 1);
  return NULL;
}
/* A pipe by the descriptors of an earlier one, from which something was read. The earlier one is closed, and the new
 * one made, by system calls, which do not tell the tracer that the descriptors are another pipe's. */
static int reused[2];
static void reuse_pipe(void) {
  const struct timespec until_it_looks = {0, 200000000};
  int again[2];
  MUST(pipe(reused) == 0);
  MUST(syscall(SYS_write, reused[1], "x", 1) == 1 && read(reused[0], &byte, 1) == 1);
  MUST(syscall(SYS_close, reused[0]) == 0 && syscall(SYS_close, reused[1]) == 0);
  nanosleep(&until_it_looks, NULL);
  MUST(syscall(SYS_pipe2, again, 0) == 0 && again[0] == reused[0] && again[1] == reused[1]);
}
WAITER(wait_reused_pipe) {
  ABOUT_TO_WAIT();
  MUST(read(reused[0], &byte, 1) == 1);
  return NULL;
}
WAITER(wait_pipe_readv) {
  struct iovec part = {&byte, 1};
  ABOUT_TO_WAIT();
  MUST(readv(pipe_ends[0], &part, 1) == 1);
  return NULL;
}
WAITER(wait_event) {
  uint64_t value;
  ABOUT_TO_WAIT();
  MUST(read(event, &value, 8) == 8);
  return NULL;
}
WAITER(wait_eventfd_read) {
  eventfd_t value;
  ABOUT_TO_WAIT();
  MUST(eventfd_read(event, &value) == 0);
  return NULL;
}
WAITER(wait_full_socket) {
  ABOUT_TO_WAIT();
  MUST(write(pair[0], much, sizeof much) == (ssize_t)sizeof much);
  return NULL;
}
WAITER(wait_recv) {
  ABOUT_TO_WAIT();
  MUST(recv(pair[0], &byte, 1, 0) == 1);
  return NULL;
}
WAITER(wait_socket_read) {
  ABOUT_TO_WAIT();
  MUST(read(pair[0], &byte, 1) == 1);
  return NULL;
}
WAITER(wait_recvmsg) {
  struct iovec part = {&byte, 1};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = &part, message.msg_iovlen = 1;
  ABOUT_TO_WAIT();
  MUST(recvmsg(pair[0], &message, 0) == 1);
  return NULL;
}
WAITER(wait_full_pipe) {
  ABOUT_TO_WAIT();
  MUST(write(full[1], &byte, 1) == 1);
  return NULL;
}
WAITER(wait_accept) {
  int fd;
  ABOUT_TO_WAIT();
  fd = accept(listener, NULL, NULL);
  MUST(fd >= 0);
  close(fd);
  return NULL;
}
WAITER(wait_poll) {
  struct pollfd p = {pipe_ends[0], POLLIN, 0};
  ABOUT_TO_WAIT();
  MUST(poll(&p, 1, -1) == 1 && read(pipe_ends[0], &byte, 1) == 1);
  return NULL;
}
WAITER(wait_ppoll) {
  struct pollfd p = {event, POLLIN, 0};
  uint64_t value;
  ABOUT_TO_WAIT();
  MUST(ppoll(&p, 1, NULL, NULL) == 1 && read(event, &value, 8) == 8);
  return NULL;
}
WAITER(wait_select) {
  fd_set in;
  FD_ZERO(&in);
  FD_SET(pipe_ends[0], &in);
  ABOUT_TO_WAIT();
  MUST(select(pipe_ends[0] + 1, &in, NULL, NULL, NULL) == 1 && read(pipe_ends[0], &byte, 1) == 1);
  return NULL;
}
WAITER(wait_epoll) {
  struct epoll_event found;
  uint64_t value;
  ABOUT_TO_WAIT();
  MUST(epoll_wait(set, &found, 1, -1) == 1 && read(event, &value, 8) == 8);
  return NULL;
}
WAITER(wait_epoll_pwait) {
  struct epoll_event found;
  uint64_t value;
  ABOUT_TO_WAIT();
  MUST(epoll_pwait(set, &found, 1, -1, NULL) == 1 && read(event, &value, 8) == 8);
  return NULL;
}
static int locked;
WAITER(wait_flock) {
  int fd = open("/proc/self/fd/0", O_RDONLY);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", locked);
  if (fd >= 0) close(fd);
  fd = open(path, O_RDWR); /* another open file description */
  MUST(fd >= 0);
  ABOUT_TO_WAIT();
  MUST(flock(fd, LOCK_EX) == 0);
  close(fd);
  return NULL;
}

/* ------------------------------------------------------------------------------------------------ system calls ---- */

static uint32_t word;
WAITER(wait_futex) {
  ABOUT_TO_WAIT();
  while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST)) syscall(SYS_futex, &word, 0, 0, NULL, NULL, 0);
  return NULL;
}
static pid_t child;
#define CHILD_WAITER(name, call) \
  WAITER(name) {                 \
    int status;                  \
    ABOUT_TO_WAIT();             \
    MUST((call) == child);       \
    return NULL;                 \
  }
CHILD_WAITER(wait_child, waitpid(child, &status, 0))
CHILD_WAITER(wait_any_child, wait(&status))
CHILD_WAITER(wait3_child, wait3(&status, 0, NULL))
CHILD_WAITER(wait4_child, wait4(child, &status, 0, NULL))
CHILD_WAITER(waitid_child, (status = waitid(P_PID, (id_t)child, NULL, WEXITED)) == 0 ? child : -1)
CHILD_WAITER(syscall_child, syscall(SYS_wait4, child, &status, 0, NULL))
WAITER(wait_system) {
  ABOUT_TO_WAIT();
  MUST(system("sleep 0.01") == 0);
  return NULL;
}
WAITER(wait_signal) {
  sigset_t signals;
  int number;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  ABOUT_TO_WAIT();
  MUST(sigwait(&signals, &number) == 0 && number == SIGUSR1);
  return NULL;
}

/* Each leaves a wait for as many descriptors as the library remembers of one. */
WAITER(is_cancelled_in_poll) {
  struct pollfd all[8];
  int i;
  for (i = 0; i < 8; i++) all[i].fd = pipe_ends[0], all[i].events = POLLIN;
  ABOUT_TO_WAIT();
  poll(all, 8, -1);
  return NULL;
}
static void cancel_many_polls(void) {
  int i;
  for (i = 0; i < 600; i++) {
    start(is_cancelled_in_poll);
    when_asleep();
    pthread_cancel(waiter_thread);
    MUST(pthread_join(waiter_thread, NULL) == 0);
  }
}

/* Does not change what the parent's descriptors are. */
static void close_in_vfork_child(int fd) {
  pid_t closes = vfork();
  if (closes == 0) {
    close(fd);
    _exit(0);
  }
  MUST(waitpid(closes, NULL, 0) == closes);
}

static void put_byte(int fd) { MUST(write(fd, "x", 1) == 1); }

/* ----------------------------------------------------------------------------- queues, streams, rarely used calls ----
 */

static int semaphores, messages, fifo_end, lock_file;
static mqd_t queue;
static FILE *stream;
static char folder[] = "/tmp/waits.XXXXXX", fifo[64], text[64];

WAITER(wait_semop) {
  struct sembuf take = {0, -1, 0};
  ABOUT_TO_WAIT();
  MUST(semop(semaphores, &take, 1) == 0);
  return NULL;
}
WAITER(wait_msgrcv) {
  long message[2];
  ABOUT_TO_WAIT();
  MUST(msgrcv(messages, message, sizeof(long), 0, 0) == (ssize_t)sizeof(long));
  return NULL;
}
WAITER(wait_mq_receive) {
  ABOUT_TO_WAIT();
  MUST(mq_receive(queue, text, 8, NULL) == 1);
  return NULL;
}
WAITER(wait_recvmmsg) {
  struct iovec part = {&byte, 1};
  struct mmsghdr message;
  memset(&message, 0, sizeof message);
  message.msg_hdr.msg_iov = &part, message.msg_hdr.msg_iovlen = 1;
  ABOUT_TO_WAIT();
  MUST(recvmmsg(pair[0], &message, 1, 0, NULL) == 1);
  return NULL;
}
WAITER(wait_splice) {
  ABOUT_TO_WAIT();
  MUST(splice(pipe_ends[0], NULL, full[1], NULL, 1, 0) == 1);
  return NULL;
}
WAITER(wait_fgets) {
  ABOUT_TO_WAIT();
  MUST(fgets(text, sizeof text, stream) && strcmp(text, "a line\n") == 0);
  return NULL;
}
WAITER(wait_fread) {
  ABOUT_TO_WAIT();
  MUST(fread(text, 3, 2, stream) == 2);
  return NULL;
}
WAITER(wait_getc) {
  ABOUT_TO_WAIT();
  MUST(getc(stream) == 'c');
  return NULL;
}
WAITER(wait_lockf) {
  ABOUT_TO_WAIT();
  MUST(lockf(lock_file, F_LOCK, 1) == 0);
  return NULL;
}
WAITER(wait_open_fifo) {
  ABOUT_TO_WAIT();
  fifo_end = open(fifo, O_RDONLY);
  MUST(fifo_end >= 0);
  return NULL;
}
WAITER(wait_aio_suspend) {
  static struct aiocb block;
  const struct aiocb *list[] = {&block};
  block.aio_fildes = pipe_ends[0];
  block.aio_buf = &byte;
  block.aio_nbytes = 1;
  MUST(aio_read(&block) == 0);
  ABOUT_TO_WAIT();
  while (aio_error(&block) == EINPROGRESS) aio_suspend(list, 1, NULL);
  return NULL;
}
WAITER(wait_syscall_nanosleep) {
  (void)unused;
  syscall(SYS_nanosleep, &twenty, NULL);
  return NULL;
}
WAITER(wait_syscall_ppoll) {
  struct timespec time = twenty;
  (void)unused;
  syscall(SYS_ppoll, NULL, 0, &time, NULL, 8);
  return NULL;
}
WAITER(wait_io_getevents) {
  unsigned long context = 0;
  char events[32];
  struct timespec time = twenty;
  (void)unused;
  MUST(syscall(SYS_io_setup, 1, &context) == 0);
  syscall(SYS_io_getevents, context, 1L, 1L, events, &time);
  syscall(SYS_io_destroy, context);
  return NULL;
}

/* Until the waiter has written all and nothing is left. */
static void empty_socket(void) {
  char data[4096];
  while (recv(pair[1], data, sizeof data, MSG_DONTWAIT) > 0 || state_of(waiter)) continue;
}

static void put_text(const char *put) { MUST(write(pipe_ends[1], put, strlen(put)) == (ssize_t)strlen(put)); }

static void release_semaphore(void) {
  struct sembuf give = {0, 1, 0};
  MUST(semop(semaphores, &give, 1) == 0);
}

static void send_message(void) {
  long message[2] = {1, 2};
  MUST(msgsnd(messages, message, sizeof(long), 0) == 0);
}

/* Holds a lock on the file until it is killed: locks belong to processes. */
static pid_t lock_in_child(void) {
  int ends_of_pipe[2];
  pid_t holder;
  MUST(pipe(ends_of_pipe) == 0);
  holder = fork();
  if (holder == 0) {
    if (lockf(lock_file, F_LOCK, 1) == 0 && write(ends_of_pipe[1], "", 1) == 1)
      for (;;) pause();
    _exit(1);
  }
  MUST(read(ends_of_pipe[0], &byte, 1) == 1);
  return holder;
}

static void run_rare(void) {
  struct mq_attr attributes;
  char name[64];
  pid_t holder;
  int other_end;
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  messages = msgget(IPC_PRIVATE, 0600);
  MUST(semaphores >= 0 && messages >= 0);
  RUN(wait_semop, "sync: semaphore", "-", release_semaphore());
  RUN(wait_msgrcv, "message queue", "-", send_message());
  semctl(semaphores, 0, IPC_RMID);
  msgctl(messages, IPC_RMID, NULL);
  memset(&attributes, 0, sizeof attributes);
  attributes.mq_maxmsg = 4, attributes.mq_msgsize = 8;
  snprintf(name, sizeof name, "/waits.%d", (int)getpid());
  queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
  if (queue != (mqd_t)-1) { /* a system may have none */
    mq_unlink(name);
    RUN(wait_mq_receive, "message queue", "-", MUST(mq_send(queue, "x", 1, 0) == 0));
  }
  RUN(wait_recvmmsg, "network", "main", MUST(send(pair[1], "x", 1, 0) == 1));
  RUN(wait_splice, "pipe", "main", put_byte(pipe_ends[1]));
  stream = fdopen(dup(pipe_ends[0]), "r");
  MUST(stream != NULL);
  RUN(wait_fgets, "pipe", "main", put_text("a line\n"));
  RUN(wait_fread, "pipe", "main", put_text("sixsix"));
  RUN(wait_getc, "pipe", "main", put_text("c"));
  MUST(mkdtemp(folder) != NULL);
  snprintf(fifo, sizeof fifo, "%s/fifo", folder);
  MUST(mkfifo(fifo, 0600) == 0);
  RUN(wait_open_fifo, "(system call)", "-", other_end = open(fifo, O_WRONLY));
  MUST(other_end >= 0);
  unlink(fifo);
  lock_file = open(fifo, O_RDWR | O_CREAT, 0600);
  MUST(lock_file >= 0);
  unlink(fifo), rmdir(folder);
  holder = lock_in_child();
  RUN(wait_lockf, "sync: file lock", "-", kill(holder, SIGKILL));
  MUST(waitpid(holder, NULL, 0) == holder);
  RUN(wait_aio_suspend, "asynchronous I/O", "-", put_byte(pipe_ends[1]));
  RUN_ALONE(wait_syscall_nanosleep, "sleep", 20000000);
  RUN_ALONE(wait_syscall_ppoll, "select: poll", 20000000);
  RUN_ALONE(wait_io_getevents, "asynchronous I/O", 20000000);
}

static uint64_t one = 1;

static void set_event(void) { MUST(write(event, &one, 8) == 8); }

static void run_locks(void) {
  pthread_t other;
  pthread_mutex_lock(&mutex);
  RUN(wait_mutex, "sync: mutex", "main", pthread_mutex_unlock(&mutex));
  pthread_mutex_lock(&mutex);
  RUN(wait_mutex_timed, "sync: mutex", "main", pthread_mutex_unlock(&mutex));
  pthread_rwlock_wrlock(&lock);
  RUN(wait_read_lock, "sync: read lock", "main", pthread_rwlock_unlock(&lock));
  pthread_rwlock_wrlock(&lock);
  RUN(wait_write_lock, "sync: write lock", "main", pthread_rwlock_unlock(&lock));
  pthread_rwlock_rdlock(&lock);
  sem_init(&reader_may_go, 0, 0);
  __atomic_store_n(&waiter, 0, __ATOMIC_SEQ_CST);
  MUST(pthread_create(&other, NULL, reader, NULL) == 0);
  sem_wait(&reader_may_go);
  RUN(wait_write_lock_timed, "sync: write lock", "main", (pthread_join(other, NULL), pthread_rwlock_unlock(&lock)));
}

static pid_t start_child(void) {
  pid_t started = fork();
  if (started == 0)
    for (;;) pause();
  return started;
}

#define RUN_CHILD(name)                                    \
  do {                                                     \
    child = start_child();                                 \
    RUN(name, "child process", "-", kill(child, SIGKILL)); \
  } while (0)

int main(void) {
  sigset_t signals;
  struct epoll_event interest;
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  pthread_t other;
  char name[] = "/tmp/waits.XXXXXX";
  int fd;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  sem_init(&may_end, 0, 0);

  run_locks();
  RUN(wait_condition, "sync: condition variable", "main", tell(false));
  told = false;
  RUN(wait_condition_timed, "sync: condition variable", "main", tell(true));
  RUN_ALONE(wait_condition_alone, "sync: condition variable", 15000000);
  MUST(pthread_barrier_init(&barrier, NULL, 2) == 0);
  RUN(wait_barrier, "sync: barrier", "main", pthread_barrier_wait(&barrier));
  sem_init(&semaphore, 0, 0);
  RUN(wait_semaphore, "sync: semaphore", "main", sem_post(&semaphore));
  RUN(wait_semaphore_timed, "sync: semaphore", "main", sem_post(&semaphore));
  RUN(wait_named, "sync: semaphore", "main", (pthread_setname_np(waiter_thread, "from_main"), sem_post(&semaphore)));
  pthread_spin_init(&spin, 0);
  pthread_spin_lock(&spin);
  RUN_AFTER(wait_spin, "sync: spin lock", "main", when_spinning, pthread_spin_unlock(&spin));
  MUST(pthread_create(&joined, NULL, ends, NULL) == 0);
  RUN(wait_join, "sync: join", "ends", sem_post(&may_end));
  MUST(pthread_create(&joined, NULL, exits, NULL) == 0);
  RUN(wait_join_exit, "sync: join", "exits", sem_post(&may_end));
  MUST(pthread_create(&other, NULL, first, NULL) == 0);
  sem_wait(&reader_may_go);
  RUN(wait_once, "sync: once", "first", sem_post(&may_end));
  pthread_join(other, NULL);
  MUST(pthread_create(&other, NULL, is_cancelled, NULL) == 0);
  sem_wait(&reader_may_go);
  RUN(wait_cancelled, "sync: semaphore", CANCELLED_ENDS, pthread_cancel(other));
  pthread_mutex_unlock(&mutex);
  pthread_join(other, NULL);

  mtx_init(&mtx, mtx_plain);
  mtx_lock(&mtx);
  RUN(wait_mtx, "sync: mutex", "main", mtx_unlock(&mtx));
  cnd_init(&cnd);
  told = false;
  RUN(wait_cnd, "sync: condition variable", "main", (mtx_lock(&mtx), told = true, cnd_signal(&cnd), mtx_unlock(&mtx)));
  MUST(thrd_create(&thrd, ends_c11, NULL) == thrd_success);
  RUN(wait_thrd_join, "sync: join", "ends_c11", sem_post(&may_end));

  RUN_ALONE(wait_nanosleep, "sleep", 20000000);
  RUN_ALONE(wait_clock_nanosleep, "sleep", 20000000);
  RUN_ALONE(wait_usleep, "sleep", 20000000);
  RUN_ALONE(wait_thrd_sleep, "sleep", 20000000);
  RUN_ALONE(wait_select_sleep, "sleep", 20000000);
  RUN_ALONE(wait_poll_alone, "select: poll", 20000000);

  MUST(pipe(pipe_ends) == 0 && pipe(full) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  event = eventfd(0, 0);
  set = epoll_create1(0);
  memset(&interest, 0, sizeof interest);
  interest.events = EPOLLIN;
  cancel_many_polls();
  MUST(event >= 0 && set >= 0 && epoll_ctl(set, EPOLL_CTL_ADD, event, &interest) == 0);
  RUN(wait_pipe, "pipe", "main", put_byte(pipe_ends[1]));
  RUN(wait_pipe_readv, "pipe", "main", put_byte(pipe_ends[1]));
  reuse_pipe();
  RUN(wait_reused_pipe, "pipe", "main", put_byte(reused[1]));
  close(reused[0]), close(reused[1]);
  RUN(wait_event, "event descriptor", "main", set_event());
  RUN(wait_eventfd_read, "event descriptor", "main", MUST(eventfd_write(event, 1) == 0));
  while (send(pair[0], much, sizeof much, MSG_DONTWAIT) > 0) continue;
  RUN(wait_full_socket, "network", "main", empty_socket());
  RUN(wait_recv, "network", "main", MUST(send(pair[1], "x", 1, 0) == 1));
  RUN(wait_socket_read, "network", "main", put_byte(pair[1]));
  RUN(wait_recvmsg, "network", "main", put_byte(pair[1]));
  MUST(fcntl(full[1], F_SETFL, O_NONBLOCK) == 0);
  while (write(full[1], name, 1) == 1) continue;
  MUST(fcntl(full[1], F_SETFL, 0) == 0);
  RUN(wait_full_pipe, "pipe full", "main", MUST(read(full[0], much, sizeof much) > 0));
  RUN(wait_poll, "select: poll", "main", put_byte(pipe_ends[1]));
  RUN(wait_ppoll, "select: poll", "main", set_event());
  RUN(wait_select, "select", "-", put_byte(pipe_ends[1]));
  close_in_vfork_child(event);
  RUN(wait_epoll, "select: epoll", "main", set_event());
  RUN(wait_epoll_pwait, "select: epoll", "main", set_event());

  listener = socket(AF_INET, SOCK_STREAM, 0);
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  MUST(bind(listener, (struct sockaddr *)(void *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
  MUST(getsockname(listener, (struct sockaddr *)(void *)&address, &length) == 0);
  fd = socket(AF_INET, SOCK_STREAM, 0);
  RUN(wait_accept, "network", "-", MUST(connect(fd, (struct sockaddr *)(void *)&address, length) == 0));

  locked = mkstemp(name);
  MUST(locked >= 0 && flock(locked, LOCK_EX) == 0);
  RUN(wait_flock, "sync: file lock", "-", flock(locked, LOCK_UN));
  unlink(name);

  RUN(wait_futex, "sync: futex", "main",
      (__atomic_store_n(&word, 1u, __ATOMIC_SEQ_CST), syscall(SYS_futex, &word, 1, INT_MAX, NULL, NULL, 0)));
  run_rare();
  RUN_CHILD(wait_child);
  RUN_CHILD(wait_any_child);
  RUN_CHILD(wait3_child);
  RUN_CHILD(wait4_child);
  RUN_CHILD(waitid_child);
  RUN_CHILD(syscall_child);
  child = start_child(); /* one that has ended is not waited for */
  MUST(kill(child, SIGKILL) == 0 && waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT) == 0 && wait(NULL) == child);
  RUN_ALONE(wait_system, "child process", 10000000);
  RUN(wait_signal, "signal", "-", pthread_kill(waiter_thread, SIGUSR1));
  return 3;
}
