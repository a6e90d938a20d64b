/* text.c - text from traces, file names and messages, made safe for an output: see tool.h
 *
 * Text from a trace may contain anything. A control sequence could change the terminal's settings or clipboard, a line
 * separator or an override of the direction could forge what a line says, and bad UTF-8 makes JSON and Protocol Buffers
 * unreadable. All text that the tool did not choose itself goes through show_character(). */

#include "tool.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* The length of the valid UTF-8 sequence at the beginning of a text, and its character; 0: none. */
static size_t utf8_length(const char *text, size_t size, uint32_t *character) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *at = (const unsigned char *)text;
  size_t length = *at < 0x80 ? 1 : (*at & 0xe0) == 0xc0 ? 2 : (*at & 0xf0) == 0xe0 ? 3 : (*at & 0xf8) == 0xf0 ? 4 : 0;
  size_t i;
  if (!length || length > size) return 0;
  *character = length == 1 ? *at : *at & (0x7fu >> length);
  for (i = 1; i < length; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
    *character = *character << 6 | (at[i] & 0x3f);
  }
  if (*character < least[length] || *character > 0x10ffff) return 0;
  return *character >= 0xd800 && *character < 0xe000 ? 0 : length; /* surrogates */
}

/* Whether a character could do more on a terminal than stand in its place: control characters, line and paragraph
 * separators, marks and overrides of the direction. */
static bool is_control(uint32_t character) {
  return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x61c || character == 0x200e ||
         character == 0x200f || (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069);
}

/* How many bytes the first character of a text has; 1 if it is not UTF-8, as in Go. `shown` replaces it; empty: it is
 * shown as it is. */
static size_t show_character(text_form form, const char *text, size_t size, char shown[8]) {
  uint32_t character = 0;
  size_t length = utf8_length(text, size, &character);
  *shown = 0;
  if (!length) strcpy(shown, replacement);
  else if (form == TEXT_JSON && (*text == '"' || *text == '\\')) snprintf(shown, 8, "\\%c", *text);
  else if (form == TEXT_CSV && *text == '"') strcpy(shown, "\"\"");
  else if (form == TEXT_JSON && is_control(character)) snprintf(shown, 8, "\\u%04x", (unsigned)character & 0xffff);
  else if (form != TEXT_UTF8 && is_control(character)) strcpy(shown, "?");
  return length ? length : 1;
}

/* Takes the next piece from the beginning of a text; false: nothing is left. */
static bool next_piece(text_form form, const char **text, size_t *size, char shown[8], const char **piece,
                       size_t *piece_size) {
  size_t plain = 0, length;
  if (!*size) return false;
  do {
    while (plain < *size && (*text)[plain] >= ' ' && (*text)[plain] < 0x7f && (*text)[plain] != '"' &&
           (*text)[plain] != '\\')
      plain++;
    length = plain < *size ? show_character(form, *text + plain, *size - plain, shown) : 0;
    if (!length || *shown) break;
    plain += length;
  } while (plain < *size);
  *piece = plain ? *text : shown;
  *piece_size = plain ? plain : strlen(shown);
  *text += plain ? plain : length;
  *size -= plain ? plain : length;
  return true;
}

void put_safe(bytes *to, text_form form, const char *text, size_t size) {
  const char *piece;
  char shown[8];
  size_t piece_size;
  while (next_piece(form, &text, &size, shown, &piece, &piece_size)) put_data(to, piece, piece_size);
}

void put_csv_text(bytes *to, const char *text, size_t size) {
  put_byte(to, '"');
  if (size && memchr("=+-@", *text, 4)) put_byte(to, '\'');
  put_safe(to, TEXT_CSV, text, size);
  put_byte(to, '"');
}

void put_visible(output *out, const char *text, size_t size) { put_safe(&out->block, TEXT_VISIBLE, text, size); }

void put_quoted(output *out, const char *text, size_t size) {
  put_byte(&out->block, '"');
  put_safe(&out->block, TEXT_JSON, text, size);
  put_byte(&out->block, '"');
}

void print_visible(FILE *to, const char *text, size_t size) {
  const char *piece;
  char shown[8];
  size_t piece_size;
  while (next_piece(TEXT_VISIBLE, &text, &size, shown, &piece, &piece_size)) fwrite(piece, 1, piece_size, to);
}

/* The end of what an opening bracket begins, after the closing one; 0: none. The '>' of an arrow closes nothing. */
static size_t bracketed(const char *name, size_t size, size_t at, char close) {
  char open = name[at];
  size_t depth = 0;
  for (; at < size; at++) {
    if (name[at] == open) depth++;
    else if (name[at] == close && name[at - 1] != '-' && --depth == 0) return at + 1;
  }
  return 0;
}

/* Whether a bracket belongs to a name: of an operator, an unnamed namespace or a method of Go. */
static bool is_part_of_name(const char *name, size_t size, size_t at) {
  static const char word[] = "operator", space[] = "(anonymous namespace)";
  size_t begin = at && name[at - 1] == name[at] ? at - 1 : at, length = sizeof word - 1;
  if (begin >= length && memcmp(name + begin - length, word, length) == 0) return true;
  if (size - at >= sizeof space - 1 && memcmp(name + at, space, sizeof space - 1) == 0) return true;
  return name[at] == '(' && at + 1 < size && name[at + 1] == '*';
}

/* Puts "..." for what is in the outermost brackets of a kind. Returns the new size. */
static size_t leave_out_lists(char *name, size_t size, char open, char close) {
  size_t from = 0, to = 0, end;
  while (from < size) {
    end = name[from] == open && !is_part_of_name(name, size, from) ? bracketed(name, size, from, close) : 0;
    if (end > from + 5) {
      name[to++] = open;
      memset(name + to, '.', 3);
      to += 3;
      from = end - 1;
    }
    name[to++] = name[from++];
  }
  return to;
}

size_t shorten(const char *name, size_t size, size_t room, char *to) {
  char copy[GOTRACE_MAX_STRING_SIZE];
  size_t head, tail;
  if (size > room && size <= sizeof copy) { /* what C++ and Rust have in names */
    memcpy(copy, name, size);
    name = copy;
    size = leave_out_lists(copy, size, '(', ')');
    if (size > room) size = leave_out_lists(copy, size, '<', '>');
  }
  head = size <= room ? size : (room - 3) / 2;
  tail = size <= room ? 0 : room - 3 - head;
  if (tail) {
    while (head && ((unsigned char)name[head] & 0xc0) == 0x80) --head; /* do not split a UTF-8 sequence */
    while (tail > 1 && ((unsigned char)name[size - tail] & 0xc0) == 0x80) --tail;
  }
  memcpy(to, name, head);
  if (!tail) return head;
  memset(to + head, '.', 3);
  memcpy(to + head + 3, name + size - tail, tail);
  return head + 3 + tail;
}

const char *duration_text(double nanoseconds, char text[32]) {
  static const struct {
    double size;
    const char *name;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  size_t i = 0;
  while (i < COUNT(units) && nanoseconds < units[i].size) i++;
  if (i < COUNT(units)) snprintf(text, 32, "%.3f %s", nanoseconds / units[i].size, units[i].name);
  else snprintf(text, 32, "%.0f ns", nanoseconds);
  return text;
}
