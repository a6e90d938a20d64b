// Added to internal/trace for print_summary.go.
package trace

import (
	"internal/trace/internal/tracev1"
	"internal/trace/tracev2"
	"slices"
	"strings"
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

// utilizationEvents leaves of the events what MutatorUtilizationV2 counts right: the number of procs, told when the trace
// begins, since what comes before it never counts; stop-the-worlds; and a mark assist for each time in which a goroutine that
// works for the collector is executing. A goroutine does so during a mark assist, and from a worker's label until it
// stops. (The runtime labels whichever goroutine follows on a proc that a worker was to have.) Of the events as they are,
// MutatorUtilizationV2 counts a label in addition to the start or the assist, never forgets one, and counts an assist that
// the trace begins with on the proc of the thread that tells so.
func utilizationEvents(events []Event) (out []Event) {
	procs := slices.IndexFunc(events, func(event Event) bool { return event.base.typ == tracev2.EvProcsChange })
	if procs < 0 {
		return nil
	}
	first := events[procs]
	first.base.time = events[0].base.time
	out = append(out, first)
	labelled, assists := make(map[GoID]bool), make(map[GoID]bool)
	executing, works := make(map[GoID]ProcID), make(map[GoID]ProcID)
	generation := 0
	for i, event := range events {
		g := NoGoroutine
		switch event.Kind() {
		case EventSync:
			generation = event.Sync().N
		case EventLabel:
			label := event.Label().Label
			g = event.Goroutine()
			labelled[g] = strings.HasPrefix(label, "GC ") && label != "GC (idle)"
		case EventRangeBegin, EventRangeActive, EventRangeEnd:
			if event.Range().Name != "GC mark assist" {
				break
			}
			if event.Kind() == EventRangeActive && generation > 1 {
				continue // it is known
			}
			g = event.Range().Scope.Goroutine()
			assists[g] = event.Kind() != EventRangeEnd
		case EventStateTransition:
			change := event.StateTransition()
			if change.Resource.Kind != ResourceGoroutine {
				continue
			}
			g = change.Resource.Goroutine()
			if _, to := change.Goroutine(); to.Executing() {
				executing[g] = event.Proc()
			} else {
				delete(executing, g)
				delete(labelled, g)
			}
		}
		proc, executes := executing[g]
		before, did := works[g]
		does := executes && (labelled[g] || assists[g])
		if event.Kind() == EventStateTransition && !did || g == NoGoroutine && i != procs {
			out = append(out, event)
		}
		event.ctx.G = g
		if did && !does {
			event.base.typ, event.ctx.P = tracev2.EvGCMarkAssistEnd, before
			delete(works, g)
			out = append(out, event)
		} else if !did && does {
			if event.Kind() != EventRangeActive { // it was active from the beginning
				event.base.typ = tracev2.EvGCMarkAssistBegin
			}
			event.ctx.P = proc
			works[g] = proc
			out = append(out, event)
		}
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
