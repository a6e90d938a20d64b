/* The cost of tracing for the example scheduler (examples/scheduler.c). Its coroutines send messages to each other and
 * compute for some time in between, alternately with and without tracing.
 *
 *     load [-q]
 *
 * Lines `load FORMAT EVENTS_A_SECOND WORKER PROCESS BYTES`: events per second without tracing; per cent that tracing
 * adds to the processor time of the one worker, and to that of the process including the service thread, from start to
 * stop; bytes per event of the whole trace. Processor time excludes other work of the machine. Each value is the
 * quotient of the shortest of many turns.
 */
#define main scheduler_main
#include "../../examples/scheduler.c"
#undef main

enum { PAIRS = 32 };

static struct {
  struct channel there[PAIRS], back[PAIRS];
  unsigned messages; /* per pair of coroutines */
  unsigned work;     /* steps between two messages */
} load;

static _Thread_local volatile uint64_t result_of_work;

static void compute(unsigned steps) {
  uint64_t x = steps;
  for (unsigned i = 0; i < steps; i++) x = x * 6364136223846793005u + 1442695040888963407u;
  result_of_work = x;
}

static void ask(void *argument) {
  size_t pair = (size_t)(uintptr_t)argument;
  for (unsigned i = 0; i < load.messages; i++) {
    compute(load.work);
    channel_send(&load.there[pair], argument);
    (void)channel_receive(&load.back[pair]);
  }
  channel_close(&load.there[pair]);
}

static void answer(void *argument) {
  size_t pair = (size_t)(uintptr_t)argument;
  for (;;) {
    (void)channel_receive(&load.there[pair]);
    if (load.there[pair].closed) break;
    compute(load.work);
    channel_send(&load.back[pair], argument);
  }
}

static void begin_all(void *argument) {
  (void)argument;
  for (uintptr_t i = 0; i < PAIRS; i++) {
    GO(answer, (void *)i);
    GO(ask, (void *)i);
  }
}

static uint64_t processor_time(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static bool throw_away(void *context, const void *data, size_t size) {
  (void)context, (void)data, (void)size;
  return true;
}

struct turn {
  double worker, process, events, bytes;
};

/* The scheduler's worker is a separate, pinned thread, so that the service thread is not pinned. */
static void *one_turn_main(void *argument) {
  struct turn *turn = argument;
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  for (int i = 0, found = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET((size_t)i, &set) && found++) CPU_CLR((size_t)i, &set);
  sched_setaffinity(0, sizeof set, &set);
  scheduler.finished = false;
  scheduler_begin(1);
  GO(begin_all, NULL);
  uint64_t begin = processor_time(CLOCK_THREAD_CPUTIME_ID);
  scheduler_run();
  turn->worker = (double)(processor_time(CLOCK_THREAD_CPUTIME_ID) - begin);
  return NULL;
}

static struct turn one_turn(gotrace_format format) {
  struct turn turn = {0};
  pthread_t thread;
  gotrace_options options = {.format = format, .write = throw_away};
  for (size_t i = 0; i < PAIRS; i++) {
    memset(&load.there[i], 0, sizeof load.there[i]);
    memset(&load.back[i], 0, sizeof load.back[i]);
    channel_init(&load.there[i], 1);
    channel_init(&load.back[i], 1);
  }
  uint64_t begin = processor_time(CLOCK_PROCESS_CPUTIME_ID);
  if (format && gotrace_start(&options)) fail(EXIT_FAILURE, "no trace");
  if (pthread_create(&thread, NULL, one_turn_main, &turn)) fail(EXIT_FAILURE, "no thread");
  pthread_join(thread, NULL);
  if (format) {
    gotrace_stats stats;
    gotrace_result result = gotrace_stop();
    gotrace_get_stats(&stats);
    if (result || stats.dropped || stats.repaired || stats.left_out)
      fail(EXIT_FAILURE, "%s; %llu dropped, %llu repaired", gotrace_result_string(result),
           (unsigned long long)stats.dropped, (unsigned long long)stats.repaired);
    turn.events = (double)stats.events;
    turn.bytes = (double)stats.bytes;
  }
  turn.process = (double)(processor_time(CLOCK_PROCESS_CPUTIME_ID) - begin);
  for (size_t i = 0; i < PAIRS; i++) {
    free(load.there[i].items);
    free(load.back[i].items);
  }
  return turn;
}

static void shorter(struct turn *shortest, struct turn turn) {
  if (shortest->worker == 0 || turn.worker < shortest->worker) shortest->worker = turn.worker;
  if (shortest->process == 0 || turn.process < shortest->process) shortest->process = turn.process;
  shortest->events = turn.events;
  shortest->bytes = turn.bytes;
}

int main(int argc, char **argv) {
  static const struct {
    gotrace_format format;
    const char *name;
  } of[] = {{GOTRACE_GO_1_23, "v2"}, {GOTRACE_GO_1_21, "v1"}};
  /* Steps of about a nanosecond. The last load does nothing but switch. */
  static const unsigned works[] = {300000, 30000, 3000, 300, 0};
  int turns = argc > 1 && strcmp(argv[1], "-q") == 0 ? 9 : 41;
  program = "load";
  for (size_t f = 0; f < 2; f++)
    for (size_t w = 0; w < sizeof works / sizeof works[0]; w++) {
      struct turn without = {0}, with = {0};
      load.work = works[w];
      /* About 15 ms per turn. */
      load.messages = 1 + 15000000 / (2 * PAIRS * (works[w] + 800));
      for (int i = 0; i < turns; i++) { /* alternately, so that the machine's changes in speed affect both */
        shorter(&without, one_turn((gotrace_format)0));
        shorter(&with, one_turn(of[f].format));
      }
      printf("load %s %.0f %.1f %.1f %.2f\n", of[f].name, with.events / without.worker * 1e9,
             100 * (with.worker / without.worker - 1), 100 * (with.process / without.process - 1),
             with.bytes / with.events);
      fflush(stdout);
    }
  return 0;
}
