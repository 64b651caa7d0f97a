package suite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/criconformance/internal/client"
	"github.com/lanyard-dev/lanyard/criconformance/internal/images"
	"github.com/lanyard-dev/lanyard/criconformance/internal/message"
	"github.com/lanyard-dev/lanyard/criconformance/reporter"
	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit/negotiate"
)

// node is the runtime during one run, with what the run made there. After prepare it only changes behind the runtime's
// own locks.
type node struct {
	options  Options
	run      string // this run's ID
	client   *client.Client
	registry *images.Registry
	// repository is where the images are.
	repository string

	version  *runtimeapi.VersionResponse
	reported map[Feature]bool
	pod      string
	podSpec  *runtimeapi.PodSandboxConfig
	fixture  string // the container that the cases about the environment share
	probes   []probe
	refused  []Refused
}

func newNode(options Options) (*node, error) {
	c, err := client.Dial(options.Endpoint, options.ImageEndpoint)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	n := &node{options: options, run: newRun(), client: c}
	// It serves images, and it is by its answer that a later run knows that this one is alive.
	if n.registry, err = images.Serve(n.run); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return n, nil
}

// newRun is an ID that fits into an image's name, too.
func newRun() string { return strings.ToLower(rand.Text()) }

// prepare asks who is there, removes what a dead run left, and makes what all cases share.
func (n *node) prepare(ctx context.Context) error {
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"ask the runtime", n.ask},
		{"remove what a dead run left", n.sweepDead},
		{"serve images", n.publish},
		{"pull images", n.pull},
		{"run a pod", n.runPod},
		{"run a container", n.runFixture},
		{"open a session", n.probeAll},
	} {
		ctx, cancel := context.WithTimeout(ctx, n.options.Timeout)
		err := step.do(ctx)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// close removes what the run made, also when ctx has ended.
func (n *node) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.options.Timeout)
	defer cancel()
	var err error
	if n.version != nil {
		err = n.sweep(ctx, func(owner) bool { return true }, n.run)
	}
	return errors.Join(err, n.registry.Close(), n.client.Close())
}

func (n *node) ask(ctx context.Context) (err error) {
	version, err := n.client.Version(ctx, &runtimeapi.VersionRequest{})
	if err != nil {
		return err
	}
	resp, err := n.client.Status(ctx, &runtimeapi.StatusRequest{})
	if err != nil {
		return err
	}
	n.version = version
	n.reported = map[Feature]bool{
		FeatureEnvs:   negotiate.Supported(resp, n.options.Handler),
		FeatureGroups: resp.GetFeatures().GetSupplementalGroupsPolicy(),
	}
	return nil
}

// publish makes the images, if they are to be made, and puts them where the runtime can pull them.
func (n *node) publish(ctx context.Context) error {
	n.repository = n.options.Images
	if n.repository != "" {
		return nil
	}
	if n.repository = n.options.Push; n.repository != "" {
		// They are not removed, so they carry no run's label.
		set, err := makeImages(n.options.Reporter, "")
		if err != nil {
			return err
		}
		return images.Push(ctx, n.repository, set)
	}
	set, err := makeImages(n.options.Reporter, n.run)
	if err != nil {
		return err
	}
	n.repository, err = n.registry.Store(ctx, "run-"+n.run, set)
	return err
}

// makeImages makes them around the program at the path, or around the running one.
func makeImages(path, run string) ([]images.Named, error) {
	program, err := images.Self()
	if path != "" {
		program, err = images.Check(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the reporter: %w", ErrOptions, err)
	}
	image, _ := baseline()
	environ, err := envprecedence.Environ(image, 0)
	if err != nil {
		return nil, err
	}
	return images.Build(program, environ, run)
}

func (n *node) reference(tag string) string { return n.repository + ":" + tag }

func (n *node) pull(ctx context.Context) error {
	for _, user := range append([]string{""}, images.Users()...) {
		spec := &runtimeapi.ImageSpec{Image: n.reference(images.Tag(user))}
		if n.options.Images != "" {
			resp, err := n.client.Images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: spec})
			if err == nil && resp.GetImage() != nil {
				continue
			}
		}
		if err := untilDone(ctx, func(ctx context.Context) error {
			_, err := n.client.Images.PullImage(ctx, &runtimeapi.PullImageRequest{Image: spec})
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func pauseCommand() []string { return []string{images.File, reporter.Argument, message.Pause} }
