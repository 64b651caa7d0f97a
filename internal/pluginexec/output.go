package pluginexec

// bounded keeps what is written up to a limit, and calls overflow once when there is more.
type bounded struct {
	data     []byte
	limit    int64
	over     bool
	overflow func()
}

// Write never fails: the process is killed by overflow, and what it writes until then is dropped.
func (b *bounded) Write(p []byte) (int, error) {
	if b.over {
		return len(p), nil
	}
	if int64(len(b.data)+len(p)) > b.limit {
		b.over = true
		b.data = nil
		b.overflow()
		return len(p), nil
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// tail keeps the last bytes of a stream.
type tail struct {
	data []byte
}

// Write keeps the last MaxStderr bytes of everything written so far.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if n >= MaxStderr {
		t.data = append(t.data[:0], p[n-MaxStderr:]...)
		return n, nil
	}
	if drop := len(t.data) + n - MaxStderr; drop > 0 {
		t.data = append(t.data[:0], t.data[drop:]...)
	}
	t.data = append(t.data, p...)
	return n, nil
}
