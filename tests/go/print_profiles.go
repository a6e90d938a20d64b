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
// Go's profiles leave out some times, which are printed here: see profileOf. Without them, the profiles must be equal to
// those that Go computes.
//
// They also identify a goroutine by its id. If an id is reused, as by cgo callbacks, only the last goroutine counts. Here
// each counts. For ids that are used once, the times are compared with those that Go computes.
package main

import (
	"encoding/json"
	"fmt"
	"internal/profile"
	"internal/trace"
	"internal/trace/traceviewer"
	"os"
	"slices"
	"strings"
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

// profileOf makes a profile of the times in which goroutines have a state, for reasons that count, by the stack of the
// event that began them. Without lives, it has all times. With lives, it leaves out what Go leaves out:
//
//   - times before a goroutine first runs, and after it blocks forever (lives)
//   - times that do not end in the trace
//   - times before the event that first tells a goroutine's state, which it has had since the last Sync
func profileOf(t *parsedTrace, v1 bool, state trace.GoState, counts func(reason string) bool, lives map[trace.GoID][]interval) []traceviewer.ProfileRecord {
	type stretch struct {
		begin trace.Time
		stack trace.Stack
	}
	stacks := newStackMap()
	open := make(map[trace.GoID]stretch)
	add := func(id trace.GoID, of stretch, end trace.Time) {
		if time := pprofOverlappingDuration(lives, id, interval{of.begin, end}); time > 0 {
			record := stacks.getOrAdd(of.stack)
			record.Count++
			record.Time += time
		}
	}
	begin, end := t.events[0].Time(), t.endTime()
	if v1 { // Go's conversion adds Syncs a nanosecond before and after the trace
		begin, end = begin+1, end-1
	}
	sync := begin
	for i := range t.events {
		ev := &t.events[i]
		if ev.Kind() == trace.EventSync {
			sync = max(ev.Time(), begin)
		}
		if ev.Kind() != trace.EventStateTransition || ev.StateTransition().Resource.Kind != trace.ResourceGoroutine {
			continue
		}
		st := ev.StateTransition()
		id := st.Resource.Goroutine()
		from, to := st.Goroutine()
		if from == to {
			continue
		}
		if of, ok := open[id]; ok {
			add(id, of, ev.Time())
			delete(open, id)
		}
		if to != state || !counts(st.Reason) {
			continue
		}
		of := stretch{ev.Time(), ev.Stack()}
		if from == trace.GoUndetermined && lives == nil {
			of.begin = sync
		}
		open[id] = of
	}
	for id, of := range open {
		if lives == nil {
			add(id, of, end)
		}
	}
	return stacks.profile()
}

// sorted returns the records of a profile as text.
func sorted(records []traceviewer.ProfileRecord) (out []string) {
	for _, r := range records {
		text := fmt.Sprint(r.Count, r.Time)
		for _, frame := range r.Stack {
			text += fmt.Sprint(" ", frame.PC, frame.Func, frame.File, frame.Line)
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
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
	header := make([]byte, 8)
	if _, err := opened.ReadAt(header, 0); err != nil {
		return err
	}
	v1 := string(header) < "go 1.22 "
	lives := livesOf(t)
	always := func(string) bool { return true }
	sync := func(reason string) bool {
		return strings.Contains(reason, "chan") || strings.Contains(reason, "sync") || strings.Contains(reason, "select")
	}
	for _, of := range []struct {
		kind    string
		compute computePprofFunc
		state   trace.GoState
		counts  func(reason string) bool
	}{
		{"network", computePprofIO(), trace.GoWaiting, func(reason string) bool { return reason == "network" }},
		{"sync", computePprofBlock(), trace.GoWaiting, sync},
		{"syscall", computePprofSyscall(), trace.GoSyscall, always},
		{"scheduler", computePprofSched(), trace.GoRunnable, always},
	} {
		records, err := of.compute(lives, t.events)
		if err != nil {
			panic(err)
		}
		if mine := profileOf(t, v1, of.state, of.counts, lives); !slices.Equal(sorted(mine), sorted(records)) {
			panic(fmt.Sprintf("%s: profile %s is not Go's: %v, %v", file, of.kind, mine, records))
		}
		counts := of.counts
		if of.kind == "sync" {
			counts = func(reason string) bool { return sync(reason) || strings.Contains(reason, "forever") }
		}
		printRecords(file, of.kind, profileOf(t, v1, of.state, counts, nil))
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
