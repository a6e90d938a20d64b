// Converts the text traces in Go's own test data to binary.
//
//	text_trace INPUT OUTPUT
//
// INPUT is an archive with the expected result and the text of a trace (*.test), the text of a good trace, or an entry
// of a fuzzer's corpus. Writes OUTPUT.trace and OUTPUT.expect, which is one line: SUCCESS; FAILURE and the regular
// expression that matches the error; or ANY for a fuzzer's entry, which has no expected result.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"internal/trace/raw"
	"internal/txtar"
	"io"
	"os"
	"strconv"
	"strings"
)

func convert(text []byte) ([]byte, error) {
	reader, err := raw.NewTextReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var binary bytes.Buffer
	writer, err := raw.NewWriter(&binary, reader.Version())
	if err != nil {
		return nil, err
	}
	for {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			return binary.Bytes(), nil
		}
		if err == nil {
			err = writer.WriteEvent(event)
		}
		if err != nil {
			return nil, err
		}
	}
}

func read(name string) (binary []byte, verdict string, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, "", err
	}
	if _, corpus, found := strings.Cut(string(data), "go test fuzz v1\n[]byte("); found {
		content, err := strconv.Unquote(strings.TrimSuffix(strings.TrimSpace(corpus), ")"))
		return []byte(content), "ANY", err
	}
	if bytes.HasPrefix(data, []byte("Trace Go")) {
		binary, err = convert(data)
		return binary, "SUCCESS", err
	}
	for _, file := range txtar.Parse(data).Files {
		switch file.Name {
		case "expect":
			lines := bufio.NewScanner(bytes.NewReader(file.Data))
			lines.Scan()
			word, pattern, _ := strings.Cut(lines.Text(), " ")
			verdict = word
			if word == "FAILURE" {
				pattern, err = strconv.Unquote(pattern)
				if err != nil {
					return nil, "", err
				}
				verdict += " " + pattern
			}
		case "trace":
			binary, err = convert(file.Data)
			if err != nil {
				return nil, "", err
			}
		}
	}
	if binary == nil || verdict == "" {
		err = fmt.Errorf("no trace or no verdict in it")
	}
	return
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: text_trace INPUT OUTPUT")
		os.Exit(2)
	}
	binary, verdict, err := read(os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[2]+".trace", binary, 0o666)
	}
	if err == nil {
		err = os.WriteFile(os.Args[2]+".expect", []byte(verdict+"\n"), 0o666)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
