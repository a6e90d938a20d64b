//go:build cgo
// +build cgo

package main

/*
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include <stdint.h>

extern void gotrace_called_back(int);

static inline void *gotrace_run(void *arg) {
  int i;
  for (i = 0; i < (int)(intptr_t)arg; i++) gotrace_called_back(i);
  return NULL;
}
// Go is called from a thread that it knows.
static inline void gotrace_here(int count) { gotrace_run((void *)(intptr_t)count); }
// Go is called from threads that it does not know.
static inline void gotrace_threads(int count) {
  pthread_t threads[4];
  int i;
  for (i = 0; i < 4; i++) pthread_create(&threads[i], NULL, gotrace_run, (void *)(intptr_t)count);
  for (i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}
*/
import "C"

import "runtime"

func init() {
	programs["cgo"] = func() { callbacks(func() { C.gotrace_here(20) }) }
	// Go up to 1.21 rejects its own traces of this: their events have no consistent order.
	programs["cgo_threads"] = func() { callbacks(func() { C.gotrace_threads(20) }) }
}

//export gotrace_called_back
func gotrace_called_back(i C.int) {
	if i%3 == 0 {
		runtime.Gosched()
	} else {
		spin(500)
	}
}

func callbacks(call func()) {
	parallel(4, func(i int) {
		for round := 0; round < 30; round++ {
			call()
		}
	})
}
