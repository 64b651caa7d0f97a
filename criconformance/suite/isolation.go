package suite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/criconformance/internal/client"
	"github.com/lanyard-dev/lanyard/criconformance/internal/images"
	"github.com/lanyard-dev/lanyard/criconformance/internal/message"
)

const onlySet = "This only applies to envs explicitly set at exec time; the container’s default environment remains unchanged"

// isolationCases are about where an environment must not show up.
func isolationCases() []Case {
	isolated := func(name, fix string, try func(context.Context, *node) observation) Case {
		return Case{
			Name: "envs/" + name, Requirement: "CON-2", Feature: FeatureEnvs, Source: precedence, Sentence: onlySet,
			Fix: fix, try: try,
		}
	}
	return []Case{
		isolated("concurrent-sessions", "keep the environment with its session, not with the container", concurrentSessions),
		isolated("not-in-next-session", "start every session from the container's own environment", notInNextSession),
		isolated("not-in-container", "leave the container's first process as it is", notInContainer),
		isolated("not-in-other-containers", "leave the pod's other containers as they are", notInOtherContainers),
		{
			Name: "envs/not-in-exec-sync", Requirement: "CON-2", Feature: FeatureEnvs, Source: "KEP-6035, Hooks and Probes",
			Sentence: "Extending env injection to ExecSyncRequest is deferred until a concrete use case is identified.",
			Fix:      "run ExecSync with the container's own environment", try: notInExecSync,
		},
	}
}

// sessions is how many sessions overlap.
const sessions = 4

func concurrentSessions(ctx context.Context, n *node) observation {
	w := n.carriers()[0]
	var all [sessions]observation
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			sent := env("CONF_SESSION", "session "+strconv.Itoa(i))
			m, err := n.report(ctx, w, n.fixture, sent)
			if err != nil {
				all[i] = n.sessionFailed(w, sent, err)
				return
			}
			all[i] = judge(w.String(), sent, sent, m.Self)
		})
	}
	wg.Wait()
	var o observation
	for _, one := range all {
		o = o.and(one)
	}
	return o
}

// afterSession runs a session with an environment and then looks elsewhere. What is sent replaces a key of the
// container and adds one; a runtime that drops it shows that elsewhere.
func afterSession(ctx context.Context, n *node, name string, look func(way) (message.Process, error)) observation {
	w := n.carriers()[0]
	sent := env("CONF_LEVEL", name, "CONF_FOR_"+strings.ToUpper(strings.ReplaceAll(name, " ", "_")), name)
	m, err := n.report(ctx, w, n.fixture, sent)
	if err != nil {
		return n.sessionFailed(w, sent, err)
	}
	o := observation{Shown: shown(sent, m.Self)}
	p, err := look(w)
	if err == nil && p.EnvError != "" {
		err = errors.New(p.EnvError)
	}
	if err != nil {
		o.Err = err
		return o
	}
	o.Problems = judgeAbsent(name, sent, p)
	return o
}

func notInNextSession(ctx context.Context, n *node) observation {
	return afterSession(ctx, n, "next session", func(w way) (message.Process, error) {
		m, err := n.report(ctx, w, n.fixture, nil)
		return m.Self, err
	})
}

func notInContainer(ctx context.Context, n *node) observation {
	return afterSession(ctx, n, "first process", func(w way) (message.Process, error) {
		m, err := n.report(ctx, w, n.fixture, nil)
		return m.First, err
	})
}

func notInOtherContainers(ctx context.Context, n *node) observation {
	return afterSession(ctx, n, "other container", func(w way) (message.Process, error) {
		other, err := n.start(ctx, images.Base, &runtimeapi.LinuxContainerSecurityContext{})
		if err != nil {
			return message.Process{}, err
		}
		defer n.remove(other)
		m, err := n.report(ctx, w, other, nil)
		return m.First, err
	})
}

func notInExecSync(ctx context.Context, n *node) observation {
	return afterSession(ctx, n, "ExecSync", func(way) (message.Process, error) {
		resp, err := n.client.ExecSync(ctx, &runtimeapi.ExecSyncRequest{ContainerId: n.fixture, Cmd: sayCommand()})
		if err != nil {
			return message.Process{}, fmt.Errorf("ExecSync: %w", err)
		}
		m, err := message.Parse(resp.GetStdout())
		return m.Self, err
	})
}

// refusedOr turns the error of a container that did not start into an observation.
func refusedOr(err error, sent string) observation {
	if client.Refused(err) {
		return broken("container", sent, "it did not start: %v", err)
	}
	return trouble(err)
}
