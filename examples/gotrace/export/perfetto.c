/* perfetto.c - gotrace export --perfetto: Perfetto's protobuf, for ui.perfetto.dev and trace_processor
 *
 * A file is a sequence of packets. A packet describes a track, or holds an event of a track: the start or end of a
 * slice, an instant, a counter's value. Names and stacks are interned: written once, before the first event that uses
 * them, and then referred to by ids, which are the pool's. Arrows are flows: an instant and the start of a slice with
 * the same number. */

#include "export.h"
#include "../base/protobuf.h"

#include <stdlib.h>

/* Field numbers published by Perfetto, by message. */
enum { TRACE_PACKET = 1 };
enum {
  PACKET_CLOCKS = 6,
  PACKET_TIMESTAMP = 8,
  PACKET_SEQUENCE = 10,
  PACKET_EVENT = 11,
  PACKET_INTERNED = 12,
  PACKET_FLAGS = 13,
  PACKET_CLOCK = 58,
  PACKET_DEFAULTS = 59,
  PACKET_DESCRIPTOR = 60
};
enum { DEFAULTS_CLOCK = 58 };
enum { CLOCKS_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_INCREMENTAL = 3, CLOCK_OF_BOOT = 6, CLOCK_OF_DELTAS = 64 };
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum {
  DESCRIPTOR_UUID = 1,
  DESCRIPTOR_NAME = 2,
  DESCRIPTOR_PROCESS = 3,
  DESCRIPTOR_THREAD = 4,
  DESCRIPTOR_PARENT = 5,
  DESCRIPTOR_COUNTER = 8,
  DESCRIPTOR_CHILD_ORDERING = 11,
  DESCRIPTOR_RANK = 12
};
enum { ORDERING_EXPLICIT = 3 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, COUNTER_INCREMENTAL = 5, UNIT_UNKNOWN = 0, UNIT_COUNT = 2, UNIT_BYTES = 3 };
enum {
  EVENT_CATEGORY = 3,
  EVENT_ANNOTATION = 4,
  EVENT_TYPE = 9,
  EVENT_NAME = 10,
  EVENT_TRACK = 11,
  EVENT_COUNTER = 30,
  EVENT_REAL_COUNTER = 44,
  EVENT_FLOW = 47,
  EVENT_FLOW_END = 48,
  EVENT_CALLSTACK = 56
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { ANNOTATION_NAME = 1, ANNOTATION_UINT = 3, ANNOTATION_TEXT = 17 };
enum {
  INTERNED_CATEGORY = 1,
  INTERNED_EVENT_NAME = 2,
  INTERNED_ANNOTATION_NAME = 3,
  INTERNED_FUNCTION = 5,
  INTERNED_FRAME = 6,
  INTERNED_CALLSTACK = 7,
  INTERNED_PATH = 18,
  INTERNED_ANNOTATION_TEXT = 29
};
enum { INTERNED_ID = 1, INTERNED_TEXT = 2 };
enum { FRAME_FUNCTION = 2, FRAME_PATH = 5, FRAME_LINE = 6, CALLSTACK_FRAMES = 2 };

/* Tracks that hold others, and counters. The key of any other track consists of its kind and id; of an id that would
 * not fit, its hash, so that two ids do not share a track. In the file tracks have numbers from 1, in the order of
 * their first use, since each event has one. */
enum { GROUP_PROCESS = 1, GROUP_GOROUTINES = 2, GROUP_TASKS = 3, GROUP_REGIONS = 4, GROUP_COUNTER = 5 };
static uint64_t group(unsigned number) { return (uint64_t)number << 4 | TRACK_KINDS; }
static uint64_t key_of(track where) {
  return (where.id >> 60 ? hash_of(&where.id, sizeof where.id) : where.id) << 4 | where.kind;
}

/* Interned texts and stacks are numbered from 1 as they come, whatever else the pool has. */
typedef struct interned {
  uint32_t number; /* 0: none yet */
  uint32_t uses;   /* of a text, one bit each: 1 << INTERNED_... */
} interned;

static struct {
  bytes packet, part, piece, interned;
  side_array texts, stacks; /* (interned), by id in the pool */
  uint32_t text_count, stack_count;
  map tracks, frames;
  uint64_t time;             /* of the last packet on the clock of differences */
  int64_t counted[COUNTERS]; /* the values written last */
} perfetto;

static uint64_t uuid_of(uint64_t key) { return map_index(&perfetto.tracks, key) + 1; }

/* Whether the track is used for the first time. */
static bool is_new(uint64_t key) {
  if (map_get(&perfetto.tracks, key)) return false;
  map_put(&perfetto.tracks, key, &perfetto);
  return true;
}

/* Writes the packet. The first one declares that nothing is interned yet. */
static void put_packet(exporter *x) {
  put_number_field(&perfetto.packet, PACKET_SEQUENCE, 1);
  put_number_field(&perfetto.packet, PACKET_FLAGS, x->any ? FLAG_NEEDS_STATE : FLAG_STATE_CLEARED | FLAG_NEEDS_STATE);
  x->any = true;
  put_message_field(&x->out->block, TRACE_PACKET, &perfetto.packet);
  export_check(x);
}

/* Adds the time of a packet: since the last one, which compresses best; where it is earlier, since the trace began. */
static void put_time(const exporter *x, int64_t time) {
  uint64_t now = (uint64_t)between(x->c.base, time);
  if (now < perfetto.time) {
    put_number_field(&perfetto.packet, PACKET_TIMESTAMP, now);
    put_number_field(&perfetto.packet, PACKET_CLOCK, CLOCK_OF_BOOT);
    return;
  }
  put_number_field(&perfetto.packet, PACKET_TIMESTAMP, now - perfetto.time);
  perfetto.time = now;
}

static void put_clock(unsigned id, bool incremental) {
  put_number_field(&perfetto.piece, CLOCK_ID, id);
  put_number_field(&perfetto.piece, CLOCK_TIME, 0);
  if (incremental) put_number_field(&perfetto.piece, CLOCK_INCREMENTAL, 1);
  put_message_field(&perfetto.part, CLOCKS_CLOCK, &perfetto.piece);
}

/* Declares the clock of differences, which all packets have that name no other. */
static void put_clocks(exporter *x) {
  put_number_field(&perfetto.part, DEFAULTS_CLOCK, CLOCK_OF_DELTAS);
  put_message_field(&perfetto.packet, PACKET_DEFAULTS, &perfetto.part);
  put_clock(CLOCK_OF_BOOT, false);
  put_clock(CLOCK_OF_DELTAS, true);
  put_message_field(&perfetto.packet, PACKET_CLOCKS, &perfetto.part);
  put_packet(x);
}

/* ------------------------------------------------------------------------------------------------------ tracks ---- */

static void put_text_field(bytes *message, unsigned field, const char *text, size_t size) {
  put_string_field(message, field, text, prefix_size(text, size, 1000));
}

/* Describes the track of a key. Unless it is a plain one, `piece` has its descriptor and `field` that descriptor's
 * field. `parent`: the key of the track that holds it; 0: none. */
static void put_descriptor(exporter *x, uint64_t key, uint64_t parent, const char *name, size_t size, unsigned field,
                           uint64_t rank) {
  bytes *d = &perfetto.part;
  put_number_field(d, DESCRIPTOR_UUID, uuid_of(key));
  if (parent) put_number_field(d, DESCRIPTOR_PARENT, uuid_of(parent));
  if (size) put_text_field(d, DESCRIPTOR_NAME, name, size);
  if (field) put_message_field(d, field, &perfetto.piece);
  if ((key & 15) == TRACK_KINDS && !field) put_number_field(d, DESCRIPTOR_CHILD_ORDERING, ORDERING_EXPLICIT);
  if (rank != NOBODY) put_number_field(d, DESCRIPTOR_RANK, rank & 0x7fffffff);
  put_message_field(&perfetto.packet, PACKET_DESCRIPTOR, d);
  put_packet(x);
}

/* A thread of the only process: a proc, or another row. */
static void put_thread(exporter *x, track where, const char *name, size_t size, uint64_t number) {
  put_number_field(&perfetto.piece, THREAD_PID, 1);
  put_number_field(&perfetto.piece, THREAD_TID, number);
  put_text_field(&perfetto.piece, THREAD_NAME, name, size);
  put_descriptor(x, key_of(where), 0, "", 0, DESCRIPTOR_THREAD, NOBODY);
}

/* Describes a track before its first event; returns its number. */
static uint64_t use_track(exporter *x, track where) {
  uint64_t key = key_of(where);
  pool_text label = pool_text_of(where.name);
  char name[64];
  if (!is_new(key)) return uuid_of(key);
  switch (where.kind) {
  case TRACK_PROC:
    snprintf(name, sizeof name, "Proc %llu", (ull)where.id);
    put_thread(x, where, name, strlen(name), (where.id & 0x3fffffff) + 10);
    break;
  case TRACK_SCHEDULER: put_thread(x, where, "scheduler", 9, 4); break;
  case TRACK_NO_PROC: put_thread(x, where, "no proc", 7, 5); break;
  case TRACK_GC: put_thread(x, where, "GC", 2, 2); break;
  case TRACK_STW: put_thread(x, where, "stopped world", 13, 3); break;
  case TRACK_TASK:
    snprintf(name, sizeof name, "task %llu", (ull)where.id);
    put_descriptor(x, key, group(GROUP_TASKS), name, strlen(name), 0, NOBODY);
    break;
  case TRACK_GO: put_descriptor(x, key, group(GROUP_GOROUTINES), label.data, label.size, 0, where.id); break;
  default: put_descriptor(x, key, group(GROUP_REGIONS), label.data, label.size, 0, NOBODY); break;
  }
  return uuid_of(key);
}

/* --------------------------------------------------------------------------------------------------- interning ---- */

/* The id of a text for a use, interned if necessary; 0: the text is empty. */
static uint64_t use_text_as(unsigned use, uint32_t text) {
  interned *told = SIDE(interned, &perfetto.texts, text);
  pool_text t = pool_text_of(text);
  if (text && !(told->uses >> use & 1)) {
    told->uses |= 1u << use;
    if (!told->number) told->number = ++perfetto.text_count;
    put_number_field(&perfetto.piece, INTERNED_ID, told->number);
    put_string_field(&perfetto.piece, INTERNED_TEXT, t.data, t.size);
    put_message_field(&perfetto.interned, use, &perfetto.piece);
  }
  return told->number;
}

static uint64_t use_frame(const pool_frame *f) {
  const uint64_t parts[3] = {f->function, f->file, f->line};
  uint64_t count = perfetto.frames.count, id = map_index(&perfetto.frames, hash_of(parts, sizeof parts)) + 1;
  uint64_t name, path;
  if (id <= count) return id;
  name = use_text_as(INTERNED_FUNCTION, f->function);
  path = use_text_as(INTERNED_PATH, f->file);
  put_number_field(&perfetto.piece, INTERNED_ID, id);
  if (name) put_number_field(&perfetto.piece, FRAME_FUNCTION, name);
  if (path) put_number_field(&perfetto.piece, FRAME_PATH, path);
  if (f->line) put_number_field(&perfetto.piece, FRAME_LINE, f->line & 0xffffffff);
  put_message_field(&perfetto.interned, INTERNED_FRAME, &perfetto.piece);
  return id;
}

static uint64_t use_callstack(uint32_t id) {
  static bytes frames;
  pool_stack stack = pool_stack_of(id);
  interned *told = SIDE(interned, &perfetto.stacks, id);
  uint32_t i;
  if (!stack.count) return 0;
  if (told->number) return told->number;
  told->number = ++perfetto.stack_count;
  for (i = stack.count; i--;)
    put_number_field(&frames, CALLSTACK_FRAMES, use_frame(&stack.frames[i])); /* outermost first */
  put_number_field(&perfetto.piece, INTERNED_ID, told->number);
  put_data(&perfetto.piece, frames.data, frames.size);
  frames.size = 0;
  put_message_field(&perfetto.interned, INTERNED_CALLSTACK, &perfetto.piece);
  return told->number;
}

/* ------------------------------------------------------------------------------------------------------ events ---- */

static void put_annotation(const char *name, uint64_t number, uint32_t text) {
  uint64_t id = use_text_as(INTERNED_ANNOTATION_NAME, pool_put_string(name));
  uint64_t told = use_text_as(INTERNED_ANNOTATION_TEXT, text);
  put_number_field(&perfetto.piece, ANNOTATION_NAME, id);
  if (text) put_number_field(&perfetto.piece, ANNOTATION_TEXT, told);
  else put_number_field(&perfetto.piece, ANNOTATION_UINT, number);
  put_message_field(&perfetto.part, EVENT_ANNOTATION, &perfetto.piece);
}

static void perfetto_show(exporter *x, track where, int64_t time, slice_phase p, const mark *m) {
  static const unsigned types[] = {TYPE_BEGIN, TYPE_END, TYPE_INSTANT};
  bytes *e = &perfetto.part;
  uint64_t uuid = use_track(x, where), id;
  put_number_field(e, EVENT_TYPE, types[p]);
  put_number_field(e, EVENT_TRACK, uuid);
  if (p != PHASE_END) {
    put_number_field(e, EVENT_CATEGORY, use_text_as(INTERNED_CATEGORY, pool_put_string(m->category)));
    if ((id = use_text_as(INTERNED_EVENT_NAME, m->name))) put_number_field(e, EVENT_NAME, id);
    if ((id = use_callstack(m->stack))) put_number_field(e, EVENT_CALLSTACK, id);
    if (m->arrow) put_fixed_field(e, p == PHASE_BEGIN ? EVENT_FLOW_END : EVENT_FLOW, m->arrow);
    if (m->g && !(where.kind == TRACK_PROC && p == PHASE_BEGIN)) /* that has it in its name */
      put_annotation("goroutine", m->g, 0);
    if (m->task) put_annotation("task", m->task, 0);
  }
  if (m->detail) put_annotation(detail_name(where, p), 0, m->detail);
  put_time(x, time);
  if (perfetto.interned.size) put_message_field(&perfetto.packet, PACKET_INTERNED, &perfetto.interned);
  put_message_field(&perfetto.packet, PACKET_EVENT, e);
  put_packet(x);
}

/* Begins a counter's value, to which the caller adds the number. `number`: of the counter. */
static void open_count(exporter *x, unsigned number, const char *name, size_t size, unsigned unit) {
  bool whole = number < COUNTERS;
  uint64_t key = group(GROUP_COUNTER + number);
  if (is_new(key)) {
    put_number_field(&perfetto.piece, COUNTER_UNIT, unit);
    if (whole) put_number_field(&perfetto.piece, COUNTER_INCREMENTAL, 1);
    put_descriptor(x, key, group(GROUP_PROCESS), name, size, DESCRIPTOR_COUNTER, NOBODY);
  }
  put_number_field(&perfetto.part, EVENT_TYPE, TYPE_COUNTER);
  put_number_field(&perfetto.part, EVENT_TRACK, uuid_of(key));
}

static void close_count(exporter *x, int64_t time) {
  put_time(x, time);
  put_message_field(&perfetto.packet, PACKET_EVENT, &perfetto.part);
  put_packet(x);
}

static void perfetto_count(exporter *x, unsigned counter, int64_t time, int64_t value) {
  char text[COUNTER_NAME];
  const char *name = counter_name(x, counter, text);
  open_count(x, counter, name, strlen(name), counter <= COUNTER_GOAL ? UNIT_BYTES : UNIT_COUNT);
  put_number_field(&perfetto.part, EVENT_COUNTER, (uint64_t)value - (uint64_t)perfetto.counted[counter]);
  perfetto.counted[counter] = value;
  close_count(x, time);
}

static void perfetto_user_count(exporter *x, uint32_t name, int64_t time, double value) {
  pool_text text = pool_text_of(name);
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  open_count(x, COUNTERS + name, text.data, text.size, UNIT_UNKNOWN);
  put_fixed_field(&perfetto.part, EVENT_REAL_COUNTER, bits);
  close_count(x, time);
}

static void perfetto_finish(exporter *x) {
  (void)x;
  free(perfetto.packet.data);
  free(perfetto.part.data);
  free(perfetto.piece.data);
  free(perfetto.interned.data);
  map_free(&perfetto.tracks);
  map_free(&perfetto.frames);
}

void perfetto_open(exporter *x) {
  static const char *const groups[] = {"goroutines", "tasks", "regions"};
  unsigned i;
  memset(&perfetto, 0, sizeof perfetto);
  x->goroutines = true;
  x->show = perfetto_show;
  x->count = perfetto_count;
  x->user_count = perfetto_user_count;
  x->finish = perfetto_finish;
  put_clocks(x);
  put_number_field(&perfetto.piece, PROCESS_PID, 1);
  put_text_field(&perfetto.piece, PROCESS_NAME, x->file, strlen(x->file));
  put_descriptor(x, group(GROUP_PROCESS), 0, "", 0, DESCRIPTOR_PROCESS, NOBODY);
  for (i = 0; i < COUNT(groups); i++)
    put_descriptor(x, group(GROUP_GOROUTINES + i), group(GROUP_PROCESS), groups[i], strlen(groups[i]), 0, i);
}
