/* Runs one fuzz target without libFuzzer, so that any compiler can build it: on the named files, and on the files in
 * the named directories; or on random inputs, many times as many a second. Fails if it ran nothing.
 *
 *     cc -std=c11 -I. fuzz/encode_varint.c fuzz/replay.c -o replay -pthread && ./replay fuzz/seeds/encode_varint
 *     ./replay -r RUNS LENGTH SEED      inputs of up to LENGTH bytes; one that fails is left in SEED-RUN.input
 */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer's, which a target's own mutator calls. Nothing is mutated here. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
  (void)data, (void)max_size;
  return size;
}

static unsigned long ran;

static void fail(const char *path) {
  perror(path);
  exit(1);
}

static void replay(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) fail(path);
  if (S_ISDIR(status.st_mode)) {
    DIR *directory = opendir(path);
    struct dirent *entry;
    if (!directory) fail(path);
    while ((entry = readdir(directory)) != NULL) {
      char below[4096];
      if (entry->d_name[0] == '.') continue;
      snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
      replay(below);
    }
    closedir(directory);
  } else {
    FILE *file = fopen(path, "rb");
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size ? size : 1); /* exact size, so that a read beyond it is detected */
    if (!file || !data || fread(data, 1, size, file) != size) fail(path);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    ran++;
  }
}

static struct {
  uint64_t seed;
  size_t size;
  uint8_t *data;
} input;

static void keep_input(int number) {
  char path[64];
  FILE *file;
  snprintf(path, sizeof path, "%llu-%lu.input", (unsigned long long)input.seed, ran);
  file = fopen(path, "wb");
  if (file && fwrite(input.data, 1, input.size, file) == input.size && fclose(file) == 0)
    fprintf(stderr, "\nthe input is in %s\n", path);
  signal(number, SIG_DFL);
  raise(number);
}

static void replay_random(unsigned long runs, size_t length, uint64_t seed) {
  uint64_t state = seed;
  size_t i;
  signal(SIGABRT, keep_input);
  signal(SIGSEGV, keep_input);
  input.seed = seed;
  input.data = malloc(length);
  if (!input.data || !length) fail("random inputs");
  for (; ran < runs; ran++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    input.size = 1 + (size_t)(state >> 33) % length;
    for (i = 0; i < input.size; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      input.data[i] = (uint8_t)(state >> 56);
    }
    LLVMFuzzerTestOneInput(input.data, input.size);
  }
  free(input.data);
}

int main(int argc, char **argv) {
  int i;
  if (argc == 5 && strcmp(argv[1], "-r") == 0)
    replay_random(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
  else
    for (i = 1; i < argc; i++) replay(argv[i]);
  if (!ran) {
    fprintf(stderr, "%s: nothing to run\n", argv[0]);
    return 1;
  }
  printf("%lu inputs\n", ran);
  return 0;
}
