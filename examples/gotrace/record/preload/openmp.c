/* openmp.c - programs that use OpenMP, through its adapter: see preload.h
 *
 * The OpenMP library looks for ompt_start_tool, which is here. When the OpenMP library itself waits (at a barrier, for
 * a lock), the adapter reports that. The functions with which it waits then report nothing: the thread counts as inside
 * one of them. */

#include "preload.h"

#if defined(__has_include)
#if __has_include(<omp-tools.h>)
#define HAS_OPENMP_TOOLS 1
#endif
#endif

#ifdef HAS_OPENMP_TOOLS

/* The thread's frames are of no use here: the function that began the wait has returned. */
#define GOTRACE_OMP_WAITING(waits) (self.inside = (waits), self.frame = NULL, self.function = 0)
#define GOTRACE_OMP_IN_RECORD 1
#define GOTRACE_OMP_WANTED __atomic_load_n(&recording.on, __ATOMIC_RELAXED)

#include "../../../adapters/openmp.c"

#endif
