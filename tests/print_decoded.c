/* Prints what the decoder reads from a trace, in the form in which tests/go/print_v1.go and print_v2.go print what Go
 * reads, so that tests/decoder_agrees_with_go.py can compare the two. Omits the links of v1, which the decoder does not
 * provide.
 *
 *     print_decoded [-s | -S] [-c] FILE
 *
 * -s: read through a callback; -S: through a seekable callback, instead of from memory. -c: read twice, in two of the
 * three ways, and compare (prints only differences). */
#define _GNU_SOURCE
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
  if (e->kind == GOTRACE_V1_USER_LOG || e->kind == GOTRACE_V1_STW_START) quote(e->data ? e->data : "", e->data_size);
  putchar('\n');
}

/* ---- v2 ---- */

static const char *go_state(int64_t status) {
  static const char *const names[] = {"Undetermined", "Runnable", "Running", "Syscall", "Waiting"};
  return status == GOTRACE_STATUS_NONE ? "NotExist" : status < 0 ? "Undetermined" : names[status];
}

static const char *proc_state(int64_t status) {
  static const char *const names[] = {"Undetermined", "Running", "Idle", "Running", "Idle"};
  return status == GOTRACE_STATUS_NONE ? "NotExist" : status < 0 ? "Undetermined" : names[status];
}

static void go_transition(int64_t id, const char *from, const char *to, uint64_t reason, uint64_t of) {
  printf(" GoID=%lld %s->%s Reason=", LL(id), from, to);
  quote_id(reason);
  printf(" TransitionStack=%llu", LU(of));
}

static void proc_transition(int64_t id, const char *from, const char *to) {
  printf(" ProcID=%lld %s->%s Reason=\"\" TransitionStack=0", LL(id), from, to);
}

static const char *kind_of(uint8_t kind) {
  switch (kind) {
  case GOTRACE_V2_SYNC: return "Sync";
  case GOTRACE_V2_CPU_SAMPLE: return "StackSample";
  case GOTRACE_V2_PROCS_CHANGE:
  case GOTRACE_V2_HEAP_ALLOC:
  case GOTRACE_V2_HEAP_GOAL: return "Metric";
  case GOTRACE_V2_GO_LABEL: return "Label";
  case GOTRACE_V2_STW_BEGIN:
  case GOTRACE_V2_GC_BEGIN:
  case GOTRACE_V2_GC_SWEEP_BEGIN:
  case GOTRACE_V2_GC_MARK_ASSIST_BEGIN: return "RangeBegin";
  case GOTRACE_V2_GC_ACTIVE:
  case GOTRACE_V2_GC_SWEEP_ACTIVE:
  case GOTRACE_V2_GC_MARK_ASSIST_ACTIVE: return "RangeActive";
  case GOTRACE_V2_STW_END:
  case GOTRACE_V2_GC_END:
  case GOTRACE_V2_GC_SWEEP_END:
  case GOTRACE_V2_GC_MARK_ASSIST_END: return "RangeEnd";
  case GOTRACE_V2_USER_TASK_BEGIN: return "TaskBegin";
  case GOTRACE_V2_USER_TASK_END: return "TaskEnd";
  case GOTRACE_V2_USER_REGION_BEGIN: return "RegionBegin";
  case GOTRACE_V2_USER_REGION_END: return "RegionEnd";
  case GOTRACE_V2_USER_LOG: return "Log";
  default: return kind >= GOTRACE_V2_SPAN ? "Experimental" : "StateTransition";
  }
}

static void range(const gotrace_event *e) {
  bool active = e->kind == GOTRACE_V2_GC_SWEEP_ACTIVE || e->kind == GOTRACE_V2_GC_MARK_ASSIST_ACTIVE;
  switch (e->kind) {
  case GOTRACE_V2_STW_BEGIN:
  case GOTRACE_V2_STW_END:
    printf(" Name=\"stop-the-world (%.*s)\" Scope=Goroutine(%lld)", (int)e->data_size, e->data, LL(e->g));
    break;
  case GOTRACE_V2_GC_BEGIN:
  case GOTRACE_V2_GC_ACTIVE:
  case GOTRACE_V2_GC_END: printf(" Name=\"GC concurrent mark phase\" Scope=None"); break;
  case GOTRACE_V2_GC_SWEEP_BEGIN:
  case GOTRACE_V2_GC_SWEEP_ACTIVE:
  case GOTRACE_V2_GC_SWEEP_END:
    printf(" Name=\"GC incremental sweep\" Scope=Proc(%lld)", LL(active ? (int64_t)e->args[0] : e->p));
    break;
  default: printf(" Name=\"GC mark assist\" Scope=Goroutine(%lld)", LL(active ? (int64_t)e->args[0] : e->g)); break;
  }
  if (strcmp(kind_of(e->kind), "RangeEnd") != 0) return;
  printf(" Attributes=[");
  if (e->kind == GOTRACE_V2_GC_SWEEP_END)
    printf("\"bytes swept\"=%llu \"bytes reclaimed\"=%llu", LU(e->args[0]), LU(e->args[1]));
  printf("]");
}

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

static void print_v2(const gotrace_event *e) {
  const uint64_t *a = e->args;
  if (e->kind == GOTRACE_V2_EXPERIMENTAL_BATCH) {
    size_t i;
    printf("batch Experiment=\"%s\" M=%lld Data=", a[0] == 1 ? "AllocFree" : "", LL(e->m));
    for (i = 0; i < e->data_size; i++) printf("%02x", (unsigned char)e->data[i]);
    putchar('\n');
    return;
  }
  if (e->kind == GOTRACE_V2_SYNC && seen) memset(seen, 0, (size_t)seen_size / 8 + 1);
  stack(e->stack);
  if (e->kind == GOTRACE_V2_GO_CREATE || e->kind == GOTRACE_V2_GO_CREATE_BLOCKED) stack(a[1]);
  printf("M=%lld P=%lld G=%lld %s Time=%lld", LL(e->m), LL(e->p), LL(e->g), kind_of(e->kind), LL(e->time));
  switch (e->kind) {
  case GOTRACE_V2_SYNC:
    printf(" N=%lld", LL(e->extra));
    if (e->arg_count)
      printf(" Trace=%lld Mono=%llu Wall=%lld.%09llu", LL(a[0]), LU(a[1]), LL(a[2] + a[3] / 1000000000),
             LU(a[3] % 1000000000));
    break;
  case GOTRACE_V2_CPU_SAMPLE: break;
  case GOTRACE_V2_PROCS_CHANGE: printf(" Name=\"/sched/gomaxprocs:threads\" Value=%llu", LU(a[0])); break;
  case GOTRACE_V2_HEAP_ALLOC: printf(" Name=\"/memory/classes/heap/objects:bytes\" Value=%llu", LU(a[0])); break;
  case GOTRACE_V2_HEAP_GOAL: printf(" Name=\"/gc/heap/goal:bytes\" Value=%llu", LU(a[0])); break;
  case GOTRACE_V2_GO_LABEL:
    printf(" Label=");
    quote_id(a[0]);
    printf(" Resource=Goroutine(%lld)", LL(e->g));
    break;
  case GOTRACE_V2_USER_TASK_BEGIN:
    printf(" ID=%llu Parent=%llu Type=", LU(a[0]), LU(a[1] ? a[1] : UINT64_MAX));
    quote_id(a[2]);
    break;
  case GOTRACE_V2_USER_TASK_END:
    printf(" ID=%llu Parent=%llu Type=", LU(a[0]), LU(e->extra));
    quote(e->data, e->data_size);
    break;
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END:
    printf(" Task=%llu Type=", LU(a[0]));
    quote_id(a[1]);
    break;
  case GOTRACE_V2_USER_LOG:
    printf(" Task=%llu Category=", LU(a[0]));
    quote_id(a[1]);
    printf(" Message=");
    quote_id(a[2]);
    break;
  case GOTRACE_V2_PROC_START: proc_transition(LL(a[0]), "Idle", "Running"); break;
  case GOTRACE_V2_PROC_STOP: proc_transition(e->p, "Running", "Idle"); break;
  case GOTRACE_V2_PROC_STEAL: proc_transition(LL(a[0]), e->extra == 4 ? "Idle" : "Running", "Idle"); break;
  case GOTRACE_V2_PROC_STATUS: proc_transition(LL(a[0]), proc_state(e->extra), proc_state(LL(a[1]))); break;
  case GOTRACE_V2_GO_CREATE: go_transition(LL(a[0]), "NotExist", "Runnable", 0, a[1]); break;
  case GOTRACE_V2_GO_CREATE_BLOCKED: go_transition(LL(a[0]), "NotExist", "Waiting", 0, a[1]); break;
  case GOTRACE_V2_GO_CREATE_SYSCALL: go_transition(LL(a[0]), "NotExist", "Syscall", 0, 0); break;
  case GOTRACE_V2_GO_START: go_transition(LL(a[0]), "Runnable", "Running", 0, 0); break;
  case GOTRACE_V2_GO_DESTROY: go_transition(e->g, "Running", "NotExist", 0, 0); break;
  case GOTRACE_V2_GO_DESTROY_SYSCALL: go_transition(e->g, "Syscall", "NotExist", 0, 0); break;
  case GOTRACE_V2_GO_STOP: go_transition(e->g, "Running", "Runnable", a[0], e->stack); break;
  case GOTRACE_V2_GO_BLOCK: go_transition(e->g, "Running", "Waiting", a[0], e->stack); break;
  case GOTRACE_V2_GO_UNBLOCK:
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY: go_transition(LL(a[0]), "Waiting", "Runnable", 0, 0); break;
  case GOTRACE_V2_GO_SYSCALL_BEGIN: go_transition(e->g, "Running", "Syscall", 0, e->stack); break;
  case GOTRACE_V2_GO_SYSCALL_END: go_transition(e->g, "Syscall", "Running", 0, 0); break;
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED: go_transition(e->g, "Syscall", "Runnable", 0, 0); break;
  case GOTRACE_V2_GO_STATUS:
  case GOTRACE_V2_GO_STATUS_STACK: go_transition(LL(a[0]), go_state(e->extra), go_state(LL(a[2])), 0, e->stack); break;
  default:
    if (e->kind >= GOTRACE_V2_SPAN) experimental(e);
    else range(e);
    break;
  }
  printf(" Stack=%llu\n", LU(e->stack));
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

int main(int argc, char **argv) {
  static char buffer[1 << 20];
  char way = 0;
  bool both = false;
  long size;
  uint8_t *data;
  FILE *file;
  input in;
  gotrace_result result;
  gotrace_event event;
  for (; argc > 2; argc--, argv++) {
    if (argv[1][1] == 'c') both = true;
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
    if (info.family == 1) printf("version %d\n", info.format);
    memset(&event, 0, sizeof event);
    while ((result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK) {
      if (info.family == 1) print_v1(&event);
      else print_v2(&event);
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
