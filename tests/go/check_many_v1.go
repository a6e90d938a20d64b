// check_many.go for v1 traces (Go 1.5 to 1.21), with Go's parser.
package main

import (
	"bytes"
	"internal/trace"
	"io/ioutil"
)

func check(name string) error {
	data, err := ioutil.ReadFile(name)
	if err == nil {
		_, _, err = trace.ParseAny(bytes.NewReader(data))
	}
	return err
}
