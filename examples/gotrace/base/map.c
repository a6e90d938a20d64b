/* map.c - maps from 64-bit keys to pointers, and side arrays: see tool.h
 *
 * Places with keys are found by linear probing; at most half of them are used. They tell where a value is among all
 * values, which keep the order in which their keys came. The hash has a seed, so that no trace can be made whose ids
 * all have the same place. */

#include "tool.h"

#include <stdlib.h>

struct map_place {
  uint64_t key;
  size_t value; /* 1 + index among the values; 0: none */
};

static inline struct map_place *place_of(const map *m, uint64_t key) {
  uint64_t hash = (key ^ hash_seed) * 0x9e3779b97f4a7c15u;
  size_t i = (size_t)((hash ^ hash >> 32) * 0xd6e8feb86659fd93u >> 16) & m->mask;
  while (m->places[i].value && m->places[i].key != key) i = (i + 1) & m->mask;
  return &m->places[i];
}

void *map_get(const map *m, uint64_t key) {
  const struct map_place *place = m->places ? place_of(m, key) : NULL;
  return place && place->value ? m->values[place->value - 1] : NULL;
}

static void make_places(map *m, size_t room) {
  struct map_place *old = m->places;
  size_t i, count = old ? m->mask + 1 : 0;
  m->places = zeroed(room * sizeof *m->places);
  m->mask = room - 1;
  for (i = 0; i < count; i++)
    if (old[i].value) *place_of(m, old[i].key) = old[i];
  free(old);
}

void map_expect(map *m, size_t count) {
  size_t room = 64;
  while (room < 2 * count) room *= 2;
  make_places(m, room);
}

size_t map_index(map *m, uint64_t key) {
  struct map_place *place;
  if (!m->places || 2 * m->count > m->mask) make_places(m, m->places ? 2 * (m->mask + 1) : 64);
  place = place_of(m, key);
  if (!place->value) {
    GROW(m->values, m->count, m->capacity);
    m->values[m->count] = NULL;
    place->key = key;
    place->value = ++m->count;
  }
  return place->value - 1;
}

void map_put(map *m, uint64_t key, void *value) {
  size_t index = map_index(m, key);
  m->values[index] = value;
}

void *map_keep(map *m, uint64_t key, size_t size, bool *made) {
  size_t index = map_index(m, key);
  bool is_new = !m->values[index];
  if (is_new) m->values[index] = keep(size);
  if (made) *made = is_new;
  return m->values[index];
}

void map_free(map *m) {
  free(m->places);
  free(m->values);
  memset(m, 0, sizeof *m);
}

RARE void side_grow(side_array *all, uint32_t number, size_t size) {
  size_t block = number / SIDE_BLOCK;
  if (block >= all->room) {
    size_t room = all->room ? 2 * all->room : 1;
    char **blocks;
    while (block >= room) room *= 2;
    blocks = keep(room * sizeof *blocks);
    if (all->room) memcpy(blocks, all->blocks, all->room * sizeof *blocks);
    all->blocks = blocks;
    all->room = room;
  }
  all->blocks[block] = keep(SIDE_BLOCK * size);
}
