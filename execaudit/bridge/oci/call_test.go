package oci_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

func TestParseCall(t *testing.T) {
	containerd := oci.Call{
		Command: "exec", ID: "c1", Root: "/run/containerd/runc/k8s.io", Log: "/b/log.json", LogFormat: "json",
		Process: "/tmp/runc-process1", PIDFile: "/b/e1.pid",
	}
	for name, c := range map[string]struct {
		args string
		want oci.Call
	}{
		"BRG-1 containerd's exec": {
			"--root /run/containerd/runc/k8s.io --log /b/log.json --log-format json exec --process /tmp/runc-process1 --detach --pid-file /b/e1.pid c1",
			containerd,
		},
		"BRG-1 with equals signs and a systemd cgroup": {
			"--root=/run/containerd/runc/k8s.io --log=/b/log.json --log-format=json --systemd-cgroup exec --process=/tmp/runc-process1 --detach --pid-file=/b/e1.pid c1",
			containerd,
		},
		"BRG-1 with a terminal and crun's short forms": {
			"--root /run/containerd/runc/k8s.io --debug --log /b/log.json --log-format json exec -d --tty --console-socket /x.sock -p /tmp/runc-process1 --pid-file /b/e1.pid c1",
			containerd,
		},
		"BRG-1 CRI-O's exec": {"--root /run/runc exec --process /f c1", oci.Call{Command: "exec", ID: "c1", Root: "/run/runc", Process: "/f"}},
		"BRG-1 crun's cluster of letters": {
			"exec -tdp/f c1", oci.Call{Command: "exec", ID: "c1", Process: "/f"},
		},
		"BRG-1 a word behind one dash":                     {"-root /r exec -process /f c1", oci.Call{Command: "exec", ID: "c1", Root: "/r", Process: "/f"}},
		"BRG-1 a letter with an equals sign":               {"exec -p=/f c1", oci.Call{Command: "exec", ID: "c1", Process: "/f"}},
		"BRG-1 the last of several wins":                   {"--root /a --root /b exec -p /f --process /g c1", oci.Call{Command: "exec", ID: "c1", Root: "/b", Process: "/g"}},
		"BRG-1 two dashes end the options":                 {"exec -- --process x", oci.Call{Command: "exec", ID: "--process", Rest: []string{"x"}}},
		"BRG-5 options behind the ID are not":              {"exec -e A=1 c1 sh --process /f", oci.Call{Command: "exec", ID: "c1", Rest: []string{"sh", "--process", "/f"}}},
		"BRG-5 a create":                                   {"--root /r create --bundle /b --pid-file /p c1", oci.Call{Command: "create", ID: "c1", Root: "/r", Bundle: "/b", PIDFile: "/p"}},
		"BRG-4 an exec behind an option that is not known": {"--root /r --later value exec -p /f c1", oci.Call{Command: "exec", ID: "c1", Root: "/r", Process: "/f"}},
		"BRG-5 a command that is not known":                {"later c1", oci.Call{Command: "later", ID: "c1"}},
		"BRG-5 a container of that name":                   {"state exec", oci.Call{Command: "state", ID: "exec"}},
		"BRG-5 a question for the version":                 {"--version", oci.Call{}},
		"BRG-5 nothing":                                    {"", oci.Call{}},
		"BRG-5 an option that lacks its value":             {"exec --process", oci.Call{Command: "exec"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := oci.ParseCall(strings.Fields(c.args))
			if len(got.Rest) == 0 {
				got.Rest = nil
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("ParseCall(%s) =\n%+v, want\n%+v", c.args, got, c.want)
			}
		})
	}
}
