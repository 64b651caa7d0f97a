package agent_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
)

const podUID = "11111111-2222-3333-4444-555555555555"

var underscored = strings.ReplaceAll(podUID, "-", "_")

// forms are the paths of a container's cgroup, by who made it.
var forms = map[string]string{
	"containerd, cgroupfs":              "/kubepods/burstable/pod" + podUID + "/ID",
	"containerd, cgroupfs, guaranteed":  "/kubepods/pod" + podUID + "/ID",
	"containerd, systemd":               "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + underscored + ".slice/cri-containerd-ID.scope",
	"containerd, systemd, guaranteed":   "/kubepods.slice/kubepods-pod" + underscored + ".slice/cri-containerd-ID.scope",
	"containerd's path not for systemd": "/system.slice/containerd.service/kubepods-besteffort-pod" + underscored + ".slice:cri-containerd:ID",
	"CRI-O, systemd":                    "/kubepods.slice/kubepods-pod" + underscored + ".slice/crio-ID.scope",
	"CRI-O, cgroupfs":                   "/kubepods/besteffort/pod" + podUID + "/crio-ID",
	"a root of the kubelet's":           "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + underscored + ".slice/cri-containerd-ID.scope",
	"seen from another namespace":       "/../../../burstable/pod" + podUID + "/ID",
	"the reference runtime":             "/kubepods/pod" + podUID + "/lanyard-ID",
}

func TestParseCgroup(t *testing.T) {
	for name, form := range forms {
		t.Run("AGT-3 "+name, func(t *testing.T) {
			want := agent.Container{Known: true, ID: inA, PodUID: podUID}
			if got := agent.ParseCgroup(strings.ReplaceAll(form, "ID", inA)); got != want {
				t.Errorf("ParseCgroup = %+v, want %+v", got, want)
			}
		})
	}
	for name, c := range map[string]struct {
		path string
		want agent.Container
	}{
		"the host":       {"/system.slice/sshd.service", agent.Container{Known: true}},
		"the root":       {"/", agent.Container{Known: true}},
		"unknown":        {"", agent.Container{}},
		"not a path":     {"kubepods/" + inA, agent.Container{}},
		"CRI-O's conmon": {"/kubepods.slice/crio-conmon-" + inA + ".scope", agent.Container{Known: true}},
		"a pod's own":    {"/kubepods/pod" + podUID, agent.Container{Known: true, PodUID: podUID}},
		"a pod of a file": {"/kubepods/pod0123456789abcdef0123456789abcdef/" + inA, agent.Container{
			Known: true,
			ID:    inA, PodUID: "0123456789abcdef0123456789abcdef",
		}},
		"an ID that is longer":  {"/kubepods/" + inA + "a", agent.Container{Known: true}},
		"an ID that is shorter": {"/kubepods/" + inA[1:], agent.Container{Known: true}},
		"an ID in capitals":     {"/kubepods/" + strings.ToUpper(inA), agent.Container{Known: true}},
		"an ID within a word":   {"/kubepods/x" + inA, agent.Container{Known: true}},
	} {
		t.Run("AGT-3 "+name, func(t *testing.T) {
			if got := agent.ParseCgroup(c.path); got != c.want {
				t.Errorf("ParseCgroup(%q) = %+v, want %+v", c.path, got, c.want)
			}
		})
	}
}

func TestParseCgroupLaws(t *testing.T) {
	t.Run("AGT-3 what a container makes below its cgroup changes nothing", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var names []string
			for name := range forms {
				names = append(names, name)
			}
			form := forms[rapid.SampledFrom(names).Draw(t, "form")]
			id := rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "id")
			path := strings.ReplaceAll(form, "ID", id)
			below := rapid.SliceOf(rapid.OneOf(
				rapid.StringMatching(`[a-z0-9.:-]{0,8}`), rapid.StringMatching(`(crio-|cri-containerd-)?[0-9a-f]{64}(\.scope)?`),
				rapid.Just("pod"+podUID), rapid.Just("crio-conmon-"+inB+".scope"),
			)).Draw(t, "below")
			if got := agent.ParseCgroup(strings.Join(append([]string{path}, below...), "/")); got.ID != id ||
				got.PodUID != podUID {
				t.Fatalf("ParseCgroup(%q below %q) = %+v", below, path, got)
			}
		})
	})
}

func FuzzParseCgroup(f *testing.F) {
	for _, form := range forms {
		f.Add(strings.ReplaceAll(form, "ID", inA))
	}
	f.Fuzz(func(t *testing.T, path string) {
		c := agent.ParseCgroup(path)
		if c.ID != "" && (len(c.ID) != 64 || !strings.Contains(path, c.ID)) || c.Known != strings.HasPrefix(path, "/") {
			t.Errorf("ParseCgroup(%q) = %+v", path, c)
		}
		if uid := strings.ReplaceAll(c.PodUID, "-", "_"); !strings.Contains(strings.ReplaceAll(path, "-", "_"), uid) {
			t.Errorf("ParseCgroup(%q) = %+v", path, c)
		}
	})
}
