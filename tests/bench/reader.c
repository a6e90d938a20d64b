/* How fast the decoder reads a trace.
 *
 *     reader NAME FILE PASSES      lines `read NAME-raw ...` and `read NAME-ordered EVENTS SECONDS_MIN PEAK_KIB`
 *
 * The file is read as a program would that minds its memory: through a function that can seek. */
#define _GNU_SOURCE 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static size_t read_file(void *context, uint64_t offset, void *buffer, size_t size) {
  ssize_t n = pread(*(int *)context, buffer, size, (off_t)offset);
  return n < 0 ? (size_t)-1 : (size_t)n;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  int file = argc == 4 ? open(argv[2], O_RDONLY) : -1, raw;
  if (file < 0) return 2;
  for (raw = 1; raw >= 0; raw--) {
    double best = 1e9;
    unsigned long long events = 0;
    struct rusage usage;
    int pass;
    for (pass = 0; pass < atoi(argv[3]); pass++) {
      gotrace_decoder_options options;
      gotrace_decoder *d = NULL;
      gotrace_event event;
      gotrace_result result;
      double begin = seconds(), took;
      memset(&options, 0, sizeof options);
      options.read = read_file, options.context = &file, options.seekable = true, options.raw = raw != 0;
      result = gotrace_decoder_open(&d, &options);
      for (events = 0; result == GOTRACE_OK; events++) result = gotrace_decoder_next(d, &event);
      events--;
      took = seconds() - begin;
      if (took < best) best = took;
      if (result != GOTRACE_END_OF_TRACE) {
        fprintf(stderr, "%s: %s\n", argv[2], gotrace_decoder_error(d)->message);
        return 1;
      }
      gotrace_decoder_close(d);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("read %s-%s %llu %.4f %ld\n", argv[1], raw ? "raw" : "ordered", events, best, usage.ru_maxrss);
  }
  close(file);
  return 0;
}
