//go:build linux

package node

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func TestClassOf(t *testing.T) {
	for want, reason := range map[string]error{
		"replayed":    spool.ErrReplayed,
		"expired":     &token.Fault{Err: token.ErrExpired, By: time.Second},
		"not_yet":     &token.Fault{Err: token.ErrNotYet, By: time.Second},
		"unknown_key": &token.Fault{Err: token.ErrUnknownKey, Key: token.KeyID{1}},
		"signature":   &token.Fault{Err: token.ErrSignature, Key: token.KeyID{1}},
		"version":     &token.Fault{Err: token.ErrVersion, Detail: "2, where only 1 is known"},
		"malformed":   &token.Fault{Err: token.ErrMalformed, Detail: "too short"},
		"field":       &token.Fault{Err: token.ErrField, Field: "node", Detail: "is empty"},
		"keys":        &token.Fault{Err: token.ErrKey, Detail: "the list has no key"},
		"elsewhere":   &oci.MismatchError{Thing: "pod UID", Token: "u1", Here: "u2"},
		"other":       &oci.CommandFault{Element: 1, Err: oci.ErrPlace},
	} {
		t.Run("BRG-4 the kind of a refusal that the wrapper tells: "+want, func(t *testing.T) {
			if got := classOf(reason.Error()); got != want {
				t.Errorf("classOf(%q) = %q, want %q", reason, got, want)
			}
		})
	}
}
