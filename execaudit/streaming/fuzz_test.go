package streaming_test

import (
	"errors"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// FuzzUnpack: nothing but what Pack made opens.
func FuzzUnpack(f *testing.F) {
	genuine := mustPack(f, request(f, id, "A=1", "B=")).GetContainerId()
	for _, seed := range []string{"", id, genuine, genuine + "=", genuine[:len(genuine)-1], "+exec-env.", "c+exec-env.AAAA", "c+exec-env.\n" + genuine} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, packed string) {
		containerID, environ, err := streaming.Unpack(packed)
		switch {
		case packed == genuine:
			if containerID != id || len(environ) != 2 || err != nil {
				t.Fatalf("Unpack = %q, %q, %v", containerID, environ, err)
			}
		case containerID != "" || environ != nil || !errors.Is(err, streaming.ErrNotPacked) && !errors.Is(err, streaming.ErrForged):
			t.Fatalf("Unpack(%q) = %q, %q, %v", packed, containerID, environ, err)
		}
	})
}
