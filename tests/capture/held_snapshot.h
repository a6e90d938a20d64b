/* held_snapshot.h - a thread that takes a snapshot of the flight recorder, whose sink never moves */
#ifndef HELD_SNAPSHOT_H
#define HELD_SNAPSHOT_H

#include "gotrace.h"

#include <unistd.h>

static uint32_t held; /* atomic */
static bool hold(void *context, const void *data, size_t size) {
  (void)context, (void)data, (void)size;
  __atomic_store_n(&held, 1u, __ATOMIC_RELEASE);
  while (pause() != 0) continue;
  return true;
}
static void *take_snapshot(void *unused) {
  (void)gotrace_flight_snapshot(hold, NULL);
  return unused;
}

#endif
