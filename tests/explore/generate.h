/* generate.h - generated scenarios of tests/explore/explore.c: every call concurrently with every other call.
 *
 * pair/FORMAT/CONTROL/CALL:CALL/STATE, for example pair/1011/stop/start:unblock/w. Thread 1 makes the first call,
 * thread 2 the second; thread 3 does CONTROL, such as stop. Threads 1 and 2 each have their own proc and goroutine (p1
 * and g1, p2 and g2), in the state that the call expects. Calls that take a handle act on p0 and g0.
 *
 * STATE: w, g0 waits; r, g0 is runnable; d, g0 has ended (its handle is stale); o, thread 1 runs g0 on p0. With a small
 * letter these states are older than the trace, with a capital letter they arise in it.
 */
#ifndef EXPLORE_GENERATE_H
#define EXPLORE_GENERATE_H

/* The state that a thread must be in before its call. */
enum explore_need {
  EXPLORE_NOTHING,
  EXPLORE_PROC,
  EXPLORE_RUNS,    /* runs a goroutine on its proc */
  EXPLORE_SYSCALL, /* the same, in a system call */
  EXPLORE_PLAIN,   /* is its own goroutine */
  EXPLORE_WAITING  /* the same, waiting */
};

/* A call, and the text of a turn that makes it. `@` is replaced by the number of a handle that only this thread uses.
 */
typedef struct explore_act {
  const char *name;
  enum explore_need need;
  const char *text;
} explore_act;

static const explore_act explore_acts[] = {
    {"start", EXPLORE_PROC, "start0 block"},
    {"startover", EXPLORE_RUNS, "start0 yield"},
    {"create", EXPLORE_PROC, "create@ start@ end"},
    {"createblocked", EXPLORE_NOTHING, "createblocked@ unblock@"},
    {"createsys", EXPLORE_NOTHING, "createsys@ endsys"},
    {"end", EXPLORE_RUNS, "end"},
    {"yield", EXPLORE_RUNS, "yield start0"},
    {"block", EXPLORE_RUNS, "block start0"},
    {"named", EXPLORE_RUNS, "named0 start0"},
    {"forever", EXPLORE_RUNS, "forever unblock0"},
    {"unblock", EXPLORE_RUNS, "unblock0 block"},
    {"wake", EXPLORE_NOTHING, "unblock0"},
    {"switch", EXPLORE_RUNS, "switch0 block"},
    {"switchfor", EXPLORE_RUNS, "switchfor0 block"},
    {"switchend", EXPLORE_RUNS, "switchend0 yield"},
    {"destroy", EXPLORE_NOTHING, "destroy0"},
    {"destroyrun", EXPLORE_RUNS, "destroy0 yield"},
    {"syscall", EXPLORE_RUNS, "syscall sysend"},
    {"longcall", EXPLORE_RUNS, "syscall sleep sysend"},
    {"sysend", EXPLORE_SYSCALL, "sysend block"},
    {"sysblocked", EXPLORE_SYSCALL, "sysblocked start0"},
    {"endsys", EXPLORE_SYSCALL, "endsys pstart0"},
    {"pstart", EXPLORE_NOTHING, "pstart0 pstop"},
    {"pstartover", EXPLORE_RUNS, "pstart0"},
    {"pstop", EXPLORE_RUNS, "pstop pstart0"},
    {"steal", EXPLORE_NOTHING, "steal0 pstart0"},
    {"pdestroy", EXPLORE_PROC, "pdestroy0 pcreate@"},
    {"wait", EXPLORE_PLAIN, "wait waitend"},
    {"waitend", EXPLORE_WAITING, "waitend wait"},
    {"tcreate", EXPLORE_PLAIN, "tcreate@ rename@ destroy@"},
    {"beginas", EXPLORE_NOTHING, "beginas0 trename finish"},
    {"rename", EXPLORE_NOTHING, "rename0"},
    {"trename", EXPLORE_PLAIN, "trename wait waitend"},
    {"waiton", EXPLORE_PLAIN, "waiton0 waitend"},
    {"wakeall", EXPLORE_NOTHING, "wakeall0"},
    {"wakeone", EXPLORE_RUNS, "wakeone0 waiton0 wakeone0 waitend"},
    {"nest", EXPLORE_RUNS, "nest0 yield nestend0"},
    {"nestwait", EXPLORE_PLAIN, "waiton0 create@ nest@ wait waitend end nestend@ waitend"},
    {"nestin", EXPLORE_WAITING, "nest0 wait nestnone@ nestend@ waitend yield nestend0 waitend"},
    {"finish", EXPLORE_PLAIN, "finish"},
    {"exit", EXPLORE_RUNS, "exit"},
    {"region", EXPLORE_RUNS, "region regionend"},
    {"task", EXPLORE_RUNS, "task@ taskend@"},
    {"gc", EXPLORE_RUNS, "gc gcend"},
    {"gcborrow", EXPLORE_PROC, "gc gcend"},
    {"stw", EXPLORE_RUNS, "stw stwend"},
    {"stwopen", EXPLORE_RUNS, "stw start0"},
    {"sweep", EXPLORE_RUNS, "sweep span sweepend"},
    {"sweepopen", EXPLORE_RUNS, "sweep span pstop"},
    {"assist", EXPLORE_RUNS, "assist assistend"},
    {"assistopen", EXPLORE_RUNS, "assist block"},
    {"label", EXPLORE_RUNS, "label yield"},
    {"timer", EXPLORE_NOTHING, "timer0 stack0"},
    {"heap", EXPLORE_NOTHING, "heap goal"},
    {"procs", EXPLORE_RUNS, "procs"},
    {"log", EXPLORE_RUNS, "log"},
    {"site", EXPLORE_RUNS, "site0 site1"},
};
#define EXPLORE_ACTS ((unsigned)(sizeof explore_acts / sizeof explore_acts[0]))

/* How the trace begins, and what thread 3 does. */
typedef struct explore_control {
  const char *name, *before, *together;
} explore_control;
static const explore_control explore_controls[] = {
    {"none", "on", ""},
    {"start", "", "on"},
    {"stop", "on", "off"},
    {"advance", "on", "advance"},
    {"early", "on", "early"},
    {"limit", "on limit", ""},
    {"twice", "on", "advance off"},
    {"snapshot", "onflight", "snapshot"},
};
#define EXPLORE_CONTROLS ((unsigned)(sizeof explore_controls / sizeof explore_controls[0]))
#define EXPLORE_SNAPSHOT (EXPLORE_CONTROLS - 1)

static const char explore_states[] = "wrdoWRDO";
#define EXPLORE_STATES 8u

#define EXPLORE_GENERATED (EXPLORE_ACTS * EXPLORE_ACTS * EXPLORE_CONTROLS * EXPLORE_STATES * EXPLORE_FORMATS)

typedef struct explore_text {
  char *at;
  size_t left;
} explore_text;

__attribute__((format(printf, 2, 3))) static void explore_add(explore_text *text, const char *format, ...) {
  va_list arguments;
  int size;
  va_start(arguments, format);
  size = vsnprintf(text->at, text->left, format, arguments);
  va_end(arguments);
  if (size < 0 || (size_t)size >= text->left) abort();
  text->at += size;
  text->left -= (size_t)size;
}

/* Brings a thread into the state that it needs, with proc p and goroutine g. `warm`: in the trace, it also makes a
 * call, after which its call site is known. */
static void explore_prepare(explore_text *text, int thread, enum explore_need need, int p, int g, bool warm) {
  if (need == EXPLORE_NOTHING) return;
  explore_add(text, "; %d ", thread);
  if (need == EXPLORE_PLAIN || need == EXPLORE_WAITING) {
    explore_add(text, "self%d%s", g, need == EXPLORE_WAITING ? " wait" : "");
    return;
  }
  explore_add(text, "pstart%d", p);
  if (need == EXPLORE_PROC) return;
  explore_add(text, " start%d", g);
  if (warm) explore_add(text, " yield start%d", g);
  if (need == EXPLORE_SYSCALL) explore_add(text, " syscall");
}

static void explore_act_text(explore_text *text, int thread, const char *act) {
  for (; *act; act++)
    if (*act == '@') explore_add(text, "%d", 3 + thread);
    else explore_add(text, "%c", *act);
}

static void explore_pair_text(explore_text *text, const explore_act *a, const explore_act *b,
                              const explore_control *control, char state) {
  bool fresh = state >= 'A' && state <= 'Z';
  char kind = (char)(fresh ? state - 'A' + 'a' : state);
  int own = kind == 'o' ? 0 : 1;
  if (fresh) explore_add(text, "%s; ", control->before);
  explore_add(text, "pcreate0 pcreate1 pcreate2 %s0 create1 create2", kind == 'w' ? "createblocked" : "create");
  if (kind == 'd') explore_add(text, "; 4 pstart0 start0 end pstop");
  explore_prepare(text, 1, a->need, own, own, fresh);
  explore_prepare(text, 2, b->need, 2, 2, fresh);
  if (!fresh) explore_add(text, "; %s", control->before);
  explore_add(text, " || 1 ");
  explore_act_text(text, 1, a->text);
  explore_add(text, "; 2 ");
  explore_act_text(text, 2, b->text);
  if (*control->together) explore_add(text, "; 3 %s", control->together);
  explore_add(text, " || 1 yield; 2 yield");
}

/* Makes the scenario with this number; false if the number stands for none. */
static bool explore_generate(unsigned number, char *name, size_t name_size, char *text, size_t size, int *format) {
  explore_text out;
  const explore_act *a, *b;
  const explore_control *control;
  char state;
  *format = explore_formats[number % EXPLORE_FORMATS];
  number /= EXPLORE_FORMATS;
  state = explore_states[number % EXPLORE_STATES];
  number /= EXPLORE_STATES;
  control = &explore_controls[number % EXPLORE_CONTROLS];
  number /= EXPLORE_CONTROLS;
  a = &explore_acts[number % EXPLORE_ACTS];
  b = &explore_acts[number / EXPLORE_ACTS];
  if (*format < 1022 && control == &explore_controls[EXPLORE_SNAPSHOT]) return false;
  if (!*control->before && state < 'a') return false;      /* the trace starts later: all states are older */
  if (state != 'o' && state != 'O' && a > b) return false; /* same as the pair in the other order */
  snprintf(name, name_size, "pair/%d/%s/%s:%s/%c", *format, control->name, a->name, b->name, state);
  out.at = text;
  out.left = size;
  explore_pair_text(&out, a, b, control, state);
  return true;
}

static bool explore_generate_by_name(const char *wanted, char *text, size_t size, int *format) {
  char name[128];
  unsigned number;
  for (number = 0; number < EXPLORE_GENERATED; number++)
    if (explore_generate(number, name, sizeof name, text, size, format) && !strcmp(name, wanted)) return true;
  return false;
}

#endif
