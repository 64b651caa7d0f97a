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
		const own = "github.com/lanyard-dev/lanyard/execcredential"
		var beyond []string
		for _, path := range strings.Fields(string(out)) {
			if path != own && !strings.HasPrefix(path, own+"/") {
				beyond = append(beyond, path)
			}
			if strings.Contains(path, "apimachinery") || strings.Contains(path, "client-go") {
				t.Errorf("package %s is needed", path)
			}
		}
		if len(beyond) > 8 {
			t.Errorf("packages = %q, want at most 8 beyond the module's own", beyond)
		}
	})
}
