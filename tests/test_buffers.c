/* Buffers begin with exactly Go's batch header; queues keep their order.
 *
 * Not in: capture capture_address capture_thread, since it looks into the other way of writing. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "test.h"

static void header(int proc, uint64_t time, const char *want, size_t size) {
  static gotrace__buffer buffer;
  memset(&buffer, 0xee, sizeof buffer);
  gotrace__batch_begin_v1(&buffer, (uint64_t)(int64_t)proc, time);
  CHECK_EQUAL(buffer.size, size);
  CHECK(memcmp(buffer.data, want, size) == 0);
  CHECK_EQUAL(buffer.data[size], 0xee);
  CHECK_EQUAL(buffer.size_at, 0);
}

int main(void) {
  static gotrace__buffer buffers[10];
  gotrace__queue a, b;
  size_t i;
  CHECK_EQUAL(sizeof(gotrace__buffer), 65536);
  CHECK(sizeof buffers[0].data <= GOTRACE_MAX_BATCH_SIZE);
  /* traceEvBatch with the count of one argument, which is two: traceFlush in runtime/trace.go. */
  header(0, 0, "\x41\x00\x00", 3);
  header(3, 300, "\x41\x03\xac\x02", 4);
  header(-1, 1, "\x41\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", 12);
  header(200, UINT64_MAX, "\x41\xc8\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);

  for (i = 0; i < 10; i++) buffers[i].capacity = 4096 - offsetof(gotrace__buffer, data);
  memset(&a, 0, sizeof a);
  memset(&b, 0, sizeof b);
  CHECK(!gotrace__queue_pop(&a));
  gotrace__queue_append(&a, &b);
  CHECK(!a.head && !a.tail && a.bytes == 0);
  for (i = 0; i < 4; i++) gotrace__queue_push(&a, &buffers[i]);
  gotrace__queue_append(&b, &a); /* to an empty one */
  CHECK(!a.head && a.bytes == 0 && b.bytes == 4 * 4096);
  for (i = 4; i < 7; i++) gotrace__queue_push(&a, &buffers[i]);
  gotrace__queue_append(&b, &a); /* behind others */
  gotrace__queue_append(&b, &a); /* nothing */
  gotrace__queue_push(&b, &buffers[7]);
  CHECK_EQUAL(b.bytes, 8 * 4096);
  for (i = 0; i < 8; i++) CHECK(gotrace__queue_pop(&b) == &buffers[i]);
  CHECK(!gotrace__queue_pop(&b) && !b.tail && b.bytes == 0);
  gotrace__queue_push(&b, &buffers[8]);
  gotrace__queue_push(&b, &buffers[9]);
  CHECK(gotrace__queue_pop(&b) == &buffers[8]);
  gotrace__queue_push(&b, &buffers[8]);
  CHECK(gotrace__queue_pop(&b) == &buffers[9] && gotrace__queue_pop(&b) == &buffers[8] && !gotrace__queue_pop(&b));
  return 0;
}
