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

// TestChartFlags compares what the chart's containers are started with to what the programs say that they take.
func TestChartFlags(t *testing.T) {
	root, err := parts.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	used := map[string]map[string]bool{} // flags by program and command
	for _, values := range renderings(t) {
		for _, object := range render(t, bridge.Release{Values: values}).Only("Deployment", "DaemonSet") {
			for _, container := range containersOf(t, object) {
				program := "lanyard-bridge" // the image's entry point
				if len(container.Command) > 0 {
					program = strings.TrimPrefix(container.Command[0], "/")
				}
				command := program + " " + container.Args[0]
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
	want := []string{"execaudit-agent run", "lanyard-bridge install", "lanyard-bridge node", "lanyard-bridge uninstall", "lanyard-bridge webhook"}
	if commands := slices.Sorted(maps.Keys(used)); !slices.Equal(commands, want) {
		t.Errorf("the chart runs the commands %q, want %q", commands, want)
	}
	for name, of := range map[string]string{"lanyard-bridge": "bridge", "execaudit-agent": "agent"} {
		build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, name), ".")
		build.Dir = filepath.Join(root, "execaudit", of, "cmd", name)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for command, flags := range used {
		t.Run("BRG-9 the program has every flag of the chart's: "+command, func(t *testing.T) {
			program, command, _ := strings.Cut(command, " ")
			help, err := exec.Command(filepath.Join(dir, program), command, "--help").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, help)
			}
			known := strings.Fields(string(help))
			for _, flag := range slices.Sorted(maps.Keys(flags)) {
				if !slices.Contains(known, flag) {
					t.Errorf("%s %s has no flag %s", program, command, flag)
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
