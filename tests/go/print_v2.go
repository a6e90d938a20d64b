// Prints everything that Go's trace reader finds in a trace: v2 (Go 1.22 on), or v1 (Go 1.11 to 1.21) as it converts it.
//
//	print_v2 FILE
//
// An event is a line that begins with its thread, proc and goroutine (-1: none), its kind and its time in nanoseconds, and
// ends with the number of its stack in the file (0: none). The details of the kind are in between:
//
//	M=-1 P=-1 G=-1 Sync Time=5 N=1 Stack=0
//	M=-1 P=-1 G=-1 Sync Time=5 N=1 Trace=5 Mono=6 Wall=1700000000.000000007 Stack=0
//	M=1 P=0 G=1 Metric Time=5 Name="/gc/heap/goal:bytes" Value=7 Stack=0
//	M=1 P=0 G=1 Label Time=5 Label="GC (idle)" Resource=Goroutine(1) Stack=0
//	M=1 P=0 G=1 StackSample Time=5 Stack=9
//	M=1 P=0 G=1 RangeBegin Time=5 Name="GC mark assist" Scope=Goroutine(1) Stack=9
//	M=1 P=0 G=1 RangeActive Time=5 Name="GC concurrent mark phase" Scope=None Stack=0
//	M=1 P=0 G=1 RangeEnd Time=5 Name="GC incremental sweep" Scope=Proc(0) Attributes=["bytes swept"=1 "bytes reclaimed"=2] Stack=0
//	M=1 P=0 G=1 TaskBegin Time=5 ID=1 Parent=0 Type="t" Stack=9                       (TaskEnd alike)
//	M=1 P=0 G=1 RegionBegin Time=5 Task=1 Type="r" Stack=9                            (RegionEnd alike)
//	M=1 P=0 G=1 Log Time=5 Task=1 Category="c" Message="m" Stack=9
//	M=1 P=0 G=1 StateTransition Time=5 GoID=7 NotExist->Runnable Reason="" TransitionStack=10 Stack=9
//	M=1 P=0 G=1 StateTransition Time=5 ProcID=0 Running->Idle Reason="" TransitionStack=0 Stack=0
//	M=1 P=0 G=1 Experimental Time=5 Name="SpanAlloc" Experiment="AllocFree" Args=[id=1 npages_value=2 kindclass=3] Stack=0
//
// Every RangeEnd has Attributes=[], which is empty except for sweeps. Numbers are decimal; ids of tasks (no task:
// 18446744073709551615), metrics, attributes and arguments are unsigned; an argument that is a string is quoted. Wall
// is in seconds since 1970 with nine digits after the point; Trace, Mono and Wall exist if the generation has a clock
// snapshot.
//
// A Sync begins a generation, and the last one ends the trace. The experimental batches of the generation follow it, in
// the order of the experiments' names and then of the file, with their bytes in lower case hexadecimal:
//
//	batch Experiment="AllocFree" M=1 Data=00ff
//
// The frames of a stack precede the first event since the last Sync that has its number, as Stack or TransitionStack.
// If both are new, that of Stack comes first:
//
//	stack 9
//	<TAB>0x45d2a1 "main.main" "/a/b.go" 12
//
// Strings are quoted with ", and have \\, \" and \xNN (two lower case hexadecimal digits) for bytes below 0x20 and above
// 0x7e. The last line is one of
//
//	end ok
//	end error "text"
//	end panic "text"
//
// and the exit status is 0 for the first, 1 otherwise. The events up to the error precede it.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"internal/trace"
	"io"
	"os"
	"sort"
	"strconv"
)

var out = bufio.NewWriterSize(os.Stdout, 1<<20)
var line []byte

func quote(s string) {
	line = append(line, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' || c == '"':
			line = append(line, '\\', c)
		case c < 0x20 || c > 0x7e:
			line = append(line, '\\', 'x', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			line = append(line, c)
		}
	}
	line = append(line, '"')
}

func text(s string) { line = append(line, s...) }

func field(name string, value int64) {
	line = append(line, name...)
	line = strconv.AppendInt(line, value, 10)
}

func unsigned(name string, value uint64) {
	line = append(line, name...)
	line = strconv.AppendUint(line, value, 10)
}

func quoted(name, value string) {
	line = append(line, name...)
	quote(value)
}

func value(v trace.Value) {
	if v.Kind() == trace.ValueString {
		quote(v.String())
	} else {
		unsigned("", v.Uint64())
	}
}

func flush() {
	line = append(line, '\n')
	out.Write(line)
	line = line[:0]
}

func end(status int, word string, what any) {
	line = append(line[:0], "end "+word...)
	if what != nil {
		quoted(" ", fmt.Sprint(what))
	}
	flush()
	out.Flush()
	os.Exit(status)
}

var seen = map[uint64]bool{0: true}

func stack(s trace.Stack) {
	if seen[s.ID()] {
		return
	}
	seen[s.ID()] = true
	unsigned("stack ", s.ID())
	flush()
	for frame := range s.Frames() {
		text("\t0x")
		line = strconv.AppendUint(line, frame.PC, 16)
		quoted(" ", frame.Func)
		quoted(" ", frame.File)
		unsigned(" ", frame.Line)
		flush()
	}
}

func print(event trace.Event) {
	kind := event.Kind()
	if kind == trace.EventSync {
		seen = map[uint64]bool{0: true}
	}
	var transition trace.StateTransition
	stack(event.Stack())
	if kind == trace.EventStateTransition {
		transition = event.StateTransition()
		stack(transition.Stack)
	}

	field("M=", int64(event.Thread()))
	field(" P=", int64(event.Proc()))
	field(" G=", int64(event.Goroutine()))
	text(" ")
	text(kind.String())
	field(" Time=", int64(event.Time()))
	switch kind {
	case trace.EventSync:
		sync := event.Sync()
		field(" N=", int64(sync.N))
		if clock := sync.ClockSnapshot; clock != nil {
			field(" Trace=", int64(clock.Trace))
			unsigned(" Mono=", clock.Mono)
			field(" Wall=", clock.Wall.Unix())
			text(fmt.Sprintf(".%09d", clock.Wall.Nanosecond()))
		}
	case trace.EventMetric:
		metric := event.Metric()
		quoted(" Name=", metric.Name)
		text(" Value=")
		value(metric.Value)
	case trace.EventLabel:
		label := event.Label()
		quoted(" Label=", label.Label)
		text(" Resource=" + label.Resource.String())
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		r := event.Range()
		quoted(" Name=", r.Name)
		text(" Scope=" + r.Scope.String())
		if kind == trace.EventRangeEnd {
			text(" Attributes=[")
			for i, attribute := range event.RangeAttributes() {
				if i > 0 {
					text(" ")
				}
				quote(attribute.Name)
				text("=")
				value(attribute.Value)
			}
			text("]")
		}
	case trace.EventTaskBegin, trace.EventTaskEnd:
		task := event.Task()
		unsigned(" ID=", uint64(task.ID))
		unsigned(" Parent=", uint64(task.Parent))
		quoted(" Type=", task.Type)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		region := event.Region()
		unsigned(" Task=", uint64(region.Task))
		quoted(" Type=", region.Type)
	case trace.EventLog:
		log := event.Log()
		unsigned(" Task=", uint64(log.Task))
		quoted(" Category=", log.Category)
		quoted(" Message=", log.Message)
	case trace.EventStateTransition:
		switch transition.Resource.Kind {
		case trace.ResourceGoroutine:
			from, to := transition.Goroutine()
			field(" GoID=", int64(transition.Resource.Goroutine()))
			text(" " + from.String() + "->" + to.String())
		case trace.ResourceProc:
			from, to := transition.Proc()
			field(" ProcID=", int64(transition.Resource.Proc()))
			text(" " + from.String() + "->" + to.String())
		}
		quoted(" Reason=", transition.Reason)
		unsigned(" TransitionStack=", transition.Stack.ID())
	case trace.EventExperimental:
		experimental := event.Experimental()
		quoted(" Name=", experimental.Name)
		quoted(" Experiment=", experimental.Experiment)
		text(" Args=[")
		for i, name := range experimental.Args {
			if i > 0 {
				text(" ")
			}
			text(name + "=")
			value(experimental.ArgValue(i))
		}
		text("]")
	}
	unsigned(" Stack=", event.Stack().ID())
	flush()

	if kind == trace.EventSync {
		batches := event.Sync().ExperimentalBatches
		var names []string
		for name := range batches {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			for _, batch := range batches[name] {
				quoted("batch Experiment=", name)
				field(" M=", int64(batch.Thread))
				text(" Data=" + hex.EncodeToString(batch.Data))
				flush()
			}
		}
	}
}

func main() {
	defer func() {
		if what := recover(); what != nil {
			end(1, "panic", what)
		}
	}()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: print_v2 FILE")
		os.Exit(2)
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	reader, err := trace.NewReader(file)
	if err != nil {
		end(1, "error", err)
	}
	for {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			end(0, "ok", nil)
		}
		if err != nil {
			end(1, "error", err)
		}
		print(event)
	}
}
