/* bytes.c - reads a file by getc; prints its sum, and to FILE, if given, its CPU time in microseconds: see
 * test_record.sh
 *
 *     bytes INPUT [FILE] */

#include <stdio.h>
#include <sys/resource.h>

int main(int argc, char **argv) {
  struct rusage usage;
  FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
  unsigned long sum = 0;
  int byte;
  if (!file) return 1;
  while ((byte = getc(file)) != EOF) sum = 31 * sum + (unsigned)byte;
  printf("%lu\n", sum);
  if (argc < 3) return 0;
  if (getrusage(RUSAGE_SELF, &usage) != 0 || !(file = fopen(argv[2], "a"))) return 1;
  fprintf(file, "%ld\n", usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec);
  return fclose(file) == 0 ? 0 : 1;
}
