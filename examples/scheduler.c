/* scheduler.c - a scheduler of coroutines, traced
 *
 * What it teaches: where a program that runs many tasks on few threads calls the tracer. The first part is the
 * scheduler: workers that steal from each other, channels, a mutex, wait groups, timers. The second part is a program
 * that uses it: it counts the words of all text files below some paths, in a pipeline of coroutines,
 *
 *     walk --files--> read --blocks--> count --tables--> merge
 *
 *     cc -O2 -g -o scheduler examples/scheduler.c -I. -pthread
 *     ./scheduler /usr/include && go tool trace scheduler.trace
 *
 * How it keeps the rules for schedulers of gotrace.h:
 *
 *   1. A coroutine that must wait holds the lock of what it waits for. Under this lock it reports that it blocks, then
 *      enters the queue. The worker to which it switches releases the lock after saving the coroutine's context.
 *      Otherwise the coroutine might be resumed half saved. A waker takes it out of the queue under the lock, so it is
 *      blocked in the trace too. The waker reports it as unblocked, then puts it on a run queue.
 *   2. A worker reports the start of a coroutine after taking it off a run queue, when no other thread can have it.
 *   3. A worker starts its proc when it begins, and stops it while it has nothing to run.
 *
 * What it omits: preemption, polling of sockets, growing stacks, and giving the proc of a long system call to another
 * thread. swapcontext makes two system calls per switch; a faster switch takes some lines of assembler.
 */

#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64 /* for 32-bit processors */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "example.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>

/* ================================================================================================ scheduler ====
 *
 * Functions that can block end in _at. They take a call site, so that the trace shows the line of the program that
 * waits or wakes, and not always the same line in here. The macros of the same name pass it.
 */

enum { STACK_SIZE = 128 * 1024 };
#define NEVER UINT64_MAX

/* A spinlock, held for some instructions. A coroutine that blocks locks it and its worker unlocks it, so it cannot be a
 * pthread_mutex_t, which its owner must unlock. */
typedef atomic_bool spinlock;

static void spin_lock(spinlock *lock) {
  while (atomic_exchange_explicit(lock, true, memory_order_acquire)) sched_yield();
}

static void spin_unlock(spinlock *lock) { atomic_store_explicit(lock, false, memory_order_release); }

/* A context to switch to. The stack's bounds, the fake stack and the fiber are for the sanitizers. */
struct context {
  ucontext_t machine;
  const void *stack;
  size_t stack_size;
  void *fake_stack, *fiber;
};

/* What the worker must do for a coroutine after switching away from it. */
enum departure {
  BLOCKED,  /* release coroutine.lock */
  SLEEPING, /* wake it at coroutine.wake_at */
  YIELDED,  /* put it on the run queue */
  ENDED     /* reuse it */
};

/* Owned by the worker that runs it, or by the queue that contains it, protected by that queue's lock. */
struct coroutine {
  struct coroutine *next;
  gotrace_go *go;
  void (*function)(void *argument);
  void *argument;
  void *item; /* what it sends or has received */
  enum departure departure;
  spinlock *lock;
  uint64_t wake_at;
  gotrace_block_reason reason;
  uint64_t blocked_since;
  struct context context;
};

struct queue {
  struct coroutine *first, *last;
  unsigned length;
};

static void queue_push(struct queue *queue, struct coroutine *coroutine) {
  coroutine->next = NULL;
  if (queue->first) queue->last->next = coroutine;
  else queue->first = coroutine;
  queue->last = coroutine;
  queue->length++;
}

static struct coroutine *queue_pop(struct queue *queue) {
  struct coroutine *coroutine = queue->first;
  if (!coroutine) return NULL;
  queue->first = coroutine->next;
  queue->length--;
  return coroutine;
}

struct worker {
  spinlock lock;
  struct queue queue; /* protected by lock */
  /* Owned by its own thread. */
  struct context context;
  struct coroutine *running;
  struct blocked blocked;
  /* Constant. */
  unsigned index;
  pthread_t thread;
  gotrace_proc *proc;
};

static struct {
  struct worker *workers;
  unsigned worker_count;
  atomic_uint runnable;         /* coroutines on run queues; counted before they are added */
  atomic_uint idle;             /* workers that wait, or are about to */
  atomic_uint living;           /* coroutines that have not ended */
  _Atomic(uint64_t) next_alarm; /* wake_at of the first sleeper; NEVER: there is none */
  spinlock pool_lock;
  struct queue pool; /* ended coroutines, for reuse; protected by pool_lock */
  /* Protected by lock. */
  pthread_mutex_t lock;
  pthread_cond_t wake;        /* for idle workers: there may be something to do */
  struct coroutine *sleepers; /* by wake_at; a scheduler with many of them would have a heap here */
  uint64_t watched;           /* the alarm that an idle worker waits for; NEVER: none does */
  bool finished;
} scheduler = {.next_alarm = NEVER, .watched = NEVER, .lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct worker *thread_worker;

/* The calling thread's worker. After a switch a coroutine may be on another thread, but a compiler could cache the
 * address of a thread-local. So no inlined code may use this thread-local or any other, such as errno. */
__attribute__((noinline)) static struct worker *this_worker(void) {
  __asm__ volatile("");
  return thread_worker;
}

static struct coroutine *this_coroutine(void) { return this_worker()->running; }

/* -------------------------------------------------------------------------------------------- sanitizers ----
 *
 * They must be told which stack is in use. Without sanitizers, none of this is needed.
 */

#ifndef __has_feature /* Clang's way to ask; GCC defines the macros */
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

static void *fiber_of_thread(void) {
#ifdef THREAD_SANITIZER
  return __tsan_get_current_fiber();
#else
  return NULL;
#endif
}

static void *fiber_new(void) {
#ifdef THREAD_SANITIZER
  return __tsan_create_fiber(0);
#else
  return NULL;
#endif
}

static void fiber_free(void *fiber) {
#ifdef THREAD_SANITIZER
  __tsan_destroy_fiber(fiber);
#else
  (void)fiber;
#endif
}

static void before_switch(struct context *from, const struct context *to) {
#ifdef ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_size);
#elif defined(THREAD_SANITIZER)
  __tsan_switch_to_fiber(to->fiber, 0);
#endif
  (void)from, (void)to;
}

/* `from` is the context that has switched to `here`. This also gives the bounds of a worker's stack. */
static void after_switch(struct context *here, struct context *from) {
#ifdef ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(here->fake_stack, &from->stack, &from->stack_size);
#endif
  (void)here, (void)from;
}

/* -------------------------------------------------------------------------------------------- run queues ---- */

static void enqueue(struct worker *worker, struct coroutine *coroutine) {
  atomic_fetch_add(&scheduler.runnable, 1);
  spin_lock(&worker->lock);
  queue_push(&worker->queue, coroutine);
  spin_unlock(&worker->lock);
}

/* Call it after enqueue: either the worker that goes to sleep sees scheduler.runnable, or this sees scheduler.idle. */
static void wake_worker(void) {
  if (atomic_load(&scheduler.idle) == 0) return;
  pthread_mutex_lock(&scheduler.lock);
  pthread_cond_signal(&scheduler.wake);
  pthread_mutex_unlock(&scheduler.lock);
}

/* Makes a blocked coroutine runnable. The caller has taken it out of the queue where it waited. */
static void ready_at(gotrace_site *site, struct coroutine *coroutine) {
  blocked_add(&this_worker()->blocked, coroutine->reason, coroutine->blocked_since);
  gotrace_go_unblock_at(site, coroutine->go);
  enqueue(this_worker(), coroutine);
  wake_worker();
}

static void ready_all_at(gotrace_site *site, struct queue *coroutines) {
  for (struct coroutine *coroutine; (coroutine = queue_pop(coroutines));) ready_at(site, coroutine);
}

static struct coroutine *dequeue(struct worker *worker) {
  spin_lock(&worker->lock);
  struct coroutine *coroutine = queue_pop(&worker->queue);
  spin_unlock(&worker->lock);
  if (coroutine) atomic_fetch_sub(&scheduler.runnable, 1);
  return coroutine;
}

/* Takes half of the first run queue that is not empty, and returns one of the coroutines. */
static struct coroutine *steal(struct worker *thief) {
  for (unsigned i = 1; i < scheduler.worker_count; i++) {
    struct worker *victim = &scheduler.workers[(thief->index + i) % scheduler.worker_count];
    struct queue loot = {0};
    spin_lock(&victim->lock);
    for (unsigned half = (victim->queue.length + 1) / 2; half > 0; half--) queue_push(&loot, queue_pop(&victim->queue));
    spin_unlock(&victim->lock);
    if (loot.length == 0) continue;
    atomic_fetch_sub(&scheduler.runnable, 1);
    struct coroutine *stolen = queue_pop(&loot);
    spin_lock(&thief->lock);
    while (loot.length > 0) queue_push(&thief->queue, queue_pop(&loot));
    spin_unlock(&thief->lock);
    return stolen;
  }
  return NULL;
}

/* ------------------------------------------------------------------------------------------------ timers ---- */

/* Called with scheduler.lock held. If an idle worker should wait for the alarm and none does, one is woken to do so. */
static void watch_alarm(void) {
  if (atomic_load_explicit(&scheduler.next_alarm, memory_order_relaxed) < scheduler.watched)
    pthread_cond_signal(&scheduler.wake);
}

/* Called with scheduler.lock held when the first sleeper may have changed. */
static void set_alarm(void) {
  uint64_t alarm = scheduler.sleepers ? scheduler.sleepers->wake_at : NEVER;
  atomic_store_explicit(&scheduler.next_alarm, alarm, memory_order_relaxed);
  watch_alarm();
}

static void add_sleeper(struct coroutine *coroutine) {
  pthread_mutex_lock(&scheduler.lock);
  struct coroutine **place = &scheduler.sleepers;
  while (*place && (*place)->wake_at <= coroutine->wake_at) place = &(*place)->next;
  coroutine->next = *place;
  *place = coroutine;
  set_alarm();
  pthread_mutex_unlock(&scheduler.lock);
}

/* Every worker does this between two coroutines. While all others are busy, an idle worker waits for the alarm. */
static void wake_sleepers(void) {
  uint64_t alarm = atomic_load_explicit(&scheduler.next_alarm, memory_order_relaxed), now;
  if (alarm == NEVER || (now = nanoseconds()) < alarm) return;
  struct queue due = {0};
  pthread_mutex_lock(&scheduler.lock);
  for (struct coroutine *sleeper; (sleeper = scheduler.sleepers) && sleeper->wake_at <= now;) {
    scheduler.sleepers = sleeper->next;
    queue_push(&due, sleeper);
  }
  set_alarm();
  pthread_mutex_unlock(&scheduler.lock);
  ready_all_at(GOTRACE_HERE, &due);
}

/* -------------------------------------------------------------------------------------------- coroutines ---- */

/* Switches from the running coroutine to its worker. Returns when a worker, perhaps another one, has resumed it. */
static void leave(enum departure departure) {
  struct worker *worker = this_worker();
  struct coroutine *self = worker->running;
  self->departure = departure;
  before_switch(&self->context, &worker->context);
  swapcontext(&self->context.machine, &worker->context.machine);
  after_switch(&self->context, &this_worker()->context);
}

static void coroutine_main(void) {
  struct coroutine *self = this_coroutine();
  after_switch(&self->context, &this_worker()->context);
  for (;;) {
    self->function(self->argument);
    gotrace_go_end();
    leave(ENDED); /* and comes back as another goroutine */
  }
}

static struct coroutine *coroutine_new(void) {
  struct coroutine *coroutine = allocate(sizeof *coroutine);
  struct context *context = &coroutine->context;
  size_t guard = (size_t)sysconf(_SC_PAGESIZE);
  char *memory = mmap(NULL, guard + STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE) || getcontext(&context->machine))
    fail(EXIT_FAILURE, "cannot allocate a coroutine's stack: %s", strerror(errno));
  context->stack = context->machine.uc_stack.ss_sp = memory + guard;
  context->stack_size = context->machine.uc_stack.ss_size = STACK_SIZE;
  context->fiber = fiber_new();
  makecontext(&context->machine, coroutine_main, 0);
  return coroutine;
}

static void coroutine_free(struct coroutine *coroutine) {
  size_t guard = (size_t)sysconf(_SC_PAGESIZE);
  fiber_free(coroutine->context.fiber);
  munmap((char *)coroutine->context.machine.uc_stack.ss_sp - guard, guard + STACK_SIZE);
  free(coroutine);
}

/* GO(function, argument): a new coroutine, which calls the function. In the trace it has the function's name. */
#define GO(function, argument)                                        \
  do {                                                                \
    static const gotrace_location go_entry = GOTRACE_ENTRY(function); \
    spawn(gotrace_go_create(&go_entry), (function), (argument));      \
  } while (0)

static void spawn(gotrace_go *go, void (*function)(void *argument), void *argument) {
  spin_lock(&scheduler.pool_lock);
  struct coroutine *coroutine = queue_pop(&scheduler.pool);
  spin_unlock(&scheduler.pool_lock);
  if (!coroutine) coroutine = coroutine_new();
  coroutine->go = go;
  coroutine->function = function;
  coroutine->argument = argument;
  const char *stack = coroutine->context.stack;
  gotrace_go_stack_bounds(go, stack, stack + STACK_SIZE);
  atomic_fetch_add(&scheduler.living, 1);
  enqueue(this_worker(), coroutine);
  wake_worker();
}

static void end(struct coroutine *coroutine) {
  spin_lock(&scheduler.pool_lock);
  queue_push(&scheduler.pool, coroutine);
  spin_unlock(&scheduler.pool_lock);
  if (atomic_fetch_sub(&scheduler.living, 1) > 1) return;
  pthread_mutex_lock(&scheduler.lock);
  scheduler.finished = true;
  pthread_cond_broadcast(&scheduler.wake);
  pthread_mutex_unlock(&scheduler.lock);
}

/* The running coroutine is about to wait. */
static struct coroutine *begin_block(gotrace_site *site, gotrace_block_reason reason) {
  struct coroutine *self = this_coroutine();
  gotrace_go_block_at(site, reason);
  self->reason = reason;
  self->blocked_since = nanoseconds();
  return self;
}

/* Waits in the queue. The caller holds its lock, which is released when this returns. */
static void block_at(gotrace_site *site, gotrace_block_reason reason, struct queue *waiters, spinlock *lock) {
  struct coroutine *self = begin_block(site, reason);
  self->lock = lock;
  queue_push(waiters, self);
  leave(BLOCKED);
}

#define yield() yield_at(GOTRACE_HERE)
static void yield_at(gotrace_site *site) {
  gotrace_go_stop_at(site, GOTRACE_STOP_YIELD);
  leave(YIELDED);
}

#define sleep_for(time) sleep_for_at(GOTRACE_HERE, (time))
static void sleep_for_at(gotrace_site *site, uint64_t time) {
  struct coroutine *self = begin_block(site, GOTRACE_BLOCK_SLEEP);
  self->wake_at = self->blocked_since + time;
  leave(SLEEPING);
}

/* ----------------------------------------------------------------------------------------------- workers ---- */

static void run(struct worker *worker, struct coroutine *coroutine) {
  gotrace_go_start(coroutine->go);
  worker->running = coroutine;
  before_switch(&worker->context, &coroutine->context);
  swapcontext(&worker->context.machine, &coroutine->context.machine);
  after_switch(&worker->context, &coroutine->context);
  worker->running = NULL;
  switch (coroutine->departure) { /* from here on it may be resumed */
  case BLOCKED: spin_unlock(coroutine->lock); break;
  case SLEEPING: add_sleeper(coroutine); break;
  case YIELDED: enqueue(worker, coroutine); break; /* this worker looks for work next: no need to wake another */
  case ENDED: end(coroutine); break;
  }
}

/* Waits for work. Returns false if there will be none. */
static bool wait_for_work(struct worker *worker) {
  gotrace_proc_stop();
  pthread_mutex_lock(&scheduler.lock);
  atomic_fetch_add(&scheduler.idle, 1);
  uint64_t due = NEVER;
  while (!scheduler.finished && atomic_load(&scheduler.runnable) == 0 && due == NEVER) {
    uint64_t alarm = atomic_load_explicit(&scheduler.next_alarm, memory_order_relaxed);
    if (alarm < scheduler.watched) {
      struct timespec time = {.tv_sec = (time_t)(alarm / 1000000000U), .tv_nsec = (long)(alarm % 1000000000U)};
      scheduler.watched = alarm;
      if (pthread_cond_timedwait(&scheduler.wake, &scheduler.lock, &time) == ETIMEDOUT) due = alarm;
      scheduler.watched = NEVER;
    } else if (alarm < NEVER || atomic_load(&scheduler.idle) < scheduler.worker_count) {
      pthread_cond_wait(&scheduler.wake, &scheduler.lock);
    } else {
      fail(EXIT_FAILURE, "deadlock: all coroutines wait for each other");
    }
  }
  atomic_fetch_sub(&scheduler.idle, 1);
  /* This worker no longer waits for the alarm; if the alarm is due, it sets the next one first. */
  if (atomic_load_explicit(&scheduler.next_alarm, memory_order_relaxed) != due) watch_alarm();
  bool finished = scheduler.finished;
  pthread_mutex_unlock(&scheduler.lock);
  gotrace_proc_start(worker->proc);
  return !finished;
}

static void *worker_main(void *argument) {
  struct worker *worker = thread_worker = argument;
  worker->context.fiber = fiber_of_thread();
  if (worker->index > 0) gotrace_proc_start(worker->proc);
  do {
    wake_sleepers();
    for (struct coroutine *coroutine; (coroutine = dequeue(worker)) || (coroutine = steal(worker)); wake_sleepers())
      run(worker, coroutine);
  } while (wait_for_work(worker));
  gotrace_proc_stop();
  return NULL;
}

/* Makes the calling thread the first of the workers. Then GO the first coroutines, and scheduler_run. */
static void scheduler_begin(unsigned worker_count) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&scheduler.wake, &monotonic);
  pthread_condattr_destroy(&monotonic);

  scheduler.worker_count = worker_count;
  scheduler.workers = allocate(worker_count * sizeof *scheduler.workers);
  gotrace_procs_change(worker_count);
  for (unsigned i = 0; i < worker_count; i++) {
    scheduler.workers[i].index = i;
    scheduler.workers[i].proc = gotrace_proc_create();
  }
  thread_worker = &scheduler.workers[0];
  gotrace_proc_start(thread_worker->proc);
}

/* Returns when all coroutines have ended, with the time that they were blocked. */
static struct blocked scheduler_run(void) {
  struct blocked blocked = {0};
  struct worker *workers = scheduler.workers;
  for (unsigned i = 1; i < scheduler.worker_count; i++) {
    int error = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
    if (error) fail(EXIT_FAILURE, "cannot start a worker thread: %s", strerror(error));
  }
  worker_main(&workers[0]);
  for (unsigned i = 0; i < scheduler.worker_count; i++) {
    if (i > 0) pthread_join(workers[i].thread, NULL);
    gotrace_proc_destroy(workers[i].proc);
    blocked_merge(&blocked, &workers[i].blocked);
  }
  for (struct coroutine *coroutine; (coroutine = queue_pop(&scheduler.pool));) coroutine_free(coroutine);
  pthread_cond_destroy(&scheduler.wake);
  free(workers);
  return blocked;
}

/* ---------------------------------------------------------------------------------------------- channels ----
 *
 * Bounded queues of pointers. A sender hands its item directly to a waiting receiver, and a receiver takes its item
 * directly from a waiting sender, so no wake-up is futile.
 */

struct channel {
  spinlock lock; /* protects the rest */
  bool closed;
  size_t capacity, first, count;
  void **items;
  struct queue senders, receivers;
};

/* Capacity: at least 1. */
static void channel_init(struct channel *channel, size_t capacity) {
  channel->capacity = capacity;
  channel->items = allocate(capacity * sizeof *channel->items);
}

static void channel_put(struct channel *channel, void *item) {
  channel->items[(channel->first + channel->count++) % channel->capacity] = item;
}

#define channel_send(channel, item) channel_send_at(GOTRACE_HERE, (channel), (item))
static void channel_send_at(gotrace_site *site, struct channel *channel, void *item) {
  spin_lock(&channel->lock);
  if (channel->closed) fail(EXIT_FAILURE, "send on a closed channel");
  struct coroutine *receiver = queue_pop(&channel->receivers);
  if (!receiver && channel->count == channel->capacity) {
    this_coroutine()->item = item;
    block_at(site, GOTRACE_BLOCK_CHAN_SEND, &channel->senders, &channel->lock);
    return;
  }
  if (receiver) receiver->item = item;
  else channel_put(channel, item);
  spin_unlock(&channel->lock);
  if (receiver) ready_at(site, receiver);
}

/* NULL: the channel is closed and empty. */
#define channel_receive(channel) channel_receive_at(GOTRACE_HERE, (channel))
static void *channel_receive_at(gotrace_site *site, struct channel *channel) {
  spin_lock(&channel->lock);
  if (channel->count == 0 && !channel->closed) {
    block_at(site, GOTRACE_BLOCK_CHAN_RECV, &channel->receivers, &channel->lock);
    return this_coroutine()->item;
  }
  void *item = NULL;
  struct coroutine *sender = NULL;
  if (channel->count > 0) {
    item = channel->items[channel->first];
    channel->first = (channel->first + 1) % channel->capacity;
    channel->count--;
    if ((sender = queue_pop(&channel->senders))) channel_put(channel, sender->item);
  }
  spin_unlock(&channel->lock);
  if (sender) ready_at(site, sender);
  return item;
}

/* No sends after this. */
#define channel_close(channel) channel_close_at(GOTRACE_HERE, (channel))
static void channel_close_at(gotrace_site *site, struct channel *channel) {
  spin_lock(&channel->lock);
  channel->closed = true;
  struct queue receivers = channel->receivers;
  channel->receivers = (struct queue){0};
  for (struct coroutine *receiver = receivers.first; receiver; receiver = receiver->next) receiver->item = NULL;
  spin_unlock(&channel->lock);
  ready_all_at(site, &receivers);
}

/* ---------------------------------------------------------------------------------- mutexes, wait groups ---- */

struct mutex {
  spinlock lock; /* protects the rest */
  bool held;
  struct queue waiters;
};

#define mutex_lock(mutex) mutex_lock_at(GOTRACE_HERE, (mutex))
static void mutex_lock_at(gotrace_site *site, struct mutex *mutex) {
  spin_lock(&mutex->lock);
  if (mutex->held) {
    block_at(site, GOTRACE_BLOCK_SYNC, &mutex->waiters, &mutex->lock);
    return;
  }
  mutex->held = true;
  spin_unlock(&mutex->lock);
}

/* Hands the mutex to the first waiter, which need not check again. */
#define mutex_unlock(mutex) mutex_unlock_at(GOTRACE_HERE, (mutex))
static void mutex_unlock_at(gotrace_site *site, struct mutex *mutex) {
  spin_lock(&mutex->lock);
  struct coroutine *next = queue_pop(&mutex->waiters);
  mutex->held = next != NULL;
  spin_unlock(&mutex->lock);
  if (next) ready_at(site, next);
}

struct wait_group {
  spinlock lock; /* protects the rest */
  unsigned count;
  struct queue waiters;
};

static void wait_group_add(struct wait_group *group, unsigned count) {
  spin_lock(&group->lock);
  group->count += count;
  spin_unlock(&group->lock);
}

#define wait_group_done(group) wait_group_done_at(GOTRACE_HERE, (group))
static void wait_group_done_at(gotrace_site *site, struct wait_group *group) {
  struct queue waiters = {0};
  spin_lock(&group->lock);
  if (--group->count == 0) {
    waiters = group->waiters;
    group->waiters = (struct queue){0};
  }
  spin_unlock(&group->lock);
  ready_all_at(site, &waiters);
}

#define wait_group_wait(group) wait_group_wait_at(GOTRACE_HERE, (group))
static void wait_group_wait_at(gotrace_site *site, struct wait_group *group) {
  spin_lock(&group->lock);
  if (group->count == 0) spin_unlock(&group->lock);
  else block_at(site, GOTRACE_BLOCK_SYNC, &group->waiters, &group->lock);
}

/* ================================================================================================== program ==== */

enum {
  MOST_WALKERS = 64,        /* coroutines that walk at once; directories beyond that wait in a list */
  FULL_TABLE = 4096,        /* distinct words at which a table is sent to be merged */
  TURN = 16 * BLOCK_SIZE,   /* bytes that a coroutine counts before it yields */
  PROGRESS_PERIOD = 1000000 /* nanoseconds */
};

static struct {
  struct settings settings;
  gotrace_task task; /* the whole run */
  struct channel files, blocks, tables;
  struct wait_group walkers, readers, counters, merger, reporter;
  atomic_uint walking;
  atomic_bool finished;
  struct mutex lock;
  struct totals totals; /* protected by lock */
  struct words words;   /* owned by the merger */
} pipeline;

static void add_to_totals(enum verdict verdict, uint64_t files, uint64_t bytes) {
  mutex_lock(&pipeline.lock);
  pipeline.totals.files[verdict] += files;
  pipeline.totals.bytes += bytes;
  mutex_unlock(&pipeline.lock);
}

/* Lists directories, sends their files on, and leaves their directories to further walkers. */
static void walk(void *argument) {
  for (struct entry *directory = argument, *pending = NULL; directory; directory = pending) {
    pending = directory->next;
    struct batch *batch = batch_begin(directory->path, pipeline.task);
    struct listing listing = list_directory(directory->path, batch->task);
    if (listing.special) add_to_totals(VERDICT_SPECIAL, listing.special, 0);
    if (listing.error) {
      add_to_totals(VERDICT_UNREADABLE, 1, 0);
      gotrace_logf(batch->task, "skipped", "%s: %s", directory->path, strerror(listing.error));
    }
    for (struct entry *entry; (entry = listing.directories);) {
      listing.directories = entry->next;
      entry->next = NULL;
      if (atomic_fetch_add(&pipeline.walking, 1) < MOST_WALKERS) {
        wait_group_add(&pipeline.walkers, 1);
        GO(walk, entry);
      } else {
        atomic_fetch_sub(&pipeline.walking, 1);
        entry->next = pending;
        pending = entry;
      }
    }
    for (struct entry *entry; (entry = listing.files);) {
      listing.files = entry->next;
      entry->batch = batch_hold(batch);
      channel_send(&pipeline.files, entry);
    }
    batch_release(batch);
    free(directory);
  }
  atomic_fetch_sub(&pipeline.walking, 1);
  wait_group_done(&pipeline.walkers);
}

/* Labels the coroutines of one function, whose arguments are their numbers. */
static void label_self(const char *role, const void *number) {
  char label[32];
  snprintf(label, sizeof label, "%s %u", role, (unsigned)(uintptr_t)number);
  gotrace_go_label(label);
}

static void read_files(void *argument) {
  label_self("reader", argument);
  for (struct entry *entry; (entry = channel_receive(&pipeline.files));) {
    struct file file;
    struct batch *batch = entry->batch;
    uint64_t bytes = 0;
    enum verdict verdict = file_open(&file, entry->path, &pipeline.settings.trace_file, batch->task);
    for (struct block *block; (block = file_next(&file));) {
      bytes += block->size;
      block->batch = batch_hold(batch);
      channel_send(&pipeline.blocks, block);
    }
    if (file.error) verdict = VERDICT_UNREADABLE;
    if (verdict != VERDICT_TEXT)
      gotrace_logf(batch->task, "skipped", "%s: %s", entry->path, file_reason(&file, verdict));
    add_to_totals(verdict, 1, bytes);
    batch_release(batch);
    free(entry);
  }
  wait_group_done(&pipeline.readers);
}

static void count_blocks(void *argument) {
  label_self("counter", argument);
  struct words *table = allocate(sizeof *table);
  size_t turn = 0;
  for (struct block *block; (block = channel_receive(&pipeline.blocks));) {
    GOTRACE_TASK_REGION(block->batch->task, "count") words_count(table, block->text, block->size);
    turn += block->size;
    batch_release(block->batch);
    block_free(block);
    if (table->used >= FULL_TABLE) {
      channel_send(&pipeline.tables, table);
      table = allocate(sizeof *table);
    }
    if (turn >= TURN) {
      yield();
      turn = 0;
    }
  }
  channel_send(&pipeline.tables, table);
  wait_group_done(&pipeline.counters);
}

static void merge_tables(void *argument) {
  (void)argument;
  for (struct words *table; (table = channel_receive(&pipeline.tables));) {
    GOTRACE_TASK_REGION(pipeline.task, "merge") {
      words_merge(&pipeline.words, table);
      words_free(table);
      free(table);
    }
  }
  wait_group_done(&pipeline.merger);
}

static void report_progress(void *argument) {
  (void)argument;
  while (!atomic_load(&pipeline.finished)) {
    sleep_for(PROGRESS_PERIOD);
    mutex_lock(&pipeline.lock);
    struct totals totals = pipeline.totals;
    mutex_unlock(&pipeline.lock);
    gotrace_logf(pipeline.task, "progress", "%llu files, %llu bytes", (unsigned long long)totals.files[VERDICT_TEXT],
                 (unsigned long long)totals.bytes);
  }
  wait_group_done(&pipeline.reporter);
}

/* Builds the pipeline, and shuts it down from its head as each stage ends. */
static void count_words(void *argument) {
  (void)argument;
  unsigned jobs = pipeline.settings.jobs;
  pipeline.task = gotrace_task_begin("count words", GOTRACE_NO_TASK);
  channel_init(&pipeline.files, 64);
  channel_init(&pipeline.blocks, 2 * jobs);
  channel_init(&pipeline.tables, jobs);

  wait_group_add(&pipeline.reporter, 1);
  GO(report_progress, NULL);
  wait_group_add(&pipeline.merger, 1);
  GO(merge_tables, NULL);
  wait_group_add(&pipeline.counters, jobs);
  for (unsigned i = 1; i <= jobs; i++) GO(count_blocks, (void *)(uintptr_t)i);
  wait_group_add(&pipeline.readers, 2 * jobs);
  for (unsigned i = 1; i <= 2 * jobs; i++) GO(read_files, (void *)(uintptr_t)i);

  for (const char *const *path = pipeline.settings.paths; *path; path++) {
    struct entry *entry = entry_for_argument(*path, NULL);
    if (entry->is_directory) {
      atomic_fetch_add(&pipeline.walking, 1);
      wait_group_add(&pipeline.walkers, 1);
      GO(walk, entry);
    } else {
      entry->batch = batch_begin(entry->path, pipeline.task);
      channel_send(&pipeline.files, entry);
    }
  }
  wait_group_wait(&pipeline.walkers);
  channel_close(&pipeline.files);
  wait_group_wait(&pipeline.readers);
  channel_close(&pipeline.blocks);
  wait_group_wait(&pipeline.counters);
  channel_close(&pipeline.tables);
  wait_group_wait(&pipeline.merger);
  atomic_store(&pipeline.finished, true);
  wait_group_wait(&pipeline.reporter);
  gotrace_task_end(pipeline.task);
}

int main(int argc, char **argv) {
  pipeline.settings = parse_arguments(argc, argv, "scheduler", "scheduler.trace", true);
  start_trace(&pipeline.settings);
  scheduler_begin(pipeline.settings.jobs);
  GO(count_words, NULL);
  struct blocked blocked = scheduler_run();
  print_answer(&pipeline.totals, &pipeline.words);
  int status = stop_trace(&pipeline.settings, &blocked);
  free(pipeline.files.items);
  free(pipeline.blocks.items);
  free(pipeline.tables.items);
  words_free(&pipeline.words);
  return status;
}
