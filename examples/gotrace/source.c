/* source.c - reads a trace, keeps the world, gives operations to a consumer: see source.h
 *
 * source_run() reads the trace twice: scan_v1() or scan_v2() finds out what the format says too late, and then
 * take_v1() or take_v2() turns each event into operations. give() takes these, selects those of the requested part,
 * adapts them to formats without coroutines, and passes them on: first to the consumer, then to the world. */

#include "source.h"

#include <stdlib.h>

static void deliver(source *s, const op *o) {
  if (s->begun) s->to->take(s->to, o);
  apply(&s->w, o);
}

/* In formats without coroutines a switch becomes an unblock, a block and a start. */
static void deliver_lowered(source *s, const op *o) {
  op part = op_at(GOTRACE_V2_GO_UNBLOCK, o->time, o->m);
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

/* A goroutine that turns out to have been there all along, where the output can no longer say so: it is created now. */
static void give_created(source *s, const op *status) {
  op o = *status;
  o.kind = o.a[0] == GO_WAITING   ? GOTRACE_V2_GO_CREATE_BLOCKED
           : o.a[0] == GO_SYSCALL ? GOTRACE_V2_GO_CREATE_SYSCALL
                                  : GOTRACE_V2_GO_CREATE;
  if (o.a[0] == GO_WAITING || o.a[0] == GO_RUNNABLE) o.m = NULL;
  o.stack = 0; /* it is the goroutine's own, not its creator's */
  give(s, &o);
  if (o.a[0] != GO_RUNNING) return;
  o.kind = GOTRACE_V2_GO_START;
  give(s, &o);
}

/* What remains at the end of the trace, or of the part. */
static void finish(source *s) {
  if (s->to->family == 1) v1_give_intros(s);
  give_held(s);
  if (!s->begun && s->any && s->from <= between(s->first, s->end)) begin(s); /* nothing happens in this part */
  if (s->begun) s->to->end(s->to, between(s->first, s->end) > s->until ? s->first + s->until : s->end);
}

op op_at(unsigned kind, int64_t time, thread *m) {
  op o = {0};
  o.kind = kind;
  o.time = time;
  o.m = m;
  return o;
}

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

void give_sample(source *s, const gotrace_event *e) {
  op o = op_at(GOTRACE_V2_CPU_SAMPLE, e->time, NULL);
  o.a[0] = (uint64_t)e->m;
  o.a[1] = (uint64_t)e->p;
  o.a[2] = e->g > 0 ? (uint64_t)e->g : 0;
  o.stack = pool_take_stack(s->in->decoder, e->stack);
  give(s, &o);
}

void introduce(source *s, const op *o) {
  if (s->begun) give(s, o);
  else apply(&s->w, o);
}

gotrace_result source_run(source *s, input *in, consumer *to, int64_t from, int64_t until, watch_fn *watch,
                          void *context) {
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
  finish(s);
  return result;
}

void source_free(source *s) {
  map_free(&s->w.gos);
  map_free(&s->w.procs);
  map_free(&s->w.threads);
  free(s->w.experiments);
  free(s->intros);
  map_free(&s->intro_places);
  free(s->blocking);
}

void source_broken(const source *s, const settings *set) {
  const char *error = input_error(s->in);
  if (!set->partial || !s->begun || !s->told) fail("%s", error);
  report("%s; kept what comes before", error);
}
