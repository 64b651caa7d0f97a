package streaming_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/criwire"
	"github.com/lanyard-dev/lanyard/execaudit/streaming"
)

// value is long enough not to be in sealed text by chance.
var value = rapid.StringMatching(`[A-Za-z0-9_-]{12,40}`)

func TestLaws(t *testing.T) {
	t.Run("EXA-36 Unpack gives what criwire.Environ gives, or Pack refuses what it refuses", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			containerID := string(rapid.SliceOfN(rapid.Byte(), 1, 80).Draw(t, "ID"))
			envs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) envprecedence.Entry {
				return envprecedence.NewEntry(rapid.String().Draw(t, "name"), string(rapid.SliceOf(rapid.Byte()).Draw(t, "value")))
			}), 0, 9).Draw(t, "envs")
			req := &runtimeapi.ExecRequest{ContainerId: containerID}
			if err := criwire.Write(req, envs); err != nil {
				t.Fatal(err)
			}
			want, refused := criwire.Environ(req)
			packed, err := streaming.Pack(req)
			if refused != nil || err != nil {
				if refused == nil || err == nil || err.Error() != refused.Error() {
					t.Fatalf("Pack = %v, Environ %v", err, refused)
				}
				return
			}
			gotID, got, err := streaming.Unpack(packed.GetContainerId())
			if err != nil || gotID != containerID || !slices.Equal(got, want) {
				t.Fatalf("Unpack = %q, %q, %v, want %q, %q", gotID, got, err, containerID, want)
			}
			if again, err := criwire.Environ(packed); again != nil || err != nil {
				t.Fatalf("the packed request has %q in its field, %v", again, err)
			}
		})
	})
	t.Run("EXA-37 what PackJSON packs is the same after JSON, and what it refuses is not", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			environ := []string{"NAME=" + rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).
				Filter(func(v string) bool { return !strings.Contains(v, "\x00") }).Draw(t, "value")}
			b, err := json.Marshal(environ)
			if err != nil {
				t.Fatal(err)
			}
			var after []string
			if err := json.Unmarshal(b, &after); err != nil {
				t.Fatal(err)
			}
			if _, err := streaming.PackJSON(request(t, id, environ...)); (err == nil) != slices.Equal(after, environ) {
				t.Fatalf("PackJSON = %v; JSON makes %q of %q", err, after, environ)
			}
		})
	})
	t.Run("EXA-36 no value is visible, and its form depends on lengths alone", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			environ := rapid.SliceOfN(rapid.Map(value, func(v string) string { return "NAME_OF_IT=" + v }), 1, 9).Draw(t, "environ")
			packed := mustPack(t, request(t, id, environ...)).String()
			for _, e := range environ {
				name, v, _ := strings.Cut(e, "=")
				if strings.Contains(packed, v) || strings.Contains(packed, name) {
					t.Fatalf("%q shows %q", packed, e)
				}
			}
		})
	})
}
