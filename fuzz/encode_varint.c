/* Fuzzes the base-128 writer: a sequence of numbers, checked by an independent reader.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/encode_varint.c -o build/fuzz/encode_varint -pthread
 *     build/fuzz/encode_varint -max_total_time=60 fuzz/seeds/encode_varint
 *
 * Input: for each number a byte that determines how many bytes of it follow (0 to 8), and these bytes.
 */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "fuzz.h"

/* Sums groups of seven bits, the least significant first; fails beyond `end`. */
static uint64_t read_number(const uint8_t **at, const uint8_t *end) {
  uint64_t value = 0;
  unsigned shift = 0;
  for (;; shift += 7) {
    uint8_t byte;
    REQUIRE(*at < end);
    byte = *(*at)++;
    REQUIRE(shift < 63 || byte <= 1); /* not more than 64 bits */
    value += (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input in;
  size_t most = size * GOTRACE_BYTES_PER_NUMBER + 1;
  uint8_t *written = malloc(most), *at = written;
  const uint8_t *from = written;
  uint64_t *numbers = malloc((size + 1) * sizeof *numbers);
  size_t count = 0, i;
  in.at = data;
  in.end = data + size;
  while (in.at < in.end) {
    unsigned bits = 0;
    uint64_t value = fuzz_take(&in, fuzz_take(&in, 1) % 9);
    uint8_t *before = at;
    while (bits < 64 && value >> bits) bits++;
    numbers[count++] = value;
    at = gotrace__put_varint(at, value);
    REQUIRE(at - before == (bits ? (bits + 6) / 7 : 1)); /* no longer than necessary */
    REQUIRE((size_t)(at - written) <= most);
  }
  for (i = 0; i < count; i++) REQUIRE(read_number(&from, at) == numbers[i]);
  REQUIRE(from == at);
  free(numbers);
  free(written);
  return 0;
}
