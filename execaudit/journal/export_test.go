package journal

// SetCrashPoint has f called between any two steps that change a disk.
func SetCrashPoint(f func(string)) (reset func()) {
	before := crashPoint
	crashPoint = f
	return func() { crashPoint = before }
}

// Epochs of a generation of keys.
const Generation = generation

// KeyAt returns what a key file of this epoch would hold, "" for one that cannot be had.
func KeyAt(k Key, epoch uint64, steps bool) string {
	r := k.ratchet()
	if steps {
		for r.epoch < epoch {
			r.advance()
		}
	} else if !r.seek(epoch) {
		return ""
	}
	return string(r.slot())
}

// SealLine returns a seal as who has the key can make it.
func SealLine(k Key, s Seal, before [32]byte) []byte {
	r := k.ratchet()
	s.KeyID = k.ID()
	r.seek(s.Epoch)
	d := digest(before)
	line, _ := s.line(&d, r)
	return line
}

// Link returns a line chained to what stands before it, and the digest after it.
func Link(before [32]byte, line string) ([]byte, [32]byte) {
	d := digest(before)
	out := d.link([]byte(line))
	return out, newHasher().after(d, out)
}

// Unlink returns a line without its digest.
func Unlink(line []byte) (string, bool) {
	head, _, ok := linked(line)
	return string(head) + "}", ok
}

// ParseMarks tries the strict parsers of lines that are not records.
func ParseMarks(line []byte) (file, seal bool) {
	_, file = parseFileMark(line)
	_, seal = parseSeal(line)
	return file, seal
}

// ParseSlot tries the parser of key files.
func ParseSlot(text []byte) bool {
	_, ok := parseSlot(text)
	return ok
}

// After returns the digest after a line.
func After(before [32]byte, line []byte) [32]byte {
	return newHasher().after(before, line)
}

// WithID returns the key of a slot under another key's ID.
func WithID(slot, id string) string {
	r, _ := parseSlot([]byte(slot))
	r.id = id
	return string(r.slot())
}

// CloseKey takes a Writer's key file away from under it.
func CloseKey(w *Writer) error { return w.own.key.file.File.Close() }

// CloseFile takes a Writer's file away from under it.
func CloseFile(w *Writer) error { return w.file.(claimed).File.Close() }
