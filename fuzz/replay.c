/* Runs one fuzz target on the named files, and on the files in the named directories, without libFuzzer, so that any
 * compiler can build it. Fails if it ran nothing.
 *
 *     cc -std=c11 -I. fuzz/encode_varint.c fuzz/replay.c -o replay -pthread && ./replay fuzz/seeds/encode_varint
 */
#define _DEFAULT_SOURCE
#include <dirent.h>
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

int main(int argc, char **argv) {
  int i;
  for (i = 1; i < argc; i++) replay(argv[i]);
  if (!ran) {
    fprintf(stderr, "%s: nothing to run\n", argv[0]);
    return 1;
  }
  printf("%lu inputs\n", ran);
  return 0;
}
