/* GOTRACE_SCOPE and GOTRACE_REGION in C: a region ends where its block is left, in whatever way. */
#include "gotrace.h"
#include "../test_collect.h"

static uint64_t regions; /* how many there should be */

static int loop(int x) {
  int i, all = 0;
  for (i = 0; i < 10; i++) {
    GOTRACE_SCOPE("iteration");
    regions++;
    if (i == 1) continue;
    if (i == x) break;
    all += i;
  }
  return all;
}

static int chosen(int x) {
  switch (x) {
  case 1: {
    GOTRACE_SCOPE("case");
    regions++;
    break;
  }
  default: {
    GOTRACE_SCOPE("case");
    regions++;
    return 2;
  }
  }
  return 1;
}

/* Those of a macro are on one line. */
#define BOTH(a, b)  \
  GOTRACE_SCOPE(a); \
  GOTRACE_SCOPE(b)
static int returned(int x) {
  BOTH("function", "again");
  GOTRACE_TASK_SCOPE(GOTRACE_NO_TASK, x ? "one" : "other");
  regions += 3;
  if (x) return x;
  {
    GOTRACE_SCOPE("block");
    regions++;
    goto out;
  }
out:
  return -1;
}

/* As documented, it is a loop in C: a break leaves only the region. */
static int region(void) {
  int i, passed = 0;
  for (i = 0; i < 3; i++) {
    GOTRACE_REGION("region") {
      regions++;
      if (i) break;
    }
    passed++;
  }
  GOTRACE_REGION("outer")
    GOTRACE_REGION("inner") {
      regions += 2;
      return passed;
    }
  return 0;
}

int main(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  gotrace_stats stats;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK_EQUAL(loop(4), 5);
  CHECK_EQUAL(chosen(1) + chosen(3), 3);
  CHECK_EQUAL(returned(1) + returned(0), 0);
  CHECK_EQUAL(region(), 3);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.kinds[GOTRACE_V2_USER_REGION_BEGIN], regions);
  CHECK_EQUAL(stats.kinds[GOTRACE_V2_USER_REGION_END], regions);
  CHECK_EQUAL(stats.dropped + stats.repaired + stats.left_out, 0); /* an end out of order would be one */
  test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
  test_free(&bytes);
  return 0;
}
