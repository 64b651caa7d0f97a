package kubernetes

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// removalPatience bounds the removal of a node's pods. What it leaves, the cluster's keeper sweeps up.
const removalPatience = 20 * time.Second

// stopContainerd removes the node's pods and ends containerd. The kubelet has ended by then, and makes no others.
func (w *Worker) stopContainerd() error {
	ctx, cancel := context.WithTimeout(context.Background(), removalPatience)
	defer cancel()
	// A containerd that a test broke removes nothing.
	_ = w.removePods(ctx)
	return w.rig.Stop()
}

func (w *Worker) removePods(ctx context.Context) error {
	conn, err := grpc.NewClient("unix://"+w.Socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	client := runtimeapi.NewRuntimeServiceClient(conn)
	containers, err := client.ListContainers(ctx, &runtimeapi.ListContainersRequest{})
	if err != nil {
		return err
	}
	pods, err := client.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{})
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range containers.GetContainers() {
		// At once: nobody waits for what it would still say.
		_, err := client.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: c.GetId(), Timeout: 0})
		errs = append(errs, err)
	}
	for _, p := range pods.GetItems() {
		_, stopped := client.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: p.GetId()})
		_, removed := client.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: p.GetId()})
		errs = append(errs, stopped, removed)
	}
	return errors.Join(errs...)
}
