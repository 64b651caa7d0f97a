package kubelet

import (
	"context"
	"fmt"
	"net"
	goruntime "runtime"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	supkubelet "github.com/lanyard-dev/lanyard/supgroups/kubelet"
)

// heartbeat is how often the node says that it is there.
const heartbeat = 2 * time.Second

// reportTimeout is how long one report may take. A runtime that hangs makes the node
// not ready after half of it, and the rest is for the API server.
const reportTimeout = 20 * time.Second

// node keeps the node's object true: it registers, and reports what the runtime
// can and whether it answers.
type node struct {
	name    string
	address net.Addr
	version string
	client  kubernetes.Interface
	runtime runtimeapi.RuntimeServiceClient
	synced  func() error

	mu       sync.Mutex
	features *corev1.NodeFeatures
}

// supportsGroupsPolicy is the node's feature as it was last learnt; nil when the
// runtime has not said.
func (n *node) supportsGroupsPolicy() *bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.features == nil {
		return nil
	}
	return n.features.SupplementalGroupsPolicy
}

// learn asks the runtime what it can.
func (n *node) learn(ctx context.Context) (*runtimeapi.StatusResponse, error) {
	status, err := n.runtime.Status(ctx, &runtimeapi.StatusRequest{})
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.features = supkubelet.NodeFeatures(status)
	n.mu.Unlock()
	return status, nil
}

// keep reports until ctx ends; what fails is tried again with the next beat.
func (n *node) keep(ctx context.Context, say func(error)) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		if err := n.report(ctx); err != nil && ctx.Err() == nil {
			say(fmt.Errorf("node status: %w", err))
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (n *node) report(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	api := n.client.CoreV1().Nodes()
	was, err := api.Get(ctx, n.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		was, err = api.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name:   n.name,
			Labels: map[string]string{corev1.LabelHostname: n.name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: goruntime.GOARCH},
		}}, metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	now := was.DeepCopy()
	n.fill(ctx, &now.Status)
	if equality.Semantic.DeepEqual(was.Status, now.Status) {
		return nil
	}
	_, err = api.UpdateStatus(ctx, now, metav1.UpdateOptions{})
	return err
}

func (n *node) fill(ctx context.Context, s *corev1.NodeStatus) {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout/2)
	defer cancel()
	status, err := n.learn(ctx)
	if err == nil {
		// Also when it reports none: a runtime that was replaced by an older one must not be taken for what it was.
		s.Features = supkubelet.NodeFeatures(status)
		err = notReady(status)
	}
	if err == nil {
		err = n.synced()
	}
	host, port, _ := net.SplitHostPort(n.address.String())
	number, _ := strconv.Atoi(port)
	s.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}, {Type: corev1.NodeHostName, Address: n.name}}
	s.DaemonEndpoints.KubeletEndpoint.Port = int32(number)
	s.NodeInfo.KubeletVersion = n.version
	s.NodeInfo.OperatingSystem, s.NodeInfo.Architecture = goruntime.GOOS, goruntime.GOARCH
	if version, err := n.runtime.Version(ctx, &runtimeapi.VersionRequest{}); err == nil {
		s.NodeInfo.ContainerRuntimeVersion = version.GetRuntimeName() + "://" + version.GetRuntimeVersion()
	}
	room := corev1.ResourceList{
		corev1.ResourceCPU:  *resource.NewQuantity(int64(goruntime.NumCPU()), resource.DecimalSI),
		corev1.ResourcePods: *resource.NewQuantity(maxPods, resource.DecimalSI),
	}
	s.Capacity, s.Allocatable = room, room
	setReady(s, err)
}

// maxPods is what the node says it takes; nothing enforces it.
const maxPods = 1000

// notReady returns what the runtime says is missing; a network that is not ready
// is none of it, because pods here use the host's network or none.
func notReady(status *runtimeapi.StatusResponse) error {
	for _, c := range status.GetStatus().GetConditions() {
		if c.GetType() == runtimeapi.RuntimeReady && !c.GetStatus() {
			return fmt.Errorf("container runtime is not ready: %s", c.GetReason())
		}
	}
	return nil
}

func setReady(s *corev1.NodeStatus, err error) {
	condition := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"}
	if err != nil {
		condition.Status, condition.Reason, condition.Message = corev1.ConditionFalse, "KubeletNotReady", err.Error()
	}
	now := metav1.Now().Rfc3339Copy()
	condition.LastHeartbeatTime, condition.LastTransitionTime = now, now
	for i := range s.Conditions {
		if s.Conditions[i].Type == corev1.NodeReady {
			if s.Conditions[i].Status == condition.Status {
				condition.LastTransitionTime = s.Conditions[i].LastTransitionTime
			}
			s.Conditions[i] = condition
			return
		}
	}
	s.Conditions = append(s.Conditions, condition)
}
