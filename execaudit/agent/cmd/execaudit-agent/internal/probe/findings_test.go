package probe

import (
	"errors"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	ok, no, optional := Finding{Name: "a", OK: true, Needed: true}, Finding{Name: "b", Needed: true, Says: "\x1b[2Jwhy"}, Finding{Name: "c"}
	for _, row := range []struct {
		name                  string
		node, ebpf, connector Finding
		mode                  string
		code                  int
	}{
		{"AGT-4 everything", ok, ok, ok, "ebpf", 0},
		{"AGT-4 what is only missed keeps nothing back", optional, optional, no, "ebpf", 0},
		{"AGT-4 no eBPF", ok, no, ok, "connector", ExitConnector},
		{"AGT-4 neither", ok, no, no, "none", ExitNone},
		{"AGT-4 another PID namespace", no, ok, ok, "none", ExitNone},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := Report{Node: []Finding{row.node}, EBPF: []Finding{row.ebpf}, Connector: []Finding{row.connector}}
			r.judge()
			code := 0
			if own := exit(0); errors.As(r.result(), &own) {
				code = own.ExitCode()
			}
			if r.Mode != row.mode || code != row.code {
				t.Errorf("mode %s, code %d; want %s and %d", r.Mode, code, row.mode, row.code)
			}
			var out strings.Builder
			if err := r.write(&out); err != nil || strings.Contains(out.String(), "\x1b") || !strings.HasSuffix(out.String(), "sees by: "+row.mode+"\n") {
				t.Errorf("%v: %q", err, out.String())
			}
		})
	}
}
