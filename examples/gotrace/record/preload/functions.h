/* functions.h - the functions of the C library that the preloaded library defines or calls
 *
 * X(result, name, (parameters), version). `version` is the one that a program of today gets, for functions that have
 * more than one on some processor; NULL: only one. They are looked up in this order. It matters, because an allocator
 * may take a lock while the others are looked up. */

#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#undef _FORTIFY_SOURCE /* it would replace functions by others of the same name */

#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <link.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LIKELY(x) __builtin_expect(!!(x), 1)

/* glibc declares some network functions with unions of all address types. */
#if defined(__GLIBC__)
#define ADDRESS __SOCKADDR_ARG
#define CONST_ADDRESS __CONST_SOCKADDR_ARG
#define SOCKADDR(address) ((address).__sockaddr__)
#else
#define ADDRESS struct sockaddr *
#define CONST_ADDRESS const struct sockaddr *
#define SOCKADDR(address) (address)
#endif

/* Flags of recvmmsg and sendmmsg. */
#if defined(__GLIBC__)
#define FLAGS int
#else
#define FLAGS unsigned
#endif

/* Apart from the others, because those that call them while functions are looked up must see them fail. */
#define OPENS(X)                                      \
  X(int, open, (const char *, int, ...), NULL)        \
  X(int, openat, (int, const char *, int, ...), NULL) \
  GNU_OPENS(X)
#if defined(__GLIBC__)
#define GNU_OPENS(X)                                    \
  X(int, open64, (const char *, int, ...), NULL)        \
  X(int, openat64, (int, const char *, int, ...), NULL) \
  X(int, __open_2, (const char *, int), NULL)           \
  X(int, __open64_2, (const char *, int), NULL)         \
  X(int, __openat_2, (int, const char *, int), NULL)    \
  X(int, __openat64_2, (int, const char *, int), NULL)
#else
#define GNU_OPENS(X)
#endif

typedef void handler(int); /* of a signal */

#define CONDITION_VERSION "GLIBC_2.3.2"

#define FUNCTIONS(X)                                                                                                \
  X(int, pthread_mutex_lock, (pthread_mutex_t *), NULL)                                                             \
  X(int, pthread_mutex_trylock, (pthread_mutex_t *), NULL)                                                          \
  X(int, pthread_mutex_unlock, (pthread_mutex_t *), NULL)                                                           \
  X(int, pthread_mutex_timedlock, (pthread_mutex_t *, const struct timespec *), NULL)                               \
  X(int, pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, const struct timespec *), NULL)                    \
  X(int, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *), CONDITION_VERSION)                               \
  X(int, pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *), CONDITION_VERSION) \
  X(int, pthread_cond_clockwait, (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *), NULL)   \
  X(int, pthread_cond_signal, (pthread_cond_t *), CONDITION_VERSION)                                                \
  X(int, pthread_cond_broadcast, (pthread_cond_t *), CONDITION_VERSION)                                             \
  X(int, pthread_once, (pthread_once_t *, void (*)(void)), NULL)                                                    \
  X(long, syscall, (long, ...), NULL)                                                                               \
  X(ssize_t, read, (int, void *, size_t), NULL)                                                                     \
  X(ssize_t, write, (int, const void *, size_t), NULL)                                                              \
  X(int, close, (int), NULL)                                                                                        \
  X(int, poll, (struct pollfd *, nfds_t, int), NULL)                                                                \
  X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *), NULL)                                                         \
  X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *), NULL)                                                         \
  X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *), NULL)                                                      \
  X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *), NULL)                                                      \
  X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *, const struct timespec *), NULL)                           \
  X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *, const struct timespec *), NULL)                           \
  X(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *, clockid_t, const struct timespec *), NULL)                \
  X(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *, clockid_t, const struct timespec *), NULL)                \
  X(int, pthread_rwlock_unlock, (pthread_rwlock_t *), NULL)                                                         \
  X(int, pthread_barrier_init, (pthread_barrier_t *, const pthread_barrierattr_t *, unsigned), NULL)                \
  X(int, pthread_barrier_destroy, (pthread_barrier_t *), NULL)                                                      \
  X(int, pthread_barrier_wait, (pthread_barrier_t *), NULL)                                                         \
  X(int, pthread_spin_lock, (pthread_spinlock_t *), NULL)                                                           \
  X(int, pthread_spin_trylock, (pthread_spinlock_t *), NULL)                                                        \
  X(int, pthread_spin_unlock, (pthread_spinlock_t *), NULL)                                                         \
  X(int, sem_wait, (sem_t *), NULL)                                                                                 \
  X(int, sem_trywait, (sem_t *), NULL)                                                                              \
  X(int, sem_timedwait, (sem_t *, const struct timespec *), NULL)                                                   \
  X(int, sem_clockwait, (sem_t *, clockid_t, const struct timespec *), NULL)                                        \
  X(int, sem_post, (sem_t *), NULL)                                                                                 \
  X(int, mtx_lock, (mtx_t *), NULL)                                                                                 \
  X(int, mtx_trylock, (mtx_t *), NULL)                                                                              \
  X(int, mtx_timedlock, (mtx_t *restrict, const struct timespec *restrict), NULL)                                   \
  X(int, mtx_unlock, (mtx_t *), NULL)                                                                               \
  X(int, cnd_wait, (cnd_t *, mtx_t *), NULL)                                                                        \
  X(int, cnd_timedwait, (cnd_t *restrict, mtx_t *restrict, const struct timespec *restrict), NULL)                  \
  X(int, cnd_signal, (cnd_t *), NULL)                                                                               \
  X(int, cnd_broadcast, (cnd_t *), NULL)                                                                            \
  X(void, call_once, (once_flag *, void (*)(void)), NULL)                                                           \
  X(int, thrd_create, (thrd_t *, thrd_start_t, void *), NULL)                                                       \
  X(int, thrd_join, (thrd_t, int *), NULL)                                                                          \
  X(int, thrd_sleep, (const struct timespec *, struct timespec *), NULL)                                            \
  X(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), NULL)                    \
  X(int, pthread_join, (pthread_t, void **), NULL)                                                                  \
  X(int, pthread_tryjoin_np, (pthread_t, void **), NULL)                                                            \
  X(int, pthread_timedjoin_np, (pthread_t, void **, const struct timespec *), NULL)                                 \
  X(int, pthread_clockjoin_np, (pthread_t, void **, clockid_t, const struct timespec *), NULL)                      \
  X(int, pthread_setname_np, (pthread_t, const char *), NULL)                                                       \
  X(int, sigaction, (int, const struct sigaction *, struct sigaction *), NULL)                                      \
  X(handler *, signal, (int, handler *), NULL)                                                                      \
  X(handler *, __sysv_signal, (int, handler *), NULL)                                                               \
  X(handler *, bsd_signal, (int, handler *), NULL)                                                                  \
  X(handler *, sigset, (int, handler *), NULL)                                                                      \
  X(int, dlclose, (void *), NULL)                                                                                   \
  X(void *, dlopen, (const char *, int), NULL)                                                                      \
  X(int, dl_iterate_phdr, (int (*)(struct dl_phdr_info *, size_t, void *), void *), NULL)                           \
  X(int, prctl, (int, ...), NULL)                                                                                   \
  X(int, nanosleep, (const struct timespec *, struct timespec *), NULL)                                             \
  X(int, clock_nanosleep, (clockid_t, int, const struct timespec *, struct timespec *), NULL)                       \
  X(int, usleep, (useconds_t), NULL)                                                                                \
  X(unsigned, sleep, (unsigned), NULL)                                                                              \
  X(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *), NULL)                         \
  X(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *), NULL)                                       \
  X(int, pselect, (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *), NULL)             \
  X(int, epoll_wait, (int, struct epoll_event *, int, int), NULL)                                                   \
  X(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *), NULL)                                \
  X(int, epoll_pwait2, (int, struct epoll_event *, int, const struct timespec *, const sigset_t *), NULL)           \
  X(int, eventfd_read, (int, eventfd_t *), NULL)                                                                    \
  X(int, eventfd_write, (int, eventfd_t), NULL)                                                                     \
  X(int, epoll_ctl, (int, int, int, struct epoll_event *), NULL)                                                    \
  X(int, accept, (int, ADDRESS, socklen_t *), NULL)                                                                 \
  X(int, accept4, (int, ADDRESS, socklen_t *, int), NULL)                                                           \
  X(int, connect, (int, CONST_ADDRESS, socklen_t), NULL)                                                            \
  X(int, socketpair, (int, int, int, int *), NULL)                                                                  \
  X(ssize_t, recv, (int, void *, size_t, int), NULL)                                                                \
  X(ssize_t, recvfrom, (int, void *, size_t, int, ADDRESS, socklen_t *), NULL)                                      \
  X(ssize_t, recvmsg, (int, struct msghdr *, int), NULL)                                                            \
  X(ssize_t, send, (int, const void *, size_t, int), NULL)                                                          \
  X(ssize_t, sendto, (int, const void *, size_t, int, CONST_ADDRESS, socklen_t), NULL)                              \
  X(ssize_t, sendmsg, (int, const struct msghdr *, int), NULL)                                                      \
  X(ssize_t, readv, (int, const struct iovec *, int), NULL)                                                         \
  X(ssize_t, writev, (int, const struct iovec *, int), NULL)                                                        \
  X(ssize_t, pread, (int, void *, size_t, off_t), NULL)                                                             \
  X(ssize_t, pwrite, (int, const void *, size_t, off_t), NULL)                                                      \
  X(ssize_t, preadv, (int, const struct iovec *, int, off_t), NULL)                                                 \
  X(ssize_t, pwritev, (int, const struct iovec *, int, off_t), NULL)                                                \
  X(ssize_t, sendfile, (int, int, off_t *, size_t), NULL)                                                           \
  X(ssize_t, copy_file_range, (int, off_t *, int, off_t *, size_t, unsigned), NULL)                                 \
  X(int, fsync, (int), NULL)                                                                                        \
  X(int, fdatasync, (int), NULL)                                                                                    \
  X(void, sync, (void), NULL)                                                                                       \
  X(int, syncfs, (int), NULL)                                                                                       \
  X(int, flock, (int, int), NULL)                                                                                   \
  X(int, lockf, (int, int, off_t), NULL)                                                                            \
  X(int, semop, (int, struct sembuf *, size_t), NULL)                                                               \
  X(int, semtimedop, (int, struct sembuf *, size_t, const struct timespec *), NULL)                                 \
  X(ssize_t, msgrcv, (int, void *, size_t, long, int), NULL)                                                        \
  X(int, msgsnd, (int, const void *, size_t, int), NULL)                                                            \
  X(ssize_t, mq_receive, (mqd_t, char *, size_t, unsigned *), NULL)                                                 \
  X(ssize_t, mq_timedreceive, (mqd_t, char *, size_t, unsigned *, const struct timespec *), NULL)                   \
  X(int, mq_send, (mqd_t, const char *, size_t, unsigned), NULL)                                                    \
  X(int, mq_timedsend, (mqd_t, const char *, size_t, unsigned, const struct timespec *), NULL)                      \
  X(int, aio_suspend, (const struct aiocb *const *, int, const struct timespec *), NULL)                            \
  X(int, recvmmsg, (int, struct mmsghdr *, unsigned, FLAGS, struct timespec *), NULL)                               \
  X(int, sendmmsg, (int, struct mmsghdr *, unsigned, FLAGS), NULL)                                                  \
  X(ssize_t, splice, (int, off_t *, int, off_t *, size_t, unsigned), NULL)                                          \
  X(ssize_t, tee, (int, int, size_t, unsigned), NULL)                                                               \
  X(ssize_t, vmsplice, (int, const struct iovec *, size_t, unsigned), NULL)                                         \
  X(char *, fgets, (char *, int, FILE *), NULL)                                                                     \
  X(size_t, fread, (void *, size_t, size_t, FILE *), NULL)                                                          \
  X(int, fclose, (FILE *), NULL)                                                                                    \
  X(FILE *, freopen, (const char *, const char *, FILE *), NULL)                                                    \
  X(int, fgetc, (FILE *), NULL)                                                                                     \
  X(int, getc, (FILE *), NULL)                                                                                      \
  X(int, getchar, (void), NULL)                                                                                     \
  X(ssize_t, getline, (char **, size_t *, FILE *), NULL)                                                            \
  X(ssize_t, getdelim, (char **, size_t *, int, FILE *), NULL)                                                      \
  OPENS(X)                                                                                                          \
  X(pid_t, wait, (int *), NULL)                                                                                     \
  X(pid_t, waitpid, (pid_t, int *, int), NULL)                                                                      \
  X(pid_t, wait3, (int *, int, struct rusage *), NULL)                                                              \
  X(pid_t, wait4, (pid_t, int *, int, struct rusage *), NULL)                                                       \
  X(int, waitid, (idtype_t, id_t, siginfo_t *, int), NULL)                                                          \
  X(int, system, (const char *), NULL)                                                                              \
  X(int, pclose, (FILE *), NULL)                                                                                    \
  X(int, getaddrinfo, (const char *, const char *, const struct addrinfo *, struct addrinfo **), NULL)              \
  X(int, pipe, (int[2]), NULL)                                                                                      \
  X(int, pipe2, (int[2], int), NULL)                                                                                \
  X(int, socket, (int, int, int), NULL)                                                                             \
  X(int, kill, (pid_t, int), NULL)                                                                                  \
  X(int, sigqueue, (pid_t, int, const union sigval), NULL)                                                          \
  X(int, sigwait, (const sigset_t *, int *), NULL)                                                                  \
  X(int, sigwaitinfo, (const sigset_t *, siginfo_t *), NULL)                                                        \
  X(int, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *), NULL)                              \
  X(int, sigsuspend, (const sigset_t *), NULL)                                                                      \
  X(int, sigpending, (sigset_t *), NULL)                                                                            \
  X(int, signalfd, (int, const sigset_t *, int), NULL)                                                              \
  X(int, pause, (void), NULL)                                                                                       \
  X(int, dup2, (int, int), NULL)                                                                                    \
  X(int, dup3, (int, int, int), NULL)                                                                               \
  X(int, fcntl, (int, int, ...), NULL)                                                                              \
  X(int, ioctl, (int, unsigned long, ...), NULL)                                                                    \
  X(pid_t, fork, (void), NULL)                                                                                      \
  X(pid_t, _Fork, (void), NULL)                                                                                     \
  X(int, daemon, (int, int), NULL)                                                                                  \
  X(int, unshare, (int), NULL)                                                                                      \
  X(int, setns, (int, int), NULL)                                                                                   \
  X(int, chroot, (const char *), NULL)                                                                              \
  X(int, clone, (int (*)(void *), void *, int, void *, ...), NULL)                                                  \
  X(int, execve, (const char *, char *const *, char *const *), NULL)                                                \
  X(int, execvpe, (const char *, char *const *, char *const *), NULL)                                               \
  X(int, fexecve, (int, char *const *, char *const *), NULL)                                                        \
  X(int, posix_spawn,                                                                                               \
    (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *,           \
     char *const *),                                                                                                \
    "GLIBC_2.15")                                                                                                   \
  X(int, posix_spawnp,                                                                                              \
    (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *,           \
     char *const *),                                                                                                \
    "GLIBC_2.15")                                                                                                   \
  X(void, _exit, (int), NULL)                                                                                       \
  X(void, longjmp, (jmp_buf, int), NULL)                                                                            \
  X(void, _longjmp, (jmp_buf, int), NULL)                                                                           \
  X(void, siglongjmp, (sigjmp_buf, int), NULL)                                                                      \
  GNU_FUNCTIONS(X)

/* Functions of glibc only: old names, and names used by programs with 64-bit offsets or built with _FORTIFY_SOURCE. */
#if defined(__GLIBC__)
#define GNU_FUNCTIONS(X)                                                                     \
  X(ssize_t, pread64, (int, void *, size_t, off64_t), NULL)                                  \
  X(ssize_t, pwrite64, (int, const void *, size_t, off64_t), NULL)                           \
  X(ssize_t, preadv64, (int, const struct iovec *, int, off64_t), NULL)                      \
  X(ssize_t, pwritev64, (int, const struct iovec *, int, off64_t), NULL)                     \
  X(ssize_t, sendfile64, (int, int, off64_t *, size_t), NULL)                                \
  X(int, fcntl64, (int, int, ...), NULL)                                                     \
  X(int, lockf64, (int, int, off64_t), NULL)                                                 \
  X(int, aio_suspend64, (const struct aiocb64 *const *, int, const struct timespec *), NULL) \
  X(char *, __fgets_chk, (char *, size_t, int, FILE *), NULL)                                \
  X(size_t, __fread_chk, (void *, size_t, size_t, size_t, FILE *), NULL)                     \
  X(ssize_t, __getdelim, (char **, size_t *, int, FILE *), NULL)                             \
  X(ssize_t, __read_chk, (int, void *, size_t, size_t), NULL)                                \
  X(ssize_t, __pread_chk, (int, void *, size_t, off_t, size_t), NULL)                        \
  X(ssize_t, __pread64_chk, (int, void *, size_t, off64_t, size_t), NULL)                    \
  X(ssize_t, __recv_chk, (int, void *, size_t, size_t, int), NULL)                           \
  X(ssize_t, __recvfrom_chk, (int, void *, size_t, size_t, int, ADDRESS, socklen_t *), NULL) \
  X(handler *, sysv_signal, (int, handler *), NULL)                                          \
  X(handler *, ssignal, (int, handler *), NULL)                                              \
  X(FILE *, freopen64, (const char *, const char *, FILE *), NULL)                           \
  X(void, closefrom, (int), NULL)                                                            \
  X(void, __longjmp_chk, (jmp_buf, int), NULL)                                               \
  X(int, close_range, (unsigned, unsigned, int), NULL)                                       \
  X(int, __poll_chk, (struct pollfd *, nfds_t, int, size_t), NULL)                           \
  X(int, __ppoll_chk, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t), NULL)
#else
#define GNU_FUNCTIONS(X)
#endif

/* The real functions: those of the C library, or of another preloaded library. */
extern struct real {
#define FIELD(result, name, parameters, version) result(*name) parameters;
  FUNCTIONS(FIELD)
#undef FIELD
} real;

/* Calls may come before the library's constructor has run: from other libraries' constructors or an allocator's
 * start. */
void resolve(void);
#define EARLY(name) real.name /* for the two that are set from the start */
#define REAL(name) (*(LIKELY(real.name) ? real.name : (resolve(), real.name)))

#endif
