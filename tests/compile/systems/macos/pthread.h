/* What macOS declares in addition to POSIX and the header needs: see tests/compile/test_systems.sh */
#ifndef TEST_MACOS_PTHREAD_H
#define TEST_MACOS_PTHREAD_H
#include_next <pthread.h>
#include <stdint.h>
int pthread_threadid_np(pthread_t thread, uint64_t *id);
int pthread_getname_np(pthread_t thread, char *name, size_t size);
void *pthread_get_stackaddr_np(pthread_t thread);
size_t pthread_get_stacksize_np(pthread_t thread);
int pthread_cond_timedwait_relative_np(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *time);
#endif
