package bridge_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/bridge"
)

// TestStory tells the story of `make bridge` to its end.
func TestStory(t *testing.T) {
	bridge.Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), startPatience)
	defer cancel()
	dir := shortDir(t)
	var out bytes.Buffer
	t.Run("BRG-1 BRG-3 BRG-4 BRG-12 AGT-1 AGT-3 the story holds, and says whose each process is", func(t *testing.T) {
		if err := bridge.Tell(ctx, dir, &out); err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		for _, want := range []string{
			" alice (marked", " bob (marked", "nobody's (forged mark: claims alice's)", "All of it held",
			"the node's agent tells it as forged too", "is corroborated as hers",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the story does not say %q:\n%s", want, &out)
			}
		}
	})
	t.Run("BRG-9 it leaves no mount and no process", func(t *testing.T) {
		mounts, err := os.ReadFile("/proc/self/mounts")
		if err != nil || strings.Contains(string(mounts), dir) {
			t.Errorf("mounts below %s are left: %v", dir, err)
		}
		found, err := bridge.Processes(func(p bridge.Process) bool { return strings.Contains(strings.Join(p.Args, " "), dir) })
		if err != nil || len(found) > 0 {
			t.Errorf("processes are left: %+v, %v", found, err)
		}
	})
}

// TestSecretPath has a webhook that knows its caller by the path, as where nobody can configure the API server.
func TestSecretPath(t *testing.T) {
	bridge.Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), startPatience)
	defer cancel()
	r, err := bridge.Start(ctx, bridge.Options{Path: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	pod := run(t, r, named("app"))
	t.Run("BRG-12 sessions are marked where the API server has a secret path", func(t *testing.T) {
		marked(t, reported(t, person(t, r, "alice"), pod))
	})
	t.Run("BRG-12 a caller without the secret path has no token made", func(t *testing.T) {
		before, secret, _ := strings.Cut(strings.TrimPrefix(r.WebhookURL(), "https://"), "/")
		for _, path := range []string{"/mutate", "/" + strings.Repeat("a", len(secret)) + "/mutate"} {
			if status, err := knock(t, r, "https://"+before+path, nil); err == nil && status/100 == 2 {
				t.Errorf("POST %s: %d", path, status)
			}
		}
	})
	t.Run("BRG-8 what the bridge costs is measured through the same kubelet, the disk's sync and each part apart", func(t *testing.T) {
		var out strings.Builder
		if err := r.Measure(t.Context(), 1, 4, &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"exec by the API server, as it is", "synced to this disk", "nothing synced to the disk", "budget 3ms", "a token, against no wrapper",
			"without a token, against no wrapper", "webhook, a round trip",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, &out)
			}
		}
	})
}
