package trace

import "io"

// ParseAny parses a trace without wanting the program's executable, which Parse demands for traces of Go 1.5.
func ParseAny(r io.Reader) (int, ParseResult, error) { return parse(r, "") }
