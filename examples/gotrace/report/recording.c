/* recording.c - one generation for a summary: see recording.h
 *
 * Items consist of base-128 numbers, in zigzag form where they may be negative. An event: kind, flags, time since the
 * last event, m, p, g, stack, number of arguments, arguments; with DATA also size and bytes. A goroutine to catch up
 * with: kind 0, then as in record_go(). */

#include "recording.h"

#include <stdlib.h>

enum { IMPLIED = 1, DATA = 2 };
#define MOST_NUMBERS 24 /* most numbers in an item */

static inline uint8_t *encode_small(uint8_t *at, uint64_t value) {
  if (value < 128) {
    *at = (uint8_t)value;
    return at + 1;
  }
  return encode_number(at, value);
}

static inline uint8_t *encode_signed(uint8_t *at, int64_t value) {
  return encode_small(at, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static inline uint64_t get(const uint8_t **at) {
  uint64_t value = 0;
  unsigned shift;
  for (shift = 0; **at & 128; shift += 7) value |= (uint64_t)(*(*at)++ & 127) << shift;
  return value | (uint64_t)(*(*at)++) << shift;
}

static inline int64_t get_signed(const uint8_t **at) {
  uint64_t value = get(at);
  return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

static inline uint8_t *room(recording *r, size_t data) {
  return bytes_room(&r->stream, MOST_NUMBERS * (size_t)GOTRACE_BYTES_PER_NUMBER + data);
}

static void record_event(digest *d, const gotrace_event *e) {
  recording *r = (recording *)d;
  uint8_t *begin = room(r, e->data_size), *at = begin;
  unsigned i;
  *at++ = e->kind;
  *at++ = (uint8_t)((e->implied ? IMPLIED : 0) | (e->data ? DATA : 0));
  at = encode_signed(at, (int64_t)((uint64_t)e->time - (uint64_t)r->time));
  at = encode_signed(at, e->m);
  at = encode_signed(at, e->p);
  at = encode_signed(at, e->g);
  at = encode_small(at, e->stack);
  *at++ = e->arg_count;
  for (i = 0; i < e->arg_count; i++) at = encode_small(at, e->args[i]);
  if (e->data) {
    at = encode_small(at, e->data_size);
    memcpy(at, e->data, e->data_size);
    at += e->data_size;
  }
  r->time = e->time;
  r->stream.size += (size_t)(at - begin);
}

static void play_event(const recording *r, const uint8_t **at, gotrace_event *e, int64_t *time) {
  unsigned flags, i;
  memset(e, 0, sizeof *e);
  e->kind = *(*at)++;
  e->spec = r->d.specs[e->kind];
  flags = *(*at)++;
  e->implied = (flags & IMPLIED) != 0;
  *time = e->time = (int64_t)((uint64_t)*time + (uint64_t)get_signed(at));
  e->m = get_signed(at);
  e->p = get_signed(at);
  e->g = get_signed(at);
  e->stack = get(at);
  e->arg_count = *(*at)++;
  for (i = 0; i < e->arg_count; i++) e->args[i] = get(at);
  if (!(flags & DATA)) return;
  e->data_size = (size_t)get(at);
  e->data = (const char *)*at;
  *at += e->data_size;
}

static void record_go(digest *d, const digested *g) {
  recording *r = (recording *)d;
  uint8_t *begin = room(r, 0), *at = begin;
  unsigned i;
  *at++ = 0; /* no event's kind */
  at = encode_small(at, g->id);
  at = encode_signed(at, (int64_t)((uint64_t)g->since - (uint64_t)r->time));
  at = encode_small(at, g->status);
  at = encode_small(at, d->threads.count ? d->threads.all[g->m]->id : 0);
  at = encode_small(at, g->reason);
  at = encode_signed(at, g->running);
  at = encode_signed(at, g->runnable);
  for (i = 0; i < DIGESTED_WAITS; i++) {
    at = encode_small(at, g->reasons[i]);
    at = encode_signed(at, g->u.waited[i]);
  }
  r->stream.size += (size_t)(at - begin);
}

static void play_go(const uint8_t **at, recorded *item, int64_t time) {
  digested *g = &item->go;
  unsigned i;
  ++*at;
  g->id = get(at);
  g->since = (int64_t)((uint64_t)time + (uint64_t)get_signed(at));
  g->status = get(at) & 7u;
  item->m = get(at);
  g->reason = (uint8_t)get(at);
  g->running = get_signed(at);
  g->runnable = get_signed(at);
  for (i = 0; i < DIGESTED_WAITS; i++) {
    g->reasons[i] = (uint8_t)get(at);
    g->u.waited[i] = get_signed(at);
  }
}

bool recording_play(const recording *r, size_t *position, recorded *item, int64_t *time) {
  const uint8_t *at = r->stream.data + *position;
  if (*position == r->stream.size) return false;
  item->is_event = *at != 0;
  if (item->is_event) play_event(r, &at, &item->event, time);
  else play_go(&at, item, *time);
  *position = (size_t)(at - r->stream.data);
  return true;
}

/* ----------------------------------------------------------------------------------------------------- groups ---- */

/* The name of a stack's innermost or outermost function; NULL: it has none. */
static const char *function_of(const gotrace_decoder *part, uint64_t stack, bool outermost, size_t *size) {
  gotrace_frame frames[MOST_FRAMES];
  size_t count = stack ? gotrace_decoder_stack(part, stack, frames, outermost ? MOST_FRAMES : 1) : 0;
  const gotrace_frame *frame;
  if (!count) return NULL;
  frame = outermost ? &frames[(count < MOST_FRAMES ? count : MOST_FRAMES) - 1] : &frames[0];
  *size = frame->function_size;
  return frame->function_size ? frame->function : NULL;
}

static recorded_group *new_group(recording *r, const char *name, size_t size) {
  recorded_group *made = zeroed(sizeof *made);
  made->name = name;
  made->name_size = size;
  made->next = r->groups;
  r->groups = made;
  return made;
}

static recorded_group *group_named(recording *r, const char *name, size_t size) {
  recorded_group *known = map_get(&r->by_name, (uintptr_t)name);
  if (known) return known;
  known = new_group(r, name, size);
  map_put(&r->by_name, (uintptr_t)name, known);
  return known;
}

/* The group of a name that was known before this generation. */
static recorded_group *group_known(recording *r, uint32_t text) {
  recorded_group *known = map_get(&r->by_text, text);
  if (known) return known;
  known = new_group(r, NULL, 0);
  known->g.name = text;
  known->is_named = true;
  map_put(&r->by_text, text, known);
  return known;
}

/* Go's background workers are recognized by their labels, but these are often set in an earlier generation. The summary
 * would refuse a recording that admits one. */
static bool is_collectors(const char *name, size_t size) {
  static const char worker[] = "runtime.gcBgMarkWorker";
  return size == sizeof worker - 1 && memcmp(name, worker, size) == 0;
}

/* The group of a goroutine that has stopped, by its creation or its stack; NULL: it cannot have one now. */
static recorded_group *group_by_stack(recording *r, const digested *g, const gotrace_event *stop) {
  recorded_group *to = NULL;
  size_t size = 0;
  const char *name;
  if (g->is_new && !g->u.made_by) return NULL; /* named by the first stack of any of its events, not only of stops */
  name = g->is_new ? function_of(r->d.decoder, g->u.made_by, false, &size)
                   : function_of(r->d.decoder, stop->stack, true, &size);
  if (name && is_collectors(name, size)) return NULL;
  if (!g->is_new && r->own_groups < OWN_GROUPS && (name || !r->wary)) {
    to = new_group(r, NULL, 0);
    r->own_groups++;
  } else if (name) {
    to = group_named(r, name, size);
    to->is_made |= g->is_new;
  }
  return to;
}

static group *admit(digest *d, const digested *g, const gotrace_event *e) {
  recording *r = (recording *)d;
  bool stopped = e->kind == GOTRACE_V2_GO_STOP || e->kind == GOTRACE_V2_GO_BLOCK;
  const digested *before = g->is_new || !d->earlier ? NULL : digest_find(d->earlier, g->id);
  uint32_t called = ahead_called(r->names, g->id);
  recorded_group *to;
  if (g->barred || g->assists || (before && before->barred)) return NULL;
  if (g->to) return g->to;
  if (before && before->to) to = group_known(r, before->to->name);
  else to = !stopped ? NULL : called ? group_known(r, called) : group_by_stack(r, g, e);
  if (!to) return NULL;
  GROW(r->gos, r->go_count, r->go_capacity);
  r->gos[r->go_count++] =
      (admitted){g->id, to, g->is_new, g->asks}; /* asks although it is not barred: after an assist */
  return &to->g;
}

static uint8_t reason(digest *d, uint64_t string) {
  recording *r = (recording *)d;
  uint32_t i;
  for (i = 0; i < r->reason_count; i++)
    if (r->reasons[i] == string) return (uint8_t)i;
  if (i == MOST_REASONS) return PASS_ON;
  GROW(r->reasons, r->reason_count, r->reason_capacity);
  r->reasons[r->reason_count++] = string;
  return (uint8_t)i;
}

/* -------------------------------------------------------------------------------------------------------- all ---- */

static void free_recording(digest *d) {
  recording *r = (recording *)d;
  recorded_group *g, *next;
  digest_free(d);
  for (g = r->groups; g; g = next) {
    next = g->next;
    clear_group(&g->g);
    free(g);
  }
  free(r->stream.data);
  map_free(&r->by_name);
  map_free(&r->by_text);
  free(r->gos);
  free(r->reasons);
  free(r);
}

recording *recording_new(const gotrace_decoder *part, const digest *earlier, bool wary, const ahead *names) {
  static const digest_host host = {record_event, record_go, admit, reason, free_recording};
  recording *r = zeroed(sizeof *r);
  digest_begin(&r->d, &host, part, earlier, names->called.count != 0);
  r->wary = wary;
  r->names = names;
  return r;
}
