/* profile.c - gotrace profile: times and counts by stack, as pprof's protobuf or folded stacks
 *
 * Counts stretches of a status, by the stack of the event that began them. So time in which a goroutine was runnable
 * belongs to the stack of the goroutine that woke or created it. Stretches of 0 ns do not count. A stretch that is
 * older than the trace or than the selected part, or that does not end in it, counts for its time there.
 *
 * The profiles of `go tool trace` (cmd/trace/pprof.go) are equal, stack by stack, but for what these of Go 1.22 to 1.27
 * leave out: times before a goroutine first runs (Go 1.21 has them), times that do not end in the trace, waits for
 * ever, the time from the start of the trace to the event that first tells a goroutine's status, and all but the last
 * use of a goroutine id (cgo callbacks). Times of a v1 trace are those in the file, while Go moves equal times apart by
 * a nanosecond. */

#include "../command/commands.h"
#include "folded.h"
#include "../reading/filter.h"
#include "../base/protobuf.h"
#include "../reading/source.h"

#include <stdlib.h>

typedef struct kind {
  const char *name;
  uint8_t status;             /* of the stretches that count; GO_NONE: counts operations */
  const char *reasons[4];     /* of a wait: it must contain one of these; none: any reason will do */
  bool exactly;               /* it must equal one of these */
  const char *counted, *unit; /* of the samples */
} kind;

static const kind kinds[] = {
    {"cpu", GO_NONE, {NULL}, false, "samples", "count"},
    {"create", GO_NONE, {NULL}, false, "goroutines", "count"},
    {"sync", GO_WAITING, {"chan", "sync", "select", "forever"}, false, "contentions", "count"},
    {"network", GO_WAITING, {"network"}, true, "contentions", "count"},
    {"blocked", GO_WAITING, {NULL}, false, "contentions", "count"},
    {"syscall", GO_SYSCALL, {NULL}, false, "contentions", "count"},
    {"scheduler", GO_RUNNABLE, {NULL}, false, "contentions", "count"},
};

typedef struct record {
  uint32_t stack;
  uint64_t count;
  int64_t time;
} record;

typedef struct profile {
  consumer c;
  const kind *kind;
  map records; /* struct record by stack */
  map reasons; /* from a text to `yes` or `no` */
  int64_t begin, end;
} profile;

static char yes, no;

/* A stack whose only frame is unknown is like none. */
static uint32_t known_stack(uint32_t stack) {
  pool_stack s = pool_stack_of(stack);
  return s.count == 1 && !s.frames[0].pc && !s.frames[0].function ? 0 : stack;
}

static void add(profile *p, uint32_t stack, int64_t time) {
  record *r = map_keep(&p->records, stack, sizeof *r, NULL);
  r->stack = stack;
  r->count++;
  r->time = r->time > INT64_MAX - time ? INT64_MAX : r->time + time;
}

static bool reason_counts(profile *p, uint32_t reason) {
  char *known = map_get(&p->reasons, reason);
  size_t i;
  if (known) return known == &yes;
  known = p->kind->reasons[0] ? &no : &yes;
  for (i = 0; i < COUNT(p->kind->reasons) && p->kind->reasons[i]; i++)
    if ((p->kind->exactly ? pool_text_is : pool_text_contains)(reason, p->kind->reasons[i])) known = &yes;
  map_put(&p->reasons, reason, known);
  return known == &yes;
}

/* The time for which a stretch counts. A system call of v1 that keeps its proc has no end event: it counts for a
 * nanosecond, as in Go. */
static int64_t length_of(const stretch *part) {
  bool kept_proc =
      part->status == GO_SYSCALL && part->by && part->by->kind == GOTRACE_V2_GO_SYSCALL_END && part->end == part->begin;
  return kept_proc ? 1 : between(part->begin, part->end);
}

static void profile_stretch(consumer *c, const stretch *part) {
  profile *p = (profile *)c;
  int64_t time = length_of(part);
  if (part->status != p->kind->status || time <= 0) return;
  if (part->status != GO_WAITING || reason_counts(p, part->reason)) add(p, known_stack(part->cause), time);
}

static void profile_take(consumer *c, const op *o) {
  profile *p = (profile *)c;
  if (p->kind->status != GO_NONE) return;
  if (p->kind->name[1] == 'p' ? o->kind == GOTRACE_V2_CPU_SAMPLE : creates(o->kind)) add(p, known_stack(o->stack), 0);
}

static void profile_begin(consumer *c, int64_t time) { ((profile *)c)->begin = time; }

static void profile_end(consumer *c, int64_t time) { ((profile *)c)->end = time; }

static void write_folded(const profile *p, output *out) {
  folded lines = {0};
  size_t i;
  for (i = 0; i < p->records.count; i++) {
    const record *r = p->records.values[i];
    folded_add(&lines, r->stack, 0, NULL, p->kind->status == GO_NONE ? r->count : (uint64_t)r->time);
  }
  folded_write(&lines, out);
}

/* ---------------------------------------------------------------------------------------------- pprof's format ---- */

enum { /* fields of the messages of pprof's profile.proto */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING_TABLE = 6,
       PROFILE_TIME_NANOS = 9,
       PROFILE_DURATION_NANOS = 10,
       PROFILE_PERIOD_TYPE = 11,
       PROFILE_PERIOD = 12,
       VALUE_TYPE_TYPE = 1,
       VALUE_TYPE_UNIT = 2,
       SAMPLE_LOCATION_ID = 1,
       SAMPLE_VALUE = 2,
       LOCATION_ID = 1,
       LOCATION_ADDRESS = 3,
       LOCATION_LINE = 4,
       LINE_FUNCTION_ID = 1,
       LINE_LINE = 2,
       FUNCTION_ID = 1,
       FUNCTION_NAME = 2,
       FUNCTION_SYSTEM_NAME = 3,
       FUNCTION_FILENAME = 4
};

typedef struct pprof {
  bytes strings, functions, locations, rest; /* fields of the profile */
  map by_text, by_function, by_frame;        /* their indices from 1 are ids */
  bytes nested, inner, list;
} pprof;

static uint64_t string_index(pprof *w, uint32_t text) {
  uint64_t count = w->by_text.count, index = text ? map_index(&w->by_text, text) + 1 : 0;
  pool_text t = pool_text_of(text);
  if (index > count) put_string_field(&w->strings, PROFILE_STRING_TABLE, t.data, t.size);
  return index;
}

static uint64_t function_id(pprof *w, const pool_frame *f) {
  uint64_t count = w->by_function.count;
  uint64_t id = map_index(&w->by_function, (uint64_t)f->function << 32 | f->file) + 1;
  if (id <= count) return id;
  put_number_field(&w->nested, FUNCTION_ID, id);
  put_number_field(&w->nested, FUNCTION_NAME, string_index(w, f->function));
  put_number_field(&w->nested, FUNCTION_SYSTEM_NAME, string_index(w, f->function));
  put_number_field(&w->nested, FUNCTION_FILENAME, string_index(w, f->file));
  put_message_field(&w->functions, PROFILE_FUNCTION, &w->nested);
  return id;
}

/* Go has one location per pc. Here, frames of inlined functions may have the same pc, so each frame has its own. */
static uint64_t location_id(pprof *w, const pool_frame *f) {
  uint64_t count = w->by_frame.count, id = map_index(&w->by_frame, pool_put_stack(f, 1)) + 1, function;
  if (id <= count) return id;
  function = function_id(w, f); /* it uses `nested` */
  put_number_field(&w->inner, LINE_FUNCTION_ID, function);
  put_number_field(&w->inner, LINE_LINE, f->line);
  put_number_field(&w->nested, LOCATION_ID, id);
  put_number_field(&w->nested, LOCATION_ADDRESS, f->pc);
  put_message_field(&w->nested, LOCATION_LINE, &w->inner);
  put_message_field(&w->locations, PROFILE_LOCATION, &w->nested);
  return id;
}

static void put_value_type(pprof *w, unsigned field, const char *type, const char *unit) {
  put_number_field(&w->nested, VALUE_TYPE_TYPE, string_index(w, pool_put_string(type)));
  put_number_field(&w->nested, VALUE_TYPE_UNIT, string_index(w, pool_put_string(unit)));
  put_message_field(&w->rest, field, &w->nested);
}

static void put_record(pprof *w, const record *r, bool times, output *out) {
  pool_stack stack = pool_stack_of(r->stack);
  bytes sample = {0};
  uint32_t i;
  for (i = 0; i < stack.count; i++) put_number(&w->list, location_id(w, &stack.frames[i]));
  if (stack.count) put_message_field(&sample, SAMPLE_LOCATION_ID, &w->list);
  put_number(&w->list, r->count);
  if (times) put_number(&w->list, (uint64_t)r->time);
  put_message_field(&sample, SAMPLE_VALUE, &w->list);
  put_message_field(&out->block, PROFILE_SAMPLE, &sample);
  output_check(out);
  free(sample.data);
}

static void write_pprof(const profile *p, output *out) {
  uint64_t wall = wall_at(&p->c.w->wall, p->begin);
  bool times = p->kind->status != GO_NONE;
  pprof w;
  size_t i;
  memset(&w, 0, sizeof w);
  put_data_field(&w.strings, PROFILE_STRING_TABLE, "", 0);
  put_value_type(&w, PROFILE_SAMPLE_TYPE, p->kind->counted, "count");
  if (times) put_value_type(&w, PROFILE_SAMPLE_TYPE, "delay", "nanoseconds");
  put_value_type(&w, PROFILE_PERIOD_TYPE, "trace", "count");
  put_number_field(&w.rest, PROFILE_PERIOD, 1);
  put_number_field(&w.rest, PROFILE_DURATION_NANOS, (uint64_t)between(p->begin, p->end));
  if (wall) put_number_field(&w.rest, PROFILE_TIME_NANOS, wall);
  for (i = 0; i < p->records.count; i++) put_record(&w, p->records.values[i], times, out);
  put_data(&out->block, w.rest.data, w.rest.size);
  put_data(&out->block, w.locations.data, w.locations.size);
  put_data(&out->block, w.functions.data, w.functions.size);
  put_data(&out->block, w.strings.data, w.strings.size);
  free(w.strings.data);
  free(w.functions.data);
  free(w.locations.data);
  free(w.rest.data);
  free(w.nested.data);
  free(w.inner.data);
  free(w.list.data);
  map_free(&w.by_text);
  map_free(&w.by_function);
  map_free(&w.by_frame);
}

int command_profile(const char *path, const settings *set) {
  trace_part of;
  profile *p = keep(sizeof *p);
  output out;
  p->kind = kinds;
  while (strcmp(p->kind->name, set->profile) != 0) p->kind++;
  p->c.begin = profile_begin;
  p->c.take = profile_take;
  p->c.end = profile_end;
  p->c.stretch = p->kind->status == GO_NONE ? NULL : profile_stretch;
  p->c.statuses = p->c.history = p->c.later = true;
  p->c.filter = &of.selection;
  if (!part_open(&of, path, set)) return 1;
  part_read(&of, &p->c, set, NULL, NULL);
  filter_require(&of.selection, &of.s.w);
  output_open(&out, set->output);
  if (set->folded) write_folded(p, &out);
  else write_pprof(p, &out);
  output_close(&out);
  part_close(&of);
  return 0;
}
