package trace

import "io"

// ParseAny parses a trace without the program's executable, which Parse requires for traces of Go 1.5.
func ParseAny(r io.Reader) (int, ParseResult, error) { return parse(r, "") }
