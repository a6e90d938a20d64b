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
 * The kernel is trusted; a record is checked all the same, since a ring that is read wrongly would be read for ever.
 *
 * With --children, so do children, rather than get events of their own. When a processor goes from one thread to
 * another and both have inherited the same events, these go on, with their timers. Otherwise all are ended and begun,
 * which takes several microseconds.
 *
 * So the rings have the records of many processes, and whichever recorder is the first to read, reads those of all.
 * What is not its own it leaves for the others in a memory of theirs (perf_relay). */

#include "perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES 8192 /* of a sample: of a deeper stack, the callers of the outermost frames are missing */
#define LEAST_PAGES 8    /* of a ring; the number is a power of 2 */
#define SAMPLE_PAGES 128 /* with one more, what a user may have by default */
#define SWITCH_PAGES 64  /* filled by 10,900 records */
#define RELAY_BYTES ((size_t)2 << 20) /* for each processor: a quarter of a second of the usual samples */
#define MOST_RELAY ((size_t)64 << 20)

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

/* What has been read from the rings for others, the oldest removed as room is needed. The positions count bytes since
 * the beginning; an entry does not go over the end of the memory. */
typedef struct perf_relay {
  pthread_mutex_t lock;  /* of this and the rings */
  uint64_t first, end;   /* of the oldest entry, and where the next begins */
  uint64_t removed, put; /* numbers of entries */
  uint64_t lost;         /* the kernel had no room for them */
  size_t size;
  uint8_t data[];
} perf_relay;

/* The bytes of its stack follow. Its size is a multiple of 8. */
typedef struct relay_entry {
  uint32_t size;
  uint32_t process; /* UINT32_MAX: this fills the end of the memory, and has nothing but these two */
  perf_record record;
} relay_entry;

struct perf_events {
  pid_t process;
  bool children, paused;
  perf_relay *relay;
  size_t relay_bytes;
  uint64_t at, seen, lost_before; /* relay's end, put and lost when it was read last */
  uint64_t lost;
  bytes own; /* entries of its process, being read */
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

static struct perf_event_attr describe(uint64_t what) {
  struct perf_event_attr a;
  memset(&a, 0, sizeof a);
  a.size = sizeof a;
  a.type = PERF_TYPE_SOFTWARE;
  a.config = what;
  a.exclude_kernel = a.exclude_hv = 1;
  a.disabled = 1;
  return a;
}

static struct perf_event_attr describe_told(const perf_events *events, uint64_t what) {
  struct perf_event_attr a = describe(what);
  a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  a.sample_id_all = 1;
  a.use_clockid = 1;
  a.clockid = CLOCK_MONOTONIC;
  a.enable_on_exec = !events->paused;
  a.inherit = 1;
#ifdef PERF_ATTR_SIZE_VER7
  a.inherit_thread = !events->children; /* Linux 5.13: not by other processes */
#endif
  return a;
}

static int open_event(struct perf_event_attr *attributes, pid_t process, int processor) {
  return (int)syscall(SYS_perf_event_open, attributes, process, processor, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool map_ring(ring *r, size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, r->event, 0);
  if (memory == MAP_FAILED) return false;
  r->control = memory;
  r->data = (const uint8_t *)memory + page;
  r->size = size;
  return true;
}

/* Opens the event of a processor, with a ring as large as the user may have. False: see errno. */
static bool open_ring(ring *r, struct perf_event_attr *attributes, pid_t process, int processor, size_t pages) {
  r->event = open_event(attributes, process, processor);
#ifdef PERF_ATTR_SIZE_VER7
  if (r->event < 0 && (errno == EINVAL || errno == E2BIG) && attributes->inherit_thread) {
    attributes->inherit_thread = 0;
    attributes->size = sizeof *attributes;
    r->event = open_event(attributes, process, processor);
  }
#endif
  if (r->event < 0) return errno == ENODEV;
  for (; pages >= LEAST_PAGES; pages /= 2)
    if (map_ring(r, pages * (size_t)sysconf(_SC_PAGESIZE))) return true;
  return false;
}

static void close_ring(const ring *r) {
  if (r->control) munmap(r->control, r->size + (size_t)sysconf(_SC_PAGESIZE));
  if (r->event >= 0) close(r->event);
}

/* Opens the rings of an event, one for each processor, or none. False: see errno. */
static bool open_rings(perf_events *events, struct perf_event_attr attributes, size_t pages) {
  size_t before = events->ring_count, i;
  int error;
  for (i = 0; i < events->processors; i++) {
    ring *r = &events->rings[events->ring_count++];
    *r = (ring){.event = -1};
    if (open_ring(r, &attributes, events->process, (int)i, pages)) continue;
    error = errno;
    while (events->ring_count > before) close_ring(&events->rings[--events->ring_count]);
    errno = error;
    return false;
  }
  return true;
}

/* For this process and those that it forks. NULL: see errno. */
static perf_relay *new_relay(size_t size) {
  perf_relay *y = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pthread_mutexattr_t lock;
  if (y == MAP_FAILED) return NULL;
  y->size = (size - sizeof *y) & ~(size_t)7;
  pthread_mutexattr_init(&lock);
  pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&lock, PTHREAD_MUTEX_ROBUST); /* any of the processes may be killed */
  pthread_mutex_init(&y->lock, &lock);
  pthread_mutexattr_destroy(&lock);
  return y;
}

perf_events *perf_begin(pid_t process, bool children, bool paused) {
  size_t count = (size_t)sysconf(_SC_NPROCESSORS_CONF);
  perf_events *events = zeroed(sizeof *events + 2 * count * sizeof *events->rings);
  events->process = process;
  events->children = children;
  events->paused = paused;
  events->processors = count;
  events->relay_bytes = count < MOST_RELAY / RELAY_BYTES ? count * RELAY_BYTES : MOST_RELAY;
  return events;
}

/* Returns whether there is a relay. */
static bool has_relay(perf_events *events) {
  if (!events->relay) events->relay = new_relay(events->relay_bytes);
  return events->relay != NULL;
}

bool perf_take_switches(perf_events *events) {
  struct perf_event_attr a = describe_told(events, PERF_COUNT_SW_DUMMY);
  a.context_switch = 1;
  return has_relay(events) && open_rings(events, a, SWITCH_PAGES);
}

bool perf_take_samples(perf_events *events, uint32_t hertz) {
  struct perf_event_attr a = describe_told(events, PERF_COUNT_SW_CPU_CLOCK);
  a.freq = 1;
  a.sample_freq = hertz;
  a.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  a.sample_regs_user = SAMPLED_REGISTERS;
  a.sample_stack_user = STACK_BYTES;
  return has_relay(events) && open_rings(events, a, SAMPLE_PAGES);
}

void perf_start(const perf_events *events) {
  size_t i;
  for (i = 0; i < events->ring_count; i++)
    if (events->rings[i].event >= 0) ioctl(events->rings[i].event, PERF_EVENT_IOC_ENABLE, 0);
}

/* ----------------------------------------------------------------------------------------------------- reading ---- */

static relay_entry *entry_at(perf_relay *y, uint64_t at) { return (void *)(y->data + at % y->size); }

/* For an entry of so many bytes. */
static relay_entry *new_entry(perf_relay *y, size_t size) {
  relay_entry *e;
  while (y->end + size - y->first > y->size) {
    y->first += entry_at(y, y->first)->size;
    y->removed++;
  }
  e = entry_at(y, y->end);
  e->size = (uint32_t)size;
  y->end += size;
  y->put++;
  return e;
}

/* Keeps a record for its process: the own one, or another. */
static void keep_record(perf_events *events, uint32_t process, const perf_record *record) {
  perf_relay *y = events->relay;
  size_t size = (sizeof(relay_entry) + record->stack_size + 7) & ~(size_t)7, rest = y->size - y->end % y->size;
  relay_entry *e;
  if (process == (uint32_t)events->process) {
    e = (void *)bytes_room(&events->own, size);
    events->own.size += size;
    e->size = (uint32_t)size;
  } else if (events->children) {
    if (rest < size) new_entry(y, rest)->process = UINT32_MAX;
    e = new_entry(y, size);
  } else {
    return;
  }
  e->process = process;
  e->record = *record;
  if (record->stack_size) memcpy(e + 1, record->stack, record->stack_size);
}

/* What other recorders have left for this one. */
static void read_relay(perf_events *events) {
  perf_relay *y = events->relay;
  if (events->at < y->first) {
    events->lost += y->removed - events->seen;
    events->at = y->first;
  }
  while (events->at < y->end) {
    const relay_entry *e = entry_at(y, events->at);
    if (e->process == (uint32_t)events->process) put_data(&events->own, e, e->size);
    events->at += e->size;
  }
}

static void keep_sample(perf_events *events, const void *record, size_t size) {
  const sample_record *s = record;
  perf_record sample;
  if (size < sizeof *s || s->abi != PERF_SAMPLE_REGS_ABI_64) return;
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
  keep_record(events, s->process, &sample);
}

static void keep_switch(perf_events *events, const struct perf_event_header *header) {
  record_end end;
  perf_record record;
  if (header->size < sizeof *header + sizeof end) return;
  memcpy(&end, (const uint8_t *)header + header->size - sizeof end, sizeof end);
  memset(&record, 0, sizeof record);
  record.kind = !(header->misc & PERF_RECORD_MISC_SWITCH_OUT)        ? PERF_RUNS
                : header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? PERF_PREEMPTED
                                                                     : PERF_SLEEPS;
  record.nanoseconds = end.nanoseconds;
  record.thread = end.thread;
  keep_record(events, end.process, &record);
}

/* A number of lost records follows the header and an id. */
static uint64_t lost_in(const void *record, size_t size) {
  uint64_t number = 0;
  if (size >= sizeof(struct perf_event_header) + 16)
    memcpy(&number, (const uint8_t *)record + sizeof(struct perf_event_header) + 8, sizeof number);
  return number;
}

/* Returns whether there was much. */
static bool read_ring(perf_events *events, ring *r) {
  uint64_t at = r->control->data_tail, head = __atomic_load_n(&r->control->data_head, __ATOMIC_ACQUIRE);
  bool much = head - at > r->size / 4;
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
    if (header->type == PERF_RECORD_SAMPLE) keep_sample(events, header, size);
    else if (header->type == PERF_RECORD_SWITCH) keep_switch(events, header);
    else if (header->type == PERF_RECORD_LOST) events->relay->lost += lost_in(header, size);
    at += size;
  }
  __atomic_store_n(&r->control->data_tail, head, __ATOMIC_RELEASE);
  return much;
}

static void take_own(perf_events *events, perf_take *take, void *context) {
  size_t at;
  for (at = 0; at < events->own.size;) {
    relay_entry *e = (void *)(events->own.data + at);
    e->record.stack = e + 1;
    if (take) take(context, &e->record);
    at += e->size;
  }
  events->own.size = 0;
}

bool perf_read(perf_events *events, perf_take *take, void *context) {
  perf_relay *y = events->relay;
  bool much = false;
  size_t i;
  if (!y) return false;
  if (pthread_mutex_lock(&y->lock) == EOWNERDEAD) pthread_mutex_consistent(&y->lock); /* a few records may come twice */
  read_relay(events);
  for (i = 0; i < events->ring_count; i++)
    if (events->rings[i].control) much |= read_ring(events, &events->rings[i]);
  events->lost += y->lost - events->lost_before;
  events->lost_before = y->lost;
  events->at = y->end;
  events->seen = y->put;
  pthread_mutex_unlock(&y->lock);
  take_own(events, take, context);
  return much;
}

uint64_t perf_take_lost(perf_events *events) {
  uint64_t lost = events->lost;
  events->lost = 0;
  return lost;
}

/* fork passes on no mapping of a ring. What has been read so far is of no use. */
bool perf_follow(perf_events *events, pid_t process) {
  bool mapped = true;
  size_t i;
  for (i = 0; i < events->ring_count; i++) {
    ring *r = &events->rings[i];
    if (!r->control) continue;
    r->control = NULL;
    mapped &= map_ring(r, r->size);
  }
  events->process = process;
  perf_read(events, NULL, NULL);
  events->lost = 0;
  return mapped;
}

size_t perf_count_files(const perf_events *events) { return events ? events->ring_count : 0; }

void perf_files(const perf_events *events, int *to) {
  size_t i;
  for (i = 0; i < perf_count_files(events); i++) to[i] = events->rings[i].event;
}

void perf_end(perf_events *events) {
  size_t i;
  for (i = 0; i < events->ring_count; i++) close_ring(&events->rings[i]);
  if (events->relay) munmap(events->relay, events->relay_bytes);
  free(events->own.data);
  free(events);
}

/* ------------------------------------------------------------------------------------------- the usual frequency ----
 *
 * While a thread has a processor, the kernel has a timer for its next sample. It sets the processor's timer whenever a
 * thread gets a processor, and again when it loses it. In most virtual machines that takes several microseconds, since
 * the machine's host has to do it. At a tenth of the frequency another timer is nearly always due before, so nothing
 * has to be set. */

#define OFTEN 997 /* no multiple of what programs do at round frequencies */
#define SELDOM 97
#define CHEAP 3000 /* nanoseconds that two settings of the timer may take */
#define TRIES 15

static int compare_times(const void *a, const void *b) {
  uint64_t at = *(const uint64_t *)a, other = *(const uint64_t *)b;
  return at < other ? -1 : at > other;
}

static uint64_t read_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Nanoseconds that it takes this thread to begin to count an event, and to end that: the median. */
static uint64_t time_event(struct perf_event_attr a) {
  uint64_t times[TRIES];
  unsigned i;
  int event = open_event(&a, 0, -1);
  if (event < 0) return 0;
  for (i = 0; i < TRIES; i++) {
    uint64_t before = read_clock();
    ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
    ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
    times[i] = read_clock() - before;
  }
  close(event);
  qsort(times, TRIES, sizeof *times, compare_times);
  return times[TRIES / 2];
}

uint32_t perf_usual_rate(void) {
  struct perf_event_attr clock = describe(PERF_COUNT_SW_CPU_CLOCK);
  clock.sample_period = 100000; /* sooner than other timers, so that it is set */
  return time_event(clock) > time_event(describe(PERF_COUNT_SW_DUMMY)) + CHEAP ? SELDOM : OFTEN;
}

#else

struct perf_events {
  int unused;
};
perf_events *perf_begin(pid_t process, bool children, bool paused) {
  (void)process, (void)children, (void)paused;
  return zeroed(sizeof(perf_events));
}
bool perf_take_switches(perf_events *events) { return (void)events, errno = ENOSYS, false; }
bool perf_take_samples(perf_events *events, uint32_t hertz) { return (void)events, (void)hertz, errno = ENOSYS, false; }
void perf_start(const perf_events *events) { (void)events; }
bool perf_follow(perf_events *events, pid_t process) { return (void)events, (void)process, true; }
size_t perf_count_files(const perf_events *events) { return (void)events, (size_t)0; }
void perf_files(const perf_events *events, int *to) { (void)events, (void)to; }
bool perf_read(perf_events *events, perf_take *take, void *context) {
  return (void)events, (void)take, (void)context, false;
}
uint64_t perf_take_lost(perf_events *events) {
  (void)events;
  return 0;
}
void perf_end(perf_events *events) { free(events); }
uint32_t perf_usual_rate(void) { return 1; }
#endif
