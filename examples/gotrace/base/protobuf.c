/* protobuf.c - fields of Protocol Buffers messages: see protobuf.h
 *
 * A field begins with its number and its wire type in one base-128 number. Only three wire types are needed: base-128
 * numbers, eight bytes, and data preceded by its size. */

#include "protobuf.h"

#include <stdlib.h>

enum { WIRE_NUMBER = 0, WIRE_FIXED = 1, WIRE_DATA = 2 };

static void put_tag(bytes *message, unsigned field, unsigned type) { put_number(message, (uint64_t)field << 3 | type); }

void put_number_field(bytes *message, unsigned field, uint64_t value) {
  put_tag(message, field, WIRE_NUMBER);
  put_number(message, value);
}

void put_data_field(bytes *message, unsigned field, const void *data, size_t size) {
  put_tag(message, field, WIRE_DATA);
  put_number(message, size);
  put_data(message, data, size);
}

void put_string_field(bytes *message, unsigned field, const char *text, size_t size) {
  bytes valid = {0};
  put_safe(&valid, TEXT_UTF8, text, size);
  put_message_field(message, field, &valid);
  free(valid.data);
}

void put_message_field(bytes *message, unsigned field, bytes *nested) {
  put_data_field(message, field, nested->data, nested->size);
  nested->size = 0;
}

void put_fixed_field(bytes *message, unsigned field, uint64_t bits) {
  unsigned i;
  put_tag(message, field, WIRE_FIXED);
  for (i = 0; i < 8; i++) put_byte(message, (unsigned)(bits >> 8 * i & 0xff));
}
