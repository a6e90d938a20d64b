/* Fuzzes the decoder with arbitrary bytes: from memory and from streams, raw and ordered, with allocation failures.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/decode_any.c -o build/fuzz/decode_any -pthread
 *     build/fuzz/decode_any -max_total_time=60 -dict=fuzz/decode.dict fuzz/seeds/decode_any
 *
 * Input: a byte that determines when memory runs out (0: never), then the trace.
 */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  decode_compare(data + 1, size - 1, false);
  decode_compare(data + 1, size - 1, true);
  if (data[0]) {
    int way;
    for (way = 0; way < 3; way++) {
      gotrace_result result = decode_all(data + 1, size - 1, way, false, data[0]).result;
      REQUIRE(result != GOTRACE_OK);
    }
  }
  return 0;
}
