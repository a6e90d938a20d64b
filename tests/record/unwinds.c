/* unwinds.c - stacks as `gotrace record` takes them are those that the compiler's library finds: see test_record.sh
 *
 *     unwinds LIBRARY LIBRARY      checks; the libraries are alike, but their functions have frames of different sizes
 *     unwinds time                 prints nanoseconds a stack, beside the library's
 *
 * Contains unwind.c and looks.c. */

#include "../../examples/gotrace/record/preload/unwind.c"

#include "../../examples/gotrace/record/preload/looks.c"

#include "../library_stack.h"

#include <alloca.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#define CHECK(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "unwinds.c:%d: %s\n", __LINE__, #condition), abort()))

struct real real;
struct state state;
__thread struct self self;
void let_others_run(void) { REAL(syscall)(SYS_sched_yield); }
void resolve(void) {
  void *found = dlsym(RTLD_DEFAULT, "syscall");
  memcpy(&real.syscall, &found, sizeof found);
  found = dlsym(RTLD_DEFAULT, "dl_iterate_phdr");
  memcpy(&real.dl_iterate_phdr, &found, sizeof found);
}

#if HAS_UNWINDER
/* From the caller of the caller on. */
#define OWN_STACK(s)                                                                     \
  own_stack(s, (uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa(), \
            *(uintptr_t *)__builtin_frame_address(0))
static int own_stack(stack *s, uintptr_t pc, uintptr_t cfa, uintptr_t fp) {
  unwind_frame frame = {pc, cfa, fp, 0};
  unwind_stack readable = {cfa, (cfa | 4095) + 1};
  if (on_own_stack((const char *)cfa)) readable.high = (uintptr_t)self.stack_high;
  s->count = 0;
  do s->pcs[s->count++] = frame.pc;
  while (s->count < MOST && unwind_step(&frame, &readable));
  return s->count;
}

static volatile int sink; /* keeps calls from being the last thing that a function does */
static volatile long checked, frames;
static volatile int last_count;

/* Compares the stacks of the caller, which has at least `least` frames. */
NOINLINE static void compare(int least) {
  stack own, theirs;
  int i;
  OWN_STACK(&own);
  theirs.count = 0;
  theirs.from = own.pcs[0];
  _Unwind_Backtrace(take, &theirs);
  for (i = 0; i < own.count && i < theirs.count && own.pcs[i] == theirs.pcs[i]; i++) continue;
  if (i < own.count || i < theirs.count || i < least) {
    Dl_info info = {NULL, NULL, NULL, NULL};
    if (i) dladdr((void *)own.pcs[i - 1], &info);
    fprintf(stderr, "frames %d, not %d, of at least %d; %d are the same, the last one %p is in %s %s\n", own.count,
            theirs.count, least, i, i ? (void *)own.pcs[i - 1] : NULL, info.dli_sname ? info.dli_sname : "?",
            info.dli_fname ? info.dli_fname : "?");
    abort();
  }
  checked = checked + 1;
  frames = frames + own.count;
  last_count = own.count;
}

NOINLINE static void deep(int depth, void (*function)(int)) {
  if (depth) deep(depth - 1, function);
  else function(0);
  sink++;
}

static void compare_any(int unused) {
  (void)unused;
  compare(3);
  sink++;
}

NOINLINE static void allocates(int size) {
  char *room = alloca((size_t)size);
  memset(room, 1, (size_t)size);
  compare(3);
  sink += room[size / 2];
}

/* Arguments on the stack and a stack that is aligned: the frame's beginning is stored in it. */
NOINLINE static void aligned(int size, int b, int c, int d, int e, int f, int g, int h) {
  char room[256] __attribute__((aligned(64)));
  char *more = alloca((size_t)size);
  memset(room, size, sizeof room);
  more[0] = room[8];
  deep(2, compare_any);
  sink += more[0] + b + c + d + e + f + g + h;
}

NOINLINE static void large(int unused) {
  volatile char room[100000];
  room[0] = room[99999] = 1;
  compare(3);
  sink += room[unused];
}

static int by_callback(const void *a, const void *b) {
  compare(4);
  return *(const int *)a - *(const int *)b;
}

static void sorts(void) {
  int numbers[9] = {4, 2, 8, 5, 1, 9, 3, 7, 6};
  qsort(numbers, 9, sizeof *numbers, by_callback);
  sink += numbers[0];
}

static void handle(int number) {
  compare(number == SIGUSR1 ? 6 : 3);
  sink++;
}

static void raises(int unused) {
  raise(SIGUSR1);
  sink += unused;
}

/* Signals at any instruction of these. */
NOINLINE static int leaf(int x) {
  int i;
  for (i = 0; i < x; i++) x ^= i * 7;
  return x;
}
NOINLINE static double many_registers(int a, int b, int c, int d, int e, int f, double g) {
  int x = leaf(a & 15), y = leaf(b & 7), z = leaf(c & 7);
  return x + y + z + leaf(d & 3) + leaf(e & 3) + f + g;
}
static void interrupted(void) {
  struct itimerval each = {{0, 500}, {0, 500}}, none = {{0, 0}, {0, 0}};
  long until = checked + 300;
  setitimer(ITIMER_PROF, &each, NULL);
  while (checked < until) {
    char text[64];
    sink += (int)many_registers(sink, 2, 3, 4, 5, 6, 7.0) + snprintf(text, sizeof text, "%d %f", sink, 1.5);
    aligned(40 + (sink & 31), 2, 3, 4, 5, 6, 7, 8);
  }
  setitimer(ITIMER_PROF, &none, NULL);
}

static void handle_signals(void) {
  static char other[65536];
  stack_t alternate = {.ss_sp = other, .ss_size = sizeof other, .ss_flags = 0};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGPROF, &action, NULL);
  deep(5, raises);
  interrupted();
  sigaltstack(&alternate, NULL);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGPROF, &action, NULL);
  deep(5, raises);
  interrupted();
}

/* A coroutine's stack is between pages that cannot be read. */
static ucontext_t outside, inside;
static void coroutine(void) {
  deep(20, compare_any);
  CHECK(last_count >= 22 && last_count < 40);
  swapcontext(&inside, &outside);
}
static void run_coroutine(void) {
  char *memory = mmap(NULL, 6 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED && mprotect(memory + 4096, 4 * 4096, PROT_READ | PROT_WRITE) == 0);
  CHECK(getcontext(&inside) == 0);
  inside.uc_stack.ss_sp = memory + 4096;
  inside.uc_stack.ss_size = 4 * 4096;
  inside.uc_link = &outside;
  makecontext(&inside, coroutine, 0);
  CHECK(swapcontext(&outside, &inside) == 0);
}

/* A rule that leads to memory that cannot be read, as where it is wrong: the stack ends. */
NOINLINE static void leave_stack(void) {
  stack s;
  char *memory = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uintptr_t edge = (uintptr_t)memory + 4096, sp;
  int kept = errno = 77;
  CHECK(memory != MAP_FAILED && mprotect((void *)edge, 4096, PROT_NONE) == 0);
  OWN_STACK(&s);
  for (sp = edge - 512; sp < edge + 4096; sp += 8) {
    unwind_frame frame = {s.pcs[0], sp, sp, 0};
    unwind_stack readable = {sp, edge > sp ? edge : sp};
    int steps = 0;
    while (steps < MOST && unwind_step(&frame, &readable)) steps++;
    CHECK(steps < MOST);
  }
  for (sp = 0; sp < 4096; sp += 8) {
    unwind_frame frame = {s.pcs[0], sp, 0 - sp, 0};
    unwind_stack readable = {sp, sp};
    CHECK(!unwind_step(&frame, &readable));
  }
  CHECK(errno == kept);
}

NOINLINE static void compare_generated(int unused) {
  compare(2);
  CHECK(last_count == 2);
  sink += unused;
}

/* Code that nothing describes: the frame in it is the last one. */
static void call_from_generated_code(void) {
#ifdef __x86_64__
  static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#else
  static const unsigned char code[] = {0xfd, 0x7b, 0xbf, 0xa9, 0x20, 0x00, 0x3f, 0xd6,
                                       0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6};
#endif
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void (*call)(int argument, void (*function)(int));
  CHECK(memory != MAP_FAILED);
  memcpy(memory, code, sizeof code);
  __builtin___clear_cache((char *)memory, (char *)memory + sizeof code);
  memcpy(&call, &memory, sizeof call);
  call(16, compare_generated);
}

static void compare_in_library(void) {
  compare(4);
  sink++;
}

static void *open_library(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found;
  void (*call)(void (*)(void));
  CHECK(library);
  found = dlsym(library, "call");
  memcpy(&call, &found, sizeof call);
  call(compare_in_library);
  printf("%p\n", found);
  return library;
}

static void close_library(void *library) {
  unwind_begin_unload();
  CHECK(dlclose(library) == 0);
  unwind_end_unload();
}

static void forget(void) {
  unwind_begin_unload();
  unwind_end_unload();
}

/* A library takes another one's place: before dlclose has returned, after that, and when epochs begin again. */
static void change_libraries(const char *one, const char *other) {
  void *library;
  int i;
  unwind_begin_unload();
  library = open_library(one);
  CHECK(dlclose(library) == 0);
  library = open_library(other);
  unwind_end_unload();
  close_library(library);
  close_library(open_library(one));
  for (i = 1; i < 1 << 15; i++) forget();
  close_library(open_library(other));
}

static sem_t waits_inside, may_return;
static int wait_inside(struct dl_phdr_info *module, size_t size, void *argument) {
  (void)module, (void)size, (void)argument;
  CHECK(sem_post(&waits_inside) == 0 && sem_wait(&may_return) == 0);
  return 1;
}
static void *list_modules(void *argument) {
  begin_modules_call();
  dl_iterate_phdr(wait_inside, NULL);
  end_modules_call();
  return argument;
}

static int end_in_library(const void *a, const void *b) {
  stack s;
  CHECK(OWN_STACK(&s) == 1);
  return *(const int *)a - *(const int *)b;
}

/* As before glibc 2.35 and in musl: a lock is needed, for which a walk does not wait. */
static void walk_without_find_object(void) {
  pthread_t handle;
  int numbers[2] = {2, 1};
  gotrace__unwind_find_object = NULL;
  forget();
  CHECK(sem_init(&waits_inside, 0, 0) == 0 && sem_init(&may_return, 0, 0) == 0);
  CHECK(pthread_create(&handle, NULL, list_modules, NULL) == 0 && sem_wait(&waits_inside) == 0);
  alarm(20);
  qsort(numbers, 2, sizeof *numbers, end_in_library);
  alarm(0);
  CHECK(sem_post(&may_return) == 0 && pthread_join(handle, NULL) == 0);
  deep(10, compare_any);
  sorts();
  CHECK(modules_word == 0 && gotrace__unwind_epoch % GOTRACE__UNWIND_EPOCH == 0);
}

/* Only a signal finds a thread in the PLT. The linker describes all slots by one expression. */
static void find_beginning_in_plt(void) {
  static const uint8_t slot[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  const gotrace__unwind_reader expression = {slot, slot + sizeof slot, false};
  uintptr_t pc;
  for (pc = 4096; pc < 4128; pc++) {
    gotrace__unwind_rule found;
    memset(&found, 0, sizeof found);
    gotrace__unwind_define_by_expression(expression, pc, &found);
    CHECK(found.kind == GOTRACE__UNWIND_RULE_CALL && !found.by_fp && found.offset == (pc % 16 < 11 ? 8 : 16));
  }
}

/* ---- Damaged tables: what lies behind a module's segments cannot be read, so reading too far ends this test. ---- */

/* The module that find_damaged() finds everywhere. */
static struct gotrace__unwind_found_object damaged;
static struct link_map damaged_map;
static int find_damaged(void *pc, struct gotrace__unwind_found_object *found) {
  (void)pc;
  *found = damaged;
  return 0;
}

/* How many addresses have a rule. */
static int rules_between(uintptr_t from, uintptr_t to) {
  int count = 0;
  for (; from < to; from++) {
    gotrace__unwind_rule r = gotrace__unwind_find_rule(from);
    uint64_t packed = gotrace__unwind_pack(&r);
    count += (packed & 7) >= GOTRACE__UNWIND_RULE_SIGNAL;
  }
  return count;
}

enum { TABLE = 2048, CODE = 32, PART = 16 * 4096 }; /* a made module: header, table, code that is described */
typedef struct made {
  uint8_t bytes[256];
  size_t size;
} made;

static void add(made *m, uint64_t value, size_t size) {
  CHECK(m->size + size <= sizeof m->bytes);
  memcpy(m->bytes + m->size, &value, size);
  m->size += size;
}

/* .eh_frame_hdr of three functions 1024 bytes behind it, of which the first one is described, then .eh_frame. */
static void make_table(made *m) {
  size_t common, description;
  uint32_t i;
  m->size = 0;
  add(m, 0x3b031b01, 4); /* version 1; a pointer from here, a 4-byte count, pairs of 4-byte offsets */
  add(m, 32, 4);
  add(m, 3, 4);
  for (i = 0; i < 3; i++) add(m, 1024 + i * CODE, 4), add(m, 36 + 24, 4); /* all have one description */
  common = m->size;
  CHECK(common == 36);
  add(m, 20, 4);
  add(m, 0, 4);
  add(m, 0x00527a01, 4);    /* version 1, "zR" */
  add(m, 1 | 0x78 << 8, 2); /* units: 1 and -8 */
  add(m, GOTRACE__UNWIND_RETURN, 1);
  add(m, 1, 1), add(m, 0x1b, 1);                       /* pointers from here, of 4 bytes */
  add(m, 0x0c | GOTRACE__UNWIND_SP << 8 | 8 << 16, 3); /* the frame begins 8 bytes above the stack pointer */
  add(m, 0x80 | GOTRACE__UNWIND_RETURN | 1 << 8, 2);   /* the return address is below that */
  add(m, 0, 24 + common - m->size);
  description = m->size;
  add(m, 24, 4);
  add(m, description + 4 - common, 4);
  add(m, 1024 - m->size, 4);
  add(m, CODE, 4);
  add(m, 0, 1);
  add(m, 0x02 | 8 << 8, 2); /* from the 8th byte on */
  add(m, 0x0e | 16 << 8, 2);
  add(m, 0x04, 1), add(m, 8, 4);
  add(m, 0x0a | 0x0b << 8, 2); /* kept, and restored */
}

/* Puts the first `size` bytes of a table where the module's only segment ends. */
static uintptr_t place_table(uint8_t *memory, const made *table, size_t size) {
  ElfW(Ehdr) header;
  ElfW(Phdr) segments[2];
  uintptr_t at = (uintptr_t)memory + PART - size;
  memset(&header, 0, sizeof header);
  memset(segments, 0, sizeof segments);
  memset(memory, 0, PART);
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof *segments;
  header.e_phnum = 2;
  segments[0].p_type = PT_LOAD;
  segments[0].p_flags = PF_R;
  segments[0].p_memsz = PART;
  segments[1].p_type = PT_GNU_EH_FRAME;
  segments[1].p_vaddr = PART - size;
  memcpy(memory, &header, sizeof header);
  memcpy(memory + sizeof header, segments, sizeof segments);
  memcpy(memory + PART - size, table->bytes, size);
  damaged_map.l_addr = (uintptr_t)memory;
  damaged = (struct gotrace__unwind_found_object){0, memory, memory + PART, &damaged_map, (void *)at, {0}};
  return at + 1024;
}

static void read_made_tables(void) {
  static const uint8_t lies[] = {0, 1, 0x7f, 0x80, 0xff};
  uint8_t *memory = mmap(NULL, PART + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  made whole, lying;
  uintptr_t code;
  size_t size, i, j, width;
  CHECK(memory != MAP_FAILED && mprotect(memory + PART, 4096, PROT_NONE) == 0);
  make_table(&whole);
  code = place_table(memory, &whole, whole.size);
  CHECK(rules_between(code - 4, code + CODE + 4) == CODE && gotrace__unwind_find_rule(code + 8).offset == 16);
  for (size = 0; size < whole.size; size++) {
    code = place_table(memory, &whole, size);
    CHECK(rules_between(code - 4, code + CODE + 4) == 0);
  }
  for (width = 1; width <= 4; width *= 4)
    for (i = 0; i + width <= whole.size; i++)
      for (j = 0; j < COUNT(lies); j++) {
        lying = whole;
        memset(lying.bytes + i, lies[j], width);
        if (width == 4 && lies[j] == 0x7f) lying.bytes[i] = 0xff; /* also the largest positive one */
        code = place_table(memory, &lying, lying.size);
        rules_between(code - 4, code + CODE + 4);
      }
  munmap(memory, PART + 4096);
}

static uint64_t chance(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

/* This program's segments, elsewhere. What can be written is left out: nothing is read there. */
static void damage_real_tables(void) {
  gotrace__unwind_module real_one;
  uint8_t *copy;
  uintptr_t size = 0, table = 0, end = 0;
  size_t i, found = 0, cases;
  CHECK(gotrace__unwind_find_module((uintptr_t)damage_real_tables, &real_one));
  for (i = 0; i < real_one.count; i++) {
    const ElfW(Phdr) *p = &real_one.segments[i];
    if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > size) size = p->p_vaddr + p->p_memsz;
    if (p->p_type == PT_GNU_EH_FRAME) table = p->p_vaddr;
  }
  copy = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(copy != MAP_FAILED && table);
  for (i = 0; i < real_one.count; i++) {
    const ElfW(Phdr) *p = &real_one.segments[i];
    if (p->p_type != PT_LOAD || p->p_flags & PF_W) continue;
    CHECK(mprotect(copy + (p->p_vaddr & ~(GOTRACE__UNWIND_PAGE - 1)), p->p_vaddr % GOTRACE__UNWIND_PAGE + p->p_memsz,
                   PROT_READ | PROT_WRITE) == 0);
    memcpy(copy + p->p_vaddr, (const void *)(real_one.base + p->p_vaddr), p->p_memsz);
    if (table - p->p_vaddr < p->p_memsz) end = p->p_vaddr + p->p_memsz;
  }
  damaged_map.l_addr = (uintptr_t)copy;
  damaged = (struct gotrace__unwind_found_object){0, copy, copy + size, &damaged_map, copy + table, {0}};
  gotrace__unwind_find_object = find_damaged;
  for (cases = 0; cases < 100000; cases++) {
    uint8_t *at[8], before[8];
    size_t changes = 1 + chance() % COUNT(at);
    uintptr_t pc = (uintptr_t)copy + chance() % size;
    for (i = 0; i < changes; i++) {
      at[i] = copy + table + chance() % (chance() % 2 ? 64 : end - table);
      before[i] = *at[i];
      *at[i] = (uint8_t)(chance() % 3 ? chance() : chance() % 2 ? 0xff : 0x7f);
    }
    found += (size_t)rules_between(pc, pc + 1);
    while (i-- > 0) *at[i] = before[i];
  }
  CHECK(found > 1000);
  munmap(copy, size);
}

static void read_damaged_tables(void) {
  int (*kept)(void *, struct gotrace__unwind_found_object *) = gotrace__unwind_find_object;
  gotrace__unwind_find_object = find_damaged;
  read_made_tables();
  gotrace__unwind_find_object = kept;
  damage_real_tables();
  gotrace__unwind_find_object = kept;
}

static void *run_thread(void *argument) {
  deep(30, compare_any);
  return argument;
}

static void measure(int unused) {
  struct timespec from, to;
  stack s;
  int which, i, round;
  double best;
  (void)unused;
  for (which = 0; which < 2; which++) {
    for (best = 1e9, round = 0; round < 200; round++) {
      clock_gettime(CLOCK_MONOTONIC, &from);
      for (i = 0; i < 100; i++) {
        s.count = 0;
        s.from = 0;
        if (which) _Unwind_Backtrace(take, &s);
        else OWN_STACK(&s);
      }
      clock_gettime(CLOCK_MONOTONIC, &to);
      double each = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 100;
      if (each < best) best = each;
    }
    printf("%s: %d frames in %.0f ns\n", which ? "libgcc" : "own", s.count, best);
  }
  for (best = 1e9, round = 0; round < 200; round++) { /* each frame for the first time */
    forget();
    clock_gettime(CLOCK_MONOTONIC, &from);
    OWN_STACK(&s);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double each = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    if (each < best) best = each;
  }
  printf("own, not seen before: %.0f ns\n", best);
}

int main(int argc, char **argv) {
  pthread_t handle;
  unwind_init();
  if (argc == 2) {
    self.stack_low = (char *)environ - (8 << 20);
    self.stack_high = (char *)environ;
    deep(8, measure);
    deep(35, measure);
    return 0;
  }
  CHECK(argc == 3);
  compare(2);
  deep(100, compare_any);
  allocates(1000);
  aligned(40, 2, 3, 4, 5, 6, 7, 8);
  large(0);
  sorts();
  handle_signals();
  run_coroutine();
  leave_stack();
  find_beginning_in_plt();
  read_damaged_tables();
  call_from_generated_code();
  CHECK(pthread_create(&handle, NULL, run_thread, NULL) == 0 && pthread_join(handle, NULL) == 0);
  change_libraries(argv[1], argv[2]);
  walk_without_find_object();
  fprintf(stderr, "%ld stacks, %ld frames\n", checked, frames);
  return 0;
}
#else
int main(void) { return 77; }
#endif
