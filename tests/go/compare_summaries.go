// Compares the results of Go's own summarizer for pairs of traces: for each goroutine the times running, runnable, in
// system calls with and without a proc, blocked by each reason, in ranges, and its regions.
//
//	compare_summaries [-s NANOSECONDS] <PAIRS     PAIRS: lines of two paths, separated by a tab
//
// -s: how much a time may differ, in addition to a nanosecond for each goroutine, since readers give different times to
// all statuses. Prints the differences and a line with counts. Exit status 1 if anything differs.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"internal/trace"
	"io"
	"maps"
	"os"
	"slices"
	"time"
)

func summarize(path string) *trace.Summary {
	data, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	reader, err := trace.NewReader(bytes.NewReader(data))
	summarizer := trace.NewSummarizer()
	for err == nil {
		var event trace.Event
		event, err = reader.ReadEvent()
		if err == nil {
			summarizer.Event(&event)
		}
	}
	if err != io.EOF {
		fmt.Printf("%s: %v\n", path, err)
		return nil
	}
	return summarizer.Finalize()
}

// times returns the times of a goroutine, by name.
func times(g *trace.GoroutineSummary) map[string]time.Duration {
	found := map[string]time.Duration{"running": g.ExecTime, "runnable": g.SchedWaitTime, "in system calls": g.SyscallTime,
		"in system calls without a proc": g.SyscallBlockTime, "regions": time.Duration(len(g.Regions))}
	for reason, spent := range g.BlockTimeByReason {
		found["blocked by "+reason] = spent
	}
	for name, spent := range g.RangeTime {
		found["range "+name] = spent
	}
	return found
}

func main() {
	slack := flag.Duration("s", 0, "")
	flag.Parse()
	pairs, differ, goroutines, calls := 0, 0, 0, 0
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var one, two string
		fmt.Sscanf(lines.Text(), "%s\t%s", &one, &two)
		pairs++
		a, b := summarize(one), summarize(two)
		if a == nil || b == nil {
			differ++
			continue
		}
		wrong := 0
		say := func(format string, values ...any) {
			wrong++
			if wrong == 1 {
				fmt.Printf("%s and %s:\n", one, two)
			}
			if wrong <= 6 {
				fmt.Printf("    "+format+"\n", values...)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(b.Goroutines)) {
			if a.Goroutines[id] == nil {
				say("goroutine %d was not there", id)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(a.Goroutines)) {
			before, after := a.Goroutines[id], b.Goroutines[id]
			goroutines++
			if after == nil {
				say("goroutine %d is lost", id)
				continue
			}
			// If a goroutine's function has returned before its first stop, the goroutine is named runtime.goexit1. A
			// conversion may know the function from an earlier stack of another event.
			unknown := before.Name == "" || before.Name == "runtime.goexit1" && after.Name != ""
			if before.Name != after.Name && !unknown {
				say("goroutine %d is called %q, not %q", id, after.Name, before.Name)
			}
			if before.SyscallTime+before.SyscallBlockTime > 0 {
				calls++
			}
			x, y := times(before), times(after)
			names := map[string]bool{}
			for name := range x {
				names[name] = true
			}
			for name := range y {
				names[name] = true
			}
			for _, name := range slices.Sorted(maps.Keys(names)) {
				if (x[name] - y[name]).Abs() > *slack+time.Duration(len(a.Goroutines)) {
					say("goroutine %d %s: %d, then %d", id, name, x[name], y[name])
				}
			}
		}
		if wrong > 0 {
			differ++
		}
	}
	fmt.Printf("%d pairs, %d goroutines, %d with system calls; %d pairs differ\n", pairs, goroutines, calls, differ)
	if differ > 0 || pairs == 0 {
		os.Exit(1)
	}
}
