package attribution

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Key identifies an event by what its agent said of it. Two lines that say the same of it have the same key.
type Key [16]byte

// keyVersion changes with what a key is made of.
const keyVersion = 1

// Key returns the event's key: the same wherever and whenever it is computed. It is of what the agent said of the
// process and of the time; not of the pod's names, which an agent may fill in late.
func (e *Event) Key() Key {
	var room [512]byte
	b := append(room[:0], keyVersion, byte(e.Kind))
	for _, text := range [...]string{e.Agent, e.Node, e.ContainerID, e.AuditID, e.ExecSession, e.RequestUID, e.Command} {
		b = appendText(b, text)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Time.Unix()))
	b = binary.LittleEndian.AppendUint32(b, uint32(e.Time.Nanosecond()))
	b = binary.LittleEndian.AppendUint32(b, e.SessionID)
	b = binary.LittleEndian.AppendUint32(b, e.LoginUID)
	for _, p := range [...]*Process{&e.Process, &e.Parent} {
		b = binary.LittleEndian.AppendUint64(b, uint64(p.PID))
		b = binary.LittleEndian.AppendUint64(b, p.StartTicks)
		b = appendText(appendText(b, p.ExecID), p.BootID)
	}
	sum := sha256.Sum256(b)
	return Key(sum[:len(Key{})])
}

// appendText appends a text so that no two lists of texts give the same bytes.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// String returns the key as 32 hexadecimal digits.
func (k Key) String() string {
	return hex.EncodeToString(k[:])
}

// MarshalText returns String, for JSON.
func (k Key) MarshalText() ([]byte, error) {
	return []byte(k.String()), nil
}

// UnmarshalText is the inverse of MarshalText.
func (k *Key) UnmarshalText(text []byte) error {
	digits, err := hex.DecodeString(string(text))
	if err != nil || len(digits) != len(k) {
		return fmt.Errorf("answer key of %d bytes is not %d hexadecimal digits", len(text), 2*len(k))
	}
	copy(k[:], digits)
	return nil
}

var (
	_ encoding.TextMarshaler   = Key{}
	_ encoding.TextUnmarshaler = (*Key)(nil)
)
