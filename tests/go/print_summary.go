// Prints Go's summaries of traces as JSON, one line per trace.
//
//	print_summary FILE...
//
// {"file": ..., "error": text if the trace is bad, "end": time of the last event, "goroutines": [...], "regions": [...],
// "tasks": [...], "pauses": [...], "utilization": [...]}. Times are nanoseconds since the first event, which is a Sync.
// The names of fields are those of `gotrace info --json --details`. Additional fields:
//
//   - goroutine "pending": the start of a system call that lasts until the end of the trace and the time at which it lost
//     its proc, if it did
//   - goroutine "tied", in v1: see ties()
//   - region "depth": number of regions around it
//
// Where Go is wrong, its functions get events with which they are right: GotraceUndoForever, GotraceUtilization.
package main

import (
	"encoding/json"
	"fmt"
	"internal/trace"
	"io"
	"os"
	"sort"
	"strings"
	"time"
)

type times struct {
	Running        int64            `json:"running"`
	Runnable       int64            `json:"runnable"`
	Syscall        int64            `json:"syscall"`
	SyscallBlocked int64            `json:"syscall_blocked"`
	Blocked        map[string]int64 `json:"blocked"`
}

type goroutine struct {
	ID       int64  `json:"id"`
	Function string `json:"function"`
	Created  int64  `json:"created"`
	Started  *int64 `json:"started,omitempty"`
	Ended    *int64 `json:"ended,omitempty"`
	Pending  *int64 `json:"pending,omitempty"`
	Tied     bool   `json:"tied,omitempty"`
	times
}

type region struct {
	Goroutine int64  `json:"goroutine"`
	Name      string `json:"name"`
	Task      uint64 `json:"task"`
	Begin     *int64 `json:"begin,omitempty"`
	End       int64  `json:"end"`
	Inherited bool   `json:"inherited"`
	times
}

type task struct {
	ID     uint64 `json:"id"`
	Name   string `json:"name"`
	Parent uint64 `json:"parent"`
	Begin  *int64 `json:"begin,omitempty"`
	End    *int64 `json:"end,omitempty"`
}

type pause struct {
	Reason string `json:"reason"`
	Begin  int64  `json:"begin"`
	End    int64  `json:"end"`
}

type report struct {
	File        string      `json:"file"`
	Error       string      `json:"error,omitempty"`
	Duration    int64       `json:"duration"`
	Goroutines  []goroutine `json:"goroutines"`
	Regions     []region    `json:"regions"`
	Tasks       []task      `json:"tasks"`
	Pauses      []pause     `json:"pauses"`
	Utilization []float64   `json:"utilization"`
}

// JSON has no bytes: each byte that is not part of UTF-8 becomes U+FFFD, as in info.
func name(s string) string { return string([]rune(s)) }

func stats(s trace.GoroutineExecStats) times {
	t := times{int64(s.ExecTime), int64(s.SchedWaitTime), int64(s.SyscallTime), int64(s.SyscallBlockTime), map[string]int64{}}
	for reason, d := range s.BlockTimeByReason {
		if reason == trace.GotraceForever {
			reason = "forever"
		}
		t.Blocked[name(reason)] += int64(d)
	}
	return t
}

// ties returns the goroutines for which the order of events of equal times decides whether their system calls lost
// their procs. When a call ends, the summarizer forgets the caller that it has recorded for the proc on which the call
// began, even if that is another goroutine by then, whose call begins, or whose proc stops, at the same time.
func ties(events []trace.Event) map[trace.GoID]bool {
	type proc struct {
		caller         trace.GoID // the last goroutine that began a call
		changed, ended trace.Time // when the caller's call began or the proc stopped; when a call that began on it ended
	}
	procs := map[trace.ProcID]*proc{}
	of := func(id trace.ProcID) *proc {
		if procs[id] == nil {
			procs[id] = &proc{trace.NoGoroutine, -1, -1}
		}
		return procs[id]
	}
	calls := map[trace.GoID]trace.ProcID{}
	tied := map[trace.GoID]bool{}
	changed := func(p *proc, time trace.Time) {
		p.changed = time
		if p.ended == time {
			tied[p.caller] = true
		}
	}
	for _, event := range events {
		if event.Kind() != trace.EventStateTransition {
			continue
		}
		change := event.StateTransition()
		switch change.Resource.Kind {
		case trace.ResourceGoroutine:
			id := change.Resource.Goroutine()
			from, to := change.Goroutine()
			if start, ok := calls[id]; ok && from == trace.GoSyscall && to != from {
				p := of(start)
				p.ended = event.Time()
				if p.changed == event.Time() && p.caller != id {
					tied[p.caller] = true
				}
				delete(calls, id)
			}
			if to == trace.GoSyscall && from != to {
				calls[id] = event.Proc()
				p := of(event.Proc())
				p.caller = id
				changed(p, event.Time())
			}
		case trace.ResourceProc:
			if from, to := change.Proc(); from != to && to == trace.ProcIdle {
				changed(of(change.Resource.Proc()), event.Time())
			}
		}
	}
	return tied
}

func read(path string) (r report, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	file, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer file.Close()
	reader, err := trace.NewReader(file)
	if err != nil {
		return r, err
	}
	summarizer := trace.NewSummarizer()
	var events []trace.Event
	var tied map[trace.GoID]bool
	if trace.GotraceIsV1(reader) {
		if events, err = trace.GotraceReadV1(reader); err != nil {
			return r, err
		}
		tied = ties(events)
	} else {
		for {
			event, err := reader.ReadEvent()
			if err == io.EOF {
				break
			}
			if err != nil {
				return r, err
			}
			events = append(events, event)
		}
	}
	open := map[trace.ResourceID]pause{}
	for _, event := range events {
		switch event.Kind() {
		case trace.EventRangeBegin, trace.EventRangeEnd:
			what := event.Range()
			reason, stopped := strings.CutPrefix(what.Name, "stop-the-world (")
			if !stopped {
				break
			}
			if event.Kind() == trace.EventRangeBegin {
				open[what.Scope] = pause{strings.TrimSuffix(reason, ")"), int64(event.Time()), 0}
			} else if p, ok := open[what.Scope]; ok {
				p.End = int64(event.Time())
				r.Pauses = append(r.Pauses, p)
				delete(open, what.Scope)
			}
		}
	}
	if len(events) == 0 {
		return r, fmt.Errorf("no events")
	}
	for i := range events {
		trace.GotraceUndoForever(&events[i])
		summarizer.Event(&events[i])
	}
	first, last := events[0].Time(), events[len(events)-1].Time()
	for _, p := range open {
		p.End = int64(last)
		r.Pauses = append(r.Pauses, p)
	}
	for i := range r.Pauses {
		r.Pauses[i].Begin -= int64(first)
		r.Pauses[i].End -= int64(first)
	}
	pending := trace.GotracePending(summarizer)
	r.Duration = int64(last - first)
	at := func(t trace.Time) *int64 {
		n := int64(t - first)
		return &n
	}
	summary := summarizer.Finalize()
	for id, g := range summary.Goroutines {
		out := goroutine{ID: int64(id), Function: name(g.Name), Created: *at(g.CreationTime), times: stats(g.GoroutineExecStats)}
		if g.StartTime != 0 {
			out.Started = at(g.StartTime)
		}
		if g.EndTime != 0 {
			out.Ended = at(g.EndTime)
		}
		out.Tied = tied[id]
		if lost, ok := pending[id]; ok {
			out.Pending = at(lost)
		}
		r.Goroutines = append(r.Goroutines, out)
		for _, s := range g.Regions {
			out := region{Goroutine: int64(id), Name: name(s.Name), Task: uint64(s.TaskID), End: *at(last), times: stats(s.GoroutineExecStats)}
			if s.Start != nil {
				out.Begin = at(s.Start.Time())
				out.Inherited = s.Start.Kind() == trace.EventStateTransition
			}
			if s.End != nil {
				out.End = *at(s.End.Time())
			}
			r.Regions = append(r.Regions, out)
		}
	}
	for id, t := range summary.Tasks {
		if id == trace.BackgroundTask || id == trace.NoTask {
			continue
		}
		out := task{ID: uint64(id), Name: name(t.Name)}
		if t.Parent != nil && t.Parent.ID != trace.NoTask {
			out.Parent = uint64(t.Parent.ID)
		}
		if t.Start != nil {
			out.Begin = at(t.Start.Time())
		}
		if t.End != nil {
			out.End = at(t.End.Time())
		}
		r.Tasks = append(r.Tasks, out)
	}
	sort.Slice(r.Goroutines, func(i, j int) bool { return r.Goroutines[i].ID < r.Goroutines[j].ID })
	const flags = trace.UtilSTW | trace.UtilBackground | trace.UtilAssist
	if utilization := trace.GotraceUtilization(events, flags); len(utilization) > 0 {
		r.Utilization = minima(utilization)
	}
	return r, nil
}

// The minimum mutator utilization in windows of 1 us to 1 s.
func minima(changes []trace.MutatorUtil) (out []float64) {
	curve := trace.NewMMUCurve([][]trace.MutatorUtil{changes})
	for window := time.Microsecond; window <= time.Second; window *= 10 {
		out = append(out, curve.MMU(window))
	}
	return out
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, path := range os.Args[1:] {
		r, err := read(path)
		r.File = path
		if err != nil {
			r = report{File: path, Error: err.Error()}
		}
		if err := out.Encode(r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
