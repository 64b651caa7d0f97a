package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// Effect is what a pattern does that its author may not have meant.
type Effect string

// The effects that Lint finds.
const (
	// EffectNeverMatches: no normalised image matches.
	EffectNeverMatches Effect = "never matches"
	// EffectMatchesMore: images match that the text does not seem to mean.
	EffectMatchesMore Effect = "matches more"
)

// Warning is a pattern that is legal and probably wrong.
type Warning struct {
	Provider string `json:"provider"`
	// Origin is where the provider was read.
	Origin string `json:"origin"`
	// Pattern is the text.
	Pattern string `json:"pattern"`
	Effect  Effect `json:"effect"`
	// Reason says why, and what to write.
	Reason string `json:"reason"`
}

// String returns the warning in one line.
func (w Warning) String() string {
	return fmt.Sprintf("%s: provider %q: matchImages %q %s: %s", w.Origin, w.Provider, w.Pattern, w.Effect, w.Reason)
}

// Lint returns warnings about the patterns of a configuration, in its order; nil when there are none. Patterns that
// cannot be compiled are for credprovider.Validate and are skipped.
func Lint(config credprovider.Config) []Warning {
	var warnings []Warning
	for i, p := range config.Providers {
		if p.Origin.File == "" {
			p.Origin.Index = i
		}
		for _, text := range p.MatchImages {
			if effect, reason := lint(text); effect != "" {
				warnings = append(warnings, Warning{Provider: p.Name, Origin: p.Origin.String(), Pattern: text, Effect: effect, Reason: reason})
			}
		}
	}
	return warnings
}

// lint returns the first effect of a pattern: one that matches nothing cannot match more.
func lint(text string) (Effect, string) {
	p, err := credprovider.Compile(text)
	if err != nil {
		return "", ""
	}
	if reason := neverReason(text, p); reason != "" {
		return EffectNeverMatches, reason
	}
	if strings.ContainsAny(text, "?#") || strings.Contains(text, "@") {
		return EffectMatchesMore, "user names, queries and fragments are dropped, and the rest is matched alone"
	}
	if p.Path() != "" && !strings.HasSuffix(p.Path(), "/") {
		return EffectMatchesMore, fmt.Sprintf("a path is a prefix of text, so %q matches too; end it with \"/\" to mean the directory", p.Host()+p.Path()+"2")
	}
	return "", ""
}

// neverReason returns why no normalised image can match, or the empty string.
func neverReason(text string, p credprovider.Pattern) string {
	host, path := p.Host(), p.Path()
	labels := strings.Split(host, ".")
	switch {
	case strings.HasPrefix(text, "https://"), strings.HasPrefix(text, "http://"):
		return "a scheme is taken for the host; remove it"
	case strings.Contains(path, "*"):
		return "a path is text, without wildcards; remove it, or write its beginning"
	case strings.Contains(path, ":"), strings.Contains(path, "@"):
		return "images are matched without tag and digest"
	case strings.ToLower(path) != path:
		return "repository paths are lower case"
	case strings.ToLower(host) != host:
		return "case counts: only images that pods write the same way match"
	case strings.HasPrefix(host, "["):
		return "an IPv6 address needs a port here"
	case slices.Contains(labels, ""):
		return "a label of its host is empty"
	case host == "index.docker.io":
		return "images of Docker Hub are normalised to docker.io"
	case len(labels) == 1 && p.Port() == "" && !matchesLocalhost(host):
		return "a host of one label is localhost, or has a port; a wildcard stays in its label"
	}
	return ""
}

func matchesLocalhost(host string) bool {
	p, err := credprovider.Compile(host)
	return err == nil && p.Match("localhost/x")
}
