/* flight.c - a server that records its own slow moments
 *
 * What it teaches: the flight recorder. A server traces continuously into memory and keeps only the last seconds. When
 * a request takes too long, it saves them. The trace shows what led to the slow request, which no profile or log does,
 * because nobody knew in advance when to look.
 *
 *     cc -O2 -g -o flight examples/flight.c -I. -pthread
 *     ./flight && go tool trace flight.trace
 *
 * The server answers requests from a queue; here a thread makes a thousand of them a second. Each looks something up in
 * a table that a lock protects. Now and then a request finds the table out of date and rebuilds it with the lock held,
 * a common mistake in servers. That request is slow, and so are all that wait for the lock. In the trace, the slow task
 * `request` has a region `lookup` blocked by `sync`, and an arrow from the goroutine that woke it.
 */

#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64 /* for 32-bit processors */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "example.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
  WORKERS = 4,
  QUEUE = 256,         /* most waiting requests */
  TABLE = 1 << 12,     /* entries */
  REBUILD_EVERY = 700, /* requests */
  REBUILD_MILLISECONDS = 40,
  SLOW_MILLISECONDS = 20 /* a slower request triggers a snapshot */
};

struct request {
  uint64_t number, arrived;
  gotrace_task task;
};

static struct {
  const char *trace;
  pthread_mutex_t lock; /* of the queue */
  pthread_cond_t filled;
  struct request queue[QUEUE];
  unsigned first, count;
  bool closed;

  pthread_mutex_t table_lock;
  uint32_t table[TABLE];

  atomic_uint_fast64_t answered, slow;
  atomic_bool snapshot_taken;
} server = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .table_lock = PTHREAD_MUTEX_INITIALIZER};

static void pause_for(uint64_t duration) {
  struct timespec time = {(time_t)(duration / 1000000000), (long)(duration % 1000000000)};
  while (nanosleep(&time, &time) && errno == EINTR) continue;
}

/* A mutex whose contention appears in the trace. */
static void lock_traced(pthread_mutex_t *lock) {
  if (!pthread_mutex_trylock(lock)) return;
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  pthread_mutex_lock(lock);
  gotrace_wait_end();
}

/* ----------------------------------------------------------------------------------------------- the work ---- */

static void rebuild(void) {
  GOTRACE_REGION("rebuild") {
    uint64_t until = nanoseconds() + REBUILD_MILLISECONDS * UINT64_C(1000000);
    for (uint32_t i = 0; nanoseconds() < until; i++)
      server.table[i % TABLE] = server.table[i % TABLE] * 2654435761U + i;
  }
}

static uint32_t answer(const struct request *request) {
  uint32_t value = 0;
  GOTRACE_TASK_REGION(request->task, "lookup") {
    lock_traced(&server.table_lock);
    if (request->number % REBUILD_EVERY == REBUILD_EVERY - 1) rebuild();
    value = server.table[request->number % TABLE];
    pthread_mutex_unlock(&server.table_lock);
  }
  GOTRACE_TASK_REGION(request->task, "render") {
    for (int i = 0; i < 20000; i++) value = value * 1664525U + 1013904223U;
  }
  return value;
}

/* The recorder and the other workers continue during the snapshot. One file is enough here. */
static void write_snapshot(uint64_t number, uint64_t took) {
  if (atomic_exchange(&server.snapshot_taken, true)) return;
  gotrace_logf(GOTRACE_NO_TASK, "slow", "request %" PRIu64 " took %" PRIu64 " us", number, took / 1000);
  gotrace_result result = gotrace_flight_snapshot_file(server.trace);
  if (result == GOTRACE_OK)
    printf("slow        request %" PRIu64 " took %.1f ms: see %s\n", number, (double)took / 1e6, server.trace);
  else
    fprintf(stderr, "%s: %s: %s\n", program, server.trace,
            result == GOTRACE_ERROR_SINK ? strerror(errno) : gotrace_result_string(result));
}

static void *worker_main(void *unused) {
  (void)unused;
  gotrace_thread_begin("worker");
  for (;;) {
    struct request request;
    pthread_mutex_lock(&server.lock);
    while (!server.count && !server.closed) {
      gotrace_wait_begin(GOTRACE_BLOCK_COND_WAIT);
      pthread_cond_wait(&server.filled, &server.lock);
      gotrace_wait_end();
    }
    bool done = !server.count;
    if (!done) {
      request = server.queue[server.first];
      server.first = (server.first + 1) % QUEUE;
      server.count--;
    }
    pthread_mutex_unlock(&server.lock);
    if (done) return NULL;
    volatile uint32_t result = answer(&request);
    (void)result;
    gotrace_task_end(request.task);
    uint64_t took = nanoseconds() - request.arrived;
    atomic_fetch_add(&server.answered, 1);
    if (took > SLOW_MILLISECONDS * UINT64_C(1000000)) {
      atomic_fetch_add(&server.slow, 1);
      write_snapshot(request.number, took);
    }
  }
}

/* Requests arrive, one per millisecond. */
static void receive(double seconds) {
  uint64_t until = nanoseconds() + (uint64_t)(seconds * 1e9);
  for (uint64_t number = 0; nanoseconds() < until; number++) {
    pthread_mutex_lock(&server.lock);
    if (server.count < QUEUE) {
      struct request *request = &server.queue[(server.first + server.count++) % QUEUE];
      request->number = number;
      request->arrived = nanoseconds();
      request->task = gotrace_task_begin("request", GOTRACE_NO_TASK);
      pthread_cond_signal(&server.filled);
    }
    pthread_mutex_unlock(&server.lock);
    gotrace_wait_begin(GOTRACE_BLOCK_NET);
    pause_for(1000000);
    gotrace_wait_end();
  }
  pthread_mutex_lock(&server.lock);
  server.closed = true;
  pthread_cond_broadcast(&server.filled);
  pthread_mutex_unlock(&server.lock);
}

/* ------------------------------------------------------------------------------------------------ program ---- */

int main(int argc, char **argv) {
  gotrace_options options = {0};
  double seconds = 3;
  server.trace = "flight.trace";
  program = "flight";
  opterr = 0;
  for (int option; (option = getopt(argc, argv, ":o:f:t:h")) != -1;) switch (option) {
    case 'o': server.trace = optarg; break;
    case 'f': options.format = parse_format(optarg); break;
    case 't': seconds = atof(optarg); break;
    case 'h':
      printf("usage: %s [-o FILE] [-f FORMAT] [-t SECONDS]\n"
             "  -o FILE     write the trace of the first slow request to FILE (%s)\n"
             "  -f FORMAT   in this format:",
             program, server.trace);
      for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].format >= GOTRACE_GO_1_22) printf(" %s", formats[i].name);
      printf("\n  -t SECONDS  serve for SECONDS (%g)\n", seconds);
      return EXIT_SUCCESS;
    default: fail(EXIT_USAGE, "unknown option -%c, or missing value (-h for help)", optopt);
    }
  options.flight_milliseconds = 1000; /* what led to a slow request is no older */
  options.flight_bytes = 8 << 20;
  gotrace_result result = gotrace_flight_start(&options);
  if (result != GOTRACE_OK && result != GOTRACE_ERROR_DISABLED)
    fail(EXIT_FAILURE, "format %s: %s", format_name(options.format), gotrace_result_string(result));
  gotrace_thread_begin("receive");
  pthread_t workers[WORKERS];
  int started = 0;
  while (started < WORKERS && !pthread_create(&workers[started], NULL, worker_main, NULL)) started++;
  if (started == WORKERS) receive(seconds);
  else fprintf(stderr, "%s: cannot start a thread\n", program);
  for (int i = 0; i < started; i++) pthread_join(workers[i], NULL);
  printf("answered    %" PRIuFAST64 " requests, %" PRIuFAST64 " of them slow\n", atomic_load(&server.answered),
         atomic_load(&server.slow));
  gotrace_flight_stop();
  if (!atomic_load(&server.slow)) printf("trace       none: no request was slow\n");
  else if (result == GOTRACE_OK) printf("open        go tool trace %s\n", server.trace);
  gotrace_stats stats;
  gotrace_get_stats(&stats);
  printf("recorded    %" PRIu64 " bytes in %" PRIu64 " generations, %.1f MB peak memory\n", stats.bytes, stats.cuts,
         (double)stats.memory_peak / 1e6);
  return started == WORKERS ? EXIT_SUCCESS : EXIT_FAILURE;
}
