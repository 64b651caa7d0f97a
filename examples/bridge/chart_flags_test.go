package bridge_test

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/parts"
)

// TestChartFlags compares what the chart's containers are started with to what the program says that it takes.
func TestChartFlags(t *testing.T) {
	root, err := parts.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "lanyard-bridge")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, ".")
	build.Dir = filepath.Join(root, "execaudit", "bridge", "cmd", "lanyard-bridge")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	used := map[string]map[string]bool{} // flags by command
	for _, values := range renderings(t) {
		for _, object := range render(t, bridge.Release{Values: values}).Only("Deployment", "DaemonSet") {
			for _, container := range containersOf(t, object) {
				command := container.Args[0]
				if used[command] == nil {
					used[command] = map[string]bool{}
				}
				for _, arg := range container.Args[1:] {
					flag, _, _ := strings.Cut(arg, "=")
					used[command][flag] = true
				}
			}
		}
	}
	if commands := slices.Sorted(maps.Keys(used)); !slices.Equal(commands, []string{"install", "node", "uninstall", "webhook"}) {
		t.Errorf("the chart runs the commands %q", commands)
	}
	for command, flags := range used {
		t.Run("BRG-9 the program has every flag of the chart's: "+command, func(t *testing.T) {
			help, err := exec.Command(program, command, "--help").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, help)
			}
			known := strings.Fields(string(help))
			for _, flag := range slices.Sorted(maps.Keys(flags)) {
				if !slices.Contains(known, flag) {
					t.Errorf("lanyard-bridge %s has no flag %s", command, flag)
				}
			}
		})
	}
}

// containersOf returns all containers of a workload's pods.
func containersOf(t *testing.T, workload *unstructured.Unstructured) []corev1.Container {
	t.Helper()
	var out struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(workload.Object, &out); err != nil {
		t.Fatal(err)
	}
	return slices.Concat(out.Spec.Template.Spec.InitContainers, out.Spec.Template.Spec.Containers)
}
