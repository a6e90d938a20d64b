package trace

// ID is the number of a stack in its generation of the trace. 0: no stack.
func (s Stack) ID() uint64 { return uint64(s.id) }
