/* Prints what the decoder reads from a trace, in the form in which tests/go/print_v1.go and print_v2.go print what Go
 * reads, so that tests/decoder/decoder_agrees_with_go.py can compare the two.
 *
 *     print_decoded [-s | -S] [-c | -v] FILE
 *
 * Of v2, what gotrace_decoder_change tells is printed; of v1, its events in order, before they are lifted to v2. These
 * are without their links, which the decoder does not provide. -v: also of v1 what the changes of its lifted events
 * are, in the form in which tests/go/print_v2.go prints what Go converts it to.
 * -s: read through a callback; -S: through a seekable callback, instead of from memory. -c: read twice, in two of the
 * three ways, and compare (prints only differences). */
#define _GNU_SOURCE
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gotrace_decoder *decoder;
static uint8_t *seen; /* stacks since the last Sync: one bit per id */
static uint64_t seen_size;

static void quote(const char *text, size_t size) {
  size_t i;
  putchar('"');
  for (i = 0; i < size; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '\\' || c == '"') printf("\\%c", c);
    else if (c < 0x20 || c > 0x7e) printf("\\x%02x", c);
    else putchar(c);
  }
  putchar('"');
}

static void quote_id(uint64_t id) {
  const char *text;
  size_t size;
  gotrace_decoder_string(decoder, id, &text, &size);
  quote(text, size);
}

static void stack(uint64_t id) {
  static gotrace_frame frames[1000];
  size_t i, count;
  if (!id || (id < seen_size && (seen[id / 8] >> (id % 8) & 1))) return;
  if (id >= seen_size && id < (uint64_t)1 << 32) {
    uint64_t larger = 2 * id + 1024;
    seen = realloc(seen, (size_t)larger / 8 + 1);
    if (!seen) exit(2);
    memset(seen + seen_size / 8, 0, (size_t)(larger / 8 + 1 - seen_size / 8));
    seen_size = larger / 8 * 8;
  }
  if (id < seen_size) seen[id / 8] |= (uint8_t)(1 << (id % 8));
  printf("stack %llu\n", (unsigned long long)id);
  count = gotrace_decoder_stack(decoder, id, frames, 1000);
  for (i = 0; i < count; i++) {
    printf("\t0x%llx ", (unsigned long long)frames[i].pc);
    quote(frames[i].function, frames[i].function_size);
    putchar(' ');
    quote(frames[i].file, frames[i].file_size);
    printf(" %lld\n", (long long)frames[i].line);
  }
}

#define LL(x) ((long long)(x))
#define LU(x) ((unsigned long long)(x))

/* ---- v1 ---- */

/* As Go 1.21 calls it. */
static const char *stw_reason(int format, uint64_t kind) {
  static const char *const reasons[] = {
#define REASON(NAME, number, text) text,
      GOTRACE_STW_REASONS(REASON)
#undef REASON
  };
  if (format < GOTRACE_GO_1_21) return kind ? "sweep termination" : "mark termination";
  return reasons[kind < sizeof reasons / sizeof reasons[0] ? kind : 0];
}

static void print_v1(const gotrace_event *e) {
  uint64_t args[3] = {e->args[0], e->args[1], e->args[2]};
  uint64_t string = 0;
  const char *name = e->spec->name;
  bool old;
  gotrace_decoder_info info;
  gotrace_decoder_get_info(decoder, &info);
  old = info.format < 1007;
  if (!old || e->kind != GOTRACE_V1_GO_START) stack(e->stack);
  if (e->kind == GOTRACE_V1_GO_CREATE) stack(args[1]);
  /* Go has one name for each number, and does not list the stack among the arguments. */
  if (e->kind == GOTRACE_V1_STW_START) name = "STWStart";
  if (e->kind == GOTRACE_V1_STW_DONE) name = "STWDone";
  if (e->kind == GOTRACE_V1_HEAP_GOAL) name = "HeapGoal";
  if (e->spec->arguments[0] && strstr(e->spec->arguments, " stack") && e->arg_count && e->arg_count <= 3)
    args[e->arg_count - 1] = 0;
  if (e->kind == GOTRACE_V1_CPU_SAMPLE) args[0] = 0;
  printf("off=%llu %s ts=%lld p=%lld g=%llu stk=%llu args=%llu,%llu,%llu sargs=", LU(e->offset), name, LL(e->time),
         LL(e->p), LU(e->g < 0 ? 0 : e->g), LU(e->stack), LU(args[0]), LU(args[1]), LU(args[2]));
  switch (e->kind) {
  case GOTRACE_V1_GO_START_LABEL: string = 2; break;
  case GOTRACE_V1_USER_TASK_CREATE: string = 2; break;
  case GOTRACE_V1_USER_REGION: string = 2; break;
  case GOTRACE_V1_USER_LOG: string = 1; break;
  default: break;
  }
  if (string) quote_id(e->args[string]);
  if (e->kind == GOTRACE_V1_USER_LOG) putchar(',');
  if (e->kind == GOTRACE_V1_USER_LOG) quote(e->data ? e->data : "", e->data_size);
  if (e->kind == GOTRACE_V1_STW_START)
    quote(stw_reason(info.format, e->args[0]), strlen(stw_reason(info.format, e->args[0])));
  putchar('\n');
}

/* ---- What events change ---- */

static const char *status_of(int status) {
  static const char *const names[] = {"NotExist", "Undetermined", "",        "Runnable",
                                      "Running",  "Syscall",      "Waiting", "Idle"};
  return names[status + 2];
}

static const char *kind_of(int kind) {
  static const char *const names[] = {
      "",         "Sync",      "Metric",  "Label",       "StackSample", "RangeBegin", "RangeActive",
      "RangeEnd", "TaskBegin", "TaskEnd", "RegionBegin", "RegionEnd",   "Log",        "StateTransition"};
  return names[kind];
}

static void object_of(const gotrace_change *c) {
  if (c->object == GOTRACE_OBJECT_NONE) printf("None");
  else printf("%s(%lld)", c->object == GOTRACE_OBJECT_GO ? "Goroutine" : "Proc", LL(c->id));
}

static void field(const char *name, const char *text, size_t size) {
  printf(" %s=", name);
  quote(text, size);
}

static void print_range(const gotrace_change *c) {
  bool sweep = c->object == GOTRACE_OBJECT_PROC;
  char name[1200];
  int size = c->text_size
                 ? snprintf(name, sizeof name, "%.*s (%.*s)", (int)c->name_size, c->name, (int)c->text_size, c->text)
                 : snprintf(name, sizeof name, "%.*s", (int)c->name_size, c->name);
  if (strcmp(name, "stop-the-world") == 0) size = snprintf(name, sizeof name, "stop-the-world ()");
  field("Name", name, (size_t)size);
  printf(" Scope=");
  object_of(c);
  if (c->kind != GOTRACE_CHANGE_RANGE_END) return;
  printf(" Attributes=[");
  if (sweep) printf("\"bytes swept\"=%llu \"bytes reclaimed\"=%llu", LU(c->value[0]), LU(c->value[1]));
  printf("]");
}

static void print_change(const gotrace_event *e, const gotrace_change *c) {
  bool v1 = e->v1_kind != 0;
  if (!v1) stack(e->stack); /* of v1 the test compares only their numbers */
  if (!v1 && c->stack != e->stack) stack(c->stack);
  printf("M=%lld P=%lld G=%lld %s Time=%lld", LL(e->m), LL(e->p), LL(e->g), kind_of(c->kind), LL(e->time));
  switch (c->kind) {
  case GOTRACE_CHANGE_SYNC:
    printf(" N=%lld", LL(e->extra));
    if (e->arg_count)
      printf(" Trace=%lld Mono=%llu Wall=%lld.%09llu", LL(e->args[0]), LU(e->args[1]),
             LL(e->args[2] + e->args[3] / 1000000000), LU(e->args[3] % 1000000000));
    break;
  case GOTRACE_CHANGE_METRIC:
    field("Name", c->name, c->name_size);
    printf(" Value=%llu", LU(c->value[0]));
    break;
  case GOTRACE_CHANGE_LABEL:
    field("Label", c->name, c->name_size);
    printf(" Resource=");
    object_of(c);
    break;
  case GOTRACE_CHANGE_RANGE_BEGIN:
  case GOTRACE_CHANGE_RANGE_ACTIVE:
  case GOTRACE_CHANGE_RANGE_END: print_range(c); break;
  case GOTRACE_CHANGE_TASK_BEGIN:
  case GOTRACE_CHANGE_TASK_END:
    printf(" ID=%llu Parent=%llu", LU(c->task), LU(c->parent));
    field("Type", c->name, c->name_size);
    break;
  case GOTRACE_CHANGE_REGION_BEGIN:
  case GOTRACE_CHANGE_REGION_END:
    printf(" Task=%llu", LU(c->task));
    field("Type", c->name, c->name_size);
    break;
  case GOTRACE_CHANGE_LOG:
    printf(" Task=%llu", LU(c->task));
    field("Category", c->name, c->name_size);
    field("Message", c->text, c->text_size);
    break;
  case GOTRACE_CHANGE_STATUS:
    printf(" %s=%lld %s->%s", c->object == GOTRACE_OBJECT_GO ? "GoID" : "ProcID", LL(c->id), status_of(c->from),
           status_of(c->to));
    field("Reason", c->name, c->name_size);
    printf(" TransitionStack=%llu", LU(c->stack));
    break;
  default: break;
  }
  printf(" Stack=%llu\n", LU(e->stack));
}

/* ---- v2 ---- */

static void experimental(const gotrace_event *e) {
  const char *word = e->spec->arguments + 2;
  int i;
  printf(" Name=\"%s\" Experiment=\"AllocFree\" Args=[", e->spec->name);
  for (i = 0; *word; i++, word += strcspn(word, " ")) {
    int size = (int)strcspn(++word, " ");
    /* Go's names differ a little from those of the header. */
    const char *name = size == 6 && memcmp(word, "npages", 6) == 0 ? "npages_value" : NULL;
    printf("%s", i ? " " : "");
    if (name) printf("%s", name);
    else printf("%.*s", size, word);
    printf("=%llu", LU(e->args[i]));
  }
  printf("]");
}

static void print_told(const gotrace_event *e) {
  gotrace_change change;
  if (gotrace_decoder_change(decoder, e, &change)) print_change(e, &change);
}

static void print_v2(const gotrace_event *e) {
  if (e->kind == GOTRACE_V2_EXPERIMENTAL_BATCH) {
    size_t i;
    printf("batch Experiment=\"%s\" M=%lld Data=", e->args[0] == 1 ? "AllocFree" : "", LL(e->m));
    for (i = 0; i < e->data_size; i++) printf("%02x", (unsigned char)e->data[i]);
    putchar('\n');
    return;
  }
  if (e->kind == GOTRACE_V2_SYNC && seen) memset(seen, 0, (size_t)seen_size / 8 + 1);
  print_told(e);
  if (e->kind < GOTRACE_V2_SPAN) return;
  printf("M=%lld P=%lld G=%lld Experimental Time=%lld", LL(e->m), LL(e->p), LL(e->g), LL(e->time));
  experimental(e);
  printf(" Stack=0\n");
}

/* ---- Reading ---- */

typedef struct input {
  const uint8_t *data;
  size_t size;
  uint64_t expected;
  bool seekable;
} input;

/* Small pieces of uneven size: a read rarely returns as much as requested. */
static size_t read_input(void *context, uint64_t offset, void *buffer, size_t size) {
  input *in = context;
  size_t left = offset < in->size ? in->size - (size_t)offset : 0, n = 1 + (size_t)(offset * 2654435761u % 70001);
  if (!in->seekable && offset != in->expected) abort();
  if (n > size) n = size;
  if (n > left) n = left;
  if (n) memcpy(buffer, in->data + offset, n);
  in->expected = offset + n;
  return n;
}

static gotrace_decoder *open_decoder(const uint8_t *data, size_t size, char way, input *in, gotrace_result *result) {
  gotrace_decoder_options options;
  gotrace_decoder *d = NULL;
  memset(&options, 0, sizeof options);
  memset(in, 0, sizeof *in);
  in->data = data, in->size = size, in->seekable = way == 'S';
  if (way) options.read = read_input, options.context = in, options.seekable = way == 'S';
  else options.data = data, options.size = size;
  *result = gotrace_decoder_open(&d, &options);
  return d;
}

static int compare(const uint8_t *data, size_t size) {
  static const char ways[] = {0, 's', 'S'};
  input in[2];
  gotrace_event a, b;
  gotrace_result ra, rb;
  int i;
  for (i = 1; i < 3; i++) {
    gotrace_decoder *x = open_decoder(data, size, 0, &in[0], &ra), *y = open_decoder(data, size, ways[i], &in[1], &rb);
    do {
      if (!ra) ra = gotrace_decoder_next(x, &a);
      if (!rb) rb = gotrace_decoder_next(y, &b);
      if (ra != rb ||
          (!ra && (a.time != b.time || a.offset != b.offset || a.kind != b.kind || a.stack != b.stack || a.m != b.m ||
                   a.p != b.p || a.g != b.g || memcmp(a.args, b.args, sizeof a.args) != 0 ||
                   a.data_size != b.data_size || (a.data_size && memcmp(a.data, b.data, a.data_size) != 0)))) {
        printf("memory and way '%c' differ: %s %s\n", ways[i], gotrace_decoder_error(x)->message,
               gotrace_decoder_error(y)->message);
        return 1;
      }
    } while (!ra);
    gotrace_decoder_close(x);
    gotrace_decoder_close(y);
  }
  return 0;
}

/* The next event; of v1 without `converted` as it is before lifting. */
static gotrace_result next(gotrace_event *event, bool converted) {
  gotrace__dec_go *g;
  gotrace__dec_proc *p;
  gotrace_result result;
  if (decoder->info.family == 2 || converted) return gotrace_decoder_next(decoder, event);
  if (!decoder->file && (result = gotrace__v1_prepare(decoder)) != GOTRACE_OK) return result;
  return gotrace__dec_finish(decoder, gotrace__v1_next(decoder, event, &g, &p));
}

int main(int argc, char **argv) {
  static char buffer[1 << 20];
  char way = 0;
  bool both = false, converted = false;
  long size;
  uint8_t *data;
  FILE *file;
  input in;
  gotrace_result result;
  gotrace_event event;
  for (; argc > 2; argc--, argv++) {
    if (argv[1][1] == 'c') both = true;
    else if (argv[1][1] == 'v') converted = true;
    else way = argv[1][1];
  }
  if (argc != 2 || !(file = fopen(argv[1], "rb")) || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) return 2;
  rewind(file);
  if (!(data = malloc((size_t)size + 1)) || fread(data, 1, (size_t)size, file) != (size_t)size) return 2;
  fclose(file);
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  if (both) {
    int differs = compare(data, (size_t)size);
    free(data);
    return differs;
  }
  decoder = open_decoder(data, (size_t)size, way, &in, &result);
  if (!result) {
    gotrace_decoder_info info;
    gotrace_decoder_get_info(decoder, &info);
    if (info.family == 1 && !converted) printf("version %d\n", info.format);
    memset(&event, 0, sizeof event);
    while ((result = next(&event, converted)) == GOTRACE_OK) {
      if (info.family == 2) print_v2(&event);
      else if (converted) print_told(&event);
      else print_v1(&event);
    }
  }
  if (result == GOTRACE_END_OF_TRACE) {
    printf("end ok\n");
  } else {
    printf("end error %d ", result);
    quote(gotrace_decoder_error(decoder)->message, strlen(gotrace_decoder_error(decoder)->message));
    putchar('\n');
  }
  gotrace_decoder_close(decoder);
  free(seen);
  free(data);
  return result != GOTRACE_END_OF_TRACE;
}
