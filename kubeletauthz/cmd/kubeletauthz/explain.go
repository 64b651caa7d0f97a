package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
	"github.com/lanyard-dev/lanyard/kubeletauthz/privilege"
	rbacv1 "k8s.io/api/rbac/v1"
)

// explain says for each version what a call asks for, directly and through the API server, and what rule is enough.
func explain(c console, args []string) (int, error) {
	flags := flag.NewFlagSet("explain", flag.ContinueOnError)
	only := minor{console: c}
	flags.Var(&only, "version", "")
	hardened := flags.Bool("hardened", false, "")
	others, err := parse(flags, args)
	if err != nil {
		return exitUsage, err
	}
	call, err := callOf(others)
	if err != nil {
		return exitUsage, err
	}
	oldest, newest := kubeletauthz.MinorOldest, kubeletauthz.MinorNewest
	if only.Minor != 0 {
		oldest, newest = only.Minor, only.Minor
	}
	if !call.Proxied {
		c.line("%s, directly to the kubelet", call)
		if !kubeletauthz.Clean(call.Path, "") {
			c.line("  the path is not clean: routers may read it differently, so it asks for proxy only")
		}
		versions(c, call, oldest, newest, *hardened)
		smallest(c, call, oldest, newest, *hardened)
	}
	through := privilege.Call{Method: call.Method, Path: call.Path, Proxied: true}
	asks := through.Asks(kubeletauthz.Mapper{})
	c.line("%s, through the API server", through)
	c.line("  every version  %s; the kubelet then sees the API server's own identity", asks[0])
	warn(c, privilege.Rules(asks))
	return exitDone, nil
}

// callOf reads [METHOD] PATH.
func callOf(args []string) (privilege.Call, error) {
	if len(args) < 1 || len(args) > 2 {
		return privilege.Call{}, fmt.Errorf("%w: want METHOD PATH", errUsage)
	}
	call, err := privilege.ParseCall(strings.Join(args, " "))
	if err != nil {
		return call, fmt.Errorf("%w: %w", errUsage, err)
	}
	return call, nil
}

// versions prints what is asked, with neighbouring versions that ask the same on one line.
func versions(c console, call privilege.Call, oldest, newest kubeletauthz.Minor, hardened bool) {
	from, last := oldest, ""
	for v := oldest; v <= newest+1; v++ {
		asks := ""
		if v <= newest {
			asks = asked(call, kubeletauthz.Options{Minor: v, HardenedVerbs: hardened})
		}
		if v > oldest && asks != last {
			c.line("  %-13s  %s", span(from, v-1), last)
			from = v
		}
		last = asks
	}
}

func asked(call privilege.Call, o kubeletauthz.Options) string {
	m, err := kubeletauthz.New(o)
	if err != nil {
		return err.Error()
	}
	var asks []string
	for _, need := range call.Asks(m) {
		asks = append(asks, need.String())
	}
	return strings.Join(asks, ", then ")
}

func span(from, to kubeletauthz.Minor) string {
	if from == to {
		return from.String()
	}
	return from.String() + " to " + to.String()
}

// smallest prints a rule for all versions, and the one for newer clusters where that is smaller.
func smallest(c console, call privilege.Call, oldest, newest kubeletauthz.Minor, hardened bool) {
	last := ""
	for v := oldest; v <= newest; v++ {
		needs := privilege.Needs([]privilege.Call{call}, privilege.Fleet{Oldest: v, HardenedVerbs: hardened})
		rules := privilege.Rules(needs)
		rule := oneLine(rules)
		if rule != last {
			c.line("  smallest rule for %s and later: %s", v, rule)
			warn(c, rules)
		}
		last = rule
	}
}

func oneLine(rules []rbacv1.PolicyRule) string {
	var lines []string
	for _, r := range rules {
		lines = append(lines, fmt.Sprintf("apiGroups: [%q], resources: %q, verbs: %q", "", r.Resources, r.Verbs))
	}
	return strings.Join(lines, "; ")
}
