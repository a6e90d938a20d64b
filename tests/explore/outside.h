/* outside.h - tests/explore/explore.c as two processes (-DEXPLORE_OUTSIDE): the program captures into a box, and the
 * recorder of `gotrace record` reads it from outside, in the place of the service thread.
 *
 * The trace begins before the scenario; its words that start, read or copy traces do nothing. The recorder may begin a
 * round at any time, but only a few as long as other threads can run. The two processes have the box at different
 * addresses, memory and locks of their own, and waits on futexes that may end by their time-outs when no thread can go
 * on.
 *
 * With --killed, the program is killed in addition: once in each run, at each step. Then all that was published must be
 * in the trace, but for the last record of a thread, and nothing that has happened may be missing before something that
 * is there.
 */
#ifndef EXPLORE_OUTSIDE_H
#define EXPLORE_OUTSIDE_H

#ifdef EXPLORE_OUTSIDE
enum { EXPLORE_ROUNDS = 3 };
#define EXPLORE_BOX ((size_t)64 << 20)
#define EXPLORE_RECORDER_PAGES ((size_t)256 << 20)

static struct explore_outside {
  gotrace__box *box;         /* where the program has it */
  int file, to;              /* of the box; of the trace */
  recorder *r;               /* NULL: it has not begun, or is over */
  struct trace_end end;      /* what it says at its end */
  unsigned rounds;           /* of the recorder */
  bool over;                 /* the program has ended */
  bool killed;               /* ... in the middle of whatever its threads did */
  bool kills;                /* --killed */
  gotrace__cond round;       /* of who waits for one */
  struct gotrace__pool pool; /* the other process's, while one runs */
  gotrace__box *boxed;
  char *pages; /* all memory of the recorder */
  size_t used;
} outside;

/* The address at which the program has what the recorder uses, if both can: it stands for the place. */
static const void *explore_same_place(const void *at) {
  const char *place = (const char *)at;
  size_t offset = outside.r ? (size_t)(place - (const char *)outside.r->box) : EXPLORE_BOX;
  if (offset < EXPLORE_BOX) return (const char *)outside.box + offset;
  offset = (size_t)(place - (const char *)&gotrace__pool);
  return explore.running == EXPLORE_SERVICE && offset < sizeof gotrace__pool ? (const char *)&outside.pool + offset
                                                                             : at;
}

/* What each process has of its own, though here it is one. */
static void explore_change_process(int from, int to) {
  struct gotrace__pool pool = gotrace__pool;
  gotrace__box *boxed = gotrace__boxed;
  if ((from == EXPLORE_SERVICE) == (to == EXPLORE_SERVICE)) return;
  gotrace__pool = outside.pool;
  gotrace__boxed = outside.boxed;
  outside.pool = pool;
  outside.boxed = boxed;
}

/* The program takes pages from the box. */
static void *explore_map_pages(size_t size) {
  void *pages = outside.pages + outside.used;
  if (explore.running != EXPLORE_SERVICE) explore_fail("memory of the program's, outside the box: %zu bytes", size);
  if (size > EXPLORE_RECORDER_PAGES - outside.used) return NULL;
  outside.used += size;
  return memset(pages, 0, size);
}

/* A wait for a round may end by its time-out: see explore_serve. */
static EXPLORE_NOINLINE long explore_syscall(long number, uint32_t *at, long operation, long value, ...) {
  explore_thread *thread = &explore.threads[explore.running];
  if (number != SYS_futex) explore_fail("system call %ld", number);
  if (explore_same_place(at) != (const void *)&outside.box->beats) return 0; /* the recorder does not sleep */
  if (operation == 1) {
    explore_wake(&outside.round, __LINE__);
    return 0;
  }
  (void)explore_load(at, sizeof *at, EXPLORE_SEQ_CST, __LINE__);
  if (*at != (uint32_t)value) return 0;
  thread->wakes = outside.round.wakes;
  thread->milliseconds = 1000000; /* no time-out of the engine's */
  thread->expired = false;
  explore_block(EXPLORE_WAITS, &outside.round, __LINE__);
  if (explore.together) explore_note(explore_find(&outside.round), false);
  return 0;
}

/* A run has ended, perhaps in the middle of anything: frees what the recorder has from the C library. */
static void explore_discard_recorder(void) {
  recorder *r = outside.r;
  if (!r) return;
  munmap(r->box, r->size);
  free(r->t);
  free(r->entry.data);
  free(r->written.data);
  free(r->streams);
  free(r->ended);
  free_samples(r);
  free(r);
  outside.r = NULL;
}

static void explore_reset_process(void) {
  const struct gotrace__pool fresh = {GOTRACE__MUTEX, NULL, GOTRACE__CHUNK, {NULL}, {NULL}, 0};
  explore_discard_recorder();
  if (!outside.box) {
    outside.file = recorder_make_box(EXPLORE_BOX);
    outside.to = memfd_create("trace", MFD_CLOEXEC);
    outside.box = (gotrace__box *)mmap((void *)0x300000000000u, EXPLORE_BOX, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_FIXED_NOREPLACE, outside.file, 0);
    outside.pages = (char *)mmap((void *)0x310000000000u, EXPLORE_RECORDER_PAGES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (outside.file < 0 || outside.to < 0 || outside.box == MAP_FAILED || outside.pages == (char *)MAP_FAILED) abort();
  }
  memset(outside.box, 0, outside.box->used > sizeof *outside.box ? outside.box->used : sizeof *outside.box);
  outside.box->size = EXPLORE_BOX;
  outside.box->layout = gotrace__box_layout();
  outside.box->reserved = EXPLORE_BOX / 4;
  if (ftruncate(outside.to, 0) != 0 || lseek(outside.to, 0, SEEK_SET) != 0) abort();
  gotrace__pool = outside.pool = fresh;
  gotrace__boxed = outside.boxed = NULL;
  gotrace__modules.records = NULL;
  gotrace__modules.budget.used = 0;
  memset(&gotrace__awaited_recorder, 0, sizeof gotrace__awaited_recorder);
  memset(&outside.end, 0, sizeof outside.end);
  outside.used = outside.rounds = 0;
  outside.round.wakes = 0;
  outside.over = outside.killed = false;
}

/* The recorder's process: it begins first, and is given another turn when the program has begun. */
static void explore_serve(void) {
  struct record_settings set;
  off_t size = 0;
  int i;
  memset(&set, 0, sizeof set);
  set.format = (uint32_t)world.options.format;
  set.cut_milliseconds = world.options.cut_milliseconds;
  outside.r = recorder_begin(outside.file, EXPLORE_BOX, &set);
  if (!outside.r) abort();
  explore_idle();
  for (;;) {
    off_t now;
    recorder_read(outside.r, outside.to);
    now = lseek(outside.to, 0, SEEK_CUR);
    if (now != size && world.cut_count < EXPLORE_CUTS) world.cuts[world.cut_count++] = (size_t)now;
    size = now;
    if (outside.over) break;
    if (++outside.rounds < EXPLORE_ROUNDS) {
      explore.step++;
      explore_schedule(false);
    } else {
      explore_block(EXPLORE_LETS, NULL, 0);
      outside.round.wakes++; /* as if the waits of those that nobody woke had timed out */
    }
  }
  /* Whoever has seen a process end sees all that it has stored. */
  for (i = 0; i < EXPLORE_SERVICE; i++) {
    explore_inherit_view(EXPLORE_SERVICE, i);
    explore_learn_records(&explore.threads[EXPLORE_SERVICE], explore.threads[i].known);
  }
  complete_trace(outside.r, outside.to, &outside.end);
  explore_session_over(outside.r->t);
  free_recorder(outside.r);
  outside.r = NULL;
}

static void explore_begin_outside(void) {
  gotrace_options options = world.options;
  explore_spawn(EXPLORE_SERVICE);
  explore_let_run();
  if (gotrace__box_start(outside.box, &options) != GOTRACE_OK) explore_fail("the box cannot be used");
  world.started = true;
  explore_spawn(EXPLORE_SERVICE);
}

/* Ends the program, unless it was killed, and takes the trace. */
static void explore_end_outside(void) {
  explore_bytes *bytes = &world.traces[0];
  size_t size;
  world.stopping = true;
  if (!outside.killed) gotrace_end();
  outside.over = true;
  explore_join(EXPLORE_SERVICE, 0);
  explore.together = false;
  size = (size_t)lseek(outside.to, 0, SEEK_CUR);
  bytes->size = 0;
  if (size > bytes->capacity && !(bytes->data = (uint8_t *)realloc(bytes->data, bytes->capacity = size))) abort();
  bytes->size = size;
  if (pread(outside.to, bytes->data, size, 0) != (ssize_t)size) abort();
  world.trace_count = 1;
  memset(&world.stats, 0, sizeof world.stats);
  memcpy(world.stats.problems, outside.end.problems, sizeof world.stats.problems);
  world.stats.result = (gotrace_result)outside.end.result;
}

static bool explore_is_over(void) { return outside.over; }

/* Asks for a cut. */
static void explore_advance(void) { (void)gotrace__box_cut(outside.box); }

/* Threads wait for room when the program has so many chunks more. */
static void explore_blocks(unsigned room) {
  gotrace__t.budget.limit = gotrace__t.budget.used + room * GOTRACE__CHUNK_BYTES + GOTRACE__FIRST_CHUNK_BYTES / 2;
}

static bool explore_kills(void) { return outside.kills; }

/* SIGKILL: no thread of the program does anything any more. The main thread is only the scenario's here. */
static void explore_kill(void) {
  int i;
  explore_next_random(&explore.random);
  for (i = explore.mode == EXPLORE_RANDOM ? (int)((explore.random >> 40) % 300) : 0; i; i--) {
    explore.step++;
    explore_schedule(false);
  }
  outside.over = outside.killed = true;
  for (i = 1; i < EXPLORE_SERVICE; i++)
    if (explore.threads[i].state != EXPLORE_IDLE) explore.threads[i].state = EXPLORE_DONE;
  explore_note_end();
  explore.step++;
  explore_schedule(false);
}
#else
static void explore_serve(void) { gotrace__service(); }
static void explore_begin_outside(void) {}
static void explore_end_outside(void) {}
static bool explore_is_over(void) { return false; }
static void explore_advance(void) { gotrace_advance(); }
static void explore_blocks(unsigned room) { world.blocks = true, world.room = room; }
static bool explore_kills(void) { return false; }
static void explore_kill(void) {}
#endif

#endif
