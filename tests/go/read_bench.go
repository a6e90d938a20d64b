// Measures Go's trace reader: read_bench FILE PASSES prints
//
//	events N seconds_min S peak_kib K
//
// peak_kib is the peak memory of the process after its first pass.
package main

import (
	"bytes"
	"fmt"
	"internal/trace"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"
)

func main() {
	passes, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	var events, peak int64
	best := time.Duration(1 << 62)
	for pass := 0; pass < passes; pass++ {
		var file io.Reader
		if pass == 0 { // from the file, as a program would read it, to measure memory
			opened, err := os.Open(os.Args[1])
			if err != nil {
				panic(err)
			}
			file = opened
		} else { // from memory, to measure only the reader's time
			data, err := os.ReadFile(os.Args[1])
			if err != nil {
				panic(err)
			}
			file = bytes.NewReader(data)
		}
		events = 0
		begin := time.Now()
		reader, err := trace.NewReader(file)
		if err != nil {
			panic(err)
		}
		for {
			if _, err := reader.ReadEvent(); err == io.EOF {
				break
			} else if err != nil {
				panic(err)
			}
			events++
		}
		if took := time.Since(begin); took < best {
			best = took
		}
		if pass == 0 {
			var usage syscall.Rusage
			syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
			peak = int64(usage.Maxrss)
		}
	}
	fmt.Printf("events %d seconds_min %.4f peak_kib %d\n", events, best.Seconds(), peak)
}
