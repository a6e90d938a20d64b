/* wakes.c - waits that another process ends: see preload.h
 *
 * All traced processes share a memory (board.h). A thread that waits for something which another process may do is
 * counted there, by a key of what it waits for. A thread that does such a thing, as to write to a pipe, leaves a note
 * if anybody is counted. The one that has waited takes the oldest note since its wait began, and tells in its trace who
 * left it.
 *
 * Both ends of a pipe have the same inode number, which is its key. A TCP connection has a key for each direction, of
 * its two addresses. A Unix socket's key is its inode number, and the kernel tells that of its other end. Each is found
 * once for a descriptor. Signals to a process have one key; a note of one also has its number. A lock that processes
 * share has the key of its place in the memory: the file that is mapped there, and where in it. Who waits for a mutex
 * gets it from the thread that released it last, so such a key has one note, the newest.
 *
 * What a program writes by stdio makes no call that this library sees. So if there is no note, the process is told
 * which alone has the pipe as its standard output or error output, or input if the wait was for room.
 *
 * Nothing here waits for another process, which may have been killed anywhere. A thread that was killed while it was
 * counted stays counted. That costs later writers some nanoseconds. */

#include "preload.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct wakes *shared_wakes;
static uint32_t own; /* index of this process */

static uint64_t now(void) { return read_clock(self.clockless ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC); }

/* -------------------------------------------------------------------------------------------------------- keys ----
 *
 * A key is even, and not 0; the next number is that of a wait for room to write.
 */

enum { ROOM = 1, PIPES, UNIX_SOCKETS, CONNECTIONS, SIGNALS, MEMORY };

static uint64_t make_key(unsigned of, uint64_t a, uint64_t b) {
  uint64_t key = mix(mix(of, a), b) & ~(uint64_t)ROOM;
  return key ? key : 2;
}

/* What Linux defines in its headers (netlink.h, unix_diag.h), which musl does not have. */
enum { SOCK_DIAG = 4, SOCK_DIAG_BY_FAMILY = 20, IS_REQUEST = 1, SHOW_PEER = 4, IS_PEER = 2 };
struct diag_head {
  uint32_t size;
  uint16_t type, flags;
  uint32_t sequence, port;
};
struct diag_question {
  struct diag_head head;
  uint8_t family, protocol;
  uint16_t unused;
  uint32_t states, inode, show, cookie[2];
};
struct diag_answer {
  struct diag_head head;
  uint8_t family, type, state, unused;
  uint32_t inode, cookie[2];
  struct diag_attribute {
    uint16_t size, type;
    uint32_t value;
  } attribute[16]; /* the one that is wanted has this size, and there is no other before it */
};

/* The inode number of the other end of a Unix socket; 0: not known. */
static uint32_t find_peer(uint32_t inode) {
  const struct diag_question question = {
      {sizeof question, SOCK_DIAG_BY_FAMILY, IS_REQUEST, 0, 0},
      AF_UNIX,
      0,
      0,
      UINT32_MAX,
      inode,
      SHOW_PEER,
      {UINT32_MAX, UINT32_MAX} /* any */
  };
  struct diag_answer answer;
  const size_t least = offsetof(struct diag_answer, attribute[1]);
  int diag = REAL(socket)(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, SOCK_DIAG);
  ssize_t size = -1;
  if (diag < 0) return 0;
  if (REAL(send)(diag, &question, sizeof question, 0) == (ssize_t)sizeof question)
    size = REAL(recv)(diag, &answer, sizeof answer, MSG_DONTWAIT);
  REAL(close)(diag);
  if (size < (ssize_t)least || answer.head.size < least || answer.head.type != SOCK_DIAG_BY_FAMILY) return 0;
  return answer.attribute[0].type == IS_PEER ? answer.attribute[0].value : 0;
}

/* An address of the Internet; an address of version 4 is the same in both forms. */
static uint64_t hash_address(const struct sockaddr_storage *address) {
  static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255};
  const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
  const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
  uint64_t halves[2];
  uint32_t last;
  if (address->ss_family == AF_INET) return mix(four->sin_addr.s_addr, four->sin_port);
  memcpy(halves, &six->sin6_addr, sizeof halves);
  memcpy(&last, (const char *)&six->sin6_addr + sizeof mapped, sizeof last);
  if (memcmp(&six->sin6_addr, mapped, sizeof mapped) == 0) return mix(last, six->sin6_port);
  return mix(mix(halves[0], halves[1]), six->sin6_port);
}

static void find_socket_keys(int fd, uint32_t inode, uint64_t *in, uint64_t *out) {
  struct sockaddr_storage here, there;
  socklen_t here_size = sizeof here, there_size = sizeof there;
  uint32_t peer;
  if (getsockname(fd, (struct sockaddr *)(void *)&here, &here_size) != 0) return;
  if (here.ss_family == AF_UNIX && (peer = find_peer(inode)) != 0) {
    *in = make_key(UNIX_SOCKETS, inode, 0);
    *out = make_key(UNIX_SOCKETS, peer, 0);
  }
  if ((here.ss_family != AF_INET && here.ss_family != AF_INET6) ||
      getpeername(fd, (struct sockaddr *)(void *)&there, &there_size) != 0)
    return;
  *in = make_key(CONNECTIONS, hash_address(&there), hash_address(&here));
  *out = make_key(CONNECTIONS, hash_address(&here), hash_address(&there));
}

void find_wake_keys(int fd, const struct stat *status, uint64_t *in, uint64_t *out) {
  if (S_ISSOCK(status->st_mode)) find_socket_keys(fd, (uint32_t)status->st_ino, in, out);
  if (S_ISFIFO(status->st_mode)) *in = *out = make_key(PIPES, (uint64_t)status->st_dev, (uint64_t)status->st_ino);
}

/* A mapping of the process, as a thread knows it. */
struct mapping {
  uintptr_t from, to;
  uint64_t file;   /* what is mapped there; 0: memory that no other process has */
  uint64_t offset; /* of `from` in it */
  uint64_t found;  /* when */
};

/* From the kernel's list, whose lines begin "FROM-TO PERMISSIONS OFFSET MAJOR:MINOR INODE". By system calls in which no
 * thread is cancelled: who releases a lock must go on. */
static struct mapping find_mapping(uintptr_t at) {
  enum { FROM, TO, PERMISSIONS, OFFSET, MAJOR, MINOR, INODE, PATH };
  struct mapping found = {0, 0, 0, 0, now()};
  uint64_t value[PATH + 1] = {0};
  unsigned field = FROM;
  char text[1024], *c;
  ssize_t size = 0;
  int list = (int)REAL(syscall)(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (list < 0) return found;
  while (!found.to && (size = REAL(syscall)(SYS_read, list, text, sizeof text)) > 0) {
    for (c = text; c < text + size && !found.to; c++) {
      if (*c == '\n') {
        if (at >= value[FROM] && at < value[TO]) {
          found.from = (uintptr_t)value[FROM];
          found.to = (uintptr_t)value[TO];
          found.offset = value[OFFSET];
          if (value[PERMISSIONS] == 's' && value[INODE])
            found.file = mix(value[MAJOR] << 32 | value[MINOR], value[INODE]);
        }
        memset(value, 0, sizeof value);
        field = FROM;
      } else if (field < PATH && (*c == ' ' || (*c == '-' && field == FROM) || (*c == ':' && field == MAJOR))) {
        field++;
      } else if (field == PERMISSIONS) {
        value[field] = (uint64_t)*c; /* the last one: s if it is shared */
      } else if (field < PATH) {
        value[field] = value[field] * (field == INODE ? 10 : 16) + (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
      }
    }
  }
  REAL(syscall)(SYS_close, list);
  return found;
}

/* The program may map something else at the same place. So what is known counts only for so long. */
#define MAPPINGS_AGE 100000000              /* nanoseconds */
static __thread struct mapping mappings[4]; /* that the thread has used last */
static __thread unsigned oldest_mapping;

/* The key of a place in memory that processes share; 0: it is not, or not known. */
static uint64_t key_in_memory(const void *place) {
  uintptr_t at = (uintptr_t)place;
  struct mapping *m = mappings;
  int kept = errno;
  while (m < mappings + COUNT(mappings) && !(at >= m->from && at < m->to)) m++;
  if (m == mappings + COUNT(mappings)) {
    if (in_sandbox()) return 0;
    m = &mappings[oldest_mapping++ % COUNT(mappings)];
    *m = find_mapping(at);
  } else if (!in_sandbox() && now() - m->found > MAPPINGS_AGE) {
    *m = find_mapping(at);
  }
  errno = kept;
  return m->file ? make_key(MEMORY, m->file, m->offset + (at - m->from)) : 0;
}

/* ------------------------------------------------------------------------------------------------------- notes ---- */

/* Who leaves a note: 1 + the index of its process, and its goroutine's id; 0: unknown. */
#define GO_BITS 48
enum { BEING_WRITTEN = 1 };

static struct wake_bucket *bucket_of(uint64_t key) { return &shared_wakes->bucket[(key >> 8) % WAKE_BUCKETS]; }

static bool take_slot(struct wake_note *n, uint64_t before) {
  return __atomic_compare_exchange_n(&n->waker, &before, BEING_WRITTEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void write_note(struct wake_note *n, uint64_t key, int signal) {
  uint64_t go = self.usage ? self.usage->go : 0;
  __atomic_store_n(&n->key, key, __ATOMIC_RELAXED);
  __atomic_store_n(&n->signal, (uint64_t)signal, __ATOMIC_RELAXED);
  __atomic_store_n(&n->time, now(), __ATOMIC_RELAXED);
  __atomic_store_n(&n->waker, (uint64_t)(own + 1) << GO_BITS | (go >> GO_BITS ? 0 : go), __ATOMIC_RELEASE);
}

/* For up to `count` waits. No more notes of a key than there are waits: otherwise what one thread writes at once would
 * hide what others do. NEWEST: one note, which replaces that of another thread. */
NOINLINE static void leave_notes(struct wake_bucket *b, uint64_t key, int signal, uint32_t waiting, unsigned count) {
  struct wake_note *n;
  uint64_t found;
  uint32_t same = 0;
  for (n = b->note; n < b->note + WAKE_NOTES; n++) {
    found = __atomic_load_n(&n->waker, __ATOMIC_ACQUIRE);
    if (!found || __atomic_load_n(&n->key, __ATOMIC_RELAXED) != key) continue;
    same++;
    if (count != NEWEST) continue;
    if (found > BEING_WRITTEN && take_slot(n, found)) write_note(n, key, signal);
    return;
  }
  if (count == NEWEST) count = 1;
  for (n = b->note; n < b->note + WAKE_NOTES && count && same < waiting; n++) {
    if (__atomic_load_n(&n->waker, __ATOMIC_RELAXED) || !take_slot(n, 0)) continue;
    write_note(n, key, signal);
    same++, count--;
  }
}

static inline void note(uint64_t key, int signal, unsigned count) {
  struct wake_bucket *b = bucket_of(key);
  uint32_t waiting = __atomic_load_n(&b->waiting, __ATOMIC_RELAXED);
  if (UNLIKELY(waiting != 0)) leave_notes(b, key, signal, waiting, count);
}

void note_transfer(int fd, bool writes) {
  uint64_t key = wake_key_of(fd, writes);
  if (key) note(writes ? key : key | ROOM, 0, 1);
}

void note_signal(pid_t process, int signal) {
  if (process > 0 && signal > 0) note(make_key(SIGNALS, (uint64_t)process, 0), signal, 1);
}

void wake_shared(const void *place, unsigned wakes, unsigned notes) {
  uint64_t key = does_anybody_share() ? key_in_memory(place) : 0;
  uint32_t here = __atomic_load_n(waiters_of(place), __ATOMIC_RELAXED);
  if (key) note(key, 0, notes);
  /* If other processes wait, too, this trace cannot tell whose wait ends. */
  if (here && (!key || __atomic_load_n(&bucket_of(key)->waiting, __ATOMIC_RELAXED) <= here)) wake(place, wakes);
}

/* ------------------------------------------------------------------------------------------------------- waits ---- */

#define MOST_KEYS 32 /* of a wait */

static __thread struct {
  uint64_t key[MOST_KEYS], since; /* 0: not yet known */
  unsigned count;
  bool shares;      /* it is for something in memory that processes share */
  sigset_t signals; /* if it is for signals: which may end it */
} listens;

static uint64_t listening_since(void) {
  if (!listens.since) listens.since = now();
  return listens.since;
}

static void listen_for(uint64_t key) {
  struct wake_bucket *b = bucket_of(key);
  struct wake_note *n;
  uint64_t since = listening_since();
  if (listens.count == MOST_KEYS) return;
  listens.key[listens.count++] = key;
  if (__atomic_fetch_add(&b->waiting, 1u, __ATOMIC_SEQ_CST)) return;
  for (n = b->note; n < b->note + WAKE_NOTES; n++) { /* nobody waits for these any more */
    uint64_t waker = __atomic_load_n(&n->waker, __ATOMIC_ACQUIRE);
    if (waker > BEING_WRITTEN && __atomic_load_n(&n->time, __ATOMIC_RELAXED) < since)
      __atomic_compare_exchange_n(&n->waker, &waker, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  }
}

void listen_to(int fd, bool writes) {
  uint64_t key;
  compare_descriptor(fd, listening_since());
  key = wake_key_of(fd, writes);
  if (key) listen_for(writes ? key | ROOM : key);
}

void listen_to_shared(const void *place) {
  uint64_t key;
  if (!shared_wakes || (key = key_in_memory(place)) == 0) return;
  listens.shares = true;
  __atomic_fetch_add(&shared_wakes->sharing, 1u, __ATOMIC_SEQ_CST);
  listen_for(key);
}

/* `but`: whether all signals but those in the set; then the program must handle the one that ends the wait. */
void listen_to_signals(const sigset_t *set, bool but) {
  int kept = errno, i;
  sigemptyset(&listens.signals);
  for (i = 1; i < NSIG; i++)
    if ((sigismember(set, i) == 1) != but) sigaddset(&listens.signals, i);
  listen_for(make_key(SIGNALS, (uint64_t)state.pid, 0));
  errno = kept;
}

static bool is_handled(int signal) {
  struct sigaction now;
  return in_sandbox() ||
         (real.sigaction(signal, NULL, &now) == 0 && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
}

void tell_sender(int signal) {
  int kept = errno, i;
  if (!listens.count) return;
  for (i = 1; i < NSIG; i++)
    if (sigismember(&listens.signals, i) == 1 && (signal ? i != signal : !is_handled(i)))
      sigdelset(&listens.signals, i);
  tell_waker(false);
  errno = kept;
}

/* Whether a note of a signal is one of which the thread has waited for. */
static bool may_be(uint64_t signal) {
  return !signal || (signal < NSIG && sigismember(&listens.signals, (int)signal) == 1);
}

/* The oldest note of a key since then; `other`, if that is older. */
static struct wake_note *find_older(uint64_t key, uint64_t since, struct wake_note *other) {
  struct wake_bucket *b = bucket_of(key);
  struct wake_note *n;
  uint64_t time = other ? __atomic_load_n(&other->time, __ATOMIC_RELAXED) : UINT64_MAX, when;
  for (n = b->note; n < b->note + WAKE_NOTES; n++) {
    if (__atomic_load_n(&n->waker, __ATOMIC_ACQUIRE) <= BEING_WRITTEN) continue;
    if (__atomic_load_n(&n->key, __ATOMIC_RELAXED) != key) continue;
    if (!may_be(__atomic_load_n(&n->signal, __ATOMIC_RELAXED))) continue;
    when = __atomic_load_n(&n->time, __ATOMIC_RELAXED);
    if (when >= since && when < time) other = n, time = when;
  }
  return other;
}

/* Takes the oldest note of any of these keys since then; 0: there is none. */
static uint64_t take_note(const uint64_t *key_list, unsigned count, uint64_t since) {
  struct wake_note *n;
  uint64_t waker;
  unsigned tries, i;
  for (tries = 0; tries < 4 * WAKE_NOTES; tries++) {
    for (n = NULL, i = 0; i < count; i++) n = find_older(key_list[i], since, n);
    if (!n) return 0;
    waker = __atomic_load_n(&n->waker, __ATOMIC_ACQUIRE);
    if (waker > BEING_WRITTEN &&
        __atomic_compare_exchange_n(&n->waker, &waker, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return waker;
  }
  return 0;
}

/* What the thread has taken is no longer there for whoever has been woken. */
void take_shared(const void *place) {
  uint64_t key = key_in_memory(place);
  if (key && __atomic_load_n(&bucket_of(key)->waiting, __ATOMIC_RELAXED)) take_note(&key, 1, 0);
}

static uint32_t count_processes(void) {
  uint32_t count = __atomic_load_n(&shared_wakes->count, __ATOMIC_ACQUIRE);
  return count < BOARD_TRACES ? count : BOARD_TRACES;
}

/* How long the C library may take to write what is left when a process ends, in nanoseconds. */
#define LAST_WORDS 20000000

/* The process that alone has what was waited for as a standard descriptor; none: BOARD_TRACES. */
static uint32_t find_only_one(uint64_t key, uint64_t since) {
  uint32_t count = count_processes(), found = BOARD_TRACES, i;
  for (i = 0; i < count; i++) {
    const struct wake_process *p = &shared_wakes->process[i];
    uint64_t ended = __atomic_load_n(&p->ended, __ATOMIC_RELAXED);
    unsigned first = key & ROOM ? 0 : 1, last = key & ROOM ? 0 : 2, k;
    bool has = false;
    if (ended && ended + LAST_WORDS < since) continue;
    for (k = first; k <= last; k++)
      has |= __atomic_load_n(&p->standard[k], __ATOMIC_RELAXED) == (key & ~(uint64_t)ROOM);
    if (!has) continue;
    if (found != BOARD_TRACES) return BOARD_TRACES;
    found = i;
  }
  return found;
}

/* Returns the end of what it has written. */
static char *put_text(char *at, const char *text) {
  while (*text) *at++ = *text++;
  return at;
}
static char *put_number(char *at, uint64_t number) {
  char digits[20];
  unsigned count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while (number /= 10);
  while (count) *at++ = digits[--count];
  return at;
}

/* `go`: 0: unknown. Servers wait often, and snprintf takes five times as long. */
static void tell(uint32_t index, int pid, uint64_t go) {
  char text[96], program[NAME_OF_PROGRAM] = "unknown", *end;
  int kept = errno;
  if (index < BOARD_TRACES) memcpy(program, shared_wakes->process[index].program, sizeof program);
  program[sizeof program - 1] = 0;
  end = put_text(put_text(text, program), " (pid ");
  end = put_text(put_number(end, (uint64_t)(pid > 0 ? pid : 0)), ")");
  if (go) end = put_number(put_text(end, ", goroutine "), go);
  *end = 0;
  gotrace_log_at(NULL, GOTRACE_NO_TASK, RECORD_WAKER, text);
  errno = kept;
}

void tell_waker(bool failed) {
  uint64_t waker, since = listens.since;
  uint32_t index = BOARD_TRACES;
  unsigned i;
  listens.since = 0;
  if (!listens.count) return;
  waker = take_note(listens.key, listens.count, since);
  if (waker) index = (uint32_t)(waker >> GO_BITS) - 1;
  else if (!failed && listens.count == 1 && !listens.shares) index = find_only_one(listens.key[0], since);
  for (i = 0; i < listens.count; i++) __atomic_fetch_sub(&bucket_of(listens.key[i])->waiting, 1u, __ATOMIC_RELAXED);
  if (listens.shares) __atomic_fetch_sub(&shared_wakes->sharing, 1u, __ATOMIC_RELAXED);
  listens.shares = false;
  listens.count = 0;
  if (failed || index >= BOARD_TRACES || index == own) return; /* the trace has the wake itself */
  tell(index, shared_wakes->process[index].pid, waker & (((uint64_t)1 << GO_BITS) - 1));
}

/* The last program that a process has executed. */
void tell_child(pid_t child) {
  uint32_t i;
  if (!shared_wakes || child <= 0) return;
  for (i = count_processes(); i > 0 && shared_wakes->process[i - 1].pid != child; i--) continue;
  tell(i ? i - 1 : BOARD_TRACES, (int)child, 0);
}

uint64_t wake_time(void) { return shared_wakes ? now() : 0; }

void tell_only_child(uint64_t begun, uint64_t ended) {
  uint32_t i, found = BOARD_TRACES;
  if (!shared_wakes) return;
  for (i = count_processes(); i > 0; i--) {
    const struct wake_process *p = &shared_wakes->process[i - 1];
    if (p->parent != state.pid || __atomic_load_n(&p->began, __ATOMIC_RELAXED) < begun ||
        __atomic_load_n(&p->ended, __ATOMIC_RELAXED) < ended)
      continue;
    if (found == BOARD_TRACES) found = i - 1;
    else if (shared_wakes->process[found].pid != p->pid) return;
  }
  if (found != BOARD_TRACES) tell(found, shared_wakes->process[found].pid, 0);
}

/* ----------------------------------------------------------------------------------------------- start and end ---- */

static void tell_standard(bool known) {
  struct wake_process *p = &shared_wakes->process[own];
  int fd;
  for (fd = 0; fd < 3; fd++) {
    uint64_t key = known ? wake_key_of(fd, fd != 0) : 0;
    __atomic_store_n(&p->standard[fd], key, __ATOMIC_RELAXED);
  }
}

void tell_duplicate(int to) {
  if (shared_wakes && to >= 0 && to < 3 && is_traced_process()) tell_standard(true);
}

void begin_wakes(struct wakes *memory, uint32_t index) {
  struct wake_process *p;
  uint32_t count;
  if (!memory || index >= BOARD_TRACES) return;
  shared_wakes = memory;
  own = index;
  p = &shared_wakes->process[index];
  p->pid = state.pid;
  p->parent = (int32_t)getppid();
  snprintf(p->program, sizeof p->program, "%s", program_invocation_short_name);
  tell_standard(true);
  count_fork(false);
  __atomic_store_n(&p->began, now(), __ATOMIC_RELAXED);
  count = __atomic_load_n(&shared_wakes->count, __ATOMIC_RELAXED);
  while (count <= index && !__atomic_compare_exchange_n(&shared_wakes->count, &count, index + 1, false,
                                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    continue;
}

static __thread bool forks; /* also in the child, which counts itself off */

void count_fork(bool begins) {
  if (!shared_wakes || forks == begins) return;
  __atomic_fetch_add(&shared_wakes->forks, begins ? 1u : -1u, __ATOMIC_RELAXED);
  forks = begins;
}

void end_fork(void) { forks = false; }

/* The next program of a process has an entry of its own. */
void end_wakes(uint32_t why) {
  if (!shared_wakes) return;
  if (why == 0 || why == TRACE_EXECUTES) {
    tell_standard(why == 0);
    return;
  }
  __atomic_store_n(&shared_wakes->process[own].ended, now(), __ATOMIC_RELAXED);
  note_signal(shared_wakes->process[own].parent, SIGCHLD);
}

void wakes_after_fork(void) {
  shared_wakes = NULL; /* fork does not pass on the mapping */
  listens.count = 0;
  listens.since = 0;
  listens.shares = false;
  memset(mappings, 0, sizeof mappings);
}
