/* How fast the decoder reads a trace.
 *
 *     reader FILE PASSES      lines `raw EVENTS SECONDS_MIN PEAK_KIB`, the same for `ordered`, and for `batched`, which
 *                             is ordered, too, by gotrace_decoder_next_batch
 *
 * Matches tests/go/read_bench.go, which does the same for Go. Memory is measured in a first, ordered pass over the file
 * through a seekable function, as in a program that limits its memory. Time is measured in passes over the file in
 * memory, so that only decoding counts. */
#define _GNU_SOURCE 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

/* Reads a trace; returns the number of its events and the seconds taken. */
static unsigned long long decode(const gotrace_decoder_options *options, bool batched, double *took) {
  double begin = seconds();
  unsigned long long events = 0;
  gotrace_decoder *d = NULL;
  gotrace_event event;
  const gotrace_event *batch[64];
  size_t count;
  gotrace_result result = gotrace_decoder_open(&d, options);
  while (result == GOTRACE_OK && batched) {
    count = sizeof batch / sizeof *batch;
    result = gotrace_decoder_next_batch(d, batch, &count);
    events += count;
  }
  while (result == GOTRACE_OK)
    if ((result = gotrace_decoder_next(d, &event)) == GOTRACE_OK) events++;
  *took = seconds() - begin;
  if (result != GOTRACE_END_OF_TRACE) {
    fprintf(stderr, "%s\n", d ? gotrace_decoder_error(d)->message : gotrace_result_string(result));
    exit(1);
  }
  gotrace_decoder_close(d);
  return events;
}

int main(int argc, char **argv) {
  static const char *const names[] = {"raw", "ordered", "batched"};
  int file = argc == 3 ? open(argv[1], O_RDONLY) : -1, pass, way;
  gotrace_decoder_options options;
  struct rusage usage;
  struct stat status;
  unsigned long long events = 0;
  double took;
  void *data;
  if (file < 0 || fstat(file, &status) != 0) return 2;
  memset(&options, 0, sizeof options);
  options.read = read_file, options.context = &file, options.seekable = true;
  decode(&options, false, &took);
  getrusage(RUSAGE_SELF, &usage);

  memset(&options, 0, sizeof options);
  options.size = (size_t)status.st_size;
  options.data = data = malloc(options.size);
  if (!data || read_file(&file, 0, data, options.size) != options.size) return 2;
  for (way = 0; way < 3; way++) {
    double best = 1e9;
    options.raw = way == 0;
    for (pass = 0; pass < atoi(argv[2]); pass++) {
      events = decode(&options, way == 2, &took);
      if (took < best) best = took;
    }
    printf("%s %llu %.6f %ld\n", names[way], events, best, usage.ru_maxrss);
  }
  free(data);
  close(file);
  return 0;
}
