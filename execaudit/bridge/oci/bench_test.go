package oci_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// processFile is one as containerd writes it, with so many variables.
func processFile(variables int) []byte {
	env := make([]string, variables)
	for i := range env {
		env[i] = fmt.Sprintf("SERVICE_VARIABLE_%04d=tcp://192.0.2.1:8443", i)
	}
	text, err := json.Marshal(map[string]any{
		"terminal": false, "user": map[string]int{"uid": 0, "gid": 0}, "args": []string{tok, "sh", "-c", "echo hello"}, "env": env, "cwd": "/",
		"capabilities": map[string]any{"bounding": []string{"CAP_CHOWN", "CAP_KILL"}},
	})
	if err != nil {
		panic(err)
	}
	return text
}

func BenchmarkRewrite(b *testing.B) {
	for _, variables := range []int{10, 1000} {
		b.Run(fmt.Sprint(variables), func(b *testing.B) {
			b.ReportAllocs()
			text := processFile(variables)
			for b.Loop() {
				p, err := oci.ParseProcess(text)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := p.Split(); err != nil {
					b.Fatal(err)
				}
				_ = p.Rewrite("0e984725-c51c-4bf4-9960-e1c80e27aba0")
			}
		})
	}
}

func BenchmarkHoldsToken(b *testing.B) {
	b.ReportAllocs()
	text := processFile(10)[200:]
	for b.Loop() {
		_ = oci.HoldsToken(text)
	}
}

func BenchmarkParseBundle(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := oci.ParseBundle([]byte(containerdBundle)); err != nil {
			b.Fatal(err)
		}
	}
}
