package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// CRI is a node's runtime, asked directly, as crictl does: no webhook sees what it is told.
type CRI struct {
	runtimeapi.RuntimeServiceClient
	conn *grpc.ClientConn
}

// DialCRI connects to a runtime's socket. Close it when done.
func DialCRI(socket string) (*CRI, error) {
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	return &CRI{runtimeapi.NewRuntimeServiceClient(conn), conn}, nil
}

// Close ends the connection.
func (c *CRI) Close() error { return c.conn.Close() }

// execPatience bounds a command that is run directly.
const execPatience = 20 * time.Second

// Run runs a command in a container by ExecSync, to its end.
func (c *CRI) Run(ctx context.Context, container string, command ...string) (*runtimeapi.ExecSyncResponse, error) {
	return c.ExecSync(ctx, &runtimeapi.ExecSyncRequest{ContainerId: container, Cmd: command, Timeout: int64(execPatience.Seconds())})
}

// PID is the number of the container's first process on this machine.
func (c *CRI) PID(ctx context.Context, container string) (int, error) {
	status, err := c.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: container, Verbose: true})
	if err != nil {
		return 0, err
	}
	var info struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(status.Info["info"]), &info); err != nil {
		return 0, fmt.Errorf("status of container %s: %w", container, err)
	}
	return info.PID, nil
}

// ContainerID is the ID of a pod's container at its runtime, "" where it has none yet; the name "" is the first
// container's.
func ContainerID(pod *corev1.Pod, name string) string {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses} {
		for _, s := range statuses {
			if name == "" || s.Name == name {
				_, id, _ := strings.Cut(s.ContainerID, "://")
				return id
			}
		}
	}
	return ""
}
