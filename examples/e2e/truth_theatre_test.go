package e2e_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/lanyard-dev/lanyard/examples/pids"
	"github.com/lanyard-dev/lanyard/execaudit"
	"github.com/lanyard-dev/lanyard/execaudit/agent/source"
)

// truthDir is where the pods of the truth test have their reports.
const truthDir = "/truth"

// theatre is where the sessions of the truth test are played: pods, and users who may open sessions there.
type theatre struct {
	cluster *cluster
	users   []*caller
	kubelet *rest.Config // for the API server, whose word on audit IDs the kubelet takes
	host    string       // the directory that is truthDir in the pods
	gates   []*os.File   // for each act, keep daemons from their end until they are closed
	pid     int          // from which the machine's PIDs begin anew
}

func userName(i int) string { return "user-" + strconv.Itoa(i) }
func podName(i int) string  { return "pod-" + strconv.Itoa(i) }
func actName(i int) string  { return "act-" + strconv.Itoa(i) }

func newTheatre(t *testing.T, c *cluster) *theatre {
	t.Helper()
	file := filepath.Join(c.dir, "kubelet-client")
	th := &theatre{cluster: c, host: filepath.Join(c.dir, "truth"), kubelet: &rest.Config{
		Host:            "https://" + c.kubeletAddress(t, ours),
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(c.dir, "ca.crt"), CertFile: file + ".crt", KeyFile: file + ".key"},
	}}
	var err error
	if th.pid, err = pids.Newest(); err == nil {
		err = pids.Rewind(th.pid)
	}
	if err != nil {
		t.Skip("PIDs cannot be used again at will: ", err)
	}
	for i := range truthActs {
		gate, err := makeGate(filepath.Join(th.host, actName(i)))
		if err != nil {
			t.Fatal(err)
		}
		th.gates = append(th.gates, gate)
	}
	for i := range truthUsers {
		file, err := c.User(userName(i), "dev")
		if err != nil {
			t.Fatal(err)
		}
		th.users = append(th.users, newCaller(t, file))
	}
	for i := range truthPods {
		if _, err := c.run(t.Context(), th.pod(podName(i))); err != nil {
			t.Fatal(err)
		}
	}
	return th
}

// makeGate makes a directory for reports, and in it a pipe with a name at whose reading end programs wait until the
// file is closed.
func makeGate(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "gate")
	if err := unix.Mkfifo(path, 0o666); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// pod is one in which processes report where the test can read it.
func (th *theatre) pod(name string) *corev1.Pod {
	p := pod(name, ours)
	p.Spec.Containers[0].Args = []string{"pause"}
	p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "truth", MountPath: truthDir}}
	p.Spec.Volumes = []corev1.Volume{{Name: "truth", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: th.host},
	}}}
	return p
}

// watch begins to watch the pods.
func (th *theatre) watch(t *testing.T) *watcher {
	t.Helper()
	var pods []string
	for i := range truthPods {
		pods = append(pods, podName(i))
	}
	return th.cluster.watch(t, source.ModeAuto, pods...)
}

// executor opens the session in the way of its trick.
func (th *theatre) executor(p plan, victimID string, command []string) (remotecommand.Executor, error) {
	c := *th.users[p.user]
	switch p.trick {
	case noID:
		return th.unaudited(podName(p.pod), command)
	case unknownID:
		c.config = withAuditID(c.config, execaudit.PlaceholderAuditID)
	case reuse:
		c.config = withAuditID(c.config, victimID)
	}
	return c.executor(podName(p.pod), true, command)
}

// unaudited plays an API server whose audit context has no ID; the stack's own always has one.
func (th *theatre) unaudited(pod string, command []string) (remotecommand.Executor, error) {
	query := url.Values{
		"command": command, "input": {"1"}, "output": {"1"}, "error": {"1"},
		"env": {execaudit.AuditIDName + "=" + execaudit.PlaceholderAuditID},
	}
	at, err := url.Parse(th.kubelet.Host + "/exec/" + metav1.NamespaceDefault + "/" + pod + "/app?" + query.Encode())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewSPDYExecutor(th.kubelet, http.MethodPost, at)
}

// withAuditID sends an audit ID of the client's choice.
func withAuditID(config *rest.Config, id string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set(execaudit.AuditIDHeader, id)
			return next.RoundTrip(r)
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// awaitEmpty waits until nothing but the containers' own processes is left.
func (th *theatre) awaitEmpty(t *testing.T) {
	t.Helper()
	for i := range truthPods {
		id := th.cluster.containerOf(t, podName(i))
		await(t, "the processes of all sessions to end", func() bool { return inContainer(t, id) == 1 })
	}
}

// inContainer counts the processes in a container.
func inContainer(t *testing.T, id string) int {
	t.Helper()
	found, err := pids.In(id)
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}
