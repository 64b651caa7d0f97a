package transport_test

import (
	"os/exec"
	"strings"
	"testing"
)

func TestPackageBudget(t *testing.T) {
	t.Run("ECR-23 MOD-2 a client of plain HTTP needs at most 8 packages beyond the standard library, none of them Kubernetes' machinery", func(t *testing.T) {
		list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".", "../kubeconfig", "../pluginsdk")
		out, err := list.Output()
		if err != nil {
			t.Skipf("go list does not run here: %v", err)
		}
		const own = "github.com/lanyard-dev/lanyard/"
		var others, all []string
		for _, path := range strings.Fields(string(out)) {
			all = append(all, path)
			if !strings.HasPrefix(path, own) {
				others = append(others, path)
			}
			if strings.Contains(path, "apimachinery") || strings.Contains(path, "client-go") {
				t.Errorf("package %s is needed", path)
			}
		}
		if len(others) > 4 || len(all)-1 > 8 { // all counts pluginsdk, which no client needs
			t.Errorf("packages = %q, want at most 8 with our own", all)
		}
	})
}
