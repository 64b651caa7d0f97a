package bridge_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/containerdrig"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/examples/parts"
	"github.com/lanyard-dev/lanyard/examples/testimage"
	brg "github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/readiness"
)

// TestChartNode runs the chart's pods on a real node, with what the chart gives them and no more. There is no network
// for pods here, and no scheduler: they have the node's network and the node's name.
func TestChartNode(t *testing.T) {
	bridge.Need(t)
	c := kubernetes.Own(t, kubernetes.Options{Nodes: []kubernetes.Node{{
		Private: []string{"/etc/containerd", "/etc/lanyard", "/opt/lanyard", "/run/lanyard", "/var/lib/lanyard", "/var/log/lanyard", "/run/execaudit-agent", "/sys/fs/bpf"},
		Containerd: func(config *containerdrig.Config) {
			config.Imports = []string{"/etc/containerd/conf.d/*.toml"}
			if file, err := filepath.EvalSymlinks(config.Runc); err == nil {
				config.Runc = file // the pod sees its directory, and not that of a link to it
			}
		},
		Config: func(config *kubeletconfig.KubeletConfiguration) {
			config.FeatureGates = map[string]bool{"KubeletCrashLoopBackOffMax": true}
			config.CrashLoopBackOff.MaxContainerRestartPeriod = &metav1.Duration{Duration: time.Second}
		},
	}}})
	w := c.Node("")
	if err := w.Import(t.Context(), nodeImage, programsImage(t)); err != nil {
		t.Fatal(err)
	}
	if err := c.Namespace(t.Context(), bridge.Namespace); err != nil {
		t.Fatal(err)
	}
	installKeys(t, c)
	before := files(t, w.Private("/etc/containerd"))
	objects := nodeRelease(t, w, mapping{})
	if err := objects.Apply(t.Context(), c.Admin().Config, bridge.Namespace); err != nil {
		t.Fatal(err)
	}
	leadToService(t, c)

	var webhook, daemon *corev1.Pod
	t.Run("BRG-9 the webhook's pod is ready with what it is given", func(t *testing.T) {
		webhook = podOf(t, c, typed[appsv1.Deployment](t, objects, "Deployment", "lanyard-bridge-webhook").Spec.Template)
		ready(t, c, webhook)
	})
	t.Run("BRG-9 the node's pod waits for the runtime's restart", func(t *testing.T) {
		template := typed[appsv1.DaemonSet](t, objects, "DaemonSet", "lanyard-bridge-node").Spec.Template
		// The main file is beside the CRI socket here, and not in /etc/containerd.
		main := &template.Spec.Containers[0]
		main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{
			Name: "cri", MountPath: "/host" + w.ContainerdConfig(), SubPath: filepath.Base(w.ContainerdConfig()), ReadOnly: true,
		})
		daemon = podOf(t, c, template)
		awaitInit(t, c, daemon, 3)
	})
	t.Run("BRG-9 BRG-13 after the restart the node is ready for the chart's handler", func(t *testing.T) {
		if err := w.RestartContainerd(t.Context()); err != nil {
			t.Fatal(err)
		}
		ready(t, c, daemon)
		var since time.Time
		chartSoon(t, "the Lease has the handler", func() bool {
			said := leased(t, c, w)
			handler, there := said.Handlers["lanyard"]
			since = handler.Since
			return there && len(said.Keys) == 1
		})
		// Pods' times have whole seconds.
		chartSoon(t, "the next second", func() bool { return time.Now().After(since.Add(readiness.Margin + time.Second)) })
	})
	t.Run("BRG-13 BRG-6 a configuration that is changed back by hand takes the handler out of the Lease, until it is there again", func(t *testing.T) {
		file, away := w.Private("/etc/containerd/conf.d/99-lanyard.toml"), w.Private("/etc/containerd/away")
		for _, from := range []string{file, away} {
			to := map[string]string{file: away, away: file}[from]
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
			chartSoon(t, "the Lease tells of "+to, func() bool {
				said := leased(t, c, w)
				_, there := said.Handlers["lanyard"]
				return there == (to == file)
			})
		}
	})
	t.Run("BRG-1 BRG-9 a session in a pod of the chart's RuntimeClass has an identity, and one in another pod has not", func(t *testing.T) {
		alice, err := c.Certificate("alice", "system:masters")
		if err != nil {
			t.Fatal(err)
		}
		class := "lanyard"
		for _, pod := range []*corev1.Pod{{Spec: corev1.PodSpec{RuntimeClassName: &class}}, {}} {
			pod, err := c.Run(t.Context(), pod)
			if err != nil {
				t.Fatal(err)
			}
			got, err := alice.Exec(t.Context(), kubernetes.Session{Pod: pod.Name, Command: []string{testimage.Program}})
			if err != nil || got.Code != 0 {
				t.Fatal("exec:", got, err, said(t, c, webhook), said(t, c, daemon))
			}
			if has, want := strings.Contains(got.Stdout, brg.SessionName), pod.Spec.RuntimeClassName != nil; has != want {
				t.Errorf("%s in the session's environment: %t, want %t\n%s%s", brg.SessionName, has, want, said(t, c, webhook), said(t, c, daemon))
			}
			if err := c.Remove(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
		}
		if records := said(t, c, webhook); strings.Count(records, `"alice"`) != 2 {
			t.Errorf("the webhook's output does not have both sessions:\n%s", records)
		}
	})
	t.Run("AGT-3 AGT-7 the agent's pod sees a session, with what the chart gives it and no more", func(t *testing.T) { agentSees(t, c, w) })
	t.Run("BRG-9 BRG-11 node.uninstall takes the wrapper off, and the configuration is as before", func(t *testing.T) {
		if err := c.Remove(t.Context(), daemon); err != nil {
			t.Fatal(err)
		}
		collect(t, w)
		leaving := podOf(t, c, typed[appsv1.DaemonSet](t, nodeRelease(t, w, mapping{"uninstall": true}), "DaemonSet", "lanyard-bridge-node").Spec.Template)
		awaitInit(t, c, leaving, 3)
		if after := files(t, w.Private("/etc/containerd")); !slices.Equal(after, before) {
			t.Errorf("/etc/containerd has %q, before %q", after, before)
		}
		if err := w.RestartContainerd(t.Context()); err != nil {
			t.Fatal(err)
		}
		ready(t, c, leaving)
		if left := files(t, w.Private("/opt/lanyard")); len(left) > 0 {
			t.Errorf("/opt/lanyard has %q", left)
		}
		if err := c.Remove(t.Context(), leaving); err != nil { // it has the node's port
			t.Fatal(err)
		}
	})
	t.Run("BRG-9 mode bind: its init container covers the runtime of running pods, and uncovers it", func(t *testing.T) {
		older, err := c.Run(t.Context(), &corev1.Pod{})
		if err != nil {
			t.Fatal(err)
		}
		// As an init system has them: the daemon's pod gets what is mounted on the host later.
		if err := w.Do(func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "") }); err != nil {
			t.Fatal(err)
		}
		covered := func() bool { return strings.Contains(mountsOf(t, w), "/lanyard-oci-") }
		for _, uninstall := range []bool{false, true} {
			objects := nodeRelease(t, w, mapping{"mode": "bind", "uninstall": uninstall})
			template := typed[appsv1.DaemonSet](t, objects, "DaemonSet", "lanyard-bridge-node").Spec.Template
			once(t, c, w, *template.Spec.DeepCopy())
			if covered() == uninstall {
				t.Errorf("covered: %t after uninstall=%t", !uninstall, uninstall)
			}
			if got, err := c.Admin().Exec(t.Context(), kubernetes.Session{Pod: older.Name, Command: []string{testimage.Program}}); err != nil || got.Code != 0 {
				t.Errorf("exec in an older pod: %+v, %v", got, err)
			}
			if !uninstall {
				uncovered(t, c, w, template)
			}
		}
	})
}

// leased is what the node's Lease says; nothing, where there is none.
func leased(t *testing.T, c *kubernetes.Cluster, w *kubernetes.Worker) readiness.Readiness {
	t.Helper()
	lease, err := c.Client().CoordinationV1().Leases(bridge.Namespace).Get(t.Context(), readiness.LeaseName(w.Name), metav1.GetOptions{})
	if err != nil {
		return readiness.Readiness{}
	}
	said, err := readiness.Parse(lease.Annotations)
	if err != nil {
		return readiness.Readiness{}
	}
	return said
}

// uncovered runs the daemon of mode bind, and takes the cover off beside it.
func uncovered(t *testing.T, c *kubernetes.Cluster, w *kubernetes.Worker, template corev1.PodTemplateSpec) {
	t.Helper()
	template.Spec.InitContainers = nil // it was run
	daemon := podOf(t, c, template)
	ready(t, c, daemon)
	bound := func() bool {
		said := leased(t, c, w)
		return said.Handlers[""].Mode == readiness.ModeBind
	}
	chartSoon(t, "the Lease has the covered handler", bound)
	runc, err := parts.Find("runc")
	if err == nil {
		runc, err = filepath.EvalSymlinks(runc)
	}
	if err == nil {
		err = w.Do(func() error { return unix.Unmount(runc, unix.MNT_DETACH) })
	}
	if err != nil {
		t.Fatal(err)
	}
	chartSoon(t, "the Lease tells that the cover is off", func() bool { return !bound() })
	if err := c.Remove(t.Context(), daemon); err != nil {
		t.Fatal(err)
	}
}
