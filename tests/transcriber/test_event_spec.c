/* The event tables are consistent and match Go's sources: each number, name, argument and version. tests/go/fetch_go.sh
 * unpacks the sources. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test.h"

static const char *source_root(void) {
  static char root[1024];
  const char *given = getenv("GOTRACE_GO"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (given) snprintf(root, sizeof root, "%s", given);
  else if (cache && *cache) snprintf(root, sizeof root, "%s/gotrace-go", cache);
  else snprintf(root, sizeof root, "%s/.cache/gotrace-go", home ? home : "");
  return root;
}

/* Reads a file of a Go release's sources. The caller frees it. NULL if the file is missing. */
static char *source(const char *release, const char *path) {
  char name[2048];
  FILE *file;
  long size;
  char *text;
  snprintf(name, sizeof name, "%s/%s/usr/share/go-%s/src/%s", source_root(), release, release, path);
  if (!(file = fopen(name, "rb"))) return NULL;
  CHECK(fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0);
  CHECK((text = malloc((size_t)size + 1)) != NULL);
  CHECK(fread(text, 1, (size_t)size, file) == (size_t)size);
  text[size] = 0;
  fclose(file);
  return text;
}

/* ---- Consistency ---- */

static int is_kind(const char *word, size_t size) {
  static const char *const kinds[] = {
      "stack",   "string", "g",       "p",    "m",     "task",   "seq",       "dt",    "data",      "time",  "id",
      "gen",     "size",   "nframes", "freq", "procs", "kind",   "bytes",     "swept", "reclaimed", "mode",  "pstatus",
      "gstatus", "exp",    "mono",    "sec",  "nsec",  "npages", "kindclass", "type",  "order",     "unused"};
  size_t i;
  for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strlen(kinds[i]) == size && memcmp(kinds[i], word, size) == 0) return 1;
  return 0;
}

static void sane(int family) {
  size_t count, i, j;
  const gotrace_event_spec *specs = gotrace_event_specs(family, &count);
  CHECK(specs && count >= 50);
  for (i = 0; i < count; i++) {
    const char *word = specs[i].arguments;
    const int first = family == 1 ? 1005 : 1022, last = family == 1 ? 1021 : 9999;
    CHECK(i == 0 || specs[i].number >= specs[i - 1].number);
    CHECK(specs[i].number >= 0 && specs[i].number < (family == 1 ? 64 : 256)); /* v1 has six bits */
    CHECK(specs[i].since >= first && specs[i].since <= specs[i].until && specs[i].until <= last);
    for (j = 0; j < i; j++) { /* at most one row of a number in each version */
      if (specs[j].number == specs[i].number) CHECK(specs[j].until < specs[i].since || specs[i].until < specs[j].since);
      CHECK(strcmp(specs[i].name, specs[j].name) != 0 || specs[i].number == specs[j].number);
    }
    while (*word) {
      size_t size = strcspn(word, " "), last_part = size;
      while (last_part > 0 && word[last_part - 1] != '_') last_part--;
      if (!is_kind(word + last_part, size - last_part)) fprintf(stderr, "%s: %s\n", specs[i].name, word);
      CHECK(is_kind(word + last_part, size - last_part));
      /* The time is the first argument or there is none. */
      if (size == 2 && memcmp(word, "dt", 2) == 0) CHECK(word == specs[i].arguments);
      word += size;
      if (*word == ' ') CHECK(*++word && *word != ' ');
    }
  }
}

static void finding(void) {
  size_t count;
  const gotrace_event_spec *spec;
  int number, format;
  CHECK(!gotrace_event_specs(0, &count));
  CHECK_EQUAL(count, 0);
  CHECK(!gotrace_event_specs(3, &count));
  CHECK_EQUAL(count, 0);
  CHECK((spec = gotrace_find_event_spec(GOTRACE_GO_1_8, 9)) && strcmp(spec->name, "GCScanStart") == 0);
  CHECK((spec = gotrace_find_event_spec(GOTRACE_GO_1_11, 9)) && strcmp(spec->name, "GCSTWStart") == 0);
  CHECK((spec = gotrace_find_event_spec(GOTRACE_GO_1_21, 9)) && strcmp(spec->name, "STWStart") == 0);
  CHECK(gotrace_find_event_spec(GOTRACE_FORMAT_DEFAULT, 9) == gotrace_find_event_spec(GOTRACE_GO_1_23, 9));
  CHECK((spec = gotrace_find_event_spec(GOTRACE_GO_1_8, 12)) && strcmp(spec->arguments, "dt") == 0);
  CHECK((spec = gotrace_find_event_spec(GOTRACE_GO_1_10, 12)) && strcmp(spec->arguments, "dt swept reclaimed") == 0);
  CHECK((spec = gotrace_find_event_spec(GOTRACE_GO_1_11, 34)) && strcmp(spec->name, "NextGC") == 0);
  CHECK((spec = gotrace_find_event_spec(GOTRACE_GO_1_19, 34)) && strcmp(spec->name, "HeapGoal") == 0);
  CHECK((spec = gotrace_find_event_spec((gotrace_format)1005, 14)) && strcmp(spec->arguments, "dt g") == 0);
  CHECK((spec = gotrace_find_event_spec((gotrace_format)1007, 14)) && strcmp(spec->arguments, "dt g g_seq") == 0);
  CHECK((spec = gotrace_find_event_spec((gotrace_format)1005, 1)) && strcmp(spec->arguments, "p seq time") == 0);
  CHECK(!gotrace_find_event_spec((gotrace_format)1005, 37) && gotrace_find_event_spec((gotrace_format)1007, 37));
  CHECK(!gotrace_find_event_spec(GOTRACE_GO_1_10, 45) && gotrace_find_event_spec(GOTRACE_GO_1_11, 45));
  CHECK(!gotrace_find_event_spec(GOTRACE_GO_1_11, 49) && gotrace_find_event_spec(GOTRACE_GO_1_19, 49));
  CHECK(!gotrace_find_event_spec(GOTRACE_GO_1_22, 45) && gotrace_find_event_spec(GOTRACE_GO_1_23, 45));
  CHECK(!gotrace_find_event_spec(GOTRACE_GO_1_25, 52) && gotrace_find_event_spec(GOTRACE_GO_1_26, 52));
  CHECK(!gotrace_find_event_spec(GOTRACE_GO_1_21, 50) && !gotrace_find_event_spec(GOTRACE_GO_1_21, -1));
  CHECK((spec = gotrace_find_event_spec(GOTRACE_GO_1_23, 47)) && strcmp(spec->name, "GoCreateBlocked") == 0);
  /* The number of events in each format, with None. */
  for (format = 1005; format <= 1021; format++) {
    int want = format == 1005   ? 37
               : format == 1007 ? 41
               : format == 1008 ? 43
               : format <= 1010 ? 45
               : format <= 1018 ? 49
                                : 50,
        found = 0;
    for (number = 0; number < 64; number++) found += gotrace_find_event_spec((gotrace_format)format, number) != NULL;
    if (format == 1006 || format == 1020) continue; /* no such formats: 1.7 and 1.21 changed events */
    CHECK_EQUAL(found, want);
  }
}

/* ---- Against Go ---- */

/* The text from a word found after `before` to the end of its line; NULL if not found. */
static const char *after(const char *text, const char *mark) {
  const char *at = strstr(text, mark);
  return at ? at + strlen(mark) : NULL;
}

static int ends(const char *at) {
  return !((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9'));
}

/* The number of `traceEvNAME = number` in runtime/trace.go; -1 if there is none. */
static int v1_number(const char *text, const char *name) {
  char mark[64];
  const char *at = text;
  snprintf(mark, sizeof mark, "\ttraceEv%s", name);
  while ((at = after(at, mark)) != NULL) {
    if (!ends(at)) continue;
    while (*at == ' ') at++;
    if (*at == '=') return atoi(at + 1);
  }
  return -1;
}

/* Fails unless Go's description, from its opening brace on, lists the same arguments as our row. */
static void same_arguments(const char *name, const char *list, const char *arguments, bool stack_apart) {
  char ours[256] = "", theirs[256] = "";
  const char *word = arguments, *at = list;
  /* Ours: without the time, and without the stack if Go has a flag for it. Names may differ, so only the number of
   * arguments is compared. */
  int our_count = 0, their_count = 0;
  while (*word) {
    size_t size = strcspn(word, " ");
    if (!(size == 2 && memcmp(word, "dt", 2) == 0) && !(stack_apart && size == 5 && memcmp(word, "stack", 5) == 0)) {
      snprintf(ours + strlen(ours), sizeof ours - strlen(ours), "%.*s ", (int)size, word);
      our_count++;
    }
    word += size;
    word += *word == ' ';
  }
  while (*at && *at != '}') {
    if (*at == '"') {
      const char *end = strchr(at + 1, '"');
      snprintf(theirs + strlen(theirs), sizeof theirs - strlen(theirs), "%.*s ", (int)(end - at - 1), at + 1);
      their_count++;
      at = end;
    }
    at++;
  }
  if (our_count != their_count) fprintf(stderr, "%s: ours %s; Go's %s\n", name, ours, theirs);
  CHECK_EQUAL(our_count, their_count);
}

/* EventDescriptions in internal/trace/parser.go: `EvNAME: {"Name", version, stack, []string{arguments}, ...`. */
static void v1_parser(const char *text, int format) {
  size_t count, i, found = 0;
  const gotrace_event_spec *specs = gotrace_event_specs(1, &count);
  const char *table = strstr(text, "EventDescriptions = ");
  CHECK(table);
  for (i = 0; i < count; i++) {
    char mark[80];
    const char *at;
    int since;
    bool stack;
    if (specs[i].until < format || specs[i].since > format) continue;
    snprintf(mark, sizeof mark, "{\"%s\", ", specs[i].name);
    if (!(at = after(table, mark))) fprintf(stderr, "%s is not in Go's parser of %d\n", specs[i].name, format);
    CHECK(at != NULL);
    found++;
    since = atoi(at);
    CHECK(since <= specs[i].since || specs[i].since == 1008);
    if (since > 1008 && specs[i].number >= 43) CHECK_EQUAL(since, specs[i].since);
    CHECK((at = after(at, ", ")) != NULL);
    stack = strncmp(at, "true", 4) == 0;
    CHECK_EQUAL(stack, strlen(specs[i].arguments) >= 5 &&
                               strcmp(specs[i].arguments + strlen(specs[i].arguments) - 5, "stack") == 0 &&
                               specs[i].number != GOTRACE_V1_STACK
                           ? true
                           : specs[i].number == GOTRACE_V1_USER_LOG);
    CHECK((at = after(at, "[]string{")) != NULL);
    if (specs[i].number == GOTRACE_V1_STRING) continue; /* has a special form */
    if (specs[i].number == GOTRACE_V1_USER_LOG) {       /* the text follows the event */
      same_arguments(specs[i].name, at, "dt task key_string stack", stack);
      continue;
    }
    same_arguments(specs[i].name, at, specs[i].arguments, stack);
  }
  { /* and Go has no other */
    const char *at = table, *end = strstr(table, "\n}\n");
    size_t rows = 0;
    CHECK(end != NULL);
    while ((at = after(at, "\n\tEv")) != NULL && at < end) rows++;
    CHECK_EQUAL(rows, found);
  }
}

static void v1_runtime(const char *text, int format) {
  size_t count, i;
  int most = 0;
  const gotrace_event_spec *specs = gotrace_event_specs(1, &count);
  for (i = 0; i < count; i++) {
    if (specs[i].until < format || specs[i].since > format) continue;
    if (v1_number(text, specs[i].name) != specs[i].number) fprintf(stderr, "%s in %d\n", specs[i].name, format);
    CHECK_EQUAL(v1_number(text, specs[i].name), specs[i].number);
    most = specs[i].number;
  }
  CHECK_EQUAL(v1_number(text, "Count"), most + 1);
}

/* An integer that Go declares as `name = value`, `name type = value`. */
static long constant(const char *text, const char *name) {
  const char *at = text;
  char mark[64];
  snprintf(mark, sizeof mark, "\t%s", name);
  while ((at = after(at, mark)) != NULL) {
    const char *line = at;
    if (!ends(at)) continue;
    while (*line && *line != '\n' && *line != '=') line++;
    if (*line == '=') return strtol(line + 1, NULL, 10);
  }
  return -9999;
}

/* tracev2/events.go: numbers by position (iota), specs by name. */
static void v2_events(const char *text) {
  size_t count, i, specs_found = 0;
  const gotrace_event_spec *specs = gotrace_event_specs(2, &count);
  const char *at = strstr(text, "EvNone EventType = iota"), *table = strstr(text, "var specs = ");
  int number = 0;
  CHECK(at && table);
  /* The main enumeration, then the experimental one from 127 on. */
  for (i = 0; i < 2; i++) {
    const char *end = strstr(at, "\n)");
    int first = 1;
    CHECK(end != NULL);
    while (at < end) {
      const char *line_end = strchr(at, '\n');
      while (*at == '\t' || *at == ' ') at++;
      if ((strncmp(at, "Ev", 2) == 0 && !first) || (first && strncmp(at, "EvNone", 6) == 0)) {
        size_t length = strcspn(at + 2, " \n\t");
        char name[64];
        size_t k;
        snprintf(name, sizeof name, "%.*s", (int)length, at + 2);
        for (k = 0; k < count; k++)
          if (strcmp(specs[k].name, name) == 0) break;
        if (k == count) fprintf(stderr, "Go's %s is not in the table\n", name);
        CHECK(k < count);
        CHECK_EQUAL(specs[k].number, number);
        number++;
      } else if (strncmp(at, "NumEvents", 9) == 0) {
        CHECK_EQUAL(number, GOTRACE_V2_COUNT);
      } else if (strncmp(at, "MaxExperimentalEvent", 20) == 0) {
        CHECK_EQUAL(number, specs[count - 1].number + 1);
      }
      first = 0;
      at = line_end + 1;
    }
    CHECK((at = strstr(text, "MaxEvent EventType = 127 + iota")) != NULL);
    at = strchr(at, '\n') + 1;
    number = 128;
  }
  for (i = 0; i < count; i++) {
    char mark[80];
    const char *list, *end;
    if (specs[i].number == GOTRACE_V2_NONE) continue;
    snprintf(mark, sizeof mark, "\n\tEv%s: {", specs[i].name);
    CHECK((at = after(table, mark)) != NULL);
    specs_found++;
    CHECK((end = strstr(at, "\n\t},")) != NULL);
    list = strstr(at, "Args:");
    if (!list || list > end) {
      CHECK(!*specs[i].arguments || strcmp(specs[i].arguments, "data") == 0);
      continue;
    }
    CHECK((list = after(list, "[]string{\"")) != NULL);
    list--;
    /* In Go, data are a flag and not an argument. */
    {
      char ours[256];
      const char *word = specs[i].arguments, *theirs = list;
      bool data = false;
      while (*word) {
        size_t size = strcspn(word, " "), their_size;
        snprintf(ours, sizeof ours, "%.*s", (int)size, word);
        word += size;
        word += *word == ' ';
        if (strcmp(ours, "data") == 0) {
          data = true;
          continue;
        }
        CHECK(*theirs == '"');
        their_size = strcspn(theirs + 1, "\"");
        /* Go adds _value to plain numbers; all other names are equal. */
        if (their_size > 6 && memcmp(theirs + 1 + their_size - 6, "_value", 6) == 0) their_size -= 6;
        if (strcmp(ours, "bytes") != 0 && (strlen(ours) != their_size || memcmp(ours, theirs + 1, their_size) != 0))
          fprintf(stderr, "%s: %s\n", specs[i].name, ours);
        CHECK(strcmp(ours, "bytes") == 0 || (strlen(ours) == their_size && memcmp(ours, theirs + 1, their_size) == 0));
        theirs = strchr(theirs + 1, '"') + 1;
        theirs += strspn(theirs, ", ");
      }
      CHECK(*theirs == '}');
      {
        const char *flag = strstr(at, "HasData: true");
        CHECK_EQUAL(data, flag != NULL && flag < end);
      }
    }
  }
  { /* and Go has no other */
    size_t rows = 0;
    for (at = table; (at = after(at, "\n\tEv")) != NULL;) {
      const char *brace = strchr(at, '\n');
      if (brace > at && brace[-1] == '{') rows++;
    }
    CHECK_EQUAL(rows, specs_found);
  }
}

int main(void) {
  static const struct {
    const char *release;
    int format;
  } v1[] = {{"1.15", GOTRACE_GO_1_11}, {"1.19", GOTRACE_GO_1_19}, {"1.21", GOTRACE_GO_1_21}};
  size_t i;
  char *text;
  bool missing = false, brief = getenv("GOTRACE_TEST_BRIEF") != NULL;
  sane(1);
  sane(2);
  finding();
  for (i = 0; i < sizeof v1 / sizeof v1[0]; i++) {
    if (brief && v1[i].format < GOTRACE_GO_1_21) continue; /* `make deps` fetches the sources of few releases */
    if ((text = source(v1[i].release, "runtime/trace.go")) == NULL) {
      missing = true;
      continue;
    }
    v1_runtime(text, v1[i].format);
    CHECK_EQUAL(constant(text, "traceStackSize"), GOTRACE_STACK_SIZE);
    CHECK_EQUAL(constant(text, "traceGlobProc"), GOTRACE_GLOBAL_PROC);
    CHECK_EQUAL(constant(text, "traceBytesPerNumber"), GOTRACE_BYTES_PER_NUMBER);
    CHECK_EQUAL(constant(text, "traceArgCountShift"), GOTRACE_ARG_COUNT_SHIFT);
    if (v1[i].format < GOTRACE_GO_1_21) CHECK_EQUAL(constant(text, "traceFutileWakeup byte"), GOTRACE_FUTILE_WAKEUP);
    free(text);
    CHECK((text = source(v1[i].release, "internal/trace/parser.go")) != NULL);
    v1_parser(text, v1[i].format);
    free(text);
  }
  if ((text = source("1.27", "internal/trace/tracev2/events.go")) != NULL) {
    v2_events(text);
    CHECK(strstr(text, "MaxBatchSize = 64 << 10") && strstr(text, "MaxFramesPerStack = 128") &&
          strstr(text, "MaxEventTrailerDataSize = 1 << 10"));
    free(text);
  } else {
    missing = true;
  }
  if (missing) {
    printf("needs the sources of Go %s1.21 and 1.27 in %s (make deps)\n", brief ? "" : "1.15, 1.19, ", source_root());
    return 77;
  }
  return 0;
}
