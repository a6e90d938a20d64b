/* Cancellation and signals come while the recorder's library does something of its own.
 *
 *     disturbed cancelled    a thread that is to be cancelled unlocks a mutex for which another process waits
 *     disturbed interrupted  in a namespace, where children ask the recorder, by a timer all the time
 *     disturbed forks FILE   a handler forks, while the library looks at the modules, since FILE is no program */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int held, cancelled;

static void *hold(void *mutex) {
  int state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  pthread_mutex_lock(mutex);
  held = 1;
  while (!cancelled) usleep(1000);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  pthread_mutex_unlock(mutex); /* no point of cancellation */
  pthread_testcancel();
  return NULL;
}

static int cancel(void) {
  pthread_mutex_t *mutex = mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t shared;
  pthread_t thread;
  int status = 1;
  pthread_mutexattr_init(&shared);
  pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(mutex, &shared);
  pthread_create(&thread, NULL, hold, mutex);
  while (!held) usleep(1000);
  if (fork() == 0) {
    alarm(10);
    pthread_mutex_lock(mutex);
    _exit(0);
  }
  usleep(300000); /* the child waits */
  pthread_cancel(thread);
  cancelled = 1;
  pthread_join(thread, NULL);
  wait(&status);
  return status != 0;
}

static void on_timer(int number) { (void)number; }

static int interrupt(void) {
  const struct itimerval often = {{0, 500}, {0, 500}};
  struct sigaction action;
  int i, status, wrong = 0;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_timer;
  if (unshare(CLONE_NEWUSER) != 0) return 77;
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      usleep(2000);
      _exit(0);
    }
    while (waitpid(child, &status, 0) < 0) continue;
    wrong += status != 0;
  }
  return wrong;
}

static volatile sig_atomic_t forks;

static void set_timer(long microseconds) {
  const struct itimerval once = {{0, 0}, {0, microseconds}};
  setitimer(ITIMER_REAL, &once, NULL);
}

static void fork_on_timer(int number) {
  int status, kept = errno;
  pid_t child = fork();
  (void)number;
  if (child == 0) _exit(0);
  waitpid(child, &status, 0);
  forks = forks + 1;
  set_timer(20 + 37 * forks % 300);
  errno = kept;
}

static int fork_often(const char *file) {
  signal(SIGALRM, fork_on_timer);
  set_timer(1000);
  while (forks < 150) execl(file, file, (char *)NULL);
  return signal(SIGALRM, SIG_IGN) == SIG_ERR;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  if (argc == 3) return fork_often(argv[2]);
  return strcmp(argv[1], "cancelled") == 0 ? cancel() : interrupt();
}
