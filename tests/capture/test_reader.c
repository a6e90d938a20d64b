/* The reader state machine: gotrace_read and gotrace_try_read, on the emitting thread and on others. */
#include <stdbool.h>

/* The tracer's compare-and-swap passes through this function: see early_end. */
static bool cas_hooked(const volatile void *word, bool success);
#define __atomic_compare_exchange_n(word, expected, desired, weak, on_success, on_failure) \
  cas_hooked(word, __atomic_compare_exchange_n(word, expected, desired, weak, on_success, on_failure))
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#undef __atomic_compare_exchange_n
#include "../test_collect.h"

#include <pthread.h>

#define FORMAT(NAME, number, name) {GOTRACE_##NAME, "go " name " trace"},
static const struct {
  gotrace_format format;
  char header[16];
} formats[] = {GOTRACE_FORMATS(FORMAT)};

static gotrace_options options_of(gotrace_format format) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.cut_milliseconds = 1000000; /* only on request */
  return options;
}

/* Reads what is available. */
static size_t try_all(test_bytes *bytes) {
  const void *data;
  size_t size, all = 0;
  gotrace_result result;
  while ((result = gotrace_try_read(&data, &size)) == GOTRACE_OK && size) {
    test_append(bytes, data, size);
    all += size;
  }
  CHECK_EQUAL(result, GOTRACE_WOULD_BLOCK);
  CHECK_EQUAL(size, 0);
  return all;
}

static void emit_some(int n) {
  for (; n; n--) {
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
    GOTRACE_REGION("piece") {
      gotrace_logf(GOTRACE_NO_TASK, "count", "%d", n);
    }
  }
}

static void on_one_thread(gotrace_format format, const char *header) {
  gotrace_options options = options_of(format);
  const void *data;
  size_t size, got;
  test_bytes bytes = {NULL, 0, 0};
  gotrace_stats stats;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(gotrace_enabled());
  CHECK_EQUAL(gotrace_start(NULL), GOTRACE_ERROR_ALREADY_RUNNING);
  CHECK_EQUAL(gotrace_start_file("/dev/null", NULL), GOTRACE_ERROR_ALREADY_RUNNING);

  /* The header comes first, alone, and at once. */
  CHECK_EQUAL(gotrace_try_read(&data, &size), GOTRACE_OK);
  CHECK_EQUAL(size, 16);
  CHECK(memcmp(data, header, 16) == 0);
  test_append(&bytes, data, size);

  /* Then nothing until a cut, however much is written. */
  CHECK_EQUAL(try_all(&bytes), 0);
  emit_some(20);
  CHECK_EQUAL(try_all(&bytes), 0);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.bytes, 16);
  CHECK_EQUAL(stats.consistent_bytes, 0);

  /* What was emitted before the cut is delivered, and is a complete trace. */
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  emit_some(3); /* after the cut: not delivered yet */
  got = try_all(&bytes);
  CHECK(got > 100);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.bytes, bytes.size);
  CHECK_EQUAL(stats.consistent_bytes, bytes.size);
  CHECK_EQUAL(stats.cuts, 1);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "GoSysCall"), 20);

  /* Another cut; then the end of the trace, which is not read yet. */
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  CHECK(try_all(&bytes) > 0);
  CHECK_OPENS(&bytes);
  emit_some(7);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  CHECK(!gotrace_enabled());
  CHECK_EQUAL(gotrace_end(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_start(NULL), GOTRACE_ERROR_ALREADY_RUNNING);
  emit_some(100); /* after the end: not in the trace */
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  test_check_statistics(&bytes);
  CHECK_EQUAL(test_count(&bytes, "GoSysCall"), 30);
  if (format >= GOTRACE_GO_1_11) {
    CHECK_EQUAL(test_count(&bytes, "UserLog"), 30);
    CHECK_EQUAL(test_count(&bytes, "UserRegion"), 60);
  }
  CHECK_EQUAL(gotrace_try_read(&data, &size), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_end(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
  test_free(&bytes);
}

/* Cuts are made automatically by time and by bytes. */
static void cuts_by_themselves(void) {
  gotrace_options options = options_of(GOTRACE_GO_1_11);
  test_bytes bytes = {NULL, 0, 0};
  const void *data;
  size_t size;
  long n;
  struct timespec pause = {0, 3000000};
  options.cut_milliseconds = 1;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  emit_some(1);
  CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_OK);
  nanosleep(&pause, NULL);
  CHECK(try_all(&bytes) > 0);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);

  bytes.size = 0;
  options.cut_milliseconds = 1000000;
  options.cut_bytes = 65536;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_OK);
  for (n = 0; n < 100000 && try_all(&bytes) == 0; n++) emit_some(10);
  CHECK(n < 100000 && bytes.size > 60000);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  test_free(&bytes);
}

/* Chunks and pieces are reused: the trace is much larger than the memory in use at any time. */
static void recycles(void) {
  gotrace_options options = options_of(GOTRACE_GO_1_21);
  test_bytes bytes = {NULL, 0, 0};
  gotrace_stats stats;
  uint64_t all = 0, want = (uint64_t)test_scaled(24) << 20;
  options.cut_bytes = 256 << 10;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  while (all < want) {
    emit_some(500);
    all += try_all(&bytes);
    bytes.size = 0;
  }
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.bytes, all + bytes.size);
  CHECK(stats.bytes >= want);
  if (stats.memory_peak > 2 << 20) fprintf(stderr, "%llu bytes\n", (unsigned long long)stats.memory_peak);
  CHECK(stats.memory_peak <= 2 << 20);
  CHECK_EQUAL(stats.result, GOTRACE_OK);
  test_free(&bytes);
}

static int64_t time_of_log(const test_bytes *bytes, const char *category) {
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_decoder_info info;
  const char *text;
  size_t size;
  CHECK_EQUAL(test_open_decoder(&decoder, bytes->data, bytes->size, false), GOTRACE_OK);
  do {
    CHECK_EQUAL(gotrace_decoder_next(decoder, &event), GOTRACE_OK);
  } while (strcmp(event.spec->name, "UserLog") != 0 || !gotrace_decoder_string(decoder, event.args[1], &text, &size) ||
           size != strlen(category) || memcmp(text, category, size) != 0);
  gotrace_decoder_get_info(decoder, &info);
  CHECK(info.nanoseconds_per_tick == 16);
  gotrace_decoder_close(decoder);
  return event.time;
}

/* Times in the trace have the rate of the clock. They are exact only if no other thread runs between a log and the
 * reading of the clock, or while the tracer reads its clocks, so one of several attempts must succeed. */
static void frequency(void) {
  gotrace_options options = options_of(GOTRACE_GO_1_21);
  test_bytes bytes = {NULL, 0, 0};
  struct timespec pause = {0, 40000000};
  int tries;
  for (tries = 0;; tries++) {
    uint64_t from;
    int64_t got, want;
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    gotrace_log(GOTRACE_NO_TASK, "first", "");
    from = gotrace__nanoseconds();
    nanosleep(&pause, NULL);
    gotrace_log(GOTRACE_NO_TASK, "second", "");
    want = (int64_t)(gotrace__nanoseconds() - from);
    CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
    test_read_to_end(&bytes);
    got = time_of_log(&bytes, "second") - time_of_log(&bytes, "first");
    if (got > want - want / 100 && got < want + want / 100) break;
    fprintf(stderr, "%lld ns, not %lld\n", (long long)got, (long long)want);
    CHECK(tries < 50);
  }
  test_free(&bytes);
}

/* ---- A reader on another thread ---- */

static uint64_t received; /* atomic */
static uint32_t ends, at_work;
static test_bytes collected;

static void *read_all(void *unused) {
  const void *data;
  size_t size;
  (void)unused;
  for (;;) {
    CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_OK);
    if (!size) break;
    test_append(&collected, data, size);
    __atomic_fetch_add(&received, size, __ATOMIC_SEQ_CST);
  }
  __atomic_fetch_add(&ends, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static void *emit_many(void *unused) {
  (void)unused;
  emit_some(1);
  __atomic_fetch_add(&at_work, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&at_work, __ATOMIC_SEQ_CST) < 3) sched_yield(); /* all three run at the same time */
  emit_some((int)test_scaled(2000));
  return NULL;
}

static void on_two_threads(bool stop) {
  gotrace_options options = options_of(GOTRACE_GO_1_19);
  pthread_t reader, emitters[3];
  gotrace_stats stats;
  const void *data;
  size_t size, i;
  received = 0, ends = 0, at_work = 0, collected.size = 0;
  options.cut_milliseconds = 1;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&reader, NULL, read_all, NULL) == 0);
  for (i = 0; i < 3; i++) CHECK(pthread_create(&emitters[i], NULL, emit_many, NULL) == 0);
  emit_some(100);
  for (i = 0; i < 3; i++) CHECK(pthread_join(emitters[i], NULL) == 0);
  if (stop) {
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK); /* returns after the last byte has been delivered */
    gotrace_get_stats(&stats);
    CHECK_EQUAL(__atomic_load_n(&received, __ATOMIC_SEQ_CST), stats.bytes);
    CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
  } else {
    CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  }
  CHECK(pthread_join(reader, NULL) == 0);
  CHECK_EQUAL(gotrace_try_read(&data, &size), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(ends, 1);
  CHECK_OPENS(&collected);
  test_check_statistics(&collected);
  CHECK_EQUAL(test_count(&collected, "UserLog"), 3 * (test_scaled(2000) + 1) + 100);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.threads, 4);
}

/* A second reader is refused, and the first one gets everything. */
static void two_readers(void) {
  gotrace_options options = options_of(GOTRACE_GO_1_11);
  pthread_t reader;
  const void *data = "";
  size_t size = 1, tries;
  struct timespec pause = {0, 1000000};
  received = 0, ends = 0, collected.size = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&reader, NULL, read_all, NULL) == 0);
  while (__atomic_load_n(&received, __ATOMIC_SEQ_CST) < 16) nanosleep(&pause, NULL); /* the reader waits */
  nanosleep(&pause, NULL);
  for (tries = 0; gotrace_try_read(&data, &size) != GOTRACE_ERROR_READER_BUSY;
       tries++) { /* it may be between two reads */
    CHECK(tries < 1000 && size == 0);
    nanosleep(&pause, NULL);
  }
  CHECK(!data && size == 0);
  CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_ERROR_READER_BUSY);
  emit_some(5);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK); /* wakes the reader */
  while (__atomic_load_n(&received, __ATOMIC_SEQ_CST) < 100) nanosleep(&pause, NULL);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK(pthread_join(reader, NULL) == 0);
  CHECK_OPENS(&collected);
  test_check_statistics(&collected);
  CHECK_EQUAL(test_count(&collected, "UserLog"), 5);
}

static uint32_t held; /* atomic: 1 hold up, 2 held up, 3 go on */

static void wait_for_held(uint32_t value) {
  while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) != value) sched_yield();
}

/* Holds up a thread that has just ended the session. */
static bool cas_hooked(const volatile void *word, bool success) {
  if (word == &gotrace__on && success && __atomic_load_n(&held, __ATOMIC_RELAXED) == 1) {
    __atomic_store_n(&held, 2, __ATOMIC_RELEASE);
    wait_for_held(3);
  }
  return success;
}

static void *log_until_off(void *unused) {
  while (gotrace_enabled()) gotrace_log(GOTRACE_NO_TASK, "category", "message");
  return unused;
}

/* A trace that ends early says so, however fast its reader. Whoever ends it first decides the result. */
static void early_end(void) {
  gotrace_options options = options_of(GOTRACE_GO_1_23);
  gotrace_stats stats;
  pthread_t thread;
  int i;
  options.memory_limit = 1 << 20; /* the least that is possible */
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
  collected.size = 0;
  CHECK(pthread_create(&thread, NULL, log_until_off, NULL) == 0);
  wait_for_held(2);
  test_read_to_end(&collected);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.result, GOTRACE_LIMIT_REACHED);
  __atomic_store_n(&held, 3, __ATOMIC_RELEASE);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_OPENS(&collected);
  CHECK(test_count(&collected, "UserLog") > 1000);
  options.memory_limit = 0;
  for (i = 0; i < 3; i++) {
    uint32_t session;
    collected.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    session = gotrace__on;
    gotrace_log(GOTRACE_NO_TASK, "category", "message");
    if (i == 0) { /* a thread that is held up while it ends a session must not end or judge the next one */
      gotrace__end_of(session - 1, GOTRACE_LIMIT_REACHED);
      CHECK(gotrace_enabled());
    } else if (i == 1) { /* a thread is held up before it turns tracing off: nobody waits for it */
      gotrace__store_relaxed(&gotrace__t.verdict, session << 8 | (0xffu & (uint32_t)GOTRACE_ERROR_OUT_OF_MEMORY));
    } else {
      gotrace__end_of(session, GOTRACE_ERROR_OUT_OF_MEMORY);
      gotrace__end_of(session, GOTRACE_LIMIT_REACHED);
    }
    CHECK_EQUAL(gotrace_end(), i == 2 ? GOTRACE_ERROR_NOT_RUNNING : GOTRACE_OK);
    CHECK(!gotrace_enabled());
    test_read_to_end(&collected);
    gotrace_get_stats(&stats);
    CHECK_EQUAL(stats.result, i == 0 ? GOTRACE_OK : GOTRACE_ERROR_OUT_OF_MEMORY);
    CHECK_OPENS(&collected);
    CHECK_EQUAL(test_count(&collected, "UserLog"), 1);
  }
}

static void service_reads(void) {
  const void *data;
  size_t size;
  CHECK_EQUAL(gotrace_start_file("/dev/null", NULL), GOTRACE_OK);
  CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_ERROR_READER_BUSY);
  CHECK_EQUAL(gotrace_try_read(&data, &size), GOTRACE_ERROR_READER_BUSY);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
}

int main(void) {
  const void *data;
  size_t size, i;
  CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_try_read(&data, &size), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_read(NULL, &size), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_try_read(&data, NULL), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_end(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK(!gotrace_enabled());
  for (i = 0; formats[i].format < GOTRACE_GO_1_22; i++) on_one_thread(formats[i].format, formats[i].header);
  cuts_by_themselves();
  recycles();
  frequency();
  on_two_threads(true);
  on_two_threads(false);
  two_readers();
  early_end();
  service_reads();
  test_free(&collected);
  return 0;
}
