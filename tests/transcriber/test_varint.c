/* The base-128 writer produces exactly the bytes of Go's traceBuf.varint (the same code as encoding/binary's Uvarint),
 * and an independent reader recovers the numbers. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test.h"

/* The output of binary.PutUvarint. */
static const struct {
  uint64_t value;
  unsigned size;
  uint8_t bytes[10];
} vectors[] = {
    {0, 1, {0}},
    {1, 1, {1}},
    {127, 1, {0x7f}},
    {128, 2, {0x80, 0x01}},
    {129, 2, {0x81, 0x01}},
    {255, 2, {0xff, 0x01}},
    {256, 2, {0x80, 0x02}},
    {300, 2, {0xac, 0x02}},
    {16383, 2, {0xff, 0x7f}},
    {16384, 3, {0x80, 0x80, 0x01}},
    {1000000000, 5, {0x80, 0x94, 0xeb, 0xdc, 0x03}},
    {UINT32_MAX, 5, {0xff, 0xff, 0xff, 0xff, 0x0f}},
    {(uint64_t)1 << 63, 10, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}},
    {UINT64_MAX, 10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
};

/* Decodes a number; sets *size to its length. */
static uint64_t read_number(const uint8_t *bytes, unsigned *size) {
  uint64_t value = 0, weight = 1;
  *size = 0;
  do {
    value += (bytes[*size] % 128) * weight;
    weight *= 128;
  } while (bytes[(*size)++] >= 128);
  return value;
}

static void check_one(uint64_t value) {
  uint8_t bytes[32];
  unsigned size, want = 1;
  uint64_t rest;
  for (rest = value / 128; rest; rest /= 128) want++;
  memset(bytes, 0xee, sizeof bytes);
  CHECK_EQUAL(gotrace__put_varint(bytes, value) - bytes, want);
  CHECK(read_number(bytes, &size) == value);
  CHECK_EQUAL(size, want);
  CHECK_EQUAL(bytes[want], 0xee);
  CHECK(want <= GOTRACE_BYTES_PER_NUMBER);
}

int main(void) {
  size_t i;
  unsigned shift;
  long n;
  uint64_t state = 1;
  for (i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    uint8_t bytes[16];
    CHECK_EQUAL(gotrace__put_varint(bytes, vectors[i].value) - bytes, vectors[i].size);
    CHECK(memcmp(bytes, vectors[i].bytes, vectors[i].size) == 0);
    check_one(vectors[i].value);
  }
  for (shift = 0; shift < 64; shift++) {
    uint64_t power = (uint64_t)1 << shift;
    check_one(power - 1);
    check_one(power);
    check_one(power + 1);
    check_one(UINT64_MAX - power);
  }
  for (n = test_scaled(200000); n; n--) {
    uint64_t value = (uint64_t)test_random(&state) << 33 ^ (uint64_t)test_random(&state) << 2;
    check_one(value >> test_random(&state) % 64);
  }
  return 0;
}
