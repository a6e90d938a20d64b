/* OpenMP: parallel loops with barriers, a critical section, explicit tasks with taskwait and dependences. */
#include "../../examples/adapters/openmp.c"
#include "story.h"

#include <omp.h>
#include <unistd.h>

enum { THREADS = 3, LOOPS = 4, CRITICALS = 5, TASKS = 25, CHILDREN = 3, CHAIN = 6 };

static int sum, chain;

static void children(void) {
  int i;
  for (i = 0; i < CHILDREN; i++) {
#pragma omp task
    {
      usleep(100);
#pragma omp atomic
      sum++;
    }
  }
#pragma omp taskwait
}

int main(int argc, char **argv) {
  int i, loop;
  CHECK(argc == 2 && gotrace_start_file(argv[1], NULL) == GOTRACE_OK);
  omp_set_dynamic(0);
  omp_set_num_threads(THREADS);
  for (loop = 0; loop < LOOPS; loop++) {
#pragma omp parallel
    {
      int k;
      for (k = 0; k < CRITICALS; k++) {
#pragma omp critical
        {
          sum++;
          usleep(100);
        }
      }
#pragma omp barrier
    }
  }
  CHECK_EQUAL(sum, LOOPS * THREADS * CRITICALS);
  sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (i = 0; i < TASKS; i++) {
#pragma omp task
      children();
    }
#pragma omp taskwait
    for (i = 0; i < CHAIN; i++) {
#pragma omp task depend(inout : chain)
      chain = chain * 2 + 1;
    }
  }
  CHECK_EQUAL(sum, TASKS * CHILDREN);
  CHECK_EQUAL(chain, (1 << CHAIN) - 1);
  CHECK(gotrace_stop() == GOTRACE_OK);
  story_read(argv[1]);
  story_expect("region parallel region", LOOPS + 1);
  story_expect("region implicit task", (LOOPS + 1) * THREADS);
  story_expect("created OpenMP worker", THREADS - 1);
  story_expect("created *", THREADS + TASKS * (1 + CHILDREN) + CHAIN);
  story_expect("ended *", TASKS * (1 + CHILDREN) + CHAIN);
  story_expect("blocked * OpenMP: critical", LOOPS * THREADS * CRITICALS);
  CHECK(story_count("blocked * OpenMP: barrier") >= (LOOPS * 2 + 1) * THREADS);
  CHECK(story_count("blocked * OpenMP: taskwait") >= TASKS + 1);
  CHECK(story_count("log OpenMP dependence") < CHAIN); /* none if the predecessor had already ended */
  /* Each start is the first, or follows a stop or a wait; the workers wait for the next region when the trace ends. */
  story_expect("started *",
               story_count("created *") + story_count("stopped *") + story_count("blocked *") - (THREADS - 1));
  return 0;
}
