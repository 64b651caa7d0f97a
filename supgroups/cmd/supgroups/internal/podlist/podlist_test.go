package podlist_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/podlist"
)

func TestOne(t *testing.T) {
	t.Run("GRP-18 YAML and JSON are the same pod", func(t *testing.T) {
		for _, text := range []string{"kind: Pod\nspec: {securityContext: {fsGroup: 7}}\n", `{"kind":"Pod","spec":{"securityContext":{"fsGroup":7}}}`} {
			pod, err := podlist.One(strings.NewReader(text))
			if err != nil || *pod.Spec.SecurityContext.FSGroup != 7 {
				t.Errorf("One(%q) = %v, %v", text, pod, err)
			}
		}
	})
	t.Run("GRP-18 another kind and an endless manifest are refused", func(t *testing.T) {
		if _, err := podlist.One(strings.NewReader("kind: Deployment")); !errors.Is(err, podlist.ErrNotPod) {
			t.Errorf("One(Deployment) = %v, want ErrNotPod", err)
		}
		if _, err := podlist.One(strings.NewReader(strings.Repeat("#", podlist.MaxManifestBytes+1))); !errors.Is(err, podlist.ErrTooLarge) {
			t.Errorf("One(endless) = %v, want ErrTooLarge", err)
		}
	})
}

func FuzzEach(f *testing.F) {
	for _, s := range []string{`{"items":[{"metadata":{"name":"a"}}]}`, `{"kind":"List","metadata":{},"items":[]}`, `{"items":{}}`, `[]`, `{"items":[{}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		err := podlist.Each(strings.NewReader(text), func(pod *corev1.Pod) error {
			if n++; pod.Kind != "" && pod.Kind != "Pod" {
				t.Fatalf("yielded a %q", pod.Kind)
			}
			return nil
		})
		if err == nil && !strings.Contains(text, "items") && !strings.Contains(text, `\u`) {
			t.Fatalf("Each(%q) found a list of %d", text, n)
		}
	})
}
