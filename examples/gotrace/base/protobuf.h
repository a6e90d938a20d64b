/* protobuf.h - fields of Protocol Buffers messages, appended to bytes
 *
 * A message is the sequence of its fields. To nest a message, build it in a `bytes` of its own and put that as a field
 * of the other. Fields that are 0 or empty may be left out, because that is their default. */

#ifndef PROTOBUF_H
#define PROTOBUF_H

#include "tool.h"

/* int32, int64, uint32, uint64, bool or enum. A negative number takes ten bytes. */
void put_number_field(bytes *message, unsigned field, uint64_t value);

/* A string is valid UTF-8: put_string_field replaces what is not. */
void put_string_field(bytes *message, unsigned field, const char *text, size_t size);
void put_data_field(bytes *message, unsigned field, const void *data, size_t size);

/* A nested message, or a packed list of numbers. Empties it for the next one. */
void put_message_field(bytes *message, unsigned field, bytes *nested);

/* fixed64, double. */
void put_fixed_field(bytes *message, unsigned field, uint64_t bits);

#endif
