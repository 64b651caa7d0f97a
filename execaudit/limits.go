package execaudit

// Limits of PodExecOptions.Env (KEP-6035, Validation).
const (
	// MaxEnvEntries is the most entries one request may have.
	MaxEnvEntries = 256
	// MaxEnvBytes is the most bytes one request's entries may have together. Counted
	// are the bytes of every name and every value as the process will see
	// them: no '=', no terminating NUL, before any escaping. What the API
	// server and the kubelet add themselves is not counted.
	MaxEnvBytes = 32 << 10 // 32 KiB
)

// Limits bounds what DecodeQuery reads. The zero value is the KEP's limits.
type Limits struct {
	// Entries is the most entries; 0 means MaxEnvEntries.
	Entries int
	// Bytes is the most bytes over all names and values; 0 means MaxEnvBytes.
	Bytes int
}

func (l Limits) orDefault() Limits {
	if l.Entries == 0 {
		l.Entries = MaxEnvEntries
	}
	if l.Bytes == 0 {
		l.Bytes = MaxEnvBytes
	}
	return l
}
