// Checks many traces in one process. Reads their names from stdin, one per line; prints a line "NAME: error" for each
// rejected trace, with at most 20 lines of an error, then "N accepted, N refused". Exit status 1 if any is rejected. check() is in check_many_v1.go and
// check_many_v2.go.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// An ordering error lists every thread, goroutine and proc of the trace.
func shorten(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) > 20 {
		lines = append(lines[:20], fmt.Sprintf("    and %d more lines", len(lines)-20))
	}
	return strings.Join(lines, "\n")
}

func checkSafely(name string) (err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("panic: %v", what)
		}
	}()
	return check(name)
}

func main() {
	accepted, refused := 0, 0
	names := bufio.NewScanner(os.Stdin)
	for names.Scan() {
		if err := checkSafely(names.Text()); err != nil {
			refused++
			fmt.Printf("%s: %s\n", names.Text(), shorten(err.Error()))
		} else {
			accepted++
		}
	}
	fmt.Printf("%d accepted, %d refused\n", accepted, refused)
	if refused != 0 {
		os.Exit(1)
	}
}
