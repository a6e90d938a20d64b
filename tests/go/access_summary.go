// Added to internal/trace for print_summary.go.
package trace

import (
	"internal/trace/internal/tracev1"
	"internal/trace/tracev2"
	"slices"
)

// GotracePending returns the goroutines that are in a system call without a proc, and the times at which they lost it.
// It must be called before Finalize.
func GotracePending(s *Summarizer) map[GoID]Time {
	pending := make(map[GoID]Time)
	for id, g := range s.gs {
		if g.goroutineSummary != nil && g.lastSyscallTime != 0 && g.lastSyscallBlockTime != 0 {
			pending[id] = g.lastSyscallBlockTime
		}
	}
	return pending
}

// GotraceIsV1 reports whether a trace is older than Go 1.22.
func GotraceIsV1(r *Reader) bool { return r.v1Events != nil }

// GotraceReadV1 reads a v1 trace by Go's own conversion, but omits three of its steps:
//
//   - moving events of equal times apart, each by a nanosecond
//   - giving a nanosecond to a system call without a duration
//   - dropping the first number of procs
//
// All times are later by GotraceShift, since Go takes a time of 0 for an unknown one.
func GotraceReadV1(r *Reader) ([]Event, error) {
	it := r.v1Events
	var events []Event
	first, ok := it.events.Peek()
	if !ok {
		return nil, nil
	}
	events = append(events, syncEvent(it.evt, Time(first.Ts)+GotraceShift, 1))
	last := events[0].base.time
	add := func(event Event, time Time) {
		event.base.time = time + GotraceShift
		last = event.base.time
		events = append(events, event)
	}
	for {
		old, ok := it.events.Pop()
		if !ok {
			break
		}
		before, time := it.preInit, Time(old.Ts)
		event, err := it.convertEvent(old)
		if err != nil && err != errSkip {
			return nil, err
		}
		if err == nil {
			add(event, time)
		}
		for _, event := range it.extra {
			add(event, time)
		}
		it.extra = it.extraArr[:0]
		if old.Type == tracev1.EvGomaxprocs && before {
			event := Event{table: it.evt, ctx: schedCtx{G: NoGoroutine, P: NoProc, M: NoThread}}
			event.base.typ = tracev2.EvProcsChange
			event.base.args = timedEventArgs{old.Args[0]}
			add(event, time)
		}
	}
	return append(events, syncEvent(nil, last, 2)), nil
}

const GotraceShift = 1000

// GotraceForever is the reason of a wait for ever, after GotraceUndoForever.
const GotraceForever = "for ever"

// GotraceUndoForever renames the reason of a wait for ever, after which the summarizer takes the goroutine for dead.
func GotraceUndoForever(event *Event) {
	if event.base.typ != tracev2.EvGoBlock || event.StateTransition().Reason != "forever" {
		return
	}
	const id = 1 << 40 // no trace has so many strings
	if event.table.strings.sparse == nil {
		event.table.strings.sparse = make(map[stringID]string)
	}
	event.table.strings.sparse[id] = GotraceForever
	event.base.args[0] = id
}

// utilizationEvents changes events so that MutatorUtilizationV2 counts what is true. It is wrong about
//
//   - a background worker that runs again: it counts at its start, since an earlier label is never forgotten, and at its
//     new label, but is taken off once when it stops. Of each goroutine with such labels, only the label of a run and the
//     stop after it are left.
//   - a goroutine that is in a mark assist, but is not executing, where its first generation tells so: it counts on the
//     proc of the thread that tells so. The assist is moved to where the goroutine starts.
//   - a goroutine whose assist another thread tells: the proc of that thread counts.
//   - what comes before the number of procs: it never counts. The number is moved to the front.
func utilizationEvents(events []Event) (out []Event) {
	isWorker := func(label string) bool {
		return len(label) >= 3 && label[:3] == "GC " && label != "GC (idle)"
	}
	isLabelled := make(map[GoID]bool)
	for _, event := range events {
		if event.Kind() == EventLabel && isWorker(event.Label().Label) {
			isLabelled[event.Goroutine()] = true
		}
	}
	events = slices.Clone(events)
	procs := slices.IndexFunc(events, func(event Event) bool { return event.base.typ == tracev2.EvProcsChange })
	if procs < 0 {
		return nil
	}
	first := events[procs]
	for i := procs; i > 0; i-- {
		events[i] = events[i-1]
		events[i].base.time = first.base.time
	}
	events[0] = first
	working := make(map[GoID]bool)
	on := make(map[GoID]ProcID) // goroutines that are executing
	assists := make(map[GoID]bool)
	generation := 0
	for _, event := range events {
		switch event.Kind() {
		case EventSync:
			generation = event.Sync().N
		case EventLabel:
			g := event.Goroutine()
			again := working[g]
			working[g] = isWorker(event.Label().Label)
			if again {
				continue
			}
		case EventRangeActive:
			if event.base.typ != tracev2.EvGCMarkAssistActive || generation > 1 {
				break // MutatorUtilizationV2 ignores those of later generations
			}
			g := event.Range().Scope.Goroutine()
			proc, executes := on[g]
			if !executes {
				assists[g] = true
				continue
			}
			event.ctx.G, event.ctx.P = g, proc
		case EventStateTransition:
			change := event.StateTransition()
			if change.Resource.Kind != ResourceGoroutine {
				break
			}
			g := change.Resource.Goroutine()
			from, to := change.Goroutine()
			if to.Executing() {
				on[g] = event.Proc()
			} else {
				delete(on, g)
			}
			if isLabelled[g] && from != to {
				if !working[g] || to.Executing() {
					continue
				}
				delete(working, g)
			}
			if assists[g] && to.Executing() {
				delete(assists, g)
				out = append(out, event)
				event.base.typ, event.ctx.G = tracev2.EvGCMarkAssistBegin, g
			}
		}
		out = append(out, event)
	}
	return out
}

// GotraceUtilization returns the changes of the utilization. Of several changes at one time it takes the last one, where
// MutatorUtilizationV2 takes the lowest and ignores the others until the next event. It ends with the trace, where
// MutatorUtilizationV2 ends with a last change to 0.
func GotraceUtilization(events []Event, flags UtilFlags) (out []MutatorUtil) {
	const places = 1 << 16
	apart := utilizationEvents(events)
	at := make(map[Time]Time) // number of events at each time
	for i := range apart {
		time := apart[i].base.time - events[0].base.time
		apart[i].base.time = time*places + at[time]
		at[time]++
	}
	series := MutatorUtilizationV2(apart, flags)
	if len(series) == 0 {
		return nil
	}
	for _, change := range series[0] {
		change.Time /= places
		if len(out) > 0 && out[len(out)-1].Time == change.Time {
			out = out[:len(out)-1]
		}
		out = append(out, change)
	}
	end := MutatorUtil{Time: int64(events[len(events)-1].base.time - events[0].base.time)}
	if out[len(out)-1].Time == end.Time {
		out = out[:len(out)-1]
	}
	return append(out, end)
}
