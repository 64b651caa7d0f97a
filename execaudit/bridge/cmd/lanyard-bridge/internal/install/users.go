//go:build linux

package install

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// bundles is where containerd keeps what its shims remember, below its state directory: NAMESPACE/ID.
const bundles = "io.containerd.runtime.v2.task"

// User is a pod or a container on the node.
type User struct {
	// Kind is pod, container, or bundle for what a shim remembers.
	Kind string `json:"kind"`
	ID   string `json:"id"`
	// Namespace, Pod and Container are Kubernetes' names; Namespace is containerd's for a bundle.
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	// Handler is the pod's runtime handler, Runtime the program that is remembered; "" where the runtime remembers
	// none.
	Handler string    `json:"handler"`
	Runtime string    `json:"runtime,omitempty"`
	Created time.Time `json:"created,omitzero"`

	live bool
}

// remembered is what containerd answers of a pod or container beyond the CRI.
type remembered struct {
	RuntimeHandler string         `json:"runtimeHandler"`
	RuntimeOptions map[string]any `json:"runtimeOptions"`
}

func (r remembered) binary() string {
	for _, key := range []string{"binary_name", "BinaryName"} {
		if name, _ := r.RuntimeOptions[key].(string); name != "" {
			return name
		}
	}
	return ""
}

// users returns all pods and containers that the runtime knows.
func (a *asked) users(ctx context.Context) (out []User, err error) {
	pods, err := a.client.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{})
	if err != nil {
		return nil, err
	}
	handlers, names := map[string]string{}, map[string]*runtimeapi.PodSandboxMetadata{}
	for _, p := range pods.Items {
		status, err := a.client.PodSandboxStatus(ctx, &runtimeapi.PodSandboxStatusRequest{PodSandboxId: p.Id, Verbose: true})
		if err != nil {
			continue // gone meanwhile
		}
		var info remembered
		_ = json.Unmarshal([]byte(status.Info["info"]), &info)
		handlers[p.Id], names[p.Id] = p.RuntimeHandler, p.Metadata
		out = append(out, User{
			Kind: "pod", ID: p.Id, Namespace: p.Metadata.GetNamespace(), Pod: p.Metadata.GetName(), Handler: p.RuntimeHandler, Runtime: info.binary(),
			Created: time.Unix(0, p.CreatedAt).UTC(), live: p.State == runtimeapi.PodSandboxState_SANDBOX_READY,
		})
	}
	containers, err := a.client.ListContainers(ctx, &runtimeapi.ListContainersRequest{})
	if err != nil {
		return nil, err
	}
	for _, c := range containers.Containers {
		status, err := a.client.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: c.Id, Verbose: true})
		if err != nil {
			continue
		}
		var info remembered
		_ = json.Unmarshal([]byte(status.Info["info"]), &info)
		out = append(out, User{
			Kind: "container", ID: c.Id, Namespace: names[c.PodSandboxId].GetNamespace(), Pod: names[c.PodSandboxId].GetName(),
			Container: c.Metadata.GetName(), Handler: handlers[c.PodSandboxId], Runtime: info.binary(),
			Created: time.Unix(0, c.CreatedAt).UTC(), live: c.State != runtimeapi.ContainerState_CONTAINER_EXITED,
		})
	}
	return out, nil
}

// remembering returns what containerd's shims remember of the program, in every namespace of containerd's.
func (h host) remembering(state, program string) (out []User) {
	names, _ := filepath.Glob(h.path(filepath.Join(state, bundles)) + "/*/*")
	for _, bundle := range names {
		text, _ := os.ReadFile(filepath.Join(bundle, "options.json"))
		var options map[string]any
		_ = json.Unmarshal(text, &options)
		former, _ := os.ReadFile(filepath.Join(bundle, "runtime"))
		if binary := (remembered{RuntimeOptions: options}).binary(); binary == program || string(former) == program {
			out = append(out, User{Kind: "bundle", ID: filepath.Base(bundle), Namespace: filepath.Base(filepath.Dir(bundle)), Runtime: program})
		}
	}
	return out
}

// keeping returns what still names the wrapper: pods and containers that can start something, and shims.
func (h host) keeping(a *asked, r *record, all []User) (out []User) {
	state := ""
	if p, err := h.planner(a, r.Config); err == nil {
		if c, ok := p.(interface{ State() string }); ok {
			state = c.State()
		}
	}
	for _, w := range r.Wrapped {
		for _, u := range all {
			if u.live && u.Runtime == w.Executed && r.Mode != ModeBind {
				out = append(out, u)
			}
		}
		if state == "" || r.Mode == ModeBind {
			continue
		}
		for _, u := range h.remembering(state, w.Executed) {
			if !slices.ContainsFunc(out, func(known User) bool { return known.ID == u.ID }) {
				out = append(out, u)
			}
		}
	}
	return out
}

// ofAdded returns the pods whose handler is the installation's own, in whatever state: the runtime looks it up.
func ofAdded(r *record, all []User) (out []User) {
	for _, w := range r.Wrapped {
		for _, u := range all {
			if w.Added && u.Kind == "pod" && u.Handler == w.Name {
				out = append(out, u)
			}
		}
	}
	return out
}
