/* check.h - the checks at the end of every run of tests/explore/explore.c, and readable names of addresses. */
#ifndef EXPLORE_CHECK_H
#define EXPLORE_CHECK_H

/* ------------------------------------------------------------------------------------------------- locations ---- */

/* The order in which locks are taken: see "Order of locks" at >>implementation in gotrace.h. */
static int explore_rank(const void *lock) {
  const struct gotrace__tracer *t = &gotrace__t;
  size_t i;
  if (lock == &gotrace__init_lock) return 1;
  if (lock == &t->life) return 2;
  if (lock == &t->work) return 3;
  for (i = 0; i < GOTRACE__WAIT_BUCKETS; i++)
    if (lock == &t->wait_buckets[i].lock) return 4;
  for (i = 0; i < GOTRACE__KEY_BUCKETS; i++)
    if (lock == &t->key_buckets[i].lock) return 4;
  if (lock == &t->records) return 5;
  if (lock == &t->queue_lock) return 6;
  if (lock == &t->flight_lock) return 7;
  return 8; /* the tables' locks */
}

static bool explore_name_field(char *text, size_t size, const char *record, size_t offset, const size_t *offsets,
                               const char *const *names, size_t count) {
  size_t i, best = count;
  for (i = 0; i < count; i++)
    if (offsets[i] <= offset && (best == count || offsets[i] > offsets[best])) best = i;
  if (best == count) return false;
  if (offsets[best] == offset) snprintf(text, size, "%s.%s", record, names[best]);
  else snprintf(text, size, "%s.%s+%zu", record, names[best], offset - offsets[best]);
  return true;
}

/* Names an offset in a record by the last listed field at or before it. */
#define EXPLORE_FIELDS(type, FIELDS)                                                                    \
  static void explore_name_##type(char *text, size_t size, const char *record, size_t offset) {         \
    static const size_t offsets[] = {FIELDS(EXPLORE_OFFSET_##type)};                                    \
    static const char *const names[] = {FIELDS(EXPLORE_FIELD)};                                         \
    explore_name_field(text, size, record, offset, offsets, names, sizeof offsets / sizeof offsets[0]); \
  }
#define EXPLORE_FIELD(name) #name,
#define EXPLORE_OFFSET_tracer(name) offsetof(struct gotrace__tracer, name),
#define EXPLORE_OFFSET_go(name) offsetof(struct gotrace_go, name),
#define EXPLORE_OFFSET_proc(name) offsetof(struct gotrace_proc, name),
#define EXPLORE_OFFSET_thread(name) offsetof(struct gotrace__thread, name),
#define EXPLORE_OFFSET_chunk(name) offsetof(struct gotrace__record_chunk, name),
#define EXPLORE_TRACER(X) \
  X(fence)                \
  X(version)              \
  X(strings)              \
  X(stacks)               \
  X(alloc_events)         \
  X(start_tick)           \
  X(chunk_bytes)          \
  X(blocks)               \
  X(options)              \
  X(life)                 \
  X(ready)                \
  X(gone)                 \
  X(active)               \
  X(stopping)             \
  X(delivers)             \
  X(session)              \
  X(cleaned)              \
  X(work)                 \
  X(transcriber)          \
  X(last_cut)             \
  X(last_round)           \
  X(cut_count)            \
  X(queue_lock)           \
  X(changed)              \
  X(pieces)               \
  X(spare_piece)          \
  X(spare_chunks)         \
  X(work_wanted)          \
  X(ended)                \
  X(published)            \
  X(records)              \
  X(free_gos)             \
  X(slabs)                \
  X(procs)                \
  X(threads)              \
  X(names)                \
  X(reasons)              \
  X(reason_names)         \
  X(next_go_id)           \
  X(next_task_id)         \
  X(collector)            \
  X(gc)                   \
  X(stw)                  \
  X(procs_changed)        \
  X(heap_alloc)           \
  X(heap_goal)            \
  X(wait_buckets)         \
  X(sites)                \
  X(open_tasks)           \
  X(snapshot)             \
  X(flight_lock)          \
  X(writing)              \
  X(past_count)           \
  X(reader)               \
  X(read_by)              \
  X(done)                 \
  X(reading)              \
  X(budget)               \
  X(flight_budget)        \
  X(early)                \
  X(bytes)                \
  X(consistent_bytes)     \
  X(cuts)                 \
  X(samples_lost)         \
  X(lost)                 \
  X(nested)               \
  X(samples)              \
  X(sample_head)          \
  X(sample_tail)
#define EXPLORE_GO(X) \
  X(tick)             \
  X(number) X(stamp) X(introduced) X(place) X(id) X(pc) X(status) X(live) X(flags) X(extra) X(label) X(stack_low)
#define EXPLORE_PROC(X) X(tick) X(number) X(stamp) X(owner) X(status) X(sweep) X(scan) X(used) X(id) X(next)
#define EXPLORE_THREAD(X) \
  X(in_call)              \
  X(session)              \
  X(go)                   \
  X(proc)                 \
  X(in_syscall)           \
  X(name)                 \
  X(index)                \
  X(system_id)            \
  X(used)                 \
  X(next)                 \
  X(first_session)        \
  X(first)                \
  X(read_chunk)           \
  X(read_at)
#define EXPLORE_CHUNK(X) X(next) X(tick) X(size) X(session) X(capacity)
EXPLORE_FIELDS(tracer, EXPLORE_TRACER)
EXPLORE_FIELDS(go, EXPLORE_GO)
EXPLORE_FIELDS(proc, EXPLORE_PROC)
EXPLORE_FIELDS(thread, EXPLORE_THREAD)
EXPLORE_FIELDS(chunk, EXPLORE_CHUNK)

/* A readable name for an address. */
static void explore_name(char *text, size_t size, const void *at) {
  const char *place = (const char *)at;
  const gotrace__slab *slab;
  const gotrace_proc *p;
  const gotrace__thread *m;
  char record[24];
  if (place >= (const char *)&gotrace__t && place < (const char *)(&gotrace__t + 1)) {
    explore_name_tracer(text, size, "t", (size_t)(place - (const char *)&gotrace__t));
    return;
  }
  if (place == (const char *)&gotrace__on) {
    snprintf(text, size, "gotrace__on");
    return;
  }
  for (m = gotrace__t.threads; m; m = m->next)
    if (place >= (const char *)m && place < (const char *)(m + 1)) {
      snprintf(record, sizeof record, "m%d", (int)m->index);
      explore_name_thread(text, size, record, (size_t)(place - (const char *)m));
      return;
    }
  for (m = gotrace__t.threads; m; m = m->next)
    if (m->chunk && place >= (const char *)m->chunk && place < (const char *)(m->chunk + 1)) {
      snprintf(record, sizeof record, "m%d.chunk", (int)m->index);
      explore_name_chunk(text, size, record, (size_t)(place - (const char *)m->chunk));
      return;
    }
  for (p = gotrace__t.procs; p; p = p->next)
    if (place >= (const char *)p && place < (const char *)(p + 1)) {
      snprintf(record, sizeof record, "p%d", p->id);
      explore_name_proc(text, size, record, (size_t)(place - (const char *)p));
      return;
    }
  for (slab = gotrace__t.slabs; slab; slab = slab->next)
    if (place >= (const char *)slab->gos && place < (const char *)(slab->gos + GOTRACE__SLAB)) {
      size_t offset = (size_t)(place - (const char *)slab->gos), i;
      snprintf(record, sizeof record, "slab%d", (int)(offset / sizeof(gotrace_go)));
      for (i = 0; i < EXPLORE_HANDLES; i++)
        if (world.go[i] == &slab->gos[offset / sizeof(gotrace_go)]) snprintf(record, sizeof record, "g%d", (int)i);
      explore_name_go(text, size, record, offset % sizeof(gotrace_go));
      return;
    }
  snprintf(text, size, "%p", at);
}

/* ---------------------------------------------------------------------------------------------------- traces ---- */

typedef struct explore_verdict {
  uint64_t hash, kinds; /* hashes of the bytes, and of the numbers of events of each kind */
  char *error;          /* NULL: the trace is good */
} explore_verdict;

#define EXPLORE_VERDICTS ((size_t)1 << 18)
static explore_verdict explore_verdicts[EXPLORE_VERDICTS];
static size_t explore_verdict_count;

static uint64_t explore_hash(const void *data, size_t size) {
  const uint8_t *bytes = (const uint8_t *)data;
  uint64_t hash = size, word;
  for (; size >= 8; bytes += 8, size -= 8) {
    memcpy(&word, bytes, 8);
    hash = explore_mix(hash, word);
  }
  for (word = 0; size; size--) word = word << 8 | *bytes++;
  return explore_mix(explore_mix(hash, word), 1) | 1;
}

static void *explore_decoder_allocate(void *context, size_t size) {
  (void)context;
  return malloc(size);
}
static void explore_decoder_release(void *context, void *memory, size_t size) {
  (void)context, (void)size;
  free(memory);
}

/* The last time in the batches of a proc (v1) or thread (v2), in which time must not go back. */
typedef struct explore_last_time {
  int64_t id, time;
} explore_last_time;
#define EXPLORE_LAST_TIMES 32

static bool explore_in_time(explore_last_time *times, size_t *count, const gotrace_event *event) {
  int64_t id = event->p >= 0 || event->m < 0 ? event->p : event->m;
  size_t i;
  if (strncmp(event->spec->arguments, "dt", 2) || !strcmp(event->spec->name, "CPUSample")) return true;
  for (i = 0; i < *count && times[i].id != id; i++) continue;
  if (i == EXPLORE_LAST_TIMES) return true;
  if (i == *count) times[(*count)++].id = id;
  else if (event->time < times[i].time) return false;
  times[i].time = event->time;
  return true;
}

/* Reads a trace with the library's decoder; false with a message if the decoder rejects it. */
static bool explore_decode(const explore_bytes *bytes, bool raw, uint64_t *kinds, char *error, size_t size) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder = NULL;
  gotrace_event event;
  gotrace_result result;
  explore_last_time times[EXPLORE_LAST_TIMES];
  size_t time_count = 0;
  bool in_time = true;
  memset(&options, 0, sizeof options);
  options.data = bytes->data;
  options.size = bytes->size;
  options.raw = raw;
  options.allocate = explore_decoder_allocate;
  options.release = explore_decoder_release;
  result = gotrace_decoder_open(&decoder, &options);
  while (result == GOTRACE_OK && (result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK)
    if (raw) kinds[event.kind]++, in_time = in_time && explore_in_time(times, &time_count, &event);
  if (!in_time) snprintf(error, size, "time goes back in the batches of a proc or thread");
  if (result != GOTRACE_END_OF_TRACE)
    snprintf(error, size, "refused: %s", decoder ? gotrace_decoder_error(decoder)->message : "");
  gotrace_decoder_close(decoder);
  return result == GOTRACE_END_OF_TRACE && in_time;
}

/* Checks a trace with the tests' own readers, which share only the format with gotrace.h. */
static bool explore_check_again(const explore_bytes *bytes, char *error, size_t size) {
  bool v2 = bytes->size >= 16 && memcmp(bytes->data, "go 1.2", 6) == 0 && bytes->data[6] >= '2';
  bool ok = true, ties = true;
  uint64_t seed;
  for (seed = 0; ok && ties && seed < 2; seed++) {
    if (v2) {
      static check_v2_trace t;
      check_v2_strict = world.clean;
      ok = check_v2(&t, bytes->data, bytes->size, seed);
      if (!ok) snprintf(error, size, "refused by check_v2: %s", t.error);
      ties = t.ties;
      check_v2_free(&t);
    } else {
      static check_v1_trace t;
      ok = check_v1(&t, bytes->data, bytes->size, CHECK_V1_STRICT, seed);
      if (!ok) snprintf(error, size, "refused by check_v1: %s", t.error);
      ties = t.ties;
      check_v1_free(&t);
    }
  }
  return ok;
}

static const char *explore_save_to;                                   /* a directory; NULL: save nothing */
static unsigned explore_save_most, explore_saved, explore_saved_here; /* per scenario, in all, in this scenario */

static void explore_save(const explore_bytes *bytes, const char *what) {
  char path[512];
  FILE *file;
  snprintf(path, sizeof path, "%s/%s-%06u.trace", explore_save_to, what, explore_saved++);
  file = fopen(path, "wb");
  if (!file || fwrite(bytes->data, 1, bytes->size, file) != bytes->size || fclose(file)) {
    fprintf(stderr, "explore: %s: cannot be written\n", path);
    exit(2);
  }
}

/* Checks a trace. Verdicts are cached by a hash of the bytes, since many runs write the same trace. */
static const explore_verdict *explore_judge(const explore_bytes *bytes) {
  uint64_t hash = explore_hash(bytes->data, bytes->size), kinds[256];
  size_t place = hash >> 20;
  explore_verdict *verdict;
  char error[400] = "";
  for (;; place++) {
    verdict = &explore_verdicts[place % EXPLORE_VERDICTS];
    if (verdict->hash == hash) return verdict;
    if (!verdict->hash) break;
  }
  if (++explore_verdict_count > EXPLORE_VERDICTS / 4 * 3) {
    size_t i;
    for (i = 0; i < EXPLORE_VERDICTS; i++) free(explore_verdicts[i].error);
    memset(explore_verdicts, 0, sizeof explore_verdicts);
    explore_verdict_count = 1;
    verdict = &explore_verdicts[(hash >> 20) % EXPLORE_VERDICTS];
  }
  memset(kinds, 0, sizeof kinds);
  if (explore_decode(bytes, true, kinds, error, sizeof error) &&
      explore_decode(bytes, false, NULL, error, sizeof error))
    explore_check_again(bytes, error, sizeof error);
  verdict->hash = hash;
  verdict->kinds = explore_hash(kinds, sizeof kinds);
  verdict->error = error[0] ? strdup(error) : NULL;
  /* Save every other new trace, by a bit of its hash, so that they come from more of the search. */
  if (explore_save_to && !error[0] && explore_saved_here < explore_save_most && hash >> 32 & 4) {
    explore_save(bytes, "explore");
    explore_saved_here++;
  }
  return verdict;
}

static bool explore_check_trace(const explore_bytes *bytes, bool counts) {
  const explore_verdict *verdict = explore_judge(bytes);
  if (verdict->error) {
    if (explore.trace && explore_save_to) explore_save(bytes, "refused");
    snprintf(explore.failure, sizeof explore.failure, "%s", verdict->error);
    return false;
  }
  if (counts && verdict->kinds != explore_hash(world.stats.kinds, sizeof world.stats.kinds)) {
    uint64_t kinds[256];
    size_t i;
    memset(kinds, 0, sizeof kinds);
    explore_decode(bytes, true, kinds, explore.failure, sizeof explore.failure);
    for (i = 0; i < 256 && kinds[i] == world.stats.kinds[i]; i++) continue;
    snprintf(explore.failure, sizeof explore.failure, "the trace has %llu events of kind %d, counted were %llu",
             (unsigned long long)kinds[i % 256], (int)i, (unsigned long long)world.stats.kinds[i % 256]);
    return false;
  }
  return true;
}

/* ---------------------------------------------------------------------------------------------------- memory ---- */

#ifdef EXPLORE_OUTSIDE
static bool explore_check_memory(void) { return true; } /* nothing is given back before the box is */
#else
#define EXPLORE_LIVE 1024

/* Whether the library has been unloaded. */
static bool explore_gone(void) { return gotrace__t.gone != 0; }

/* Whether an allocation is the record of a thread that outlives an unload. Nothing else may be left then. */
static bool explore_lives_on(const explore_allocation *allocation) {
  int i;
  if (!explore_gone()) return false;
  for (i = 0; i < EXPLORE_THREADS; i++)
    if ((i == explore.running ? gotrace__self : explore.threads[i].self) == (const void *)(allocation + 1)) return true;
  return false;
}

static uint64_t explore_reachable[64]; /* hashes of sets of allocations that passed the check */

/* Whether all live allocations can be reached from the tracer. Conservative: any word that looks like a pointer counts
 * as one. */
static bool explore_check_memory(void) {
  static const explore_allocation *live[EXPLORE_LIVE];
  static bool marked[EXPLORE_LIVE];
  const explore_allocation *allocation;
  uint64_t hash = 0;
  size_t count = 0, i, todo[EXPLORE_LIVE + 1], todo_count = 0;
  for (allocation = explore.allocations; allocation; allocation = allocation->next) {
    if ((allocation->live || !explore.pages) && !explore_whole(allocation)) {
      snprintf(explore.failure, sizeof explore.failure, "a write beyond an allocation of %zu bytes%s", allocation->size,
               allocation->live ? "" : ", or into it after it was freed");
      return false;
    }
    if (!allocation->live || explore_lives_on(allocation)) continue;
    if (explore_gone()) {
      snprintf(explore.failure, sizeof explore.failure, "an unload leaves %zu bytes", allocation->size);
      return false;
    }
    hash += explore_mix(allocation->size, 7);
    if (count < EXPLORE_LIVE) live[count++] = allocation;
  }
  hash |= 1;
  if (explore_reachable[hash >> 58] == hash) return true;
  memset(marked, 0, sizeof marked);
  todo[todo_count++] = EXPLORE_LIVE; /* the tracer itself */
  while (todo_count) {
    size_t which = todo[--todo_count], words, k;
    const uintptr_t *word = which == EXPLORE_LIVE ? (const uintptr_t *)(const void *)&gotrace__t
                                                  : (const uintptr_t *)(const void *)(live[which] + 1);
    words = (which == EXPLORE_LIVE ? sizeof gotrace__t : live[which]->size) / sizeof *word;
    for (k = 0; k < words; k++)
      for (i = 0; word[k] >> 40 && i < count; i++)
        if (!marked[i] && word[k] >= (uintptr_t)(live[i] + 1) && word[k] < (uintptr_t)(live[i] + 1) + live[i]->size) {
          marked[i] = true;
          todo[todo_count++] = i;
        }
  }
  for (i = 0; i < count; i++)
    if (!marked[i]) {
      snprintf(explore.failure, sizeof explore.failure, "memory lost: %zu bytes", live[i]->size);
      return false;
    }
  explore_reachable[hash >> 58] = hash;
  return true;
}

#endif

/* --------------------------------------------------------------------------------------------------- records ---- */

/* The place of a goroutine or proc of the model; 0 for NULL. */
static uint64_t explore_place_of_go(const gotrace__transcriber *t, const gotrace__model_go *g) {
  uint64_t place = g ? t->go_places : 0;
  while (place && gotrace__go_at(t, place) != g) place--;
  return place;
}
static uint64_t explore_place_of_proc(const gotrace__transcriber *t, const gotrace__model_proc *p) {
  uint64_t place = p && !p->made ? t->place_capacity : 0;
  while (place && (!t->proc_ids[place - 1] || t->procs[t->proc_ids[place - 1] - 1] != p)) place--;
  return place;
}

/* Whoever owns a goroutine or proc next does so at a later tick, by whatever clock. `number`: of the transition; 0: the
 * next one. */
static void explore_check_tick(explore_last_tick *last, uint64_t place, uint64_t number, uint64_t tick,
                               const char *what) {
  if (!place || place >= EXPLORE_PLACES) return;
  last += place;
  if (number && number <= last->number) return;
  if (tick < last->tick)
    explore_fail("%s of %s %d has tick %llu, the one before %llu", what, number ? "a transition" : "a record",
                 (int)place, (unsigned long long)tick, (unsigned long long)last->tick);
  last->number = number ? number : last->number + 1;
  last->tick = tick;
}

static void explore_check_ticks(const gotrace__transcriber *t, const gotrace__record *record, explore_owner *owner) {
  unsigned kind = gotrace__kind_of(record);
  uint64_t tick = t->current->record_tick;
  if (owner->source != t->current) owner->go = owner->proc = 0; /* another thread has the former's place */
  owner->source = t->current;
  if (kind == GOTRACE__REC_THREAD) owner->old_call = (record->as_THREAD.flags & GOTRACE__RECORD_IN_SYSCALL) != 0;
  if (kind == GOTRACE__REC_PROC_START || kind == GOTRACE__REC_SYSCALL_END) owner->old_call = false;
  switch (kind) {
  case GOTRACE__REC_PROC_START:
  case GOTRACE__REC_PROC_STEAL:
  case GOTRACE__REC_PROC_DESTROY:
    explore_check_tick(world.proc_ticks, record->about_proc.proc, record->about_proc.number, tick, "proc");
    break;
  case GOTRACE__REC_PROC_STOP:
    explore_check_tick(world.proc_ticks, owner->proc, 0, tick, "proc");
    if (owner->old_call && owner->proc && owner->proc < EXPLORE_PLACES) { /* only the tick orders the next start */
      world.proc_ticks[owner->proc].number--;
      world.proc_ticks[owner->proc].tick++;
    }
    break;
  case GOTRACE__REC_GO_SWITCH:
  case GOTRACE__REC_GO_SWITCH_END:
  case GOTRACE__REC_NEST_BEGIN:
  case GOTRACE__REC_NEST_END:
    if (kind != GOTRACE__REC_NEST_END) explore_check_tick(world.go_ticks, owner->go, 0, tick, "goroutine");
    explore_check_tick(world.go_ticks, record->about_go.go, record->about_go.number, tick, "goroutine");
    break;
  case GOTRACE__REC_GO_CREATE:
  case GOTRACE__REC_GO_START:
  case GOTRACE__REC_GO_DESTROY:
  case GOTRACE__REC_THREAD_START:
  case GOTRACE__REC_WAIT_END:
    explore_check_tick(world.go_ticks, record->about_go.go, record->about_go.number, tick, "goroutine");
    break;
  case GOTRACE__REC_SYSCALL_BEGIN:
  case GOTRACE__REC_GO_END:
  case GOTRACE__REC_GO_END_IN_SYSCALL:
  case GOTRACE__REC_GO_STOP:
  case GOTRACE__REC_GO_BLOCK:
  case GOTRACE__REC_SYSCALL_END_BLOCKED: explore_check_tick(world.go_ticks, owner->go, 0, tick, "goroutine"); break;
  default: break;
  }
  owner->go = explore_place_of_go(t, t->current->go);
  owner->proc = explore_place_of_proc(t, t->current->proc);
}

/* The transcriber has applied a record: called by GOTRACE__RECORD_APPLIED. */
static void explore_record_applied(const gotrace__transcriber *t, const gotrace__record *record) {
  uint64_t thread = (t->current->id - EXPLORE_FIRST_ID) % EXPLORE_IDS;
#define EXPLORE_KIND(NAME, ORDER, handler, TEXT, fields) #NAME,
  static const char *const kinds[] = {"NONE", GOTRACE__RECORDS(EXPLORE_KIND, )};
#undef EXPLORE_KIND
  if (explore.trace)
    printf("          applies %s of T%d at %llu: %llu %llu\n", kinds[gotrace__kind_of(record)], (int)thread,
           (unsigned long long)t->current->record_tick, (unsigned long long)record->about_go.go,
           (unsigned long long)record->about_go.number);
  if (thread < EXPLORE_THREADS && t->options.session < EXPLORE_SESSIONS) world.applied[t->options.session][thread]++;
  if (!explore_clock_skew || !world.clean || thread >= EXPLORE_THREADS) return;
  if (world.tick_session != t->options.session) {
    memset(world.go_ticks, 0, sizeof world.go_ticks);
    memset(world.proc_ticks, 0, sizeof world.proc_ticks);
    memset(world.owners, 0, sizeof world.owners);
    world.tick_session = t->options.session;
  }
  explore_check_ticks(t, record, &world.owners[thread]);
}

static uint32_t explore_records_in(int thread, uint32_t session, uint32_t most);

/* How many of a thread's records may be missing: of one that is killed, the last. */
#ifdef EXPLORE_OUTSIDE
static uint32_t explore_may_lack(void) { return outside.killed; }
#else
static uint32_t explore_may_lack(void) { return 0; }
#endif

/* Called when a session's transcriber is freed. */
static void explore_session_over(const gotrace__transcriber *t) {
  const gotrace__counters *counters = &t->counters;
  uint32_t session = t->options.session;
  int i;
  if (!session || session >= EXPLORE_SESSIONS) return;
  /* If no call was held up, the trace has all records, and what is published later would be lost. */
  for (i = 0;
       (gotrace__t.ended || EXPLORE_IS_OUTSIDE) && !explore.held_up && !t->error && !t->full && i < EXPLORE_THREADS;
       i++) {
    uint32_t published = explore_records_in(i, session, explore.record_count[i]);
    if (world.applied[session][i] + explore_may_lack() < published || world.applied[session][i] > published)
      explore_fail("T%d has published %u records, the trace has %u", i, (unsigned)published,
                   (unsigned)world.applied[session][i]);
  }
  /* After misuse, a record may wait for one that does not exist while later ones fill the trace. A full trace ends at
   * one tick, which is no consistent cut if clocks differ and only the program itself has ordered two records. */
  if (((world.random && !world.clean) || explore_clock_skew) && (t->full || t->error))
    memset(world.applied[session], 0, sizeof world.applied[0]);
  if (counters->jumps) explore_fail("the clock has jumped back %u times", (unsigned)counters->jumps);
  if (!world.clean) return;
  if (counters->malformed)
    explore_fail("%u records are malformed, though the program keeps the rules", (unsigned)counters->malformed);
  if (counters->forced)
    explore_fail("%u records are forced, though the program keeps the rules", (unsigned)counters->forced);
  if (counters->doubled)
    explore_fail("%u ids are doubled, though the program keeps the rules", (unsigned)counters->doubled);
}

/* The number of the thread's records in the session, among its first `most`. */
static uint32_t explore_records_in(int thread, uint32_t session, uint32_t most) {
  uint32_t i, count = 0;
  for (i = 0; i < most; i++) count += explore.records[thread][i].session == session;
  return count;
}

/* Whether each session's trace is a consistent cut: it has all that happened before anything that it has (R5). */
static bool explore_check_records(void) {
  uint32_t session, i;
  int t, u;
  for (session = 1; session < EXPLORE_SESSIONS; session++)
    for (t = 0; t < EXPLORE_THREADS; t++) {
      uint32_t left = world.applied[session][t];
      for (i = 0; left; i++) left -= explore.records[t][i].session == session;
      for (u = 0; i && u < EXPLORE_THREADS; u++) {
        uint32_t before = explore_records_in(u, session, explore.records[t][i - 1].known[u]);
        if (world.applied[session][u] >= before) continue;
        snprintf(explore.failure, sizeof explore.failure,
                 "no consistent cut: a record of T%d is in the trace of session %u, record %u of T%d, which happened "
                 "before, is not",
                 t, (unsigned)session, (unsigned)world.applied[session][u] + 1, u);
        return false;
      }
    }
  return true;
}

/* Checks a finished run. False, with a message in explore.failure, if a check fails. */
static bool explore_check_run(void) {
  unsigned i;
  for (i = 0; i < world.trace_count; i++) {
    bool last = i == 0 && !world.flight && !EXPLORE_IS_OUTSIDE;
    if (i == 0 && world.flight) continue;
    if (i > 0 && !world.traces[i].size) continue; /* the snapshot failed: it came too late */
    if (world.fails || world.unread) continue;
    /* Out of memory before the first cut: the trace is a header at most. */
    if (explore.lacks && world.traces[i].size <= 16 && world.stats.result == GOTRACE_ERROR_OUT_OF_MEMORY) continue;
    if (!explore_check_trace(&world.traces[i], last)) return false;
    if (last && world.stats.bytes != world.traces[i].size) {
      snprintf(explore.failure, sizeof explore.failure, "%zu bytes were read, counted were %llu", world.traces[i].size,
               (unsigned long long)world.stats.bytes);
      return false;
    }
  }
  for (i = 0; i < world.cut_count && !world.flight && !world.fails && !world.unread && world.trace_count; i++) {
    explore_bytes cut = world.traces[0];
    if (world.cuts[i] > cut.size) continue;
    cut.size = world.cuts[i];
    if (!explore_check_trace(&cut, false)) {
      memmove(explore.failure + 16, explore.failure, sizeof explore.failure - 17);
      memcpy(explore.failure, "consistent cut: ", 16);
      return false;
    }
  }
  for (i = 0; world.clean && i < GOTRACE_PROBLEM_COUNT; i++)
    if (world.stats.problems[i] && i != GOTRACE_PROBLEM_FORMAT_LACKS && i != GOTRACE_PROBLEM_REGION_OLDER &&
        i != GOTRACE_PROBLEM_SAMPLE_LOST) {
      snprintf(explore.failure, sizeof explore.failure, "a problem, though the program keeps the rules: %s",
               gotrace_problem_string((gotrace_problem)i));
      return false;
    }
  if (!world.forked && !explore_check_records()) return false;
  if (EXPLORE_IS_OUTSIDE) return true; /* the box stays as it is */
  if (gotrace__t.active) {
    snprintf(explore.failure, sizeof explore.failure, "the session is not cleaned up");
    return false;
  }
  if (explore.held_up) return true; /* the session's tables stay for ever, see gotrace__clean_up */
  if (gotrace__t.budget.used || gotrace__t.flight_budget.used) {
    snprintf(explore.failure, sizeof explore.failure, "memory lost: the session's budget has %zu bytes in use",
             gotrace__t.budget.used + gotrace__t.flight_budget.used);
    return false;
  }
  return world.forked || explore_check_memory();
}

#endif
