/* calls.h - the language of scenarios: what each thread does, as text.
 *
 *     create0 create1; 1 pstart0 start0; on || 1 block; 2 unblock0; 3 advance || 1 pstop
 *
 * "||" separates parts: before, together, after, and so on. The turns of the first, third, ... part run one after
 * another, those of the second, fourth, ... concurrently. A turn begins with the number of its thread; without a number
 * it is the main thread's. Each word is a call listed in EXPLORE_CALLS; a digit at its end selects the goroutine, proc
 * or task. After the last turn, the main thread ends the trace, if one is active, and reads it.
 */
#ifndef EXPLORE_CALLS_H
#define EXPLORE_CALLS_H

#define EXPLORE_HANDLES 6
#define EXPLORE_TURNS 128
#define EXPLORE_COMMANDS 20480
#define EXPLORE_TRACES 4
#define EXPLORE_CUTS 8
#define EXPLORE_SESSIONS 64 /* with numbers from 1 on */

/* The last transition of a goroutine or proc, see explore_check_tick; and what a thread has: places. */
#define EXPLORE_PLACES 256
typedef struct explore_last_tick {
  uint64_t number, tick;
} explore_last_tick;
typedef struct explore_owner {
  const void *source; /* the transcriber's record of the thread */
  uint64_t go, proc;
  bool old_call; /* in a system call older than the trace: if it stops its proc, no number says so */
} explore_owner;

/* The bytes of a trace, collected from a reader or a sink. */
typedef struct explore_bytes {
  uint8_t *data;
  size_t size, capacity;
} explore_bytes;

static struct explore_world {
  gotrace_go *go[EXPLORE_HANDLES];
  gotrace_go *outer[EXPLORE_HANDLES]; /* of the nested running that begins with this goroutine */
  gotrace_proc *proc[EXPLORE_HANDLES];
  gotrace_task task[EXPLORE_HANDLES];
  gotrace_site site[EXPLORE_THREADS][2];
  gotrace_options options;
  bool started;  /* gotrace_start has returned */
  bool stopping; /* the trace is ending, for whatever reason */
  bool fails;    /* the sink fails */
  bool flight;
  bool blocks;                          /* threads wait at the memory limit */
  unsigned room;                        /* with `blocks`: the number of chunks that the limit leaves after the start */
  unsigned sink_calls;                  /* the calls that the sink makes: one bit per case of explore_sink_call */
  bool allocator_calls;                 /* the allocator calls the tracer */
  bool unread;                          /* the library was unloaded before the trace was read completely */
  bool clean;                           /* the scenario obeys the rules: no problem may be counted */
  bool forked;                          /* the run continues in the child: memory of other threads is lost */
  bool random;                          /* the program is random: it may have many sessions and snapshots */
  explore_bytes traces[EXPLORE_TRACES]; /* the last session's trace, then snapshots */
  uint32_t trace_session;               /* the number of that session */
  uint64_t pieces;                      /* read so far */
  unsigned trace_count;
  size_t cuts[EXPLORE_CUTS]; /* lengths at which the last session's trace is complete by itself */
  unsigned cut_count;
  gotrace_stats stats; /* of the last session */
  bool ordered;        /* the program orders all its calls, as by a lock */
  uint32_t order[10];  /* the program's own variables: 0: of `ordered`; the others: of `post` and `await` */
  uint32_t known[10][EXPLORE_THREADS];                 /* the records published before those were written */
  uint32_t applied[EXPLORE_SESSIONS][EXPLORE_THREADS]; /* records that the transcriber has applied */
  explore_last_tick go_ticks[EXPLORE_PLACES], proc_ticks[EXPLORE_PLACES]; /* by place, of the session: */
  uint32_t tick_session;
  explore_owner owners[EXPLORE_THREADS];                   /* what each thread has after its last applied record */
  uint32_t litmus[EXPLORE_HANDLES], puts[EXPLORE_HANDLES]; /* variables of the litmus tests; stores to each so far */
  char outcome[EXPLORE_THREADS][8];                        /* what each thread has read there, as digits */
} world;

static const gotrace_location explore_entries[EXPLORE_HANDLES] = {{0, "g0", "g.c", 1}, {0, "g1", "g.c", 2},
                                                                  {0, "g2", "g.c", 3}, {0, "g3", "g.c", 4},
                                                                  {0, "g4", "g.c", 5}, {0, "g5", "g.c", 6}};

static void explore_append(explore_bytes *bytes, const void *data, size_t size) {
  if (bytes->size + size > bytes->capacity) {
    bytes->capacity = 2 * (bytes->size + size);
    bytes->data = (uint8_t *)realloc(bytes->data, bytes->capacity);
    if (!bytes->data) abort();
  }
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
}

/* Records the bytes delivered so far as a cut, if the tracer calls them consistent. */
static void explore_note_cut(void) {
  size_t cut = gotrace__t.consistent_bytes;
  if (cut && cut == world.traces[0].size && world.cut_count < EXPLORE_CUTS &&
      (!world.cut_count || world.cuts[world.cut_count - 1] != cut))
    world.cuts[world.cut_count++] = cut;
}

#include "outside.h"

static bool explore_check_trace(const explore_bytes *bytes, bool counts);

/* Ends the run if the trace is broken. */
static void explore_check_now(const explore_bytes *bytes) {
  if (bytes->size && !world.fails && !world.unread && !explore.lacks && !explore_check_trace(bytes, false))
    explore_end_run(EXPLORE_FAILED);
}

/* The trace of another session begins: the former one is complete. */
static void explore_note_session(void) {
  if (world.trace_session == gotrace__t.session && world.trace_count) return;
  if (world.random && world.trace_count && !world.flight) explore_check_now(&world.traces[0]);
  world.trace_session = gotrace__t.session;
  world.flight = gotrace__t.flight;
  world.traces[0].size = 0;
  world.trace_count = 1;
  world.cut_count = 0;
}

static bool explore_file_write(const void *data, size_t size) {
  if (world.fails) return false;
  explore_note_session();
  explore_note_cut();
  explore_append(&world.traces[0], data, size);
  return true;
}

/* Later writes replace the bytes written so far. */
static bool explore_file_rewind(void) {
  world.traces[0].size = 0;
  return true;
}

/* Makes a call from the program's write function, selected by number. Returns whether its result is as documented. */
static bool explore_sink_call(unsigned call) {
  const void *data;
  gotrace_stats stats;
  gotrace_result result;
  size_t size;
  switch (call) {
  case 0: gotrace_log(GOTRACE_NO_TASK, "kind", "text"); return true;
  case 1:
    world.stopping = true;
    result = gotrace_end();
    return result == GOTRACE_OK || result == GOTRACE_ERROR_NOT_RUNNING;
  case 2: return gotrace_stop() == GOTRACE_ERROR_READER_BUSY;
  case 3: return gotrace_read(&data, &size) == GOTRACE_ERROR_READER_BUSY;
  case 4: /* only once, since each cut leads to another write */
    result = world.traces[0].size ? GOTRACE_OK : gotrace_advance();
    return result == GOTRACE_OK || result == GOTRACE_ERROR_NOT_RUNNING || result == GOTRACE_LIMIT_REACHED ||
           result == GOTRACE_ERROR_OUT_OF_MEMORY;
  default: gotrace_get_stats(&stats); return true;
  }
}

#ifndef EXPLORE_OUTSIDE
/* Makes calls from the allocator. The tracer refuses them while it allocates. */
static void explore_allocator_calls(void) {
  gotrace_stats stats;
  if (!world.allocator_calls) return;
  world.allocator_calls = false; /* avoids recursion: the thread's first call allocates its record */
  gotrace_log(GOTRACE_NO_TASK, "kind", "text");
  gotrace_go_create(&explore_entries[0]);
  gotrace_end();
  gotrace_get_stats(&stats);
  world.allocator_calls = true;
}
#endif

static bool explore_sink(void *context, const void *data, size_t size) {
  unsigned call;
  (void)context;
  for (call = 0; world.sink_calls >> call; call++)
    if (world.sink_calls >> call & 1 && !explore_sink_call(call)) explore_fail("call %u of the sink goes wrong", call);
  return explore_file_write(data, size);
}

static bool explore_snapshot_sink(void *context, const void *data, size_t size) {
  explore_append((explore_bytes *)context, data, size);
  return true;
}

/* Starts a trace. */
static void explore_on(bool sink, bool flight) {
  gotrace_options options = world.options;
  gotrace_result result;
  if (EXPLORE_IS_OUTSIDE) return;
  if (sink) options.write = explore_sink;
  if (world.blocks) options.on_limit = GOTRACE_LIMIT_BLOCK;
  result = flight ? gotrace_flight_start(&options) : gotrace_start(&options);
  if (result != GOTRACE_OK) return;
  if (world.blocks)
    gotrace__t.budget.limit = gotrace__t.options.memory_limit =
        gotrace__t.budget.used + world.room * GOTRACE__CHUNK_BYTES + GOTRACE__FIRST_CHUNK_BYTES / 2;
  explore_note_session();
  world.started = true;
}

/* Reads the trace: to its end if `wait`, otherwise what is available. */
static void explore_read_to_end(bool wait) {
  const void *data;
  size_t size;
  if (EXPLORE_IS_OUTSIDE) return;
  while ((wait ? gotrace_read(&data, &size) : gotrace_try_read(&data, &size)) == GOTRACE_OK && size) {
    world.pieces++;
    explore_note_session();
    explore_note_cut();
    explore_append(&world.traces[0], data, size);
  }
}

/* Reads the trace to its end beside another reader: retries until that reader gives up. */
static void explore_read_next(void) {
  const void *data;
  size_t size;
  gotrace_result result;
  if (EXPLORE_IS_OUTSIDE) return;
  while ((result = gotrace_read(&data, &size)) == GOTRACE_ERROR_READER_BUSY || (result == GOTRACE_OK && size)) {
    if (result == GOTRACE_OK) {
      explore_note_session();
      explore_note_cut();
      explore_append(&world.traces[0], data, size);
    } else {
      explore_yield(0);
    }
  }
}

/* The litmus tests: the n-th store to a variable stores n. */
static void explore_got(uint32_t value) {
  char *outcome = world.outcome[explore.running];
  size_t size = strlen(outcome);
  if (size + 1 < sizeof world.outcome[0]) outcome[size] = (char)('0' + value);
}
#define EXPLORE_PUT(i, order) gotrace__store_##order(&world.litmus[i], ++world.puts[i])
#define EXPLORE_GET(i, order) explore_got(gotrace__load_##order(&world.litmus[i]))

static void explore_off(void) {
  world.stopping = true;
  gotrace_end();
}

static void explore_stop(void) {
  world.stopping = true;
  gotrace_stop();
}

/* Ends the trace as a limit does: in the middle of a call. */
static void explore_early(void) {
  world.stopping = true;
  gotrace__end_early(GOTRACE_LIMIT_REACHED);
}

/* Reaches the memory limit: the next thread that needs a chunk ends the trace. */
static void explore_limit(void) {
  world.stopping = true;
  gotrace__t.budget.limit = gotrace__t.budget.used;
}

/* Reaches the size limit: the transcriber ends the trace as soon as it has written something. */
static void explore_size_limit(void) {
  world.stopping = true;
  if (!gotrace__t.ready) return; /* the first call makes the locks */
  gotrace__lock(&gotrace__t.work);
  if (gotrace__t.transcriber) gotrace__t.transcriber->options.size_limit = 1;
  gotrace__unlock(&gotrace__t.work);
}

/* The program's own synchronization: an acquire-release operation on one of its variables. */
static void explore_synchronize(unsigned variable) {
  explore_thread *thread = &explore.threads[explore.running];
  if (explore.together) {
    explore_location *location = explore_point(&world.order[variable]);
    explore_note(location, true);
    explore_take_view(location);
    explore_give_view(location);
  }
  explore_learn_records(thread, world.known[variable]);
  memcpy(world.known[variable], thread->known, sizeof thread->known);
}

static void explore_post(unsigned variable) {
  explore_synchronize(variable);
  world.order[variable] = 1;
}

static void explore_await(unsigned variable) {
  while (explore_load(&world.order[variable], sizeof(uint32_t), EXPLORE_ACQUIRE, 0), !world.order[variable])
    explore_yield(0);
  if (explore.together) explore_take_view(explore_find(&world.order[variable]));
  explore_learn_records(&explore.threads[explore.running], world.known[variable]);
}

static void explore_snapshot(void) {
  explore_bytes *bytes = &world.traces[world.trace_count];
  if (EXPLORE_IS_OUTSIDE) return;
  if (world.random) {
    explore_bytes now = {NULL, 0, 0};
    if (gotrace_flight_snapshot(explore_snapshot_sink, &now) == GOTRACE_OK) explore_check_now(&now);
    free(now.data);
    return;
  }
  if (world.trace_count == EXPLORE_TRACES) return;
  bytes->size = 0;
  world.trace_count++;
  if (gotrace_flight_snapshot(explore_snapshot_sink, bytes) != GOTRACE_OK) bytes->size = 0;
}

/* Forks. The run continues in the child, in which only this thread exists. */
static void explore_fork(void) {
  int i;
  if (EXPLORE_IS_OUTSIDE) return;
  gotrace__before_fork();
  for (i = 0; i < EXPLORE_THREADS; i++)
    if (i != explore.running && i) explore.threads[i].state = EXPLORE_DONE;
  explore.threads[explore.running].held_count = 0; /* the child makes all locks anew before it takes one */
  gotrace__after_fork_in_child();
  world.forked = true;
  world.started = world.stopping = false;
  world.trace_count = 0;
  explore.threads[0].self = NULL;
  explore.threads[0].exit_argument = NULL;
}

/* Forks. The run continues in the parent. */
static void explore_fork_in_parent(void) {
  gotrace__before_fork();
  gotrace__after_fork();
}

/* Deletes the key whose destructor runs when a thread ends. */
static void explore_delete_key(void) {
  int i;
  explore.unloaded = true;
  for (i = 0; i < EXPLORE_THREADS; i++) explore.threads[i].exit_argument = NULL;
}

static void explore_exit_call(void) {
  world.stopping = true;
  gotrace__exit();
  if (gotrace__t.active && gotrace__t.delivers) explore_fail("exit does not end the trace");
}

/* Does what gotrace__unload does when the process ends while other threads still run. */
static void explore_process_end(void) {
  if (EXPLORE_IS_OUTSIDE) return;
  explore_exit_call(); /* by atexit */
  explore_exit_call();
  explore_delete_key();
}

/* Does what gotrace__unload does when the library is unloaded: no thread is in the library. */
static void explore_unload(void) {
  if (EXPLORE_IS_OUTSIDE) return;
  explore_exit_call();
  explore_delete_key();
  world.unread |= gotrace__t.active;
  gotrace__free_all();
}

/* A late store of the second of two wakers while tracing is off: "runnable", though the goroutine has run since. */
static void explore_wake_late(gotrace_go *g) {
  if (!gotrace_enabled()) gotrace__store_relaxed(&g->status, (uint8_t)GOTRACE__RUNNABLE);
}

/* A tenth of a second. A stop may take a thread that is in a call meanwhile for one that is held up. */
static void explore_sleep(void) {
  explore.threads[explore.running].time += 300000000;
  if (world.random && !explore.held_up) explore.held_up = &world;
}

static void explore_end_thread(void) {
  explore.threads[explore.running].doing = "thread exit";
  explore_exit();
}

#include "worker.h"

#define EXPLORE_SITE (&world.site[explore.running][0])
#define EXPLORE_TASK_SITE (&world.site[explore.running][1])

/* X(word, call with handle number i, whether it must leave an event or count a problem) */
#define EXPLORE_CALLS(X)                                                                                             \
  X(create, world.go[i] = gotrace_go_create_at(EXPLORE_SITE, &explore_entries[i]), true)                             \
  X(createblocked, world.go[i] = gotrace_go_create_blocked_at(EXPLORE_SITE, &explore_entries[i]), false)             \
  X(createsys, world.go[i] = gotrace_go_create_syscall_at(EXPLORE_SITE, &explore_entries[i]), true)                  \
  X(start, gotrace_go_start(world.go[i]), true)                                                                      \
  X(end, gotrace_go_end(), true)                                                                                     \
  X(yield, gotrace_go_stop_at(EXPLORE_SITE, GOTRACE_STOP_YIELD), true)                                               \
  X(block, gotrace_go_block_at(EXPLORE_SITE, GOTRACE_BLOCK_SYNC), true)                                              \
  X(forever, gotrace_go_block_at(EXPLORE_SITE, GOTRACE_BLOCK_FOREVER), true)                                         \
  X(named, gotrace_go_block_at(EXPLORE_SITE, gotrace_reason(i % 2 ? "named1" : "named0") + GOTRACE_BLOCK_NET), true) \
  X(unblock, gotrace_go_unblock_at(EXPLORE_SITE, world.go[i]), false)                                                \
  X(switch, gotrace_go_switch_at(EXPLORE_SITE, world.go[i]), true)                                                   \
  X(switchfor, gotrace_go_switch_for_at(EXPLORE_SITE, world.go[i], gotrace_reason("named0")), true)                  \
  X(switchend, gotrace_go_switch_end_at(EXPLORE_SITE, world.go[i]), true)                                            \
  X(destroy, gotrace_go_destroy_at(EXPLORE_SITE, world.go[i]), true)                                                 \
  X(keyed, world.go[i] = gotrace_go_keyed_at(EXPLORE_SITE, i, &explore_entries[i], 0), false)                        \
  X(keyfree, gotrace_go_keyed_free_at(EXPLORE_SITE, i), false)                                                       \
  X(syscall, gotrace_go_syscall_begin_at(EXPLORE_SITE), true)                                                        \
  X(sysend, gotrace_go_syscall_end(), false)                                                                         \
  X(sysblocked, gotrace_go_syscall_end_blocked(), false)                                                             \
  X(endsys, gotrace_go_end_in_syscall(), true)                                                                       \
  X(self, world.go[i] = gotrace_go_self(), false)                                                                    \
  X(label, gotrace_go_label("label"), false)                                                                         \
  X(timer, gotrace_go_timer(world.go[i]), false)                                                                     \
  X(site, gotrace_log_at(gotrace_site_make("place", i % 2 ? "f.c" : NULL, i), world.task[0], "kind", "text"), true)  \
  X(stack, gotrace_go_stack_bounds(world.go[i], NULL, NULL), false)                                                  \
  X(wait, gotrace_wait_begin_at(EXPLORE_SITE, GOTRACE_BLOCK_SYNC), true)                                             \
  X(waiton, gotrace_wait_on_at(EXPLORE_SITE, &world.site[i], GOTRACE_BLOCK_SYNC), true)                              \
  X(wakeone, gotrace_wake_at(EXPLORE_SITE, &world.site[i], 1), false)                                                \
  X(wakeall, gotrace_wake_at(EXPLORE_SITE, &world.site[i], GOTRACE_WAKE_ALL), false)                                 \
  X(continue, gotrace_go_continue(world.go[i]), true)                                                                \
  X(waitend, gotrace_wait_end(), true)                                                                               \
  X(nest, world.outer[i] = gotrace_nest_begin_at(EXPLORE_SITE, world.go[i]), true)                                   \
  X(nestnone, world.outer[i] = gotrace_nest_begin_at(EXPLORE_SITE, NULL), true)                                      \
  X(nestend, gotrace_nest_end(world.outer[i]), true)                                                                 \
  X(tcreate, world.go[i] = gotrace_thread_create_at(EXPLORE_SITE, &explore_entries[i]), true)                        \
  X(beginas, gotrace_thread_begin_as(world.go[i]), true)                                                             \
  X(rename, gotrace_go_rename(world.go[i], "renamed"), false)                                                        \
  X(trename, gotrace_thread_rename("new name"), false)                                                               \
  X(begin, gotrace_thread_begin("thread"), false)                                                                    \
  X(finish, gotrace_thread_end(), false)                                                                             \
  X(exit, explore_end_thread(), false)                                                                               \
  X(pcreate, world.proc[i] = gotrace_proc_create(), false)                                                           \
  X(pdestroy, gotrace_proc_destroy(world.proc[i]), false)                                                            \
  X(pstart, gotrace_proc_start(world.proc[i]), true)                                                                 \
  X(pstop, gotrace_proc_stop(), true)                                                                                \
  X(steal, gotrace_proc_steal(world.proc[i]), false) /* the loser may have reported it */                            \
  X(procs, gotrace_procs_change_at(EXPLORE_SITE, 4), true)                                                           \
  X(gc, gotrace_gc_begin_at(EXPLORE_SITE), true)                                                                     \
  X(gcend, gotrace_gc_end(), false)                                                                                  \
  X(stw, gotrace_stw_begin_at(EXPLORE_SITE, GOTRACE_STW_GC_MARK_TERM), true)                                         \
  X(stwend, gotrace_stw_end(), false)                                                                                \
  X(scan, gotrace_gc_scan_begin(), true)                                                                             \
  X(scanend, gotrace_gc_scan_end(), true)                                                                            \
  X(sweep, gotrace_gc_sweep_begin(), false)                                                                          \
  X(span, gotrace_gc_sweep_span_at(EXPLORE_SITE, 8192, 4096), false)                                                 \
  X(sweepend, gotrace_gc_sweep_end(), false)                                                                         \
  X(assist, gotrace_gc_mark_assist_begin_at(EXPLORE_SITE), true)                                                     \
  X(assistend, gotrace_gc_mark_assist_end(), false)                                                                  \
  X(heap, gotrace_heap_alloc(4096), true)                                                                            \
  X(goal, gotrace_heap_goal(8192), true)                                                                             \
  X(task, world.task[i] = gotrace_task_begin_at(EXPLORE_TASK_SITE, "task", 1, world.task[0]), true)                  \
  X(taskend, gotrace_task_end_at(EXPLORE_TASK_SITE, world.task[i]), false)                                           \
  X(region, gotrace_region_begin_at(EXPLORE_SITE, world.task[i], "region", 1), true)                                 \
  X(regionend, gotrace_region_end_at(EXPLORE_SITE, world.task[i], "region", 1), true)                                \
  X(log, gotrace_log_at(EXPLORE_SITE, world.task[i], "kind", "text"), true)                                          \
  X(sample, gotrace_cpu_sample(NULL), true)                                                                          \
  X(on, explore_on(false, false), false)                                                                             \
  X(onsink, explore_on(true, false), false)                                                                          \
  X(onflight, explore_on(false, true), false)                                                                        \
  X(off, explore_off(), false)                                                                                       \
  X(stop, explore_stop(), false)                                                                                     \
  X(early, explore_early(), false)                                                                                   \
  X(limit, explore_limit(), false)                                                                                   \
  X(sizelimit, explore_size_limit(), false)                                                                          \
  X(post, explore_post(i), false)                                                                                    \
  X(await, explore_await(i), false)                                                                                  \
  X(ordered, world.ordered = true, false)                                                                            \
  X(guard, (void)0, false) /* uses of freed memory are failures: see explore_parse */                                \
  X(advance, explore_advance(), false)                                                                               \
  X(snapshot, explore_snapshot(), false)                                                                             \
  X(read, explore_read_to_end(true), false)                                                                          \
  X(readnext, explore_read_next(), false)                                                                            \
  X(tryread, explore_read_to_end(false), false)                                                                      \
  X(stats, gotrace_get_stats(&world.stats), false)                                                                   \
  X(sleep, explore_sleep(), false)                                                                                   \
  X(put, EXPLORE_PUT(i, relaxed), false)                                                                             \
  X(putrelease, EXPLORE_PUT(i, release), false)                                                                      \
  X(putseqcst, EXPLORE_PUT(i, seq_cst), false)                                                                       \
  X(get, EXPLORE_GET(i, relaxed), false)                                                                             \
  X(getacquire, EXPLORE_GET(i, acquire), false)                                                                      \
  X(getseqcst, EXPLORE_GET(i, seq_cst), false)                                                                       \
  X(fence, gotrace__fence_seq_cst(), false)                                                                          \
  X(barrier, (void)gotrace__barrier(), false)                                                                        \
  X(fail, world.fails = world.stopping = true, false)                                                                \
  X(blocks, explore_blocks(i), false)                                                                                \
  X(cancel, explore_cancel((int)i), false)                                                                           \
  X(cleanup, (void)0, false) /* what follows also runs if the thread is cancelled earlier */                         \
  X(sinkcalls, world.sink_calls |= 1u << i, false)                                                                   \
  X(allocatorcalls, world.allocator_calls = true, false)                                                             \
  X(processend, explore_process_end(), false)                                                                        \
  X(lack, explore.lacks = true, false) /* from here on, each allocation fails in turn: explore_text_run */           \
  X(latewake, explore_wake_late(world.go[i]), false)                                                                 \
  X(unload, explore_unload(), false)                                                                                 \
  X(clean, world.clean = !EXPLORE_IS_OUTSIDE || world.random, false) /* what comes before `on` is traced outside */  \
  X(ahead, explore_skew(&explore.threads[i].ahead), false)           /* the thread's clock is ahead of the others */ \
  X(drifts, explore_skew(&explore.threads[i].drifts), false)         /* ... gains on them, and falls back */         \
  X(moves, explore_skew(&explore.threads[i].moves), false)           /* ... is one of two in turn */                 \
  X(random, (void)0, false) /* of random.h: the main thread also reads while no other can run */                     \
  X(fresh, (void)0, false)  /* first in a turn: if the thread has ended, a new one runs it */                        \
  X(work, explore_work(i), false)                                                                                    \
  X(retire, explore_retire(), false)                                                                                 \
  X(dice, scheduler.random = explore_mix(scheduler.random, i + 1), false) /* of the workers */                       \
  X(killed, explore_kill(), false)                                        /* of outside.h */                         \
  X(forks, explore_fork_in_parent(), false)                                                                          \
  X(fork, explore_fork(), false)

enum explore_call {
#define EXPLORE_CALL(word, code, heard) EXPLORE_CALL_##word,
  EXPLORE_CALLS(EXPLORE_CALL)
#undef EXPLORE_CALL
      EXPLORE_CALL_COUNT
};

static const char *const explore_words[] = {
#define EXPLORE_CALL(word, code, heard) #word,
    EXPLORE_CALLS(EXPLORE_CALL)
#undef EXPLORE_CALL
};

static const bool explore_heard[] = {
#define EXPLORE_CALL(word, code, heard) heard,
    EXPLORE_CALLS(EXPLORE_CALL)
#undef EXPLORE_CALL
};

static void explore_do(enum explore_call call, unsigned i) {
  switch (call) {
#define EXPLORE_CALL(word, code, heard) \
  case EXPLORE_CALL_##word: code; break;
    EXPLORE_CALLS(EXPLORE_CALL)
#undef EXPLORE_CALL
  default: abort();
  }
}

typedef struct explore_command {
  uint8_t call, handle;
} explore_command;

typedef struct explore_turn {
  int thread;
  uint8_t part;          /* those with odd numbers run concurrently */
  unsigned first, count; /* commands */
} explore_turn;

/* The scenario, read from its text. */
static struct explore_script {
  explore_command commands[EXPLORE_COMMANDS];
  explore_turn turns[EXPLORE_TURNS];
  unsigned turn_count;
} script;

static const explore_turn *explore_turn_of[EXPLORE_THREADS]; /* each thread's latest turn, or NULL */

/* Adds a thread that kills the program in the first concurrent part. */
static bool explore_add_killer(unsigned commands) {
  explore_turn *turn = &script.turns[script.turn_count];
  if (script.turn_count == EXPLORE_TURNS || commands == EXPLORE_COMMANDS) return false;
  script.turn_count++;
  turn->thread = EXPLORE_SERVICE - 1;
  turn->part = 1;
  turn->first = commands;
  turn->count = 1;
  script.commands[commands].call = EXPLORE_CALL_killed;
  return true;
}

/* Parses a scenario. Returns NULL, or the rest of the text from the invalid word on. */
static const char *explore_parse(const char *text) {
  unsigned commands = 0;
  uint8_t part = 0;
  explore_turn *turn = NULL;
  memset(&script, 0, sizeof script);
  explore.pages = world.random = false;
  explore.lack_at = 0;
  while (*text) {
    size_t length = strcspn(text, " ;|"), word;
    unsigned call;
    if (*text == ' ') {
      text++;
      continue;
    }
    if (*text == ';' || *text == '|') {
      turn = NULL;
      if (*text == '|' && text[1] == '|') {
        part++;
        text++;
      }
      text++;
      continue;
    }
    if (!turn) {
      if (script.turn_count == EXPLORE_TURNS || part > 250 || (part % 2 && (length != 1 || *text == '0'))) return text;
      turn = &script.turns[script.turn_count++];
      turn->part = part;
      turn->first = commands;
      if (length == 1 && *text > '0' && *text < '0' + EXPLORE_SERVICE) {
        turn->thread = *text - '0';
        text++;
        continue;
      }
    }
    word = length && text[length - 1] >= '0' && text[length - 1] <= '9' ? length - 1 : length;
    for (call = 0; call < EXPLORE_CALL_COUNT; call++)
      if (strlen(explore_words[call]) == word && !memcmp(explore_words[call], text, word)) break;
    if (call == EXPLORE_CALL_COUNT || commands == EXPLORE_COMMANDS) return text;
    script.commands[commands].call = (uint8_t)call;
    explore.pages |= call == EXPLORE_CALL_unload || call == EXPLORE_CALL_guard;
    if (call == EXPLORE_CALL_lack) explore.lack_at = 1;
    world.random |= call == EXPLORE_CALL_random;
    script.commands[commands].handle = word < length ? (uint8_t)(text[word] - '0') : 0;
    if (script.commands[commands].handle >= EXPLORE_HANDLES) return text;
    commands++;
    turn->count++;
    text += length;
  }
  if (explore_kills() && !explore_add_killer(commands)) return "too many turns";
  explore.most_steps = EXPLORE_STEPS + (world.random ? 100000 + 200 * commands : 0);
  return NULL;
}

/* The records of the running thread and the calls that were dropped; or the samples of all threads. */
static uint64_t explore_heard_of(bool samples) {
  if (samples) return gotrace__t.sample_head + gotrace__t.samples_lost;
  return explore.record_count[explore.running] + gotrace__t.lost + gotrace__t.nested;
}

/* Whether the call has a NULL handle, or is about a goroutine that had one, and therefore leaves no record. */
static bool explore_is_void(const explore_command *command) {
  const gotrace__thread *m = gotrace__self;
  if (m && m->lacks && !m->go && (command->call == EXPLORE_CALL_waitend || command->call == EXPLORE_CALL_endsys))
    return true;
  if (command->call == EXPLORE_CALL_pstart) return !world.proc[command->handle];
  return command->call == EXPLORE_CALL_destroy && !world.go[command->handle];
}

static void explore_run_commands(const explore_turn *turn, unsigned i) {
  explore_thread *thread = &explore.threads[explore.running];
  for (; i < turn->count; i++) {
    const explore_command *command = &script.commands[turn->first + i];
    bool samples = command->call == EXPLORE_CALL_sample;
    bool on = world.started && !world.stopping && !explore.lacks && explore_heard[command->call] &&
              !explore_is_void(command) && !(samples && (EXPLORE_IS_OUTSIDE || gotrace__t.version < GOTRACE_GO_1_19));
    uint32_t session = gotrace__t.session;
    uint64_t before = on ? explore_heard_of(samples) : 0;
    thread->doing = explore_words[command->call];
    thread->command = i;
    if (explore.trace)
      printf("%s T%d: %s%u\n", explore.together ? "  " : "--", explore.running, thread->doing, command->handle);
    if (world.ordered) explore_synchronize(0);
    explore_do((enum explore_call)command->call, command->handle);
    if (world.ordered) explore_synchronize(0);
    /* After a stale read, the thread may not have seen the start. */
    if (on && !world.stopping && session == gotrace__t.session && explore_heard_of(samples) == before &&
        explore.stale_left == explore.stale)
      explore_fail("T%d: %s has left no record", explore.running, thread->doing);
    explore_check_woken();
    if (thread->held_count) {
      char name[64];
      explore_name(name, sizeof name, thread->held[0].at);
      explore_fail("T%d: %s returns with %s locked", explore.running, thread->doing, name);
    }
  }
  thread->doing = NULL;
}

static void explore_run_turn(const explore_turn *turn) { explore_run_commands(turn, 0); }

/* Runs the clean-up of a cancelled thread: the commands after `cleanup` in its turn. */
static void explore_unwind(void) {
  const explore_turn *turn = explore_turn_of[explore.running];
  unsigned i;
  for (i = explore.threads[explore.running].command; i < turn->count; i++)
    if (script.commands[turn->first + i].call == EXPLORE_CALL_cleanup) {
      explore_run_commands(turn, i);
      return;
    }
}

/* Whether the session's reader is a service thread. */
static bool explore_served(void) { return gotrace__t.active && gotrace__t.delivers; }

/* Runs the turns of a part: the middle part concurrently, the others one after another. */
static void explore_run_part(uint8_t part) {
  unsigned i;
  for (i = 0; i < script.turn_count; i++) {
    const explore_turn *turn = &script.turns[i];
    explore_thread *thread = &explore.threads[turn->thread];
    if (turn->part != part) continue;
    if (!turn->thread) {
      explore_run_turn(turn);
      continue;
    }
    if (thread->state == EXPLORE_DONE && (!turn->count || script.commands[turn->first].call != EXPLORE_CALL_fresh))
      continue;
    explore_turn_of[turn->thread] = turn;
    explore_spawn(turn->thread);
    if (part % 2) continue;
    explore_join(turn->thread, 0);
  }
}

/* A random program may wait for a reader: the main thread is one when no thread can go on. */
static void explore_read_for_all(void) {
  uint64_t before;
  do {
    before = world.pieces;
    explore_let_run();
    explore_read_to_end(false);
  } while (world.pieces != before);
}

static void explore_main(void) {
  unsigned last = 0, part, i;
  for (i = 0; i < script.turn_count; i++) last = script.turns[i].part > last ? script.turns[i].part : last;
  explore_begin_outside();
  last = last < 2 ? 2 : last + last % 2;
  for (part = 0; part <= last && !explore_is_over(); part++) {
    if (part == last) explore.left = 0;
    explore.together = part % 2 || (part && explore_served()); /* the service thread runs concurrently */
    explore_run_part((uint8_t)part);
    if (part == 0 && explore_served() && !EXPLORE_IS_OUTSIDE) explore_let_run();
    if (part % 2 && world.random && !EXPLORE_IS_OUTSIDE) explore_read_for_all();
    if (part % 2) explore_join(-1, 0);
  }
  if (EXPLORE_IS_OUTSIDE) {
    explore_end_outside();
    explore_end_run(EXPLORE_FINISHED);
  }
  if (gotrace__t.active) {
    if (gotrace__t.delivers) explore_stop();
    else {
      explore_off();
      explore_read_to_end(true);
    }
  }
  explore.together = false;
  if (gotrace__t.gone) world.stats = gotrace__t.last; /* after an unload, calls are dropped */
  else gotrace_get_stats(&world.stats);
  explore_check_woken();
  explore_end_run(EXPLORE_FINISHED);
}

static void explore_thread_main(int thread) {
  if (thread == 0) explore_main();
  if (thread == EXPLORE_SERVICE) {
    explore.threads[thread].doing = "service";
    explore_serve();
    explore_exit();
  }
  for (;;) {
    explore_run_turn(explore_turn_of[thread]);
    explore_idle();
  }
}

#endif
