package token

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"time"
)

// The limits of a token's texts, in bytes.
const (
	maxUID       = 64
	maxNamespace = 63
	maxName      = 253
	maxContainer = 63
	maxNode      = 253
)

const (
	fixedBytes  = 8 + 16 + 16 + 32 + 16 + 8 + 8 + 1
	textsBytes  = 5 + maxUID + maxNamespace + maxName + maxContainer + maxNode
	minRawBytes = fixedBytes + 5 + ed25519.SignatureSize
	maxRawBytes = fixedBytes + textsBytes + ed25519.SignatureSize
)

const flagUnmarked = 1

// maxTime is the end of the year 9999, behind which times have no usual text.
const maxTime = 253402300800

// text is one of the token's texts and its rule.
type text struct {
	field string
	value *string
	limit int
}

// texts returns them in the payload's order.
func (t *Token) texts() [5]text {
	return [5]text{
		{"pod UID", &t.Pod.UID, maxUID},
		{"pod namespace", &t.Pod.Namespace, maxNamespace},
		{"pod name", &t.Pod.Name, maxName},
		{"container", &t.Container, maxContainer},
		{"node", &t.Node, maxNode},
	}
}

// validate returns the first rule that the token breaks.
func (t *Token) validate() error {
	if t.Session == [16]byte{} {
		return &Fault{Err: ErrField, Field: "session", Detail: "is zero"}
	}
	if t.Nonce == [16]byte{} {
		return &Fault{Err: ErrField, Field: "nonce", Detail: "is zero"}
	}
	for _, x := range t.texts() {
		if err := x.validate(); err != nil {
			return err
		}
	}
	from, to := t.NotBefore.Unix(), t.Expiry.Unix()
	switch {
	case from < 0 || from >= maxTime:
		return &Fault{Err: ErrField, Field: "not before", Detail: "is outside of the years 1970 to 9999"}
	case to < 0 || to >= maxTime:
		return &Fault{Err: ErrField, Field: "expiry", Detail: "is outside of the years 1970 to 9999"}
	case to <= from:
		return &Fault{Err: ErrField, Field: "expiry", Detail: "is not a second after not before"}
	case to-from > int64(MaxLifetime/time.Second):
		detail := fmt.Sprintf("is %d s after not before, more than %s", to-from, seconds(MaxLifetime))
		return &Fault{Err: ErrField, Field: "expiry", Detail: detail}
	}
	return nil
}

func (x text) validate() error {
	value := *x.value
	if value == "" {
		return &Fault{Err: ErrField, Field: x.field, Detail: "is empty"}
	}
	if len(value) > x.limit {
		detail := fmt.Sprintf("has %d bytes, more than %d", len(value), x.limit)
		return &Fault{Err: ErrField, Field: x.field, Detail: detail}
	}
	for i := range len(value) {
		if value[i] <= ' ' || value[i] > '~' {
			return &Fault{Err: ErrField, Field: x.field, Detail: "is not printable ASCII without spaces"}
		}
	}
	return nil
}

// appendPayload appends the payload of a valid token.
func (t *Token) appendPayload(to []byte, id KeyID) []byte {
	to = append(to, id[:]...)
	to = append(to, t.Session[:]...)
	to = append(to, t.Nonce[:]...)
	to = append(to, t.Command[:]...)
	to = append(to, t.Requester[:]...)
	to = binary.BigEndian.AppendUint64(to, uint64(t.NotBefore.Unix()))
	to = binary.BigEndian.AppendUint64(to, uint64(t.Expiry.Unix()))
	if t.Unmarked {
		to = append(to, flagUnmarked)
	} else {
		to = append(to, 0)
	}
	for _, x := range t.texts() {
		to = append(append(to, byte(len(*x.value))), *x.value...)
	}
	return to
}

// parsePayload returns the token of a payload with at least fixedBytes. Its faults are about the form, ErrMalformed,
// and then about the values, ErrField.
func parsePayload(raw []byte) (Token, error) {
	var t Token
	take := func(n int) []byte {
		b := raw[:n]
		raw = raw[n:]
		return b
	}
	take(len(KeyID{}))
	copy(t.Session[:], take(len(t.Session)))
	copy(t.Nonce[:], take(len(t.Nonce)))
	copy(t.Command[:], take(len(t.Command)))
	copy(t.Requester[:], take(len(t.Requester)))
	from, to := binary.BigEndian.Uint64(take(8)), binary.BigEndian.Uint64(take(8))
	if from >= maxTime || to >= maxTime {
		return Token{}, &Fault{Err: ErrMalformed, Detail: "a time after the year 9999"}
	}
	t.NotBefore, t.Expiry = time.Unix(int64(from), 0).UTC(), time.Unix(int64(to), 0).UTC()
	flags := take(1)[0]
	if flags&^flagUnmarked != 0 {
		return Token{}, &Fault{Err: ErrMalformed, Detail: "an unknown flag"}
	}
	t.Unmarked = flags&flagUnmarked != 0
	for _, x := range t.texts() {
		if len(raw) == 0 || len(raw) < 1+int(raw[0]) {
			return Token{}, &Fault{Err: ErrMalformed, Field: x.field, Detail: "is cut off"}
		}
		n := take(1)[0]
		*x.value = string(take(int(n)))
	}
	if len(raw) != 0 {
		return Token{}, &Fault{Err: ErrMalformed, Detail: "bytes behind the last field"}
	}
	if err := t.validate(); err != nil {
		return Token{}, err
	}
	return t, nil
}
