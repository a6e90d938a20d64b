/* The flight recorder: snapshots taken on any thread, while tracing continues, open in Go; memory stays below the
 * limit; the oldest generations are dropped. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>
#include <time.h>

enum { WORKERS = 3, FLIGHT_BYTES = 4 << 20 };

static uint32_t stop; /* atomic */
static const gotrace_location entry = GOTRACE_NAMED_ENTRY("job");

static void pause_for(long milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* A worker of a scheduler, with goroutines that wait for long, switches and system calls. */
static void *work(void *slow) {
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *jobs[32];
  size_t i;
  for (i = 0; i < 32; i++) CHECK((jobs[i] = gotrace_go_create_blocked(&entry)) != NULL);
  gotrace_proc_start(proc);
  for (i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
    gotrace_go *g = jobs[i * 7 % 31];
    gotrace_go_unblock(g);
    gotrace_go_start(g);
    GOTRACE_REGION("part") gotrace_logf(GOTRACE_NO_TASK, "number", "%zu", i);
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
    if (i % 5 == 0) {
      gotrace_go_switch(jobs[(i * 7 + 1) % 31]);
      gotrace_go_block(GOTRACE_BLOCK_SELECT);
    } else {
      gotrace_go_block(GOTRACE_BLOCK_SYNC);
    }
    if (slow) pause_for(1);
  }
  for (i = 0; i < 32; i++) {
    gotrace_go_start(jobs[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  return NULL;
}

typedef struct copy {
  uint64_t size, failing_from;
  char head[17];
} copy;

static bool write_copy(void *context, const void *data, size_t size) {
  copy *c = context;
  if (c->size + size > c->failing_from) return false;
  if (!c->size) {
    CHECK_EQUAL(size, 16);
    memcpy(c->head, data, size);
  }
  c->size += size;
  CHECK_EQUAL(gotrace_flight_snapshot(write_copy, context), GOTRACE_ERROR_READER_BUSY); /* nested: refused */
  return true;
}

static bool write_slowly(void *context, const void *data, size_t size) {
  (void)context, (void)data, (void)size;
  pause_for(1);
  return true;
}

typedef struct snapshots {
  gotrace_format format;
  bool slow;
} snapshots;

static void *take_snapshots(void *argument) {
  const snapshots *taken = argument;
  int i;
  for (i = 0; i < 3; i++) {
    char name[32];
    static uint32_t numbers;
    uint32_t number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    snprintf(name, sizeof name, "flight%u", (unsigned)number);
    {
      char path[512];
      static pthread_mutex_t one_path = PTHREAD_MUTEX_INITIALIZER; /* test_trace_path is not thread-safe */
      pthread_mutex_lock(&one_path);
      snprintf(path, sizeof path, "%s", test_trace_path(name, taken->format));
      pthread_mutex_unlock(&one_path);
      /* Snapshots of workers at full speed are large: only the first is saved for Go. */
      if (strcmp(path, "/dev/null") != 0 && (taken->slow || number == 1))
        CHECK_EQUAL(gotrace_flight_snapshot_file(path), GOTRACE_OK);
    }
    CHECK_EQUAL(gotrace_flight_snapshot(write_slowly, NULL), GOTRACE_OK);
  }
  return NULL;
}

static void record(gotrace_format format, void *slow) {
  gotrace_options options;
  gotrace_stats stats;
  pthread_t workers[WORKERS], takers[2];
  snapshots taken = {format, slow != NULL};
  copy c;
  size_t i;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.flight_bytes = FLIGHT_BYTES;
  options.flight_milliseconds = 400;
  CHECK_EQUAL(gotrace_flight_snapshot(write_copy, &c), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_OK);
  CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_ERROR_ALREADY_RUNNING);
  CHECK_EQUAL(gotrace_start(NULL), GOTRACE_ERROR_ALREADY_RUNNING);
  __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
  for (i = 0; i < WORKERS; i++) CHECK(pthread_create(&workers[i], NULL, work, slow) == 0);
  pause_for(200);
  for (i = 0; i < 2; i++) CHECK(pthread_create(&takers[i], NULL, take_snapshots, &taken) == 0);
  for (i = 0; i < 2; i++) CHECK(pthread_join(takers[i], NULL) == 0);
  memset(&c, 0, sizeof c);
  c.failing_from = UINT64_MAX;
  CHECK_EQUAL(gotrace_flight_snapshot(write_copy, &c), GOTRACE_OK);
  CHECK(c.size > 1000 && c.size <= FLIGHT_BYTES);
  CHECK(strncmp(c.head, "go 1.2", 6) == 0);
  c.failing_from = 100;
  c.size = 0;
  CHECK_EQUAL(gotrace_flight_snapshot(write_copy, &c), GOTRACE_ERROR_SINK);
  CHECK_EQUAL(gotrace_flight_snapshot_file("/nonexistent/trace"), GOTRACE_ERROR_SINK);
  CHECK_EQUAL(gotrace_flight_snapshot(NULL, NULL), GOTRACE_ERROR_ARGUMENT);
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (i = 0; i < WORKERS; i++) CHECK(pthread_join(workers[i], NULL) == 0);
  /* While all threads are silent, old generations are dropped: the rest covers the requested time and does not fill the
     memory. */
  if (slow) {
    uint64_t before;
    memset(&c, 0, sizeof c);
    c.failing_from = UINT64_MAX;
    CHECK_EQUAL(gotrace_flight_snapshot(write_copy, &c), GOTRACE_OK);
    before = c.size;
    pause_for(1200);
    c.size = 0;
    CHECK_EQUAL(gotrace_flight_snapshot(write_copy, &c), GOTRACE_OK);
    CHECK(c.size < before);
  }
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_ERROR_NOT_RUNNING);
  gotrace_get_stats(&stats);
  printf("format %d%s: %llu KB recorded, peak memory %.1f MB\n", (int)format, slow ? ", slowly" : "",
         (unsigned long long)stats.bytes >> 10, (double)stats.memory_peak / 1048576);
  CHECK_EQUAL(stats.dropped, 0);
  CHECK(stats.memory_peak <= FLIGHT_BYTES + (WORKERS + 3) * 65536 + (1 << 20));
}

/* While a snapshot is being written, the generations that it writes become too old. */
static void *fill(void *unused) {
  int i;
  for (i = 0; i < FLIGHT_BYTES / 4; i++) gotrace_log(GOTRACE_NO_TASK, "new", "text");
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  return unused;
}

static bool write_and_fill(void *context, const void *data, size_t size) {
  test_bytes *bytes = context;
  pthread_t thread;
  if (bytes->size == 16) { /* after the header */
    CHECK(pthread_create(&thread, NULL, fill, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
  test_append(bytes, data, size);
  return true;
}

static void dropped_meanwhile(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  int i;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.flight_bytes = FLIGHT_BYTES;
  CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_OK);
  for (i = 0; i < 200; i++) {
    gotrace_log(GOTRACE_NO_TASK, "old", "text");
    if (i == 99) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  }
  CHECK_EQUAL(gotrace_flight_snapshot(write_and_fill, &bytes), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), 200);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
  test_free(&bytes);
}

/* Logs texts that begin with consecutive numbers. As they are all different, the recorder needs as many bytes. */
static unsigned number;
static void log_bytes(const char *category, size_t bytes) {
  char text[1000];
  size_t written;
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = 0;
  for (written = 0; written < bytes; written += sizeof text) {
    text[snprintf(text, 16, "%u", number++)] = 'x';
    gotrace_log(GOTRACE_NO_TASK, category, text);
  }
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
}

/* The trace has the last logs, without a gap. */
static void check_no_gap(const test_bytes *bytes) {
  gotrace_decoder *decoder;
  gotrace_event event;
  const char *text;
  size_t size;
  unsigned next = 0;
  CHECK_EQUAL(test_open_decoder(&decoder, bytes->data, bytes->size, false), GOTRACE_OK);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) {
    if (event.kind != GOTRACE_V2_USER_LOG) continue;
    CHECK(gotrace_decoder_string(decoder, event.args[2], &text, &size));
    if (next) CHECK_EQUAL(strtoul(text, NULL, 10), next);
    next = (unsigned)strtoul(text, NULL, 10) + 1;
  }
  CHECK_EQUAL(next, number);
  gotrace_decoder_close(decoder);
}

/* A snapshot that is being written has all the memory, so that a generation is lost, and those before it, since a trace
 * has no gaps. The recorder goes on with the next. */
static void *lose(void *unused) {
  log_bytes("lost", FLIGHT_BYTES / 2);
  return unused;
}

static bool write_and_lose(void *context, const void *data, size_t size) {
  test_bytes *bytes = context;
  pthread_t thread;
  if (bytes->size == 16) { /* after the header */
    CHECK(pthread_create(&thread, NULL, lose, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
  test_append(bytes, data, size);
  return true;
}

static void after_a_loss(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.flight_bytes = FLIGHT_BYTES;
  options.flight_milliseconds = UINT32_MAX;
  CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_OK);
  log_bytes("old", FLIGHT_BYTES / 2);
  CHECK_EQUAL(gotrace_flight_snapshot(write_and_lose, &bytes), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK(test_count_logs(&bytes, "old") > 0);
  bytes.size = 0;
  log_bytes("new", 5000);
  log_bytes("new", 5000);
  CHECK_EQUAL(gotrace_flight_snapshot(test_sink, &bytes), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count_logs(&bytes, "old"), 0);
  check_no_gap(&bytes); /* a small generation may have had room after one that was lost */
  CHECK_EQUAL(test_count_logs(&bytes, "new"), 10);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
  test_free(&bytes);
}

/* A recorder whose memory is full drops its oldest generation for a new one, and keeps the others. */
static void drops_the_oldest(void) {
  gotrace_options options;
  size_t written = 0;
  char text[256];
  copy c;
  int i;
  memset(&options, 0, sizeof options);
  memset(text, 'x', sizeof text);
  options.flight_bytes = FLIGHT_BYTES;
  options.flight_milliseconds = UINT32_MAX;
  CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_OK);
  while (written < 3 * FLIGHT_BYTES) {
    for (i = 0; i < 800; i++, written += sizeof text) {
      text[snprintf(text, 16, "%d", (int)written)] = 'x';
      text[sizeof text - 1] = 0;
      gotrace_log(GOTRACE_NO_TASK, "unique", text);
    }
    memset(&c, 0, sizeof c);
    c.failing_from = UINT64_MAX;
    CHECK_EQUAL(gotrace_flight_snapshot(write_copy, &c), GOTRACE_OK);
    CHECK(c.size <= FLIGHT_BYTES && (written < FLIGHT_BYTES || c.size >= FLIGHT_BYTES / 2));
  }
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
}

/* A proc is not destroyed during its sweep, and a thread that ends during a sweep ends the sweep. A snapshot may begin
 * with a generation in which both procs are silent. */
static void *sweep_and_end(void *user) {
  if (user) gotrace_proc_start(user);
  else gotrace_thread_begin("sweeper");
  gotrace_gc_sweep_begin();
  gotrace_gc_sweep_span(1, 1);
  if (!user) return NULL;
  gotrace_proc_stop();
  gotrace_proc_destroy(user);
  return NULL;
}

static void sweeps(gotrace_format format) {
  gotrace_options options;
  gotrace_stats stats;
  gotrace_proc *user, *other;
  pthread_t thread;
  int i;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.flight_milliseconds = 1;
  CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_OK);
  CHECK((user = gotrace_proc_create()) != NULL);
  CHECK(pthread_create(&thread, NULL, sweep_and_end, user) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, sweep_and_end, NULL) == 0 && pthread_join(thread, NULL) == 0);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_PROC_DESTROY], 1);
  CHECK_EQUAL(stats.kinds[GOTRACE_V2_GC_SWEEP_BEGIN], 2);
  CHECK_EQUAL(stats.kinds[GOTRACE_V2_GC_SWEEP_END], 1);
  for (i = 0; i < 8; i++) {
    pause_for(2);
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  }
  CHECK((other = gotrace_proc_create()) != user);
  gotrace_proc_destroy(other);
  CHECK(pthread_create(&thread, NULL, sweep_and_end, NULL) == 0 &&
        pthread_join(thread, NULL) == 0); /* on the same proc */
  CHECK_EQUAL(gotrace_flight_snapshot_file(test_trace_path("sweeps", format)), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_SWEEP_STATE], 0);
  gotrace_proc_start(user);
  gotrace_gc_sweep_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(user);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_PROC_DESTROY], 1);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
}

/* If no recorder runs, the file at the path of a snapshot is left alone. */
static void keeps_files(void) {
  char path[512], text[8] = "";
  const char *directory = getenv("GOTRACE_TEST_DIR");
  FILE *file;
  if (!directory) return;
  snprintf(path, sizeof path, "%s/older", directory);
  CHECK((file = fopen(path, "w")) != NULL && fputs("older", file) >= 0 && fclose(file) == 0);
  CHECK_EQUAL(gotrace_flight_snapshot_file(path), GOTRACE_ERROR_NOT_RUNNING);
  CHECK((file = fopen(path, "r")) != NULL && fgets(text, sizeof text, file) && fclose(file) == 0);
  CHECK(strcmp(text, "older") == 0);
}

int main(void) {
  gotrace_options options;
  size_t k;
  keeps_files();
  memset(&options, 0, sizeof options);
  options.format = GOTRACE_GO_1_21;
  CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_ERROR_FORMAT);
  options.format = GOTRACE_FORMAT_DEFAULT;
  options.flight_bytes = (2 << 20) - 1;
  CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_ERROR_ARGUMENT);
  CHECK(!gotrace_enabled());
  for (k = 0; k < TEST_FORMATS; k++)
    if (test_formats[k] >= GOTRACE_GO_1_22) {
      if (test_scaled(39) > 1 || k + 1 == TEST_FORMATS)
        record(test_formats[k], test_formats[k] == GOTRACE_GO_1_22 ? NULL : &stop);
      sweeps(test_formats[k]);
      dropped_meanwhile(test_formats[k]);
      after_a_loss(test_formats[k]);
    }
  drops_the_oldest();
  record(GOTRACE_FORMAT_DEFAULT, NULL);
  CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK); /* all defaults; gotrace_stop ends it too */
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  return 0;
}
