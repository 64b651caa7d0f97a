package conformance_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
	"github.com/lanyard-dev/lanyard/examples/runtime/runtimetest"
)

func contains(all []string, some ...string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// TestOutcomes has runtimes between all and nothing.
func TestOutcomes(t *testing.T) {
	focus := regexp.MustCompile(`^envs/(injected|empty-value|terminal|not-in-next-session)$`)
	old := newConfig(t)
	old.PlayOld = true
	oldEndpoint := serve(t, old)
	t.Run("CON-4 not reported and not shown is unsupported", func(t *testing.T) {
		r := run(t, suite.Options{Endpoint: oldEndpoint, Focus: focus})
		if r.Count(suite.OutcomeUnsupported) != 4 || r.ExitCode() != suite.ExitPassed {
			t.Errorf("%s\n%s", r.Summary(), text(t, r))
		}
	})
	t.Run("CON-4 required by the user can fail", func(t *testing.T) {
		r := run(t, suite.Options{Endpoint: oldEndpoint, Focus: focus, Require: []suite.Feature{suite.FeatureEnvs}})
		if got := failures(r); !slices.Equal(got, []string{"envs/empty-value", "envs/injected", "envs/terminal"}) || r.ExitCode() != suite.ExitFailed {
			t.Errorf("failed are %q", got)
		}
	})
	t.Run("CON-4 not reported and half shown fails", func(t *testing.T) {
		half := broken{environ: dropsEmpty, calls: silent}
		r := run(t, suite.Options{Endpoint: half.endpoint(t), Focus: focus})
		if got := failures(r); !slices.Equal(got, []string{"envs/empty-value"}) {
			t.Errorf("failed are %q\n%s", got, text(t, r))
		}
	})
	t.Run("CON-4 not reported and wholly shown passes", func(t *testing.T) {
		r := run(t, suite.Options{Endpoint: broken{calls: silent}.endpoint(t), Focus: focus})
		if r.Count(suite.OutcomePass) != 4 {
			t.Errorf("%s", text(t, r))
		}
	})
	bytes := regexp.MustCompile("^envs-bytes/")
	t.Run("CON-9 a value that is not UTF-8 and is refused is unsupported, not required otherwise", func(t *testing.T) {
		endpoint := broken{environ: rejectsNonUTF8}.endpoint(t)
		r := run(t, suite.Options{Endpoint: endpoint, Focus: bytes, Require: []suite.Feature{suite.FeatureEnvs}})
		if r.Count(suite.OutcomeUnsupported) != 1 || r.ExitCode() != suite.ExitPassed {
			t.Errorf("%s\n%s", r.Summary(), text(t, r))
		}
	})
	for name, half := range map[string]environ{"replaced": replacesNonUTF8, "dropped": dropsNonUTF8} {
		t.Run("CON-9 CON-4 a value that is not UTF-8 and is "+name+" fails, whatever is required", func(t *testing.T) {
			r := run(t, suite.Options{Endpoint: broken{environ: half}.endpoint(t), Focus: bytes})
			if got := failures(r); !slices.Equal(got, []string{"envs-bytes/every-byte"}) {
				t.Errorf("failed are %q\n%s", got, text(t, r))
			}
		})
	}
	t.Run("CON-9 CON-4 a runtime without the environment is unsupported there, too", func(t *testing.T) {
		r := run(t, suite.Options{Endpoint: oldEndpoint, Focus: bytes})
		if r.Count(suite.OutcomeUnsupported) != 1 || r.ExitCode() != suite.ExitPassed {
			t.Errorf("%s\n%s", r.Summary(), text(t, r))
		}
	})
	t.Run("CON-4 what was not selected is skipped", func(t *testing.T) {
		r := run(t, suite.Options{Endpoint: oldEndpoint, Focus: focus, Skip: regexp.MustCompile("terminal")})
		if want := len(suite.Cases()) - 3; r.Count(suite.OutcomeSkip) != want {
			t.Errorf("%d skipped, want %d", r.Count(suite.OutcomeSkip), want)
		}
	})
	t.Run("CON-4 no runtime is the suite's trouble", func(t *testing.T) {
		r, err := suite.Run(t.Context(), suite.Options{Endpoint: "unix:///nowhere.sock", Reporter: reporter(t)})
		if err == nil || r.ExitCode() != suite.ExitTrouble {
			t.Errorf("Run = exit code %d, %v", r.ExitCode(), err)
		}
	})
	t.Run("CON-6 a failing case prints what was sent, what was seen and the KEP's sentence", func(t *testing.T) {
		expands := broken{environ: expandsRequest(dollar)}
		said := text(t, run(t, suite.Options{Endpoint: expands.endpoint(t), Focus: regexp.MustCompile("^envs/literal-dollar$")}))
		for _, want := range []string{"fail", `BAZ="$FOO" FOO="bar"`, `BAZ="bar", want "$FOO"`, "KEP-6035, CRI conformance tests", "verify that BAZ is set to the literal string $FOO"} {
			if !strings.Contains(said, want) {
				t.Errorf("no %q in\n%s", want, said)
			}
		}
	})
}

// checkGone fails the test if anything of any run is in the runtime.
func checkGone(t *testing.T, endpoint string) {
	t.Helper()
	n := runtimetest.Dial(t, strings.TrimPrefix(endpoint, "unix://"))
	pods, err := n.ListPodSandbox(runtimetest.Context(t), &runtimeapi.ListPodSandboxRequest{})
	if err != nil {
		t.Fatal(err)
	}
	containers, err := n.ListContainers(runtimetest.Context(t), &runtimeapi.ListContainersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.GetItems() {
		t.Errorf("pod %s is there", p.GetMetadata().GetName())
	}
	for _, c := range containers.GetContainers() {
		t.Errorf("container %s is there", c.GetMetadata().GetName())
	}
	images, err := n.Images.ListImages(runtimetest.Context(t), &runtimeapi.ListImagesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range images.GetImages() {
		if strings.Contains(strings.Join(i.GetRepoTags(), " "), "criconformance") {
			t.Errorf("image %s is there", i.GetRepoTags())
		}
	}
}
