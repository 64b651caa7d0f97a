package explain

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// Status is the outcome of a stage.
type Status string

// The outcomes of a stage.
const (
	// StatusPass: the lookup goes on to the next stage.
	StatusPass Status = "pass"
	// StatusFail: the provider gives no credentials.
	StatusFail Status = "fail"
	// StatusInconclusive: what the stage needs was not given.
	StatusInconclusive Status = "inconclusive"
)

// Stage is one of the conditions under which a plugin is run.
type Stage string

// The stages, in the order in which a lookup goes through them.
const (
	// StageConfig: the provider breaks no rule.
	StageConfig Stage = "configuration"
	// StageImage: one of its patterns matches.
	StageImage Stage = "image"
	// StagePlugin: its executable is there.
	StagePlugin Stage = "plugin"
	// StageAccount: the pod has the service account that it wants.
	StageAccount Stage = "service account"
	// StageAnnotations: the service account has the annotations that it wants.
	StageAnnotations Stage = "annotations"
	// StageToken: the node may have a token with its audience.
	StageToken Stage = "token"
	// StageKey: the cache key can be made.
	StageKey Stage = "cache key"
)

// Step is one stage of one provider.
type Step struct {
	Stage  Stage  `json:"stage"`
	Status Status `json:"status"`
	// Reason says why, in one line.
	Reason string `json:"reason"`
}

// Trace is the way of one provider: its stages up to the first that fails.
type Trace struct {
	Provider string `json:"provider"`
	// Origin is where the provider was read.
	Origin string `json:"origin"`
	Steps  []Step `json:"steps"`
	// Runs is set when no stage failed: the plugin is run unless its answer is cached.
	Runs bool `json:"runs"`
	// Request is what the plugin would be sent, with the token redacted; nil unless Runs.
	Request *credprovider.Request `json:"request,omitempty"`
}

// Report is the answer to a question.
type Report struct {
	// Reference is the image as it was asked for, Image its normalised repository: empty when it has none.
	Reference string `json:"reference"`
	Image     string `json:"image"`
	// Fault says what is wrong with the reference or with the configuration as a whole; empty when nothing is.
	Fault string `json:"fault,omitempty"`
	// Providers are the traces in the order of the configuration.
	Providers []Trace `json:"providers"`
}

// Runs reports whether any plugin would be run.
func (r Report) Runs() bool {
	for _, trace := range r.Providers {
		if trace.Runs {
			return true
		}
	}
	return false
}

// String returns the report for people: several lines of printable text.
func (r Report) String() string {
	var b strings.Builder
	image := "image " + r.Reference
	if r.Image != "" {
		image += " is matched as " + r.Image
	}
	line(&b, image)
	if r.Fault != "" {
		line(&b, r.Fault)
	}
	for _, trace := range r.Providers {
		trace.write(&b)
	}
	if !r.Runs() {
		line(&b, "no plugin is run: the pull has no credentials from providers")
	}
	return b.String()
}

func (t Trace) write(b *strings.Builder) {
	line(b, "")
	line(b, fmt.Sprintf("provider %s (%s)", t.Provider, t.Origin))
	for _, step := range t.Steps {
		line(b, fmt.Sprintf("  %-12s %-16s %s", step.Status, step.Stage, step.Reason))
	}
	if t.Request == nil {
		return
	}
	sends := "  sends        image=" + t.Request.Image
	if !t.Request.ServiceAccountToken.IsEmpty() {
		sends += fmt.Sprintf(" token=%v", t.Request.ServiceAccountToken)
	}
	if len(t.Request.ServiceAccountAnnotations) > 0 {
		sends += fmt.Sprintf(" annotations=%v", t.Request.ServiceAccountAnnotations)
	}
	line(b, sends)
}

// line writes text as one line that does not drive a terminal: annotations and names are other people's.
func line(b *strings.Builder, text string) {
	b.WriteString(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text))
	b.WriteByte('\n')
}
