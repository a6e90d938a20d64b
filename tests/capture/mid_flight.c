/* Starts and stops traces at random moments while a correct program runs, so that goroutines, waits, regions, tasks
 * and system calls are under way at each start and stop. The program, an example or an adapter's test, was written for
 * one trace. The linker redirects its own calls that start and stop that trace to this file (--wrap).
 *
 *     build/mid_flight/PROGRAM TRACES SEED DIRECTORY [ARGUMENT...]
 *
 * The program's start begins the traces. The process ends after TRACES of them, or where the program stops its trace. A
 * program without arguments (hello) runs again and again until then. Writes the traces, in four formats, to DIRECTORY,
 * and prints "mid-flight", their number and that of their events. Fails if the decoder or the tests' own checkers
 * reject a trace, or if the tracer dropped or repaired anything, since the programs are correct. */
#define _GNU_SOURCE
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define LOAD(variable) __atomic_load_n(&(variable), __ATOMIC_ACQUIRE)
#define LET(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELEASE)

typedef struct flight {
  gotrace_format format;
  test_bytes bytes;
  gotrace_stats stats;
  gotrace__counters counters;
  bool snapshot;
} flight;

static const gotrace_format formats[] = {GOTRACE_GO_1_26, GOTRACE_GO_1_11, GOTRACE_GO_1_22, GOTRACE_GO_1_21};
static const char *name, *directory;
static flight *flights;
static long wanted, made;
static uint64_t seed, state;
static bool again; /* the program's main is run again */
static pthread_t pilot;
static sem_t ready, begun;
static int landing; /* atomic */

int __real_main(int argc, char **argv);

/* Each process has its own pace, since some programs take milliseconds and some a second. */
static void rest(void) {
  static const unsigned nanoseconds[] = {20000, 100000, 1000000, 10000000};
  struct timespec time = {0, (long)(test_random(&state) % nanoseconds[seed % 4])};
  nanosleep(&time, NULL);
}

/* Keeps the transcriber's counters, which stop frees. At the last piece of the trace, they are complete. */
static bool receive(void *context, const void *data, size_t size) {
  flight *f = (flight *)context;
  test_append(&f->bytes, data, size);
  gotrace__lock(&gotrace__t.work);
  if (gotrace__t.transcriber) f->counters = gotrace__t.transcriber->counters;
  gotrace__unlock(&gotrace__t.work);
  return true;
}

static void fly(flight *f, uint64_t number) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = f->format = formats[(seed + number) % (sizeof formats / sizeof *formats)];
  options.cut_milliseconds = test_random(&state) % 4;
  if (test_random(&state) % 4 == 0) options.stacks = GOTRACE_STACKS_FRAME_POINTERS;
  options.context = f;
  f->snapshot = f->format >= GOTRACE_GO_1_22 && test_random(&state) % 4 == 0;
  if (!f->snapshot) options.write = receive;
  CHECK_EQUAL(f->snapshot ? gotrace_flight_start(&options) : gotrace_start(&options), GOTRACE_OK);
  rest();
  if (test_random(&state) % 4 == 0) {
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    rest();
  }
  if (f->snapshot) CHECK_EQUAL(gotrace_flight_snapshot(receive, f), GOTRACE_OK);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&f->stats);
}

/* ----------------------------------------------------------------------------------------------------- judging ---- */

/* Whether the tracer counts nothing that it must not count of a correct program. Of the problems it may count one:
 * REGION_OLDER, the end of a region that began before the trace. Of the counters that are no problems, these may be
 * other than 0:
 *   clamped             calls that were under way at the start or at a cut: their records are moved to it
 *   late_introductions  of threads that are silent until the first cut, after a call that was under way at the start
 *   implied             thieves may report late; if a round or the trace ends before, the proc is idle until then
 *   borrowed            events about the whole program from threads that run no goroutine: so they are written
 *   idle                records that write no event
 *   jumps               of the clock: also if the machine was suspended */
static bool judge_counts(const flight *f, const char *path) {
  const gotrace__counters *n = &f->counters;
  const struct {
    const char *name;
    uint64_t count;
  } zero[] = {{"forced", n->forced}, {"malformed", n->malformed}, {"doubled", n->doubled},
              {"stale", n->stale},   {"late", n->late},           {"wrapped", n->wrapped}};
  bool good = true;
  size_t i;
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) {
    if (!f->stats.problems[i] || i == GOTRACE_PROBLEM_REGION_OLDER) continue;
    fprintf(stderr, "%s: %llu x %s: %s\n", path, (unsigned long long)f->stats.problems[i],
            gotrace_problem_outcome((gotrace_problem)i), gotrace_problem_string((gotrace_problem)i));
    good = false;
  }
  for (i = 0; i < sizeof zero / sizeof *zero; i++) {
    if (!zero[i].count) continue;
    fprintf(stderr, "%s: %llu x %s\n", path, (unsigned long long)zero[i].count, zero[i].name);
    good = false;
  }
  return good;
}

/* Writes the trace before it is checked, since a check that fails ends the process. */
static bool judge(const flight *f, long number) {
  char path[600];
  FILE *file;
  snprintf(path, sizeof path, "%s/%s-%llu-%ld-1.%d.trace", directory, name, (unsigned long long)seed, number,
           (int)f->format % 1000);
  CHECK((file = fopen(path, "wb")) != NULL);
  CHECK(fwrite(f->bytes.data, 1, f->bytes.size, file) == f->bytes.size && fclose(file) == 0);
  CHECK_OPENS(&f->bytes);
  return judge_counts(f, path);
}

static void *take_off(void *unused) {
  uint64_t events = 0;
  bool good = true;
  long i, count = 0;
  prctl(PR_SET_TIMERSLACK, 1);
  fly(&flights[made++], 0); /* before the program begins, since the first trace takes longer to start */
  sem_post(&ready);
  sem_wait(&begun);
  sem_post(&ready);
  while (count < wanted) {
    rest();
    if (LOAD(landing)) break;
    fly(&flights[made], (uint64_t)made);
    made++;
    if (!LOAD(landing)) count++;
  }
  check_v2_strict = true;
  for (i = 0; i < made; i++) {
    good &= judge(&flights[i], i);
    events += flights[i].stats.events;
  }
  printf("mid-flight %ld %llu\n", count, (unsigned long long)events);
  fflush(stdout);
  _exit(good ? 0 : 1); /* the program runs on */
  return unused;
}

/* ------------------------------------------------------------------------------------------------- the program ---- */

static gotrace_result begin(void) {
  static bool once;
  if (once) return GOTRACE_OK; /* main is run again */
  once = true;
  sem_post(&begun);
  sem_wait(&ready);
  return GOTRACE_OK;
}

/* The program may look for its trace after this, so it does not return. */
static gotrace_result end(void) {
  if (again) return GOTRACE_OK;
  LET(landing, 1);
  for (;;) pause(); /* until the process ends */
}

gotrace_result __wrap_gotrace_start_file(const char *path, const gotrace_options *options);
gotrace_result __wrap_gotrace_flight_start(const gotrace_options *options);
gotrace_result __wrap_gotrace_stop(void);
gotrace_result __wrap_gotrace_flight_stop(void);
int __wrap_main(int argc, char **argv);

gotrace_result __wrap_gotrace_start_file(const char *path, const gotrace_options *options) {
  (void)path, (void)options;
  return begin();
}
gotrace_result __wrap_gotrace_flight_start(const gotrace_options *options) {
  (void)options;
  return begin();
}
gotrace_result __wrap_gotrace_stop(void) { return end(); }
gotrace_result __wrap_gotrace_flight_stop(void) { return end(); }

int __wrap_main(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/');
  CHECK(argc >= 4);
  name = slash ? slash + 1 : argv[0];
  wanted = atol(argv[1]);
  seed = state = strtoull(argv[2], NULL, 10);
  directory = argv[3];
  CHECK((flights = (flight *)calloc((size_t)wanted + 1, sizeof *flights)) != NULL);
  CHECK(pthread_create(&pilot, NULL, take_off, NULL) == 0);
  sem_wait(&ready);
  argv[3] = argv[0];
  again = argc == 4;
  do CHECK_EQUAL(__real_main(argc - 3, argv + 3), 0);
  while (again);
  return 1; /* it has not stopped its trace */
}
