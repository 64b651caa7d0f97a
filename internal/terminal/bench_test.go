package terminal_test

import (
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

func BenchmarkEscape(b *testing.B) {
	for name, text := range map[string]string{
		"printable": strings.Repeat(`container "main": image "registry.example/é" `, 20),
		"hostile":   strings.Repeat("container \x1b[2J\u202e", 40),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				terminal.Escape(text)
			}
		})
	}
}

func BenchmarkEscapeJSON(b *testing.B) {
	data := []byte(`{"name":"` + strings.Repeat("registry.example/é ", 50) + `"}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		terminal.EscapeJSON(data)
	}
}
