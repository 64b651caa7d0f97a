package pods

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet/fields"
)

// byFields is the admission of the table alone.
type byFields struct{}

func (byFields) Admit(pod *corev1.Pod) Admission {
	refused := fields.Check(pod)
	return Admission{Rejected: len(refused) > 0, Reason: fields.Reason, Message: fields.Message(refused)}
}

// runningFrom is what the runtime has of a pod whose containers run as they were made.
func runningFrom(t *testing.T, p *corev1.Pod) found {
	t.Helper()
	f := found{sandboxes: []*runtimeapi.PodSandbox{{Id: "sandbox"}}}
	m := &Manager{Options: Options{Root: t.TempDir()}}
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		config, err := m.containerConfig(t.Context(), p, c, 0, c.Image, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.containers = append(f.containers, &runtimeapi.Container{
			Image: config.GetImage(), Labels: config.GetLabels(), Annotations: config.GetAnnotations(),
			State: runtimeapi.ContainerState_CONTAINER_RUNNING,
		})
	}
	return f
}

func TestChangesOfARunningPod(t *testing.T) {
	plain := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "a", Image: "a:v1"},
		{Name: "b", Image: "b:v1", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}}},
	}}}
	f := runningFrom(t, plain)
	for _, c := range []struct {
		name     string
		change   func(*corev1.PodSpec)
		want     string // the event names it; "" for no event
		rejected bool   // were a container to be made anew
	}{
		{"nothing", func(*corev1.PodSpec) {}, "", false},
		{"a quantity in other words", func(s *corev1.PodSpec) { s.Containers[1].Resources.Limits["memory"] = resource.MustParse("65536Ki") }, "", false},
		{"a toleration", func(s *corev1.PodSpec) { s.Tolerations = []corev1.Toleration{{Key: "x"}} }, "", false},
		{"an image", func(s *corev1.PodSpec) { s.Containers[1].Image = "b:v2" }, "spec.containers[1].image:", false},
		{"a limit", func(s *corev1.PodSpec) { s.Containers[1].Resources.Limits["memory"] = resource.MustParse("32Mi") }, "spec.containers[1].resources:", false},
		{"a deadline", func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = new(int64) }, "spec.activeDeadlineSeconds:", true},
		{"an ephemeral container", func(s *corev1.PodSpec) {
			s.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "d:v1"}}}
		}, "spec.ephemeralContainers[0]:", false},
	} {
		t.Run("STK-10 "+c.name+" that comes later", func(t *testing.T) {
			p := plain.DeepCopy()
			c.change(&p.Spec)
			events := record.NewFakeRecorder(8)
			w := newWorker(&Manager{Options: Options{Admit: byFields{}, Events: events}}, p)
			w.admission = w.admit(p, f)
			w.refuseChanges(p, f)
			w.refuseChanges(p, f) // a second look at the same pod says nothing
			close(events.Events)
			said := slices.Collect(func(yield func(string) bool) {
				for e := range events.Events {
					if !yield(e) {
						return
					}
				}
			})
			if (c.want == "") != (len(said) == 0) || len(said) > 1 || c.want != "" && !strings.Contains(said[0], c.want) {
				t.Errorf("events = %q, want one that names %q, or none", said, c.want)
			}
			if w.admission.Rejected != c.rejected {
				t.Errorf("admission = %+v, want rejected %v", w.admission, c.rejected)
			}
		})
	}
	t.Run("STK-10 an ephemeral container waits, with the reason", func(t *testing.T) {
		p := plain.DeepCopy()
		p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug"}}}
		got := ephemeralStatuses(p)
		if len(got) != 1 || got[0].Name != "debug" || got[0].State.Waiting == nil || got[0].State.Waiting.Reason != fields.Reason {
			t.Errorf("ephemeralStatuses = %+v, want one that waits for %s", got, fields.Reason)
		}
	})
	t.Run("STK-10 a new pod with an ephemeral container is rejected", func(t *testing.T) {
		p := plain.DeepCopy()
		p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{}}
		w := newWorker(&Manager{Options: Options{Admit: byFields{}}}, p)
		if got := w.admit(p, found{}); !got.Rejected {
			t.Errorf("admit = %+v, want it rejected", got)
		}
	})
}

func TestProfilesOfAContainer(t *testing.T) {
	privileged := true
	unconfined := &corev1.SecurityContext{
		SeccompProfile:  &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined},
		AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined},
	}
	made := func(t *testing.T, sc *corev1.SecurityContext) *runtimeapi.LinuxContainerSecurityContext {
		t.Helper()
		got, err := securityContext(&corev1.Pod{}, &corev1.Container{SecurityContext: sc}, "")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	t.Run("STK-10 procMount Default: files of the kernel are masked or read-only", func(t *testing.T) {
		got := made(t, nil)
		if !slices.Contains(got.GetMaskedPaths(), "/proc/kcore") || !slices.Contains(got.GetReadonlyPaths(), "/proc/sysrq-trigger") {
			t.Errorf("masked %v, read-only %v, want /proc/kcore and /proc/sysrq-trigger among them", got.GetMaskedPaths(), got.GetReadonlyPaths())
		}
	})
	t.Run("STK-10 a privileged container sees the kernel's files", func(t *testing.T) {
		if got := made(t, &corev1.SecurityContext{Privileged: &privileged}); len(got.GetMaskedPaths())+len(got.GetReadonlyPaths()) != 0 {
			t.Errorf("masked %v, read-only %v, want none", got.GetMaskedPaths(), got.GetReadonlyPaths())
		}
	})
	t.Run("STK-10 Unconfined reaches the runtime", func(t *testing.T) {
		got := made(t, unconfined)
		if got.GetSeccomp().GetProfileType() != runtimeapi.SecurityProfile_Unconfined || got.GetApparmor().GetProfileType() != runtimeapi.SecurityProfile_Unconfined {
			t.Errorf("seccomp %v, AppArmor %v, want Unconfined", got.GetSeccomp(), got.GetApparmor())
		}
	})
}

func TestVolumeFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give files to a group")
	}
	t.Run("STK-10 files of a volume belong to fsGroup, and binary data is among them", func(t *testing.T) {
		root, p := t.TempDir(), fullPod()
		group := int64(2000)
		p.Spec.SecurityContext.FSGroup = &group
		requests(t, root, p)
		for _, file := range []string{"secret/key", "config/key", "config/bytes"} {
			info, err := os.Stat(filepath.Join(root, "pods", string(p.UID), "volumes", file))
			if err != nil {
				t.Fatal(err)
			}
			if got := groupOf(info); got != 2000 {
				t.Errorf("%s belongs to group %d, want 2000", file, got)
			}
		}
	})
	t.Run("STK-10 nobody else on the node reads a pod's volumes", func(t *testing.T) {
		root, p := t.TempDir(), fullPod()
		requests(t, root, p)
		info, err := os.Stat(filepath.Join(root, "pods", string(p.UID)))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the pod's directory has mode %v, %v, want 0700", info.Mode(), err)
		}
	})
}

func groupOf(info os.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Gid }
