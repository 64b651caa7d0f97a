package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/internal/terminal"
	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/privilege"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// minimize prints the smallest ClusterRole for some calls and, as comments, how it differs from the one it was given.
func minimize(c console, args []string) (int, error) {
	flags := flag.NewFlagSet("minimize", flag.ContinueOnError)
	oldest := minor{kubeletauthz.MinorOldest, c}
	var files, endpoints many
	flags.Var(&oldest, "min-version", "")
	flags.Var(&files, "f", "")
	flags.Var(&endpoints, "endpoints", "")
	name := flags.String("role", "", "")
	hardened := flags.Bool("hardened", false, "")
	others, err := parse(flags, args)
	if err != nil {
		return exitUsage, err
	}
	calls, err := callsOf(append(endpoints, others...))
	if err != nil {
		return exitUsage, err
	}
	m, before, code, err := chosen(c, files, *name)
	if err != nil {
		return code, err
	}
	after, err := privilege.Minimize(before.Rules, privilege.Needs(calls, privilege.Fleet{Oldest: oldest.Minor, HardenedVerbs: *hardened}))
	if err != nil {
		return exitInput, fmt.Errorf("ClusterRole %q: %w", before.Name, err)
	}
	code, err = show(c, before, after, len(files) > 0)
	return m.code(code), err
}

// callsOf reads lists with commas between.
func callsOf(lists []string) ([]privilege.Call, error) {
	var calls []privilege.Call
	for _, text := range strings.Split(strings.Join(lists, ","), ",") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		call, err := privilege.ParseCall(text)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errUsage, err)
		}
		calls = append(calls, call)
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("%w: --endpoints is missing", errUsage)
	}
	return calls, nil
}

// chosen is the ClusterRole to start from: an empty one without files, else the named one, else the only one about
// kubelets. It comes with what the files hold.
func chosen(c console, files []string, name string) (*manifests, *rbacv1.ClusterRole, int, error) {
	if len(files) == 0 {
		if name == "" {
			name = "kubelet-client"
		}
		return &manifests{}, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}, exitDone, nil
	}
	m, code, err := input(c, files)
	if err != nil {
		return nil, nil, code, err
	}
	var found []*rbacv1.ClusterRole
	for _, r := range m.Cluster {
		if r.Name == name || name == "" && aboutKubelets(r) {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return nil, nil, exitUsage, fmt.Errorf("%w: %d ClusterRoles to choose from, name one with --role", errUsage, len(found))
	}
	return m, found[0], exitDone, nil
}

func aboutKubelets(r *rbacv1.ClusterRole) bool {
	return slices.ContainsFunc(r.Rules, func(rule rbacv1.PolicyRule) bool {
		return slices.ContainsFunc(rule.Resources, func(resource string) bool { return strings.HasPrefix(resource, "nodes/") })
	})
}

// show prints YAML that can be applied as it is; the difference stands in comments.
func show(c console, before *rbacv1.ClusterRole, after privilege.Minimized, compare bool) (int, error) {
	result := before.DeepCopy()
	result.TypeMeta = metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}
	old, err := yaml.Marshal(result)
	if err != nil {
		return exitInput, err
	}
	result.Rules = after.Rules
	text, err := yaml.Marshal(result)
	if err != nil {
		return exitInput, err
	}
	for _, line := range annotated(lines(text), after.Rules) {
		fmt.Fprintln(c.out, line)
	}
	if compare {
		for _, line := range diff(lines(old), lines(text)) {
			fmt.Fprintf(c.out, "# %s\n", line)
		}
	}
	for _, i := range after.Wide {
		c.line("# rule %d still grants nodes/proxy by a wildcard; name its resources", i+1)
	}
	if len(after.Wide) > 0 {
		return exitFound, nil
	}
	return exitDone, nil
}

// annotated puts the warnings about each rule, as comments, above the line where it begins. In a ClusterRole's YAML the
// rules come last and begin at the margin.
func annotated(text []string, rules []rbacv1.PolicyRule) []string {
	var out []string
	next, within := 0, false
	for _, line := range text {
		if within && strings.HasPrefix(line, "- ") {
			for _, warning := range warnings(rules[next]) {
				out = append(out, "# "+terminal.Escape(warning))
			}
			next++
		}
		within = within || line == "rules:"
		out = append(out, line)
	}
	return out
}

func lines(text []byte) []string { return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") }
