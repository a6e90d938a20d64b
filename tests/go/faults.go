// Writes an execution trace of a program that has a fault, or of a healthy one: for tests/tool/findings.py.
//
//	faults NAME FILE     writes the trace of a program
//	faults               lists the names: those of healthy programs begin with "healthy"
//
// Each program runs for a third of a second or less.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

var programs = map[string]func(){
	"lock": lock, "rwlock": rwlock, "leak": leak, "channel": channel, "pauses": pauses, "task": task, "procs": procs,
	"collector": collector,

	"healthy_workers": workers, "healthy_requests": requests, "healthy_pipeline": pipeline, "healthy_lock": shortLock,
	"healthy_allocating": allocating, "healthy_tickers": tickers, "healthy_fan_out": fanOut, "healthy_ping_pong": pingPong,
	"healthy_goroutines": goroutines, "healthy_timeouts": timeouts,
}

func main() {
	if len(os.Args) != 3 {
		var names []string
		for name := range programs {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			fmt.Println(name)
		}
		return
	}
	file, err := os.Create(os.Args[2])
	if err == nil {
		err = trace.Start(file)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs[os.Args[1]]()
	trace.Stop()
	file.Close()
}

var sink int

//go:noinline
func work(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for i := 0; i < 1000; i++ {
			sink += i
		}
	}
}

func parallel(n int, f func(int)) {
	var group sync.WaitGroup
	for i := 0; i < n; i++ {
		group.Add(1)
		go func(i int) { defer group.Done(); f(i) }(i)
	}
	group.Wait()
}

// ---------------------------------------------------------------------------------------------------------- faults

type cache struct {
	sync.Mutex
	n int
}

//go:noinline
func (c *cache) get() { c.Lock(); c.n++; c.Unlock() }

//go:noinline
func (c *cache) rebuild() { c.Lock(); defer c.Unlock(); work(20 * time.Millisecond) }

// rebuild has the lock for long. Each get hands it on to the next, so that the direct wakers are mostly gets.
func lock() {
	var c cache
	parallel(7, func(i int) {
		for k := 0; k < 10 && i == 0; k++ {
			c.rebuild()
			time.Sleep(5 * time.Millisecond)
		}
		for k := 0; k < 200 && i != 0; k++ {
			c.get()
			time.Sleep(time.Millisecond)
		}
	})
}

type table struct {
	sync.RWMutex
	n int
}

//go:noinline
func (t *table) scan() { t.RLock(); defer t.RUnlock(); time.Sleep(25 * time.Millisecond) }

//go:noinline
func (t *table) put() { t.Lock(); t.n++; t.Unlock() }

//go:noinline
func (t *table) look() { t.RLock(); sink += t.n; t.RUnlock() }

// scan sleeps with a lock for reading, so writers wait, and behind these, other readers.
func rwlock() {
	var t table
	parallel(6, func(i int) {
		for k := 0; k < 10; k++ {
			switch {
			case i == 0:
				t.scan()
			case i < 3:
				t.put()
			default:
				t.look()
			}
			time.Sleep(2 * time.Millisecond)
		}
	})
}

//go:noinline
func forget(answer chan int) { answer <- 1 }

// Nobody receives an answer that comes too late, and the goroutines that send them stay.
func leak() {
	for i := 0; i < 150; i++ {
		answer := make(chan int)
		go forget(answer)
		time.Sleep(2 * time.Millisecond)
	}
}

//go:noinline
func consume(jobs chan int, n int) {
	for i := 0; i < n; i++ {
		<-jobs
		work(2 * time.Millisecond)
	}
}

//go:noinline
func produce(jobs chan int, n int) {
	for i := 0; i < n; i++ {
		jobs <- i
		work(100 * time.Microsecond)
	}
}

// Three produce what one goroutine consumes too slowly.
func channel() {
	jobs := make(chan int, 4)
	parallel(4, func(i int) {
		if i == 0 {
			consume(jobs, 120)
		} else {
			produce(jobs, 40)
		}
	})
}

//go:noinline
func watchMemory(end time.Time) {
	var stats runtime.MemStats
	for time.Now().Before(end) {
		runtime.ReadMemStats(&stats)
	}
}

// A goroutine reads the statistics of memory all the time, for which the world is stopped.
func pauses() {
	end := time.Now().Add(200 * time.Millisecond)
	parallel(3, func(i int) {
		if i == 0 {
			watchMemory(end)
			return
		}
		for time.Now().Before(end) {
			work(time.Millisecond)
			time.Sleep(100 * time.Microsecond)
		}
	})
}

//go:noinline
func fetch(late bool) {
	if late {
		time.Sleep(60 * time.Millisecond)
	}
}

func request(late bool) {
	ctx, task := trace.NewTask(context.Background(), "request")
	defer task.End()
	trace.WithRegion(ctx, "fetch", func() { fetch(late) })
	trace.WithRegion(ctx, "render", func() { work(200 * time.Microsecond) })
}

// One of many requests takes much longer.
func task() {
	for i := 0; i < 200; i++ {
		request(i == 120)
		time.Sleep(500 * time.Microsecond)
	}
}

// Goroutines are ready to run and procs idle, because the threads that would run them get no processor. Run it on a single
// processor: main takes all of that, and the other threads have the lowest priority.
func procs() {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(4)
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		if id, _ := strconv.Atoi(thread.Name()); id != syscall.Gettid() {
			idle, parameter := uintptr(5), int32(0) // SCHED_IDLE
			syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(id), idle, uintptr(unsafe.Pointer(&parameter)))
		}
	}
	for i := 0; i < 30; i++ {
		go work(20 * time.Millisecond)
		work(10 * time.Millisecond)
	}
}

type node struct{ left, right *node }

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

// The collector runs almost always, since it may let the heap grow by only 2 percent.
func collector() {
	debug.SetGCPercent(2)
	keep := tree(18)
	for end := time.Now().Add(250 * time.Millisecond); time.Now().Before(end); {
		tree(10)
	}
	runtime.KeepAlive(keep)
}

// --------------------------------------------------------------------------------------------------------- healthy

// A fixed number of goroutines take jobs from a channel.
func workers() {
	jobs := make(chan int)
	go func() {
		for i := 0; i < 200; i++ {
			jobs <- i
		}
		close(jobs)
	}()
	parallel(runtime.GOMAXPROCS(0), func(int) {
		for range jobs {
			work(time.Millisecond)
		}
	})
}

// Requests that all take about as long.
func requests() {
	parallel(4, func(int) {
		for i := 0; i < 50; i++ {
			request(false)
			time.Sleep(2 * time.Millisecond)
		}
	})
}

// Two stages, the second one not slower.
func pipeline() {
	between := make(chan []byte, 8)
	go func() {
		for i := 0; i < 100; i++ {
			work(2 * time.Millisecond)
			between <- make([]byte, 1000)
		}
		close(between)
	}()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	for block := range between {
		out.Reset()
		z.Reset(&out)
		z.Write(block)
		z.Close()
	}
}

// A lock that is had for short.
func shortLock() {
	var c cache
	parallel(4, func(int) {
		for i := 0; i < 200; i++ {
			work(100 * time.Microsecond)
			c.get()
			time.Sleep(500 * time.Microsecond)
		}
	})
}

// A program that allocates, with the collector as it is by default.
func allocating() {
	keep := tree(15)
	for i := 0; i < 60; i++ {
		tree(11)
		work(2 * time.Millisecond)
	}
	runtime.KeepAlive(keep)
}

func tickers() {
	parallel(5, func(i int) {
		t := time.NewTicker(time.Duration(i+1) * 5 * time.Millisecond)
		defer t.Stop()
		for k := 0; k < 60/(i+1); k++ {
			<-t.C
			work(50 * time.Microsecond)
		}
	})
}

func fanOut() {
	for i := 0; i < 40; i++ {
		parallel(8, func(int) { work(500 * time.Microsecond) })
	}
}

func pingPong() {
	there, back := make(chan int), make(chan int)
	go func() {
		for v := range there {
			back <- v
		}
		close(back)
	}()
	for i := 0; i < 20000; i++ {
		there <- i
		<-back
	}
	close(there)
}

// Many goroutines, which all end.
func goroutines() {
	for i := 0; i < 20; i++ {
		parallel(100, func(int) { work(20 * time.Microsecond); time.Sleep(time.Millisecond) })
		time.Sleep(3 * time.Millisecond)
	}
}

func timeouts() {
	parallel(6, func(i int) {
		for k := 0; k < 20; k++ {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			answer := make(chan int, 1)
			go func() { time.Sleep(time.Duration(k%4*4) * time.Millisecond); answer <- k }()
			select {
			case <-answer:
			case <-ctx.Done():
			}
			cancel()
		}
	})
}
