/* Fuzzes the decoder with modified traces whose framing is intact. The mutator splits a trace into batches and events,
 * changes numbers, kinds and their order, and corrects the lengths. This reaches the checks of order and state, not
 * only those of framing.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/decode_mutated.c -o build/fuzz/decode_mutated -pthread
 *     build/fuzz/decode_mutated -max_total_time=60 fuzz/seeds/decode_mutated
 *
 * Input: a trace.
 */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  decode_outcome ordered = decode_compare(data, size, false), raw = decode_compare(data, size, true);
  int kind;
  /* Every ordered event is in the file. In a good trace none is missing, except those that v1 omits or renames. */
  if (ordered.result == GOTRACE_END_OF_TRACE && size > 6 && data[5] == '2' && data[6] >= '2') {
    REQUIRE(raw.result == GOTRACE_END_OF_TRACE);
    for (kind = GOTRACE_V2_PROCS_CHANGE; kind < 256; kind++)
      if (kind < GOTRACE_V2_EXPERIMENTAL_BATCH || kind >= GOTRACE_V2_SPAN)
        REQUIRE(ordered.kinds[kind] == raw.kinds[kind]);
  }
  return 0;
}

#if defined(__clang__)
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* A piece of a trace: an event, or a batch's header, with its numbers. */
typedef struct piece {
  uint8_t kind, count;
  uint64_t numbers[8];
  const uint8_t *data; /* of strings, frames, experimental batches */
  size_t size;
} piece;

#define PIECES 4000

static uint64_t random_state;
static uint64_t random_below(uint64_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (random_state >> 33) % (n ? n : 1);
}

static size_t take_apart(const uint8_t *data, size_t size, piece *pieces) {
  gotrace_decoder_options options;
  gotrace_decoder *d = NULL;
  gotrace_event e;
  size_t n = 0;
  int64_t last = 0;
  memset(&options, 0, sizeof options);
  options.data = data, options.size = size, options.raw = true;
  if (gotrace_decoder_open(&d, &options) == GOTRACE_OK)
    while (n < PIECES && gotrace_decoder_next(d, &e) == GOTRACE_OK) {
      piece *p = &pieces[n++];
      bool timed = strncmp(e.spec->arguments, "dt", 2) == 0;
      memset(p, 0, sizeof *p);
      p->kind = e.kind;
      if (timed) p->numbers[p->count++] = (uint64_t)e.time - (uint64_t)last;
      memcpy(p->numbers + p->count, e.args, e.arg_count * sizeof e.args[0]);
      p->count = (uint8_t)(p->count + e.arg_count);
      p->data = (const uint8_t *)e.data;
      p->size = e.data_size;
      last = e.time;
    }
  gotrace_decoder_close(d);
  return n;
}

static size_t put_number(uint8_t *out, size_t at, size_t max, uint64_t value) {
  if (at + 10 > max) return max + 1;
  return (size_t)(gotrace__put_varint(out + at, value) - out);
}

static size_t put_together_v2(uint8_t *out, size_t max, const piece *pieces, size_t count) {
  size_t at = 16, i, batch = 0;
  for (i = 0; i <= count; i++) {
    const piece *p = &pieces[i];
    bool frame = i == count || p->kind == GOTRACE_V2_EVENT_BATCH || p->kind == GOTRACE_V2_EXPERIMENTAL_BATCH ||
                 p->kind == GOTRACE_V2_END_OF_GENERATION;
    unsigned j;
    for (j = 0; frame && batch && j < 3; j++) /* the size, in the three bytes before the batch */
      out[batch - 3 + j] = (uint8_t)((j < 2 ? 0x80 : 0) | ((at - batch) >> 7 * j & 0x7f));
    if (frame) batch = 0;
    if (i == count) break;
    if (at + 1 > max) return 0;
    out[at++] = p->kind;
    for (j = 0; j < p->count && j < 6; j++) {
      if (p->kind == GOTRACE_V2_EVENT_BATCH && j == 3) break;
      if (p->kind == GOTRACE_V2_EXPERIMENTAL_BATCH && j == 0) { /* the experiment is a byte */
        if (at == max) return 0;
        out[at++] = (uint8_t)p->numbers[0];
        continue;
      }
      if ((at = put_number(out, at, max, p->numbers[j])) > max) return 0;
    }
    if (p->kind == GOTRACE_V2_EVENT_BATCH) {
      if (at + 3 > max) return 0;
      at += 3;
      batch = at;
    }
    if (p->kind == GOTRACE_V2_STRING || p->kind == GOTRACE_V2_EXPERIMENTAL_BATCH)
      if ((at = put_number(out, at, max, p->size)) > max) return 0;
    if (at + p->size > max) return 0;
    if (p->size) memcpy(out + at, p->data, p->size);
    at += p->size;
  }
  return at;
}

static size_t put_together_v1(uint8_t *out, size_t max, const piece *pieces, size_t count, bool old) {
  size_t at = 16, i;
  for (i = 0; i < count; i++) {
    const piece *p = &pieces[i];
    uint8_t body[200];
    size_t size = 0;
    unsigned j, n = p->count, inline_most = 3;
    if (at + 300 + p->size > max) return 0;
    if (p->kind == GOTRACE_V1_STRING) {
      out[at++] = GOTRACE_V1_STRING;
      at = put_number(out, at, max, p->numbers[0]);
      at = put_number(out, at, max, p->size);
      if (p->size) memcpy(out + at, p->data, p->size);
      at += p->size;
      continue;
    }
    for (j = 0; j < n; j++) {
      /* 1.5 has sequence numbers in addition to times. */
      if (old && j == 0 && p->kind != GOTRACE_V1_BATCH && p->kind != GOTRACE_V1_FREQUENCY &&
          p->kind != GOTRACE_V1_TIMER_GOROUTINE && p->kind != GOTRACE_V1_STACK)
        size = (size_t)(gotrace__put_varint(body + size, 1) - body);
      size = (size_t)(gotrace__put_varint(body + size, p->numbers[j]) - body);
    }
    if (p->kind == GOTRACE_V1_STACK || n > inline_most || old) {
      out[at++] = (uint8_t)(3 << 6 | p->kind);
      at = put_number(out, at, max, size + (p->kind == GOTRACE_V1_STACK ? p->size : 0));
    } else {
      out[at++] = (uint8_t)((n ? n - 1 : 0) << 6 | p->kind);
    }
    memcpy(out + at, body, size);
    at += size;
    if (p->kind == GOTRACE_V1_USER_LOG) at = put_number(out, at, max, p->size);
    if (p->size) memcpy(out + at, p->data, p->size);
    at += p->size;
  }
  return at;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  static piece pieces[PIECES + 16];
  static uint8_t copy[1 << 20], out[1 << 20];
  size_t count, result, max = max_size < sizeof out ? max_size : sizeof out;
  int changes;
  bool v1 = size > 6 && (data[6] == ' ' || data[6] < '2' || data[5] != '2');
  random_state = seed;
  if (size < 17 || size > sizeof copy || random_below(20) == 0) return LLVMFuzzerMutate(data, size, max_size);
  memcpy(copy, data, size);
  count = take_apart(copy, size, pieces);
  if (!count) return LLVMFuzzerMutate(data, size, max_size);
  for (changes = 1 + (int)random_below(4); changes; changes--) {
    size_t i = random_below(count), j = random_below(count);
    piece swap;
    switch (random_below(9)) {
    case 0: /* a small number */
    case 1:
      if (pieces[i].count) pieces[i].numbers[random_below(pieces[i].count)] = random_below(40);
      break;
    case 2: /* a number from another piece */
      if (pieces[i].count && pieces[j].count)
        pieces[i].numbers[random_below(pieces[i].count)] = pieces[j].numbers[random_below(pieces[j].count)];
      break;
    case 3: /* one more or less, any number */
      if (pieces[i].count)
        pieces[i].numbers[random_below(pieces[i].count)] +=
            random_below(3) ? 1 - 2 * random_below(2) : random_below(UINT64_MAX);
      break;
    case 4: /* swap two */ swap = pieces[i], pieces[i] = pieces[j], pieces[j] = swap; break;
    case 5: /* remove one */
      memmove(pieces + i, pieces + i + 1, (--count - i) * sizeof *pieces);
      if (!count) return LLVMFuzzerMutate(data, size, max_size);
      break;
    case 6: /* duplicate one */
      if (count == PIECES) break;
      swap = pieces[i];
      memmove(pieces + j + 1, pieces + j, (count++ - j) * sizeof *pieces);
      pieces[j] = swap;
      break;
    case 7: { /* a new event, with the right number of arguments */
      piece fresh;
      const gotrace_event_spec *spec =
          gotrace_find_event_spec(v1 ? GOTRACE_GO_1_21 : GOTRACE_GO_1_26, (int)random_below(v1 ? 50 : 137));
      const char *word;
      if (!spec || count == PIECES) break;
      memset(&fresh, 0, sizeof fresh);
      fresh.kind = (uint8_t)spec->number;
      for (word = spec->arguments; *word; word += *word == ' ') {
        size_t length = strcspn(word, " ");
        if (length != 4 || memcmp(word, "data", 4) != 0)
          fresh.numbers[fresh.count++] = random_below(random_below(2) ? 8 : 200);
        word += length;
      }
      memmove(pieces + j + 1, pieces + j, (count++ - j) * sizeof *pieces);
      pieces[j] = fresh;
      break;
    }
    default: /* truncate */
      if (random_below(4) == 0) count = 1 + i;
      break;
    }
  }
  memcpy(out, copy, 16);
  result = v1 ? put_together_v1(out, max, pieces, count, memcmp(copy, "go 1.5", 6) == 0)
              : put_together_v2(out, max, pieces, count);
  if (!result || result > max_size) return LLVMFuzzerMutate(data, size, max_size);
  memcpy(data, out, result);
  return result;
}
#endif
