// Prints the mutator utilization that Go 1.21 computes from traces, as JSON, one line per trace.
//
//	print_utilization FILE...
//
// {"file": ..., "error": text if the trace is bad, "utilization": [least share in any 1 us, 10 us, ... 1 s]}
//
// Go's MutatorUtilization gets the events with five changes. It begins with the first number of procs, which is told when
// the trace begins. Stop-the-worlds that are not the collector's are left out: Go
// 1.21 counts them, later releases do not. So are ends of mark assists that began before the trace, or before the number
// of procs: Go would count the proc's next assist as none. Of several changes at one time it takes the lowest, and ignores the others
// until the next event; here the last one counts, so events of equal times are moved apart before and together after.
// The last change to 0 is added to the result, since Go leaves it out if the utilization is 0 before.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"internal/trace"
	"os"
	"strings"
	"time"
)

type report struct {
	File        string    `json:"file"`
	Error       string    `json:"error,omitempty"`
	Utilization []float64 `json:"utilization"`
}

func read(path string) (out []float64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	parsed, err := trace.Parse(bufio.NewReader(file), "")
	if err != nil {
		return nil, err
	}
	const places = 1 << 16
	var events []*trace.Event
	var last int64
	assists := map[uint64]bool{}
	foreign, at := false, map[int64]int64{}
	for _, event := range parsed.Events {
		if event.Type == trace.EvGomaxprocs {
			first := *event
			first.Ts = parsed.Events[0].Ts * places
			at[parsed.Events[0].Ts]++
			events = append(events, &first)
			break
		}
	}
	for _, event := range parsed.Events {
		last = event.Ts
		if event.Type == trace.EvSTWStart {
			kind := event.SArgs[0] // before Go 1.21, only the collector stopped the world: "sweep termination" ...
			foreign = !strings.Contains(kind, "GC") && !strings.HasSuffix(kind, " termination")
		}
		if foreign && (event.Type == trace.EvSTWStart || event.Type == trace.EvSTWDone) {
			continue
		}
		switch {
		case event.Type == trace.EvGCMarkAssistStart:
			assists[event.G] = true
		case event.Type == trace.EvGCMarkAssistDone && !assists[event.G]:
			continue
		case event.Type == trace.EvGCMarkAssistDone:
			delete(assists, event.G)
		}
		event.Ts = last*places + at[last]
		at[last]++
		events = append(events, event)
	}
	series := trace.MutatorUtilization(events, trace.UtilSTW|trace.UtilBackground|trace.UtilAssist)
	if len(series) == 0 {
		return nil, nil
	}
	var changes []trace.MutatorUtil
	for _, change := range series[0] {
		change.Time /= places
		if n := len(changes); n > 0 && changes[n-1].Time == change.Time {
			changes = changes[:n-1]
		}
		changes = append(changes, change)
	}
	if changes[len(changes)-1].Time == last {
		changes = changes[:len(changes)-1]
	}
	changes = append(changes, trace.MutatorUtil{Time: last})
	if len(changes) < 2 {
		return nil, nil
	}
	curve := trace.NewMMUCurve([][]trace.MutatorUtil{changes})
	for window := time.Microsecond; window <= time.Second; window *= 10 {
		out = append(out, curve.MMU(window))
	}
	return out, nil
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, path := range os.Args[1:] {
		r := report{File: path}
		var err error
		if r.Utilization, err = read(path); err != nil {
			r.Error = err.Error()
		}
		if err := out.Encode(r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
