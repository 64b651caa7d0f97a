package streaming

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
)

// mark stands between the container ID and the sealed environment. No ID of a runtime holds it.
const mark = "+exec-env."

// encoding has no character that could end mark, and one text for what is sealed.
var encoding = base64.RawURLEncoding.Strict()

// Pack returns a copy of req for the streaming server's GetExec. Its container ID carries the environment of field 7,
// none included, and field 7 is empty, so that no printed or logged request shows a value. It has the form
//
//	CONTAINER-ID+exec-env.BASE64URL
//
// whose last part is sealed with a random key of this process and for this container: nobody can read, change or make
// one, and none outlives the process. Its length shows the length of the environment. req stays as it is; they share the
// command.
//
// Every error is the request's: a [*criwire.InvalidError], which gRPC answers with InvalidArgument. It unwraps to what
// criwire.Environ returns, or to ErrContainerID.
func Pack(req *runtimeapi.ExecRequest) (*runtimeapi.ExecRequest, error) {
	return pack(req, func([]string) error { return nil })
}

// PackJSON is Pack for a runtime that hands its process spec to the low-level runtime as JSON, as containerd does for
// every exec, and whoever calls runc exec --process. JSON carries UTF-8 alone: encoding/json puts U+FFFD in the place of
// other bytes, without an error. So every value that is not UTF-8 is refused as well: the error, again a
// [*criwire.InvalidError], then joins an [*envprecedence.EntryError] of ErrNotJSON for each.
func PackJSON(req *runtimeapi.ExecRequest) (*runtimeapi.ExecRequest, error) {
	return pack(req, checkJSON)
}

// checkJSON finds the environ strings that JSON cannot carry.
func checkJSON(environ []string) error {
	var faults []error
	for i, e := range environ {
		if !utf8.ValidString(e) {
			name, _, _ := strings.Cut(e, "=")
			faults = append(faults, &envprecedence.EntryError{Index: i, Name: name, Err: ErrNotJSON})
		}
	}
	return errors.Join(faults...)
}

func pack(req *runtimeapi.ExecRequest, check func(environ []string) error) (*runtimeapi.ExecRequest, error) {
	id := req.GetContainerId()
	switch {
	case id == "":
		return nil, &criwire.InvalidError{Err: fmt.Errorf("%w: it is empty", ErrContainerID)}
	case strings.Contains(id, mark):
		return nil, &criwire.InvalidError{Err: fmt.Errorf("%w: it looks packed", ErrContainerID)}
	}
	environ, err := criwire.Environ(req)
	if err != nil {
		return nil, err
	}
	if err := check(environ); err != nil {
		return nil, &criwire.InvalidError{Err: err}
	}
	packed, err := bare(req)
	if err != nil {
		return nil, &criwire.InvalidError{Err: err}
	}
	if packed.ContainerId, err = seal(id, environ); err != nil {
		return nil, err
	}
	return packed, nil
}

// bare returns a copy of req without its environment. It shares req's lists.
func bare(req *runtimeapi.ExecRequest) (*runtimeapi.ExecRequest, error) {
	packed := new(runtimeapi.ExecRequest)
	from, to := req.ProtoReflect(), packed.ProtoReflect()
	from.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		to.Set(field, value)
		return true
	})
	to.SetUnknown(from.GetUnknown())
	return packed, criwire.Write(packed, nil)
}

// Unpack takes apart the container ID that the streaming server hands to its backend: the container's own, and the
// environment as environ strings, NAME=VALUE, checked, in the request's order; nil for none. They fit envprecedence.Merge
// and Baseline.Merge.
//
// The error is ErrNotPacked or ErrForged, both of which must end the session: its audit ID would be lost.
//
// It can be called any number of times. That a session starts once is the streaming server's promise, whose token is
// gone with its first use.
func Unpack(id string) (containerID string, environ []string, err error) {
	containerID, sealed, found := strings.Cut(id, mark)
	if !found {
		return "", nil, ErrNotPacked
	}
	environ, err = open(containerID, sealed)
	if err != nil {
		return "", nil, err
	}
	return containerID, environ, nil
}

// sealer is made when the first session comes. Its nonces are random, which is safe for 2^32 sessions of one process.
var sealer = sync.OnceValues(func() (cipher.AEAD, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
})

// seal returns the packed ID. What is sealed is each environ string and a NUL, which none of them holds.
func seal(id string, environ []string) (string, error) {
	aead, err := sealer()
	if err != nil {
		return "", err
	}
	size := 0
	for _, e := range environ {
		size += len(e) + 1
	}
	plain := make([]byte, 0, size+aead.Overhead())
	for _, e := range environ {
		plain = append(append(plain, e...), 0)
	}
	return write(id, aead.Seal(plain[:0], nil, plain, []byte(id))), nil
}

// write returns the packed ID without a buffer of its size beside it.
func write(id string, sealed []byte) string {
	var packed strings.Builder
	packed.Grow(len(id) + len(mark) + encoding.EncodedLen(len(sealed)))
	packed.WriteString(id)
	packed.WriteString(mark)
	var text [1024]byte
	for part := range slices.Chunk(sealed, len(text)/4*3) {
		packed.Write(encoding.AppendEncode(text[:0], part))
	}
	return packed.String()
}

func open(id, sealed string) ([]string, error) {
	aead, err := sealer()
	if err != nil {
		return nil, err
	}
	raw, err := encoding.DecodeString(sealed)
	if err != nil || encoding.EncodedLen(len(raw)) != len(sealed) { // the decoder skips line breaks
		return nil, ErrForged
	}
	plain, err := aead.Open(raw[:0], nil, raw, []byte(id))
	if err != nil {
		return nil, ErrForged
	}
	return split(string(plain)), nil
}

// split returns the strings that a NUL ends; nil for none.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text[:len(text)-1], "\x00")
}
