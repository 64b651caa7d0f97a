package credprovider

import (
	"encoding/json"
	"errors"
	"fmt"

	kjson "sigs.k8s.io/json"

	"github.com/lanyard-dev/lanyard/redact"
)

// ErrMessage is the condition of a message that is not the one JSON object that the protocol wants.
var ErrMessage = errors.New("not a message of the protocol")

// MessageError says what is wrong with a message. It never holds a part of the message, which may be a secret. It
// unwraps to [ErrMessage], or to [ErrVersion] when the version is what is wrong.
type MessageError struct {
	// Reason is what is wrong.
	Reason string
	// Offset is the number of bytes read before a syntax error; zero for other faults.
	Offset int64
	// Kind is ErrMessage or ErrVersion.
	Kind error
}

// Error returns the condition, the reason, and the offset when there is one.
func (e *MessageError) Error() string {
	if e.Offset > 0 {
		return fmt.Sprintf("%v: %s at byte %d", e.Kind, e.Reason, e.Offset)
	}
	return fmt.Sprintf("%v: %s", e.Kind, e.Reason)
}

// Unwrap returns Kind.
func (e *MessageError) Unwrap() error { return e.Kind }

// DecodeRequest returns the request in data, for plugins. Unknown fields are ignored, because a newer kubelet may send
// them; the fields that are known are matched by case. The error is a *[MessageError]: data is not one JSON object, its
// kind is another, or its version is not known.
func DecodeRequest(data []byte) (Request, error) {
	var wire wireRequest
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &wire); err != nil {
		return Request{}, malformed(err)
	}
	switch {
	case wire.Kind != RequestKind:
		return Request{}, &MessageError{Reason: "kind is not " + RequestKind, Kind: ErrMessage}
	case !isVersion(wire.APIVersion):
		return Request{}, &MessageError{Reason: "apiVersion of the request is not known", Kind: ErrVersion}
	}
	request := Request{APIVersion: wire.APIVersion, Image: wire.Image}
	if wire.APIVersion == V1 {
		request.ServiceAccountToken = redact.New(wire.Token)
		request.ServiceAccountAnnotations = wire.Annotations
	}
	return request, nil
}

// DecodeResponse returns the response in data, which must be in the version want.
//
// It is strict, as upstream is: one JSON object and white space, every field known, spelled with its case, and not
// duplicated. The error is a *[MessageError] for that and for another version, and [ErrCacheKeyType] for an unknown
// cache key type.
//
// Source: KEP-2133; Kubernetes 1.36, ExecPlugin.
func DecodeResponse(data []byte, want string) (Response, error) {
	var wire wireResponse
	strict, err := kjson.UnmarshalStrict(data, &wire)
	if err != nil || len(strict) > 0 || wire.APIVersion != want {
		// The version comes first: an answer in another version has fields of its own.
		if err := checkVersion(data, want); err != nil {
			return Response{}, err
		}
	}
	switch {
	case err != nil:
		return Response{}, malformed(err)
	case len(strict) > 0:
		return Response{}, &MessageError{Reason: fmt.Sprintf("%d unknown or duplicate fields", len(strict)), Kind: ErrMessage}
	case wire.Kind != ResponseKind:
		return Response{}, &MessageError{Reason: "kind is not " + ResponseKind, Kind: ErrMessage}
	}
	if _, err := BaseKey(wire.CacheKeyType, ""); err != nil {
		return Response{}, ErrCacheKeyType // without the value, which is the plugin's text
	}
	return wire.response(), nil
}

func checkVersion(data []byte, want string) error {
	var header struct {
		APIVersion string `json:"apiVersion"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &header); err != nil {
		return malformed(err)
	}
	if header.APIVersion != want {
		return &MessageError{Reason: "apiVersion of the response is not " + want, Kind: ErrVersion}
	}
	return nil
}

func (w wireResponse) response() Response {
	r := Response{APIVersion: w.APIVersion, CacheKeyType: w.CacheKeyType, CacheDuration: w.CacheDuration}
	if len(w.Auth) > 0 {
		r.Auth = make(map[string]AuthConfig, len(w.Auth))
	}
	for pattern, auth := range w.Auth {
		r.Auth[pattern] = AuthConfig{Username: auth.Username, Password: redact.New(auth.Password)}
	}
	return r
}

// malformed keeps the place of a fault and drops the decoder's text, which quotes what it found.
func malformed(err error) error {
	if isSyntax, at := kjson.SyntaxErrorOffset(err); isSyntax {
		return &MessageError{Reason: "invalid JSON", Offset: at, Kind: ErrMessage}
	}
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return &MessageError{Reason: "a field has the wrong type", Offset: wrongType.Offset, Kind: ErrMessage}
	}
	return &MessageError{Reason: "a field has the wrong type or an invalid value", Kind: ErrMessage}
}
