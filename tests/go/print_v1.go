// Prints everything that Go's parser of v1 traces (Go 1.5 to 1.21) finds in a trace.
//
//	print_v1 [-s] FILE
//
// The first line is
//
//	version 1021
//
// (1000 times the major number and the minor one), each event is then a line
//
//	off=1234 GoCreate ts=567 p=0 g=1 stk=3 args=18,4,0 sargs="a","b" link=2345
//
//	off     offset of the event in the file, decimal. It is unique and serves as the event's name.
//	name    as in Go 1.21's table of events, after ordering (GoStartLocal has become GoStart, and so on), even if an
//	        earlier parser has another name: GCSTWStart, GCSTWDone and NextGC are STWStart, STWDone and HeapGoal
//	ts      nanoseconds since the first event
//	p       proc; from 1000000 on the parser's pseudo-procs: 1000001 timers, 1000002 network, 1000003 system calls,
//	        1000004 GC, 1000005 CPU samples
//	stk     number of the stack in the file, 0 if the event has none. The file may lack a stack with this number.
//	args    always three, without the stack and the time; 0 for those that an event does not have
//	sargs   empty if there are none
//	link    offset of the linked event, - if there is none
//
// The frames of a stack precede the first event that has its number, one per line:
//
//	stack 3
//	<TAB>0x45d2a1 "main.main" "/a/b.go" 12
//
// A stack that the file does not contain has no frames. The stack in a GoCreate's second argument (where the new
// goroutine begins) also precedes the event, after the event's own stack. Strings are quoted with ", and have \\, \"
// and \xNN (two lower case hexadecimal digits) for bytes below 0x20 and above 0x7e. The last line is one of
//
//	end ok
//	end error "text"
//	end panic "text"
//
// and the exit status is 0 for the first, 1 otherwise. If there is an error, there are no events: this parser is all or
// nothing.
//
// The parser chooses at random between events of different procs with equal ts. With -s, events are printed in the
// order of (ts, off), which is the same in every run.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"internal/trace"
	"io/ioutil"
	"os"
	"sort"
	"strconv"
	"strings"
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

func field(name string, value int64) {
	line = append(line, name...)
	line = strconv.AppendInt(line, value, 10)
}

func flush() {
	line = append(line, '\n')
	out.Write(line)
	line = line[:0]
}

func end(status int, word string, what interface{}) {
	line = append(line[:0], "end "+word...)
	if what != nil {
		line = append(line, ' ')
		quote(fmt.Sprint(what))
	}
	flush()
	out.Flush()
	os.Exit(status)
}

var seen = map[uint64]bool{0: true}

func stack(id uint64, stacks map[uint64][]*trace.Frame) {
	if seen[id] {
		return
	}
	seen[id] = true
	line = append(line, "stack "...)
	line = strconv.AppendUint(line, id, 10)
	flush()
	for _, frame := range stacks[id] {
		line = append(line, "\t0x"...)
		line = strconv.AppendUint(line, frame.PC, 16)
		line = append(line, ' ')
		quote(frame.Fn)
		line = append(line, ' ')
		quote(frame.File)
		field(" ", int64(frame.Line))
		flush()
	}
}

func main() {
	defer func() {
		if what := recover(); what != nil {
			end(1, "panic", what)
		}
	}()
	args := os.Args[1:]
	sorted := len(args) > 0 && args[0] == "-s"
	if sorted {
		args = args[1:]
	}
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: print_v1 [-s] FILE")
		os.Exit(2)
	}
	data, err := ioutil.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	version, result, err := trace.ParseAny(bytes.NewReader(data))
	if err != nil {
		end(1, "error", err)
	}
	field("version ", int64(version))
	flush()
	events := result.Events
	if sorted {
		sort.Slice(events, func(i, j int) bool {
			if events[i].Ts != events[j].Ts {
				return events[i].Ts < events[j].Ts
			}
			return events[i].Off < events[j].Off
		})
	}
	for _, event := range events {
		stack(event.StkID, result.Stacks)
		if event.Type == trace.EvGoCreate {
			stack(event.Args[1], result.Stacks)
		}
		field("off=", int64(event.Off))
		line = append(line, ' ')
		name := trace.EventDescriptions[event.Type].Name
		if strings.HasPrefix(name, "GCSTW") {
			name = name[2:]
		} else if name == "NextGC" {
			name = "HeapGoal"
		}
		line = append(line, name...)
		field(" ts=", event.Ts)
		field(" p=", int64(event.P))
		line = append(line, " g="...)
		line = strconv.AppendUint(line, event.G, 10)
		line = append(line, " stk="...)
		line = strconv.AppendUint(line, event.StkID, 10)
		for i, arg := range event.Args {
			if i == 0 {
				line = append(line, " args="...)
			} else {
				line = append(line, ',')
			}
			line = strconv.AppendUint(line, arg, 10)
		}
		line = append(line, " sargs="...)
		for i, s := range event.SArgs {
			if i > 0 {
				line = append(line, ',')
			}
			quote(s)
		}
		if event.Link == nil {
			line = append(line, " link=-"...)
		} else {
			field(" link=", int64(event.Link.Off))
		}
		flush()
	}
	end(0, "ok", nil)
}
