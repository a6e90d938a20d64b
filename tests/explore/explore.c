/* explore.c - runs the tracer's real code in every interleaving of its threads, up to a bound: the calls that capture
 * records, the transcriber that reads them, starts, stops and readers.
 *
 *     explore [OPTION...] [SCENARIO...]
 *
 * SCENARIO is one of: a name from scenarios.h, alone or after a format ("1011/timed"); a format; a name from
 * generate.h ("pair/1023/stop/start:unblock/w"), or "generated" for a part of these; "FORMAT TEXT" in the
 * language of calls.h. The default is all hand-written scenarios and a part of the generated ones. "#N" after
 * a scenario that contains `lack` runs it only with the N-th allocation failing.
 *
 * Each scenario runs under every schedule with at most --bound preemptions (engine.h). Each run is checked at
 * its end (check.h). A failure is printed with its schedule, which reproduces it:
 *
 *     explore 1011/timed --schedule 12:1,40:2 --trace
 *
 *     --bound N       at most N preemptions (default 2; 1 for generated scenarios and those with `lack`)
 *     --most N        give up on a scenario after N runs (default 300,000)
 *     --quick         at most 1 preemption and 20,000 runs per scenario, and a small part of the generated ones
 *     --brief         like --quick, with 60 runs per scenario
 *     --all           all generated scenarios: takes hours
 *     --part I/N      the I-th of N parts of the generated scenarios (default 0/200)
 *     --stale N       at most N loads that return a replaced value (default 0; memory.h)
 *     --litmus        test the memory model of --stale
 *     --schedule S    run only this schedule
 *     --trace         print every operation
 *     --every         continue after a failure, and print one failure of each sort
 *     --group         print one failure of each sort, and the number of failures of that sort
 *     --quiet         print only failures, and scenarios whose search was given up
 *     --save DIR N    save up to N different traces per scenario, spread over the search
 *     --list          list the hand-written scenarios
 *     --random N,CALLS,SEED
 *                     run N random programs instead, of up to CALLS calls each (random.h)
 *     --killed        (-DEXPLORE_OUTSIDE) kill the program at each step: outside.h
 *     --show          print the text of the generated scenarios instead of running them
 *
 * The search does not detect races of plain accesses; ThreadSanitizer does.
 */
#define _GNU_SOURCE 1
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef EXPLORE_OUTSIDE
static void *explore_allocate(size_t size);
static void explore_free(void *memory, size_t size);
#define GOTRACE_MALLOC(size) explore_allocate(size)
#define GOTRACE_FREE(pointer, size) explore_free((pointer), (size))
#endif

/* Small tables and chunks, so that a run is short. */
#define GOTRACE__PLATFORM "tests/explore/platform.h"
#define GOTRACE__CHAINS ((size_t)32)
#define GOTRACE__CHUNK_BYTES 480u /* room for two short logs: a call needs more room than it uses */
#define GOTRACE__FIRST_CHUNK_BYTES 480u
static uint64_t explore_clock_skew;
#define GOTRACE__CLOCK_SKEW explore_clock_skew /* see "TIME" in engine.h */
#define GOTRACE__ARENA_BLOCK 4096
#define GOTRACE__SAMPLES 4
#define GOTRACE__TASKS 32
#define GOTRACE__SLAB 8
#define GOTRACE__TIMERS 8
#define GOTRACE__WAIT_BUCKETS 2
#define GOTRACE__SITES 3u
struct gotrace__transcriber;
union gotrace__record;
static void explore_record_applied(const struct gotrace__transcriber *t, const union gotrace__record *record);
#define GOTRACE__RECORD_APPLIED(t, record) explore_record_applied(t, record)
#include "../test_room.h"
#ifdef EXPLORE_OUTSIDE
#define GOTRACE__BOX /* with a platform of its own, too */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#define GOTRACE__UNLOADS
#define WRITE_H /* the part of the library that converts traces needs most of the tool */
#include "../../examples/gotrace/library.c"
#else
#define GOTRACE_STATIC 1
#define GOTRACE__UNLOADS /* as if compiled for a shared library */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#endif

#include "../check_v1.h"
#include "../check_v2.h"
#include <stdio.h>
#include <sys/personality.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"

#include "calls.h"
#include "check.h"

/* ------------------------------------------------------------------------------------------------- scenarios ---- */

typedef struct explore_scenario {
  const char *name;
  int since, until; /* formats */
  const char *text;
} explore_scenario;

/* A sample: the oldest and the newest format, and those between them that differ most. */
static const int explore_formats[] = {1008, 1011, 1021, 1022, 1023, 1026};
#define EXPLORE_FORMATS ((unsigned)(sizeof explore_formats / sizeof explore_formats[0]))

/* Each is run in those of explore_formats from `since` to `until`. */
static const explore_scenario explore_scenarios[] = {
#include "scenarios.h"
};

#include "generate.h"

#define EXPLORE_COUNT (sizeof explore_scenarios / sizeof explore_scenarios[0])

/* ---------------------------------------------------------------------------------------------------- search ---- */

static struct {
  int bound, learning;
  uint64_t most; /* runs per scenario */
  const char *schedule;
  bool all; /* continue after the first failure */
  bool quiet;
  bool deep;            /* --bound was given: also for generated scenarios */
  bool show;            /* print the text of generated scenarios */
  bool group;           /* print only the first failure of each sort */
  unsigned part, parts; /* of the generated scenarios */
  unsigned passed, failed, findings;
  uint64_t runs;
} options = {2, 40, 300000, NULL, false, false, false, false, false, 0, 200, 0, 0, 0, 0};

typedef struct explore_result {
  uint64_t runs, pruned, learned;
  bool complete, failed;
} explore_result;

static double explore_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Runs the scenario once, from a fresh state. False if the run fails. */
static bool explore_once(int format) {
  unsigned i;
  gotrace_options given;
  memset(&given, 0, sizeof given);
  given.format = (gotrace_format)format;
  given.cut_milliseconds = 3600000;
  memset(world.go, 0, sizeof world.go);
  memset(world.proc, 0, sizeof world.proc);
  memset(world.task, 0, sizeof world.task);
  memset(world.site, 0, sizeof world.site);
  for (i = 0; i < EXPLORE_THREADS; i++) {
    const gotrace_location here = {0, "call", "explore.c", i + 1};
    world.site[i][0].location = world.site[i][1].location = here;
  }
  world.options = given;
  world.started = world.stopping = world.fails = world.flight = world.forked = world.clean = false;
  world.blocks = world.allocator_calls = world.unread = false;
  world.sink_calls = world.room = 0;
  world.trace_session = world.tick_session = 0;
  memset(&scheduler, 0, sizeof scheduler);
  world.trace_count = world.cut_count = 0;
  world.ordered = false;
  memset(world.order, 0, sizeof world.order);
  memset(world.known, 0, sizeof world.known);
  memset(world.applied, 0, sizeof world.applied);
  memset(world.litmus, 0, sizeof world.litmus);
  memset(world.puts, 0, sizeof world.puts);
  memset(world.outcome, 0, sizeof world.outcome);
  explore_run();
  if (explore.end == EXPLORE_FINISHED && !explore_check_run()) explore.end = EXPLORE_FAILED;
  return explore.end != EXPLORE_FAILED;
}

static void explore_print_schedule(void) {
  size_t i;
  if (!explore.switch_count) printf("0:0"); /* the default one */
  for (i = 0; i < explore.switch_count; i++)
    printf("%s%u:%d", i ? "," : "", explore.switches[i].step, explore.switches[i].thread);
}

static size_t explore_read_schedule(const char *text, explore_switch *switches) {
  size_t count = 0;
  int used;
  while (count < EXPLORE_SWITCHES &&
         sscanf(text, "%u:%d%n", &switches[count].step, &switches[count].thread, &used) == 2) {
    if (switches[count].step) count++;
    text += used;
    if (*text == ',') text++;
  }
  return count;
}

/* A failure message's hash without its digits: failures that differ only in numbers are of the same sort. */
static uint64_t explore_likeness(const char *failure) {
  uint64_t hash = 1;
  for (; *failure; failure++)
    if (*failure < '0' || *failure > '9') hash = explore_mix(hash, (uint64_t)*failure);
  return hash;
}

/* A sort of failure, and the scenario in which it was first seen. */
typedef struct explore_sort {
  uint64_t likeness;
  unsigned count;
  char name[128], failure[sizeof explore.failure];
} explore_sort;

static explore_sort explore_sorts[256];
static size_t explore_sort_count;

/* Counts a scenario's failure; true if it is the first of its sort. */
static bool explore_count_failure(const char *name) {
  uint64_t likeness = explore_likeness(explore.failure);
  size_t i;
  for (i = 0; i < explore_sort_count && explore_sorts[i].likeness != likeness; i++) continue;
  if (i == 256) return false;
  explore_sorts[i].count++;
  if (i < explore_sort_count) return false;
  explore_sorts[i].likeness = likeness;
  snprintf(explore_sorts[i].name, sizeof explore_sorts[i].name, "%s", name);
  snprintf(explore_sorts[i].failure, sizeof explore_sorts[i].failure, "%s", explore.failure);
  explore_sort_count++;
  return true;
}

static void explore_print_failure(const char *name) {
  printf("FAILED '%s' --schedule ", name);
  explore_print_schedule();
  printf("\n       %s\n", explore.failure);
  fflush(stdout);
}

static void explore_report(const char *name) {
  bool first = explore_count_failure(name);
  options.findings++;
  if (first || !(options.all || options.group)) explore_print_failure(name);
}

/* Runs all schedules with at most `bound` preemptions. False if it gave up or found a failure. */
static bool explore_search(const char *name, int format, int bound, explore_result *result) {
  bool any = false; /* a run was neither pruned nor restarted: it was checked */
  explore.bound = bound;
  explore_begin_search();
  for (;;) {
    bool ok = explore_once(format);
    result->runs++;
    if (explore.end == EXPLORE_PRUNED) result->pruned++;
    any |= explore.end == EXPLORE_FINISHED || explore.end == EXPLORE_FAILED;
    if (explore.end == EXPLORE_LEARNED) { /* restart: there are more points of preemption now */
      result->learned++;
      explore_begin_search();
      continue;
    }
    if (!ok) {
      result->failed = true;
      explore_report(name);
      if (!options.all) return false;
      while (explore.choice_count && explore.choices[explore.choice_count - 1].step > EXPLORE_STEPS / 4)
        explore.choice_count--; /* an endless loop has too many choices to try them all */
    }
    if (!explore_next()) {
      if (any) return true;
      snprintf(explore.failure, sizeof explore.failure, "no run has come to its end");
      result->failed = true;
      explore_report(name);
      return false;
    }
    if (result->runs >= options.most) return false;
  }
}

/* Runs the scenario in `script`. */
static void explore_scenario_run(const char *name, int format) {
  explore_result result;
  double begin = explore_seconds(), took;
  int bound, i;
  memset(&result, 0, sizeof result);
  explore_begin_scenario();
  explore_saved_here = 0;
  if (options.schedule) {
    static explore_switch switches[EXPLORE_SWITCHES];
    explore.mode = EXPLORE_REPLAY;
    explore.replay_count = explore_read_schedule(options.schedule, switches);
    explore.replay = switches;
    explore.left = 0;
    if (explore_once(format)) printf("passed %s\n", name), options.passed++;
    else explore_report(name), options.failed++;
    if (explore.trace && explore_save_to && world.trace_count) explore_save(&world.traces[0], "replay");
    return;
  }
  explore.mode = EXPLORE_RANDOM;
  for (i = 0; i < options.learning; i++) explore_once(format);
  explore.mode = EXPLORE_SEARCH;
  for (bound = 0; bound <= options.bound; bound++) {
    result.complete = explore_search(name, format, bound, &result);
    if (!result.complete) break;
  }
  took = explore_seconds() - begin;
  options.runs += result.runs;
  if (result.failed) options.failed++;
  else options.passed++;
  if (!options.quiet || (result.failed && !options.group) || (!result.failed && !result.complete))
    printf("%s %s: bound %d, %llu runs, %llu pruned, %s, %.1f s, %.0f a second\n", result.failed ? "failed" : "passed",
           name, bound > options.bound ? options.bound : bound, (unsigned long long)result.runs,
           (unsigned long long)result.pruned, result.complete ? "complete" : "not complete", took,
           (double)result.runs / (took > 0 ? took : 1e-9));
  fflush(stdout);
}

/* `only`: the number of the allocation that fails in a scenario with `lack`; 0: each in turn. */
static void explore_text_run(const char *name, int format, const char *text, unsigned only) {
  const char *wrong = explore_parse(text);
  int bound = options.bound;
  if (wrong) {
    fprintf(stderr, "explore: %s: what is '%s'?\n", name, wrong);
    exit(2);
  }
  if (!explore.lack_at) {
    explore_scenario_run(name, format);
    return;
  }
  if (!options.deep && bound > 1) options.bound = 1; /* each allocation takes a search of its own */
  for (;; explore.lack_at++) {                       /* until a search does not reach allocation lack_at */
    char numbered[160];
    if (only && explore.lack_at != only) continue;
    snprintf(numbered, sizeof numbered, "%s#%u", name, (unsigned)explore.lack_at);
    explore.lack_met = false;
    explore_scenario_run(numbered, format);
    if (!explore.lack_met || only) break;
  }
  options.bound = bound;
}

/* Runs the generated scenario with this name; false if there is none. */
static bool explore_generated_run(const char *name) {
  char text[1024];
  int format;
  if (!explore_generate_by_name(name, text, sizeof text, &format)) return false;
  if (options.show) printf("%s\n  %s\n", name, text);
  else explore_text_run(name, format, text, 0);
  return true;
}

/* Runs part options.part of the generated scenarios. A hash of the number decides which part a scenario is in. */
static void explore_all_generated(void) {
  char name[128], text[1024];
  unsigned number;
  int bound = options.bound > 0 && !options.deep ? 1 : options.bound;
  for (number = 0; number < EXPLORE_GENERATED; number++) {
    int format;
    if ((explore_mix(number, 3) >> 20) % options.parts != options.part) continue;
    if (!explore_generate(number, name, sizeof name, text, sizeof text, &format)) continue;
    options.bound = bound - (strstr(text, "snapshot") && bound > 0); /* a service thread multiplies the schedules */
    explore_text_run(name, format, text, 0);
  }
}

/* Runs the scenarios selected by an argument of the command line. */
static void explore_select(const char *given) {
  static char pattern[16 * EXPLORE_COMMANDS];
  char name[128];
  const char *number = strrchr(given, '#');
  unsigned only = number ? (unsigned)atoi(number + 1) : 0;
  size_t i, f, found = 0;
  snprintf(pattern, sizeof pattern, "%.*s", (int)(number ? (size_t)(number - given) : strlen(given)), given);
  if (!strncmp(pattern, "pair/", 5)) {
    if (!explore_generated_run(pattern)) {
      fprintf(stderr, "explore: no scenario '%s'\n", pattern);
      exit(2);
    }
    return;
  }
  if (!strcmp(pattern, "generated")) {
    explore_all_generated();
    return;
  }
  if (strchr(pattern, ' ')) {
    explore_text_run(pattern, atoi(pattern), strchr(pattern, ' ') + 1, only);
    return;
  }
  for (i = 0; i < EXPLORE_COUNT; i++)
    for (f = 0; f < EXPLORE_FORMATS; f++) {
      snprintf(name, sizeof name, "%d/%s", explore_formats[f], explore_scenarios[i].name);
      if (strcmp(pattern, "") && strcmp(pattern, name) && strcmp(pattern, explore_scenarios[i].name) &&
          !(strlen(pattern) == 4 && !memcmp(pattern, name, 4)))
        continue;
      if (explore_formats[f] < explore_scenarios[i].since || explore_formats[f] > explore_scenarios[i].until) continue;
      found++;
      explore_text_run(name, explore_formats[f], explore_scenarios[i].text, only);
    }
  if (!found) {
    fprintf(stderr, "explore: no scenario '%s'\n", pattern);
    exit(2);
  }
}

#include "random.h"

static void explore_list(void) {
  size_t i;
  for (i = 0; i < EXPLORE_COUNT; i++) printf("%-24s %s\n", explore_scenarios[i].name, explore_scenarios[i].text);
}

/* A litmus test: all outcomes that must be found, and no others. An outcome is what each thread has read. */
static const struct explore_litmus_test {
  const char *name, *text, *outcomes;
} explore_litmus_tests[] = {
    {"message-passing", "|| 1 put1 put2; 2 get2 get1", " 00 01 10 11"},
    {"message-passing-acquire", "|| 1 put1 putrelease2; 2 getacquire2 get1", " 00 01 11"},
    {"message-passing-relaxed-load", "|| 1 put1 putrelease2; 2 get2 get1", " 00 01 10 11"},
    {"message-passing-fences", "|| 1 put1 fence put2; 2 get2 fence get1", " 00 01 11"},
    {"message-passing-three", "|| 1 put1 putrelease2; 2 getacquire2 putrelease3; 3 getacquire3 get1",
     " 0/00 0/01 1/00 1/01 0/10 0/11 1/11"},
    {"store-buffering", "|| 1 put1 get2; 2 put2 get1", " 0/0 0/1 1/0 1/1"},
    {"store-buffering-acquire", "|| 1 putrelease1 getacquire2; 2 putrelease2 getacquire1", " 0/0 0/1 1/0 1/1"},
    {"store-buffering-seq-cst", "|| 1 putseqcst1 getseqcst2; 2 putseqcst2 getseqcst1", " 0/1 1/0 1/1"},
    {"store-buffering-fences", "|| 1 put1 fence get2; 2 put2 fence get1", " 0/1 1/0 1/1"},
    {"store-buffering-one-fence", "|| 1 put1 fence get2; 2 put2 get1", " 0/0 0/1 1/0 1/1"},
    {"store-buffering-barrier", "|| 1 put1 barrier get2; 2 put2 get1", " 0/1 1/0 1/1"},
    {"coherence", "|| 1 put1 put1; 2 get1 get1", " 00 01 02 11 12 22"},
    {"coherence-acquire", "|| 1 put1 putrelease1; 2 getacquire1 getacquire1", " 00 01 02 11 12 22"},
    {"coherence-own", "|| 1 put1 get1; 2 get1", " 1/0 1/1"},
    {"two-readers", "|| 1 put1; 2 put2; 3 get1 get2; 4 get2 get1",
     " 00/00 00/01 00/10 00/11 01/00 01/01 01/10 01/11 10/00 10/01 10/10 10/11 11/00 11/01 11/10 11/11"},
    {"two-readers-acquire", "|| 1 putrelease1; 2 putrelease2; 3 getacquire1 getacquire2; 4 getacquire2 getacquire1",
     " 00/00 00/01 00/10 00/11 01/00 01/01 01/10 01/11 10/00 10/01 10/10 10/11 11/00 11/01 11/10 11/11"},
    {"two-readers-seq-cst", "|| 1 putseqcst1; 2 putseqcst2; 3 getseqcst1 getseqcst2; 4 getseqcst2 getseqcst1",
     " 00/00 00/01 00/10 00/11 01/00 01/01 01/10 01/11 10/00 10/01 10/11 11/00 11/01 11/10 11/11"},
    {"two-readers-fences", "|| 1 put1; 2 put2; 3 get1 fence get2; 4 get2 fence get1",
     " 00/00 00/01 00/10 00/11 01/00 01/01 01/10 01/11 10/00 10/01 10/11 11/00 11/01 11/10 11/11"},
};

/* Whether each space-separated word of `some` is in `all`; if not, prints the first that is not. */
static bool explore_outcomes_in(const char *some, const char *all, const char *name, const char *what) {
  char word[32];
  while (*some == ' ') {
    size_t size = 1 + strcspn(some + 1, " ");
    const char *found;
    snprintf(word, sizeof word, "%.*s", (int)size, some);
    for (found = strstr(all, word); found && found[size] && found[size] != ' '; found = strstr(found + 1, word))
      continue;
    if (!found) return printf("FAILED %s: %s%s\n", name, what, word), false;
    some += size;
  }
  return true;
}

/* Runs the litmus tests, under all schedules and with all stale reads. */
static int explore_litmus(void) {
  unsigned passed = 0, failed = 0;
  size_t test;
  explore.stale = 4;
  explore.bound = 14;
  for (test = 0; test < sizeof explore_litmus_tests / sizeof explore_litmus_tests[0]; test++) {
    const struct explore_litmus_test *litmus = &explore_litmus_tests[test];
    char found[512] = "";
    int i;
    explore_parse(litmus->text);
    explore_begin_scenario();
    explore.mode = EXPLORE_RANDOM;
    for (i = 0; i < options.learning; i++) explore_once(1023);
    explore.mode = EXPLORE_SEARCH;
    explore_begin_search();
    do {
      char outcome[64] = " ";
      explore_once(1023);
      if (explore.end == EXPLORE_LEARNED) explore_begin_search();
      for (i = 1; i < EXPLORE_THREADS; i++)
        if (world.outcome[i][0])
          snprintf(outcome + strlen(outcome), sizeof outcome - strlen(outcome), "%s%s", outcome[1] ? "/" : "",
                   world.outcome[i]);
      strcat(outcome, " ");
      if (explore.end == EXPLORE_FINISHED && !strstr(found, outcome)) {
        if (found[0]) found[strlen(found) - 1] = 0;
        strcat(found, outcome);
      }
    } while (explore.end == EXPLORE_LEARNED || explore_next());
    if (found[0]) found[strlen(found) - 1] = 0;
    if (explore_outcomes_in(found, litmus->outcomes, litmus->name, "not allowed, but found:") &
        explore_outcomes_in(litmus->outcomes, found, litmus->name, "allowed, but not found:"))
      passed++;
    else failed++;
  }
  printf("%u passed, %u failed, 0 skipped\n", passed, failed);
  return failed != 0;
}

static const char *explore_argument(char **argv, int *i) {
  if (!argv[*i + 1]) {
    fprintf(stderr, "explore: %s wants a value\n", argv[*i]);
    exit(2);
  }
  return argv[++*i];
}

/* Addresses decide which keys share a bucket and which tables grow. Runs this program again with the same ones each
 * time, so that every run makes the same search; if the system forbids it, runs differ a little. */
static void explore_fix_addresses(char **argv) {
  int before = personality(0xffffffff);
  if (before == -1 || (before & ADDR_NO_RANDOMIZE)) return;
  if (personality((unsigned long)before | ADDR_NO_RANDOMIZE) != -1) execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
  double begin = explore_seconds();
  const char *patterns[64], *random = NULL;
  size_t sort;
  int i, count = 0;
  explore.calm = 16;
  explore_fix_addresses(argv);
  for (i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--list")) return explore_list(), 0;
    else if (!strcmp(argv[i], "--random")) random = explore_argument(argv, &i);
    else if (!strcmp(argv[i], "--bound")) options.bound = atoi(explore_argument(argv, &i)), options.deep = true;
    else if (!strcmp(argv[i], "--stale")) explore.stale = (unsigned)atoi(explore_argument(argv, &i));
    else if (!strcmp(argv[i], "--litmus")) return explore_litmus();
    else if (!strcmp(argv[i], "--most")) options.most = strtoull(explore_argument(argv, &i), NULL, 10);
    else if (!strcmp(argv[i], "--schedule")) options.schedule = explore_argument(argv, &i);
    else if (!strcmp(argv[i], "--trace")) explore.trace = true;
    else if (!strcmp(argv[i], "--every")) options.all = true;
    else if (!strcmp(argv[i], "--group")) options.group = options.quiet = true;
    else if (!strcmp(argv[i], "--show")) options.show = true;
    else if (!strcmp(argv[i], "--part")) {
      if (sscanf(explore_argument(argv, &i), "%u/%u", &options.part, &options.parts) != 2 || !options.parts) return 2;
    } else if (!strcmp(argv[i], "--quiet")) options.quiet = true;
#ifdef EXPLORE_OUTSIDE
    else if (!strcmp(argv[i], "--killed")) outside.kills = true;
#endif
    else if (!strcmp(argv[i], "--all")) options.part = 0, options.parts = 1;
    else if (!strcmp(argv[i], "--quick")) {
      options.bound = 1;
      options.most = 20000;
      options.parts = 2000;
      options.quiet = true;
    } else if (!strcmp(argv[i], "--brief")) {
      options.bound = 1;
      options.most = 60;
      options.parts = 2000;
      options.quiet = true;
    } else if (!strcmp(argv[i], "--save")) {
      explore_save_to = explore_argument(argv, &i);
      explore_save_most = (unsigned)atoi(explore_argument(argv, &i));
    } else if (argv[i][0] == '-' || count == 64) {
      fprintf(stderr, "explore: unknown option %s\n", argv[i]);
      return 2;
    } else patterns[count++] = argv[i];
  }
  explore_catch_crashes();
  if (random) return explore_random_run(random);
  if (!count) {
    patterns[count++] = "";
    patterns[count++] = "generated";
  }
  for (i = 0; i < count; i++) explore_select(patterns[i]);
  for (sort = 0; options.group && sort < explore_sort_count; sort++)
    printf("%6u x %s (first: %s)\n", explore_sorts[sort].count, explore_sorts[sort].failure, explore_sorts[sort].name);
  printf("%llu runs in %.1f s\n%u passed, %u failed, 0 skipped\n", (unsigned long long)options.runs,
         explore_seconds() - begin, options.passed, options.failed);
  return options.failed != 0;
}
