/* convert.c - gotrace convert, gotrace cut: writes a trace, or a part of one, in a format
 *
 * The source gives the operations of the part to a writer. The result is decoded before it gets its name, so no command
 * leaves a trace that does not open. */

#include "../command/commands.h"
#include "keep.h"
#include "writer.h"

#include <errno.h>
#include <unistd.h>

#define FORMAT(NAME, number, name) {name, number},
static const struct {
  const char *name;
  int format;
} written_formats[] = {GOTRACE_FORMATS(FORMAT)};

/* The oldest written format that is not older than the input's, or else the newest. */
static int nearest_format(int format) {
  size_t i = 0;
  while (i + 1 < COUNT(written_formats) && written_formats[i].format < format) i++;
  return written_formats[i].format;
}

void output_verify(output *out) {
  input result;
  gotrace_event e;
  gotrace_result last;
  output_flush(out);
  input_of_file(&result, "result", fileno(out->file));
  if (lseek(result.fd, 0, SEEK_SET) != 0) fail("%s", strerror(errno));
  last = input_decode(&result, false);
  while (last == GOTRACE_OK) last = input_next(&result, &e);
  if (last != GOTRACE_END_OF_TRACE) fail("nothing was written: the result would not open: %s", input_error(&result));
  gotrace_decoder_close(result.decoder);
  lseek(result.fd, 0, SEEK_END);
}

/* Reports in one line what the input has but the format of the result lacks. */
static void tell_losses(const writer *w) {
  static const char *const names[LOST_KINDS] = {
      [LOST_SYSCALLS] = "durations of system calls that kept their proc",
      [LOST_REASONS] = "reasons of waits",
      [LOST_STW] = "stopped worlds",
      [LOST_ASSISTS] = "mark assists",
      [LOST_SCANS] = "GCScanStart and GCScanDone, but for one stopped world",
      [LOST_ANNOTATIONS] = "tasks, regions and logs",
      [LOST_SAMPLES] = "CPU samples",
      [LOST_EXPERIMENTS] = "batches of experiments",
      [LOST_NAMES] = "names of goroutines that never run",
      [LOST_EVENTS] = "other events that the format does not have",
  };
  char line[1024] = "";
  size_t size = 0, i;
  for (i = 0; i < LOST_KINDS; i++) {
    if (!w->lost[i]) continue;
    if (!size) size = (size_t)snprintf(line, sizeof line, "not kept in format 1.%d: ", w->format % 1000);
    else size += (size_t)snprintf(line + size, sizeof line - size, ", ");
    size += (size_t)snprintf(line + size, sizeof line - size, "%s (%llu)", names[i], (ull)w->lost[i]);
  }
  if (w->unknown_syscalls)
    size += (size_t)snprintf(line + size, sizeof line - size,
                             "%snot known in format 1.%d: durations of system calls "
                             "that kept their proc, which end at once (%llu)",
                             size ? "; " : "", w->c.input % 1000, (ull)w->unknown_syscalls);
  if (size) report("%s", line);
}

int command_convert(const char *path, const settings *set) {
  trace_part p;
  output out;
  writer w;
  keeper k;
  consumer *to = &w.c;
  gotrace_decoder_info info;
  memset(&w, 0, sizeof w);
  memset(&k, 0, sizeof k);
  if (!part_open(&p, path, set)) return 1;
  if (input_decode(&p.in, false) != GOTRACE_OK) fail("%s", input_error(&p.in));
  gotrace_decoder_get_info(p.in.decoder, &info);
  output_open(&out, set->output);
  writer_open(&w, &out, set->format ? set->format : nearest_format(info.format));
  if (p.selection.on) {
    keeper_choose(&k, &p.in, set);
    if (!k.kept.count) fail("no goroutine in this part is selected");
    keeper_begin(&k, &w.c);
    to = &k.c;
  }
  part_read(&p, to, set, NULL, NULL);
  output_verify(&out);
  output_close(&out);
  tell_losses(&w);
  writer_free(&w);
  keeper_free(&k);
  part_close(&p);
  return 0;
}

int parse_written_format(const char *name) {
  size_t i;
  for (i = 0; i < COUNT(written_formats); i++)
    if (strcmp(name, written_formats[i].name) == 0) return written_formats[i].format;
  return 0;
}
