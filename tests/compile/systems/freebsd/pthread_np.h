/* What FreeBSD declares in addition to POSIX and the header needs: see tests/compile/test_systems.sh */
#ifndef TEST_FREEBSD_PTHREAD_NP_H
#define TEST_FREEBSD_PTHREAD_NP_H
#include <pthread.h>
int pthread_getthreadid_np(void);
void pthread_get_name_np(pthread_t thread, char *name, size_t size);
int pthread_attr_get_np(pthread_t thread, pthread_attr_t *attributes);
#endif
