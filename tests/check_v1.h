/* check_v1.h - an independent reader of v1 traces (Go 1.8 to 1.21), for tests and fuzzers. It shares neither tables nor
 * code with gotrace.h.
 *
 * It accepts what Go's parsers accept. There are two, which differ in details:
 *
 *   old    internal/trace/parser.go and order.go of Go 1.15 to 1.22, for every format
 *   new    internal/trace/internal/tracev1 of Go 1.23 and later, for 1.11, 1.19 and 1.21
 *
 * Both work in the same steps, and so does this reader: bytes to events; events to streams, one per proc; streams to
 * one order, by goroutines' statuses and sequence numbers, then by time; then the rules that hold between events in
 * that order. Where Go leaves the order of equal time stamps to chance, `seed` chooses it here. A trace is good if
 * every order is.
 *
 * It was compared with the parsers of Go 1.15, 1.21 and 1.27 on their own test data and on about 6,000 corrupted
 * traces.
 *
 * It is a second opinion beside the library's decoder, for explore.c, stress_sessions.c, the fuzzers and CHECK_OPENS:
 * they check up to thousands of small traces a second in one process, without Go. Unlike the decoder it tries several
 * orders of equal times and applies the rules of both parsers.
 *
 * With CHECK_V1_STRICT it also checks what gotrace promises beyond that: strings and stacks come before the batch that
 * refers to them, and only once; limits of batches, strings and stacks.
 *
 *     check_v1_trace t;
 *     CHECK(check_v1(&t, bytes, size, CHECK_V1_STRICT, 0));        on failure, t.error gives the cause
 *     ... t.kinds[] ...
 *     check_v1_free(&t);
 */
#ifndef CHECK_V1_H
#define CHECK_V1_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  CHECK_V1_OLD = 1,    /* only the old parser's rules */
  CHECK_V1_NEW = 2,    /* only the new parser's; neither flag: those of each parser that knows the format */
  CHECK_V1_STRICT = 4, /* also gotrace's own promises */
  CHECK_V1_FUTILE = 8  /* FutileWakeup is intended, though the new parser rejects it: skip that parser */
};

typedef struct check_v1_event {
  uint64_t args[3]; /* without the time and the stack */
  uint64_t g, stack;
  int64_t time, proc;
  uint32_t offset; /* in the trace */
  uint32_t text;   /* offset of UserLog's text */
  uint32_t text_size;
  uint32_t next;    /* in the list that holds it */
  uint32_t subject; /* index of the goroutine whose status it changes */
  uint8_t kind;     /* as in the file */
  uint8_t type;     /* without "Local" */
  bool gone;        /* part of a futile wake-up */
} check_v1_event;

typedef struct check_v1_map { /* from a number to a number; open addressing */
  struct {
    uint64_t key, value;
    bool used;
  } * places;
  size_t count, size;
} check_v1_map;

typedef struct check_v1_trace {
  const uint8_t *data;
  size_t size, at;
  unsigned version, flags;
  bool modern; /* the new parser's rules apply */
  uint64_t kinds[64];
  uint64_t frequency;
  check_v1_event *events; /* in the order of the file, without Batch, Frequency, Stack, String, TimerGoroutine */
  uint32_t count, capacity;
  uint32_t *order;      /* indices of events in the order of time */
  check_v1_map strings; /* id: offset of the length and bytes */
  check_v1_map stacks;  /* id: offset of the number of frames, and frames */
  check_v1_map timers, procs, gs;
  uint32_t batches; /* that hold events */
  bool ties;        /* the seed may have decided: times were equal */
  char error[256];
} check_v1_trace;

#define CHECK_V1_NONE UINT32_MAX

/* ---------------------------------------------------------------------------------------------------- helpers ---- */

static inline bool check_v1_fail(check_v1_trace *t, const char *format, ...) {
  va_list arguments;
  if (t->error[0]) return false;
  va_start(arguments, format);
  vsnprintf(t->error, sizeof t->error, format, arguments);
  va_end(arguments);
  return false;
}

static inline void *check_v1_memory(void *old, size_t size) {
  void *memory = realloc(old, size ? size : 1);
  if (!memory) abort();
  return memory;
}

static inline uint64_t check_v1_hash(uint64_t x) {
  x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
  x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
  return x ^ x >> 33;
}

/* The value of a key; NULL if it is missing. Valid until the next put. */
static inline uint64_t *check_v1_get(const check_v1_map *map, uint64_t key) {
  size_t i;
  if (!map->size) return NULL;
  for (i = (size_t)check_v1_hash(key) & (map->size - 1); map->places[i].used; i = (i + 1) & (map->size - 1))
    if (map->places[i].key == key) return &map->places[i].value;
  return NULL;
}

static inline uint64_t *check_v1_put(check_v1_map *map, uint64_t key, uint64_t value) {
  uint64_t *known = check_v1_get(map, key);
  size_t i;
  if (known) return *known = value, known;
  if (2 * (map->count + 1) > map->size) {
    check_v1_map larger = {NULL, 0, 0};
    larger.size = map->size ? 2 * map->size : 16;
    larger.places = check_v1_memory(NULL, larger.size * sizeof *larger.places);
    memset(larger.places, 0, larger.size * sizeof *larger.places);
    for (i = 0; i < map->size; i++)
      if (map->places[i].used) check_v1_put(&larger, map->places[i].key, map->places[i].value);
    free(map->places);
    *map = larger;
  }
  for (i = (size_t)check_v1_hash(key) & (map->size - 1); map->places[i].used; i = (i + 1) & (map->size - 1)) continue;
  map->places[i].used = true;
  map->places[i].key = key;
  map->places[i].value = value;
  map->count++;
  return &map->places[i].value;
}

/* The index of a key: keys are numbered in the order in which they are added. */
static inline uint32_t check_v1_index(check_v1_map *map, uint64_t key) {
  uint64_t *known = check_v1_get(map, key);
  return (uint32_t)(known ? *known : *check_v1_put(map, key, map->count));
}

static inline void check_v1_clear(check_v1_trace *t) {
  free(t->events);
  free(t->order);
  free(t->strings.places);
  free(t->stacks.places);
  free(t->timers.places);
  free(t->procs.places);
  free(t->gs.places);
}

static inline void check_v1_free(check_v1_trace *t) {
  check_v1_clear(t);
  memset(t, 0, sizeof *t);
}

/* A base-128 number at *at; false at the end of the data or after ten bytes. */
static inline bool check_v1_number_at(const uint8_t *data, size_t size, size_t *at, bool modern, uint64_t *value) {
  unsigned i;
  *value = 0;
  for (i = 0; i < 10 && *at < size; i++) {
    uint8_t byte = data[(*at)++];
    if (modern && i == 9 && byte > 1) return false; /* more than 64 bits; the old parser drops them */
    *value |= (uint64_t)(byte & 127) << 7 * i;
    if (byte < 128) return true;
  }
  return false;
}

static inline bool check_v1_number(check_v1_trace *t, uint64_t *value) {
  if (check_v1_number_at(t->data, t->size, &t->at, t->modern, value)) return true;
  return check_v1_fail(t, "bad number before offset %zu", t->at);
}

/* The text of a string id, not terminated; an unknown id is the empty string. */
static inline const char *check_v1_string(const check_v1_trace *t, uint64_t id, size_t *size) {
  uint64_t *offset = check_v1_get(&t->strings, id), length = 0;
  size_t at;
  *size = 0;
  if (!offset) return "";
  at = (size_t)*offset;
  check_v1_number_at(t->data, t->size, &at, t->modern, &length);
  *size = (size_t)length;
  return (const char *)t->data + at;
}

/* ------------------------------------------------------------------------------------------------- the format ---- */

enum {
  CHECK_V1_BATCH = 1,
  CHECK_V1_FREQUENCY = 2,
  CHECK_V1_STACK = 3,
  CHECK_V1_PROC_START = 5,
  CHECK_V1_PROC_STOP = 6,
  CHECK_V1_GC_START = 7,
  CHECK_V1_GC_DONE = 8,
  CHECK_V1_STW_START = 9,
  CHECK_V1_STW_DONE = 10,
  CHECK_V1_SWEEP_START = 11,
  CHECK_V1_SWEEP_DONE = 12,
  CHECK_V1_GO_CREATE = 13,
  CHECK_V1_GO_START = 14,
  CHECK_V1_GO_END = 15,
  CHECK_V1_GO_STOP = 16,
  CHECK_V1_GO_SCHED = 17,
  CHECK_V1_GO_PREEMPT = 18,
  CHECK_V1_GO_SLEEP = 19,
  CHECK_V1_GO_BLOCK = 20,
  CHECK_V1_GO_UNBLOCK = 21,
  CHECK_V1_GO_BLOCK_SEND = 22,
  CHECK_V1_GO_BLOCK_COND = 26,
  CHECK_V1_GO_BLOCK_NET = 27,
  CHECK_V1_GO_SYS_CALL = 28,
  CHECK_V1_GO_SYS_EXIT = 29,
  CHECK_V1_GO_SYS_BLOCK = 30,
  CHECK_V1_GO_WAITING = 31,
  CHECK_V1_GO_IN_SYSCALL = 32,
  CHECK_V1_TIMER = 35,
  CHECK_V1_FUTILE_WAKEUP = 36,
  CHECK_V1_STRING = 37,
  CHECK_V1_GO_START_LOCAL = 38,
  CHECK_V1_GO_UNBLOCK_LOCAL = 39,
  CHECK_V1_GO_SYS_EXIT_LOCAL = 40,
  CHECK_V1_GO_START_LABEL = 41,
  CHECK_V1_GO_BLOCK_GC = 42,
  CHECK_V1_ASSIST_START = 43,
  CHECK_V1_ASSIST_DONE = 44,
  CHECK_V1_TASK_CREATE = 45,
  CHECK_V1_TASK_END = 46,
  CHECK_V1_REGION = 47,
  CHECK_V1_LOG = 48,
  CHECK_V1_SAMPLE = 49,
  CHECK_V1_KINDS = 50
};

/* First format, number of arguments besides time and stack, whether there is a stack. */
static const struct {
  uint16_t since;
  uint8_t arguments, stack;
} check_v1_formats[CHECK_V1_KINDS] = {
    {9999, 0, 0}, {1005, 2, 0}, {1005, 1, 0}, {1005, 0, 0}, {1005, 1, 1}, {1005, 1, 0}, {1005, 0, 0}, {1005, 1, 1},
    {1005, 0, 0}, {1005, 1, 0}, {1005, 0, 0}, {1005, 0, 1}, {1005, 2, 0}, {1005, 2, 1}, {1005, 2, 0}, {1005, 0, 0},
    {1005, 0, 1}, {1005, 0, 1}, {1005, 0, 1}, {1005, 0, 1}, {1005, 0, 1}, {1005, 2, 1}, {1005, 0, 1}, {1005, 0, 1},
    {1005, 0, 1}, {1005, 0, 1}, {1005, 0, 1}, {1005, 0, 1}, {1005, 0, 1}, {1005, 3, 0}, {1005, 0, 0}, {1005, 1, 0},
    {1005, 1, 0}, {1005, 1, 0}, {1005, 1, 0}, {1005, 1, 0}, {1005, 0, 0}, {1007, 0, 0}, {1007, 1, 0}, {1007, 1, 1},
    {1007, 2, 0}, {1008, 3, 0}, {1008, 0, 1}, {1009, 0, 1}, {1009, 0, 0}, {1011, 3, 1}, {1011, 1, 1}, {1011, 3, 1},
    {1011, 2, 1}, {1019, 3, 1}};

static inline unsigned check_v1_arguments(const check_v1_trace *t, unsigned kind) {
  if (kind == CHECK_V1_SWEEP_DONE && t->version < 1009) return 0;
  if (kind == CHECK_V1_STW_START && t->version < 1010) return 0;
  return check_v1_formats[kind].arguments;
}

static inline bool check_v1_is_block(unsigned kind) {
  return (kind >= CHECK_V1_GO_BLOCK_SEND && kind <= CHECK_V1_GO_BLOCK_NET) || kind == CHECK_V1_GO_SLEEP ||
         kind == CHECK_V1_GO_BLOCK || kind == CHECK_V1_GO_BLOCK_GC;
}

static inline bool check_v1_header(check_v1_trace *t) {
  static const unsigned versions[] = {1007, 1008, 1009, 1010, 1011, 1019, 1021};
  char header[17];
  size_t i;
  for (i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    memset(header, 0, sizeof header);
    snprintf(header, sizeof header, "go 1.%u trace", versions[i] - 1000);
    if (t->size >= 16 && memcmp(t->data, header, 16) == 0) t->version = versions[i];
  }
  t->at = 16;
  if (!t->version) return check_v1_fail(t, "no header of a v1 trace");
  return true;
}

/* --------------------------------------------------------------------------------------------- bytes to events ---- */

typedef struct check_v1_stream { /* of a proc */
  int64_t proc;
  uint64_t g; /* the goroutine that runs at the end of the stream so far */
  uint32_t first, last;
  bool selected;
} check_v1_stream;

typedef struct check_v1_parser {
  check_v1_stream *streams; /* by index in t->procs */
  size_t capacity;
  uint32_t stream; /* index of the current batch's stream */
  uint64_t time;
  bool in_batch;
  size_t stream_count;
  uint32_t samples_first, samples_last, samples;
} check_v1_parser;

static inline bool check_v1_known_string(check_v1_trace *t, uint64_t id, size_t offset) {
  if (!(t->flags & CHECK_V1_STRICT) || !id || check_v1_get(&t->strings, id)) return true;
  return check_v1_fail(t, "string %llu used at offset %zu before its definition", (unsigned long long)id, offset);
}

static inline bool check_v1_known_stack(check_v1_trace *t, uint64_t id, size_t offset) {
  if (!(t->flags & CHECK_V1_STRICT) || !id || check_v1_get(&t->stacks, id)) return true;
  return check_v1_fail(t, "stack %llu used at offset %zu before its definition", (unsigned long long)id, offset);
}

static inline bool check_v1_parse_string(check_v1_trace *t, bool counts) {
  uint64_t id, length;
  size_t at;
  if (!check_v1_number(t, &id)) return false;
  at = t->at;
  if (!check_v1_number(t, &length)) return false;
  if (length > t->size - t->at) return check_v1_fail(t, "trace truncated in a string");
  t->at += (size_t)length;
  if (!counts) return true;
  if (!id || check_v1_get(&t->strings, id)) return check_v1_fail(t, "duplicate string %llu", (unsigned long long)id);
  if (!length || length > 1000000) return check_v1_fail(t, "string of %llu bytes", (unsigned long long)length);
  if ((t->flags & CHECK_V1_STRICT) && length > 1024) return check_v1_fail(t, "string of more than 1,024 bytes");
  check_v1_put(&t->strings, id, at);
  return true;
}

static inline bool check_v1_parse_stack(check_v1_trace *t, const uint64_t *args, size_t count, size_t offset,
                                        size_t frames_at) {
  size_t i;
  uint64_t id;
  if (count < 2 || args[1] > 1000 || count != 2 + 4 * args[1])
    return check_v1_fail(t, "bad stack at offset %zu", offset);
  id = t->modern ? (uint32_t)args[0] : args[0];
  if (t->flags & CHECK_V1_STRICT) {
    if (!id || check_v1_get(&t->stacks, id)) return check_v1_fail(t, "duplicate stack %llu", (unsigned long long)id);
    if (!args[1] || args[1] > 128) return check_v1_fail(t, "stack of %llu frames", (unsigned long long)args[1]);
    for (i = 2; i < count; i += 4)
      if (!check_v1_known_string(t, args[i + 1], offset) || !check_v1_known_string(t, args[i + 2], offset))
        return false;
  }
  if (id && args[1]) check_v1_put(&t->stacks, id, frames_at);
  return true;
}

static inline void check_v1_append(check_v1_trace *t, uint32_t *first, uint32_t *last, uint32_t i) {
  t->events[i].next = CHECK_V1_NONE;
  if (*first == CHECK_V1_NONE) *first = i;
  else t->events[*last].next = i;
  *last = i;
}

static inline bool check_v1_parse_event(check_v1_trace *t, check_v1_parser *p, unsigned kind, const uint64_t *args,
                                        size_t count, size_t offset) {
  unsigned wanted = 1 + check_v1_arguments(t, kind) + check_v1_formats[kind].stack, i;
  check_v1_stream *stream = &p->streams[p->stream];
  check_v1_event *e;
  if (kind == CHECK_V1_BATCH || kind == CHECK_V1_FREQUENCY || kind == CHECK_V1_TIMER) wanted--;
  if (count != wanted)
    return check_v1_fail(t, "event %u at offset %zu has %zu arguments, not %u", kind, offset, count, wanted);
  if (kind == CHECK_V1_FREQUENCY) {
    t->frequency = args[0];
    return (int64_t)args[0] > 0 ? true : check_v1_fail(t, "frequency of 0 or less");
  }
  if (kind == CHECK_V1_TIMER) return check_v1_put(&t->timers, args[0], 1) != NULL;
  if (t->count == t->capacity) {
    t->capacity = t->capacity ? 2 * t->capacity : 1024;
    t->events = check_v1_memory(t->events, t->capacity * sizeof *t->events);
  }
  e = &t->events[t->count];
  memset(e, 0, sizeof *e);
  e->kind = e->type = (uint8_t)kind;
  e->offset = (uint32_t)offset;
  e->proc = stream->proc;
  e->g = stream->g;
  if (!t->modern || kind != CHECK_V1_SAMPLE) p->time += args[0];
  e->time = (int64_t)p->time;
  for (i = 1; i < wanted; i++) {
    if (i == wanted - 1 && check_v1_formats[kind].stack) e->stack = t->modern ? (uint32_t)args[i] : args[i];
    else e->args[i - 1] = args[i];
  }
  if (kind != CHECK_V1_SAMPLE && !check_v1_known_stack(t, e->stack, offset)) return false;
  switch (kind) {
  case CHECK_V1_GO_CREATE:
    if (!check_v1_known_stack(t, e->args[1], offset)) return false;
    break;
  case CHECK_V1_GO_START_LABEL:
    if (!check_v1_known_string(t, e->args[2], offset)) return false; /* fall through */
  case CHECK_V1_GO_START:
  case CHECK_V1_GO_START_LOCAL: stream->g = e->g = e->args[0]; break;
  case CHECK_V1_STW_START:
    if (!t->modern && t->version < 1021 && e->args[0] > 1) return check_v1_fail(t, "unknown stop-the-world kind");
    if ((t->flags & CHECK_V1_STRICT) && e->args[0] > 16) return check_v1_fail(t, "unknown stop-the-world reason");
    if (!t->modern) e->g = 0;
    break;
  case CHECK_V1_GC_START:
  case CHECK_V1_GC_DONE:
  case CHECK_V1_STW_DONE:
    if (!t->modern) e->g = 0;
    break;
  case CHECK_V1_GO_END:
  case CHECK_V1_GO_STOP:
  case CHECK_V1_GO_SCHED:
  case CHECK_V1_GO_PREEMPT:
  case CHECK_V1_GO_SYS_BLOCK: stream->g = 0; break;
  case CHECK_V1_GO_SYS_EXIT:
  case CHECK_V1_GO_WAITING:
  case CHECK_V1_GO_IN_SYSCALL: e->g = e->args[0]; break;
  case CHECK_V1_TASK_CREATE:
  case CHECK_V1_REGION:
    if (!check_v1_known_string(t, e->args[2], offset)) return false;
    break;
  case CHECK_V1_LOG:
    if (!check_v1_known_string(t, e->args[1], offset)) return false;
    break;
  case CHECK_V1_SAMPLE:
    e->time = (int64_t)e->args[0];
    e->proc = t->modern ? (int64_t)(int32_t)(uint32_t)e->args[1] : (int64_t)e->args[1];
    e->g = e->args[2];
    check_v1_append(t, &p->samples_first, &p->samples_last, t->count++);
    p->samples++;
    return true;
  default:
    if (check_v1_is_block(kind)) stream->g = 0;
    break;
  }
  check_v1_append(t, &stream->first, &stream->last, t->count++);
  return true;
}

static inline bool check_v1_parse_log_text(check_v1_trace *t, check_v1_parser *p) {
  check_v1_event *e = p ? &t->events[t->count - 1] : NULL;
  uint64_t size;
  bool readable = check_v1_number_at(t->data, t->size, &t->at, t->modern, &size) && size <= 1000000;
  if (!readable || size > t->size - t->at) {
    if (t->modern || (t->flags & CHECK_V1_STRICT))
      return check_v1_fail(t, "bad text of a log before offset %zu", t->at);
    if (readable) t->at = t->size; /* the old parser accepts it */
    return true;
  }
  if ((t->flags & CHECK_V1_STRICT) && size > 1024) return check_v1_fail(t, "text of more than 1,024 bytes");
  if (e) {
    e->text = (uint32_t)t->at;
    e->text_size = (uint32_t)size;
  }
  t->at += (size_t)size;
  return true;
}

static inline bool check_v1_one(check_v1_trace *t, check_v1_parser *p, uint64_t **args, size_t *capacity) {
  size_t offset = t->at, count = 0, wanted = 0, end = 0, frames_at = 0;
  unsigned kind = t->data[t->at] & 63, inlined = t->data[t->at] >> 6;
  t->at++;
  if (kind == 0 || kind >= CHECK_V1_KINDS || check_v1_formats[kind].since > t->version)
    return check_v1_fail(t, "unknown event %u at offset %zu", kind, offset);
  t->kinds[kind]++;
  if (kind == CHECK_V1_STRING) return check_v1_parse_string(t, p->in_batch || !t->modern);
  if (kind == CHECK_V1_BATCH && t->modern && inlined != 1) return check_v1_fail(t, "bad batch at offset %zu", offset);
  if (t->modern && kind != CHECK_V1_BATCH && !p->in_batch) return check_v1_fail(t, "event before the first batch");
  if (inlined < 3) {
    wanted = inlined + 1;
  } else {
    uint64_t length;
    if (!check_v1_number(t, &length)) return false;
    if (length > t->size - t->at || (t->modern && length > 2048))
      return check_v1_fail(t, "bad length of the event at offset %zu", offset);
    if ((t->flags & CHECK_V1_STRICT) && length > 2048) return check_v1_fail(t, "event of more than 2,048 bytes");
    end = t->at + (size_t)length;
  }
  while (end ? t->at < end : count < wanted) {
    if (count == *capacity) {
      *capacity = 2 * *capacity + 16;
      *args = check_v1_memory(*args, *capacity * sizeof **args);
    }
    if (count == 1) frames_at = t->at;
    if (!check_v1_number(t, &(*args)[count++])) return false;
  }
  if (end && t->at != end) return check_v1_fail(t, "wrong length of the event at offset %zu", offset);
  if (kind == CHECK_V1_STACK) return check_v1_parse_stack(t, *args, count, offset, frames_at);
  if (kind == CHECK_V1_LOG && t->modern && inlined < 3) return check_v1_fail(t, "bad log at offset %zu", offset);
  if (kind == CHECK_V1_BATCH) {
    int64_t proc;
    if (count != 2) return check_v1_fail(t, "bad batch at offset %zu", offset);
    proc = (int64_t)(*args)[0];
    if (t->modern && (proc < -1 || proc > INT32_MAX)) return check_v1_fail(t, "bad proc at offset %zu", offset);
    p->stream = check_v1_index(&t->procs, (uint64_t)proc);
    if (p->stream >= p->capacity) {
      p->capacity = 2 * p->capacity + 16;
      p->streams = check_v1_memory(p->streams, p->capacity * sizeof *p->streams);
    }
    if (p->stream == p->stream_count) { /* the batch begins a new stream */
      check_v1_stream *stream = &p->streams[p->stream_count++];
      memset(stream, 0, sizeof *stream);
      stream->proc = proc;
      stream->first = stream->last = CHECK_V1_NONE;
    }
    p->time = (*args)[1];
    p->in_batch = true;
    return true;
  }
  if (!check_v1_parse_event(t, p, kind, *args, count, offset)) return false;
  return kind == CHECK_V1_LOG ? check_v1_parse_log_text(t, p) : true;
}

static inline bool check_v1_parse(check_v1_trace *t, check_v1_parser *p) {
  uint64_t *args = NULL;
  size_t capacity = 0, batch = 0;
  bool good = true;
  uint32_t i;
  memset(p, 0, sizeof *p);
  p->samples_first = p->samples_last = CHECK_V1_NONE;
  /* The old parser puts events before the first batch on proc 0. */
  p->streams = check_v1_memory(NULL, sizeof *p->streams);
  p->capacity = 1;
  memset(p->streams, 0, sizeof *p->streams);
  p->streams[0].first = p->streams[0].last = CHECK_V1_NONE;
  if (!t->modern) p->stream = check_v1_index(&t->procs, 0), p->stream_count = 1;
  while (good && t->at < t->size) {
    if ((t->data[t->at] & 63) == CHECK_V1_BATCH) {
      if ((t->flags & CHECK_V1_STRICT) && batch && t->at - batch > 65536)
        good = check_v1_fail(t, "batch of more than 64 KiB");
      batch = t->at;
    } else if ((t->flags & CHECK_V1_STRICT) && !batch) {
      good = check_v1_fail(t, "event before the first batch");
    }
    good = good && check_v1_one(t, p, &args, &capacity);
  }
  free(args);
  if (!good) return false;
  if ((t->flags & CHECK_V1_STRICT) && batch && t->at - batch > 65536)
    return check_v1_fail(t, "batch of more than 64 KiB");
  if (!t->modern && !t->count) return check_v1_fail(t, "trace without events");
  if (!t->frequency) return check_v1_fail(t, "no frequency");
  for (i = p->samples_first; i != CHECK_V1_NONE; i = t->events[i].next)
    if (!check_v1_known_stack(t, t->events[i].stack, t->events[i].offset)) return false;
  return true;
}

/* -------------------------------------------------------------------------------------------- streams to order ---- */

/* Stable: equal times keep their order. */
static inline void check_v1_sort(const check_v1_trace *t, uint32_t *order, size_t count) {
  uint32_t *other = check_v1_memory(NULL, count * sizeof *other), *from = order, *to = other;
  size_t width, low;
  for (width = 1; width < count; width *= 2) {
    for (low = 0; low < count; low += 2 * width) {
      size_t middle = low + width < count ? low + width : count, high = middle + width < count ? middle + width : count;
      size_t a = low, b = middle, at = low;
      while (a < middle || b < high)
        to[at++] =
            b >= high || (a < middle && t->events[from[a]].time <= t->events[from[b]].time) ? from[a++] : from[b++];
    }
    {
      uint32_t *swap = from;
      from = to;
      to = swap;
    }
  }
  if (from != order) memcpy(order, from, count * sizeof *order);
  free(other);
}

enum { CHECK_V1_DEAD, CHECK_V1_RUNNABLE, CHECK_V1_RUNNING, CHECK_V1_WAITING };
#define CHECK_V1_UNORDERED UINT64_MAX
#define CHECK_V1_GARBAGE (UINT64_MAX - 1)
#define CHECK_V1_ANY UINT64_MAX /* sequence before: any; after: the same */
#define CHECK_V1_ONE_MORE (UINT64_MAX - 1)

typedef struct check_v1_step { /* the goroutine's state that an event requires, and the one after it */
  uint64_t g, from_seq, to_seq;
  int from, to;
} check_v1_step;

static inline check_v1_step check_v1_step_of(const check_v1_event *e) {
  check_v1_step s = {CHECK_V1_UNORDERED, 0, 0, 0, 0};
#define CHECK_V1_STEP(G, FROM_SEQ, FROM, TO_SEQ, TO) \
  s.g = (G), s.from_seq = (FROM_SEQ), s.from = (FROM), s.to_seq = (TO_SEQ), s.to = (TO)
  switch (e->kind) {
  case CHECK_V1_GO_CREATE: CHECK_V1_STEP(e->args[0], 0, CHECK_V1_DEAD, 1, CHECK_V1_RUNNABLE); break;
  case CHECK_V1_GO_WAITING:
  case CHECK_V1_GO_IN_SYSCALL: CHECK_V1_STEP(e->g, 1, CHECK_V1_RUNNABLE, 2, CHECK_V1_WAITING); break;
  case CHECK_V1_GO_START:
  case CHECK_V1_GO_START_LABEL:
    CHECK_V1_STEP(e->g, e->args[1], CHECK_V1_RUNNABLE, e->args[1] + 1, CHECK_V1_RUNNING);
    break;
  case CHECK_V1_GO_START_LOCAL:
    CHECK_V1_STEP(e->g, CHECK_V1_ANY, CHECK_V1_RUNNABLE, CHECK_V1_ONE_MORE, CHECK_V1_RUNNING);
    break;
  case CHECK_V1_GO_SCHED:
  case CHECK_V1_GO_PREEMPT: CHECK_V1_STEP(e->g, CHECK_V1_ANY, CHECK_V1_RUNNING, CHECK_V1_ANY, CHECK_V1_RUNNABLE); break;
  case CHECK_V1_GO_UNBLOCK:
  case CHECK_V1_GO_SYS_EXIT:
    CHECK_V1_STEP(e->args[0], e->args[1], CHECK_V1_WAITING, e->args[1] + 1, CHECK_V1_RUNNABLE);
    break;
  case CHECK_V1_GO_UNBLOCK_LOCAL:
  case CHECK_V1_GO_SYS_EXIT_LOCAL:
    CHECK_V1_STEP(e->args[0], CHECK_V1_ANY, CHECK_V1_WAITING, CHECK_V1_ONE_MORE, CHECK_V1_RUNNABLE);
    break;
  case CHECK_V1_GC_START:
    CHECK_V1_STEP(CHECK_V1_GARBAGE, e->args[0], CHECK_V1_DEAD, e->args[0] + 1, CHECK_V1_DEAD);
    break;
  default:
    if (check_v1_is_block(e->kind) || e->kind == CHECK_V1_GO_SYS_BLOCK)
      CHECK_V1_STEP(e->g, CHECK_V1_ANY, CHECK_V1_RUNNING, CHECK_V1_ANY, CHECK_V1_WAITING);
    break;
  }
#undef CHECK_V1_STEP
  return s;
}

typedef struct check_v1_g {
  uint64_t seq;
  int status;
  /* for the rules: */
  bool exists, assist, futile;
  uint8_t why; /* kind of the event that made it blocked or runnable; 0: none */
  int state;
  uint32_t wakeup_first, wakeup_last, region;
  int64_t sys_block;
} check_v1_g;

static inline bool check_v1_ready(const check_v1_g *gs, const check_v1_step *s, uint32_t g) {
  if (s->g == CHECK_V1_UNORDERED) return true;
  return (s->from_seq == CHECK_V1_ANY || s->from_seq == gs[g].seq) && gs[g].status == s->from;
}

static inline bool check_v1_merge(check_v1_trace *t, check_v1_parser *p, check_v1_g *gs, uint64_t seed) {
  size_t streams = t->procs.count + 1, i;
  uint32_t done, *samples;
  check_v1_stream *all = check_v1_memory(NULL, streams * sizeof *all);
  bool good = true;
  /* Samples form a separate stream, by time. */
  samples = check_v1_memory(NULL, p->samples * sizeof *samples);
  for (i = 0, done = p->samples_first; done != CHECK_V1_NONE; done = t->events[done].next) samples[i++] = done;
  check_v1_sort(t, samples, p->samples);
  p->samples_first = p->samples_last = CHECK_V1_NONE;
  for (i = 0; i < p->samples; i++) check_v1_append(t, &p->samples_first, &p->samples_last, samples[i]);
  free(samples);
  memcpy(all, p->streams, (streams - 1) * sizeof *all);
  memset(&all[streams - 1], 0, sizeof *all);
  all[streams - 1].first = p->samples_first;
  for (i = 0; i < streams; i++) all[i].selected = false;

  for (done = 0; good && done < t->count; done++) {
    size_t best = streams;
    check_v1_step s;
    check_v1_event *e;
    for (i = 0; i < streams; i++) {
      if (all[i].first == CHECK_V1_NONE) continue;
      e = &t->events[all[i].first];
      if (!all[i].selected) {
        s = check_v1_step_of(e);
        if (!check_v1_ready(gs, &s, e->subject)) continue;
        all[i].selected = true;
      }
      if (best == streams || e->time < t->events[all[best].first].time) {
        best = i;
      } else if (e->time == t->events[all[best].first].time) {
        t->ties = true; /* without a seed, the first one stays */
        if (seed && check_v1_hash(seed + done * 131 + i) < check_v1_hash(seed + done * 131 + best)) best = i;
      }
    }
    if (best == streams) {
      for (i = 0; i < streams && all[i].first == CHECK_V1_NONE; i++) continue;
      e = &t->events[all[i].first];
      good = check_v1_fail(t, "no consistent ordering: event %u at offset %u (g %llu) is not ready", e->kind, e->offset,
                           (unsigned long long)e->g);
      break;
    }
    e = &t->events[all[best].first];
    s = check_v1_step_of(e);
    if (!check_v1_ready(gs, &s, e->subject)) {
      good =
          check_v1_fail(t, "two streams change goroutine %llu at once, offset %u", (unsigned long long)s.g, e->offset);
      break;
    }
    if (s.g != CHECK_V1_UNORDERED) {
      check_v1_g *g = &gs[e->subject];
      if (s.to_seq == CHECK_V1_ONE_MORE) g->seq++;
      else if (s.to_seq != CHECK_V1_ANY) g->seq = s.to_seq;
      g->status = s.to;
    }
    t->order[done] = all[best].first;
    all[best].first = e->next;
    all[best].selected = false;
    if (done && e->time < t->events[t->order[done - 1]].time)
      good = check_v1_fail(t, "time stamps out of order at offset %u", e->offset);
    if (e->type == CHECK_V1_GO_START_LOCAL) e->type = CHECK_V1_GO_START;
    if (e->type == CHECK_V1_GO_UNBLOCK_LOCAL) e->type = CHECK_V1_GO_UNBLOCK;
    if (e->type == CHECK_V1_GO_SYS_EXIT_LOCAL) e->type = CHECK_V1_GO_SYS_EXIT;
  }
  free(all);
  return good;
}

/* The end of a system call has its real time as an argument. */
static inline bool check_v1_real_times(check_v1_trace *t, check_v1_g *gs) {
  uint32_t i;
  for (i = 0; i < t->count; i++) {
    check_v1_event *e = &t->events[t->order[i]];
    check_v1_g *g = &gs[check_v1_index(&t->gs, e->g)];
    if (e->type == CHECK_V1_GO_SYS_BLOCK || e->type == CHECK_V1_GO_IN_SYSCALL) g->sys_block = e->time;
    if (e->type == CHECK_V1_GO_SYS_EXIT && e->args[2]) {
      if (!g->sys_block) return check_v1_fail(t, "stray end of a system call at offset %u", e->offset);
      if ((int64_t)e->args[2] < g->sys_block) return check_v1_fail(t, "time stamps out of order: system call");
      e->time = (int64_t)e->args[2];
    }
  }
  check_v1_sort(t, t->order, t->count);
  return true;
}

/* ----------------------------------------------------------------------------------------- rules in that order ---- */

static inline void check_v1_remove_futile(check_v1_trace *t, check_v1_g *gs) {
  uint32_t i, kept = 0, at;
  for (i = 0; i < t->count; i++) {
    uint32_t n = t->order[i];
    check_v1_event *e = &t->events[n];
    check_v1_g *g = &gs[check_v1_index(&t->gs, e->g)];
    switch (e->type) {
    case CHECK_V1_GO_UNBLOCK:
      g = &gs[check_v1_index(&t->gs, e->args[0])];
      g->wakeup_first = CHECK_V1_NONE;
      check_v1_append(t, &g->wakeup_first, &g->wakeup_last, n);
      break;
    case CHECK_V1_FUTILE_WAKEUP: g->futile = true; /* fall through */
    case CHECK_V1_GO_START:
    case CHECK_V1_GO_PREEMPT: check_v1_append(t, &g->wakeup_first, &g->wakeup_last, n); break;
    case CHECK_V1_GO_BLOCK:
    case CHECK_V1_GO_BLOCK_SEND:
    case CHECK_V1_GO_BLOCK_SEND + 1:
    case CHECK_V1_GO_BLOCK_SEND + 2:
    case CHECK_V1_GO_BLOCK_SEND + 3:
    case CHECK_V1_GO_BLOCK_COND:
      if (g->futile) {
        e->gone = true;
        for (at = g->wakeup_first; at != CHECK_V1_NONE; at = t->events[at].next) t->events[at].gone = true;
      }
      g->futile = false;
      g->wakeup_first = CHECK_V1_NONE;
      break;
    default: break;
    }
  }
  for (i = 0; i < t->count; i++)
    if (!t->events[t->order[i]].gone) t->order[kept++] = t->order[i];
  t->count = kept;
}

typedef struct check_v1_p {
  uint64_t g;
  bool running, sweep, stw;
} check_v1_p;

static inline bool check_v1_same_name(const check_v1_trace *t, uint64_t a, uint64_t b) {
  size_t a_size, b_size;
  const char *a_text = check_v1_string(t, a, &a_size), *b_text = check_v1_string(t, b, &b_size);
  return t->modern ? a == b : a_size == b_size && memcmp(a_text, b_text, a_size) == 0;
}

static inline bool check_v1_rules(check_v1_trace *t, check_v1_g *gs) {
  const int64_t timer_p = 1000001, syscall_p = 1000003;
  check_v1_map places = {NULL, 0, 0}, tasks = {NULL, 0, 0};
  check_v1_p *ps = check_v1_memory(NULL, (t->count + 1) * sizeof *ps);
  bool gc = false, stw = false;
  uint32_t i;
  const char *wrong = NULL;
  check_v1_event *e = NULL;
  gs[check_v1_index(&t->gs, 0)].state = CHECK_V1_RUNNING;
  gs[check_v1_index(&t->gs, 0)].exists = true;
  memset(ps, 0, (t->count + 1) * sizeof *ps);
  for (i = 0; i < t->count && !wrong; i++) {
    check_v1_g *g;
    check_v1_p *p;
    int64_t proc;
    bool touches = true; /* the goroutine is known from here on, by the new parser */
    bool runs;
    e = &t->events[t->order[i]];
    proc = e->proc;
    if (e->type == CHECK_V1_GO_UNBLOCK && check_v1_get(&t->timers, e->g)) proc = timer_p;
    if (e->type == CHECK_V1_GO_SYS_EXIT) proc = syscall_p;
    g = &gs[check_v1_index(&t->gs, e->g)];
    p = &ps[check_v1_index(&places, (uint64_t)proc)];
    runs = g->state == CHECK_V1_RUNNING && p->g == e->g;
    switch (e->type) {
    case CHECK_V1_PROC_START:
      if (p->running) wrong = "start of a proc that runs";
      p->running = true;
      touches = false;
      break;
    case CHECK_V1_PROC_STOP:
      if (!p->running) wrong = "stop of a proc that does not run";
      else if (p->g) wrong = "stop of a proc that runs a goroutine";
      p->running = false;
      touches = false;
      break;
    case CHECK_V1_GC_START:
      if (gc) wrong = "collection within a collection";
      gc = true;
      touches = false;
      break;
    case CHECK_V1_GC_DONE:
      if (!gc) wrong = "end of a collection without a start";
      gc = false;
      touches = false;
      break;
    case CHECK_V1_STW_START:
    case CHECK_V1_STW_DONE: {
      bool *now = t->version < 1010 ? &p->stw : &stw;
      if (*now == (e->type == CHECK_V1_STW_START)) wrong = "stop-the-world out of order";
      *now = !*now;
      touches = false;
      break;
    }
    case CHECK_V1_SWEEP_START:
    case CHECK_V1_SWEEP_DONE:
      if (p->sweep == (e->type == CHECK_V1_SWEEP_START)) wrong = "sweep out of order";
      p->sweep = !p->sweep;
      touches = false;
      break;
    case CHECK_V1_ASSIST_START:
      if (g->assist) wrong = "mark assist within a mark assist";
      g->assist = true;
      break;
    case CHECK_V1_ASSIST_DONE: g->assist = false; break;
    case CHECK_V1_GO_WAITING:
    case CHECK_V1_GO_IN_SYSCALL:
      if (g->state != CHECK_V1_RUNNABLE) wrong = "goroutine was not runnable before it blocked";
      g->state = CHECK_V1_WAITING;
      break;
    case CHECK_V1_GO_CREATE: {
      check_v1_g *fresh = &gs[check_v1_index(&t->gs, e->args[0])];
      if (!runs) wrong = "creator is not running";
      else if (t->modern && e->args[1] && !check_v1_get(&t->stacks, (uint32_t)e->args[1]))
        wrong = "unknown stack of a created goroutine";
      else if (fresh->exists) wrong = "created goroutine already exists";
      fresh->exists = true;
      fresh->assist = false;
      fresh->state = CHECK_V1_RUNNABLE;
      touches = false;
      break;
    }
    case CHECK_V1_GO_START:
    case CHECK_V1_GO_START_LABEL:
      if (g->state != CHECK_V1_RUNNABLE) wrong = "start of a goroutine that is not runnable";
      else if (p->g) wrong = "start on a proc that runs a goroutine";
      g->state = CHECK_V1_RUNNING;
      p->g = e->g;
      break;
    case CHECK_V1_GO_UNBLOCK: {
      check_v1_g *other = &gs[check_v1_index(&t->gs, e->args[0])];
      if (g->state != CHECK_V1_RUNNING) wrong = "waker is not running";
      else if (proc != timer_p && p->g != e->g) wrong = "waker is not running on this proc";
      else if (other->state != CHECK_V1_WAITING) wrong = "unblock of a goroutine that is not blocked";
      other->state = CHECK_V1_RUNNABLE;
      touches = false;
      break;
    }
    case CHECK_V1_GO_SYS_EXIT:
      if (g->state != CHECK_V1_WAITING) wrong = "end of a system call of a goroutine that is not blocked";
      g->state = CHECK_V1_RUNNABLE;
      break;
    case CHECK_V1_TASK_CREATE:
      if (check_v1_get(&tasks, e->args[0]) && *check_v1_get(&tasks, e->args[0])) wrong = "task twice";
      check_v1_put(&tasks, e->args[0], 1);
      touches = false;
      break;
    case CHECK_V1_TASK_END:
      check_v1_put(&tasks, e->args[0], 0);
      touches = false;
      break;
    case CHECK_V1_REGION:
      touches = false;
      if (e->args[1] == 0) {
        e->next = g->region;
        g->region = t->order[i];
      } else if (e->args[1] != 1) {
        wrong = "neither begin nor end of a region";
      } else if (g->region != CHECK_V1_NONE) {
        const check_v1_event *begin = &t->events[g->region];
        if (begin->args[0] != e->args[0] || !check_v1_same_name(t, begin->args[2], e->args[2]))
          wrong = "end of a region that is not the innermost";
        g->region = begin->next;
      }
      break;
    case CHECK_V1_FUTILE_WAKEUP:
      if (t->modern) wrong = "futile wake-up";
      touches = false;
      break;
    default:
      if (e->type == CHECK_V1_GO_SYS_CALL || e->type == CHECK_V1_GO_SYS_BLOCK || e->type == CHECK_V1_GO_END ||
          e->type == CHECK_V1_GO_STOP || e->type == CHECK_V1_GO_SCHED || e->type == CHECK_V1_GO_PREEMPT ||
          check_v1_is_block(e->type)) {
        if (!runs) wrong = "goroutine is not running on this proc";
        else if (!e->g) wrong = "event without a goroutine";
        if (e->type == CHECK_V1_GO_SYS_CALL) break;
        p->g = 0;
        if (e->type == CHECK_V1_GO_END) g->region = CHECK_V1_NONE;
        g->state = e->type == CHECK_V1_GO_END || e->type == CHECK_V1_GO_STOP        ? CHECK_V1_DEAD
                   : e->type == CHECK_V1_GO_SCHED || e->type == CHECK_V1_GO_PREEMPT ? CHECK_V1_RUNNABLE
                                                                                    : CHECK_V1_WAITING;
      } else {
        touches = false;
      }
      break;
    }
    if (touches || !t->modern) g->exists = true;
  }
  free(ps);
  free(places.places);
  free(tasks.places);
  if (!wrong) return true;
  return check_v1_fail(t, "%s: event %u at offset %u, g %llu, p %lld", wrong, e->type, e->offset,
                       (unsigned long long)e->g, (long long)e->proc);
}

/* ------------------------------------------------------------------------------------------------------- whole ---- */

static inline bool check_v1_by(check_v1_trace *t, const void *data, size_t size, unsigned flags, bool modern,
                               uint64_t seed) {
  check_v1_parser p;
  check_v1_g *gs = NULL;
  uint32_t i;
  bool good;
  memset(t, 0, sizeof *t);
  memset(&p, 0, sizeof p);
  t->data = data;
  t->size = size;
  t->flags = flags;
  t->modern = modern;
  good = check_v1_header(t) && check_v1_parse(t, &p);
  if (good) {
    /* All goroutines that are mentioned get an index. */
    check_v1_index(&t->gs, 0);
    for (i = 0; i < t->count; i++) {
      check_v1_event *e = &t->events[i];
      check_v1_step s = check_v1_step_of(e);
      check_v1_index(&t->gs, e->g);
      check_v1_index(&t->gs, e->args[0]);
      e->subject = check_v1_index(&t->gs, s.g);
    }
    t->order = check_v1_memory(NULL, t->count * sizeof *t->order);
    gs = check_v1_memory(NULL, t->gs.count * sizeof *gs);
    memset(gs, 0, t->gs.count * sizeof *gs);
    for (i = 0; i < t->gs.count; i++) gs[i].wakeup_first = gs[i].region = CHECK_V1_NONE;
    good = check_v1_merge(t, &p, gs, seed) && check_v1_real_times(t, gs);
    if (good && !modern) check_v1_remove_futile(t, gs);
    good = good && check_v1_rules(t, gs);
  }
  free(gs);
  free(p.streams);
  return good;
}

/* Whether a trace opens. `t` is filled in as far as possible, and must be freed in any case. */
static inline bool check_v1(check_v1_trace *t, const void *data, size_t size, unsigned flags, uint64_t seed) {
  bool good, ties = false;
  memset(t, 0, sizeof *t);
  t->data = data;
  t->size = size;
  good = check_v1_header(t);
  if (good && (flags & CHECK_V1_NEW) && t->version < 1011)
    return check_v1_fail(t, "the new parser does not support this format");
  if (!good) return false;
  if (t->version >= 1011 && !(flags & (CHECK_V1_OLD | CHECK_V1_FUTILE))) {
    good = check_v1_by(t, data, size, flags, true, seed);
    if (!good || (flags & CHECK_V1_NEW)) return good;
    ties = t->ties;
    check_v1_clear(t);
  }
  good = check_v1_by(t, data, size, flags, false, seed);
  t->ties |= ties;
  return good;
}

#endif
