// server.go - a server whose faults are known, for tests/view/inputs.py: go run server.go TRACE
//
// Requests look into a cache, behind one mutex, which main.(*cache).rebuild holds for as long as it takes. main.watch
// stops the world to read memory statistics. main.beat only sleeps and wakes.

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"time"
)

type cache struct {
	mutex   sync.Mutex
	entries map[string][32]byte
}

//go:noinline
func (c *cache) get(key string) [32]byte {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.entries[key]
}

// rebuild computes the entries anew for some time, with the mutex.
//
//go:noinline
func (c *cache) rebuild(long time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for end, i := time.Now().Add(long), 0; time.Now().Before(end); i++ {
		key := fmt.Sprint("item", i%100)
		c.entries[key] = sha256.Sum256([]byte(key))
	}
}

func (c *cache) serve(w http.ResponseWriter, r *http.Request) {
	ctx, task := trace.NewTask(r.Context(), "request")
	defer task.End()
	var sum [32]byte
	trace.WithRegion(ctx, "look up", func() { sum = c.get(r.URL.Query().Get("key")) })
	trace.WithRegion(ctx, "answer", func() { fmt.Fprintf(w, "%x", sum) })
}

func maintain(c *cache, done context.Context) {
	for i := 0; done.Err() == nil; i++ {
		time.Sleep(60 * time.Millisecond)
		c.rebuild([]time.Duration{10, 20, 120}[i%3] * time.Millisecond)
	}
}

func watch(done context.Context) {
	for done.Err() == nil {
		time.Sleep(10 * time.Millisecond)
		runtime.ReadMemStats(new(runtime.MemStats))
	}
}

func beat(done context.Context) {
	for done.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
}

func ask(url string, client int, all *sync.WaitGroup) {
	defer all.Done()
	for i := 0; i < 40; i++ {
		answer, err := http.Get(fmt.Sprintf("%s/?key=item%d", url, (client*40+i)%100))
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		time.Sleep(5 * time.Millisecond)
	}
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := trace.Start(file); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	c := &cache{entries: map[string][32]byte{}}
	done, end := context.WithCancel(context.Background())
	go http.Serve(listener, http.HandlerFunc(c.serve))
	go maintain(c, done)
	go watch(done)
	go beat(done)
	var all sync.WaitGroup
	for client := 0; client < 4; client++ {
		all.Add(1)
		go ask("http://"+listener.Addr().String(), client, &all)
	}
	all.Wait()
	end()
	trace.Stop()
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}
