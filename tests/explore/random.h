/* random.h - random programs of tests/explore/explore.c: up to 5,000 calls of two to eight threads, under a
 * random schedule. A program that fails is shortened, and printed in the language of calls.h.
 *
 * Programs are of two kinds. Correct ones are of workers (worker.h), while one thread starts and ends traces:
 * nothing may be repaired. The others mix single calls with the snippets of generate.h, most of them misuse.
 */
#ifndef EXPLORE_RANDOM_H
#define EXPLORE_RANDOM_H

#define EXPLORE_WORDS (EXPLORE_COMMANDS + 4 * EXPLORE_TURNS) /* calls, numbers of threads, separators */

/* A program as words, which point into `text`. */
typedef struct explore_program {
  char text[16 * EXPLORE_WORDS];
  const char *words[EXPLORE_WORDS];
  size_t count;
  int format;
  uint64_t seed; /* of the schedule */
} explore_program;

static uint64_t explore_rolled;
static unsigned explore_roll(unsigned sides) {
  explore_rolled += 0x9e3779b97f4a7c15u;
  return (unsigned)(explore_mix(explore_mix(explore_rolled, 1), 2) >> 33) % sides;
}

/* What may happen to a trace. The first ones keep the rules. */
static const char *const explore_happens[] = {"on",       "on",          "onsink",      "onsink",   "onflight",
                                              "onflight", "off tryread", "off tryread", "stop",     "stop",
                                              "advance",  "advance",     "snapshot",    "snapshot", "tryread",
                                              "stats",    "forks",       "sizelimit",   "limit",    "sleep"};
#define EXPLORE_HAPPENS ((unsigned)(sizeof explore_happens / sizeof explore_happens[0]))

static const char *const explore_skews[] = {"ahead", "drifts"};
#define EXPLORE_SKEWS ((unsigned)(sizeof explore_skews / sizeof explore_skews[0]))

/* One call or snippet of a thread. */
static void explore_random_call(explore_text *out, unsigned thread, bool sleeps) {
  unsigned kind = explore_roll(16), p = explore_roll(EXPLORE_HANDLES), g = explore_roll(EXPLORE_HANDLES);
  const char *c;
  const explore_act *act = &explore_acts[explore_roll(EXPLORE_ACTS)];
  if (kind == 0) {
    explore_add(out, " %s", explore_happens[explore_roll(EXPLORE_HAPPENS - !sleeps)]);
    return;
  }
  if (!sleeps && strstr(act->text, "sleep")) return;
  if (kind < 6) {
    unsigned call = explore_roll(EXPLORE_CALL_on);
    if (call != EXPLORE_CALL_exit || explore_roll(20) == 0) explore_add(out, " %s%u", explore_words[call], g);
    return;
  }
  if (!strcmp(act->text, "exit") && explore_roll(20)) return;
  if (act->need >= EXPLORE_PROC && act->need <= EXPLORE_SYSCALL) explore_add(out, " pstart%u", p);
  if (act->need == EXPLORE_RUNS || act->need == EXPLORE_SYSCALL) explore_add(out, " start%u", g);
  if (act->need == EXPLORE_SYSCALL) explore_add(out, " syscall");
  if (act->need >= EXPLORE_PLAIN) explore_add(out, " self%u", g);
  if (act->need == EXPLORE_WAITING) explore_add(out, " wait");
  explore_add(out, " ");
  g = explore_roll(EXPLORE_HANDLES);
  for (c = act->text; *c; c++)
    if (*c == '@') explore_add(out, "%u", (thread + 2) % EXPLORE_HANDLES);
    else if (*c == '0') explore_add(out, "%u", g);
    else explore_add(out, "%c", *c);
}

/* Makes a program of some `calls`. */
static void explore_random_program(explore_program *program, uint64_t seed, unsigned calls) {
  explore_text text = {program->text, sizeof program->text}, *out = &text;
  unsigned threads, parts, part, thread, i, each;
  bool correct, sleeps;
  explore_rolled = seed;
  program->seed = seed;
  program->format = explore_formats[explore_roll(EXPLORE_FORMATS)];
  correct = explore_roll(2);
  sleeps = explore_roll(8) == 0;
  threads = 2 + explore_roll(explore_roll(4) ? 3 : 7);
  parts = 1 + explore_roll(4);
  each = calls / parts / threads;
  if (correct) explore_add(out, "random clean dice%u dice%u dice%u", explore_roll(6), explore_roll(6), explore_roll(6));
  else explore_add(out, "random pcreate0 pcreate1 pcreate2 create0 create1 createblocked2");
  if (!correct && explore_roll(8) == 0) explore_add(out, " sinkcalls%u", explore_roll(6));
  if (!correct && explore_roll(8) == 0) explore_add(out, " allocatorcalls");
  if (!correct && explore_roll(8) == 0) explore_add(out, " lack");
  if (!explore.stale && explore_roll(3) == 0) /* the clocks of some threads differ */
    for (thread = 1; thread <= threads && thread < EXPLORE_HANDLES; thread++)
      if (explore_roll(2)) explore_add(out, " %s%u", explore_skews[explore_roll(EXPLORE_SKEWS)], thread);
  if (explore_roll(2)) explore_add(out, " %s", explore_happens[explore_roll(6)]);
  for (part = 0; part < parts; part++) {
    explore_add(out, " ||");
    for (thread = 1; thread <= threads; thread++) {
      explore_add(out, "%s %u fresh", thread > 1 ? " ;" : "", thread);
      for (i = 0; i < each; i++)
        if (!correct) explore_random_call(out, thread, sleeps);
        else if (explore_roll(thread < threads ? 60 : 5)) explore_add(out, " work%u", explore_roll(4));
        else explore_add(out, " %s", explore_happens[explore_roll(EXPLORE_HAPPENS - 2)]);
      if (explore_roll(4) == 0) explore_add(out, " %s", correct ? "retire" : "exit");
    }
    explore_add(out, " ||");
    if (part + 1 == parts && !correct && explore_roll(8) == 0)
      explore_add(out, explore_roll(2) ? " fork" : " processend");
  }
}

static void explore_split(explore_program *program) {
  char *word = strtok(program->text, " ");
  for (program->count = 0; word && program->count < EXPLORE_WORDS; word = strtok(NULL, " "))
    program->words[program->count++] = word;
}

/* The program with the words that `left` keeps, after its format, which has four digits. */
#define EXPLORE_FORMAT_DIGITS 4
static const char *explore_words_of(const explore_program *program, const bool *left) {
  static char text[sizeof program->text];
  explore_text out = {text, sizeof text};
  size_t i;
  explore_add(&out, "%d", program->format);
  for (i = 0; i < program->count; i++)
    if (left[i]) explore_add(&out, " %s", program->words[i]);
  if (explore.lack_at) explore_add(&out, "#%u", (unsigned)explore.lack_at);
  return text;
}

/* Runs it. */
static bool explore_run_words(const explore_program *program, const bool *left, uint64_t seed) {
  explore.lack_at = 0; /* the text needs no number */
  if (explore_parse(explore_words_of(program, left) + EXPLORE_FORMAT_DIGITS))
    return true; /* shortened beyond what the language allows */
  explore_begin_scenario();
  explore.mode = EXPLORE_RANDOM;
  explore.random = explore_mix(seed, 5);
  explore.calm = 1u << (2 + 2 * (explore.random % 4));
  if (explore.lack_at) explore.lack_at = 1 + (uint32_t)(program->seed % 97);
  options.runs++;
  return explore_once(program->format);
}

/* Whether the shortened program fails in the same way under one of some schedules; `seed` becomes that of the one. */
static bool explore_still_fails(const explore_program *program, const bool *left, uint64_t likeness, uint64_t *seed) {
  uint64_t tries;
  for (tries = 0; tries < 40; tries++)
    if (!explore_run_words(program, left, *seed + tries) && explore_likeness(explore.failure) == likeness) {
      *seed += tries;
      return true;
    }
  return false;
}

/* Takes away words, many at once at first, as long as the program fails. */
static void explore_shorten(const explore_program *program, bool *left, uint64_t *seed) {
  uint64_t likeness = explore_likeness(explore.failure);
  size_t size, from, i;
  for (size = program->count / 2; size; size /= 2)
    for (from = 0; from < program->count; from += size) {
      bool before[EXPLORE_WORDS], any = false;
      memcpy(before, left, sizeof before);
      for (i = from; i < from + size && i < program->count; i++) {
        const char *word = program->words[i];
        if (!left[i] || *word == ';' || *word == '|' || !word[1] || !strcmp(word, "clean") || !strcmp(word, "random"))
          continue;
        left[i] = false;
        any = true;
      }
      if (any && !explore_still_fails(program, left, likeness, seed)) memcpy(left, before, sizeof before);
    }
  explore_still_fails(program, left, likeness, seed);
}

/* Runs random programs, of up to `calls` calls: `numbers` is COUNT,CALLS,SEED. */
static int explore_random_run(const char *numbers) {
  static explore_program program;
  static bool left[EXPLORE_WORDS];
  double begin = explore_seconds();
  unsigned count = 0, calls = 0, i;
  unsigned long long first = 1, total = 0;
  if (sscanf(numbers, "%u,%u,%llu", &count, &calls, &first) < 2 || calls > EXPLORE_COMMANDS / 4) {
    fprintf(stderr, "explore: --random wants COUNT,CALLS[,SEED], with at most %d calls\n", EXPLORE_COMMANDS / 4);
    return 2;
  }
  for (i = 0; i < count; i++) {
    /* Without the inner one, near seeds would give the same programs. */
    uint64_t seed = explore_mix(explore_mix(first, 1), i);
    unsigned size;
    explore_rolled = ~seed;
    for (size = calls; size > 40 && explore_roll(5); size = size / 4 * 3) continue;
    explore_random_program(&program, seed, size);
    explore_split(&program);
    memset(left, true, sizeof left);
    if (explore_run_words(&program, left, seed)) {
      options.passed++;
      total += program.count;
      continue;
    }
    options.failed++;
    if (!explore_count_failure("random") && (options.all || options.group)) continue;
    printf("program %u fails: %s\n", i, explore.failure);
    fflush(stdout);
    explore_shorten(&program, left, &seed);
    explore_print_failure(explore_words_of(&program, left));
    if (!options.all && !options.group) break;
  }
  printf("%llu calls in %.1f s\n%u passed, %u failed, 0 skipped\n", total, explore_seconds() - begin, options.passed,
         options.failed);
  return options.failed != 0;
}

#endif
