package readiness

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// The annotations of the Lease.
const (
	AnnotationVersion  = "bridge.lanyard.dev/version"
	AnnotationKeys     = "bridge.lanyard.dev/keys"
	AnnotationHandlers = "bridge.lanyard.dev/handlers"
)

// What [Parse] reads at most.
const (
	MaxHandlersBytes = 64 << 10 // 64 KiB
	MaxKeys          = 64
)

// DefaultHandler is the name of the handler of pods without a runtime class.
const DefaultHandler = ""

// LeaseName returns the name of a node's Lease, in the namespace of its daemon.
func LeaseName(node string) string { return "lanyard-bridge-" + node }

// Mode is how the wrapper came into the runtime's place.
type Mode string

// The modes.
const (
	// ModeRuntimeClass: a handler of its own names the wrapper; only pods of its runtime class use it.
	ModeRuntimeClass Mode = "runtimeclass"
	// ModeDropIn: the runtime's configuration names the wrapper for a handler that was there before.
	ModeDropIn Mode = "drop-in"
	// ModeBind: the wrapper is mounted over the OCI runtime's file, which reaches containers that run already.
	ModeBind Mode = "bind"
)

// Handler is what a node says of one runtime handler.
type Handler struct {
	// Since is when the wrapper became active: every pod that starts later is under it.
	Since time.Time `json:"since"`
	Mode  Mode      `json:"mode"`
	// Mark is what the wrapper marks: sessions, workloads or off. It is for people to read.
	Mark string `json:"mark,omitempty"`
}

// Readiness is what a node says of itself.
type Readiness struct {
	// Version is that of the program on the node, for people to read.
	Version string
	// Keys are the IDs of the public keys that the node verifies with, as a token.KeyID is written.
	Keys []string
	// Handlers are those under the wrapper; the default one is [DefaultHandler].
	Handlers map[string]Handler
}

// Annotations returns all annotations of the Lease that are the bridge's. [Parse] reads them back: times in UTC, keys in
// the same order.
func (r Readiness) Annotations() map[string]string {
	handlers := make(map[string]Handler, len(r.Handlers))
	for name, h := range r.Handlers {
		h.Since = h.Since.UTC()
		handlers[name] = h
	}
	// A map of texts and times within the years 0 to 9999 always encodes; others are written as no handlers, which
	// covers nothing.
	text, err := json.Marshal(handlers)
	if err != nil {
		text = []byte("{}")
	}
	return map[string]string{
		AnnotationVersion:  r.Version,
		AnnotationKeys:     strings.Join(r.Keys, ","),
		AnnotationHandlers: string(text),
	}
}

// Parse reads what [Readiness.Annotations] wrote; other annotations are not looked at, and one that is missing is
// empty. Unknown fields of a handler are ignored, unknown modes kept. Its error is a [*Fault].
func Parse(annotations map[string]string) (Readiness, error) {
	r := Readiness{Version: annotations[AnnotationVersion]}
	if keys := annotations[AnnotationKeys]; keys != "" {
		r.Keys = strings.Split(keys, ",")
	}
	if len(r.Keys) > MaxKeys {
		return Readiness{}, &Fault{AnnotationKeys, "more than 64 keys"}
	}
	if slices.Contains(r.Keys, "") {
		return Readiness{}, &Fault{AnnotationKeys, "empty key ID"}
	}
	text := annotations[AnnotationHandlers]
	if text == "" {
		return r, nil
	}
	if len(text) > MaxHandlersBytes {
		return Readiness{}, &Fault{AnnotationHandlers, "longer than 64 KiB"}
	}
	var handlers map[string]*Handler
	if err := json.Unmarshal([]byte(text), &handlers); err != nil {
		return Readiness{}, &Fault{AnnotationHandlers, "not a JSON object of handlers"}
	}
	r.Handlers = make(map[string]Handler, len(handlers))
	for name, h := range handlers {
		if h == nil || h.Since.IsZero() || h.Mode == "" {
			return Readiness{}, &Fault{AnnotationHandlers, "a handler without time or mode"}
		}
		h.Since = h.Since.UTC()
		r.Handlers[name] = *h
	}
	return r, nil
}
