//go:build unix

package main

import (
	"strings"
	"testing"
)

func TestExplainImpersonation(t *testing.T) {
	t.Run("ECR-29 ECR-30 explain says whom the requests act as", func(t *testing.T) {
		as := "as: \"readonly\\e[31m\"\n    as-uid: '7'\n    as-groups: [one, two]\n    as-user-extra: {k: [v]}"
		out, err := execute(t, "explain", "--kubeconfig", kubeconfigFor(t, plugin(t, ""), as))
		if want := `acts as    user "readonly\x1b[31m", uid "7", groups ["one" "two"], 1 extra attributes`; err != nil || !strings.Contains(out, want+"\n") {
			t.Errorf("explain = %v, output has no %q:\n%s", err, want, out)
		}
	})
}
