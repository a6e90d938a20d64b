// The cost of an event in Go's own tracer: lines `result go-NAME 1 NS_MIN NS_MEDIAN`, in nanoseconds per event. The
// trace is discarded.
package main

import (
	"context"
	"fmt"
	"io/ioutil"
	"runtime"
	"runtime/trace"
	"sort"
	"time"
)

const batch = 20000

func regions() float64 {
	ctx := context.Background()
	begin := time.Now()
	for i := 0; i < batch/2; i++ {
		trace.StartRegion(ctx, "region").End()
	}
	return float64(time.Since(begin).Nanoseconds()) / batch
}

func logs() float64 {
	ctx := context.Background()
	begin := time.Now()
	for i := 0; i < batch; i++ {
		trace.Log(ctx, "category", "a message")
	}
	return float64(time.Since(begin).Nanoseconds()) / batch
}

// Each turn is an unblock, a block and a start. Their cost without a trace is subtracted.
func turns() float64 {
	ping, pong := make(chan int), make(chan int)
	go func() {
		for v := range ping {
			pong <- v
		}
		close(pong)
	}()
	begin := time.Now()
	for i := 0; i < batch/3; i++ {
		ping <- i
		<-pong
	}
	took := time.Since(begin)
	close(ping)
	return float64(took.Nanoseconds()) / (2 * batch)
}

func measure(name string, f func() float64, without float64) {
	var times []float64
	for i := 0; i < 15; i++ {
		times = append(times, f()-without)
	}
	sort.Float64s(times)
	fmt.Printf("result go-%s 1 %.2f %.2f\n", name, times[0], times[len(times)/2])
}

func main() {
	runtime.GOMAXPROCS(1)
	var plain []float64
	for i := 0; i < 15; i++ {
		plain = append(plain, turns())
	}
	sort.Float64s(plain)
	if err := trace.Start(ioutil.Discard); err != nil {
		panic(err)
	}
	measure("region", regions, 0)
	measure("log", logs, 0)
	measure("switch", turns, plain[len(plain)/2])
	trace.Stop()
}
