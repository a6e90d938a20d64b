/* parallel.c - reads a trace to its end on several threads: see input.h
 *
 * Each worker takes the next generation and decodes it as a part (gotrace.h, >>decoder). The main thread decodes the
 * first generation, then joins the parts in order. It decodes those again that cannot be joined. The number of parts
 * that wait to be joined is limited, so memory is bounded. The caller decides what is made of the events: see
 * `generations` in tool.h.
 *
 * Joining takes 0.4 % of the time of one pass (measured on 1 GB, 17 generations). By Amdahl's law 2 processors are thus
 * twice as fast, and 16 or 64 could be 15 or 51 times as fast, but not more times than the trace has generations. */

#include "input.h"

#if !IN_BROWSER
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <stdlib.h>

typedef struct slot {
  gotrace_decoder *part;
  void *made;
  bool done;
} slot;

typedef struct pool {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  gotrace_decoder *whole;
  const generations *to;
  slot *slots; /* a ring: parts `joined` up to `opened` */
  uint64_t opened, joined, room;
  bool over; /* no more parts */
  pthread_t *threads;
  unsigned thread_count;
} pool;

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
    s->made = p->to->part(p->to->context, s->part);
    pthread_mutex_lock(&p->lock);
    s->done = true;
    pthread_cond_broadcast(&p->changed);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* Waits until the next part is decoded; NULL: there is none. */
static slot *next_part(pool *p) {
  slot *s = &p->slots[p->joined % p->room];
  bool any;
  pthread_mutex_lock(&p->lock);
  while (p->joined == p->opened ? !p->over : !s->done) pthread_cond_wait(&p->changed, &p->lock);
  any = p->joined != p->opened;
  pthread_mutex_unlock(&p->lock);
  return any ? s : NULL;
}

static void drop(const generations *to, slot *s) {
  to->drop(s->made);
  gotrace_decoder_close(s->part);
}

/* Generations are alike, so each part fits into the memory of an earlier one: the threads share a heap, and what is
 * freed stays in it. Otherwise the system would have to provide fresh pages for each part: 1 to 4 % of the time. */
static void reuse_memory(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

static void add_worker(pool *p) {
  if (pthread_create(&p->threads[p->thread_count], NULL, work, p) == 0) p->thread_count++;
}

/* The main thread decodes the first generation, so it is one of `jobs` until then. */
static gotrace_result join_parts(pool *p, input *in, unsigned jobs) {
  const generations *to = p->to;
  slot *s;
  gotrace_result result;
  while (--jobs) add_worker(p);
  result = to->whole(to->context, in);
  add_worker(p);
  if (!p->thread_count) return result;
  while (result == GOTRACE_OK && (s = next_part(p)) != NULL) {
    bool fits = !to->fits || to->fits(to->context, s->made);
    if (fits && gotrace_decoder_join(in->decoder, s->part)) to->join(to->context, s->made);
    else result = to->whole(to->context, in);
    drop(to, s);
    pthread_mutex_lock(&p->lock);
    p->joined++;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
  }
  return result;
}
#endif

gotrace_result input_finish(input *in, unsigned jobs, const generations *to) {
  gotrace_result result = GOTRACE_OK;
#if !IN_BROWSER
  pool p = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .whole = in->decoder, .to = to};
  p.room = 2 * (uint64_t)jobs;
  if (jobs > 1) {
    reuse_memory();
    p.slots = resize(NULL, (size_t)p.room * sizeof *p.slots);
    p.threads = resize(NULL, jobs * sizeof *p.threads);
    result = join_parts(&p, in, jobs);
    pthread_mutex_lock(&p.lock);
    p.over = true;
    pthread_cond_broadcast(&p.changed);
    pthread_mutex_unlock(&p.lock);
    while (p.thread_count) pthread_join(p.threads[--p.thread_count], NULL);
    for (; p.joined < p.opened; p.joined++) drop(to, &p.slots[p.joined % p.room]);
    free(p.slots);
    free(p.threads);
  }
#else
  (void)jobs;
#endif
  while (result == GOTRACE_OK) result = to->whole(to->context, in);
  return result;
}
