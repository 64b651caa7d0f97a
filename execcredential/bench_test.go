package execcredential_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/internal/loginlab"
)

// BenchmarkParseAnswer is what a login costs beside the plugin's process.
func BenchmarkParseAnswer(b *testing.B) {
	certificate, key := loginlab.NewAuthority(b).Client(b, "u", time.Now(), time.Hour)
	for name, output := range map[string]string{
		"token":       loginlab.Answer(execcredential.V1, strings.Repeat("t", 1200), "", "", time.Now()),
		"certificate": loginlab.Answer(execcredential.V1, "", certificate, key, time.Now()),
	} {
		b.Run(name+"/lanyard", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := execcredential.ParseAnswer([]byte(output), execcredential.V1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
