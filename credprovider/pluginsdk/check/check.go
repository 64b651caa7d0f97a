package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/internal/pluginexec"
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
	Args []string
	Env  []credprovider.EnvVar
	// Token and Annotations are sent with V1. An empty token is not sent, and its cases are left out.
	Token       credprovider.Secret
	Annotations map[string]string
	// CacheType is the provider's cacheType: with CacheByToken the token may come back as a password.
	CacheType credprovider.TokenCacheType
	// Timeout is the time limit of a run; zero is DefaultTimeout.
	Timeout time.Duration
}

// The names of the cases, in their order.
const (
	CaseExecutable = "the executable is there"
	CaseAnswer     = "a request is answered, or refused with an exit code and a reason"
	CaseVersions   = "each version is answered in itself, or refused"
	CaseKeys       = "every credential is for the image that was asked for"
	CaseEcho       = "the token does not come back as a password"
	CaseSilent     = "the token is not on standard error"
	CaseUnknown    = "an unknown version is refused"
	CaseGarbage    = "input that is no request is refused"
	CaseEmpty      = "empty input is refused"
)

// Run takes the executable at path through the cases. It reports what it saw; it has no error of its own, and stops early
// only when there is no executable.
func Run(ctx context.Context, path string, options Options) Report {
	options = options.withDefaults()
	report := Report{Path: path}
	resolved, err := pluginexec.Lookup(path)
	if err != nil {
		report.add(CaseExecutable, Fail, err.Error())
		return report
	}
	report.add(CaseExecutable, Pass, "")
	s := session{ctx: ctx, path: resolved, options: options, report: &report}
	s.answers()
	s.versions()
	s.refuses(CaseUnknown, fmt.Sprintf(`{"kind":%q,"apiVersion":"credentialprovider.kubelet.k8s.io/v999","image":%q}`, credprovider.RequestKind, options.Image))
	s.refuses(CaseGarbage, "this is no request\n")
	s.refuses(CaseEmpty, "")
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

func (s session) run(input []byte) (pluginexec.Result, error) {
	env := os.Environ()
	for _, e := range s.options.Env {
		env = append(env, e.Name+"="+e.Value)
	}
	return pluginexec.Run(s.ctx, pluginexec.Command{Path: s.path, Args: s.options.Args, Env: env, Stdin: input, Timeout: s.options.Timeout})
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
		s.report.add(CaseAnswer, Fail, err.Error())
		return
	}
	result, err := s.run(input)
	stderr := append(stderrOf(err), result.Stderr...)
	response, status, detail := s.judge(result.Stdout, err, s.options.APIVersion)
	s.report.add(CaseAnswer, status, s.clean(detail))
	s.keys(response, status)
	if s.options.Token.IsEmpty() {
		return
	}
	s.echo(response, status)
	if bytes.Contains(stderr, []byte(s.options.Token.Reveal())) {
		s.report.add(CaseSilent, Fail, "it is there, where a kubelet logs it")
	} else {
		s.report.add(CaseSilent, Pass, "")
	}
}

// judge tells an answer, a refusal and a fault apart.
func (s session) judge(stdout []byte, err error, version string) (credprovider.Response, Status, string) {
	var exit *pluginexec.ExitError
	switch {
	case errors.As(err, &exit) && len(exit.Stderr) == 0:
		return credprovider.Response{}, Fail, err.Error() + " without a word on standard error"
	case errors.As(err, &exit):
		return credprovider.Response{}, Inconclusive, fmt.Sprintf("%v: %s", err, bytes.TrimSpace(exit.Stderr))
	case err != nil:
		return credprovider.Response{}, Fail, err.Error()
	}
	response, err := credprovider.DecodeResponse(stdout, version)
	if err != nil {
		return response, Fail, err.Error()
	}
	return response, Pass, ""
}

func (s session) versions() {
	var refused, broken []string
	for _, version := range []string{credprovider.V1, credprovider.V1beta1, credprovider.V1alpha1} {
		input, err := credprovider.EncodeRequest(s.request(version))
		if err != nil {
			continue
		}
		result, err := s.run(input)
		_, status, detail := s.judge(result.Stdout, err, version)
		var exit *pluginexec.ExitError
		switch {
		case errors.As(err, &exit):
			refused = append(refused, version)
		case status == Fail:
			broken = append(broken, version+": "+detail)
		}
	}
	switch {
	case len(broken) > 0:
		s.report.add(CaseVersions, Fail, s.clean(strings.Join(broken, "; ")))
	case len(refused) > 0:
		s.report.add(CaseVersions, Pass, "refused: "+strings.Join(refused, ", "))
	default:
		s.report.add(CaseVersions, Pass, "all are answered")
	}
}

// keys looks for credentials that a kubelet would silently leave unused.
func (s session) keys(response credprovider.Response, status Status) {
	if status != Pass {
		s.report.add(CaseKeys, Inconclusive, "there is no answer")
		return
	}
	ring := credprovider.NewKeyring("", nil, response.Auth)
	if used := len(credprovider.Credentials(s.options.Image, ring)); used < len(response.Auth) {
		s.report.add(CaseKeys, Fail, fmt.Sprintf("%d of %d are not for %q, and would not be used", len(response.Auth)-used, len(response.Auth), s.options.Image))
		return
	}
	s.report.add(CaseKeys, Pass, fmt.Sprintf("%d credentials", len(response.Auth)))
}

func (s session) echo(response credprovider.Response, status Status) {
	if status != Pass {
		s.report.add(CaseEcho, Inconclusive, "there is no answer")
		return
	}
	for _, auth := range response.Auth {
		if auth.Password.Equal(s.options.Token) && s.options.CacheType != credprovider.CacheByToken {
			s.report.add(CaseEcho, Fail, "it does, and a kubelet refuses it unless cacheType is Token")
			return
		}
	}
	s.report.add(CaseEcho, Pass, "")
}

func (s session) refuses(name, input string) {
	_, err := s.run([]byte(input))
	var exit *pluginexec.ExitError
	switch {
	case errors.As(err, &exit):
		s.report.add(name, Pass, fmt.Sprintf("exit code %d", exit.Code))
	case err != nil:
		s.report.add(name, Fail, err.Error())
	default:
		s.report.add(name, Fail, "exit code 0")
	}
}

// clean keeps the token out of a report that quotes the plugin.
func (s session) clean(detail string) string {
	if s.options.Token.IsEmpty() {
		return detail
	}
	return strings.ReplaceAll(detail, s.options.Token.Reveal(), s.options.Token.String())
}

func stderrOf(err error) []byte {
	var exit *pluginexec.ExitError
	if errors.As(err, &exit) {
		return bytes.Clone(exit.Stderr)
	}
	return nil
}
