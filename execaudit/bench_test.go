package execaudit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit"
)

func BenchmarkValidate(b *testing.B) {
	for _, n := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			envs := numbered(n, strings.Repeat("v", 40))
			b.ReportAllocs()
			for b.Loop() {
				if err := execaudit.Validate(envs, execaudit.ReservedList); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecodeQuery(b *testing.B) {
	hostile := map[string]string{
		"256 entries": encoded(b, numbered(256, "some value, escaped")),
		"10,000":      strings.Repeat("env=A=1&", 10_000),
		"1 MiB":       "env=A=" + strings.Repeat("%41", 1<<20/3),
	}
	for name, query := range hostile {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(query)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = execaudit.DecodeQuery(query, execaudit.Limits{})
			}
		})
	}
}

func BenchmarkReservedInQuery(b *testing.B) {
	queries := map[string]string{
		"256 entries":   encoded(b, numbered(256, "some value, escaped")),
		"256 of 16 KiB": strings.Repeat("env=A=%41"+strings.Repeat("x", 16<<10)+"&", 256),
		"64 MiB":        strings.Repeat("env=A=%41"+strings.Repeat("x", 256<<10)+"&", 256),
	}
	for name, query := range queries {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(query)))
			b.ReportAllocs()
			for b.Loop() {
				_ = execaudit.ReservedInQuery(query, execaudit.ReservedPrefix)
			}
		})
	}
}

func BenchmarkEncodeQuery(b *testing.B) {
	envs := numbered(256, "some value, escaped")
	b.ReportAllocs()
	for b.Loop() {
		_ = encoded(b, envs)
	}
}

func encoded(b *testing.B, envs []env) string {
	b.Helper()
	query, err := execaudit.EncodeQuery(envs)
	if err != nil {
		b.Fatal(err)
	}
	return query
}
