/* foreign.c - inputs that are compressed, or that are no traces but what people often take for one: see input.h */

#include "input.h"

#include <stdlib.h>
#include <strings.h>

#ifdef HAVE_ZLIB /* the Makefile looks for it */
#include <zlib.h>
#endif

bool is_gzip(const uint8_t *data, size_t size) { return size >= 2 && data[0] == 0x1f && data[1] == 0x8b; }

#ifdef HAVE_ZLIB
const char *unpack_gzip(bytes *to, const uint8_t *data, size_t size) {
  const size_t step = (size_t)1 << 20;
  const uint64_t most = ((uint64_t)64 << 20) + 100 * (uint64_t)size; /* a hostile file unpacks to 1000 times its size */
  const uint8_t *end = data + size;
  z_stream z;
  int result;
  memset(&z, 0, sizeof z);
  if (inflateInit2(&z, 15 + 16) != Z_OK) fail("out of memory");
  do {
    if (!z.avail_in) {
      z.next_in = (Bytef *)(uintptr_t)data; /* zlib does not write there */
      z.avail_in = (uInt)((size_t)(end - data) < step ? (size_t)(end - data) : step);
      data += z.avail_in;
    }
    z.next_out = bytes_room(to, step);
    z.avail_out = (uInt)step;
    result = inflate(&z, Z_NO_FLUSH);
    to->size += step - z.avail_out;
    /* a file may consist of several compressed ones */
    if (result == Z_STREAM_END && (z.avail_in || data < end)) result = inflateReset(&z);
  } while (result == Z_OK && to->size < most && (z.avail_in || data < end || !z.avail_out));
  inflateEnd(&z);
  if (result == Z_MEM_ERROR) fail("out of memory");
  if (to->size >= most) return "unpacks to more than 100 times its size; if you trust it, use gunzip first";
  if (result == Z_STREAM_END) return NULL;
  return result == Z_OK || result == Z_BUF_ERROR ? "truncated gzip data" : "damaged gzip data";
}
#else
const char *unpack_gzip(bytes *to, const uint8_t *data, size_t size) {
  (void)to, (void)data, (void)size;
  return "compressed by gzip, which this build cannot unpack; use gunzip first";
}
#endif

/* Whether data begins like a profile of pprof: a protobuf with two fields that have the types of that format. */
static bool is_profile(const uint8_t *data, size_t size) {
  const unsigned lists = 0x287e, numbers = 0xf780; /* by a field's number: bytes or a message; a number */
  const uint8_t *at = data, *end = data + size;
  unsigned i;
  for (i = 0; i < 2 && at < end; i++) {
    uint64_t tag, value;
    if (!take_number(&at, end, &tag) || !take_number(&at, end, &value)) return false;
    if (tag < 8 || tag >> 3 > 15 || value > INT64_MAX) return false;
    if (!((tag & 7) == 0 ? numbers >> (tag >> 3) & 1 : (tag & 7) == 2 ? lists >> (tag >> 3) & 1 : 0)) return false;
    if ((tag & 7) == 2) at = value < (uint64_t)(end - at) ? at + value : end;
  }
  return i == 2;
}

static bool is_page(const uint8_t *data, size_t size) {
  static const char *const begins[] = {"<!doctype html", "<html"};
  size_t i;
  while (size && (*data == ' ' || (*data >= '\t' && *data <= '\r'))) data++, size--;
  for (i = 0; i < COUNT(begins); i++)
    if (size >= strlen(begins[i]) && strncasecmp((const char *)data, begins[i], strlen(begins[i])) == 0) return true;
  return false;
}

/* What other compressors made: how it begins, and what unpacks it. */
static const struct {
  const char *begin, *kind;
} packed[] = {
    {"\xfd"
     "7zXZ",
     "data compressed by xz; use xz -d first"},
    {"\x28\xb5\x2f\xfd", "data compressed by zstd; use zstd -d first"},
    {"BZh", "data compressed by bzip2; use bzip2 -d first"},
    {"\x04\x22\x4d\x18", "data compressed by lz4; use lz4 -d first"},
    {"PK\x03\x04", "a zip archive; use unzip first"},
};

static const char *packed_kind(const uint8_t *data, size_t size) {
  size_t i;
  for (i = 0; i < COUNT(packed); i++)
    if (size >= strlen(packed[i].begin) && memcmp(data, packed[i].begin, strlen(packed[i].begin)) == 0)
      return packed[i].kind;
  return NULL;
}

const char *foreign_kind(const uint8_t *data, size_t size) {
  return is_gzip(data, size)      ? "data that were compressed twice by gzip"
         : is_page(data, size)    ? "a page of HTML"
         : is_profile(data, size) ? "a profile for pprof"
                                  : packed_kind(data, size);
}

/* Whether 16 bytes are the header of a trace. */
static bool is_header(const uint8_t *data) {
  char text[17] = {0};
  int used = 0;
  memcpy(text, data, 16);
  sscanf(text, "go 1.%*2[0-9] trace%n", &used);
  while (used && used < 16 && !text[used]) used++;
  return used == 16;
}

bool is_only_header(const uint8_t *data, size_t size) { return size == 16 && is_header(data); }

uint64_t find_header(const uint8_t *data, size_t size, uint64_t offset) {
  uint64_t at;
  for (at = offset > 16 ? offset - 16 : 1; at <= offset && at < size && size - at >= 16; at++)
    if (is_header(data + at)) return at;
  return 0;
}
