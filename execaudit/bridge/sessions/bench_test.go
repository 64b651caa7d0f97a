package sessions_test

import (
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/sessions"
)

func BenchmarkEncode(b *testing.B) {
	r := record()
	b.ReportAllocs()
	for b.Loop() {
		encode(b, r)
	}
}

func BenchmarkDecode(b *testing.B) {
	line := []byte(recordLine)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sessions.Decode(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeAudits(b *testing.B) {
	for name, text := range map[string]string{"with the annotation": event("a-1"), "without": `{"auditID":"a","user":{"username":"alice"},"requestURI":"/api/v1/namespaces/shop/pods"}`} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := sessions.DecodeAudits([]byte(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkJudge joins a thousand sessions that have a record, an audit event and a use each.
func BenchmarkJudge(b *testing.B) {
	var e sessions.Evidence
	for i := range 1000 {
		id := bridge.SessionID{1, byte(i), byte(i >> 8)}
		r, a, u := record(), audit(), use(b)
		r.Session, a.Session, u.Session = id, id, id
		e.Records, e.Audits, e.Uses = append(e.Records, r), append(e.Audits, a), append(e.Uses, u)
	}
	for b.Loop() {
		if got := sessions.Judge(e, at.Add(time.Hour)); got[0].Verdict != sessions.VerdictCorroborated {
			b.Fatal(got[0])
		}
	}
}
