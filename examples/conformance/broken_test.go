package conformance_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
	"github.com/lanyard-dev/lanyard/examples/soak"
)

// broken is a runtime that breaks one promise.
type broken struct {
	promise string
	caught  string   // the case that is about it
	follow  []string // the cases that cannot be kept then, either

	environ  environ
	identify identify
	calls    func(t testing.TB, endpoint string) map[string]hook
	runc     func(t testing.TB, runc string) string
}

// imageUsers are the cases about the forms of an image's user.
var imageUsers = []string{
	"groups/image-user-alice", "groups/image-user-1000", "groups/image-user-alice-staff", "groups/image-user-1000-2000",
	"groups/image-user-1000-staff", "groups/image-user-alice-2000",
}

func environments() []broken {
	overBaseline := []string{"envs/each-once", "envs/empty-value", "envs/home", "envs/path"}
	return []broken{
		{promise: "the container's value wins", caught: "envs/over-baseline", follow: overBaseline, environ: baselineWins},
		{promise: "the environment is replaced", caught: "envs/baseline-kept", follow: []string{"envs/baseline-literal"}, environ: replaces},
		{promise: "$FOO is expanded", caught: "envs/literal-dollar", environ: expandsRequest(dollar)},
		{promise: "${FOO} is expanded", caught: "envs/literal-braces", environ: expandsRequest(`\$\{(\w+)\}`)},
		{promise: "%FOO% is expanded", caught: "envs/literal-percent", environ: expandsRequest(`%(\w+)%`)},
		{promise: "$(FOO) is expanded", caught: "envs/literal-parentheses", environ: expandsRequest(`\$\((\w+)\)`)},
		{promise: "references to the container's variables are expanded", caught: "envs/literal-against-baseline", environ: expandsAgainstBaseline},
		{promise: "the container's own values are expanded", caught: "envs/baseline-literal", environ: expandsBaseline},
		{promise: "empty values are dropped", caught: "envs/empty-value", environ: dropsEmpty},
		{promise: "the first of several entries wins", caught: "envs/last-wins", environ: firstWins},
		{promise: "duplicates in the request are kept", caught: "envs/each-once", follow: []string{"envs/last-wins"}, environ: keepsDuplicates},
		{promise: "the container's copy is kept beside the request's", caught: "envs/over-baseline", follow: append(overBaseline, "envs/last-wins"), environ: keepsBaseline},
		{promise: "blanks are trimmed", caught: "envs/spaces", environ: eachRequested(func(_, v string) (string, bool) { return strings.TrimSpace(v), true })},
		{promise: "values end at 4 KiB", caught: "envs/bytes-32k", environ: eachRequested(func(_, v string) (string, bool) { return v[:min(len(v), 4096)], true })},
		{promise: "values end at a newline", caught: "envs/newline", follow: []string{"envs/every-character", "envs-bytes/every-byte"}, environ: eachRequested(func(_, v string) (string, bool) {
			v, _, _ = strings.Cut(v, "\n")
			return v, true
		})},
		{promise: "the request ends at 128 entries", caught: "envs/entries-256", environ: truncatesEntries},
		{promise: "LD_PRELOAD is filtered", caught: "envs/ld-preload", environ: filters("LD_")},
		{promise: "PATH is filtered", caught: "envs/path", environ: filters("PATH")},
		{promise: "HOME is filtered", caught: "envs/home", environ: filters("HOME")},
		{promise: "KUBERNETES_ is filtered", caught: "envs/audit-id", environ: filters("KUBERNETES_")},
		{promise: "names are shell names only", caught: "envs/names", environ: eachRequested(func(n, v string) (string, bool) { return v, !strings.ContainsAny(n, ".-") })},
		{promise: "values that are not UTF-8 are rejected", caught: "envs-bytes/every-byte", environ: rejectsNonUTF8},
		{promise: "what is not UTF-8 becomes U+FFFD", caught: "envs-bytes/every-byte", environ: replacesNonUTF8},
		{promise: "entries that are not UTF-8 are dropped", caught: "envs-bytes/every-byte", environ: dropsNonUTF8},
		{promise: "values are ASCII", caught: "envs/every-character", follow: []string{"envs-bytes/every-byte"}, environ: asciiOnly},
		{promise: "quotes are taken away", caught: "envs/shell-characters", follow: []string{"envs/every-character", "envs-bytes/every-byte"}, environ: eachRequested(func(_, v string) (string, bool) {
			return strings.NewReplacer(`"`, "", `'`, "").Replace(v), true
		})},
		{promise: "nothing is injected", caught: "envs/injected", follow: nothingInjected(), environ: filters("")},
		{promise: "a terminal's session has no environment", caught: "envs/terminal", follow: []string{"envs/every-protocol"}, environ: ignoresWithTerminal},
		{promise: "a session has the environments before it", caught: "envs/not-in-next-session", follow: []string{"envs/not-in-exec-sync"}, environ: leaksIntoNext()},
		{promise: "overlapping sessions are mixed up", caught: "envs/concurrent-sessions", environ: mixesUp()},
		{promise: "new containers have it, too", caught: "envs/not-in-other-containers", calls: leaksIntoContainers},
		{promise: "ExecSync has it, too", caught: "envs/not-in-exec-sync", calls: leaksIntoExecSync},
	}
}

// nothingInjected are all cases that send something and look for it.
func nothingInjected() (out []string) {
	for _, c := range suite.Cases() {
		if (c.Feature == suite.FeatureEnvs || c.Feature == suite.FeatureEnvsBytes) && c.Name != "envs/injected" && !strings.HasPrefix(c.Name, "envs/not-in-") {
			out = append(out, c.Name)
		}
	}
	return out
}

func identities() []broken {
	return []broken{
		{promise: "Strict adds the image's groups", caught: "groups/strict", follow: append([]string{"groups/strict-without-group", "groups/strict-username", "groups/username-wins"}, imageUsers...), identify: misreads(leniently)},
		{promise: "Merge forgets the image's groups", caught: "groups/merge", follow: []string{"groups/merge-without-group", "groups/merge-username", "groups/image-user-merge"}, identify: misreads(strictly)},
		{promise: "the primary group is not among the groups", caught: "groups/primary-group-kept", identify: forgetsPrimary},
		{promise: "groups are repeated", caught: "groups/each-once", identify: repeatsGroups},
		{promise: "the user's ID wins over the name", caught: "groups/username-wins", identify: misreads(userWins)},
		{promise: "the group of the image's user is forgotten", caught: "groups/image-user-alice-staff", follow: []string{"groups/image-user-1000-2000", "groups/image-user-1000-staff", "groups/image-user-alice-2000"}, identify: forgetsImageGroup},
		{promise: "an unknown policy is Merge", caught: "groups/unknown-policy", identify: misreads(mergesUnknown)},
		{promise: "a group without a user is ignored", caught: "groups/group-without-user", identify: misreads(groupAlone)},
		{promise: "an unknown name is root", caught: "groups/unknown-username", identify: unknownIsRoot},
		{promise: "user 4294967296 is root", caught: "groups/user-out-of-range", identify: misreads(wrapsUser)},
		{promise: "primary group 4294967296 is root's", caught: "groups/group-out-of-range", identify: misreads(wrapsGroup)},
		{promise: "supplemental group 4294967296 is root's", caught: "ids/wraps-to-root", identify: misreads(wrapsGroups)},
		{promise: "status.user is somebody else", caught: "groups/status-user-true", calls: wrongUser},
		{promise: "status.user is empty", caught: "groups/status-user-filled", calls: noUser},
		{promise: "exec'd processes lack the groups", caught: "groups/exec-process", runc: forgetfulRunc},
	}
}

// endpoint runs the broken runtime until the test ends.
func (b broken) endpoint(t testing.TB) string {
	t.Helper()
	config := newConfig(t)
	config.Environ, config.Identify = b.environ, b.identify
	if b.runc != nil {
		config.Runc = b.runc(t, config.Runc)
	}
	endpoint := serve(t, config)
	if b.calls != nil {
		endpoint = proxy(t, endpoint, b.calls(t, endpoint))
	}
	return endpoint
}

// othersEvery is how many broken runtimes share the cases that none of them should fail; in a soak each has them all.
var othersEvery = soak.Size(4, 1)

// focus selects the cases that the i-th broken runtime should fail, and its part of the others.
func (b broken) focus(i int) *regexp.Regexp {
	var names []string
	for j, c := range suite.Cases() {
		if c.Name == b.caught || slices.Contains(b.follow, c.Name) || (i+j)%othersEvery == 0 {
			names = append(names, regexp.QuoteMeta(c.Name))
		}
	}
	return regexp.MustCompile("^(" + strings.Join(names, "|") + ")$")
}

// TestBroken is the proof that the suite has teeth: each broken promise fails the case that is about it, by name, and
// no other but those that cannot be kept then.
func TestBroken(t *testing.T) {
	all := slices.Concat(environments(), identities())
	caught := make([]bool, len(all))
	t.Run("each", func(t *testing.T) {
		for i, b := range all {
			t.Run("CON-6 "+b.promise, func(t *testing.T) {
				t.Parallel()
				failed := failures(run(t, suite.Options{Endpoint: b.endpoint(t), Require: suite.Features(), Focus: b.focus(i)}))
				caught[i] = slices.Contains(failed, b.caught)
				want := slices.Sorted(slices.Values(append([]string{b.caught}, b.follow...)))
				if !slices.Equal(failed, want) {
					t.Errorf("failed are %q, want %q", failed, want)
				}
			})
		}
	})
	t.Log("\n" + table(all, caught))
}

func table(all []broken, caught []bool) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "BROKEN PROMISE\tCASE\tCAUGHT\tAND FOLLOWING")
	for i, b := range all {
		fmt.Fprintf(w, "%s\t%s\t%v\t%d\n", b.promise, b.caught, caught[i], len(b.follow))
	}
	w.Flush()
	return out.String()
}

// failures are the names of the failed cases, sorted.
func failures(r suite.Report) (out []string) {
	for _, result := range r.Results {
		if result.Outcome == suite.OutcomeFail {
			out = append(out, result.Case)
		}
	}
	slices.Sort(out)
	return out
}
