/* tracy_c.h - programs that are instrumented for Tracy through TracyC.h: include this instead.
 *
 *     in the program                       becomes
 *     TracyCZone..., TracyCZoneEnd         a region, named after the zone or its function
 *     TracyCZoneText, Value, Name          a log in the zone's category
 *     TracyCFiberEnter(name)               the goroutine of that name runs on the thread, whose own one stops
 *     TracyCFiberLeave                     it blocks ("fiber") until it is entered again
 *     TracyCMessage...                     a log, "message"
 *     TracyCPlot...                        a counter
 *     TracyCFrameMark...                   a log, "frame"
 *     TracyCLock..., TracyCSharedLock...   a wait from BeforeLock to AfterLock, and who ended it; AfterUnlock wakes
 *     TracyCSetThreadName                  gotrace_thread_rename
 *     memory, colors, depths, images       nothing
 *
 * The program starts the trace: GOTRACE=FILE with GOTRACE_AUTOSTART. GCC and Clang. Names of fibers are compared as
 * text, and a fiber's goroutine lives as long as the program. */
#ifndef GOTRACE_TRACY_C_H
#define GOTRACE_TRACY_C_H

#include <stdlib.h>
#include <string.h>

#include "gotrace.h"

typedef struct TracyCZoneCtx {
  uint32_t id;
  int32_t active;
  gotrace_site *site;
  const char *name;
} TracyCZoneCtx;

typedef struct tracy_c_lock {
  char text[64];
} * TracyCLockCtx, *TracyCSharedLockCtx;

/* A fiber, in one list for all files that include this: never removed, so that readers need no lock. */
typedef struct tracy_c_fiber {
  struct tracy_c_fiber *next;
  gotrace_go *go;
  int ran;    /* it has left its thread at least once: it waits */
  char *name; /* behind this structure */
} tracy_c_fiber;
__attribute__((__weak__)) tracy_c_fiber *tracy_c_fibers;
__attribute__((__weak__)) __thread tracy_c_fiber *tracy_c_current;
__attribute__((__weak__)) __thread gotrace_go *tracy_c_thread;

static inline TracyCZoneCtx tracy_c_zone_begin(gotrace_site *site, const char *name, int active) {
  TracyCZoneCtx zone = {1, active != 0, site, name};
  if (active && gotrace_enabled()) gotrace_region_begin_at(site, GOTRACE_NO_TASK, name, 0);
  return zone;
}
static inline void tracy_c_zone_end(TracyCZoneCtx zone) {
  if (zone.active && gotrace_enabled()) gotrace_region_end_at(zone.site, GOTRACE_NO_TASK, zone.name, 0);
}
static inline void tracy_c_text(gotrace_site *site, const char *category, const char *text, size_t size) {
  if (gotrace_enabled()) gotrace_log_n_at(site, GOTRACE_NO_TASK, category, SIZE_MAX, text, size);
}

static inline tracy_c_fiber *tracy_c_find_fiber(gotrace_site *site, const char *name) {
  tracy_c_fiber *first = __atomic_load_n(&tracy_c_fibers, __ATOMIC_ACQUIRE), *fiber;
  gotrace_location entry = GOTRACE_NAMED_ENTRY(name);
  for (fiber = first; fiber; fiber = fiber->next)
    if (strcmp(fiber->name, name) == 0) return fiber;
  fiber = (tracy_c_fiber *)malloc(sizeof *fiber + strlen(name) + 1);
  if (!fiber) return NULL;
  fiber->name = strcpy((char *)(fiber + 1), name);
  entry.function = fiber->name;
  fiber->ran = 0;
  fiber->go = gotrace_go_create_at(site, &entry);
  fiber->next = first;
  while (!__atomic_compare_exchange_n(&tracy_c_fibers, &fiber->next, fiber, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    continue;
  return fiber;
}

static inline void tracy_c_fiber_block(gotrace_site *site) {
  tracy_c_current->ran = 1;
  gotrace_go_block_at(site, GOTRACE_REASON("fiber"));
  tracy_c_current = NULL;
}
static inline void tracy_c_fiber_leave(gotrace_site *site) {
  if (!tracy_c_current) return;
  tracy_c_fiber_block(site);
  gotrace_go_start(tracy_c_thread);
}

/* Directly from one fiber to the next, too. The thread's own goroutine or the last fiber wakes it. */
static inline void tracy_c_fiber_enter(gotrace_site *site, const char *name) {
  tracy_c_fiber *fiber;
  if (!tracy_c_current) tracy_c_thread = gotrace_go_self();
  fiber = tracy_c_find_fiber(site, name);
  if (!fiber || fiber == tracy_c_current) return;
  if (fiber->ran) gotrace_go_unblock_at(site, fiber->go);
  if (tracy_c_current) tracy_c_fiber_block(site);
  else gotrace_go_stop_at(site, GOTRACE_STOP_YIELD);
  gotrace_go_start(fiber->go);
  tracy_c_current = fiber;
}

/* A lock that is waited for by a fiber: only its block, since the wake is for plain threads. */
static inline int tracy_c_before_lock(gotrace_site *site, TracyCLockCtx lock) {
  const char *name = lock && lock->text[0] ? lock->text : "lock";
  gotrace_wait_on_at(site, lock, gotrace_reason(name) + GOTRACE_BLOCK_SYNC);
  return 1;
}
static inline void tracy_c_name_lock(TracyCLockCtx lock, const char *name, size_t size) {
  if (!lock) return;
  if (size >= sizeof lock->text) size = sizeof lock->text - 1;
  memcpy(lock->text, name, size);
  lock->text[size] = 0;
}

#define TracyCSetThreadName(name) gotrace_thread_rename(name);

#define TracyCZoneN(zone, name, active) TracyCZoneCtx zone = tracy_c_zone_begin(GOTRACE_HERE, name, active);
#define TracyCZone(zone, active) TracyCZoneN(zone, __func__, active)
#define TracyCZoneC(zone, color, active) TracyCZone(zone, active)
#define TracyCZoneNC(zone, name, color, active) TracyCZoneN(zone, name, active)
#define TracyCZoneS(zone, depth, active) TracyCZone(zone, active)
#define TracyCZoneNS(zone, name, depth, active) TracyCZoneN(zone, name, active)
#define TracyCZoneCS(zone, color, depth, active) TracyCZone(zone, active)
#define TracyCZoneNCS(zone, name, color, depth, active) TracyCZoneN(zone, name, active)
#define TracyCZoneEnd(zone) tracy_c_zone_end(zone);
#define TracyCZoneTextF(zone, ...) \
  ((zone).active ? (void)gotrace_logf(GOTRACE_NO_TASK, (zone).name, __VA_ARGS__) : (void)0);
#define TracyCZoneText(zone, text, size) \
  ((zone).active ? tracy_c_text(GOTRACE_HERE, (zone).name, text, size) : (void)0);
#define TracyCZoneName(zone, text, size) TracyCZoneText(zone, text, size)
#define TracyCZoneNameF(zone, ...) TracyCZoneTextF(zone, __VA_ARGS__)
#define TracyCZoneValue(zone, value) TracyCZoneTextF(zone, "%llu", (unsigned long long)(value))
#define TracyCZoneColor(zone, color)

/* As in TracyC.h, these are expressions, and the other macros end with a semicolon. */
#define TracyCMessage(text, size) tracy_c_text(GOTRACE_HERE, "message", text, size)
#define TracyCMessageL(text) gotrace_log(GOTRACE_NO_TASK, "message", text)
#define TracyCMessageC(text, size, color) TracyCMessage(text, size)
#define TracyCMessageLC(text, color) TracyCMessageL(text)
#define TracyCMessageS(text, size, depth) TracyCMessage(text, size)
#define TracyCMessageLS(text, depth) TracyCMessageL(text)
#define TracyCMessageCS(text, size, color, depth) TracyCMessage(text, size)
#define TracyCMessageLCS(text, color, depth) TracyCMessageL(text)
#define TracyCAppInfo(text, size) tracy_c_text(GOTRACE_HERE, "application", text, size);

enum TracyPlotFormatEnum {
  TracyPlotFormatNumber,
  TracyPlotFormatMemory,
  TracyPlotFormatPercentage,
  TracyPlotFormatWatt
};
#define TracyCPlot(name, value) gotrace_count_double(name, value);
#define TracyCPlotF(name, value) gotrace_count_double(name, (double)(value));
#define TracyCPlotI(name, value) gotrace_count(name, value);
#define TracyCPlotConfig(name, type, step, fill, color)

#define TracyCFrameMark gotrace_log(GOTRACE_NO_TASK, "frame", "");
#define TracyCFrameMarkNamed(name) gotrace_log(GOTRACE_NO_TASK, "frame", name);
#define TracyCFrameMarkStart(name) gotrace_log(GOTRACE_NO_TASK, "frame start", name);
#define TracyCFrameMarkEnd(name) gotrace_log(GOTRACE_NO_TASK, "frame end", name);
#define TracyCFrameImage(image, width, height, offset, flip)

#define TracyCFiberEnter(name) tracy_c_fiber_enter(GOTRACE_HERE, name);
#define TracyCFiberLeave tracy_c_fiber_leave(GOTRACE_HERE);

#define TracyCLockCtx(lock) TracyCLockCtx lock;
#define TracyCLockAnnounce(lock) lock = (TracyCLockCtx)calloc(1, sizeof *(lock));
#define TracyCLockTerminate(lock) free(lock);
#define TracyCLockBeforeLock(lock) tracy_c_before_lock(GOTRACE_HERE, lock);
#define TracyCLockAfterLock(lock) gotrace_wait_end();
#define TracyCLockAfterUnlock(lock) gotrace_wake(lock, 1);
#define TracyCLockAfterTryLock(lock, acquired)
#define TracyCLockMark(lock)
#define TracyCLockCustomName(lock, name, size) tracy_c_name_lock(lock, name, size);

#define TracyCSharedLockCtx(lock) TracyCSharedLockCtx lock;
#define TracyCSharedLockAnnounce(lock) TracyCLockAnnounce(lock)
#define TracyCSharedLockTerminate(lock) TracyCLockTerminate(lock)
#define TracyCSharedLockBeforeLock(lock) TracyCLockBeforeLock(lock)
#define TracyCSharedLockAfterLock(lock) TracyCLockAfterLock(lock)
#define TracyCSharedLockAfterUnlock(lock) TracyCLockAfterUnlock(lock)
#define TracyCSharedLockAfterTryLock(lock, acquired)
#define TracyCSharedLockBeforeSharedLock(lock) TracyCLockBeforeLock(lock)
#define TracyCSharedLockAfterSharedLock(lock) TracyCLockAfterLock(lock)
#define TracyCSharedLockAfterSharedUnlock(lock) TracyCLockAfterUnlock(lock)
#define TracyCSharedLockAfterTrySharedLock(lock, acquired)
#define TracyCSharedLockMark(lock)
#define TracyCSharedLockCustomName(lock, name, size) TracyCLockCustomName(lock, name, size)

#define TracyCAlloc(memory, size)
#define TracyCFree(memory)
#define TracyCSecureAlloc(memory, size)
#define TracyCSecureFree(memory)
#define TracyCAllocN(memory, size, name)
#define TracyCFreeN(memory, name)
#define TracyCAllocS(memory, size, depth)
#define TracyCFreeS(memory, depth)
#define TracyCAllocNS(memory, size, depth, name)
#define TracyCFreeNS(memory, depth, name)
#define TracyCMemoryDiscard(name)
#define TracyCMemoryDiscardS(name, depth)
#define TracyCBeginSamplingProfiling() 0
#define TracyCEndSamplingProfiling()
#define TracyCIsConnected gotrace_enabled()
#define TracyCIsStarted gotrace_enabled()

#endif
