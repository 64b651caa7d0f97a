//go:build linux

package main_test

import (
	"debug/elf"
	"os/exec"
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	t.Run("BRG-1 the standard library and our own, and no Kubernetes", func(t *testing.T) {
		out, err := exec.Command("go", "list", "-deps", ".").Output()
		must(t, err)
		for name := range strings.FieldsSeq(string(out)) {
			if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ".") && !strings.HasPrefix(name, "github.com/lanyard-dev/lanyard/execaudit/bridge") {
				t.Errorf("imports %s", name)
			}
		}
	})
	t.Run("BRG-1 a static program, which needs nothing of the node", func(t *testing.T) {
		program, err := elf.Open(built.wrapper)
		must(t, err)
		defer program.Close()
		for _, part := range program.Progs {
			if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
				t.Errorf("has a part of type %v", part.Type)
			}
		}
	})
	t.Run("BRG-5 what is initialised before calls without token go on is only this", func(t *testing.T) {
		out, err := exec.Command("go", "list", "-deps", "./internal/early").Output()
		must(t, err)
		for name := range strings.FieldsSeq(string(out)) {
			switch first, _, _ := strings.Cut(name, "/"); {
			case first == "internal", first == "unsafe", strings.HasPrefix(name, "github.com/lanyard-dev/lanyard/execaudit/bridge/"):
			case strings.Contains(" runtime math sync errors iter unicode strconv cmp slices syscall io ", " "+first+" ") && name != "unicode":
			default:
				t.Errorf("package early imports %s", name)
			}
		}
	})
}
