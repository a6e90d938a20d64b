// Added to internal/trace for print_summary.go.
package trace

import (
	"internal/trace/internal/tracev1"
	"internal/trace/tracev2"
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

// GotraceBounds returns lower and upper bounds of the utilization if events of equal times may have any order.
// MutatorUtilizationV2 takes the lowest of several values at one time, and ignores the others until a change at a later
// time. The order determines these values, but not the last one.
func GotraceBounds(events []Event, flags UtilFlags) (least, most []MutatorUtil) {
	const places = 1 << 16
	apart := make([]Event, len(events))
	at := make(map[int64]int64) // number of events at each time
	for i := range events {
		apart[i] = events[i]
		time := int64(events[i].base.time)
		apart[i].base.time = Time(time*places + at[time])
		at[time]++
	}
	changes := MutatorUtilizationV2(apart, flags)[0]
	for i := 0; i < len(changes); {
		time, lowest := changes[i].Time/places, 1.0
		if i > 0 {
			lowest = changes[i-1].Util
		}
		for ; i < len(changes) && changes[i].Time/places == time; i++ {
			if i > 0 && changes[i].Util < changes[i-1].Util {
				lowest -= changes[i-1].Util - changes[i].Util
			}
		}
		last := changes[i-1].Util
		if at[time] == 1 { // there is no other order
			lowest = last
		}
		least = append(least, MutatorUtil{time, max(lowest, 0)})
		most = append(most, MutatorUtil{time, last})
	}
	return least, most
}
