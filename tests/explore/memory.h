/* memory.h - the memory model of tests/explore/explore.c with --stale: a load may return a value that has been
 * replaced.
 *
 * Each shared location keeps its last stores. Each thread has a view: for each location, the oldest store that it may
 * still read. A store carries the view of what its thread has published with it; a load that acquires takes that view
 * over. Mutexes, thread starts and joins hand over views as well.
 *
 *   relaxed load         reads any store from the thread's view on; never an older one afterwards (coherence)
 *   acquire              takes over the store's view, at once or by a fence later
 *   release              the store carries the thread's view; a relaxed one that of the thread's last fence
 *   read-modify-write    reads the last store, and continues its release sequence
 *   seq_cst              a fence exchanges views with all other fences; a load reads no store older than the last
 *                        seq_cst store to its location
 *   gotrace__barrier     a seq_cst fence in all threads
 *
 * Two stores to two locations may become visible to two threads in different orders, as in C11. But what one thread had
 * seen when it read the clock is visible to a thread that has read the same or a later time, as on processors whose
 * stores become visible to all other threads at once (x86, ARMv8). The transcriber's rounds need that (O1 at
 * >>transcriber); for the difference between two cores' clocks they allow by GOTRACE__CLOCK_SKEW. C11 does not know
 * clocks.
 *
 * As in C11, except that the order of the stores to a location is that in which they were executed, a failing
 * compare-and-swap reads the last store, and no load returns a value that is stored later. So the model allows less
 * than C11 does. Plain accesses read the last value: a race is not detected. `litmus-*` in scenarios.h test the
 * model.
 */
#ifndef EXPLORE_MEMORY_H
#define EXPLORE_MEMORY_H

#define EXPLORE_STORES 4      /* kept per location */
#define EXPLORE_HISTORIES 256 /* locations with a history per run; after that, no load is stale */
#define EXPLORE_LOCKS 64
#define EXPLORE_READINGS 256 /* of the clock */

typedef struct explore_view {
  uint16_t at[EXPLORE_HISTORIES]; /* by location: number of a store */
} explore_view;

typedef struct explore_message { /* a store */
  uint64_t value, hash, time;
  uint16_t number;
  explore_view view;
} explore_message;

typedef struct explore_reading { /* of the clock, and what the thread had seen of others' stores by then */
  uint64_t tick;
  explore_view view;
} explore_reading;

typedef struct explore_history {
  explore_message stores[EXPLORE_STORES]; /* oldest first */
  unsigned count;
} explore_history;

static struct explore_weak {
  explore_history histories[EXPLORE_HISTORIES];
  unsigned history_count;
  explore_view locks[EXPLORE_LOCKS]; /* what the last thread that had a mutex has handed over */
  unsigned lock_count;
  explore_view current[EXPLORE_THREADS], acquired[EXPLORE_THREADS], released[EXPLORE_THREADS];
  explore_view seen[EXPLORE_THREADS]; /* of other threads' stores */
  explore_reading readings[EXPLORE_READINGS];
  unsigned reading_count;
  uint64_t ticks[EXPLORE_THREADS]; /* each thread's last reading */
  bool news[EXPLORE_THREADS];      /* it has seen more since then */
  explore_view fences;             /* what seq_cst operations have made visible */
  uint64_t value;                  /* of the load that is stale */
} weak;

static bool explore_is_weak(void) { return explore.stale && explore.together; }

static void explore_join_view(explore_view *view, const explore_view *other) {
  unsigned i;
  for (i = 0; i < EXPLORE_HISTORIES; i++)
    if (view->at[i] < other->at[i]) view->at[i] = other->at[i];
}

static void explore_reset_memory(void) {
  if (!explore.stale) return;
  weak.history_count = weak.lock_count = weak.reading_count = 0;
  memset(weak.seen, 0, sizeof weak.seen);
  memset(weak.ticks, 0, sizeof weak.ticks);
  memset(weak.news, 0, sizeof weak.news);
  memset(weak.current, 0, sizeof weak.current);
  memset(weak.acquired, 0, sizeof weak.acquired);
  memset(weak.released, 0, sizeof weak.released);
  memset(&weak.fences, 0, sizeof weak.fences);
}

static uint64_t explore_value(const void *at, size_t size) {
  uint64_t value = 0;
  memcpy(&value, at, size < sizeof value ? size : sizeof value);
  return value;
}

/* The history of a location, which begins with its present value; NULL: it has none. A value that no store has written
 * comes from a plain store, before which nothing may be read. */
static explore_history *explore_history_of(explore_location *location, size_t size, bool create) {
  uint64_t value = explore_value(location->at, size);
  explore_history *history;
  explore_message *last;
  if (!location->history) {
    if (!create || size > 8 || weak.history_count == EXPLORE_HISTORIES) return NULL;
    history = &weak.histories[weak.history_count++];
    location->history = (uint16_t)weak.history_count;
    history->count = 0;
  }
  history = &weak.histories[location->history - 1];
  last = history->count ? &history->stores[history->count - 1] : NULL;
  if (last && last->value == value) return history;
  history->stores[0].number = (uint16_t)(last ? last->number + 1 : 0);
  history->stores[0].value = value;
  history->stores[0].hash = location->write_hash;
  history->stores[0].time = location->write_time;
  memset(&history->stores[0].view, 0, sizeof(explore_view));
  history->count = 1;
  return history;
}

static void explore_see(const explore_view *view) {
  explore_join_view(&weak.seen[explore.running], view);
  weak.news[explore.running] = true;
}

/* The running thread has read the clock. */
/* After a stale read, a clock that is read later shows more than all that were read before: what the stale read has
 * missed is then older than what follows. */
static void explore_order_reading(explore_thread *thread) {
  int i;
  if (!explore_is_weak() || explore.stale_left == explore.stale) return;
  for (i = 0; i < EXPLORE_THREADS; i++)
    if (thread->time < weak.ticks[i]) {
      thread->time = weak.ticks[i];
      thread->hash = explore_mix(thread->hash, thread->time);
    }
}

static void explore_note_reading(uint64_t tick) {
  int self = explore.running;
  weak.ticks[self] = tick;
  if (!weak.news[self] || weak.reading_count == EXPLORE_READINGS) return;
  weak.news[self] = false;
  weak.readings[weak.reading_count].tick = tick;
  weak.readings[weak.reading_count++].view = weak.seen[self];
}

/* The oldest store of a location that had not been replaced for all threads when the running thread read the clock. */
static uint16_t explore_since_reading(unsigned index) {
  uint16_t from = 0;
  unsigned i;
  for (i = 0; i < weak.reading_count; i++)
    if (weak.readings[i].tick <= weak.ticks[explore.running] && from < weak.readings[i].view.at[index])
      from = weak.readings[i].view.at[index];
  return from;
}

/* Takes over what a store carries. */
static void explore_acquire(const explore_message *store, int order) {
  explore_see(&store->view);
  explore_join_view(&weak.acquired[explore.running], &store->view);
  if (order & EXPLORE_ACQUIRE) explore_join_view(&weak.current[explore.running], &store->view);
}

/* Chooses one of `count` stores: 0 is the last one. */
static int explore_choose(unsigned count) {
  explore_choice *choice;
  explore.step++;
  switch (explore.mode) {
  case EXPLORE_SEARCH:
    if (explore.at < explore.choice_count) {
      choice = &explore.choices[explore.at];
      if (choice->step != explore.step) explore_fail("the scenario is not deterministic");
      explore.at++;
      return choice->threads[choice->current];
    }
    if (explore.choice_count == EXPLORE_CHOICES) explore_fail("too many choices");
    choice = &explore.choices[explore.choice_count++];
    explore.at = explore.choice_count;
    choice->step = explore.step;
    choice->count = 0;
    choice->current = 0;
    for (; choice->count < count; choice->count++) choice->threads[choice->count] = choice->count;
    return 0;
  case EXPLORE_RANDOM:
    explore_next_random(&explore.random);
    return explore.random >> 60 ? 0 : (int)((explore.random >> 33) % count);
  default:
    if (explore.replayed >= explore.replay_count || explore.replay[explore.replayed].step != explore.step) return 0;
    return explore.replay[explore.replayed++].thread;
  }
}

/* A load. Returns the store that it reads, if that has been replaced; else NULL. */
static const explore_message *explore_weak_load(explore_location *location, size_t size, int order) {
  explore_history *history = explore_history_of(location, size, false);
  explore_view *view = &weak.current[explore.running];
  unsigned index, oldest, chosen;
  uint16_t from;
  if (!history) return NULL;
  index = location->history - 1u;
  from = view->at[index];
  if (order == EXPLORE_SEQ_CST && from < weak.fences.at[index]) from = weak.fences.at[index];
  if (history->count > 1 && from < explore_since_reading(index)) from = explore_since_reading(index);
  for (oldest = history->count - 1; oldest && history->stores[oldest - 1].number >= from; oldest--) continue;
  chosen = history->count - 1;
  if (oldest < chosen && explore.stale_left && weak.history_count < EXPLORE_HISTORIES) {
    unsigned back = (unsigned)explore_choose(chosen - oldest + 1);
    if (back) {
      explore.stale_left--;
      if (explore.switch_count < EXPLORE_SWITCHES) {
        explore.switches[explore.switch_count].step = explore.step;
        explore.switches[explore.switch_count++].thread = (int)back;
      }
      if (explore.trace) printf("     T%d reads a store %u before the last\n", explore.running, back);
    }
    if (back <= chosen) chosen -= back;
  }
  view->at[index] = history->stores[chosen].number;
  explore_acquire(&history->stores[chosen], order);
  return chosen + 1 == history->count ? NULL : &history->stores[chosen];
}

/* A store, after it has been noted. `before`: the store that a read-modify-write reads, or NULL. */
static void explore_weak_store(explore_location *location, size_t size, uint64_t value, int order, bool modifies) {
  explore_history *history = explore_history_of(location, size, true);
  int self = explore.running;
  explore_message *store;
  explore_view sequence;
  unsigned index;
  uint16_t number;
  if (!history) return;
  index = location->history - 1u;
  store = &history->stores[history->count - 1];
  number = (uint16_t)(store->number + 1);
  if (modifies) {
    sequence = store->view;
    explore_acquire(store, order);
  }
  if (history->count == EXPLORE_STORES) {
    memmove(&history->stores[0], &history->stores[1], (EXPLORE_STORES - 1) * sizeof *store);
    history->count--;
  }
  store = &history->stores[history->count++];
  weak.current[self].at[index] = number;
  store->number = number;
  store->value = size < 8 ? value & (((uint64_t)1 << 8 * size) - 1) : value;
  store->hash = location->write_hash;
  store->time = location->write_time;
  store->view = order & EXPLORE_RELEASE ? weak.current[self] : weak.released[self];
  store->view.at[index] = number;
  if (modifies) explore_join_view(&store->view, &sequence);
  if (order == EXPLORE_SEQ_CST) weak.fences.at[index] = number;
}

/* A seq_cst fence of a thread. */
static void explore_fence_of(int thread) {
  explore_join_view(&weak.current[thread], &weak.acquired[thread]);
  explore_join_view(&weak.current[thread], &weak.fences);
  weak.fences = weak.released[thread] = weak.current[thread];
}

static void explore_fence(void) {
  if (!explore_is_weak()) return;
  explore_note(explore_point(&weak.fences), true);
  explore_fence_of(explore.running);
}

/* The barrier: all threads pass a fence. What they do before and after it is another state, though they do not act. */
static bool explore_barrier(void) {
  int i;
  uint64_t hash;
  if (!explore_is_weak()) return true;
  explore_fence();
  hash = explore.threads[explore.running].hash;
  for (i = 0; i < EXPLORE_THREADS; i++) explore_fence_of(i);
  for (i = 0; i < EXPLORE_THREADS; i++) hash = explore_mix(hash, explore.threads[i].hash);
  for (i = 0; i < EXPLORE_THREADS; i++) {
    explore.threads[i].hash = explore_mix(explore.threads[i].hash, hash);
    explore.signature += explore.threads[i].hash;
  }
  explore_fence_of(explore.running);
  return true;
}

/* A mutex, or another location by which threads hand over all that they know. */
static explore_view *explore_view_of(explore_location *location) {
  if (!location->lock) {
    if (weak.lock_count == EXPLORE_LOCKS) explore_fail("too many locks");
    memset(&weak.locks[weak.lock_count], 0, sizeof(explore_view));
    location->lock = (uint16_t)++weak.lock_count;
  }
  return &weak.locks[location->lock - 1];
}
static void explore_take_view(explore_location *location) {
  if (!explore_is_weak()) return;
  explore_join_view(&weak.current[explore.running], explore_view_of(location));
  explore_see(explore_view_of(location));
}
static void explore_give_view(explore_location *location) {
  if (explore_is_weak()) explore_join_view(explore_view_of(location), &weak.current[explore.running]);
}

/* The thread `to` knows what `from` knows. */
static void explore_inherit_view(int to, int from) {
  if (explore.stale) explore_join_view(&weak.current[to], &weak.current[from]);
}

#endif
