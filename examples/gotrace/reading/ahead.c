/* ahead.c - what a trace tells too late, found by reading it ahead: see ahead.h */

#include "ahead.h"

#include "../record/board.h"

#include <stdlib.h>

#define MOST_VALUE 1e290 /* of a counter: differences and sums of values are finite */

/* ------------------------------------------------------------------------------------------------------ events ---- */

const char *change_reason(const gotrace_event *e, const gotrace_change *c, size_t *size) {
  bool stops = c->kind == GOTRACE_CHANGE_STATUS && c->object == GOTRACE_OBJECT_GO &&
               c->from == GOTRACE_STATUS_RUNNING &&
               (c->to == GOTRACE_STATUS_WAITING || c->to == GOTRACE_STATUS_RUNNABLE);
  const char *text = stops ? c->name : c->kind == GOTRACE_CHANGE_RANGE_BEGIN && c->text_size ? c->text : NULL;
  *size = stops ? c->name_size : c->text_size;
  if (stops && e->implied) text = SWITCH_REASON, *size = sizeof SWITCH_REASON - 1;
  if (stops && !*size && e->v1_kind) text = UNKNOWN_REASON, *size = sizeof UNKNOWN_REASON - 1;
  return text;
}

bool log_counter(uint32_t category, uint32_t message, uint32_t *name, double *value) {
  static const char prefix[] = GOTRACE_COUNTER;
  pool_text key = pool_text_of(category), number = pool_text_of(message);
  const size_t size = sizeof prefix - 1;
  char text[64], *end;
  if (key.size < size || memcmp(key.data, prefix, size) != 0) return false;
  if (!number.size || number.size >= sizeof text) return false;
  memcpy(text, number.data, number.size);
  text[number.size] = 0;
  if (strspn(text, "0123456789+-.e") != number.size) return false; /* neither infinite nor in base 16 */
  *value = strtod(text, &end);
  if (*end || *value > MOST_VALUE || *value < -MOST_VALUE) return false;
  *name = pool_put_text(key.data + size, key.size - size);
  return true;
}

/* ------------------------------------------------------------------------------------------------------- names ---- */

void take_told(map *to, const char *data, size_t size) {
  const char *at = data, *end = data + size, *space = memchr(at, ' ', size);
  uint32_t text;
  if (!space) return;
  text = pool_put_text(space + 1, (size_t)(end - space - 1));
  while (at < space) {
    uint64_t id = 0;
    for (; at < space && *at >= '0' && *at <= '9'; at++) id = id * 10 + (uint64_t)(*at - '0');
    map_put(to, id, (void *)(uintptr_t)text);
    if (at < space && *at++ != ',') return;
  }
}

size_t told_within(const input *in) {
  gotrace_decoder_info info;
  gotrace_decoder_get_info(in->decoder, &info);
  return info.family == 1 ? SIZE_MAX : (size_t)64 << 20; /* the first generation is smaller */
}

bool is_string(const gotrace_event *e) { return e->data && strcmp(e->spec->name, "String") == 0; }

/* Whether one of the trace's strings is the category of `gotrace record`. Takes the names that come before it. */
static bool is_recorded(ahead *a, input *in) {
  static const char category[] = RECORD_CPU_TIME, names[] = OLD_NAMES;
  const size_t size = sizeof category - 1, prefix = sizeof names - 1;
  gotrace_event e;
  if (!input_is_kept(in) || input_decode(in, true) != GOTRACE_OK) return false;
  if (!input_contains(in, category, size, told_within(in))) return false;
  while (input_next(in, &e) == GOTRACE_OK) {
    if (!is_string(&e)) continue;
    if (e.data_size == size && memcmp(e.data, category, size) == 0) return true;
    if (e.data_size > prefix && memcmp(e.data, names, prefix) == 0)
      take_told(&a->called, e.data + prefix, e.data_size - prefix);
  }
  map_free(&a->called);
  return false;
}

/* Whether context switches are in the trace. */
static bool is_watched(input *in) {
  static const char text[] = RECORD_SWITCHES;
  const size_t size = sizeof text - 1;
  gotrace_event e;
  if (input_decode(in, true) != GOTRACE_OK || !input_contains(in, text, size, told_within(in))) return false;
  while (input_next(in, &e) == GOTRACE_OK)
    if (is_string(&e) && e.data_size == size && memcmp(e.data, text, size) == 0) return true;
  return false;
}

void ahead_names(ahead *a, input *in) {
  const gotrace_event *e;
  gotrace_change c;
  a->recorded = is_recorded(a, in);
  if (!a->recorded) return;
  input_first_look(in);
  a->watched = is_watched(in);
  input_first_look(in);
  if (input_decode(in, false) != GOTRACE_OK) return;
  while (input_take(in, &e) == GOTRACE_OK) {
    if (e->kind != GOTRACE_V2_GO_LABEL || !gotrace_decoder_change(in->decoder, e, &c)) continue;
    map_put(&a->called, (uint64_t)c.id, (void *)(uintptr_t)pool_put_text(c.name, cut_size(c.name, c.name_size)));
  }
}

/* ------------------------------------------------------------------------------------------------------- ahead ---- */

static void take_task(ahead *a, const gotrace_event *e, unsigned change) {
  uint64_t id = e->args[0];
  uintptr_t last = (uintptr_t)map_get(&a->task_ends, id);
  a->met |= a->wanted != NOBODY && id == a->wanted;
  if (change == GOTRACE_CHANGE_TASK_BEGIN && last) map_put(&a->task_ends, id, NULL);
  if (change != GOTRACE_CHANGE_TASK_END) return;
  if (last) map_put(&a->early_ends, last, a);
  map_put(&a->task_ends, id, (void *)(uintptr_t)(e->offset + 1));
}

static uint32_t entry_of(const gotrace_decoder *d, int64_t number) {
  gotrace_frame frame;
  return gotrace_decoder_entry(d, number, &frame) ? pool_put_frame(&frame) : 0;
}

bool lacks_function(input *in, int64_t g) {
  const gotrace_decoder *d = in->decoder;
  const char *name;
  size_t size;
  if (!gotrace_decoder_function(d, gotrace_decoder_number(d, GOTRACE_OBJECT_GO, (uint64_t)g), &name, &size))
    return true;
  in->named[(uint64_t)g % COUNT(in->named)] = g;
  return false;
}

void ahead_read(ahead *a, input *in, int64_t until, bool all) {
  const gotrace_event *e;
  gotrace_change c;
  int64_t first = 0, number = -1, i;
  bool any = false;
  input_first_look(in);
  if (input_decode(in, false) != GOTRACE_OK) return;
  while (input_take(in, &e) == GOTRACE_OK) {
    bool changed = (all || asks(in, e, false)) && gotrace_decoder_change(in->decoder, e, &c), after;
    unsigned change = change_specs[e->kind].kind;
    if (!any) first = input_first_time(in, e), any = true;
    after = between(first, e->time) > until;
    if (after && change == GOTRACE_CHANGE_SYNC) break;
    if (change == GOTRACE_CHANGE_SYNC) pool_forget_ids();
    if (changed && c.number > number) number = c.number;
    if (!after && change_has_task(change)) take_task(a, e, change);
  }
  pool_forget_ids();
  a->count = (size_t)(number + 1);
  a->entries = resize(NULL, (a->count + 1) * sizeof *a->entries);
  for (i = 0; i <= number; i++) a->entries[i] = entry_of(in->decoder, i);
}

uint32_t ahead_entry(const ahead *a, const gotrace_decoder *d, uint64_t id) {
  int64_t number = gotrace_decoder_number(d, GOTRACE_OBJECT_GO, id);
  if (a && number >= 0 && (uint64_t)number < a->count) return a->entries[number];
  return entry_of(d, number);
}

bool ahead_ends_again(const ahead *a, const gotrace_event *end) {
  return a->early_ends.count && map_get(&a->early_ends, end->offset + 1);
}

void ahead_free(ahead *a) {
  free(a->entries);
  map_free(&a->called);
  map_free(&a->task_ends);
  map_free(&a->early_ends);
}
