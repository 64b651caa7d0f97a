package runtime

import (
	"os"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/examples/runtime/image"
	"github.com/lanyard-dev/lanyard/execaudit"
)

const (
	defaultPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	terminal    = "TERM=xterm"
)

// containerEnv is the environment of a container's first process, each name once: the runtime's defaults lose to the
// image, and the image to the pod.
func containerEnv(b *sandbox, config *runtimeapi.ContainerConfig, i image.Image) ([]string, error) {
	entries := make([]envprecedence.Entry, len(config.GetEnvs()))
	for n, e := range config.GetEnvs() {
		entries[n] = envprecedence.NewEntry(e.GetKey(), string(e.GetValue()))
	}
	pod, err := envprecedence.Environ(entries, 0)
	if err != nil {
		return nil, err
	}
	name := b.config.GetHostname()
	if name == "" {
		if name, err = os.Hostname(); err != nil {
			return nil, err
		}
	}
	all := []string{defaultPath, "HOSTNAME=" + name}
	if config.GetTty() {
		all = append(all, terminal)
	}
	all = append(append(all, i.Config.Env...), pod...)
	env, _, err := envprecedence.Merge(envprecedence.Tiers{Container: all}, envprecedence.PlatformLinux)
	return env, err
}

// environment makes the environments of a container's exec sessions.
type environment struct {
	merge func(request []string, tty bool) ([]string, error)
}

// newEnvironment prepares the container's environment once for all its exec sessions. With a terminal, TERM=xterm is
// part of it: it replaces the container's own value, and a caller's replaces it.
func newEnvironment(config Config, container []string) *environment {
	if config.Environ != nil {
		return &environment{func(request []string, tty bool) ([]string, error) {
			return config.Environ(container, request, tty)
		}}
	}
	plain, _ := envprecedence.Prepare(container, envprecedence.PlatformLinux)
	withTTY, _ := envprecedence.Prepare(append(container[:len(container):len(container)], terminal), envprecedence.PlatformLinux)
	return &environment{func(request []string, tty bool) ([]string, error) {
		if tty {
			return withTTY.Merge(nil, request)
		}
		return plain.Merge(nil, request)
	}}
}

// auditID is the value that the process will see, as the journal records it.
func auditID(environ []string) (id string) {
	for _, e := range environ {
		if value, found := strings.CutPrefix(e, execaudit.AuditIDName+"="); found {
			id = value
		}
	}
	return id
}
