package podlist_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/podlist"
)

func TestManifest(t *testing.T) {
	t.Run("GRP-18 YAML and JSON are the same pod", func(t *testing.T) {
		for _, text := range []string{"kind: Pod\nspec: {securityContext: {fsGroup: 7}}\n", `{"kind":"Pod","spec":{"securityContext":{"fsGroup":7}}}`} {
			items, err := podlist.Manifest(strings.NewReader(text))
			if err != nil || len(items) != 1 || items[0].Err != nil || *items[0].Pod.Spec.SecurityContext.FSGroup != 7 {
				t.Errorf("Manifest(%q) = %v, %v", text, items, err)
			}
		}
	})
	t.Run("GRP-18 another kind and an endless manifest are refused", func(t *testing.T) {
		items, err := podlist.Manifest(strings.NewReader("kind: Deployment"))
		if err != nil || len(items) != 1 || !errors.Is(items[0].Err, podlist.ErrNotPod) {
			t.Errorf("Manifest(Deployment) = %v, %v, want ErrNotPod", items, err)
		}
		if _, err := podlist.Manifest(strings.NewReader(strings.Repeat("#", podlist.MaxManifestBytes+1))); !errors.Is(err, podlist.ErrTooLarge) {
			t.Errorf("Manifest(endless) = %v, want ErrTooLarge", err)
		}
		for _, text := range []string{strings.Repeat("---\n", podlist.MaxItems+1), strings.Repeat("{}", podlist.MaxItems+1)} {
			if _, err := podlist.Manifest(strings.NewReader(text)); !errors.Is(err, podlist.ErrTooLarge) {
				t.Errorf("Manifest(%.8q…) = %v, want ErrTooLarge", text, err)
			}
		}
		text := `{"items":[{}` + strings.Repeat(",{}", podlist.MaxItems) + "]}"
		if items, err := podlist.Manifest(strings.NewReader(text)); err != nil || len(items) != 1 || !errors.Is(items[0].Err, podlist.ErrTooLarge) {
			t.Errorf("Manifest(a long list) = %d items, %v, want ErrTooLarge", len(items), err)
		}
		if _, err := podlist.Manifest(strings.NewReader("# nothing")); !errors.Is(err, podlist.ErrNoPods) {
			t.Errorf("Manifest(comment) = %v, want ErrNoPods", err)
		}
	})
	t.Run("GRP-18 anchors, merged keys and scalars that look like markers stay in their document", func(t *testing.T) {
		text := "kind: Pod\nmetadata:\n  name: a\n  annotations:\n    text: |\n      ---\n      ...\n" +
			"spec:\n  containers:\n  - &first {name: a, image: one}\n  - {<<: *first, name: b}\n"
		items, err := podlist.Manifest(strings.NewReader(text))
		if err != nil || len(items) != 1 || items[0].Err != nil || len(items[0].Pod.Spec.Containers) != 2 {
			t.Fatalf("Manifest(…) = %+v, %v, want one pod", items, err)
		}
		if c := items[0].Pod.Spec.Containers[1]; c.Name != "b" || c.Image != "one" {
			t.Errorf("second container = %+v", c)
		}
	})
	t.Run("GRP-18 the parser's further line breaks hide no document", func(t *testing.T) {
		for _, text := range []string{
			"kind: Pod\r---\rkind: Pod\r", "kind: Pod\u0085---\u0085kind: Pod\u0085", "kind: Pod\u2028---\u2028kind: Pod",
			"\xff\xfek\x00:\x00 \x001\x00\n\x00-\x00-\x00-\x00\n\x00k\x00:\x00 \x002\x00\n\x00",
		} {
			items, err := podlist.Manifest(strings.NewReader(text))
			if err != nil || len(items) != 1 || !errors.Is(items[0].Err, podlist.ErrSeveral) {
				t.Errorf("Manifest(%q) = %+v, %v, want ErrSeveral", text, items, err)
			}
		}
	})
}

func TestAll(t *testing.T) {
	const text = `{"items":[{"kind":"Pod"},{"kind":"Pod"},{"kind":"Node"},{"kind":"Pod"}]}`
	t.Run("GRP-18 pods come one at a time, and the error last", func(t *testing.T) {
		var pods int
		var errs []error
		for pod, err := range podlist.All(strings.NewReader(text)) {
			if (pod == nil) == (err == nil) {
				t.Errorf("All yielded %v, %v", pod, err)
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
			pods++
		}
		if pods != 2 || len(errs) != 1 || !errors.Is(errs[0], podlist.ErrNotPod) || !strings.Contains(errs[0].Error(), "items[2]") {
			t.Errorf("All yielded %d pods and %v, want 2 and ErrNotPod of items[2]", pods, errs)
		}
	})
	t.Run("GRP-18 a caller that has enough stops it", func(t *testing.T) {
		pods := 0
		for range podlist.All(strings.NewReader(text)) {
			pods++
			break
		}
		if pods != 1 {
			t.Errorf("All yielded %d, want 1", pods)
		}
	})
}

// FuzzManifest: however a manifest looks, a pod behind a marker is found or something is refused.
func FuzzManifest(f *testing.F) {
	for _, s := range []string{"", "kind: Pod\n", `{"kind":"Pod"}`, "a: [", "--- |\n", "%YAML 1.1\n", "\ufeffkind: Pod", "...", "items: []", "# c"} {
		f.Add(s)
	}
	const last = "kind: Pod\nmetadata: {name: the-last}\n"
	f.Fuzz(func(t *testing.T, before string) {
		items, err := podlist.Manifest(strings.NewReader(before + "\n---\n" + last))
		if err != nil {
			if !errors.Is(err, podlist.ErrTooLarge) {
				t.Fatalf("Manifest(%q + pod) = %v", before, err)
			}
			return
		}
		for _, item := range items {
			if (item.Pod == nil) == (item.Err == nil) || item.Place == "" {
				t.Fatalf("item %+v", item)
			}
		}
		if at := items[len(items)-1]; at.Err == nil && at.Pod.Name != "the-last" {
			t.Fatalf("Manifest(%q + pod) ends with %q", before, at.Pod.Name)
		}
	})
}

func FuzzAll(f *testing.F) {
	for _, s := range []string{`{"items":[{"metadata":{"name":"a"}}]}`, `{"kind":"List","metadata":{},"items":[]}`, `{"items":{}}`, `[]`, `{"items":[{}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		var err error
		for pod, fault := range podlist.All(strings.NewReader(text)) {
			if err = fault; err != nil {
				continue // and it is the last pair
			}
			if n++; pod.Kind != "" && pod.Kind != "Pod" {
				t.Fatalf("yielded a %q", pod.Kind)
			}
		}
		if err == nil && !strings.Contains(text, "items") && !strings.Contains(text, `\u`) {
			t.Fatalf("All(%q) found a list of %d", text, n)
		}
	})
}
