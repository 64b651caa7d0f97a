package check

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/pluginexec"
	"github.com/lanyard-dev/lanyard/redact"
)

// DefaultTimeout is the time limit of a run when nothing else is said.
const DefaultTimeout = 10 * time.Second

// Options say how the plugin is run. The zero value asks for an image that no registry has.
type Options struct {
	// Image is the image of the requests; empty is "registry.invalid/image".
	Image string
	// APIVersion is the version that the plugin must speak; empty is credprovider.V1.
	APIVersion string
	// Args and Env are those of the provider's configuration; Env is added to this process's environment.
	Args []redact.Text
	Env  []credprovider.EnvVar
	// Token and Annotations are sent with V1. An empty token is not sent, and its cases are left out; with another
	// APIVersion they are inconclusive.
	Token       redact.Text
	Annotations map[string]string
	// CacheType is the provider's cacheType: with CacheByToken the token may come back in the answer.
	CacheType credprovider.TokenCacheType
	// Timeout is the time limit of a run; zero is DefaultTimeout.
	Timeout time.Duration
}

// The names of the cases, in their order.
const (
	caseExecutable = "the executable is there"
	caseAnswer     = "a request is answered, or refused with an exit code and a reason"
	caseVersions   = "each version is answered in itself, or refused"
	caseKeys       = "every credential is for the image that was asked for"
	caseEcho       = "the token does not come back in the answer"
	caseSilent     = "the token is not on standard error"
	caseUnknown    = "an unknown version is refused"
	caseGarbage    = "input that is not a request is refused"
	caseEmpty      = "empty input is refused"
)

// Run takes the executable at path through the cases. It reports what it saw; it has no error of its own, and stops
// early only when there is no executable.
func Run(ctx context.Context, path string, options Options) Report {
	options = options.withDefaults()
	report := Report{Path: path}
	resolved, err := pluginexec.Lookup(path)
	if err != nil {
		report.add(caseExecutable, StatusFail, err.Error())
		return report
	}
	report.add(caseExecutable, StatusPass, "")
	s := session{ctx: ctx, path: resolved, options: options, report: &report}
	s.answers()
	s.versions()
	s.refuses(caseUnknown, fmt.Sprintf(`{"kind":%q,"apiVersion":"credentialprovider.kubelet.k8s.io/v999","image":%q}`, credprovider.RequestKind, options.Image))
	s.refuses(caseGarbage, "this is not a request\n")
	s.refuses(caseEmpty, "")
	return report
}

func (o Options) withDefaults() Options {
	if o.Image == "" {
		o.Image = "registry.invalid/image"
	}
	if o.APIVersion == "" {
		o.APIVersion = credprovider.V1
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	return o
}

// session is one plugin under check.
type session struct {
	ctx     context.Context
	path    string
	options Options
	report  *Report
}

// request is the full request in the plugin's version.
func (s session) request(version string) credprovider.Request {
	r := credprovider.Request{APIVersion: version, Image: s.options.Image}
	if version == credprovider.V1 {
		r.ServiceAccountToken, r.ServiceAccountAnnotations = s.options.Token, s.options.Annotations
	}
	return r
}

func (s session) answers() {
	input, err := credprovider.EncodeRequest(s.request(s.options.APIVersion))
	if err != nil {
		s.report.add(caseAnswer, StatusFail, err.Error())
		return
	}
	seen := s.run(input)
	response, status, detail := s.judge(seen, s.options.APIVersion)
	s.report.add(caseAnswer, status, detail)
	s.keys(response, status)
	if s.options.Token.IsEmpty() {
		return
	}
	s.echo(response, status)
	switch {
	case seen.leaked:
		s.report.add(caseSilent, StatusFail, "it is there, where a kubelet logs it")
	case !s.sendsToken():
		s.report.add(caseSilent, StatusInconclusive, notSent)
	default:
		s.report.add(caseSilent, StatusPass, "")
	}
}

// notSent is why nothing is known of what a plugin does with the token.
const notSent = "the version has no place for a token"

func (s session) sendsToken() bool { return s.options.APIVersion == credprovider.V1 }

// judge tells an answer, a refusal and a fault apart.
func (s session) judge(seen seen, version string) (credprovider.Response, Status, string) {
	exit, refused := seen.refusal()
	switch {
	case refused && exit.Stderr.IsEmpty():
		return credprovider.Response{}, StatusFail, seen.err.Error() + " without a reason on standard error"
	case refused && seen.leaked:
		return credprovider.Response{}, StatusInconclusive, seen.err.Error() + ", and the token is in its reason"
	case refused:
		return credprovider.Response{}, StatusInconclusive, fmt.Sprintf("%v: %s", seen.err, exit.Stderr.Reveal())
	case seen.err != nil:
		return credprovider.Response{}, StatusFail, seen.err.Error()
	}
	response, err := credprovider.DecodeResponse(seen.stdout.Reveal(), version)
	if err != nil {
		return response, StatusFail, err.Error()
	}
	return response, StatusPass, ""
}

func (s session) versions() {
	var refused, broken []string
	answered := 0
	for _, version := range []string{credprovider.V1, credprovider.V1beta1, credprovider.V1alpha1} {
		input, err := credprovider.EncodeRequest(s.request(version))
		if err != nil {
			continue
		}
		seen := s.run(input)
		_, status, detail := s.judge(seen, version)
		switch _, refuses := seen.refusal(); {
		case refuses:
			refused = append(refused, version)
		case status == StatusFail:
			broken = append(broken, version+": "+detail)
		default:
			answered++
		}
	}
	switch {
	case len(broken) > 0:
		s.report.add(caseVersions, StatusFail, strings.Join(broken, "; "))
	case answered == 0:
		s.report.add(caseVersions, StatusInconclusive, "all are refused: "+strings.Join(refused, ", "))
	case len(refused) > 0:
		s.report.add(caseVersions, StatusPass, "refused: "+strings.Join(refused, ", "))
	default:
		s.report.add(caseVersions, StatusPass, "all are answered")
	}
}

// keys looks for credentials that a kubelet would silently leave unused.
func (s session) keys(response credprovider.Response, status Status) {
	if status != StatusPass {
		s.report.add(caseKeys, StatusInconclusive, "there is no answer")
		return
	}
	ring := credprovider.NewKeyring("", nil, response.Auth)
	if used := len(credprovider.Credentials(s.options.Image, ring)); used < len(response.Auth) {
		s.report.add(caseKeys, StatusFail, fmt.Sprintf("%d of %d are not for %q, and would not be used", len(response.Auth)-used, len(response.Auth), s.options.Image))
		return
	}
	s.report.add(caseKeys, StatusPass, fmt.Sprintf("%d credentials", len(response.Auth)))
}

func (s session) echo(response credprovider.Response, status Status) {
	switch {
	case status != StatusPass:
		s.report.add(caseEcho, StatusInconclusive, "there is no answer")
	case !s.sendsToken():
		s.report.add(caseEcho, StatusInconclusive, notSent)
	case len(response.Auth) == 0:
		s.report.add(caseEcho, StatusInconclusive, "the answer has no credentials")
	case s.options.CacheType != credprovider.CacheByToken && response.Holds(s.options.Token):
		s.report.add(caseEcho, StatusFail, "it does, and is refused unless cacheType is Token")
	default:
		s.report.add(caseEcho, StatusPass, "")
	}
}

func (s session) refuses(name, input string) {
	seen := s.run([]byte(input))
	switch exit, refused := seen.refusal(); {
	case refused:
		s.report.add(name, StatusPass, fmt.Sprintf("exit code %d", exit.Code))
	case seen.err != nil:
		s.report.add(name, StatusFail, seen.err.Error())
	default:
		s.report.add(name, StatusFail, "exit code 0")
	}
}
