/* io.c - system calls, files, network, poll, sleeps: see preload.h
 *
 * A call that would not wait is a system call in the trace. A call that will wait for another thread or process is a
 * wait; if that thread is in this process, it ends the wait. Readiness is checked only for descriptors that can make a
 * thread wait: sockets, pipes, terminals, event descriptors, unless they are non-blocking. */

#include "preload.h"

#include <fcntl.h>
#include <stdarg.h>
#if !defined(__GLIBC__)
#include <stdio_ext.h>
#endif
#include <sys/ioctl.h>
#include <sys/syscall.h>

/* ---------------------------------------------------------------------------------------------------- connections ----
 *
 * Which waiter a write wakes: a reader of the same pipe or event descriptor, of the other end of a socket pair, or a
 * thread that watches it in epoll or poll. The table has a fixed size; connections beyond it are not tracked.
 */

/* Identifies an epoll descriptor, as key_of() does others, without a system call. */
static const void *epoll_key(int fd) { return (const void *)(uintptr_t)(mix(1, (uint64_t)fd) | 1u << 31 | 1); }

#define LINKS 4096

static struct {
  uint32_t lock;
  uint32_t count;  /* atomic */
  uint32_t places; /* in use so far */
  struct link {
    const void *key;   /* key of the descriptor written to; NULL: free */
    const void *wakes; /* key of the wait */
    int fd;            /* closing it removes the entry; -1: none */
  } * all;
} links;

static void add_link(const void *key, const void *wakes, int fd) {
  uint32_t i;
  if (!key || !wakes) return;
  take_lock(&links.lock);
  if (!links.all) links.all = allocate(LINKS * sizeof *links.all);
  for (i = 0; links.all && i < LINKS; i++) {
    if (links.all[i].key) continue;
    links.all[i].key = key;
    links.all[i].wakes = wakes;
    links.all[i].fd = fd;
    if (i >= links.places) __atomic_store_n(&links.places, i + 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&links.count, 1u, __ATOMIC_RELAXED);
    break;
  }
  drop_lock(&links.lock);
}

/* Removes the entries with this descriptor or this wait; -1 and NULL match any. A child of vfork, which shares the
 * memory, closes descriptors of its own. */
static void remove_links(int fd, const void *wakes) {
  uint32_t i;
  if (!__atomic_load_n(&links.count, __ATOMIC_RELAXED)) return;
  take_lock(&links.lock);
  for (i = 0; i < links.places; i++) {
    struct link *l = &links.all[i];
    if (!l->key || (fd >= 0 && l->fd != fd) || (wakes && l->wakes != wakes)) continue;
    if (fd >= 0 && !is_traced_process()) break;
    l->key = NULL;
    __atomic_fetch_sub(&links.count, 1u, __ATOMIC_RELAXED);
  }
  drop_lock(&links.lock);
}

static uint32_t descriptor_waits; /* atomic: threads that wait for a descriptor, perhaps among others */

static void begin_descriptor_wait(void) {
  self.waits_for_descriptor = true;
  __atomic_fetch_add(&descriptor_waits, 1u, __ATOMIC_RELAXED);
}

static void end_descriptor_wait(void) {
  if (self.waits_for_descriptor) __atomic_fetch_sub(&descriptor_waits, 1u, __ATOMIC_RELAXED);
  self.waits_for_descriptor = false;
}

static __thread char poll_key; /* its address is the key of the thread's waits in poll and select */

void io_abandon_wait(void) {
  if (!self.waits_for_descriptor) return;
  end_descriptor_wait();
  remove_links(-1, &poll_key);
}

void io_after_fork(void) {
  links.lock = 0;
  descriptor_waits = 0;
  self.waits_for_descriptor = false;
}

static void wake_one(const void *key) {
  if (has_waiters(key)) wake(key, 1);
}

/* The key of threads that wait until there is room to write. */
static const void *key_of_writers(const void *key) { return (const char *)key + 2; }

/* Who waits for what is written, or read, through a descriptor with this key. */
static void wake_all(const void *key, bool writers) {
  const void *wakes[32];
  uint32_t i, count = 0;
  if (!key) return;
  wake_one(writers ? key_of_writers(key) : key);
  if (!__atomic_load_n(&links.count, __ATOMIC_RELAXED)) return;
  take_lock(&links.lock);
  for (i = 0; i < links.places && count < COUNT(wakes); i++)
    if (links.all[i].key == key) wakes[count++] = links.all[i].wakes;
  drop_lock(&links.lock);
  for (i = 0; i < count; i++) wake_one(writers ? key_of_writers(wakes[i]) : wakes[i]);
}

/* Call it before a write to fd. */
static void before_write(int fd) {
  if (UNLIKELY(shared_wakes != NULL)) note_transfer(fd, true);
  if (LIKELY(!__atomic_load_n(&descriptor_waits, __ATOMIC_RELAXED))) return;
  wake_all(key_of(fd), false);
}

/* ---------------------------------------------------------------------------------------- reads, writes, the rest ----
 *
 * `direction`: what a call waits for.
 */

enum direction { IN = POLLIN, OUT = POLLOUT, NONE = 0 };

static bool is_ready(int fd, enum direction direction) {
  struct pollfd p = {fd, (short)direction, 0};
  int kept = errno, ready = 1;
  if (!in_sandbox()) AGAIN(ready, real.poll(&p, 1, 0));
  errno = kept;
  return ready != 0;
}

/* Returns whether the call is reported as a wait. */
static bool begin_transfer(int fd, enum direction direction, bool may_wait) {
  static const uint8_t in[] = {0, 0, REASON_PIPE, 0, REASON_EVENT, REASON_TERMINAL};
  enum kind kind = kind_of(fd);
  if (direction == OUT && may_wait && kind != READY) block_ticks(); /* a signal would end it in the middle */
  if (may_wait && kind != READY && !is_ready(fd, direction)) {
    unsigned reason = direction == OUT && kind == PIPE ? REASON_PIPE_FULL : in[kind];
    const void *key = key_of(fd);
    if (kind == SOCKET) reason = REASON_NETWORK;
    if (shared_wakes) listen_to(fd, direction == OUT);
    begin_descriptor_wait();
    begin_wait(direction == OUT && key ? key_of_writers(key) : key, reason);
    return true;
  }
  if (!state.only_waits) begin_system_call();
  return false;
}

static void end_transfer(bool waited, bool failed) {
  if (waited) {
    end_wait();
    end_descriptor_wait();
    tell_waker(failed);
  } else if (self.in_system_call) {
    end_system_call();
  }
  unblock_ticks();
}

/* Reading from a pipe, or from an end of a socket pair, makes room for waiting writers. */
static void before_read(int fd) {
  if (UNLIKELY(shared_wakes != NULL)) note_transfer(fd, false);
  if (LIKELY(!__atomic_load_n(&descriptor_waits, __ATOMIC_RELAXED))) return;
  wake_all(key_of(fd), true);
}

/* One that waits until it has all is not to end before. */
static void before_whole_read(int fd, bool whole) {
  before_read(fd);
  if (whole) block_ticks();
}
#define BEFORE_RECEIVE(fd) before_whole_read(fd, (flags & MSG_WAITALL) != 0)
#define BEFORE_MESSAGES(fd) before_whole_read(fd, true)

#define TRANSFER(type, name, parameters, arguments, fd, direction, may_wait, before) \
  REPORTED(type, name, parameters, arguments, false, before(fd);                     \
           bool waited = begin_transfer(fd, direction, may_wait), end_transfer(waited, result < 0))
#define READS(name, parameters, arguments) TRANSFER(ssize_t, name, parameters, arguments, fd, IN, true, before_read)
#define WRITES(name, parameters, arguments) TRANSFER(ssize_t, name, parameters, arguments, fd, OUT, true, before_write)
#define RECEIVES(name, parameters, arguments) \
  TRANSFER(ssize_t, name, parameters, arguments, fd, IN, !(flags & MSG_DONTWAIT), BEFORE_RECEIVE)
#define SENDS(name, parameters, arguments) \
  TRANSFER(ssize_t, name, parameters, arguments, fd, OUT, !(flags & MSG_DONTWAIT), before_write)

READS(read, (int fd, void *data, size_t size), (fd, data, size))
READS(readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRITES(write, (int fd, const void *data, size_t size), (fd, data, size))
WRITES(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
RECEIVES(recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags))
RECEIVES(recvfrom, (int fd, void *data, size_t size, int flags, ADDRESS address, socklen_t *length),
         (fd, data, size, flags, address, length))
RECEIVES(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
SENDS(send, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags))
SENDS(sendto, (int fd, const void *data, size_t size, int flags, CONST_ADDRESS address, socklen_t length),
      (fd, data, size, flags, address, length))
SENDS(sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
#if defined(__GLIBC__)
READS(__read_chk, (int fd, void *data, size_t size, size_t room), (fd, data, size, room))
RECEIVES(__recv_chk, (int fd, void *data, size_t size, size_t room, int flags), (fd, data, size, room, flags))
RECEIVES(__recvfrom_chk, (int fd, void *data, size_t size, size_t room, int flags, ADDRESS address, socklen_t *length),
         (fd, data, size, room, flags, address, length))
#endif

TRANSFER(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, FLAGS flags, struct timespec *time),
         (fd, messages, count, flags, time), fd, IN, !(flags & MSG_DONTWAIT), BEFORE_MESSAGES)
TRANSFER(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, FLAGS flags), (fd, messages, count, flags),
         fd, OUT, !(flags & MSG_DONTWAIT), before_write)
TRANSFER(int, eventfd_read, (int fd, eventfd_t *value), (fd, value), fd, IN, true, before_read)
TRANSFER(int, eventfd_write, (int fd, eventfd_t value), (fd, value), fd, OUT, true, before_write)
TRANSFER(ssize_t, vmsplice, (int fd, const struct iovec *parts, size_t count, unsigned flags),
         (fd, parts, count, flags), fd, OUT, !(flags & SPLICE_F_NONBLOCK), before_write)

/* Between two descriptors: waits for input, or for room. */
static bool begin_move(int from, int to, unsigned flags) {
  bool may_wait = !(flags & SPLICE_F_NONBLOCK);
  before_whole_read(from, true);
  before_write(to);
  if (kind_of(from) == READY || is_ready(from, IN)) return begin_transfer(to, OUT, may_wait);
  return begin_transfer(from, IN, may_wait);
}

#define MOVES(name, parameters, arguments)                                                         \
  REPORTED(ssize_t, name, parameters, arguments, false, bool waited = begin_move(from, to, flags), \
           end_transfer(waited, result < 0))
MOVES(splice, (int from, off_t *from_at, int to, off_t *to_at, size_t size, unsigned flags),
      (from, from_at, to, to_at, size, flags))
MOVES(tee, (int from, int to, size_t size, unsigned flags), (from, to, size, flags))

/* The descriptor of the new connection may have been used for something else before. */
#define ACCEPTS(name, parameters, arguments)                                                    \
  REPORTED(int, name, parameters, arguments, false, bool waited = begin_transfer(fd, IN, true), \
           end_transfer(waited, result < 0);                                                    \
           forget_descriptor(result))
ACCEPTS(accept, (int fd, ADDRESS address, socklen_t *length), (fd, address, length))
ACCEPTS(accept4, (int fd, ADDRESS address, socklen_t *length, int flags), (fd, address, length, flags))

/* Whether connect waits is not known in advance: it does not for a local socket with room in its queue. */
static bool begin_connect(int fd, const struct sockaddr *address, socklen_t length) {
  bool waits = address && length >= sizeof(sa_family_t) &&
               (address->sa_family == AF_INET || address->sa_family == AF_INET6) && kind_of(fd) == SOCKET;
  if (waits) begin_wait(NULL, REASON_NETWORK);
  else if (!state.only_waits) begin_system_call();
  return waits;
}

REPORTED(int, connect, (int fd, CONST_ADDRESS address, socklen_t length), (fd, address, length), false,
         bool waits = begin_connect(fd, SOCKADDR(address), length), end_transfer(waits, true);
         forget_descriptor(fd))

/* Calls that are reported as system calls, however long they take. */
#define SYSTEM_CALLS(X)                                                                                      \
  X(ssize_t, pread, (int fd, void *data, size_t size, off_t at), (fd, data, size, at))                       \
  X(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))                \
  X(ssize_t, preadv, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))       \
  X(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))      \
  X(ssize_t, sendfile, (int to, int from, off_t *at, size_t size), (to, from, at, size))                     \
  X(ssize_t, copy_file_range, (int from, off_t *from_at, int to, off_t *to_at, size_t size, unsigned flags), \
    (from, from_at, to, to_at, size, flags))                                                                 \
  X(int, fsync, (int fd), (fd))                                                                              \
  X(int, fdatasync, (int fd), (fd))                                                                          \
  X(int, syncfs, (int fd), (fd))                                                                             \
  GNU_SYSTEM_CALLS(X)
#if defined(__GLIBC__)
#define GNU_SYSTEM_CALLS(X)                                                                                     \
  X(ssize_t, pread64, (int fd, void *data, size_t size, off64_t at), (fd, data, size, at))                      \
  X(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))               \
  X(ssize_t, preadv64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))      \
  X(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))     \
  X(ssize_t, sendfile64, (int to, int from, off64_t *at, size_t size), (to, from, at, size))                    \
  X(ssize_t, __pread_chk, (int fd, void *data, size_t size, off_t at, size_t room), (fd, data, size, at, room)) \
  X(ssize_t, __pread64_chk, (int fd, void *data, size_t size, off64_t at, size_t room), (fd, data, size, at, room))
#else
#define GNU_SYSTEM_CALLS(X)
#endif

#define REPORTED_CALL(passes, type, name, parameters, arguments) \
  REPORTED(type, name, parameters, arguments, passes, begin_system_call(), end_system_call())
#define SYSTEM_CALL(type, name, parameters, arguments) \
  REPORTED_CALL(state.only_waits, type, name, parameters, arguments)
SYSTEM_CALLS(SYSTEM_CALL)

static bool is_fifo(int folder, const char *path, int flags) {
  struct stat status;
  int kept = errno;
  bool is =
      !(flags & O_NONBLOCK) && !in_sandbox() && fstatat(folder, path, &status, 0) == 0 && S_ISFIFO(status.st_mode);
  errno = kept;
  return is;
}

/* Opening a FIFO waits for the other end. The descriptor may have been used for something else before. */
#define OPEN(name, parameters, arguments, folder, mode_of)                      \
  EXPORT int name parameters {                                                  \
    int result;                                                                 \
    mode_of;                                                                    \
    if (!tracing()) return REAL(name) arguments;                                \
    ENTER(name);                                                                \
    if (!state.only_waits || is_fifo(folder, path, flags)) begin_system_call(); \
    result = real.name arguments;                                               \
    if (self.in_system_call) end_system_call();                                 \
    if (result >= 0) forget_descriptor(result);                                 \
    LEAVE();                                                                    \
    return result;                                                              \
  }
#define MODE                                                                                     \
  unsigned mode = 0;                                                                             \
  va_list arguments;                                                                             \
  va_start(arguments, flags);                                                                    \
  if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) mode = va_arg(arguments, unsigned); \
  va_end(arguments)
OPEN(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD, MODE)
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), folder, MODE)
#if defined(__GLIBC__)
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD, MODE)
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), folder, MODE)
OPEN(__open_2, (const char *path, int flags), (path, flags), AT_FDCWD, (void)0)
OPEN(__open64_2, (const char *path, int flags), (path, flags), AT_FDCWD, (void)0)
OPEN(__openat_2, (int folder, const char *path, int flags), (folder, path, flags), folder, (void)0)
OPEN(__openat64_2, (int folder, const char *path, int flags), (folder, path, flags), folder, (void)0)
#endif

/* -------------------------------------------------------------------------------------------------------- stdio ----
 *
 * Only a call that will wait reports anything. It is found out before the call: what the stream has in its buffer does
 * not suffice, and its descriptor has nothing.
 */

/* The bytes that a stream has in its buffer. If the caller does not hold the stream's lock, another thread may change
 * it. */
static size_t buffered(FILE *file, const char **at) {
#if defined(__GLIBC__)
  *at = file->_IO_read_ptr;
  return (size_t)(file->_IO_read_end - file->_IO_read_ptr);
#else
  size_t size;
  *at = __freadptr(file, &size);
  return *at ? size : 0;
#endif
}

/* `most`: how many bytes the call reads at most; `end`: the byte after which it returns; -1: none. */
static bool begins_wait(FILE *file, size_t most, int end) {
  int kept = errno, fd = fileno(file);
  const char *at;
  size_t size;
  bool suffices;
  errno = kept; /* fileno sets it if the stream has no descriptor */
  if (kind_of(fd) == READY) return false;
  if (ftrylockfile(file) == 0) { /* otherwise another thread reads, and probably waits */
    size = buffered(file, &at);
    suffices = size >= most || (end >= 0 && size && memchr(at, end, size));
    funlockfile(file);
    if (suffices) return false;
  }
  return !is_ready(fd, IN) && begin_transfer(fd, IN, true);
}

#define STDIO(type, name, parameters, arguments, file, most, end)                               \
  REPORTED(type, name, parameters, arguments, false, bool waits = begins_wait(file, most, end), \
           end_transfer(waits, false))
STDIO(char *, fgets, (char *data, int size, FILE *file), (data, size, file), file, size > 1 ? (size_t)size - 1 : 0,
      '\n')
STDIO(size_t, fread, (void *data, size_t size, size_t count, FILE *file), (data, size, count, file), file, size *count,
      -1)
/* A program may read each byte of a large file by such a call, so what is in the buffer takes a look at the stream
 * only. As in begins_wait(), another thread may take it meanwhile; then a wait is not shown. */
static inline bool has_byte(FILE *file) {
  const char *at;
  return LIKELY(buffered(file, &at) != 0);
}
#define BYTE(name, parameters, arguments, file)                                                     \
  REPORTED(int, name, parameters, arguments, has_byte(file), bool waits = begins_wait(file, 1, -1), \
           end_transfer(waits, false))
#if defined(__GLIBC__)
static inline bool may_take_byte(FILE *file) { return has_byte(file) && LIKELY(state.plain_getc && is_only_thread()); }

/* In a program with one thread, what the C library's own function does. A call of that takes a quarter longer. */
#define GETC(name)                                                                                     \
  REPORTED_AFTER(int, name, (FILE * file), (file),                                                     \
                 if (may_take_byte(file)) return (unsigned char)*file->_IO_read_ptr++, has_byte(file), \
                 bool waits = begins_wait(file, 1, -1), end_transfer(waits, false))
#else
#define GETC(name) BYTE(name, (FILE * file), (file), file)
#endif
GETC(fgetc)
GETC(getc)
BYTE(getchar, (void), (), stdin)
STDIO(ssize_t, getline, (char **line, size_t *room, FILE *file), (line, room, file), file, SIZE_MAX, '\n')
STDIO(ssize_t, getdelim, (char **line, size_t *room, int end, FILE *file), (line, room, end, file), file, SIZE_MAX, end)
#if defined(__GLIBC__)
STDIO(char *, __fgets_chk, (char *data, size_t space, int size, FILE *file), (data, space, size, file), file,
      size > 1 ? (size_t)size - 1 : 0, '\n')
STDIO(size_t, __fread_chk, (void *data, size_t space, size_t size, size_t count, FILE *file),
      (data, space, size, count, file), file, size *count, -1)
STDIO(ssize_t, __getdelim, (char **line, size_t *room, int end, FILE *file), (line, room, end, file), file, SIZE_MAX,
      end)
#endif

/* Before the C library closes the stream's descriptor without calling close. */
static void forget_stream(FILE *file) {
  int kept = errno, fd = fileno(file);
  forget_descriptor(fd);
  if (fd >= 0) remove_links(fd, NULL);
  errno = kept;
}

EXPORT int fclose(FILE *file) {
  if (tracing()) {
    ENTER(fclose);
    forget_stream(file);
    LEAVE();
  }
  return REAL(fclose)(file);
}

#define REOPENS(name)                                                 \
  EXPORT FILE *name(const char *path, const char *mode, FILE *file) { \
    FILE *result;                                                     \
    if (!tracing()) return REAL(name)(path, mode, file);              \
    ENTER(name);                                                      \
    forget_stream(file);                                              \
    result = real.name(path, mode, file);                             \
    if (result) tell_duplicate(fileno(result));                       \
    LEAVE();                                                          \
    return result;                                                    \
  }
REOPENS(freopen)
#if defined(__GLIBC__)
REOPENS(freopen64)
#endif

/* Calls that wait for a child process. These are first tried without waiting, since the child may have ended. */
#define WAIT_CALLS(X)                                                                                             \
  X(pid_t, wait, (int *status), (status), false, real.wait4(-1, status, WNOHANG, NULL))                           \
  X(pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags), (flags & WNOHANG) != 0,            \
    real.waitpid(pid, status, flags | WNOHANG))                                                                   \
  X(pid_t, wait3, (int *status, int flags, struct rusage *usage), (status, flags, usage), (flags & WNOHANG) != 0, \
    real.wait4(-1, status, flags | WNOHANG, usage))                                                               \
  X(pid_t, wait4, (pid_t pid, int *status, int flags, struct rusage *usage), (pid, status, flags, usage),         \
    (flags & WNOHANG) != 0, real.wait4(pid, status, flags | WNOHANG, usage))

#define WAIT_CALL(type, name, parameters, arguments, at_once, try) \
  EXPORT type name parameters {                                    \
    type result;                                                   \
    if ((at_once) || !tracing()) return REAL(name) arguments;      \
    result = in_sandbox() ? 0 : try;                               \
    if (result != 0) return result;                                \
    ENTER(name);                                                   \
    begin_wait(NULL, REASON_CHILD);                                \
    result = real.name arguments;                                  \
    end_wait();                                                    \
    tell_child(result);                                            \
    LEAVE();                                                       \
    return result;                                                 \
  }
WAIT_CALLS(WAIT_CALL)

#define CHILD_CALL(name, parameters, arguments, at_once, first, tell)                                   \
  REPORTED(int, name, parameters, arguments, at_once, uint64_t since = wake_time(); (void)since; first; \
           begin_wait(NULL, REASON_CHILD), end_wait(); tell)
CHILD_CALL(waitid, (idtype_t type, id_t id, siginfo_t *info, int flags), (type, id, info, flags),
           (flags & WNOHANG) != 0, (void)0, if (result == 0 && info) tell_child(info->si_pid))
CHILD_CALL(system, (const char *command), (command), !command, (void)0, tell_only_child(since, 0))
CHILD_CALL(pclose, (FILE * file), (file), false, forget_stream(file), tell_only_child(0, since))

/* ------------------------------------------------------------------------------------------------- other waits ---- */

#define WAITS(X)                                                                                                      \
  X(int, nanosleep, (const struct timespec *time, struct timespec *rest), (time, rest), SLEEP)                        \
  X(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest),           \
    (clock, flags, time, rest), SLEEP)                                                                                \
  X(int, usleep, (useconds_t time), (time), SLEEP)                                                                    \
  X(unsigned, sleep, (unsigned time), (time), SLEEP)                                                                  \
  X(int, thrd_sleep, (const struct timespec *time, struct timespec *rest), (time, rest), SLEEP)                       \
  X(int, aio_suspend, (const struct aiocb *const *all, int count, const struct timespec *time), (all, count, time),   \
    ASYNCHRONOUS)                                                                                                     \
  X(int, getaddrinfo, (const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found), \
    (node, service, hints, found), NETWORK)

#define WAITING(type, name, parameters, arguments, reason) \
  REPORTED(type, name, parameters, arguments, false, begin_wait(NULL, REASON_##reason), end_wait())
WAITS(WAITING)
#if defined(__GLIBC__)
WAITING(int, aio_suspend64, (const struct aiocb64 *const *all, int count, const struct timespec *time),
        (all, count, time), ASYNCHRONOUS)
#endif

/* `signal`: which one ended the wait; negative: none; 0: not known, one that the program handles. */
#define SIGNAL_WAIT(name, parameters, arguments, listen, signal)              \
  REPORTED(int, name, parameters, arguments, false, if (shared_wakes) listen; \
           begin_wait(NULL, REASON_SIGNAL), end_wait(); tell_sender(signal))
#define WAIT_FOR_SIGNALS(name, parameters, arguments, signal)               \
  REPORTED_AFTER(int, name, parameters, arguments, leave_ticks(set), false, \
                 if (shared_wakes) listen_to_signals(set, false);           \
                 begin_wait(NULL, REASON_SIGNAL), end_wait(); tell_sender(signal))
WAIT_FOR_SIGNALS(sigwait, (const sigset_t *set, int *number), (set, number), result == 0 ? *number : -1)
WAIT_FOR_SIGNALS(sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info), result)
WAIT_FOR_SIGNALS(sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *time), (set, info, time),
                 result)

/* Has a call block the timers' signal, too. */
#define WITH_TICKS(set) \
  sigset_t and_ticks;   \
  set = with_ticks(set, &and_ticks)
REPORTED_AFTER(int, sigsuspend, (const sigset_t *set), (set), WITH_TICKS(set), false,
               if (shared_wakes) listen_to_signals(set, true);
               begin_wait(NULL, REASON_SIGNAL), end_wait(); tell_sender(0))

EXPORT int sigpending(sigset_t *set) {
  int result = REAL(sigpending)(set);
  if (result != 0 || !leave_ticks(set)) return result;
  return REAL(sigpending)(set);
}

EXPORT int signalfd(int fd, const sigset_t *set, int flags) {
  give_up_ticks_for(set);
  return REAL(signalfd)(fd, set, flags);
}

static void listen_to_unblocked(void) {
  sigset_t blocked;
  if (!in_sandbox() && pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0) listen_to_signals(&blocked, true);
}
SIGNAL_WAIT(pause, (void), (), listen_to_unblocked(), 0)

EXPORT int kill(pid_t process, int signal) {
  if (shared_wakes && tracing()) note_signal(process, signal);
  return REAL(kill)(process, signal);
}

EXPORT int sigqueue(pid_t process, int signal, const union sigval value) {
  if (shared_wakes && tracing()) note_signal(process, signal);
  return REAL(sigqueue)(process, signal, value);
}

/* A call that is first tried without waiting; `held`: whether the result of that says that it would wait. */
#define TRIED(type, name, parameters, arguments, at_once, try, held, reason) \
  EXPORT type name parameters {                                              \
    type result;                                                             \
    int kept = errno;                                                        \
    if ((at_once) || !tracing()) return REAL(name) arguments;                \
    if (!in_sandbox()) {                                                     \
      result = try;                                                          \
      if (result >= 0 || !(held)) return result;                             \
      errno = kept;                                                          \
    }                                                                        \
    WAIT_FOR(result, NULL, reason, name, arguments);                         \
    return result;                                                           \
  }
TRIED(int, flock, (int fd, int operation), (fd, operation), operation &(LOCK_NB | LOCK_UN),
      real.flock(fd, operation | LOCK_NB), errno == EWOULDBLOCK, FILE_LOCK)
TRIED(int, lockf, (int fd, int operation, off_t size), (fd, operation, size), operation != F_LOCK,
      real.lockf(fd, F_TLOCK, size), errno == EACCES || errno == EAGAIN, FILE_LOCK)
#if defined(__GLIBC__)
TRIED(int, lockf64, (int fd, int operation, off64_t size), (fd, operation, size), operation != F_LOCK,
      real.lockf64(fd, F_TLOCK, size), errno == EACCES || errno == EAGAIN, FILE_LOCK)
#endif
TRIED(ssize_t, msgrcv, (int queue, void *data, size_t size, long type, int flags), (queue, data, size, type, flags),
      flags &IPC_NOWAIT, real.msgrcv(queue, data, size, type, flags | IPC_NOWAIT), errno == ENOMSG, MESSAGE)
TRIED(int, msgsnd, (int queue, const void *data, size_t size, int flags), (queue, data, size, flags), flags &IPC_NOWAIT,
      real.msgsnd(queue, data, size, flags | IPC_NOWAIT), errno == EAGAIN, MESSAGE_FULL)

/* A time in the past, so that a call waits no longer. A queue that does not wait itself returns EAGAIN. */
static const struct timespec no_time;
TRIED(ssize_t, mq_receive, (mqd_t queue, char *data, size_t size, unsigned *priority), (queue, data, size, priority),
      false, real.mq_timedreceive(queue, data, size, priority, &no_time), errno == ETIMEDOUT, MESSAGE)
TRIED(ssize_t, mq_timedreceive,
      (mqd_t queue, char *data, size_t size, unsigned *priority, const struct timespec *until),
      (queue, data, size, priority, until), false, real.mq_timedreceive(queue, data, size, priority, &no_time),
      errno == ETIMEDOUT, MESSAGE)
TRIED(int, mq_send, (mqd_t queue, const char *data, size_t size, unsigned priority), (queue, data, size, priority),
      false, real.mq_timedsend(queue, data, size, priority, &no_time), errno == ETIMEDOUT, MESSAGE_FULL)
TRIED(int, mq_timedsend, (mqd_t queue, const char *data, size_t size, unsigned priority, const struct timespec *until),
      (queue, data, size, priority, until), false, real.mq_timedsend(queue, data, size, priority, &no_time),
      errno == ETIMEDOUT, MESSAGE_FULL)

/* Operations that must not wait, or cannot. */
#define OPERATIONS 32
static bool never_waits(const struct sembuf *all, size_t count) {
  size_t i;
  if (!all || count > OPERATIONS) return true;
  for (i = 0; i < count; i++)
    if (all[i].sem_op <= 0 && !(all[i].sem_flg & IPC_NOWAIT)) return false;
  return true;
}

static int try_operations(int set, const struct sembuf *all, size_t count) {
  struct sembuf copy[OPERATIONS];
  size_t i;
  for (i = 0; i < count; i++) {
    copy[i] = all[i];
    copy[i].sem_flg = (short)(copy[i].sem_flg | IPC_NOWAIT);
  }
  return real.semop(set, copy, count);
}

TRIED(int, semop, (int set, struct sembuf *all, size_t count), (set, all, count), never_waits(all, count),
      try_operations(set, all, count), errno == EAGAIN, SEMAPHORE)
TRIED(int, semtimedop, (int set, struct sembuf *all, size_t count, const struct timespec *time),
      (set, all, count, time), never_waits(all, count), try_operations(set, all, count), errno == EAGAIN, SEMAPHORE)

/* ------------------------------------------------------------------------------------------- poll, select, epoll ----
 *
 * Each first asks without waiting.
 */

#define POLLED 8 /* descriptors for which a waker is sought */

static void watch(const struct pollfd *all, nfds_t count) {
  nfds_t i;
  if (!all || count > POLLED) return;
  for (i = 0; i < count; i++) {
    if (all[i].fd < 0) continue;
    if ((all[i].events & POLLIN) && !is_only_thread()) add_link(key_of(all[i].fd), &poll_key, -1);
    if (shared_wakes && (all[i].events & POLLIN)) listen_to(all[i].fd, false);
    if (shared_wakes && (all[i].events & POLLOUT)) listen_to(all[i].fd, true);
  }
  begin_descriptor_wait();
}

static void unwatch(const struct pollfd *all, nfds_t count, bool failed) {
  if (!all || count > POLLED) return;
  end_descriptor_wait();
  remove_links(-1, &poll_key);
  tell_waker(failed);
}

/* Makes a call that waits for no time. One that takes a set of signals may be ended by one of the program's. */
#define AT_ONCE(result, mask, call) \
  do {                              \
    if (mask) result = call;        \
    else AGAIN(result, call);       \
  } while (0)

/* A call that is first tried without waiting. `mask`: the signals that it blocks, or NULL. `begin` and `end` surround
 * the wait. */
#define TRIES(name, parameters, arguments, mask, first, at_once, try, begin, key, reason, end) \
  EXPORT int name parameters {                                                                 \
    int result = 0;                                                                            \
    first;                                                                                     \
    if (!tracing()) return REAL(name) arguments;                                               \
    if (at_once) {                                                                             \
      AT_ONCE(result, mask, real.name arguments);                                              \
      return result;                                                                           \
    }                                                                                          \
    ENTER(name);                                                                               \
    if (!in_sandbox()) AT_ONCE(result, mask, real.try);                                        \
    if (result == 0) {                                                                         \
      begin;                                                                                   \
      begin_wait(key, reason);                                                                 \
      result = real.name arguments;                                                            \
      end_wait();                                                                              \
      end;                                                                                     \
    }                                                                                          \
    LEAVE();                                                                                   \
    return result;                                                                             \
  }

#define POLLS(name, parameters, arguments, mask, first, at_once, try)                                      \
  TRIES(name, parameters, arguments, mask, first, at_once, try, watch(all, count), &poll_key, REASON_POLL, \
        unwatch(all, count, result <= 0))
#define IS_ZERO(time) ((time) && !(time)->tv_sec && !(time)->tv_nsec)
POLLS(poll, (struct pollfd * all, nfds_t count, int time), (all, count, time), NULL, (void)0, time == 0,
      poll(all, count, 0))
POLLS(ppoll, (struct pollfd * all, nfds_t count, const struct timespec *time, const sigset_t *mask),
      (all, count, time, mask), mask, WITH_TICKS(mask), IS_ZERO(time), ppoll(all, count, &no_time, mask))
#if defined(__GLIBC__)
POLLS(__poll_chk, (struct pollfd * all, nfds_t count, int time, size_t room), (all, count, time, room), NULL, (void)0,
      time == 0, __poll_chk(all, count, 0, room))
POLLS(__ppoll_chk, (struct pollfd * all, nfds_t count, const struct timespec *time, const sigset_t *mask, size_t room),
      (all, count, time, mask, room), mask, WITH_TICKS(mask), IS_ZERO(time),
      __ppoll_chk(all, count, &no_time, mask, room))
#endif

static void listen_to_selected(int count, const fd_set *in, const fd_set *out) {
  int fd;
  if (!shared_wakes) return;
  for (fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
    if (in && FD_ISSET((unsigned)fd, in)) listen_to(fd, false);
    if (out && FD_ISSET((unsigned)fd, out)) listen_to(fd, true);
  }
}

/* Without descriptors, it is a sleep. */
#define RETURN_AT_ONCE(at_once, mask, call) \
  if ((at_once) && tracing()) {             \
    AT_ONCE(result, mask, call);            \
    return result;                          \
  }
#define SELECTS(name, parameters, arguments, mask, first, at_once)                                               \
  REPORTED_AFTER(int, name, parameters, arguments, first;                                                        \
                 RETURN_AT_ONCE(at_once, mask, real.name arguments), false, listen_to_selected(count, in, out);  \
                 begin_wait(NULL, count > 0 && (in || out || other) ? REASON_SELECT : REASON_SLEEP), end_wait(); \
                 tell_waker(result <= 0))
SELECTS(select, (int count, fd_set *in, fd_set *out, fd_set *other, struct timeval *time),
        (count, in, out, other, time), NULL, (void)0, time && !time->tv_sec && !time->tv_usec)
SELECTS(pselect, (int count, fd_set *in, fd_set *out, fd_set *other, const struct timespec *time, const sigset_t *mask),
        (count, in, out, other, time, mask), mask, WITH_TICKS(mask), IS_ZERO(time))

static void listen_to_watched(int set) {
  const void *of_set = epoll_key(set);
  int fds[32];
  uint32_t i, count = 0;
  if (!shared_wakes || !__atomic_load_n(&links.count, __ATOMIC_RELAXED)) return;
  take_lock(&links.lock);
  for (i = 0; i < links.places && count < COUNT(fds); i++)
    if (links.all[i].key && links.all[i].wakes == of_set) fds[count++] = links.all[i].fd;
  drop_lock(&links.lock);
  for (i = 0; i < count; i++) listen_to(fds[i], false);
}

#define EPOLLS(name, parameters, arguments, mask, first, at_once, try)                 \
  TRIES(name, parameters, arguments, mask, first, at_once, try, listen_to_watched(fd); \
        begin_descriptor_wait(), epoll_key(fd), REASON_EPOLL, end_descriptor_wait(); tell_waker(result <= 0))
EPOLLS(epoll_wait, (int fd, struct epoll_event *events, int count, int time), (fd, events, count, time), NULL, (void)0,
       time == 0, epoll_wait(fd, events, count, 0))
EPOLLS(epoll_pwait, (int fd, struct epoll_event *events, int count, int time, const sigset_t *mask),
       (fd, events, count, time, mask), mask, WITH_TICKS(mask), time == 0, epoll_pwait(fd, events, count, 0, mask))
EPOLLS(epoll_pwait2, (int fd, struct epoll_event *events, int count, const struct timespec *time, const sigset_t *mask),
       (fd, events, count, time, mask), mask, WITH_TICKS(mask), IS_ZERO(time),
       epoll_pwait2(fd, events, count, &no_time, mask))

EXPORT int epoll_ctl(int set, int operation, int fd, struct epoll_event *event) {
  int result = REAL(epoll_ctl)(set, operation, fd, event);
  if (result == 0 && operation != EPOLL_CTL_MOD && tracing()) {
    const void *of_set;
    ENTER(epoll_ctl);
    of_set = epoll_key(set);
    if (operation == EPOLL_CTL_DEL) remove_links(fd, of_set);
    else if (event && (event->events & EPOLLIN)) add_link(key_of(fd), of_set, fd);
    LEAVE();
  }
  return result;
}

EXPORT int socketpair(int domain, int type, int protocol, int pair[2]) {
  int result = REAL(socketpair)(domain, type, protocol, pair);
  if (result == 0 && tracing()) {
    const void *a, *b;
    ENTER(socketpair);
    forget_descriptor(pair[0]), forget_descriptor(pair[1]);
    a = key_of(pair[0]), b = key_of(pair[1]);
    add_link(a, b, pair[0]);
    add_link(b, a, pair[1]);
    LEAVE();
  }
  return result;
}

/* ---------------------------------------------------------------------------- changes of descriptors' meanings ---- */

EXPORT int close(int fd) {
  forget_descriptor(fd); /* also if a signal handler closes it during a wait */
  if (tracing()) {
    ENTER(close);
    if (fd >= 0) remove_links(fd, NULL);
    LEAVE();
  }
  return REAL(close)(fd);
}

/* Descriptors that the C library has closed by itself are used again. */
EXPORT int pipe(int ends[2]) {
  int result = REAL(pipe)(ends);
  if (result == 0) forget_descriptor(ends[0]), forget_descriptor(ends[1]);
  return result;
}

EXPORT int pipe2(int ends[2], int flags) {
  int result = REAL(pipe2)(ends, flags);
  if (result == 0) forget_descriptor(ends[0]), forget_descriptor(ends[1]);
  return result;
}

EXPORT int socket(int domain, int type, int protocol) {
  int result = REAL(socket)(domain, type, protocol);
  if (result >= 0) forget_descriptor(result);
  return result;
}

#if defined(__GLIBC__)
EXPORT int close_range(unsigned from, unsigned to, int flags) {
  forget_descriptors();
  return REAL(close_range)(from, to, flags);
}

EXPORT void closefrom(int from) {
  forget_descriptors();
  REAL(closefrom)(from);
}
#endif

EXPORT int dup2(int from, int to) {
  int result = REAL(dup2)(from, to);
  if (result >= 0) forget_descriptor(to), tell_duplicate(to);
  return result;
}

EXPORT int dup3(int from, int to, int flags) {
  int result = REAL(dup3)(from, to, flags);
  if (result >= 0) forget_descriptor(to), tell_duplicate(to);
  return result;
}

#define FCNTL(name)                                                                                    \
  EXPORT int name(int fd, int command, ...) {                                                          \
    va_list arguments;                                                                                 \
    void *argument;                                                                                    \
    int result;                                                                                        \
    va_start(arguments, command);                                                                      \
    argument = va_arg(arguments, void *);                                                              \
    va_end(arguments);                                                                                 \
    if (command == F_SETFL || command == F_DUPFD || command == F_DUPFD_CLOEXEC) forget_descriptor(fd); \
    if ((command == F_SETLKW || command == F_OFD_SETLKW) && tracing()) {                               \
      WAIT_FOR(result, NULL, FILE_LOCK, name, (fd, command, argument));                                \
      return result;                                                                                   \
    }                                                                                                  \
    result = REAL(name)(fd, command, argument);                                                        \
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) forget_descriptor(result);                   \
    return result;                                                                                     \
  }
FCNTL(fcntl)
#if defined(__GLIBC__)
FCNTL(fcntl64)
#endif

#if defined(__GLIBC__)
EXPORT int ioctl(int fd, unsigned long request, ...) {
#else
EXPORT int ioctl(int fd, int request, ...) {
#endif
  va_list arguments;
  void *argument;
  int result;
  va_start(arguments, request);
  argument = va_arg(arguments, void *);
  va_end(arguments);
  result = REAL(ioctl)(fd, (unsigned long)request, argument);
  if ((unsigned long)request == FIONBIO) forget_descriptor(fd);
  return result;
}
