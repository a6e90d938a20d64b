//go:build go1.23
// +build go1.23

package main

import "iter"

func init() { programs["coroutine"] = coroutines }

// coroutines: goroutines that switch to each other without the scheduler; some do not run to their end.
func coroutines() {
	parallel(6, func(i int) {
		for round := 0; round < 80; round++ {
			next, stop := iter.Pull(func(yield func(int) bool) {
				inner, end := iter.Pull2(func(yield func(int, string) bool) {
					for n := 0; n < 20 && yield(n, "inner"); n++ {
						spin(100)
					}
				})
				defer end()
				for {
					n, _, more := inner()
					if !more || !yield(n) {
						return
					}
				}
			})
			for n := 0; n < 30-round%25; n++ {
				if _, more := next(); !more {
					break
				}
			}
			stop()
		}
	})
}
