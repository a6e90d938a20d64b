/* story.h - counts the facts in a trace. Each adapter's test compares them with its program's own counts.
 *
 * story_read reads a trace of format 1.22 or later. A fact is a line such as
 *
 *     created FUNCTION          a goroutine with this entry
 *     started FUNCTION          it was given a thread
 *     stopped FUNCTION REASON   it gave its thread up, but could run on
 *     blocked FUNCTION REASON   it began to wait
 *     woken FUNCTION            another goroutine ended its wait; not counted if it did so itself, as after a time-out
 *     continued FUNCTION        its wait ended without a waker and without a place
 *     ended FUNCTION
 *     region NAME, log CATEGORY, task NAME
 *     counted NAME VALUE        a counter
 *     placed FILE               a block or log whose place is in this file
 *
 * FUNCTION is the goroutine's name, the function of its first frame; "?" if the trace does not contain its creation. */
#ifndef STORY_H
#define STORY_H

#include <fnmatch.h>

#include "../test.h"
#include "gotrace.h"

enum { STORY_GOROUTINES = 1 << 16, STORY_FACTS = 1 << 10, STORY_TEXT = 160 };

static struct {
  char names[STORY_GOROUTINES][64];
  char facts[STORY_FACTS][STORY_TEXT];
  long counts[STORY_FACTS];
  int fact_count;
} story;

/* Whether a program that is done in a millisecond must do its work once more, so that traces can start and stop
 * meanwhile: always, if GOTRACE_TEST_AGAIN is set (see capture/mid_flight.sh). */
static inline bool story_again(void) { return getenv("GOTRACE_TEST_AGAIN") != NULL; }

static void story_add(const char *fact) {
  int i;
  for (i = 0; i < story.fact_count; i++)
    if (strcmp(story.facts[i], fact) == 0) break;
  CHECK(i < STORY_FACTS);
  if (i == story.fact_count) snprintf(story.facts[story.fact_count++], STORY_TEXT, "%s", fact);
  story.counts[i]++;
}

static const char *story_name(uint64_t go) {
  CHECK(go < STORY_GOROUTINES);
  return story.names[go][0] ? story.names[go] : "?";
}

static const char *story_string(gotrace_decoder *decoder, uint64_t id) {
  static char text[64];
  const char *data = "";
  size_t size = 0;
  gotrace_decoder_string(decoder, id, &data, &size);
  snprintf(text, sizeof text, "%.*s", (int)size, data);
  return text;
}

/* The file of a stack's first frame. */
static void story_place(gotrace_decoder *decoder, uint64_t stack) {
  char fact[STORY_TEXT];
  gotrace_frame frame;
  if (!gotrace_decoder_stack(decoder, stack, &frame, 1)) return;
  snprintf(fact, sizeof fact, "placed %.*s", (int)frame.file_size, frame.file);
  story_add(fact);
}

static void story_event(gotrace_decoder *decoder, const gotrace_event *event) {
  char fact[STORY_TEXT];
  const uint64_t *args = event->args;
  uint64_t self = event->g >= 0 ? (uint64_t)event->g : 0;
  gotrace_frame frame;
  fact[0] = 0;
  switch (event->kind) {
  case GOTRACE_V2_GO_CREATE:
  case GOTRACE_V2_GO_CREATE_BLOCKED:
    CHECK(args[0] < STORY_GOROUTINES);
    if (gotrace_decoder_stack(decoder, args[1], &frame, 1))
      snprintf(story.names[args[0]], sizeof story.names[0], "%.*s", (int)frame.function_size, frame.function);
    snprintf(fact, sizeof fact, "created %s", story_name(args[0]));
    break;
  case GOTRACE_V2_GO_START: snprintf(fact, sizeof fact, "started %s", story_name(args[0])); break;
  case GOTRACE_V2_GO_STOP:
    snprintf(fact, sizeof fact, "stopped %s %s", story_name(self), story_string(decoder, args[0]));
    break;
  case GOTRACE_V2_GO_BLOCK:
    snprintf(fact, sizeof fact, "blocked %s %s", story_name(self),
             event->implied ? "switch" : story_string(decoder, args[0]));
    if (!event->implied) story_place(decoder, args[1]);
    break;
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY:
  case GOTRACE_V2_GO_UNBLOCK:
    if (event->g >= 0 && args[0] != self) snprintf(fact, sizeof fact, "woken %s", story_name(args[0]));
    else if (event->kind == GOTRACE_V2_GO_UNBLOCK && !args[2])
      snprintf(fact, sizeof fact, "continued %s", story_name(args[0]));
    break;
  case GOTRACE_V2_GO_DESTROY:
    snprintf(fact, sizeof fact, "ended %s", story_name(self));
    break; /* also the destroy of a switch */
  case GOTRACE_V2_USER_REGION_BEGIN: snprintf(fact, sizeof fact, "region %s", story_string(decoder, args[1])); break;
  case GOTRACE_V2_USER_LOG:
    snprintf(fact, sizeof fact, "log %s", story_string(decoder, args[1]));
    story_place(decoder, args[3]);
    if (strncmp(fact + 4, GOTRACE_COUNTER, sizeof GOTRACE_COUNTER - 1) == 0) {
      char name[64];
      snprintf(name, sizeof name, "%.63s", fact + 4 + sizeof GOTRACE_COUNTER - 1);
      snprintf(fact, sizeof fact, "counted %s %s", name, story_string(decoder, args[2]));
    }
    break;
  case GOTRACE_V2_USER_TASK_BEGIN: snprintf(fact, sizeof fact, "task %s", story_string(decoder, args[2])); break;
  default: break;
  }
  if (fact[0]) story_add(fact);
}

/* Reads a trace, which must be complete. The program must have obeyed every rule. */
static inline void story_read(const char *path) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder = NULL;
  gotrace_event event;
  gotrace_stats stats;
  FILE *file = fopen(path, "rb");
  long size;
  void *bytes;
  int i;
  gotrace_get_stats(&stats);
  for (i = 0; i < 64; i++)
    if (stats.problems[i])
      fprintf(stderr, "%llu x %s\n", (unsigned long long)stats.problems[i], gotrace_problem_string((gotrace_problem)i));
  CHECK_EQUAL(stats.dropped + stats.repaired + stats.left_out, 0);
  CHECK(file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0);
  rewind(file);
  CHECK((bytes = malloc((size_t)size)) != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  memset(&options, 0, sizeof options);
  options.data = bytes;
  options.size = (size_t)size;
  gotrace_decoder_open(&decoder, &options);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) story_event(decoder, &event);
  if (gotrace_decoder_error(decoder)->result != GOTRACE_OK) {
    fprintf(stderr, "%s: %s\n", path, gotrace_decoder_error(decoder)->message);
    exit(1);
  }
  gotrace_decoder_close(decoder);
  free(bytes);
}

/* The number of facts in the trace that match a shell pattern. */
static inline long story_count(const char *pattern) {
  long count = 0;
  int i;
  for (i = 0; i < story.fact_count; i++)
    if (fnmatch(pattern, story.facts[i], 0) == 0) count += story.counts[i];
  return count;
}

/* Fails, and prints all facts, unless the trace has that number of matching facts. */
static inline void story_expect(const char *fact, long want) {
  int i;
  if (story_count(fact) == want) return;
  fprintf(stderr, "%s: %ld, not %ld. The trace tells:\n", fact, story_count(fact), want);
  for (i = 0; i < story.fact_count; i++) fprintf(stderr, "%8ld %s\n", story.counts[i], story.facts[i]);
  exit(1);
}

#endif
