package oci

import (
	"fmt"
	"io"
	"log/slog"
	"path"
	"strconv"
	"strings"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/jsonspan"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// MaxBundleBytes is the most that a bundle's config.json, or a runtime's state of a container, may have.
const MaxBundleBytes = 16 << 20 // 16 MiB

// Bundle is what a bundle's config.json says of its container.
type Bundle struct {
	// PodUID, Namespace, Pod and Container are Kubernetes'. All are empty for a container of anything else; a pod's
	// sandbox has no Container.
	PodUID, Namespace, Pod, Container string
	// Unmarked says that the annotation [bridge.MarkAnnotation] is off.
	Unmarked bool
	// Env is the environment of the container's first process.
	Env []string
}

// Format prints the container and how many variables there are, for every verb: Env has secrets.
func (b Bundle) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, b.name()) }

// MarshalText returns what Format prints.
func (b Bundle) MarshalText() ([]byte, error) { return []byte(b.name()), nil }

// LogValue returns what Format prints.
func (b Bundle) LogValue() slog.Value { return slog.StringValue(b.name()) }

func (b Bundle) name() string {
	return fmt.Sprintf("bundle of container %q in pod %s/%s, UID %s, with %d variables", b.Container, b.Namespace, b.Pod, b.PodUID, len(b.Env))
}

// The annotations that tell a container's pod, by who made the bundle.
//
// Source: containerd 1.6.20 and 2.4.2, pkg/cri and internal/cri, annotations; the same eight since 1.6. CRI-O
// internal/factory/container/container.go, SpecAddAnnotations: the kubelet's labels become annotations, and are the
// last to be set. In CRI-O a pod's own annotations become the bundle's too, so a bundle with both types is nobody's.
var (
	containerdKeys = identityKeys{
		kind: "io.kubernetes.cri.container-type", uid: "io.kubernetes.cri.sandbox-uid", namespace: "io.kubernetes.cri.sandbox-namespace",
		pod: "io.kubernetes.cri.sandbox-name", container: "io.kubernetes.cri.container-name",
	}
	crioKeys = identityKeys{
		kind: "io.kubernetes.cri-o.ContainerType", uid: "io.kubernetes.pod.uid", namespace: "io.kubernetes.pod.namespace",
		pod: "io.kubernetes.pod.name", container: "io.kubernetes.container.name",
	}
)

type identityKeys struct{ kind, uid, namespace, pod, container string }

// ParseBundle reads a config.json. Its error is a *[BundleFault]: not such a file, annotations or one of those that are
// read given twice or in another case, or the annotations of two container engines.
func ParseBundle(text []byte) (Bundle, error) {
	root, err := jsonspan.Parse(text)
	if err != nil {
		return Bundle{}, &BundleFault{"config.json", err.Error()}
	}
	var b Bundle
	found := map[string]string{}
	seen := map[string]bool{}
	for name, at := range jsonspan.Members(text, root) {
		if lower := strings.ToLower(name); lower == "annotations" || lower == "process" {
			if name != lower || seen[lower] {
				return Bundle{}, &BundleFault{lower, "is there twice, or in another case"}
			}
			seen[lower] = true
			if lower == "process" {
				b.Env = environment(text, at)
				continue
			}
			if found, err = annotations(text, at); err != nil {
				return Bundle{}, err
			}
		}
	}
	keys := containerdKeys
	if found[crioKeys.kind] != "" {
		if keys = crioKeys; found[containerdKeys.kind] != "" {
			return Bundle{}, &BundleFault{"annotations", "of containerd and of CRI-O at once"}
		}
	}
	b.Unmarked = found[bridge.MarkAnnotation] == bridge.MarkOff
	if found[keys.kind] == "" {
		return b, nil
	}
	b.PodUID, b.Namespace, b.Pod = found[keys.uid], found[keys.namespace], found[keys.pod]
	if found[keys.kind] == "container" {
		b.Container = found[keys.container]
	}
	return b, nil
}

// annotations returns those that are read here.
func annotations(text []byte, at jsonspan.Span) (map[string]string, error) {
	found := map[string]string{}
	for name, value := range jsonspan.Members(text, at) {
		switch name {
		case containerdKeys.kind, containerdKeys.uid, containerdKeys.namespace, containerdKeys.pod, containerdKeys.container,
			crioKeys.kind, crioKeys.uid, crioKeys.namespace, crioKeys.pod, crioKeys.container, bridge.MarkAnnotation:
			if _, twice := found[name]; twice {
				return nil, &BundleFault{"annotation " + name, "is there twice"}
			}
			decoded, ok := jsonspan.String(text, value)
			if !ok {
				return nil, &BundleFault{"annotation " + name, "is not a string"}
			}
			found[name] = decoded
		}
	}
	return found, nil
}

// environment returns process.env, nil where there is none.
func environment(text []byte, process jsonspan.Span) (all []string) {
	for name, at := range jsonspan.Members(text, process) {
		if strings.EqualFold(name, "env") {
			env, _ := jsonspan.Strings(text, at)
			all = append(all, env...)
		}
	}
	return all
}

// Check compares a token with the container. Its error is a *[MismatchError] for the first thing that differs, or a
// *[BundleFault] for one that the bundle does not say.
func (b Bundle) Check(t token.Token) error {
	for _, c := range [...]struct{ thing, token, here string }{
		{"pod UID", t.Pod.UID, b.PodUID},
		{"namespace", t.Pod.Namespace, b.Namespace},
		{"pod", t.Pod.Name, b.Pod},
		{"container", t.Container, b.Container},
	} {
		if c.here == "" {
			return &BundleFault{c.thing, "is not in the bundle's annotations"}
		}
		if c.token != c.here {
			return &MismatchError{c.thing, c.token, c.here}
		}
	}
	return nil
}

// StatePath returns where under root the runtime keeps its state of a container: runc's state.json, crun's status. An
// ID that is not one element of a path is a *[BundleFault].
func StatePath(root, id string) (runc, crun string, err error) {
	if id == "" || id == "." || id == ".." || strings.ContainsAny(id, "/\x00") {
		return "", "", &BundleFault{"container ID " + strconv.Quote(id[:min(len(id), 128)]), "is not one element of a path"}
	}
	return path.Join(root, id, "state.json"), path.Join(root, id, "status"), nil
}

// ParseState returns the bundle's directory in a runtime's state of a container: crun's member bundle, or the last of
// runc's labels bundle=…; earlier ones come from annotations. Its error is a *[BundleFault].
func ParseState(text []byte) (bundle string, err error) {
	root, err := jsonspan.Parse(text)
	if err != nil {
		return "", &BundleFault{"the runtime's state", err.Error()}
	}
	for name, at := range jsonspan.Members(text, root) {
		switch name {
		case "bundle":
			bundle, _ = jsonspan.String(text, at)
		case "config":
			for name, at := range jsonspan.Members(text, at) {
				if name != "labels" {
					continue
				}
				labels, _ := jsonspan.Strings(text, at)
				for _, label := range labels {
					if value, ok := strings.CutPrefix(label, "bundle="); ok {
						bundle = value
					}
				}
			}
		}
	}
	if !path.IsAbs(bundle) {
		return "", &BundleFault{"the runtime's state", "names no bundle"}
	}
	return bundle, nil
}
