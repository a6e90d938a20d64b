/* tasks.c - how long goroutines worked for each task of a program, by what they did: ran, were ready, waited, and why
 *
 * What it teaches: to ask for the state of a goroutine, in a trace of any Go release, or of this library. A goroutine
 * works for the task of its innermost open region. Prints tasks, nanoseconds, states and reasons: `cc`, as latency.c.
 */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

typedef struct sum {
  uint64_t task;
  int64_t time;
  char what[80]; /* the state and reason, or the task's name in quotation marks */
  struct sum *next;
} sum;

static sum *sums[4096], **gos; /* by task; by gotrace_state.number: what it does now, NULL: not for a task */

static size_t read_file(void *file, uint64_t offset, void *buffer, size_t size) {
  (void)offset; /* consecutive */
  return fread(buffer, 1, size, file);
}

static sum *sum_of(uint64_t task, const char *format, const char *text, size_t size) {
  sum **at = &sums[task % 4096], made = {.task = task};
  snprintf(made.what, sizeof made.what, format, (int)(size < 60 ? size : 60), text);
  while (*at && ((*at)->task != task || strcmp((*at)->what, made.what) != 0)) at = &(*at)->next;
  if (!*at && (*at = malloc(sizeof made))) **at = made;
  return *at ? *at : (exit(1), NULL);
}

int main(int argc, char **argv) {
  static const char *const states[] = {"", "ready %.*s", "running%.*s", "in a system call%.*s", "waiting %.*s"};
  gotrace_decoder_options options = {.read = read_file, .context = argc == 2 ? fopen(argv[1], "rb") : NULL};
  gotrace_decoder *decoder = NULL;
  gotrace_event e = {0};
  gotrace_change c;
  gotrace_state s;
  size_t count = 0, i;
  if (!options.context) return fputs("usage: tasks TRACE\n", stderr), 2;
  for (gotrace_decoder_open(&decoder, &options); gotrace_decoder_next(decoder, &e) == GOTRACE_OK;) {
    if (!gotrace_decoder_change(decoder, &e, &c)) continue;
    if (c.kind == GOTRACE_CHANGE_TASK_BEGIN) sum_of(c.task, "\"%.*s\"", c.name, c.name_size);
    if (c.object != GOTRACE_OBJECT_GO || (i = (size_t)c.number) == SIZE_MAX) continue;
    for (; count <= i; gos[count++] = NULL)
      if ((count & (count - 1)) == 0 && !(gos = realloc(gos, (2 * count + 1) * sizeof *gos))) exit(1);
    if (gos[i]) gos[i]->time += e.time;
    gos[i] = NULL;
    if (!gotrace_decoder_state(decoder, c.object, (uint64_t)c.id, &s) || !s.task || s.to < 0) continue;
    gos[i] = sum_of(s.task, states[s.to], s.reason, s.reason_size);
    gos[i]->time -= e.time;
  }
  for (i = 0; i < count; i++)
    if (gos[i]) gos[i]->time += e.time;
  for (i = 0; i < 4096; i++)
    for (; sums[i]; sums[i] = sums[i]->next)
      printf("%6llu %15lld  %s\n", (unsigned long long)sums[i]->task, (long long)sums[i]->time, sums[i]->what);
  if (gotrace_decoder_error(decoder)->result) return puts(gotrace_decoder_error(decoder)->message), 1;
  return gotrace_decoder_close(decoder), 0;
}
