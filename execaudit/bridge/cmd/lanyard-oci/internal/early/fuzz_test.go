//go:build linux

package early

import (
	"errors"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

// FuzzParse: what is taken here is what package oci takes, but for a skew, which concerns sessions alone.
func FuzzParse(f *testing.F) {
	f.Add(oci.Config{Runtime: "/r", Node: "n", Keys: "/k", Spool: "/s", UnmarkedNamespaces: []string{"x"}}.Encode())
	f.Add([]byte(`{"version":1,"runtime":"/r","passThrough":true}`))
	f.Add([]byte(`{"version":1,"runtime":"/r","passThrough":true,"mark":7,"handler":null}`))
	f.Add([]byte(`[{"version":1}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := parse(text)
		if got.path == "" {
			return
		}
		want, err := oci.ParseConfig(text)
		if fault := (*oci.ConfigFault)(nil); errors.As(err, &fault) && fault.Field == "skew" {
			return
		}
		if err != nil || want.Runtime != got.path || want.PassThrough != got.passThrough {
			t.Errorf("parse(%s) = %+v, want %+v, %v", text, got, want, err)
		}
	})
}

// FuzzArguments: what the kernel joined comes apart.
func FuzzArguments(f *testing.F) {
	f.Add("runc\x00\x00--root\x00/r")
	f.Fuzz(func(t *testing.T, joined string) {
		if got := strings.Join(arguments([]byte(joined+"\x00")), "\x00"); got != joined {
			t.Errorf("arguments of %q are %q", joined, got)
		}
	})
}
