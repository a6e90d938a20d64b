/* threads.h - locks, also where there is one thread only: see IN_BROWSER in tool.h */

#ifndef THREADS_H
#define THREADS_H

#include "tool.h"

#if IN_BROWSER
#define pthread_mutex_t char
#define PTHREAD_MUTEX_INITIALIZER 0
#define pthread_mutex_lock(lock) ((void)(lock))
#define pthread_mutex_unlock(lock) ((void)(lock))
#else
#include <pthread.h>
#endif

#endif
