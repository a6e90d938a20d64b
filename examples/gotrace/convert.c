/* convert.c - gotrace cut, gotrace convert */

#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

const int written_formats[] = {GOTRACE_GO_1_8,  GOTRACE_GO_1_10, GOTRACE_GO_1_11, GOTRACE_GO_1_19, GOTRACE_GO_1_21,
                                      GOTRACE_GO_1_22, GOTRACE_GO_1_23, GOTRACE_GO_1_25, GOTRACE_GO_1_26};

/* The format that is written for one that is read: itself, or the next one that is written. */
static int nearest_format(int format) {
  size_t i = 0;
  while (i + 1 < COUNT(written_formats) && written_formats[i] < format) i++;
  return written_formats[i];
}

static void put_header(output *out, int format) {
  char header[17] = {0};
  snprintf(header, sizeof header, "go 1.%d trace", format % 1000);
  put_data(&out->block, header, 16);
}

/* Nothing leaves this program that does not open. */
static void verify(output *out) {
  input result;
  gotrace_event e;
  gotrace_result last;
  const char *file = program.file;
  memset(&result, 0, sizeof result);
  output_flush(out);
  result.path = "result";
  result.next_progress = seconds_now() + 1;
  result.fd = fileno(out->file);
  if (lseek(result.fd, 0, SEEK_SET) != 0) fail("%s", strerror(errno));
  last = input_decode(&result, false);
  while (last == GOTRACE_OK) last = input_next(&result, &e);
  program.file = file;
  if (last != GOTRACE_END_OF_TRACE) fail("not written, as the result would not open: %s", input_error(&result));
  gotrace_decoder_close(result.decoder);
  lseek(result.fd, 0, SEEK_END);
}

static void writer_free(writer *w) {
  const proc *p;
  for (p = w->c.w->proc_list; p; p = p->next) free(p->batch.data);
  free(w->global.batch.data);
  free(w->strings.data);
  free(w->stacks.data);
  free(w->samples.data);
}

/* A trace is broken: an error, unless what is before that is to be kept and there is something. */
void broken(const settings *set, const source *s) {
  const char *error = input_error(s->in);
  if (!set->partial || !s->begun || !s->told) fail("%s", error);
  report("%s; what is before that was kept", error);
}

int command_rewrite(const char *path, const settings *set) {
  input in;
  output out;
  source s;
  writer w;
  gotrace_result result;
  gotrace_decoder_info info;
  memset(&s, 0, sizeof s);
  memset(&w, 0, sizeof w);
  if (!input_open(&in, path, true)) return 1;
  if (input_decode(&in, false) != GOTRACE_OK) fail("%s", input_error(&in));
  gotrace_decoder_get_info(in.decoder, &info);
  w.c.format = set->format ? set->format : nearest_format(info.format);
  w.c.begin = w.c.format < GOTRACE_GO_1_22 ? v1_begin : v2_begin;
  w.c.take = w.c.format < GOTRACE_GO_1_22 ? v1_take : v2_take;
  w.c.end = w.c.format < GOTRACE_GO_1_22 ? v1_end : v2_end;
  output_open(&out, set->output);
  w.out = &out;
  put_header(&out, w.c.format);
  result = source_run(&s, &in, &w.c, set->from, set->until, NULL, NULL);
  if (result != GOTRACE_END_OF_TRACE) broken(set, &s);
  if (!s.begun) fail("no events in this part: the trace lasts %.9f s", (double)between(s.first, s.end) / 1e9);
  verify(&out);
  output_close(&out);
  writer_free(&w);
  source_free(&s);
  input_close(&in);
  return 0;
}
