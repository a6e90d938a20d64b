package trace

// ID is the number that the trace gave to a stack in its generation. 0: no stack.
func (s Stack) ID() uint64 { return uint64(s.id) }
