package e2e_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/registryauth"
)

// marks are how the tokens of the API server and the passwords of the registry begin.
var marks = [][]byte{[]byte("eyJhbGciOi"), []byte(registryauth.PasswordPrefix)}

func holdsSecret(text []byte) bool {
	return slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(text, mark) })
}

// noSecrets searches everything that the cluster wrote and shows.
func (p *pulls) noSecrets(t *testing.T) {
	t.Helper()
	var found []string
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // what is gone by now holds nothing
		}
		if text, err := os.ReadFile(path); err == nil && holdsSecret(text) {
			found = append(found, filepath.Base(path))
		}
		return nil
	})
	// The node's own login is found where it belongs: the search works.
	if err != nil || !slices.Equal(found, []string{"node-login"}) {
		t.Errorf("files with secrets: %q, %v, want the node's login alone", found, err)
	}
	events, err := p.Admin().CoreV1().Events(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events.Items {
		if holdsSecret([]byte(e.Message)) {
			t.Errorf("event %s on %s holds a secret", e.Reason, e.InvolvedObject.Name)
		}
	}
	for _, node := range []string{ours, containerd} {
		for _, page := range []string{"metrics", "configz", "pods"} {
			got := kubectl(t, p.AdminFile(), "get", "--raw", "/api/v1/nodes/"+node+"/proxy/"+page)
			if got.code != 0 || got.out == "" || holdsSecret([]byte(got.out)) {
				t.Errorf("/%s of %s: exit %d, %d bytes, or a secret in it", page, node, got.code, len(got.out))
			}
		}
	}
}
