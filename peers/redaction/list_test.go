package redaction

import (
	"os"
	"os/exec"
	"testing"
)

// TestTypeList holds exported_test.go to what the modules export today.
func TestTypeList(t *testing.T) {
	want, err := exec.Command("go", "run", "./typelist").Output()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("exported_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("exported_test.go is stale, run go generate: it must list every exported type of the published modules")
	}
}
