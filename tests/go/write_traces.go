// Writes execution traces of programs that do what their names say, for tests of readers.
//
//	write_traces NAME PREFIX                       PREFIX.trace (start_stop: PREFIX-1.trace and so on)
//	write_traces big PREFIX BYTES GOROUTINES       about BYTES, with GOROUTINES
//	write_traces                                   lists the names
//
// Compiles with Go 1.15 and later.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/ioutil"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var programs = map[string]func(){
	"storm":   storm,
	"gc":      gc,
	"syscall": func() { parallel(4, func(int) { syscalls() }) },
	"tasks":   tasks,
	"profile": profile,
	"net":     network,
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func traced(name string, program func()) {
	file, err := os.Create(name)
	check(err)
	check(trace.Start(file))
	program()
	trace.Stop()
	check(file.Close())
}

func main() {
	runtime.GOMAXPROCS(4) // more procs than small machines have cores: threads are preempted, procs stolen
	if len(os.Args) == 1 {
		names := []string{"start_stop"}
		for name := range programs {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			fmt.Println(name)
		}
		return
	}
	name, prefix := os.Args[1], os.Args[2]
	switch name {
	case "start_stop":
		startStop(prefix)
	case "big":
		size, err := strconv.Atoi(os.Args[3])
		check(err)
		goroutines, err := strconv.Atoi(os.Args[4])
		check(err)
		big(prefix+".trace", size, goroutines)
	default:
		program := programs[name]
		if program == nil {
			check(fmt.Errorf("unknown: %s", name))
		}
		traced(prefix+".trace", program)
	}
}

// parallel runs count goroutines and waits for them.
func parallel(count int, f func(i int)) {
	var group sync.WaitGroup
	group.Add(count)
	for i := 0; i < count; i++ {
		go func(i int) {
			defer group.Done()
			f(i)
		}(i)
	}
	group.Wait()
}

func storm() {
	stormOf(600, 40)
	go func() { spin(1 << 22) }() // runs when the trace ends
}

// stormOf: every way to wait and to wake except the network. The number of goroutines must be even, since they meet in
// pairs.
func stormOf(goroutines, rounds int) {
	unbuffered, buffered, closed := make(chan int), make(chan int, 8), make(chan struct{})
	var lock sync.Mutex
	var readers sync.RWMutex
	cond := sync.NewCond(&lock)
	turns := 0
	done := make(chan struct{})
	go func() { // wakes goroutines that wait for the condition
		for {
			select {
			case <-done:
				return
			case <-time.After(500 * time.Microsecond):
				lock.Lock()
				turns++
				lock.Unlock()
				cond.Broadcast()
			}
		}
	}()
	go func() { time.Sleep(3 * time.Millisecond); close(closed) }()
	blocked := make(chan struct{})
	go func() { <-blocked }() // waits from before the end to after it
	parallel(goroutines, func(i int) {
		<-closed
		for round := 0; round < rounds; round++ {
			switch (i/2 + round) % 8 {
			case 0:
				if i%2 == 0 {
					unbuffered <- i
				} else {
					<-unbuffered
				}
			case 1:
				select {
				case buffered <- i:
				case <-buffered:
				case <-time.After(time.Millisecond):
				}
			case 2:
				lock.Lock()
				spin(200)
				lock.Unlock()
			case 3:
				time.Sleep(time.Duration(i%7) * 50 * time.Microsecond)
			case 4:
				runtime.Gosched()
			case 5:
				lock.Lock()
				for turn := turns; turn == turns; {
					cond.Wait()
				}
				lock.Unlock()
			case 6:
				if i%5 == 0 {
					readers.Lock()
					spin(200)
					readers.Unlock()
				} else {
					readers.RLock()
					spin(200)
					readers.RUnlock()
				}
			case 7:
				parallel(2, func(int) { spin(50) })
			}
		}
	})
	close(done)
}

var sink uint64

func spin(n int) {
	x := uint64(n)
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	atomic.AddUint64(&sink, x)
}

type node struct {
	left, right *node
	_           [40]byte
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

var kept [8]*node

// gc: marking, assists, sweeps, and the other reasons to stop the world.
func gc() {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	parallel(8, func(i int) {
		for round := 0; round < 10; round++ {
			kept[i] = tree(12)
			switch {
			case i == 0 && round%3 == 0:
				runtime.GC()
			case i == 1 && round%3 == 0:
				var stats runtime.MemStats
				runtime.ReadMemStats(&stats)
			case i == 2 && round%4 == 0:
				runtime.GOMAXPROCS(3 + round%3)
			case i == 3 && round%4 == 0:
				check(pprof.Lookup("goroutine").WriteTo(ioutil.Discard, 0))
			}
		}
	})
	debug.FreeOSMemory()
	runtime.GOMAXPROCS(4)
}

// startStop: traces that begin and end while goroutines wait, run and are in system calls.
func startStop(prefix string) {
	var ends int32
	var running sync.WaitGroup
	running.Add(2)
	go func() {
		defer running.Done()
		for atomic.LoadInt32(&ends) == 0 {
			stormOf(100, 16)
		}
	}()
	go func() {
		defer running.Done()
		for atomic.LoadInt32(&ends) == 0 {
			syscalls()
		}
	}()
	for i := 1; i <= 8; i++ {
		traced(fmt.Sprintf("%s-%d.trace", prefix, i), func() { time.Sleep(time.Duration(i) * 20 * time.Millisecond) })
	}
	for i := 0; i < 20; i++ { // and in quick succession
		check(trace.Start(ioutil.Discard))
		trace.Stop()
	}
	traced(prefix+"-9.trace", func() {})
	atomic.StoreInt32(&ends, 1)
	running.Wait()
}

// syscalls: short ones, ones that block until another goroutine writes, and files and pipes of package os.
func syscalls() {
	parallel(6, func(i int) {
		var raw [2]int
		check(syscall.Pipe(raw[:]))
		go func() {
			for j := 0; j < 50; j++ {
				time.Sleep(time.Duration(20+j) * time.Microsecond)
				_, err := syscall.Write(raw[1], []byte{1})
				check(err)
			}
			syscall.Close(raw[1])
		}()
		var one [1]byte
		for {
			n, err := syscall.Read(raw[0], one[:])
			if err == syscall.EINTR {
				continue
			}
			check(err)
			if n == 0 {
				break
			}
		}
		syscall.Close(raw[0])
	})
	parallel(4, func(i int) {
		file, err := ioutil.TempFile("", "gotrace")
		check(err)
		check(os.Remove(file.Name()))
		block := make([]byte, 4096)
		for j := 0; j < 200; j++ {
			_, err = file.WriteAt(block, int64(j)*4096)
			check(err)
			_, err = file.ReadAt(block, int64(j/2)*4096)
			check(err)
		}
		check(file.Close())
	})
	from, to, err := os.Pipe()
	check(err)
	go func() {
		for j := 0; j < 300; j++ {
			_, err := to.Write(make([]byte, 100))
			check(err)
			if j%50 == 0 {
				time.Sleep(100 * time.Microsecond)
			}
		}
		to.Close()
	}()
	_, err = io.Copy(ioutil.Discard, from)
	check(err)
	from.Close()
}

// tasks: nested, ended elsewhere, never ended; regions likewise; strings of every kind.
func tasks() {
	texts := []string{"plain", "", "with \"quotes\" and \\", "two\nlines", "tab\tand\x00nul", "größer ∞ 世界", "\xff\xfe not UTF-8",
		string(bytes.Repeat([]byte("long "), 190))}
	parallel(16, func(i int) {
		text := func(j int) string { return texts[(i+j)%len(texts)] }
		for round := 0; round < 60; round++ {
			ctx, outer := trace.NewTask(context.Background(), "outer"+text(round))
			inner, task := trace.NewTask(ctx, text(round+1))
			trace.WithRegion(inner, text(round+2), func() {
				trace.Log(inner, text(round+3), text(round+4))
				trace.Logf(ctx, "number", "%d of %d", round, i)
				defer trace.StartRegion(context.Background(), "no task").End()
				runtime.Gosched()
			})
			trace.Log(context.Background(), "", text(round))
			other := make(chan struct{})
			go func() {
				defer trace.StartRegion(inner, "elsewhere").End()
				task.End()
				close(other)
			}()
			<-other
			if round%8 == 0 {
				trace.StartRegion(ctx, "open") // never ended
			}
			if round%4 != 0 {
				outer.End()
			}
		}
	})
}

//go:noinline
func deep(depth int, f func()) {
	if depth > 0 {
		deep(depth-1, f)
		return
	}
	f()
}

// profile: with the CPU profile on, with stacks of many depths.
func profile() {
	check(pprof.StartCPUProfile(ioutil.Discard))
	defer pprof.StopCPUProfile()
	end := time.Now().Add(700 * time.Millisecond)
	parallel(6, func(i int) {
		pprof.Do(context.Background(), pprof.Labels("worker", strconv.Itoa(i)), func(context.Context) {
			for depth := 0; time.Now().Before(end); depth = (depth + 7) % 150 { // beyond the maximum depth of a stack
				deep(depth, func() { spin(20000); runtime.Gosched() })
				if i == 0 {
					time.Sleep(100 * time.Microsecond)
				}
			}
		})
	})
}

// network: echoes over local connections, with deadlines that expire.
func network() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(connection, connection)
				connection.Close()
			}()
		}
	}()
	parallel(12, func(i int) {
		connection, err := net.Dial("tcp", listener.Addr().String())
		check(err)
		message := make([]byte, 1000)
		for j := 0; j < 150; j++ {
			_, err = connection.Write(message)
			check(err)
			_, err = io.ReadFull(connection, message)
			check(err)
			if j%50 == 0 {
				check(connection.SetReadDeadline(time.Now().Add(time.Millisecond)))
				if _, err = connection.Read(message); err == nil {
					check(fmt.Errorf("read without data"))
				}
				check(connection.SetReadDeadline(time.Time{}))
			}
		}
		check(connection.Close())
	})
	check(listener.Close())
}

type counter struct{ bytes int64 }

func (c *counter) Write(data []byte) (int, error) {
	c.bytes += int64(len(data))
	return len(data), nil
}

// pingPong: pairs of goroutines that pass a token back and forth, with stacks of a few depths.
func pingPong(goroutines, rounds int) {
	parallel(goroutines/2, func(pair int) {
		there, back := make(chan int), make(chan int)
		go func() {
			for token := range there {
				back <- token
			}
			close(back)
		}()
		deep(pair%10, func() {
			for round := 0; round < rounds; round++ {
				there <- round
				<-back
				if round%8 == 0 {
					runtime.Gosched()
				}
			}
		})
		close(there)
		<-back
	})
}

// big writes a trace of about size bytes. It computes the number of rounds from small traces: since a trace is written
// with delay, the size of the file cannot tell when to stop.
func big(name string, size, goroutines int) {
	measure := func(rounds int) int64 {
		var count counter
		check(trace.Start(&count))
		pingPong(goroutines, rounds)
		trace.Stop()
		return count.bytes
	}
	rounds := 1 + 40000/goroutines
	less, more := measure(rounds), measure(4*rounds)
	each := float64(more-less) / float64(3*rounds)
	if each < 1 {
		each = 1
	}
	want := rounds + int((float64(size)-float64(less))/each)
	if want < 1 {
		want = 1
	}
	traced(name, func() { pingPong(goroutines, want) })
}
