/* source.c - from the events of a trace to operations and to the consumer of them */

#include "world.h"

#include <stdlib.h>

static void deliver(source *s, const op *o) {
  if (s->begun) s->to->take(s->to, o);
  apply(&s->w, o);
}

/* Formats without coroutines: a switch is an unblock, a block and a start; who begins blocked is created by its first unblock. */
static void deliver_lowered(source *s, const op *o) {
  op part = {0};
  part.time = o->time;
  part.m = o->m;
  part.kind = GOTRACE_V2_GO_UNBLOCK;
  part.id = o->id;
  part.stack = o->stack;
  deliver(s, &part);
  part.kind = o->kind == GOTRACE_V2_GO_SWITCH ? GOTRACE_V2_GO_BLOCK : GOTRACE_V2_GO_DESTROY;
  part.name = pool_put_string("unspecified");
  deliver(s, &part);
  part.kind = GOTRACE_V2_GO_START;
  deliver(s, &part);
}

static void begin(source *s) {
  s->begun = true;
  s->to->base = s->first;
  s->to->begin(s->to, s->first + s->from);
}

/* Who turns out to have been there where the format can no longer say so is created. */
static void give_created(source *s, const op *status) {
  op o = *status;
  o.kind = o.a[0] == GO_WAITING   ? GOTRACE_V2_GO_CREATE_BLOCKED
           : o.a[0] == GO_SYSCALL ? GOTRACE_V2_GO_CREATE_SYSCALL
                                  : GOTRACE_V2_GO_CREATE;
  if (o.a[0] == GO_WAITING || o.a[0] == GO_RUNNABLE) o.m = NULL;
  o.stack = 0; /* its own, not its creator's */
  give(s, &o);
  if (o.a[0] != GO_RUNNING) return;
  o.kind = GOTRACE_V2_GO_START;
  give(s, &o);
}

/* An operation on its way. */
void give(source *s, const op *o) {
  bool coroutines = !s->to->format || s->to->format >= GOTRACE_GO_1_23;
  if (s->over) return;
  if (between(s->first, o->time) > s->until) {
    s->over = true;
    return;
  }
  if (!s->begun && between(s->first, o->time) >= s->from) begin(s);
  if (!coroutines && (o->kind == GOTRACE_V2_GO_SWITCH || o->kind == GOTRACE_V2_GO_SWITCH_DESTROY)) {
    deliver_lowered(s, o);
    return;
  }
  if (s->begun && !s->to->statuses && o->kind == GOTRACE_V2_GO_STATUS) {
    give_created(s, o);
    return;
  }
  deliver(s, o);
  if (!coroutines && o->kind == GOTRACE_V2_GO_CREATE_BLOCKED) {
    goroutine *g = world_go(&s->w, o->id);
    if (g) g->unborn = true;
  }
}

void give_held(source *s) {
  op held = s->held;
  s->held.kind = 0;
  if (held.kind) give(s, &held);
}

/* What has been there since before the trace: known from the start, if the consumer has not begun. */
void introduce(source *s, const op *o) {
  if (s->begun) give(s, o);
  else apply(&s->w, o);
}

/* ------------------------------------------------------------------------------------------------ from start to end ---- */

void source_free(source *s) {
  map_free(&s->w.gos);
  map_free(&s->w.procs);
  map_free(&s->w.threads);
  free(s->w.experiments);
  free(s->intros);
  map_free(&s->intro_places);
  free(s->blocking);
}

typedef void watch_fn(void *context, const gotrace_event *event);

/* Sends the events of a trace through the world to a consumer. What the decoder says at the end; END_OF_TRACE: all is well. */
gotrace_result source_run(source *s, input *in, consumer *to, int64_t from, int64_t until, watch_fn *watch, void *context) {
  gotrace_event e;
  gotrace_result result;
  gotrace_decoder_info info;
  struct statistics *statistics = s->w.statistics;
  s->in = in;
  s->to = to;
  to->w = &s->w;
  s->from = from;
  s->until = until;
  result = input_decode(in, false);
  if (result != GOTRACE_OK) return result;
  gotrace_decoder_get_info(in->decoder, &info);
  s->format = info.format;
  to->family = info.family;
  s->w.statistics = NULL;
  if (info.family == 1) scan_v1(s);
  else scan_v2(s);
  s->w.statistics = statistics;
  result = input_decode(in, false);
  while (result == GOTRACE_OK && (result = input_next(in, &e)) == GOTRACE_OK) {
    if (!s->any) s->first = e.time, s->any = true;
    s->end = e.time;
    s->told |= info.family == 1 || e.kind != GOTRACE_V2_SYNC;
    if (watch) watch(context, &e);
    if (info.family == 1) take_v1(s, &e);
    else take_v2(s, &e);
    if (s->over) {
      result = GOTRACE_END_OF_TRACE;
      break;
    }
  }
  if (info.family == 1) v1_give_intros(s);
  give_held(s);
  if (!s->begun && s->any && from <= between(s->first, s->end)) begin(s); /* nothing happens in this part */
  if (s->begun) to->end(to, between(s->first, s->end) > until ? s->first + until : s->end);
  return result;
}
