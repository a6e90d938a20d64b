/* loads.c - loads a library again and again while signals interrupt it, whose handler waits: see test_record.sh
 *
 *     loads LIBRARY SECONDS
 *
 * The C library holds a lock meanwhile, which the tracer must not wait for. -DPLACES compiles a library with the places
 * where the handler waits: musl needs no lock to find the program itself. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

void wait_somewhere(unsigned where);

#ifdef PLACES
/* From 64 places: of a place that was seen before, the tracer asks nothing. */
void wait_somewhere(unsigned where) {
#define ONE(n) \
  case n:      \
    usleep(1); \
    break;
#define FOUR(n) ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3)
#define SIXTEEN(n) FOUR(n) FOUR(n + 4) FOUR(n + 8) FOUR(n + 12)
  switch (where % 64) { SIXTEEN(0) SIXTEEN(16) SIXTEEN(32) SIXTEEN(48) }
}
#else
static volatile unsigned handled;

static void again(void) {
  struct itimerval soon = {{0, 0}, {0, 20 + (handled * 37) % 200}};
  setitimer(ITIMER_REAL, &soon, NULL);
}

static void handle(int number) {
  (void)number;
  wait_somewhere(handled);
  handled++;
  again();
}

static int look(struct dl_phdr_info *module, size_t size, void *argument) {
  (void)module, (void)size, (void)argument;
  return 0;
}

int main(int argc, char **argv) {
  time_t end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 1);
  signal(SIGALRM, handle);
  again();
  while (time(NULL) < end) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) return 1;
    dl_iterate_phdr(look, NULL);
    dlclose(library);
    if (dlopen("/nothing/there.so", RTLD_NOW)) return 1; /* musl unloads nothing */
  }
  signal(SIGALRM, SIG_IGN);
  fprintf(stderr, "%u signals\n", handled);
  return handled > 100 ? 0 : 1;
}
#endif
