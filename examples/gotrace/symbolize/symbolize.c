/* symbolize.c - gotrace symbolize: functions, lines and inlined callers from debug information
 *
 * The tracer names a function by the symbols of its module. What only debug information tells comes from
 * llvm-symbolizer or addr2line: one process per file that has debug information, which gets the addresses of all traces
 * at once. Only the tables of stacks and strings are rewritten; every other byte stays as it is.
 *
 * Debug information may be in a file of its own (debug_files.h), whose symbols are read here. Some distributions strip
 * programs but leave them a small symbol table, compressed in the section .gnu_debugdata; it is read if built with
 * liblzma. Both are used where the tracer found no name.
 *
 * A trace contains, among its strings, "gotrace.module BASE LOW-HIGH BUILD-ID PATH" for each module. A file is used
 * only if its build id and addresses match. Frames that have a line are left alone, so repeating the command changes
 * nothing. Symbolize a trace before you cut or convert it: those commands keep only the strings that events refer to.
 *
 * Code that a process has compiled while it ran is in no file. `gotrace record` knows the process and when it began, so
 * it adds the names that the runtime has told (jit_names.h).
 *
 * Frames of inlined functions precede the frame of the function that contains them. Go's profiles identify a frame by
 * its pc, so each gets its own: the address of the frame, with the inlining depth in the highest byte. */

#include "../reading/pool.h"
#include "debug_files.h"
#include "jit_names.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_LZMA /* the Makefile looks for it */
#include <lzma.h>
#endif

#define V1_MOST_STACK 2048 /* bytes of a stack that readers of v1 accept */
#define DEPTH_SHIFT 56
#define MOST_INLINED 127
#define MOST_ANSWER (1 << 20) /* bytes that are read about an address */
#define MOST_GROWTH 64        /* how many times as large what is unpacked or demangled may be */

typedef struct source_frame {
  uint32_t function, file; /* texts */
  uint64_t line;
} source_frame;

typedef struct address {
  uint64_t pc;          /* relative to the module's base */
  source_frame *frames; /* innermost first */
  uint32_t count, capacity;
} address;

/* A file with code. A trace may name it as several modules: at other addresses, or by other paths. */
typedef struct object {
  struct object *next;
  struct module *modules;
  bool separate;      /* symbols are from a file with debug information only */
  map places;         /* from a relative pc to its address */
  elf_symbols *whole; /* of the file that a debugger is asked about; NULL: none */
  elf_symbols *small; /* of .gnu_debugdata or of a debug file; NULL: none */
  address **addresses;
  size_t count, capacity;
} object;

typedef struct module {
  struct module *of_object; /* the next one of the same object */
  uint64_t base, low, high;
  const char *id, *path;
  object *object;
} module;

typedef struct range { /* a module, sorted by its lowest address */
  module *module;
  const module *furthest; /* this one or one before it, whichever has the highest address */
  uint64_t others;        /* the highest address of the others up to here */
} range;

/* The tables of a generation; v1: of the trace. */
typedef struct tables {
  map strings; /* from an id to a text */
  range *modules;
  size_t count, capacity;
  uint64_t last_string; /* largest id */
  map added;            /* from a text to its id, uint64_t, if it was added to the trace */
} tables;

typedef struct mangled {
  uint32_t name, demangled; /* texts; `demangled`: 0 if it is not known */
} mangled;

struct symbolizer {
  choose_file *choose;
  map modules; /* struct module by description, as in the traces */
  map by_key;  /* from what a file is known by, build id (or else path) and relative addresses, to an object */
  object *objects;
  map mangled; /* struct mangled by name */
  map started; /* by nameless_key(), (uint32_t), a text: the name that find_main() has found */
  /* The current trace. */
  const uint8_t *data; /* NULL: there is none */
  size_t size;
  bool v2;
  uint8_t string_kind, stack_kind; /* numbers of the events of its tables */
  map generations;                 /* to tables */
  bytes strings, stack;            /* v1: records, not yet written */
  jit_names jit;                   /* of the process of the trace that is written next */
};

/* ---------------------------------------------------------------------------------------------------- programs ---- */

/* Whether a program is on PATH. */
static bool is_there(const char *name) {
  const char *path = getenv("PATH");
  while (path && *path) {
    size_t length = strcspn(path, ":");
    char file[4096];
    int n = snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
    if (n > 0 && (size_t)n < sizeof file && access(file, X_OK) == 0) return true;
    path += length + (path[length] == ':');
  }
  return false;
}

/* A few bytes of a mangled name can stand for gigabytes, and a demangler may have any defect. So it gets memory, and
 * time, of the processor and in all, by the size of its input. A core file of it would tell nobody anything. */
#define DEMANGLER_MEMORY ((rlim_t)512 << 20)

static rlim_t demangler_seconds(off_t size) { return (rlim_t)(5 + (size >> 18)); }

static void limit(int resource, rlim_t most) {
  const struct rlimit both = {most, most};
  setrlimit(resource, &both);
}

/* The bytes that this process has mapped. */
static rlim_t mapped_bytes(void) {
  unsigned long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%llu", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void limit_demangler(off_t size, bool here) {
  limit(RLIMIT_AS, DEMANGLER_MEMORY + (here ? mapped_bytes() : 0));
  limit(RLIMIT_CPU, demangler_seconds(size));
  limit(RLIMIT_CORE, 0);
}

/* Where no demangler is installed, this process becomes one, by the library of C++. That reads names of C++ and Rust's
 * older ones, not those that begin with _R. It is not linked, so that the tool needs only the C library. Names are
 * hostile, so it can open nothing and start nothing any more; one that grows too much stays as it is. */
static void demangle_here(void) {
  static char line[4098];
  char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
  void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL), *found;
  int file;
  if (!library || !(found = dlsym(library, "__cxa_demangle"))) _exit(127);
  memcpy(&demangle, &found, sizeof demangle);
  for (file = 3; file < 1024; file++) close(file);
  limit(RLIMIT_NOFILE, 3);
  limit(RLIMIT_NPROC, 0);
  while (fgets(line, sizeof line, stdin)) {
    size_t size = strcspn(line, "\n");
    int status = 0;
    char *name;
    line[size] = 0;
    name = demangle(line, NULL, NULL, &status);
    puts(name && strlen(name) <= MOST_GROWTH * size ? name : line);
    free(name);
  }
  _exit(fflush(stdout) == 0 ? 0 : 1);
}

static uint64_t seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec;
}

/* Whether a program waits to open a file, or false if that cannot be seen. A debugger opens what it finds beside the
 * file that it reads (a debug link, .dwo, .dwp). If that is a pipe, it would wait for ever. */
static bool is_opening(pid_t process) {
  char path[64];
  long call = -1;
  FILE *file;
  snprintf(path, sizeof path, "/proc/%d/syscall", (int)process);
  file = fopen(path, "re");
  if (!file) return false;
  if (fscanf(file, "%ld", &call) != 1) call = -1; /* it runs */
  fclose(file);
#ifdef SYS_open
  if (call == SYS_open) return true;
#endif
  return call == SYS_openat;
}

#define MOST_OPENING 5 /* seconds */

/* Runs a program (NULL: demangle_here) with a file as its input, and appends its output to `result`. False: it fails,
 * or prints more than `most` bytes, or waits for a pipe, or a demangler takes too long; then it is ended. */
static bool run_program(char *const *words, bool demangler, FILE *file, uint64_t most, bytes *result) {
  int ends[2], status = -1;
  uint64_t start = seconds_now(), size, patience;
  unsigned opening = 0; /* seconds */
  struct pollfd answers = {.events = POLLIN};
  pid_t child;
  ssize_t n = 1;
  if (fflush(file) != 0 || pipe2(ends, O_CLOEXEC) != 0) fail("%s", strerror(errno));
  size = (uint64_t)lseek(fileno(file), 0, SEEK_END);
  patience = demangler ? 2 * demangler_seconds((off_t)size) : 0;
  signal(SIGCHLD, SIG_DFL); /* otherwise the status may be lost */
  child = fork();
  if (child < 0) fail("%s", strerror(errno));
  if (child == 0) {
    int nothing = open("/dev/null", O_WRONLY);
    signal(SIGPIPE, SIG_DFL);
    dup2(fileno(file), 0);
    dup2(ends[1], 1);
    if (nothing >= 0) dup2(nothing, 2);
    if (demangler) limit_demangler((off_t)size, !words[0]);
    lseek(0, 0, SEEK_SET);
    if (!words[0]) demangle_here();
    execvp(words[0], words);
    _exit(127);
  }
  close(ends[1]);
  answers.fd = ends[0];
  while (n != 0 && result->size <= most && opening < MOST_OPENING && (!patience || seconds_now() - start < patience)) {
    if (poll(&answers, 1, 1000) <= 0) {
      opening = is_opening(child) ? opening + 1 : 0;
      continue;
    }
    n = read(ends[0], bytes_room(result, 1 << 16), 1 << 16);
    if (n < 0 && errno != EINTR) break;
    if (n > 0) result->size += (size_t)n;
  }
  close(ends[0]);
  if (n != 0) kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return n == 0 && result->size <= most && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static FILE *temporary_file(void) {
  FILE *file = tmpfile();
  if (!file) fail("temporary file: %s", strerror(errno));
  return file;
}

/* The next line of an output, without the newline; false: none. */
static bool next_line(const bytes *answers, size_t *at, pool_text *line) {
  const char *begin = (const char *)answers->data + *at, *end;
  if (*at >= answers->size) return false;
  end = memchr(begin, '\n', answers->size - *at);
  line->data = begin;
  line->size = (uint32_t)(end ? (size_t)(end - begin) : answers->size - *at);
  *at += (size_t)line->size + 1;
  return true;
}

static bool is_unknown(pool_text text) { return text.size == 2 && memcmp(text.data, "??", 2) == 0; }

/* ----------------------------------------------------------------------------------------------------- modules ---- */

static bool parse_hex(const char **at, char end, uint64_t *value) {
  char *after;
  *value = strtoull(*at, &after, 16);
  if (after == *at || *after != end) return false;
  *at = after + 1;
  return true;
}

static object *object_of(symbolizer *s, const module *m) {
  bool has_id = strlen(m->id) > 2;
  char *key = keep(strlen(m->id) + strlen(m->path) + 64);
  object *o;
  bool made;
  sprintf(key, "%llx-%llx %s%s", (ull)(m->low - m->base), (ull)(m->high - m->base), m->id, has_id ? "" : m->path);
  o = map_keep(&s->by_key, pool_put_string(key), sizeof *o, &made);
  if (!made) return o;
  o->next = s->objects;
  return s->objects = o;
}

/* The module that a string of the trace describes; NULL if it is another string. */
static module *module_of(symbolizer *s, uint32_t description) {
  static const char begin[] = "gotrace.module ";
  size_t length = sizeof begin - 1, id_length;
  const char *at = pool_text_of(description).data;
  module *m;
  if (strncmp(at, begin, length) != 0) return NULL;
  if ((m = map_get(&s->modules, description))) return m;
  m = keep(sizeof *m);
  at += length;
  if (!parse_hex(&at, ' ', &m->base) || !parse_hex(&at, '-', &m->low) || !parse_hex(&at, ' ', &m->high)) return NULL;
  id_length = strspn(at, "0123456789abcdef-");                       /* it becomes part of a path */
  if (at[id_length] != ' ' || at[id_length + 1] != '/') return NULL; /* not in a file */
  m->id = pool_text_of(pool_put_text(at, id_length)).data;
  m->path = at + id_length + 1;
  m->object = object_of(s, m);
  m->of_object = m->object->modules;
  m->object->modules = m;
  map_put(&s->modules, description, m);
  return m;
}

static int by_address(const void *a, const void *b) {
  const module *x = ((const range *)a)->module, *y = ((const range *)b)->module;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* Prepares a table for module_at(). */
static void sort_modules(tables *t) {
  size_t i, kept = 0;
  if (t->count) qsort(t->modules, t->count, sizeof *t->modules, by_address);
  for (i = 0; i < t->count; i++)
    if (!kept || t->modules[i].module != t->modules[kept - 1].module) t->modules[kept++] = t->modules[i];
  t->count = kept;
  for (i = 0; i < t->count; i++) {
    range *r = &t->modules[i];
    const range *last = i ? r - 1 : NULL;
    bool further = !last || r->module->high > last->furthest->high;
    uint64_t nearer = !last ? 0 : further ? last->furthest->high : r->module->high;
    r->furthest = further ? r->module : last->furthest;
    r->others = last && last->others > nearer ? last->others : nearer;
  }
}

/* The only module that contains an address. */
static const module *module_at(const tables *t, uint64_t pc) {
  size_t low = 0, high = t->count; /* those before `low` begin at the address or before it */
  const range *r;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (t->modules[middle].module->low <= pc - 1) low = middle + 1;
    else high = middle;
  }
  if (!low) return NULL;
  r = &t->modules[low - 1];
  return pc - 1 < r->furthest->high && pc - 1 >= r->others ? r->furthest : NULL;
}

static tables *tables_of(symbolizer *s, uint64_t generation) {
  return map_keep(&s->generations, generation, sizeof(tables), NULL);
}

static uint32_t string_of(const tables *t, uint64_t id) { return (uint32_t)(uintptr_t)map_get(&t->strings, id); }

/* ------------------------------------------------------------------------------------------- debug information ---- */

static bool is_address(pool_text line) {
  size_t i;
  if (line.size < 3 || line.data[0] != '0' || line.data[1] != 'x') return false;
  for (i = 2; i < line.size; i++)
    if (!strchr("0123456789abcdefABCDEF", line.data[i])) return false;
  return true;
}

/* A name in the older mangling of Rust, once its parts are joined by colons, is still coded:
 * "_$LT$T$u20$as$u20$a..B$GT$::c::h0123456789abcdef". By the hash at its end it is recognized. Rewrites it in place;
 * returns the size. */
static size_t clean_rust(char *name, size_t size) {
  static const struct {
    const char *code, *is;
  } codes[] = {{"$LT$", "<"}, {"$GT$", ">"}, {"$RF$", "&"}, {"$BP$", "*"},
               {"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","},  {"$SP$", "@"}};
  size_t digits = 0, from = 0, to = 0, i, length = 0;
  while (digits < 16 && digits < size && strchr("0123456789abcdef", name[size - 1 - digits])) digits++;
  if (digits < 16 || size < 20 || memcmp(name + size - 19, "::h", 3) != 0) return size;
  size -= 19;
  while (from < size) {
    const char *at = name + from, *end;
    size_t rest = size - from;
    bool begins_part = from == 0 || at[-1] == ':';
    for (i = 0; i < COUNT(codes); i++) {
      length = strlen(codes[i].code);
      if (rest >= length && memcmp(at, codes[i].code, length) == 0) break;
    }
    if (i < COUNT(codes)) {
      name[to++] = *codes[i].is;
      from += length;
    } else if (rest > 3 && at[0] == '$' && at[1] == 'u' && (end = memchr(at + 2, '$', rest - 2)) && end < at + 6) {
      unsigned long code = strtoul(at + 2, NULL, 16);
      name[to++] = code > 31 && code < 127 ? (char)code : '?';
      from += (size_t)(end + 1 - at);
    } else if (rest > 1 && memcmp(at, "..", 2) == 0) {
      name[to++] = ':';
      name[to++] = ':';
      from += 2;
    } else if (begins_part && rest > 1 && at[0] == '_' && at[1] == '$') {
      from++; /* an identifier begins with no sign */
    } else {
      name[to++] = *at;
      from++;
    }
  }
  return to;
}

/* Strings of C++ by the name that programs use. Rewrites the name in place; returns the size. */
static size_t abbreviate(char *name, size_t size) {
  static const char *const strings[] = {
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>",
      "std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >",
      "std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char>>"};
  static const char is[] = "std::string";
  char *at, *from;
  size_t i, length;
  for (i = 0; i < COUNT(strings); i++) {
    length = strlen(strings[i]);
    for (from = name; (at = memmem(from, (size_t)(name + size - from), strings[i], length));
         from = at + sizeof is - 1) {
      memcpy(at, is, sizeof is - 1);
      memmove(at + sizeof is - 1, at + length, (size_t)(name + size - at) - length);
      size -= length - (sizeof is - 1);
    }
  }
  return size;
}

/* The size of a name without the number that LLVM gives to a function of one file which it uses in others, too:
 * "f (.llvm.123)", "f [clone .llvm.123]", "f.llvm.123". A NUL follows the name. */
static size_t without_llvm(const char *name, size_t size) {
  static const char *const before[] = {" (", " [clone ", ""};
  const char *suffix = strstr(name, ".llvm."), *end = suffix ? suffix + strlen(".llvm.") : name;
  size_t i, length;
  end += strspn(end, "0123456789");
  if (!suffix || end + strspn(end, ")]") != name + size) return size;
  for (i = 0; i < COUNT(before); i++) {
    length = strlen(before[i]);
    if ((size_t)(suffix - name) > length && memcmp(suffix - length, before[i], length) == 0)
      return (size_t)(suffix - name) - length;
  }
  return size;
}

/* A readable name, as text. */
static uint32_t put_readable(pool_text line) {
  char name[4096];
  if (line.size >= sizeof name) return pool_put_text(line.data, line.size);
  memcpy(name, line.data, line.size);
  name[line.size] = 0;
  return pool_put_text(name, abbreviate(name, clean_rust(name, without_llvm(name, line.size))));
}

/* "FILE:LINE", perhaps with a remark in parentheses. "??" means unknown. */
static void parse_place(pool_text line, source_frame *frame) {
  const char *end = line.data + line.size, *colon = end;
  while (colon > line.data && *colon != ':') colon--;
  if (*colon != ':' || line.size >= 4096) return;
  frame->line = strtoull(colon + 1, NULL, 10); /* a NUL follows the output */
  line.size = (uint32_t)(colon - line.data);
  if (!frame->line || is_unknown(line)) frame->line = 0;
  else frame->file = pool_put_text(line.data, line.size);
}

/* Parses the answers: each address, then two lines per function, innermost first. */
static void take_places(object *o, bytes *answers) {
  size_t at = 0, i = 0;
  pool_text line;
  address *a = NULL;
  *bytes_room(answers, 1) = 0;
  while (next_line(answers, &at, &line)) {
    source_frame frame;
    if (is_address(line)) {
      if (i == o->count) return;
      a = o->addresses[i++];
      continue;
    }
    if (!a || !line.size) continue;
    memset(&frame, 0, sizeof frame);
    if (!is_unknown(line)) frame.function = put_readable(line);
    if (!next_line(answers, &at, &line)) return;
    parse_place(line, &frame);
    if (a->count == MOST_INLINED) continue;
    GROW(a->frames, a->count, a->capacity);
    a->frames[a->count++] = frame;
  }
}

/* Whether a file is the one that was traced, by its build id and its addresses. */
static bool is_traced(const module *m, const char *path, char *id) {
  uint64_t low, high;
  return elf_describe(path, id, &low, &high) && strcmp(id, m->id) == 0 && low == m->low - m->base &&
         high == m->high - m->base;
}

/* Reads the small symbol table that some distributions leave in stripped files. */
static void read_small_table(object *o, const char *file) {
#ifdef HAVE_LZMA
  bytes packed = {0}, image = {0};
  lzma_stream stream = LZMA_STREAM_INIT;
  lzma_ret status = LZMA_OK;
  uint64_t most;
  if (!elf_section(file, ".gnu_debugdata", &packed)) {
    free(packed.data);
    return;
  }
  most = MOST_ANSWER + MOST_GROWTH * (uint64_t)packed.size;
  if (lzma_stream_decoder(&stream, (uint64_t)256 << 20, 0) != LZMA_OK) fail("out of memory");
  stream.next_in = packed.data;
  stream.avail_in = packed.size;
  while (status == LZMA_OK && image.size <= most) {
    stream.next_out = bytes_room(&image, 1 << 16);
    stream.avail_out = 1 << 16;
    status = lzma_code(&stream, LZMA_FINISH);
    image.size += ((size_t)1 << 16) - stream.avail_out;
  }
  lzma_end(&stream);
  if (status == LZMA_STREAM_END) o->small = elf_symbols_of(&image);
  else report("%s: its section .gnu_debugdata is damaged or too large", file);
  free(packed.data);
  free(image.data);
#else
  (void)o, (void)file;
#endif
}

/* The name for a relative address in the table; NULL: none. */
static const char *small_name(const object *o, uint64_t pc) { return o->small ? elf_function(o->small, pc - 1) : NULL; }

/* The file to read, which must be the one that was traced; NULL: none, which is reported. */
static const char *traced_file(const symbolizer *s, const object *o) {
  const module *m;
  const char *file = NULL;
  char id[ELF_ID_TEXT];
  for (m = o->modules; m; m = m->of_object) {
    strcpy(id, "-");
    file = s->choose ? s->choose(m->path) : m->path;
    if (file && is_traced(m, file, id)) return file;
    if (!m->of_object) break; /* the first one that the trace names is reported */
  }
  if (!file) report("%s may be another user's file: its functions stay as they are", m->path);
  else if (access(file, R_OK) != 0) report("%s: %s: its functions stay as they are", m->path, strerror(errno));
  else
    report("%s is not the file that was traced (build id %s, not %s): its functions stay as they are", m->path, id,
           m->id);
  return NULL;
}

/* Whether there may be debug information about a file. Without it, a debugger knows only the symbols, by which the
 * tracer has named the functions. */
static bool has_debug_information(const char *file) {
  const char *servers = getenv("DEBUGINFOD_URLS");
  return elf_section(file, ".debug_line", NULL) || elf_section(file, ".zdebug_line", NULL) || (servers && *servers);
}

/* The debugger that is installed; NULL: none. */
static const char *debugger(void) {
  return is_there("llvm-symbolizer") ? "llvm-symbolizer" : is_there("addr2line") ? "addr2line" : NULL;
}

static void ask_debugger(object *o, const char *file) {
  const char *tool = debugger();
  char named[DEBUG_FILE_PATH + 8];
  char *llvm[] = {"llvm-symbolizer", "--output-style=GNU", "-a", "-f", "-i", "-C", named, NULL};
  char *binutils[] = {"addr2line", "-a", "-f", "-i", "-C", named, NULL};
  FILE *questions;
  bytes answers = {0};
  size_t i;
  if (!tool) return;
  snprintf(named, sizeof named, "--exe=%s", file);
  questions = temporary_file();
  for (i = 0; i < o->count; i++) fprintf(questions, "0x%llx\n", (ull)(o->addresses[i]->pc - 1));
  if (run_program(strcmp(tool, "addr2line") == 0 ? binutils : llvm, false, questions, o->count * (uint64_t)MOST_ANSWER,
                  &answers))
    take_places(o, &answers);
  else report("%s failed for %s: its functions stay as they are", tool, file);
  fclose(questions);
  free(answers.data);
}

/* The symbols of a debug file name functions where no debugger is installed; the program's own are those that the
 * tracer has used. */
static void read_object(const symbolizer *s, object *o) {
  char separate[DEBUG_FILE_PATH];
  const char *id = o->modules->id, *file;
  if (find_debug_file(id, NULL, s->choose, separate)) { /* which needs no program */
    o->separate = true;
  } else {
    if (!(file = traced_file(s, o))) return;
    o->separate = find_debug_file(id, file, s->choose, separate);
    if (!o->separate) {
      read_small_table(o, file);
      if (!has_debug_information(file)) return;
      o->whole = elf_symbols_in(file);
      ask_debugger(o, file);
      return;
    }
  }
  o->small = o->whole = elf_symbols_in(separate);
  ask_debugger(o, separate);
}

/* ------------------------------------------------------------------------------------------------------ names ---- */

static void want_demangled(symbolizer *s, uint32_t name) {
  pool_text text = pool_text_of(name);
  bool is_mangled = (strncmp(text.data, "_Z", 2) == 0 || strncmp(text.data, "_R", 2) == 0) && text.size > 2 &&
                    text.size < 4096 && !memchr(text.data, '\n', text.size);
  if (is_mangled) ((mangled *)map_keep(&s->mangled, name, sizeof(mangled), NULL))->name = name;
}

/* Each name has one line of answers. False: there are others, so it is not known which belongs to which. */
static bool take_demangled(symbolizer *s, const bytes *answers) {
  pool_text line;
  size_t i, at = 0, count = 0;
  while (next_line(answers, &at, &line)) count++;
  if (count != s->mangled.count) return false;
  for (i = 0, at = 0; i < count && next_line(answers, &at, &line); i++)
    ((mangled *)s->mangled.values[i])->demangled = put_readable(line);
  return true;
}

static void demangle_all(symbolizer *s) {
  const char *tool = is_there("llvm-cxxfilt") ? "llvm-cxxfilt" : is_there("c++filt") ? "c++filt" : NULL;
  char *words[] = {(char *)(uintptr_t)tool, NULL};
  FILE *questions;
  bytes answers = {0};
  size_t i;
  if (!s->mangled.count) return;
  questions = temporary_file();
  for (i = 0; i < s->mangled.count; i++) {
    pool_text name = pool_text_of(((const mangled *)s->mangled.values[i])->name);
    fprintf(questions, "%.*s\n", (int)name.size, name.data);
  }
  if (!(run_program(words, true, questions, MOST_ANSWER + MOST_GROWTH * (uint64_t)ftell(questions), &answers) &&
        take_demangled(s, &answers)) &&
      tool)
    report("%s failed: names of C++ and Rust stay as they are", tool);
  fclose(questions);
  free(answers.data);
}

static uint32_t demangled(const symbolizer *s, uint32_t name) {
  const mangled *of = map_get(&s->mangled, name);
  return of && of->demangled ? of->demangled : name;
}

/* Looks up everything that can be known about a file's addresses. */
static void look_up(symbolizer *s, object *o) {
  size_t i;
  read_object(s, o);
  for (i = 0; i < o->count; i++) {
    const char *name = small_name(o, o->addresses[i]->pc);
    if (name) want_demangled(s, pool_put_string(name));
  }
}

/* ----------------------------------------------------------------------------------------------------- stacks ---- */

typedef struct cursor {
  const uint8_t *at, *end;
} cursor;

static uint64_t number_at(cursor *c) {
  uint64_t value;
  if (!take_number(&c->at, c->end, &value)) fail("truncated number");
  return value;
}

typedef struct frame {
  uint64_t pc, function, file, line;
} frame;

static frame take_frame(cursor *c) {
  frame f;
  f.pc = number_at(c);
  f.function = number_at(c);
  f.file = number_at(c);
  f.line = number_at(c);
  return f;
}

/* The file that contains a frame without a line, and the frame's address in it; NULL: none. */
static object *object_at(const tables *t, const frame *f, uint64_t *pc) {
  const module *m = f->line ? NULL : module_at(t, f->pc);
  *pc = m ? f->pc - m->base : 0;
  return m ? m->object : NULL;
}

/* Whether this is how the tracer names a function without a symbol: "pigz!0x11240", "pigz+0x11250". */
static bool is_nameless(uint32_t text) {
  pool_text name = pool_text_of(text);
  size_t i = name.size;
  while (i > 0 && name.data[i - 1] != '!' && name.data[i - 1] != '+') i--;
  return i > 0 && name.size - i > 2 && memcmp(name.data + i, "0x", 2) == 0;
}

/* What a function without a symbol is known by: its name and its file. Two files may have one such name. */
static uint64_t nameless_key(const tables *t, const frame *f) {
  return (uint64_t)string_of(t, f->function) << 32 | string_of(t, f->file);
}

static void is_started_as(symbolizer *s, const tables *t, const frame *f, const char *function) {
  uint32_t name = string_of(t, f->function);
  pool_text text = pool_text_of(name);
  if (is_nameless(name) && memchr(text.data, '!', text.size)) /* the function's begin, not a place in it */
    map_put(&s->started, nameless_key(t, f), (void *)(uintptr_t)pool_put_string(function));
}

/* Of a program without symbols, stacks show two functions: the C library's __libc_start_main was called by _start, and
 * calls main, in some versions by way of another function of the C library. `f`: four frames, innermost first. */
static void find_main(symbolizer *s, const tables *t, const frame *f) {
  static const char start[] = "__libc_start_main", calls[] = "__libc_start_call_main";
  bool by_way;
  if (strncmp(pool_text_of(string_of(t, f[2].function)).data, start, strlen(start)) != 0) return;
  by_way = f[1].file == f[2].file || strcmp(pool_text_of(string_of(t, f[1].function)).data, calls) == 0;
  is_started_as(s, t, &f[by_way ? 0 : 1], "main");
  is_started_as(s, t, &f[3], "_start");
}

/* First pass over a stack: collects addresses and names to look up. `c` is after the stack's id. */
static void look_at_stack(symbolizer *s, const tables *t, cursor *c) {
  uint64_t count = number_at(c);
  frame last[4] = {{0}};
  for (; count; count--) {
    frame f = take_frame(c);
    uint64_t pc;
    object *o = object_at(t, &f, &pc);
    memmove(last, last + 1, 3 * sizeof f);
    last[3] = f;
    find_main(s, t, last);
    want_demangled(s, string_of(t, f.function));
    if (!o || map_get(&o->places, pc)) continue;
    GROW(o->addresses, o->count, o->capacity);
    map_put(&o->places, pc, o->addresses[o->count++] = keep(sizeof(address)));
    o->addresses[o->count - 1]->pc = pc;
  }
}

static void write_string(const symbolizer *s, bytes *b, uint64_t id, pool_text string) {
  put_byte(b, s->string_kind);
  put_number(b, id);
  put_number(b, string.size);
  put_data(b, string.data, string.size);
}

/* The id of a string in a generation's table; adds it if necessary. */
static uint64_t string_id(symbolizer *s, tables *t, uint32_t name) {
  pool_text string = pool_text_of(name);
  uint64_t *id;
  bool made;
  string.size = (uint32_t)cut_size(string.data, string.size);
  if (!string.size) return 0;
  id = map_keep(&t->added, pool_put_text(string.data, string.size), sizeof *id, &made);
  if (made) write_string(s, &s->strings, *id = ++t->last_string, string);
  return *id;
}

static void put_frame(bytes *b, uint64_t pc, uint64_t function, uint64_t file, uint64_t line) {
  put_number(b, pc);
  put_number(b, function);
  put_number(b, file);
  put_number(b, line);
}

/* Writes the frames that replace a frame; returns their number. */
static uint32_t write_frame(symbolizer *s, tables *t, const frame *f, bytes *b, uint32_t room) {
  uint32_t old = string_of(t, f->function), name = demangled(s, old);
  uint64_t pc;
  const object *o = object_at(t, f, &pc);
  const address *a = o ? map_get(&o->places, pc) : NULL;
  const source_frame *last = a && a->count ? &a->frames[a->count - 1] : NULL;
  uint64_t function = f->function;
  uint32_t i, count;
  const jit_function *jit = !o && !f->line && !f->file ? jit_names_at(&s->jit, f->pc) : NULL;
  if (jit) {
    uint64_t place = jit->file ? string_id(s, t, jit->file) : 0;
    put_frame(b, f->pc, string_id(s, t, jit->function), place, jit->line);
    return 1;
  }
  if (!last || !last->line || !last->function) { /* only a symbol's name, which may be a neighbour's */
    const char *symbol = o && is_nameless(old) ? small_name(o, pc) : NULL;
    uint32_t started = (uint32_t)(uintptr_t)map_get(&s->started, nameless_key(t, f));
    if (last && o->separate && last->function) name = last->function;
    else if (symbol) name = demangled(s, pool_put_string(symbol));
    else if (started) name = started;
    if (name != old) function = string_id(s, t, name);
    put_frame(b, f->pc, function, f->file, f->line);
    return 1;
  }
  /* No call ends in a function's first bytes: a thread begins there, in what is not inlined. */
  i = o->whole && (elf_is_start(o->whole, pc - 1) || elf_is_start(o->whole, pc - 2)) ? a->count - 1 : 0;
  for (count = 0; i < a->count && count < room; i++, count++) {
    const source_frame *from = &a->frames[i];
    uint64_t own_pc = f->pc | (uint64_t)(a->count - 1 - i) << DEPTH_SHIFT;
    put_frame(b, own_pc, string_id(s, t, from->function), string_id(s, t, from->file), from->line);
  }
  return count;
}

/* Writes a stack's id, number of frames and frames into s->stack. */
static void write_stack(symbolizer *s, tables *t, uint64_t id, cursor *c) {
  static bytes frames;
  uint64_t left = number_at(c);
  uint32_t count = 0;
  frames.size = s->stack.size = 0;
  for (; left; left--) {
    frame f = take_frame(c);
    size_t before = frames.size;
    uint32_t added;
    if (count >= GOTRACE_STACK_SIZE) continue;
    added = write_frame(s, t, &f, &frames, GOTRACE_STACK_SIZE - count);
    if (!s->v2 && frames.size > V1_MOST_STACK - 2 * GOTRACE_BYTES_PER_NUMBER) {
      frames.size = before;
      count += GOTRACE_STACK_SIZE; /* takes no more */
    } else {
      count += added;
    }
  }
  if (count >= GOTRACE_STACK_SIZE && !s->v2) { /* count those that fitted */
    cursor written = {frames.data, frames.data + frames.size};
    for (count = 0; written.at < written.end; count++) take_frame(&written);
  }
  put_number(&s->stack, id);
  put_number(&s->stack, count);
  put_data(&s->stack, frames.data, frames.size);
}

/* -------------------------------------------------------------------------------------------------- the trace ---- */

static void take_string(symbolizer *s, tables *t, uint64_t id, const char *data, size_t size) {
  uint32_t string = pool_put_text(data, size);
  module *m = module_of(s, string);
  map_put(&t->strings, id, (void *)(uintptr_t)string);
  if (id > t->last_string) t->last_string = id;
  if (!m) return;
  GROW(t->modules, t->count, t->capacity);
  t->modules[t->count++] = (range){m, NULL, 0};
}

/* Collects strings and modules or, with `stacks`, the stacks' addresses. The events of tables are the same in both
 * families. */
static void look(symbolizer *s, input *in, bool stacks) {
  gotrace_event e;
  gotrace_decoder_info info;
  if (input_decode(in, true) != GOTRACE_OK) fail("%s", input_error(in));
  while (input_next(in, &e) == GOTRACE_OK) {
    tables *t;
    cursor c = {s->data + e.offset + 1, s->data + s->size};
    if (e.kind != (stacks ? s->stack_kind : s->string_kind)) continue;
    gotrace_decoder_get_info(in->decoder, &info);
    t = tables_of(s, s->v2 ? info.generation : 0);
    if (!stacks) {
      uint64_t id = number_at(&c), size = number_at(&c);
      take_string(s, t, id, (const char *)c.at, (size_t)size);
    } else {
      if (!s->v2) number_at(&c); /* its size */
      number_at(&c);
      look_at_stack(s, t, &c);
    }
  }
}

static void write_v1(symbolizer *s, input *in, output *out) {
  tables *t = tables_of(s, 0);
  const uint8_t *done = s->data;
  gotrace_event e;
  if (input_decode(in, true) != GOTRACE_OK) fail("%s", input_error(in));
  while (input_next(in, &e) == GOTRACE_OK) {
    cursor c = {s->data + e.offset + 1, s->data + s->size};
    uint64_t size, id;
    if (e.kind != s->stack_kind) continue;
    put_data(&out->block, done, (size_t)(s->data + e.offset - done));
    size = number_at(&c);
    done = c.at + size;
    id = number_at(&c);
    write_stack(s, t, id, &c);
    put_data(&out->block, s->strings.data, s->strings.size);
    s->strings.size = 0;
    put_byte(&out->block, s->stack_kind | 3u << GOTRACE_ARG_COUNT_SHIFT);
    put_number(&out->block, s->stack.size);
    put_data(&out->block, s->stack.data, s->stack.size);
    output_check(out);
  }
  put_data(&out->block, done, (size_t)(s->data + s->size - done));
}

/* Writes a batch of a table and empties it. */
static void write_batch(output *out, const uint64_t *head, bytes *table) {
  unsigned i;
  if (!table->size) return;
  put_byte(&out->block, GOTRACE_V2_EVENT_BATCH);
  for (i = 0; i < 3; i++) put_number(&out->block, head[i]); /* generation, thread, time */
  put_number(&out->block, table->size);
  put_data(&out->block, table->data, table->size);
  output_check(out);
  table->size = 0;
}

/* Writes the added strings, in as many batches as they need. */
static void write_strings(symbolizer *s, output *out, const uint64_t *head) {
  cursor c = {s->strings.data, NULL};
  bytes table = {0};
  if (!s->strings.size) return;
  c.end = c.at + s->strings.size;
  while (c.at < c.end) {
    const uint8_t *begin = c.at++;
    uint64_t size;
    number_at(&c);
    size = number_at(&c);
    c.at += size;
    if (table.size + (size_t)(c.at - begin) > GOTRACE_MAX_BATCH_SIZE) write_batch(out, head, &table);
    if (!table.size) put_byte(&table, GOTRACE_V2_STRINGS);
    put_data(&table, begin, (size_t)(c.at - begin));
  }
  write_batch(out, head, &table);
  free(table.data);
  s->strings.size = 0;
}

static void write_stacks(symbolizer *s, output *out, const uint64_t *head, cursor body) {
  tables *t = tables_of(s, head[0]);
  bytes table = {0};
  while (body.at < body.end) {
    uint64_t id;
    if (*body.at++ != GOTRACE_V2_STACK) fail("unexpected event among the stacks");
    id = number_at(&body);
    write_stack(s, t, id, &body);
    if (table.size + s->stack.size + 1 > GOTRACE_MAX_BATCH_SIZE) write_batch(out, head, &table);
    if (!table.size) put_byte(&table, GOTRACE_V2_STACKS);
    put_byte(&table, GOTRACE_V2_STACK);
    put_data(&table, s->stack.data, s->stack.size);
  }
  write_batch(out, head, &table);
  free(table.data);
  write_strings(s, out, head);
}

static void write_v2(symbolizer *s, output *out) {
  cursor c = {s->data + 16, s->data + s->size};
  put_data(&out->block, s->data, 16);
  while (c.at < c.end) {
    const uint8_t *begin = c.at;
    uint8_t kind = *c.at++;
    uint64_t head[3], size;
    cursor body;
    unsigned i;
    if (kind != GOTRACE_V2_END_OF_GENERATION) {
      if (kind == GOTRACE_V2_EXPERIMENTAL_BATCH) c.at++;
      for (i = 0; i < 3; i++) head[i] = number_at(&c);
      size = number_at(&c);
      if (size > (uint64_t)(c.end - c.at)) fail("truncated batch");
      body.at = c.at;
      body.end = c.at += size;
      if (kind == GOTRACE_V2_EVENT_BATCH && size && *body.at == GOTRACE_V2_STACKS) {
        body.at++;
        write_stacks(s, out, head, body);
        continue;
      }
    }
    put_data(&out->block, begin, (size_t)(c.at - begin));
    output_check(out);
  }
}

void symbolizer_forget(symbolizer *s) {
  size_t i;
  for (i = 0; i < s->generations.count; i++) {
    tables *t = s->generations.values[i];
    map_free(&t->strings);
    map_free(&t->added);
    free(t->modules);
  }
  map_free(&s->generations);
  jit_names_free(&s->jit);
  s->data = NULL;
}

void symbolizer_free(symbolizer *s) {
  size_t i;
  object *o;
  symbolizer_forget(s);
  for (o = s->objects; o; o = o->next) {
    for (i = 0; i < o->count; i++) free(o->addresses[i]->frames);
    if (o->whole && o->whole != o->small) elf_symbols_free(o->whole);
    if (o->small) elf_symbols_free(o->small);
    map_free(&o->places);
    free(o->addresses);
  }
  map_free(&s->modules);
  map_free(&s->by_key);
  map_free(&s->mangled);
  map_free(&s->started);
  free(s->strings.data);
  free(s->stack.data);
  free(s);
}

symbolizer *symbolizer_new(choose_file *choose) {
  symbolizer *s = zeroed(sizeof *s);
  s->choose = choose;
  return s;
}

/* Reads the strings of a trace, which becomes the current one. */
static void begin_trace(symbolizer *s, input *in) {
  gotrace_event e;
  gotrace_result last;
  gotrace_decoder_info info;
  size_t i;
  last = input_decode(in, false);
  if (last == GOTRACE_OK) gotrace_decoder_get_info(in->decoder, &info);
  while (last == GOTRACE_OK) last = input_next(in, &e);
  if (last != GOTRACE_END_OF_TRACE) fail("%s", input_error(in));
  if (info.format < 1007) fail("stacks of Go 1.5 have no functions");
  s->v2 = info.family == 2;
  s->string_kind = s->v2 ? GOTRACE_V2_STRING : (uint8_t)GOTRACE_V1_STRING;
  s->stack_kind = s->v2 ? GOTRACE_V2_STACK : (uint8_t)GOTRACE_V1_STACK;
  s->data = in->mapped ? in->mapped : in->copy.data;
  s->size = in->mapped ? in->size : in->copy.size;
  look(s, in, false);
  for (i = 0; i < s->generations.count; i++) sort_modules(s->generations.values[i]);
}

void symbolizer_look(symbolizer *s, input *in) {
  symbolizer_forget(s);
  begin_trace(s, in);
  look(s, in, true);
}

void symbolizer_find(symbolizer *s) {
  object *o;
  if (!s->objects) report("the trace names no modules: only names are demangled");
  else if (!debugger()) report("neither llvm-symbolizer nor addr2line is there: only symbols are read, no lines");
  for (o = s->objects; o; o = o->next)
    if (o->count) look_up(s, o);
  demangle_all(s);
}

void symbolizer_jit(symbolizer *s, int pid, time_t since) {
  jit_names_read(&s->jit, pid, since, s->choose);
  jit_names_sort(&s->jit);
}

void symbolizer_write(symbolizer *s, input *in, output *out) {
  if (!s->data) begin_trace(s, in);
  if (s->v2) write_v2(s, out);
  else write_v1(s, in, out);
  output_verify(out);
  symbolizer_forget(s);
}

int command_symbolize(const char *path, const settings *set) {
  symbolizer *s = symbolizer_new(NULL);
  input in;
  output out;
  if (!input_open(&in, path, true)) return 1;
  output_open(&out, set->output);
  symbolizer_look(s, &in);
  symbolizer_find(s);
  symbolizer_write(s, &in, &out);
  symbolizer_free(s);
  output_close(&out);
  input_close(&in);
  return 0;
}
