/* compiles.c - makes a function while it runs, which sleeps, and tells its name as runtimes do: see test_record.sh
 *
 *     compiles map|script|python|dump|replaced|blank|other|broken|old|foreign|many|again|none      prints its process
 * id */

#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : (perror(#condition), exit(99)))

#ifdef __x86_64__
/* Calls the function in the second argument, with the first one: sub $8,%rsp; call *%rsi; add $8,%rsp; ret */
static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#elif defined(__aarch64__)
/* stp x29,x30,[sp,#-16]!; blr x1; ldp x29,x30,[sp],#16; ret */
static const unsigned char code[] = {0xfd, 0x7b, 0xbf, 0xa9, 0x20, 0x00, 0x3f, 0xd6,
                                     0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6};
#else
static const unsigned char code[] = {0};
#endif

static void write_map(const char *way, unsigned long at) {
  char path[64];
  FILE *file;
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  file = fopen(path, "w");
  CHECK(file);
  if (strcmp(way, "map") == 0 || strcmp(way, "old") == 0 || strcmp(way, "foreign") == 0)
    fprintf(file, "%lx 40 one two\n", at);
  for (unsigned long i = 0; i < 5000000 && (strcmp(way, "many") == 0 || strcmp(way, "again") == 0); i++)
    fprintf(file, "%lx 1 f\n", 4096 + (strcmp(way, "again") == 0 ? i % 1000000 : i));
  if (strcmp(way, "many") == 0 || strcmp(way, "again") == 0) fprintf(file, "%lx 40 one two\n", at);
  if (strcmp(way, "script") == 0) fprintf(file, "%lx 40 JS:*scale /srv/shop.js:42:7\n", at);
  if (strcmp(way, "python") == 0) fprintf(file, "%lx 40 py::total:/srv/shop.py\n", at);
  if (strcmp(way, "replaced") == 0) fprintf(file, "%lx 40 first\n%lx 40 second\n", at, at);
  if (strcmp(way, "blank") == 0) fprintf(file, "%lx 40 one two\n", at);
  for (int i = 0; i < 2000000 && strcmp(way, "blank") == 0; i++) fputc('\n', file);
  if (strcmp(way, "other") == 0) fprintf(file, "%lx 40 before\n%lx 40 after\n", at - 0x40, at + 0x40);
  if (strcmp(way, "broken") == 0)
    fprintf(file, "zz\n%lx\n%lx 40\n%lx 40 \n%lx fffffffffffffffff wrong\n\n%lx 40 unfinished", at, at, at, at - 1, at);
  CHECK(fclose(file) == 0);
  if (strcmp(way, "foreign") == 0) CHECK(chown(path, 65534, 65534) == 0);
  if (strcmp(way, "old") == 0) {
    const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
  }
}

static void put(FILE *file, const void *data, size_t size) { CHECK(fwrite(data, 1, size, file) == size); }

/* A header, a record of another kind, and one that loads code. */
static void write_dump(uint64_t at) {
  static const char name[] = "compiled";
  const uint32_t header[10] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), 0, 0, 0, 0};
  const uint32_t other[6] = {2, 24, 0, 0, 0, 0};
  const uint32_t head[6] = {0, 16 + 40 + sizeof name + sizeof code, 0, 0, 0, 0};
  const uint64_t load[4] = {at, at, 0x40, 1};
  char path[64];
  FILE *file;
  snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
  file = fopen(path, "wb");
  CHECK(file);
  put(file, header, sizeof header);
  put(file, other, sizeof other);
  put(file, head, sizeof head); /* with the ids of process and thread */
  put(file, load, sizeof load);
  put(file, name, sizeof name);
  put(file, code, sizeof code);
  put(file, other, 10); /* unfinished */
  CHECK(fclose(file) == 0);
}

int main(int argc, char **argv) {
  void *memory;
  int (*call)(unsigned argument, int (*function)(unsigned));
  CHECK(argc == 2);
  if (sizeof code == 1) return 77;
  memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  memcpy(memory, code, sizeof code);
  __builtin___clear_cache((char *)memory, (char *)memory + sizeof code);
  memcpy(&call, &memory, sizeof call);
  if (strcmp(argv[1], "dump") == 0) write_dump((uint64_t)(uintptr_t)memory);
  else if (strcmp(argv[1], "none") != 0) write_map(argv[1], (unsigned long)memory);
  call(1000, usleep);
  printf("%d\n", (int)getpid());
  return 0;
}
