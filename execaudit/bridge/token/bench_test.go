package token_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func BenchmarkSign(b *testing.B) {
	key, value := token.NewKey(), sample()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := key.Sign(value); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	key := token.NewKey()
	keys, text := token.Keys{token.NewKey().Public(), key.Public()}, sign(b, key, sample())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := keys.Verify(text, at, time.Second); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(text)), "token-bytes")
}

func BenchmarkParse(b *testing.B) {
	text := sign(b, token.NewKey(), sample())
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := token.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	var rest []string
	for i := range 200 {
		rest = append(rest, fmt.Sprintf("--element-of-a-long-command=%d", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		token.Digest(rest, true)
	}
}

func BenchmarkRequester(b *testing.B) {
	key := token.NewKey()
	user := token.User{
		Name: "alice@example.com", UID: "1234", Groups: []string{"dev", "ops", "system:authenticated"},
		Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {"X509SHA256=0123456789"}},
	}
	b.ReportAllocs()
	for b.Loop() {
		key.Requester(bridge.SessionID{1}, user)
	}
}
