/* view_page.c - the page that gotrace view writes: see view.c
 *
 * The page is one file: style, markup and script from view/, and the data, compressed and in base 64. Everything that
 * comes from the trace is inside the data, so no name or message can close an element or begin a script. A policy in
 * the head allows only the page's own script and style, which it names by their hashes, and no network access.
 * Only a page that is served may connect to its server. */

#include "../command/commands.h"
#include "sha256.h"
#include "view.h"
#include "view_pack.h"

#include <stdlib.h>

/* A file as a string, and its size. */
#define EMBED_FILE(name, file)                                                                   \
  extern const char name[];                                                                      \
  extern const uint32_t name##_size;                                                             \
  __asm__(".pushsection .rodata\n" #name ":\n.incbin \"" file "\"\n0:.byte 0\n.balign 4\n" #name \
          "_size: .int 0b-" #name "\n.popsection")
#define EMBED(name, file) EMBED_FILE(name, "examples/gotrace/view/page/" file)
EMBED(view_style, "page.css");
EMBED(view_markup, "page.html");
EMBED(view_data, "data.js");
EMBED(view_model, "model.js");
EMBED(view_draw, "draw.js");
EMBED(view_panels, "panels.js");
EMBED(view_outline, "outline.js");
EMBED(view_reader, "reader.js");
EMBED(view_input, "input.js");
#ifdef VIEW_WASM /* the Makefile builds it if it can */
EMBED(view_worker, "worker.js");
EMBED_FILE(view_wasm, VIEW_WASM);
#endif

static void put_base64(output *out, const bytes *from) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t i;
  for (i = 0; i < from->size; i += 3) {
    size_t left = from->size - i;
    uint32_t three = (uint32_t)from->data[i] << 16 | (left > 1 ? (uint32_t)from->data[i + 1] << 8 : 0) |
                     (left > 2 ? from->data[i + 2] : 0u);
    uint8_t *to = bytes_room(&out->block, 4);
    to[0] = (uint8_t)digits[three >> 18];
    to[1] = (uint8_t)digits[three >> 12 & 63];
    to[2] = left > 1 ? (uint8_t)digits[three >> 6 & 63] : '=';
    to[3] = left > 2 ? (uint8_t)digits[three & 63] : '=';
    out->block.size += 4;
    output_check(out);
  }
}

/* Joins texts that become the content of an element. */
static bytes join(const char *const *texts, size_t count) {
  bytes all = {0};
  size_t i;
  for (i = 0; i < count; i++) put_data(&all, texts[i], strlen(texts[i]));
  return all;
}

/* A source of the policy: the element with this content. */
static void put_source(output *out, const char *directive, const bytes *content) {
  uint8_t hash[32];
  bytes of = {0};
  sha256(content->data, content->size, hash);
  put_data(&of, hash, sizeof hash);
  print(out, "; %s 'sha256-", directive);
  put_base64(out, &of);
  put_byte(&out->block, '\'');
  free(of.data);
}

/* An element with compressed data; the page finds it by its name. */
static void put_packed(output *out, const char *name, size_t number, const bytes *data) {
  print(out, "<script type=\"application/octet-stream\" id=\"%s%zu\">", name, number);
  put_base64(out, data);
  put_string(out, "</script>\n");
}

static bytes script_of_page(void) {
  const char *const scripts[] = {"\n\"use strict\";\n", view_data,    view_model,  view_draw,
                                 view_panels,           view_outline, view_reader, view_input};
  return join(scripts, COUNT(scripts));
}

/* The page up to its data. `policy`: more of it. */
static void begin_page(output *out, const char *policy) {
  const char *const styles[] = {"\n", view_style};
  bytes script = script_of_page(), style = join(styles, COUNT(styles));
  put_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" "
                  "content=\"default-src 'none'; base-uri 'none'; form-action 'none'");
  put_source(out, "style-src", &style);
  put_source(out, "script-src", &script);
  put_string(out, policy);
  put_string(out, "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>gotrace view</title>\n<style>");
  put_data(&out->block, style.data, style.size);
  put_string(out, "</style>\n</head>\n<body>\n");
  put_string(out, view_markup);
  free(script.data);
  free(style.data);
}

static void end_page(output *out) {
  bytes script = script_of_page();
  put_string(out, "<script>");
  put_data(&out->block, script.data, script.size);
  put_string(out, "</script>\n</body>\n</html>\n");
  free(script.data);
}

/* -------------------------------------------------------------------------------------- with the reader ---- */

#ifdef VIEW_WASM
bool view_has_reader(void) { return true; }

static void put_element(output *out, const char *name, const void *data, size_t size) {
  bytes packed = {0};
  compress_bytes(&packed, data, size);
  put_packed(out, name, 0, &packed);
  free(packed.data);
}

/* `policy`: more of it. */
static void begin_reader_page(output *out, const char *policy) {
  char all[96];
  snprintf(all, sizeof all, " 'wasm-unsafe-eval'; worker-src blob:%s", policy);
  begin_page(out, all);
  put_element(out, "reader", view_wasm, view_wasm_size);
  put_element(out, "worker", view_worker, view_worker_size);
}

/* How many bytes the first generations of a v2 trace have that are complete within `most`, with its header. */
static size_t whole_generations(const uint8_t *data, size_t size, size_t most) {
  size_t at = BATCHES_BEGIN, whole = 0, taken;
  uint64_t generation = 0;
  batch b;
  if (size < at || !batches_begin(data)) return 0;
  while (at < size && at <= most && (taken = batch_header(data + at, size - at, &b))) {
    if (b.generation && generation && b.generation != generation) whole = at;
    if (b.generation) generation = b.generation;
    at += taken;
    if (b.size > size - at) break;
    at += (size_t)b.size;
  }
  return whole;
}

size_t view_room(uint64_t size) {
  enum { LEAST = 2 << 20 };
  uint64_t limit = size ? size : PAGE_SIZE;
  if (limit < LEAST) fail("--size: at least 2M, of which the page's reader takes half a megabyte");
  if (limit > SIZE_MAX / 2) limit = SIZE_MAX / 2;
  return (size_t)(limit / 4 * 3 - ((size_t)3 << 18)); /* base 64 adds a third */
}

size_t view_pack_trace(bytes *packed, const uint8_t *data, size_t size, size_t room, bool cut) {
  enum { SAMPLE = 4 << 20 };
  size_t left = size, sample = size < SAMPLE ? size : SAMPLE;
  double packs; /* to which share of its size a trace shrinks */
  compress_bytes(packed, data, sample);
  packs = (double)packed->size / (double)(sample + !sample);
  if ((double)size * packs > 2 * (double)room)
    left = cut ? whole_generations(data, size, (size_t)(1.2 * (double)room / packs)) : 0;
  while (left) {
    packed->size = 0;
    compress_bytes(packed, data, left);
    if (packed->size <= room) return left;
    if (!cut) break;
    left = whole_generations(data, size, (size_t)((double)left * 0.95 * (double)room / (double)packed->size));
  }
  return 0;
}

/* What the page opens: traces, and the part that these options of gotrace view choose of each. `served`: its size if it
 * is beside the page; 0: it is in it. */
static void put_ask(output *out, const reader_trace *traces, size_t count, bool served) {
  output ask = {0}; /* only its block is used */
  size_t i, k;
  for (i = 0; i < count; i++) {
    const reader_trace *t = &traces[i];
    const char *base = strrchr(t->name, '/'), *comma;
    base = base && base[1] ? base + 1 : t->name;
    put_string(&ask, i ? ",\n{\"name\":" : "[{\"name\":");
    put_quoted(&ask, base, strlen(base));
    put_string(&ask, ",\"words\":["); /* without any, the page shows an outline first, if the trace is large */
    comma = "";
    if (t->set.from) print(&ask, "\"--from=%lldns\"", (long long)t->set.from), comma = ",";
    if (t->set.until != INT64_MAX) print(&ask, "%s\"--to=%lldns\"", comma, (long long)t->set.until), comma = ",";
    for (k = 0; k < t->set.word_count; k++, comma = ",") {
      put_string(&ask, comma);
      put_quoted(&ask, t->set.words[k], strlen(t->set.words[k]));
    }
    print(&ask, "],\"served\":%zu,\"indexed\":%zu,\"note\":", served ? t->size : 0, t->index_size);
    put_quoted(&ask, t->note, strlen(t->note));
    put_byte(&ask.block, '}');
  }
  put_string(&ask, "]\n");
  put_element(out, "ask", ask.block.data, ask.block.size);
  free(ask.block.data);
}

void view_page_of_traces(output *out, const reader_trace *traces, size_t count) {
  size_t i;
  begin_reader_page(out, "");
  put_ask(out, traces, count, false);
  for (i = 0; i < count; i++) put_packed(out, "trace", i, &traces[i].packed);
  end_page(out);
}

void view_served_page(output *out, const reader_trace *traces, size_t count) {
  begin_reader_page(out, "; connect-src 'self'; img-src 'self'");
  put_ask(out, traces, count, true);
  end_page(out);
}

bool view_empty_page(output *out) {
  begin_reader_page(out, "");
  end_page(out);
  return true;
}
#else
bool view_has_reader(void) { return false; }
size_t view_room(uint64_t size) { return (size_t)size; }
size_t view_pack_trace(bytes *packed, const uint8_t *data, size_t size, size_t room, bool cut) {
  return (void)packed, (void)data, (void)size, (void)room, (void)cut, 0;
}
void view_page_of_traces(output *out, const reader_trace *traces, size_t count) {
  (void)out, (void)traces, (void)count;
}
void view_served_page(output *out, const reader_trace *traces, size_t count) { (void)out, (void)traces, (void)count; }
bool view_empty_page(output *out) { return (void)out, false; }
#endif

/* ---------------------------------------------------------------------------------------- with pictures ---- */

void view_page(view *v, output *out) {
  bytes contents = {0}, packed = {0};
  size_t i, room = v->few.limit;
  /* Logs and CPU samples give way if the tables leave too little room for slices. */
  for (;;) {
    contents.size = packed.size = 0;
    view_contents(v, &contents);
    compress_bytes(&packed, contents.data, contents.size);
    if (packed.size <= PAGE_DATA / 4 * 3 || !v->mark_count) break;
    v->tables[TABLE_MARKS].lost += v->mark_count - v->mark_count / 2;
    v->mark_count /= 2;
  }
  /* The slices get the room that the other data leave. That data contains the list of the slices' chunks, so this
   * repeats until both fit. */
  do {
    contents.size = packed.size = 0;
    v->few.limit = v->many.limit = room;
    levels_fit(&v->few);
    view_contents(v, &contents);
    compress_bytes(&packed, contents.data, contents.size);
    room = packed.size < PAGE_DATA ? PAGE_DATA - packed.size : 0;
  } while (room < v->few.limit);
  levels_drop(&v->few, v->coarsest);
  levels_drop(&v->many, v->coarsest);
  contents.size = packed.size = 0;
  view_contents(v, &contents);
  compress_bytes(&packed, contents.data, contents.size);
  begin_page(out, "");
  put_packed(out, "contents", 0, &packed);
  for (i = 0; i < v->few.chunk_count; i++) put_packed(out, "chunk", i, &v->few.chunks[i].data);
  for (i = 0; i < v->many.chunk_count; i++) put_packed(out, "chunk", v->few.chunk_count + i, &v->many.chunks[i].data);
  end_page(out);
  free(contents.data);
  free(packed.data);
}
