package server

import (
	"net/http"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/examples/kubelet/pods"
)

// Summary is the part of Kubernetes's stats summary that a runtime reports.
type Summary struct {
	Node NodeStats  `json:"node"`
	Pods []PodStats `json:"pods"`
}

// NodeStats names the node.
type NodeStats struct {
	NodeName string `json:"nodeName"`
}

// PodStats is one pod with its containers.
type PodStats struct {
	PodRef     PodReference     `json:"podRef"`
	Containers []ContainerStats `json:"containers"`
}

// PodReference names a pod.
type PodReference struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid"`
}

// ContainerStats is what one container uses.
type ContainerStats struct {
	Name   string       `json:"name"`
	CPU    *CPUStats    `json:"cpu,omitempty"`
	Memory *MemoryStats `json:"memory,omitempty"`
}

// CPUStats is processor time in nanoseconds since the start.
type CPUStats struct {
	UsageCoreNanoSeconds *uint64 `json:"usageCoreNanoSeconds,omitempty"`
}

// MemoryStats is memory in bytes.
type MemoryStats struct {
	WorkingSetBytes *uint64 `json:"workingSetBytes,omitempty"`
}

// summary answers /stats/summary.
func (s *Server) summary(w http.ResponseWriter, r *http.Request) {
	resp, err := s.Runtime.ListContainerStats(r.Context(), &runtimeapi.ListContainerStatsRequest{Filter: &runtimeapi.ContainerStatsFilter{
		LabelSelector: map[string]string{pods.LabelNode: s.Node},
	}})
	if err != nil {
		fail(w, err)
		return
	}
	out := Summary{Node: NodeStats{s.Node}, Pods: []PodStats{}}
	at := map[string]int{}
	for _, c := range resp.GetStats() {
		labels := c.GetAttributes().GetLabels()
		uid := labels[pods.LabelPodUID]
		i, there := at[uid]
		if !there {
			i = len(out.Pods)
			at[uid] = i
			out.Pods = append(out.Pods, PodStats{PodRef: PodReference{labels[pods.LabelPodName], labels[pods.LabelPodNamespace], uid}})
		}
		out.Pods[i].Containers = append(out.Pods[i].Containers, containerStats(labels[pods.LabelContainerName], c))
	}
	answer(w, out)
}

func containerStats(name string, c *runtimeapi.ContainerStats) ContainerStats {
	out := ContainerStats{Name: name}
	if used := c.GetCpu().GetUsageCoreNanoSeconds(); used != nil {
		out.CPU = &CPUStats{&used.Value}
	}
	if used := c.GetMemory().GetWorkingSetBytes(); used != nil {
		out.Memory = &MemoryStats{&used.Value}
	}
	return out
}
