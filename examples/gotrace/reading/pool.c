/* pool.c - texts and stacks, each stored once and never freed: see pool.h
 *
 * Both are byte sequences in a hash table. In front of each table, a cache of the decoder's recent ids saves most
 * look-ups. */

#include "pool.h"

typedef struct entry {
  const void *data;
  uint32_t size; /* in bytes */
  uint32_t same; /* id of an older entry with the same hash; 0: none */
} entry;

typedef struct recalled {
  uint64_t id, epoch; /* of the decoder; 0, 0: empty */
  uint32_t known;     /* id in the pool; UNKNOWN: not looked up yet */
} recalled;
#define UNKNOWN UINT32_MAX

#define RECALLED 4096
typedef struct table {
  entry *entries; /* by id - 1 */
  uint32_t count, capacity;
  map by_hash; /* to the id of the newest entry with this hash */
  recalled memory[RECALLED];
} table;

static table texts, stacks;
static uint64_t epoch; /* how often the decoder's ids have changed meaning */

static uint32_t put(table *t, const void *data, size_t size) {
  uint64_t hash;
  uint32_t id, newest;
  void *copy;
  if (!size) return 0;
  if (size > UINT32_MAX) size = UINT32_MAX;
  hash = hash_of(data, size);
  newest = (uint32_t)(uintptr_t)map_get(&t->by_hash, hash);
  for (id = newest; id; id = t->entries[id - 1].same)
    if (t->entries[id - 1].size == size && memcmp(t->entries[id - 1].data, data, size) == 0) return id;
  GROW(t->entries, t->count, t->capacity);
  copy = keep((size_t)size + 1); /* zeroed */
  memcpy(copy, data, size);
  t->entries[t->count++] = (entry){copy, (uint32_t)size, newest};
  map_put(&t->by_hash, hash, (void *)(uintptr_t)t->count);
  return t->count;
}

/* The cache entry of a decoder's id. */
static recalled *recall(table *t, uint64_t id) {
  recalled *r = &t->memory[id % RECALLED];
  if (r->id == id && r->epoch == epoch) return r;
  r->id = id;
  r->epoch = epoch;
  r->known = UNKNOWN;
  return r;
}

/* Texts are cut to the size that a trace allows, because a few bytes of a hostile trace can refer to a text of a
 * megabyte. A frame of format 1.5 has only a pc, which becomes its name. */
static pool_frame frame_of(const gotrace_frame *frame) {
  pool_frame made = {frame->pc, frame->line, 0, 0};
  char name[32];
  made.function = pool_put_text(frame->function, cut_size(frame->function, frame->function_size));
  made.file = pool_put_text(frame->file, cut_size(frame->file, frame->file_size));
  if (!made.function && frame->pc) {
    snprintf(name, sizeof name, "0x%llx", (ull)frame->pc);
    made.function = pool_put_string(name);
  }
  return made;
}

uint32_t pool_put_text(const char *data, size_t size) { return put(&texts, data, size); }

uint32_t pool_put_string(const char *string) { return put(&texts, string, strlen(string)); }

uint32_t pool_put_frame(const gotrace_frame *frame) {
  pool_frame made = frame_of(frame);
  return pool_put_stack(&made, 1);
}

uint32_t pool_put_stack(const pool_frame *frames, uint32_t count) {
  return put(&stacks, frames, count * sizeof *frames);
}

pool_text pool_text_of(uint32_t id) {
  pool_text text = {"", 0};
  if (id) text.data = texts.entries[id - 1].data, text.size = texts.entries[id - 1].size;
  return text;
}

bool pool_text_is(uint32_t id, const char *string) {
  pool_text text = pool_text_of(id);
  return text.size == strlen(string) && memcmp(text.data, string, text.size) == 0;
}

bool pool_text_contains(uint32_t id, const char *part) {
  pool_text text = pool_text_of(id);
  return memmem(text.data, text.size, part, strlen(part)) != NULL;
}

void put_text(output *out, uint32_t id, const char *unknown) {
  pool_text text = pool_text_of(id);
  char name[NAME_ROOM];
  if (!text.size) text.data = unknown, text.size = (uint32_t)strlen(unknown);
  put_visible(out, name, shorten(text.data, text.size, NAME_ROOM, name));
}

void put_quoted_text(output *out, uint32_t id) {
  pool_text text = pool_text_of(id);
  put_quoted(out, text.data, text.size);
}

void put_member(output *out, const char *name, uint32_t text) {
  if (!text) return;
  print(out, ", \"%s\": ", name);
  put_quoted_text(out, text);
}

pool_stack pool_stack_of(uint32_t id) {
  pool_stack stack = {NULL, 0};
  if (id)
    stack.frames = stacks.entries[id - 1].data,
    stack.count = stacks.entries[id - 1].size / (uint32_t)sizeof(pool_frame);
  return stack;
}

uint32_t pool_function(uint32_t stack) {
  pool_stack s = pool_stack_of(stack);
  return s.count ? s.frames[0].function : 0;
}

uint32_t pool_take_text(const gotrace_decoder *decoder, uint64_t id) {
  recalled *r;
  const char *data;
  size_t size;
  if (!id) return 0;
  r = recall(&texts, id);
  if (r->known == UNKNOWN) r->known = gotrace_decoder_string(decoder, id, &data, &size) ? pool_put_text(data, size) : 0;
  return r->known;
}

uint32_t pool_take_stack(const gotrace_decoder *decoder, uint64_t id) {
  gotrace_frame theirs[MOST_FRAMES];
  pool_frame ours[MOST_FRAMES];
  recalled *r;
  size_t count, i;
  if (!id) return 0;
  r = recall(&stacks, id);
  if (r->known != UNKNOWN) return r->known;
  count = gotrace_decoder_stack(decoder, id, theirs, MOST_FRAMES);
  if (count > MOST_FRAMES) count = MOST_FRAMES;
  for (i = 0; i < count; i++) ours[i] = frame_of(&theirs[i]);
  return r->known = pool_put_stack(ours, (uint32_t)count);
}

void pool_forget_ids(void) { epoch++; }
