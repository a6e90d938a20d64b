// Prints the profiles that `go tool trace` computes from traces, or the contents of files in pprof's format.
//
//	print_profiles FILE...
//	print_profiles -p FILE...
//
// This file is added to Go's command trace, in which its init function takes the place of main. For each file it prints
// lines of JSON:
//
//	{"file": "x.trace", "kind": "sync", "records": [{"count": 1, "time": 1200, "stack": [["main.f", "/a/b.go", 12]]}]}
//
// Innermost frames come first. The kinds are those of the pprof endpoints (io, here network; block, here sync; syscall;
// sched, here scheduler), "cpu" (samples by stack) and "create" (goroutines by the stack that created them). With -p
// there is one line without a kind, and records also have "values". A trace with an error has {"file": ..., "error":
// ...} instead. Strings are Latin-1: one character per byte.
//
// Go's profiles identify a goroutine by its id. If an id is reused, as by cgo callbacks, only the last goroutine
// counts. Here each counts. For ids that are used once, the times are compared with those that Go computes.
package main

import (
	"encoding/json"
	"fmt"
	"internal/profile"
	"internal/trace"
	"internal/trace/traceviewer"
	"os"
	"slices"
)

type record struct {
	Count  uint64   `json:"count"`
	Time   int64    `json:"time"`
	Values int      `json:"values,omitempty"`
	Stack  [][3]any `json:"stack"`
}

type result struct {
	File    string   `json:"file"`
	Kind    string   `json:"kind,omitempty"`
	Error   string   `json:"error,omitempty"`
	Records []record `json:"records"`
}

var out = json.NewEncoder(os.Stdout)

func latin(s string) string {
	var runes []rune
	for i := 0; i < len(s); i++ {
		runes = append(runes, rune(s[i]))
	}
	return string(runes)
}

// livesOf returns for each goroutine id the intervals that count: from the first run of a goroutine to its end.
func livesOf(t *parsedTrace) map[trace.GoID][]interval {
	lives := make(map[trace.GoID][]interval)
	for i := range t.events {
		ev := &t.events[i]
		if ev.Kind() != trace.EventStateTransition {
			continue
		}
		st := ev.StateTransition()
		if st.Resource.Kind != trace.ResourceGoroutine {
			continue
		}
		id := st.Resource.Goroutine()
		from, to := st.Goroutine()
		if from == to {
			continue
		}
		if from == trace.GoUndetermined || from == trace.GoNotExist {
			lives[id] = append(lives[id], interval{})
		}
		life := &lives[id][len(lives[id])-1]
		if to == trace.GoRunning && life.start == 0 {
			life.start = ev.Time()
		}
		if to == trace.GoNotExist || to == trace.GoWaiting && st.Reason == "forever" {
			life.end = ev.Time()
		}
	}
	gos, err := pprofMatchingGoroutines("", t)
	if len(gos) != len(lives) {
		panic(fmt.Sprintf("%d goroutines, Go has %d: %v", len(lives), len(gos), err))
	}
	for id, list := range lives {
		for i := range list {
			if list[i].end == 0 {
				list[i].end = t.endTime()
			}
		}
		if len(list) == 1 && !slices.Equal(list, gos[id]) {
			panic(fmt.Sprintf("goroutine %d lives in %v, for Go in %v", id, list, gos[id]))
		}
	}
	return lives
}

// countEvents makes a profile of events.
func countEvents(t *parsedTrace, counts func(ev *trace.Event) bool) []traceviewer.ProfileRecord {
	stacks := newStackMap()
	for i := range t.events {
		if counts(&t.events[i]) {
			stacks.getOrAdd(t.events[i].Stack()).Count++
		}
	}
	return stacks.profile()
}

func creates(ev *trace.Event) bool {
	if ev.Kind() != trace.EventStateTransition || ev.StateTransition().Resource.Kind != trace.ResourceGoroutine {
		return false
	}
	st := ev.StateTransition()
	from, _ := st.Goroutine()
	return from == trace.GoNotExist
}

func printRecords(file, kind string, records []traceviewer.ProfileRecord) {
	printed := result{File: file, Kind: kind, Records: []record{}}
	for _, r := range records {
		stack := [][3]any{}
		for _, frame := range r.Stack {
			stack = append(stack, [3]any{latin(frame.Func), latin(frame.File), frame.Line})
		}
		printed.Records = append(printed.Records, record{Count: r.Count, Time: int64(r.Time), Stack: stack})
	}
	out.Encode(printed)
}

func printTrace(file string) error {
	opened, err := os.Open(file)
	if err != nil {
		panic(err)
	}
	defer opened.Close()
	t, err := parseTrace(opened, 0)
	if err != nil {
		return err
	}
	if t.err != nil {
		return t.err
	}
	lives := livesOf(t)
	for _, of := range []struct {
		kind    string
		compute computePprofFunc
	}{{"network", computePprofIO()}, {"sync", computePprofBlock()}, {"syscall", computePprofSyscall()}, {"scheduler", computePprofSched()}} {
		records, err := of.compute(lives, t.events)
		if err != nil {
			panic(err)
		}
		printRecords(file, of.kind, records)
	}
	printRecords(file, "cpu", countEvents(t, func(ev *trace.Event) bool { return ev.Kind() == trace.EventStackSample }))
	printRecords(file, "create", countEvents(t, creates))
	return nil
}

func printProfile(file string) error {
	opened, err := os.Open(file)
	if err != nil {
		panic(err)
	}
	defer opened.Close()
	p, err := profile.Parse(opened)
	if err != nil {
		return err
	}
	printed := result{File: file, Records: []record{}}
	for _, sample := range p.Sample {
		r := record{Count: uint64(sample.Value[0]), Values: len(sample.Value), Stack: [][3]any{}}
		if len(sample.Value) > 1 {
			r.Time = sample.Value[1]
		}
		for _, at := range sample.Location {
			for _, line := range at.Line {
				r.Stack = append(r.Stack, [3]any{latin(line.Function.Name), latin(line.Function.Filename), uint64(line.Line)})
			}
		}
		printed.Records = append(printed.Records, r)
	}
	out.Encode(printed)
	return nil
}

func init() {
	files, print := os.Args[1:], printTrace
	if len(files) > 0 && files[0] == "-p" {
		files, print = files[1:], printProfile
	}
	for _, file := range files {
		if err := print(file); err != nil {
			out.Encode(result{File: file, Error: latin(err.Error())})
		}
	}
	os.Exit(0)
}
