/* pool.c - texts and stacks, for as long as the program runs */

#include "world.h"

struct pool pool;

static uint32_t hash_of(const void *data, size_t size) {
  const uint8_t *at = data;
  uint64_t hash = size, word;
  for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
    memcpy(&word, at, sizeof word);
    hash = mix(hash ^ word);
  }
  word = 0;
  memcpy(&word, at, size);
  return (uint32_t)mix(hash ^ word);
}

/* Doubles a table of indices when it is half full. HASH is the hash of the entry with an index. */
#define REHASH(table, slots, count, HASH)                                                    \
  do {                                                                                       \
    if (2 * ((size_t)(count) + 1) > (slots)) {                                               \
      uint32_t n_;                                                                           \
      (slots) = (slots) ? 2 * (slots) : 1024;                                                \
      (table) = resize((table), (slots) * sizeof *(table));                                  \
      memset((table), 0, (slots) * sizeof *(table));                                         \
      for (n_ = 0; n_ < (count); n_++) {                                                     \
        size_t slot_ = (HASH(n_)) & ((slots) - 1);                                           \
        while ((table)[slot_]) slot_ = (slot_ + 1) & ((slots) - 1);                          \
        (table)[slot_] = n_ + 1;                                                             \
      }                                                                                      \
    }                                                                                        \
  } while (0)
#define TEXT_HASH(n) (size_t) pool.texts[n].hash
#define STACK_HASH(n) (size_t) pool.stacks[n].hash

uint32_t pool_put_text(const char *data, size_t size) {
  uint32_t hash;
  size_t slot;
  char *copy;
  if (!size) return 0;
  if (size > UINT32_MAX) size = UINT32_MAX;
  hash = hash_of(data, size);
  REHASH(pool.text_table, pool.text_slots, pool.text_count, TEXT_HASH);
  for (slot = hash & (pool.text_slots - 1); pool.text_table[slot]; slot = (slot + 1) & (pool.text_slots - 1)) {
    const pool_text *text = &pool.texts[pool.text_table[slot] - 1];
    if (text->hash == hash && text->size == size && memcmp(text->data, data, size) == 0) return pool.text_table[slot];
  }
  GROW(pool.texts, pool.text_count, pool.text_capacity);
  copy = keep(size);
  memcpy(copy, data, size);
  pool.texts[pool.text_count] = (pool_text){copy, (uint32_t)size, hash, 0};
  return pool.text_table[slot] = ++pool.text_count;
}

uint32_t pool_put_string(const char *string) { return pool_put_text(string, strlen(string)); }

pool_text pool_text_of(uint32_t id) { return id ? pool.texts[id - 1] : (pool_text){"", 0, 0, 0}; }

bool pool_text_is(uint32_t id, const char *string) {
  pool_text text = pool_text_of(id);
  return text.size == strlen(string) && memcmp(text.data, string, text.size) == 0;
}

uint32_t pool_put_stack(const pool_frame *frames, uint32_t count) {
  uint32_t hash;
  size_t slot;
  pool_frame *copy;
  if (!count) return 0;
  hash = hash_of(frames, count * sizeof *frames);
  REHASH(pool.stack_table, pool.stack_slots, pool.stack_count, STACK_HASH);
  for (slot = hash & (pool.stack_slots - 1); pool.stack_table[slot]; slot = (slot + 1) & (pool.stack_slots - 1)) {
    const pool_stack *stack = &pool.stacks[pool.stack_table[slot] - 1];
    if (stack->hash == hash && stack->count == count && memcmp(stack->frames, frames, count * sizeof *frames) == 0)
      return pool.stack_table[slot];
  }
  GROW(pool.stacks, pool.stack_count, pool.stack_capacity);
  copy = keep(count * sizeof *frames);
  memcpy(copy, frames, count * sizeof *frames);
  pool.stacks[pool.stack_count] = (pool_stack){copy, count, hash, 0};
  return pool.stack_table[slot] = ++pool.stack_count;
}

pool_stack pool_stack_of(uint32_t id) { return id ? pool.stacks[id - 1] : (pool_stack){NULL, 0, 0, 0}; }

/* As much of a text as Go takes: it cuts between characters. */
size_t cut_size(const char *data, size_t size) {
  size_t cut = GOTRACE_MAX_STRING_SIZE;
  if (size <= cut) return size;
  while (cut > GOTRACE_MAX_STRING_SIZE - 4 && ((uint8_t)data[cut] & 0xc0) == 0x80) cut--;
  return cut;
}

/* A frame of format 1.5 is its pc alone, and gets it for a name. Few bytes of a trace can name a text of a megabyte. */
static pool_frame pool_frame_of(const gotrace_frame *frame) {
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

static remembered *recall(remembered *memory, uint64_t id) {
  remembered *r = &memory[mix(id) % REMEMBERED];
  if (r->id == id && r->epoch == pool.epoch) return r;
  r->id = id;
  r->epoch = pool.epoch;
  r->known = UINT32_MAX;
  return r;
}

uint32_t take_text(const gotrace_decoder *decoder, uint64_t id) {
  remembered *r;
  const char *data;
  size_t size;
  if (!id) return 0;
  r = recall(pool.of_texts, id);
  if (r->known == UINT32_MAX) r->known = gotrace_decoder_string(decoder, id, &data, &size) ? pool_put_text(data, size) : 0;
  return r->known;
}

uint32_t take_stack(const gotrace_decoder *decoder, uint64_t id) {
  gotrace_frame frames[MOST_FRAMES];
  pool_frame mine[MOST_FRAMES];
  remembered *r;
  size_t count, i;
  if (!id) return 0;
  r = recall(pool.of_stacks, id);
  if (r->known != UINT32_MAX) return r->known;
  count = gotrace_decoder_stack(decoder, id, frames, MOST_FRAMES);
  if (count > MOST_FRAMES) count = MOST_FRAMES;
  memset(mine, 0, count * sizeof *mine);
  for (i = 0; i < count; i++) mine[i] = pool_frame_of(&frames[i]);
  return r->known = pool_put_stack(mine, (uint32_t)count);
}

/* The stack that has one frame of another only: its outermost, the function that a goroutine began with. */
uint32_t outermost(uint32_t stack) {
  pool_stack s = pool_stack_of(stack);
  return s.count > 1 ? pool_put_stack(&s.frames[s.count - 1], 1) : stack;
}
