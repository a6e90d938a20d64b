/* processes.c - processes that wake each other, and print who did
 *
 * A token goes from process to process at random; whoever gets it sleeps a moment, so that the others wait by then,
 * and passes it on.
 *
 *     processes pipes HOPS                each process reads from a pipe of its own, to which all write
 *     processes poll|epoll|select HOPS    the first process has connections, Unix and TCP in turn, with all others
 *     processes signals HOPS              each process waits for signals, in one of four ways
 *     processes semaphores|named|conditions|futexes HOPS    each process waits for its own, in memory that all share
 *     processes mutexes|barriers ROUNDS   all processes wait for one mutex, or for the last one of them
 *     processes children                  waits for children by system, pclose and waitid
 *     processes reused WAY                reads by a descriptor that was another file: see reuse_descriptors()
 *     processes pipeline MILLISECONDS     copies its input to its output, line by line, by stdio; then sleeps
 *
 * For each process, one line: its id, and those from which it got the token; negative: before it waited. At the end,
 * the first one waits for the others one by one. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENSURE(condition)                                     \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      exit(1);                                                \
    }                                                         \
  } while (0)

#define PROCESSES 5
#define MOST_HOPS 4000

struct token {
  int from, hops; /* hops < 0: the end */
  unsigned seed;
  long long sent; /* see now() */
};

static int in[PROCESSES], out[PROCESSES]; /* of pipes mode: of all; else: of the first process and of this one */
static int self_number;
static const char *mode;

static void nap(long nanoseconds) {
  struct timespec time = {0, nanoseconds};
  nanosleep(&time, NULL);
}

static long long now(void) {
  struct timespec time;
  ENSURE(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static unsigned next_random(unsigned *seed) { return (*seed = *seed * 1103515245u + 12345u) >> 16; }

static void connect_tcp(int ends[2]) {
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ENSURE(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
  ENSURE(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  ENSURE(connect(ends[0], (struct sockaddr *)&address, sizeof address) == 0);
  ends[1] = accept(listener, NULL, NULL);
  ENSURE(ends[1] >= 0);
  close(listener);
}

/* Which connection of the first process can be read. */
static int await_connection(void) {
  int i;
  if (strcmp(mode, "poll") == 0) {
    struct pollfd all[PROCESSES];
    for (i = 1; i < PROCESSES; i++) all[i - 1] = (struct pollfd){in[i], POLLIN, 0};
    ENSURE(poll(all, PROCESSES - 1, -1) == 1);
    for (i = 1; !all[i - 1].revents; i++) continue;
  } else if (strcmp(mode, "epoll") == 0) {
    static int set = -1;
    struct epoll_event event;
    if (set < 0) {
      set = epoll_create1(0);
      for (i = 1; i < PROCESSES; i++) {
        event.events = EPOLLIN;
        event.data.fd = i;
        ENSURE(epoll_ctl(set, EPOLL_CTL_ADD, in[i], &event) == 0);
      }
    }
    ENSURE(epoll_wait(set, &event, 1, -1) == 1);
    i = event.data.fd;
  } else {
    fd_set all;
    FD_ZERO(&all);
    for (i = 1; i < PROCESSES; i++) FD_SET(in[i], &all);
    ENSURE(select(FD_SETSIZE, &all, NULL, NULL, NULL) == 1);
    for (i = 1; !FD_ISSET(in[i], &all); i++) continue;
  }
  return i;
}

/* In the modes without connections. By process, or, of mutexes and barriers, by round. */
static struct {
  struct token token;
  pid_t process[PROCESSES];
  sem_t semaphore[PROCESSES];
  pthread_mutex_t mutex[PROCESSES];
  pthread_cond_t condition[PROCESSES];
  uint32_t has_token[PROCESSES]; /* of conditions and futexes */
  pthread_barrier_t barrier;
  struct token last[MOST_HOPS]; /* who has come last */
} * shared;

static void prepare_shared(void) {
  pthread_mutexattr_t of_mutexes;
  pthread_condattr_t of_conditions;
  pthread_barrierattr_t of_barriers;
  int i;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ENSURE(shared != MAP_FAILED);
  shared->process[0] = getpid();
  ENSURE(pthread_mutexattr_init(&of_mutexes) == 0 &&
         pthread_mutexattr_setpshared(&of_mutexes, PTHREAD_PROCESS_SHARED) == 0);
  ENSURE(pthread_condattr_init(&of_conditions) == 0 &&
         pthread_condattr_setpshared(&of_conditions, PTHREAD_PROCESS_SHARED) == 0);
  ENSURE(pthread_barrierattr_init(&of_barriers) == 0 &&
         pthread_barrierattr_setpshared(&of_barriers, PTHREAD_PROCESS_SHARED) == 0);
  for (i = 0; i < PROCESSES; i++) {
    ENSURE(sem_init(&shared->semaphore[i], 1, 0) == 0);
    ENSURE(pthread_mutex_init(&shared->mutex[i], &of_mutexes) == 0);
    ENSURE(pthread_cond_init(&shared->condition[i], &of_conditions) == 0);
  }
  ENSURE(pthread_barrier_init(&shared->barrier, &of_barriers, PROCESSES) == 0);
}

/* Of each process, opened by each process at its first use. */
static sem_t *named_semaphore(int of) {
  static sem_t *opened[PROCESSES];
  char name[32];
  if (opened[of]) return opened[of];
  sprintf(name, "/processes-%d-%d", (int)shared->process[0], of);
  opened[of] = sem_open(name, O_CREAT, 0600, 0);
  ENSURE(opened[of] != SEM_FAILED);
  return opened[of];
}

static void remove_names(void) {
  char name[32];
  int i;
  for (i = 0; i < PROCESSES; i++) {
    sprintf(name, "/processes-%d-%d", (int)shared->process[0], i);
    sem_unlink(name);
  }
}

static void await_shared(void) {
  uint32_t *has = &shared->has_token[self_number];
  if (strcmp(mode, "semaphores") == 0) ENSURE(sem_wait(&shared->semaphore[self_number]) == 0);
  if (strcmp(mode, "named") == 0) ENSURE(sem_wait(named_semaphore(self_number)) == 0);
  if (strcmp(mode, "conditions") == 0) {
    pthread_mutex_lock(&shared->mutex[self_number]);
    while (!*has) pthread_cond_wait(&shared->condition[self_number], &shared->mutex[self_number]);
    *has = 0;
    pthread_mutex_unlock(&shared->mutex[self_number]);
  }
  if (strcmp(mode, "futexes") == 0)
    while (!__atomic_exchange_n(has, 0u, __ATOMIC_ACQUIRE)) syscall(SYS_futex, has, 0 /* FUTEX_WAIT */, 0, NULL);
}

static void wake_shared(int to, int broadcasts) {
  uint32_t *has = &shared->has_token[to];
  if (strcmp(mode, "semaphores") == 0) ENSURE(sem_post(&shared->semaphore[to]) == 0);
  if (strcmp(mode, "named") == 0) ENSURE(sem_post(named_semaphore(to)) == 0);
  if (strcmp(mode, "conditions") == 0) {
    pthread_mutex_lock(&shared->mutex[to]);
    *has = 1;
    if (broadcasts) pthread_cond_broadcast(&shared->condition[to]);
    else pthread_cond_signal(&shared->condition[to]);
    pthread_mutex_unlock(&shared->mutex[to]);
  }
  if (strcmp(mode, "futexes") == 0) {
    __atomic_store_n(has, 1u, __ATOMIC_RELEASE);
    syscall(SYS_futex, has, 1 /* FUTEX_WAKE */, broadcasts ? 0x7fffffff : 1);
  }
}

static void do_nothing(int number) { (void)number; }

static struct token await_token(void) {
  sigset_t set;
  int number;
  if (strcmp(mode, "signals") != 0) {
    await_shared();
    return shared->token;
  }
  sigemptyset(&set);
  if (self_number % 4 == 3) {
    sigsuspend(&set);
    return shared->token;
  }
  sigaddset(&set, SIGUSR1);
  if (self_number % 4 == 0) ENSURE(sigwait(&set, &number) == 0 && number == SIGUSR1);
  if (self_number % 4 == 1) ENSURE(sigwaitinfo(&set, NULL) == SIGUSR1);
  if (self_number % 4 == 2) ENSURE(sigtimedwait(&set, NULL, &(struct timespec){60, 0}) == SIGUSR1);
  return shared->token;
}

static void send_token(int to, struct token t) {
  t.sent = now();
  if (!shared) {
    ENSURE(write(out[to], &t, sizeof t) == (ssize_t)sizeof t);
    return;
  }
  shared->token = t;
  if (strcmp(mode, "signals") != 0) wake_shared(to, t.hops % 2);
  else if (t.hops % 2) ENSURE(kill(shared->process[to], SIGUSR1) == 0);
  else ENSURE(sigqueue(shared->process[to], SIGUSR1, (union sigval){0}) == 0);
}

static void print_line(const int *got, int count) {
  char line[16 * MOST_HOPS];
  int used = sprintf(line, "%d", (int)getpid()), i;
  for (i = 0; i < count; i++) used += sprintf(line + used, " %d", got[i]);
  line[used++] = '\n';
  ENSURE(write(1, line, (size_t)used) == used);
}

static void work(long nanoseconds) {
  long long until = now() + nanoseconds;
  while (now() < until) continue;
}

/* Who has released the mutex before, or come to the barrier last. */
static void take_part_in_rounds(struct token t) {
  static int got[MOST_HOPS];
  static long long before[MOST_HOPS];
  int i, rounds = t.hops, barriers = strcmp(mode, "barriers") == 0;
  t.seed += (unsigned)self_number;
  for (i = 0; i < rounds; i++) {
    before[i] = t.sent = now();
    t.from = (int)getpid();
    if (barriers) {
      if (pthread_barrier_wait(&shared->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) shared->last[i] = t;
      nap((long)(next_random(&t.seed) % 1000000));
    } else {
      ENSURE(pthread_mutex_lock(&shared->mutex[0]) == 0);
      got[i] = shared->token.sent > before[i] ? shared->token.from : -shared->token.from;
      nap((long)(next_random(&t.seed) % 300000));
      t.sent = now();
      shared->token = t;
      ENSURE(pthread_mutex_unlock(&shared->mutex[0]) == 0);
      work((long)(next_random(&t.seed) % 1000) * 1000);
    }
  }
  if (barriers) pthread_barrier_wait(&shared->barrier);
  for (i = 0; barriers && i < rounds; i++)
    got[i] = shared->last[i].sent > before[i] ? shared->last[i].from : -shared->last[i].from;
  print_line(got, rounds);
}

static void take_part(struct token t) {
  static int got[MOST_HOPS];
  int count = 0, i, all = shared || strcmp(mode, "pipes") == 0, first = self_number == 0;
  for (;; first = 0) {
    if (!first) {
      long long before = now();
      if (shared) {
        t = await_token();
      } else {
        int fd = in[!all && self_number == 0 ? await_connection() : self_number];
        ENSURE(read(fd, &t, sizeof t) == (ssize_t)sizeof t);
      }
      if (t.hops < 0) break;
      got[count++] = t.sent > before ? t.from : -t.from;
      nap(300000);
    }
    t.from = (int)getpid();
    if (t.hops == 0 && (all || self_number == 0)) {
      t.hops = -1;
      for (i = 0; i < PROCESSES; i++)
        if (i != self_number) send_token(i, t);
      break;
    }
    if (t.hops > 0) t.hops--; /* at the end, only the first process can tell all */
    i = (int)(next_random(&t.seed) % PROCESSES);
    if (i == self_number) i = (i + 1) % PROCESSES;
    send_token(!all && self_number ? self_number : i, t);
  }
  print_line(got, count);
}

static int wait_for_children(void) {
  char text[16];
  siginfo_t info;
  FILE *file;
  ENSURE(system("sleep 0.1; exit 0") == 0);
  file = popen("sleep 0.1; echo one; exec >&-; sleep 0.2", "r");
  ENSURE(file && fgets(text, sizeof text, file) && pclose(file) == 0);
  file = popen("sleep 0.1; echo two; exec >&-; sleep 0.2", "r"); /* by the descriptor of the first one */
  ENSURE(file && fgets(text, sizeof text, file) && pclose(file) == 0);
  if (fork() == 0) nap(100000000), exit(0);
  ENSURE(waitid(P_ALL, 0, &info, WEXITED) == 0);
  return 0;
}

/* Reads what a child writes a moment later, or prints. */
static void read_from_child(int from, int to, int prints) {
  char text[2];
  pid_t child = fork();
  ENSURE(child >= 0);
  if (child == 0) {
    nap(100000000);
    if (prints) ENSURE(dup2(to, 1) == 1 && printf("x") == 1 && fflush(stdout) == 0);
    else ENSURE(write(to, "x", 1) == 1);
    nap(100000000);
    _exit(0);
  }
  ENSURE(read(from, text, sizeof text) == 1);
  nap(200000000);
  ENSURE(waitpid(child, NULL, 0) == child); /* which does not wait */
}

static int ends[2];
static void close_ends(int number) {
  (void)number;
  close(ends[0]);
  close(ends[1]);
}

/* By a system call, so that the tracer learns nothing of the new pipe. */
static void make_pipe_again(void) {
  int again[2];
  ENSURE(syscall(SYS_pipe2, again, 0) == 0 && again[0] == ends[0] && again[1] == ends[1]);
}

/* The tracer looks at the descriptor, and there is no wait. */
static void read_at_once(int from, int to) {
  char text[2];
  ENSURE(syscall(SYS_write, to, "x", 1) == 1 && read(from, text, sizeof text) == 1);
}

static int reuse_descriptors(const char *way) {
  char text[16];
  int fd, other[2];
  pid_t child;
  FILE *file;
  ENSURE(pipe(ends) == 0 && pipe(other) == 0);
  if (strcmp(way, "system-call") == 0) { /* which closes it, some time before the wait */
    read_at_once(ends[0], ends[1]);
    ENSURE(syscall(SYS_close, ends[0]) == 0 && syscall(SYS_close, ends[1]) == 0);
    nap(200000000);
    make_pipe_again();
    read_from_child(ends[0], ends[1], 0);
  } else if (strcmp(way, "handler") == 0) { /* of a signal, which interrupts a wait */
    signal(SIGALRM, close_ends);
    read_at_once(ends[0], ends[1]);
    ualarm(2000, 0);
    nap(500000000);
    make_pipe_again();
    read_from_child(ends[0], ends[1], 0);
  } else if (strcmp(way, "freopen") == 0) {
    ENSURE(dup2(ends[0], 0) == 0);
    read_at_once(0, ends[1]);
    sprintf(text, "/dev/fd/%d", other[0]);
    ENSURE(freopen(text, "r", stdin) == stdin);
    read_from_child(0, other[1], 0);
  } else if (strcmp(way, "pclose") == 0) {
    file = popen("echo one; exec >&-; sleep 0.01", "r");
    ENSURE(file && fgets(text, sizeof text, file));
    fd = fileno(file);
    ENSURE(pclose(file) == 0);
    file = popen("sleep 0.1; echo two; exec >&-; sleep 0.1", "r");
    ENSURE(file && fileno(file) == fd && fgets(text, sizeof text, file) && pclose(file) == 0);
  } else if (strcmp(way, "daemon") == 0) {
    /* It closes its standard output, so that only the other child has that pipe as its own. */
    child = fork();
    ENSURE(child >= 0);
    if (child == 0) {
      ENSURE(dup2(ends[1], 1) == 1 && daemon(1, 0) == 0);
      close(other[1]);
      ENSURE(read(other[0], text, sizeof text) == 0);
      _exit(0);
    }
    nap(200000000);
    ENSURE(waitpid(child, NULL, 0) == child);
    read_from_child(ends[0], ends[1], 1);
    close(other[1]);
    nap(200000000);
  }
  return 0;
}

static int copy_lines(long nanoseconds) {
  char line[256];
  while (fgets(line, sizeof line, stdin)) {
    fputs(line, stdout);
    fflush(stdout);
  }
  nap(nanoseconds);
  return 0;
}

int main(int count, char **words) {
  struct token t = {0, count > 2 ? atoi(words[2]) : 0, 12345, 0};
  static const char *const shared_modes[] = {"semaphores", "named", "conditions", "futexes", "mutexes", "barriers"};
  int theirs[PROCESSES], i, shares = 0, rounds;
  pid_t children[PROCESSES];
  mode = words[1];
  for (i = 0; i < 6; i++) shares |= strcmp(mode, shared_modes[i]) == 0;
  rounds = strcmp(mode, "mutexes") == 0 || strcmp(mode, "barriers") == 0;
  if (strcmp(mode, "pipeline") == 0) return copy_lines(1000000l * t.hops);
  if (strcmp(mode, "children") == 0) return wait_for_children();
  if (strcmp(mode, "reused") == 0) return reuse_descriptors(words[2]);
  if (strcmp(mode, "signals") == 0) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    signal(SIGUSR1, do_nothing);
    ENSURE(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  }
  if (strcmp(mode, "signals") == 0 || shares) prepare_shared();
  ENSURE(t.hops > 0 && t.hops < MOST_HOPS);
  for (i = 0; i < PROCESSES; i++) {
    if (strcmp(mode, "pipes") == 0) {
      ENSURE(pipe(ends) == 0);
      in[i] = ends[0], out[i] = ends[1];
    } else if (i > 0 && !shared) {
      if (i % 2) ENSURE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
      else connect_tcp(ends);
      in[i] = out[i] = ends[0], theirs[i] = ends[1];
    }
  }
  for (i = 1; i < PROCESSES; i++) {
    children[i] = fork();
    ENSURE(children[i] >= 0);
    if (shared && children[i] > 0) shared->process[i] = children[i];
    if (children[i] == 0) {
      self_number = i;
      if (!shared && strcmp(mode, "pipes") != 0) in[i] = out[i] = theirs[i];
      if (rounds) take_part_in_rounds(t);
      else take_part(t);
      nap(50000000l * (PROCESSES - i));
      _exit(0);
    }
  }
  nap(50000000); /* until they wait */
  if (rounds) take_part_in_rounds(t);
  else take_part(t);
  if (strcmp(mode, "named") == 0) remove_names();
  for (i = PROCESSES - 1; i > 0; i--) ENSURE(waitpid(children[i], NULL, 0) == children[i]);
  return 0;
}
