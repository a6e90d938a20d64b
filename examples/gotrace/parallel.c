/* parallel.c - reads a trace to its end on several threads: see tool.h
 *
 * Each worker takes the next generation and decodes it as a part (gotrace.h, >>decoder). The main thread decodes the
 * first generation, then joins the parts in their order; what cannot be joined it decodes itself. Few parts may wait to
 * be joined, so memory is bounded.
 *
 * Joining takes 0.4 % of the time of one pass (measured on 1 GB, 17 generations), so 2 processors are twice as fast,
 * and 16 or 64 could be 15 or 51 times as fast; but never more times than the trace has generations. */

#include "tool.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct slot {
  gotrace_decoder *part;
  bool done;
} slot;

typedef struct pool {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  gotrace_decoder *whole;
  slot *slots; /* a ring: parts `joined` up to `opened` */
  uint64_t opened, joined, room;
  bool over; /* no more parts */
} pool;

static void decode(gotrace_decoder *part) {
  const gotrace_event *events[64];
  size_t count;
  do count = COUNT(events);
  while (gotrace_decoder_next_batch(part, events, &count) == GOTRACE_OK);
}

static void *work(void *argument) {
  pool *p = argument;
  pthread_mutex_lock(&p->lock);
  while (!p->over) {
    slot *s = &p->slots[p->opened % p->room];
    if (p->opened - p->joined == p->room) {
      pthread_cond_wait(&p->changed, &p->lock);
      continue;
    }
    s->done = false;
    if (gotrace_decoder_open_part(p->whole, &s->part) != GOTRACE_OK) {
      p->over = true;
      pthread_cond_broadcast(&p->changed);
      break;
    }
    p->opened++;
    pthread_mutex_unlock(&p->lock);
    decode(s->part);
    pthread_mutex_lock(&p->lock);
    s->done = true;
    pthread_cond_broadcast(&p->changed);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* Decodes a generation in the decoder of the whole trace. */
static gotrace_result decode_generation(input *in) {
  gotrace_event e;
  gotrace_result result;
  do result = input_next(in, &e);
  while (result == GOTRACE_OK && !gotrace_decoder_between(in->decoder));
  return result;
}

/* The next part, decoded; NULL: there is none. */
static gotrace_decoder *next_part(pool *p) {
  slot *s = &p->slots[p->joined % p->room];
  gotrace_decoder *part;
  pthread_mutex_lock(&p->lock);
  while (p->joined == p->opened ? !p->over : !s->done) pthread_cond_wait(&p->changed, &p->lock);
  part = p->joined == p->opened ? NULL : s->part;
  pthread_mutex_unlock(&p->lock);
  return part;
}

static gotrace_result join_parts(pool *p, input *in) {
  gotrace_decoder *part;
  gotrace_result result = decode_generation(in);
  while (result == GOTRACE_OK && (part = next_part(p)) != NULL) {
    if (!gotrace_decoder_join(in->decoder, part)) result = decode_generation(in);
    gotrace_decoder_close(part);
    pthread_mutex_lock(&p->lock);
    p->joined++;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
  }
  return result;
}

gotrace_result input_finish(input *in, unsigned jobs) {
  pool p = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .whole = in->decoder};
  pthread_t *threads = jobs > 1 ? resize(NULL, jobs * sizeof *threads) : NULL;
  unsigned count = 0;
  gotrace_result result = GOTRACE_OK;
  gotrace_event e;
  p.room = 2 * (uint64_t)jobs;
  if (jobs > 1) {
    p.slots = resize(NULL, (size_t)p.room * sizeof *p.slots);
    while (count < jobs && pthread_create(&threads[count], NULL, work, &p) == 0) count++;
    if (count) result = join_parts(&p, in);
    pthread_mutex_lock(&p.lock);
    p.over = true;
    pthread_cond_broadcast(&p.changed);
    pthread_mutex_unlock(&p.lock);
    while (count) pthread_join(threads[--count], NULL);
    for (; p.joined < p.opened; p.joined++) gotrace_decoder_close(p.slots[p.joined % p.room].part);
    free(p.slots);
    free(threads);
  }
  while (result == GOTRACE_OK) result = input_next(in, &e);
  return result;
}
