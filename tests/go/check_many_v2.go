// check_many.go with Go's trace reader: v2 (Go 1.22 and later), or v1 (Go 1.11 to 1.21), which it converts.
package main

import (
	"bytes"
	"internal/trace"
	"io"
	"os"
)

func check(name string) error {
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
