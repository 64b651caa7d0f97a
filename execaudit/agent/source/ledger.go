package source

// ledger knows which of the observations that were read are told. They are numbered from 1.
type ledger struct {
	told uint64 // all up to it
	done []bool // from told+1 on
	head int
}

// read returns the next observation's number.
func (l *ledger) read() uint64 {
	if l.head > 0 && l.head*2 > len(l.done) {
		l.done = l.done[:copy(l.done, l.done[l.head:])]
		l.head = 0
	}
	l.done = append(l.done, false)
	return l.told + uint64(len(l.done)-l.head)
}

// tell notes that one is told.
func (l *ledger) tell(number uint64) {
	if number <= l.told {
		return
	}
	l.done[l.head+int(number-l.told-1)] = true
	for l.head < len(l.done) && l.done[l.head] {
		l.head++
		l.told++
	}
}
