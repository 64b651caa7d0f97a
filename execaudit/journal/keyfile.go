package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// A key file has two slots, of which one holds the key. A new key goes into the other, and once that is on disk the
// old one is overwritten in its place: a file that were renamed over it would leave the old key's blocks on the disk.
const (
	slotBytes = 4096 // a block, so that a write that is torn spoils one
	slotMagic = "journal-seal-1"
)

// Errors of key files.
var (
	// ErrKeyFile: a file is not a key file, or no key of it is whole.
	ErrKeyFile = errors.New("not a journal key file")
)

// keyFile is a key file that is open, and locked, and the key in it.
type keyFile struct {
	file claimed
	slot int // which holds key
	key  ratchet
}

// Install writes a key file for the key, at epoch 0: the host's part, for Options.KeyFile. Keep the key itself
// elsewhere, before: the file does not tell it any more once the first seal is written. It has mode 0600 and is on
// disk when Install returns. Errors: fs.ErrExist when there is something at path, or the system's.
func (k Key) Install(path string) (err error) {
	if k.hidden == nil {
		return ErrBadKey
	}
	f, err := openFile(path + newSuffix)
	if err != nil {
		return err
	}
	c := claimed{f}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := claim(f, path+newSuffix); err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil { // what a crash left
		return err
	}
	out := &keyFile{file: c, key: *k.ratchet()}
	defer out.key.erase()
	if _, err := f.Write(append(out.key.slot(), blank()...)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return errors.Join(err, &os.PathError{Op: "install", Path: path, Err: os.ErrExist})
	}
	if err := os.Rename(path+newSuffix, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// openKeyFile opens and locks a key file.
func openKeyFile(path string) (*keyFile, error) {
	if _, err := os.Lstat(path); err != nil {
		return nil, err
	}
	f, err := openFileWith(path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	k := &keyFile{file: claimed{f}}
	if err := claim(f, path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := k.load(path); err != nil {
		return nil, errors.Join(err, k.file.Close())
	}
	return k, nil
}

// load reads the key, and erases an older one that a crash left beside it.
func (k *keyFile) load(path string) error {
	text, err := io.ReadAll(io.NewSectionReader(k.file, 0, 2*slotBytes))
	if err != nil {
		return err
	}
	key, slot, ok := newestSlot(text)
	if !ok {
		return fmt.Errorf("%w: %s", ErrKeyFile, path)
	}
	k.key, k.slot = key, slot
	other := text[min(len(text), (1-slot)*slotBytes):]
	if bytes.HasPrefix(other, blank()) {
		return nil
	}
	return k.erase(1 - slot)
}

// save writes the key, advanced, and erases the one before.
func (k *keyFile) save() error {
	if err := k.write(1-k.slot, k.key.slot()); err != nil {
		return err
	}
	k.slot = 1 - k.slot
	return k.erase(1 - k.slot)
}

func (k *keyFile) erase(slot int) error { return k.write(slot, blank()) }

func (k *keyFile) write(slot int, text []byte) error {
	crashPoint("key file: write")
	_, err := k.file.WriteAt(text, int64(slot*slotBytes))
	clear(text)
	if err != nil {
		return err
	}
	crashPoint("key file: sync")
	return k.file.Sync()
}

func (k *keyFile) close() error {
	k.key.erase()
	return k.file.Close()
}

func (r *ratchet) erase() {
	clear(r.key[:])
	clear(r.next[:])
}

func blank() []byte {
	return append(bytes.Repeat([]byte{' '}, slotBytes-1), '\n')
}

// slot returns the text of a slot: a line of words, the last one a checksum of those before.
func (r *ratchet) slot() []byte {
	b64 := base64.RawURLEncoding
	out := make([]byte, 0, slotBytes)
	out = append(out, slotMagic+" "...)
	out = append(out, r.id...)
	out = append(out, ' ')
	out = strconv.AppendUint(out, r.epoch, 10)
	out = append(out, ' ')
	out = b64.AppendEncode(out, r.key[:])
	out = append(out, ' ')
	out = b64.AppendEncode(out, r.next[:])
	sum := sha256.Sum256(out)
	out = append(out, ' ')
	out = b64.AppendEncode(out, sum[:])
	out = append(out, bytes.Repeat([]byte{' '}, slotBytes-1-len(out))...)
	return append(out, '\n')
}

// newestSlot returns the key of the highest epoch in a key file.
func newestSlot(text []byte) (key ratchet, slot int, ok bool) {
	for i := range 2 {
		begin := i * slotBytes
		if len(text) < begin+slotBytes {
			break
		}
		if r, whole := parseSlot(text[begin : begin+slotBytes]); whole && (!ok || r.epoch > key.epoch) {
			key, slot, ok = r, i, true
		}
	}
	return key, slot, ok
}

// parseSlot takes what slot returns, byte for byte, and nothing else.
func parseSlot(text []byte) (r ratchet, ok bool) {
	words := bytes.Fields(text)
	if len(words) != 6 || string(words[0]) != slotMagic {
		return r, false
	}
	var err error
	if r.epoch, err = strconv.ParseUint(string(words[2]), 10, 64); err != nil {
		return r, false
	}
	r.id = string(words[1])
	for i, into := range []*[sha256.Size]byte{&r.key, &r.next} {
		if len(words[3+i]) != encodedDigestBytes {
			return r, false
		}
		if _, err := digestEncoding.Decode(into[:], words[3+i]); err != nil {
			return r, false
		}
	}
	if len(r.id) > 64 || r.epoch > maxEpoch {
		return r, false
	}
	return r, bytes.Equal(r.slot(), text)
}
