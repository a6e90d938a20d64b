// Checks many traces with Go's trace reader: v2 (Go 1.22 and later), or v1 (Go 1.11 to 1.21), which it converts. Input,
// output and exit status are those of check_many_v1.go.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"internal/trace"
	"io"
	"os"
)

func check(name string) (err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("panic: %v", what)
		}
	}()
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	reader, err := trace.NewReader(bytes.NewReader(data))
	for err == nil {
		_, err = reader.ReadEvent()
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func main() {
	accepted, refused := 0, 0
	names := bufio.NewScanner(os.Stdin)
	for names.Scan() {
		if err := check(names.Text()); err != nil {
			refused++
			fmt.Printf("%s: %v\n", names.Text(), err)
		} else {
			accepted++
		}
	}
	fmt.Printf("%d accepted, %d refused\n", accepted, refused)
	if refused != 0 {
		os.Exit(1)
	}
}
