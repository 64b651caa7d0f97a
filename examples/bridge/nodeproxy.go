package bridge

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

// maxAnswer is the most that is read of a kubelet's answer.
const maxAnswer = 64 << 10 // 64 KiB

// RunByNode has the kubelet run a command in the pod's first container, through nodes/proxy, which no webhook sees; of
// the ways there it is the one that brings a command: kube-apiserver drops the query of an upgrade. The kubelet takes the
// command apart at spaces. It returns the HTTP status and the answer once the command has ended.
func (r *Rig) RunByNode(ctx context.Context, user *kubernetes.User, pod *corev1.Pod, command ...string) (status int, said string, _ error) {
	client, err := user.HTTP()
	if err != nil {
		return 0, "", err
	}
	at := r.URL() + "/api/v1/nodes/" + pod.Spec.NodeName + "/proxy/run/" + pod.Namespace + "/" + pod.Name + "/" + pod.Spec.Containers[0].Name
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"?"+url.Values{"cmd": {strings.Join(command, " ")}}.Encode(), nil)
	if err != nil {
		return 0, "", err
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	return answer.StatusCode, string(body), err
}

// Inside returns the processes in the pod's first container.
func (r *Rig) Inside(ctx context.Context, pod *corev1.Pod) ([]Process, error) {
	cri, err := DialCRI(r.Node(pod.Spec.NodeName).Socket())
	if err != nil {
		return nil, err
	}
	defer cri.Close()
	first, err := cri.PID(ctx, ContainerID(pod, ""))
	if err != nil {
		return nil, err
	}
	inside, err := inPIDNamespaceOf(first)
	if err != nil {
		return nil, err
	}
	return Processes(inside)
}
