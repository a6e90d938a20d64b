/* perf.c - CPU samples and context switches of a process, from the kernel
 *
 * A perf event that counts the CPU time of each thread (cpu-clock) interrupts it at each period. The kernel then writes
 * the registers and the top of the stack to a ring in memory that this process reads. An ordinary user may do that
 * unless /proc/sys/kernel/perf_event_paranoid is above 2, or the system call is forbidden, as in many containers. Code
 * of the kernel is not sampled.
 *
 * A second event, which counts nothing, has a ring of its own for context switches: large samples leave it its room.
 *
 * Threads inherit the events of the one that creates them. The kernel allows that only with a ring for each processor.
 * The kernel is trusted; a record is checked all the same, since a ring that is read wrongly would be read for ever. */

#include "perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES 8192 /* of a sample: of a deeper stack, the callers of the outermost frames are missing */
#define MOST_PAGES 128   /* of a ring, which fills in 60 ms at 1 kHz; with one more, what a user may have by default */
#define LEAST_PAGES 8
#define SWITCH_PAGES 64 /* likewise, of 10,900 records of a switch */

/* The registers that a walk needs, by the kernel's numbers, in their order. */
#if defined(__x86_64__)
enum { NUMBER_FP = 6, NUMBER_SP = 7, NUMBER_PC = 8 };
enum { AT_FP, AT_SP, AT_PC, REGISTERS };
#define SAMPLED_REGISTERS ((1ull << NUMBER_FP) | (1ull << NUMBER_SP) | (1ull << NUMBER_PC))
#elif defined(__aarch64__)
enum { NUMBER_FP = 29, NUMBER_LR = 30, NUMBER_SP = 31, NUMBER_PC = 32 };
enum { AT_FP, AT_LR, AT_SP, AT_PC, REGISTERS };
#define SAMPLED_REGISTERS ((1ull << NUMBER_FP) | (1ull << NUMBER_LR) | (1ull << NUMBER_SP) | (1ull << NUMBER_PC))
#endif

#ifdef SAMPLED_REGISTERS

typedef struct ring {
  int event;
  struct perf_event_mmap_page *control; /* NULL: the processor is offline */
  const uint8_t *data;
  size_t size;
} ring;

struct perf_events {
  pid_t process;
  uint64_t lost;
  size_t processors;
  size_t ring_count;       /* of each event, one a processor */
  uint8_t record[1 << 16]; /* one that goes over the end of a ring; the size of a record has 16 bits */
  ring rings[];
};

/* As the kernel writes a sample: see the bits of sample_type. */
typedef struct sample_record {
  struct perf_event_header header;
  uint32_t process, thread;
  uint64_t nanoseconds, abi;
  uint64_t registers[REGISTERS]; /* if abi is not 0 */
  uint64_t stack_size;
  uint8_t stack[STACK_BYTES];
  uint64_t stack_used; /* if stack_size is not 0 */
} sample_record;

/* The end of each record that is no sample: the members of sample_type that fit. */
typedef struct record_end {
  uint32_t process, thread;
  uint64_t nanoseconds;
} record_end;

static struct perf_event_attr describe(void) {
  struct perf_event_attr a;
  memset(&a, 0, sizeof a);
  a.size = sizeof a;
  a.type = PERF_TYPE_SOFTWARE;
  a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  a.sample_id_all = 1;
  a.exclude_kernel = a.exclude_hv = 1;
  a.use_clockid = 1;
  a.clockid = CLOCK_MONOTONIC;
  a.disabled = a.enable_on_exec = 1;
  a.inherit = 1;
#ifdef PERF_ATTR_SIZE_VER7
  a.inherit_thread = 1; /* Linux 5.13: not by other processes */
#endif
  return a;
}

static struct perf_event_attr describe_samples(uint32_t hertz) {
  struct perf_event_attr a = describe();
  a.config = PERF_COUNT_SW_CPU_CLOCK;
  a.freq = 1;
  a.sample_freq = hertz;
  a.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  a.sample_regs_user = SAMPLED_REGISTERS;
  a.sample_stack_user = STACK_BYTES;
  return a;
}

static struct perf_event_attr describe_switches(void) {
  struct perf_event_attr a = describe();
  a.config = PERF_COUNT_SW_DUMMY;
  a.context_switch = 1;
  return a;
}

static int open_event(struct perf_event_attr *attributes, pid_t process, int processor) {
  return (int)syscall(SYS_perf_event_open, attributes, process, processor, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Opens the event of a processor, with a ring as large as the user may have. False: see errno. */
static bool open_ring(ring *r, struct perf_event_attr *attributes, pid_t process, int processor, size_t pages) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  r->event = open_event(attributes, process, processor);
#ifdef PERF_ATTR_SIZE_VER7
  if (r->event < 0 && (errno == EINVAL || errno == E2BIG) && attributes->inherit_thread) {
    attributes->inherit_thread = 0;
    attributes->size = sizeof *attributes;
    r->event = open_event(attributes, process, processor);
  }
#endif
  if (r->event < 0) return errno == ENODEV;
  for (; pages >= LEAST_PAGES; pages /= 2) {
    void *memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, r->event, 0);
    if (memory == MAP_FAILED) continue;
    r->control = memory;
    r->data = (const uint8_t *)memory + page;
    r->size = pages * page;
    return true;
  }
  return false;
}

/* Opens the rings of an event, one for each processor. False: see errno. */
static bool open_rings(perf_events *events, struct perf_event_attr attributes, size_t pages) {
  size_t i;
  for (i = 0; i < events->processors; i++) {
    ring *r = &events->rings[events->ring_count++];
    r->event = -1;
    if (!open_ring(r, &attributes, events->process, (int)i, pages)) return false;
  }
  return true;
}

perf_events *perf_begin(pid_t process, uint32_t hertz, bool switches) {
  size_t count = (size_t)sysconf(_SC_NPROCESSORS_CONF);
  perf_events *events = zeroed(sizeof *events + 2 * count * sizeof *events->rings);
  int error;
  events->process = process;
  events->processors = count;
  if ((!switches || open_rings(events, describe_switches(), SWITCH_PAGES)) &&
      (!hertz || open_rings(events, describe_samples(hertz), MOST_PAGES)))
    return events;
  error = errno;
  perf_end(events);
  errno = error;
  return NULL;
}

static void take_sample(const perf_events *events, const void *record, size_t size, perf_take *take, void *context) {
  const sample_record *s = record;
  perf_record sample;
  if (size < sizeof *s || s->abi != PERF_SAMPLE_REGS_ABI_64 || s->process != (uint32_t)events->process) return;
  memset(&sample, 0, sizeof sample);
  sample.kind = PERF_SAMPLED;
  sample.nanoseconds = s->nanoseconds;
  sample.thread = s->thread;
  sample.frame.pc = s->registers[AT_PC] + 1;
  sample.frame.sp = s->registers[AT_SP];
  sample.frame.fp = s->registers[AT_FP];
#if defined(__aarch64__)
  sample.frame.lr = s->registers[AT_LR];
#endif
  sample.stack = s->stack;
  sample.stack_size = s->stack_used <= sizeof s->stack ? s->stack_used : 0;
  take(context, &sample);
}

static void take_switch(const perf_events *events, const struct perf_event_header *header, perf_take *take,
                        void *context) {
  record_end end;
  perf_record record;
  if (header->size < sizeof *header + sizeof end) return;
  memcpy(&end, (const uint8_t *)header + header->size - sizeof end, sizeof end);
  if (end.process != (uint32_t)events->process) return;
  memset(&record, 0, sizeof record);
  record.kind = !(header->misc & PERF_RECORD_MISC_SWITCH_OUT)        ? PERF_RUNS
                : header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? PERF_PREEMPTED
                                                                     : PERF_SLEEPS;
  record.nanoseconds = end.nanoseconds;
  record.thread = end.thread;
  take(context, &record);
}

/* A number of lost records follows the header and an id. */
static uint64_t lost_in(const void *record, size_t size) {
  uint64_t number = 0;
  if (size >= sizeof(struct perf_event_header) + 16)
    memcpy(&number, (const uint8_t *)record + sizeof(struct perf_event_header) + 8, sizeof number);
  return number;
}

static void read_ring(perf_events *events, ring *r, perf_take *take, void *context) {
  uint64_t at = r->control->data_tail, head = __atomic_load_n(&r->control->data_head, __ATOMIC_ACQUIRE);
  while (head - at >= sizeof(struct perf_event_header)) {
    size_t from = at % r->size, whole = r->size - from;
    const struct perf_event_header *header = (const void *)(r->data + from); /* records begin at multiples of 8 bytes */
    size_t size = header->size;
    if (size < sizeof *header || size > head - at) break;
    if (size > whole) {
      memcpy(events->record, header, whole);
      memcpy(events->record + whole, r->data, size - whole);
      header = (const void *)events->record;
    }
    if (header->type == PERF_RECORD_SAMPLE && take) take_sample(events, header, size, take, context);
    else if (header->type == PERF_RECORD_SWITCH && take) take_switch(events, header, take, context);
    else if (header->type == PERF_RECORD_LOST) events->lost += lost_in(header, size);
    at += size;
  }
  __atomic_store_n(&r->control->data_tail, head, __ATOMIC_RELEASE);
}

void perf_read(perf_events *events, perf_take *take, void *context) {
  size_t i;
  for (i = 0; i < events->ring_count; i++)
    if (events->rings[i].control) read_ring(events, &events->rings[i], take, context);
}

uint64_t perf_take_lost(perf_events *events) {
  uint64_t lost = events->lost;
  events->lost = 0;
  return lost;
}

void perf_end(perf_events *events) {
  size_t i;
  for (i = 0; i < events->ring_count; i++) {
    ring *r = &events->rings[i];
    if (r->control) munmap(r->control, r->size + (size_t)sysconf(_SC_PAGESIZE));
    if (r->event >= 0) close(r->event);
  }
  free(events);
}

#else

perf_events *perf_begin(pid_t process, uint32_t hertz, bool switches) {
  (void)process, (void)hertz, (void)switches;
  errno = ENOSYS;
  return NULL;
}
void perf_read(perf_events *events, perf_take *take, void *context) { (void)events, (void)take, (void)context; }
uint64_t perf_take_lost(perf_events *events) {
  (void)events;
  return 0;
}
void perf_end(perf_events *events) { (void)events; }
#endif
