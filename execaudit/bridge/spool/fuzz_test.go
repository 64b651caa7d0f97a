package spool_test

import (
	"reflect"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
)

func FuzzParseRecord(f *testing.F) {
	f.Add(record(1).Encode())
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"version":1,"version":1}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := spool.ParseRecord(text)
		if err != nil {
			return
		}
		again, err := spool.ParseRecord(r.Encode())
		if len(r.Argv) == 0 {
			r.Argv, again.Argv = nil, nil
		}
		if again.ArgvTruncated && !r.ArgvTruncated { // of a text that nobody wrote here
			again.ArgvTruncated, again.Argv = false, r.Argv
		}
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("%s: %+v, %v, want %+v", text, again, err, r)
		}
	})
}

func FuzzParseRefusal(f *testing.F) {
	f.Add(spool.Refusal{Where: record(1).Where, Reason: "why", Argv: []string{"x"}, Time: at}.Encode())
	f.Add([]byte("{\"version\":1}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := spool.ParseRefusal(text)
		if err != nil {
			return
		}
		again, err := spool.ParseRefusal(r.Encode())
		if err != nil || again.Session != r.Session || again.Where != r.Where || !again.Time.Equal(r.Time) || again.Verified != r.Verified {
			t.Errorf("%s: %+v, %v, want %+v", text, again, err, r)
		}
	})
}
