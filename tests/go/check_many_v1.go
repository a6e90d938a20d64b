// Checks many v1 traces (Go 1.5 to 1.21) with Go's parser. Reads their names from stdin, one per line; prints a line
// "NAME: error" for each rejected trace, then "N accepted, N refused". Exit status 1 if any is rejected.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"internal/trace"
	"io/ioutil"
	"os"
)

func check(name string) (err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("panic: %v", what)
		}
	}()
	data, err := ioutil.ReadFile(name)
	if err == nil {
		_, _, err = trace.ParseAny(bytes.NewReader(data))
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
