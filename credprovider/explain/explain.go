package explain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/plugin"
	"github.com/lanyard-dev/lanyard/credprovider/provider"
	"github.com/lanyard-dev/lanyard/redact"
)

// Question is what to explain. Config and Image are required; what is left out makes stages inconclusive, not failed.
type Question struct {
	Config credprovider.Config
	Gates  credprovider.Gates
	// Image is a reference as a pod names it.
	Image string
	// Pod is the pod that pulls; with an empty ServiceAccount it has none.
	Pod provider.Pod
	// Account is the pod's service account as the API server returns it; nil if it is not known.
	Account *credprovider.ServiceAccount
	// BinDir is the plugin directory; empty is not looked at.
	BinDir string
	// Audience says whether the node may have a token with an audience for an account, such as a SubjectAccessReview;
	// nil is not asked.
	Audience func(ctx context.Context, account credprovider.AccountRef, audience string) error
}

// Explain walks every provider through the stages of a lookup. It runs no plugin, asks for no token and changes
// nothing; it looks at BinDir and calls Audience when they are given.
func Explain(ctx context.Context, q Question) Report {
	report := Report{Reference: q.Image}
	image, err := credprovider.ParseImage(q.Image)
	if err != nil {
		report.Fault = err.Error()
		return report
	}
	report.Image = image.Repository
	var faults credprovider.Faults
	errors.As(credprovider.Validate(q.Config, q.Gates), &faults)
	if len(q.Config.Providers) == 0 {
		report.Fault = faults.Error()
	}
	for i, config := range q.Config.Providers {
		if config.Origin.File == "" {
			config.Origin.Index = i
		}
		w := walk{question: q, image: image.Repository, config: config, trace: Trace{Provider: config.Name, Origin: config.Origin.String()}}
		w.all(ctx, faultsOf(faults, config.Origin))
		report.Providers = append(report.Providers, w.trace)
	}
	return report
}

// faultsOf returns the texts of the faults of one provider, on one line.
func faultsOf(faults credprovider.Faults, at credprovider.Origin) string {
	var own []string
	for _, fault := range faults {
		if rest, ok := strings.CutPrefix(fault.Field, fmt.Sprintf("providers[%d]", at.Index)); ok && fault.File == at.File && !strings.HasPrefix(rest, "[") {
			own = append(own, fault.Error())
		}
	}
	return strings.Join(own, "; ")
}

// walk is the way of one provider.
type walk struct {
	question Question
	image    string
	config   credprovider.Provider
	trace    Trace
	request  credprovider.Request
}

func (w *walk) all(ctx context.Context, faults string) {
	w.request = credprovider.Request{APIVersion: w.config.APIVersion, Image: w.image}
	if faults != "" {
		w.step(StageConfig, StatusFail, faults+"; a kubelet does not start with it")
		return
	}
	w.step(StageConfig, StatusPass, "no rule is broken")
	if !w.matches() || !w.executable() || !w.identified(ctx) {
		return
	}
	w.trace.Runs, w.trace.Request = true, &w.request
}

func (w *walk) step(stage Stage, status Status, reason string) bool {
	w.trace.Steps = append(w.trace.Steps, Step{Stage: stage, Status: status, Reason: reason})
	return status != StatusFail
}

func (w *walk) matches() bool {
	var misses []string
	for _, text := range w.config.MatchImages {
		p, err := credprovider.Compile(text)
		if err == nil && p.Match(w.image) {
			return w.step(StageImage, StatusPass, fmt.Sprintf("pattern %q matches", text))
		}
		misses = append(misses, fmt.Sprintf("%q: %s", text, whyNot(p, w.image)))
	}
	return w.step(StageImage, StatusFail, "no pattern matches: "+strings.Join(misses, "; "))
}

func (w *walk) executable() bool {
	if w.question.BinDir == "" {
		return w.step(StagePlugin, StatusInconclusive, "no plugin directory was given")
	}
	found, err := plugin.Find(w.config, w.question.BinDir, plugin.Options{})
	if err != nil {
		return w.step(StagePlugin, StatusFail, err.Error()+"; a kubelet does not start with it")
	}
	return w.step(StagePlugin, StatusPass, found.Path())
}

// identified goes through the stages that tokenAttributes adds.
func (w *walk) identified(ctx context.Context) bool {
	token, pod := w.config.TokenAttributes, w.question.Pod
	switch {
	case token == nil:
		return w.step(StageAccount, StatusPass, "the provider has no tokenAttributes: it acts for the node")
	case pod.ServiceAccount == "" && !*token.RequireServiceAccount:
		return w.step(StageAccount, StatusPass, "the pod has none, and requireServiceAccount is false: the plugin is run without a token")
	case pod.ServiceAccount == "":
		return w.step(StageAccount, StatusFail, "the pod has none, and requireServiceAccount is true: the plugin is skipped without an error")
	case w.question.Account == nil:
		w.step(StageAccount, StatusInconclusive, fmt.Sprintf("service account %s/%s was not given", pod.Namespace, pod.ServiceAccount))
		w.step(StageAnnotations, StatusInconclusive, "they are the service account's")
		return w.audience(ctx, credprovider.AccountRef{Namespace: pod.Namespace, Name: pod.ServiceAccount})
	}
	account := w.question.Account
	if account.Namespace != pod.Namespace || account.Name != pod.ServiceAccount {
		return w.step(StageAccount, StatusFail, fmt.Sprintf("the pod has %s/%s, not %s", pod.Namespace, pod.ServiceAccount, account.Ref()))
	}
	w.step(StageAccount, StatusPass, account.Ref().String())
	return w.annotated() && w.audience(ctx, account.Ref()) && w.keyed()
}

func (w *walk) annotated() bool {
	selected, err := credprovider.SelectAnnotations(*w.question.Account, w.config.TokenAttributes)
	if err != nil {
		return w.step(StageAnnotations, StatusFail, err.Error())
	}
	w.request.ServiceAccountAnnotations = selected
	return w.step(StageAnnotations, StatusPass, fmt.Sprintf("%d of the configured ones are sent", len(selected)))
}

func (w *walk) audience(ctx context.Context, account credprovider.AccountRef) bool {
	audience := w.config.TokenAttributes.ServiceAccountTokenAudience
	w.request.ServiceAccountToken = redact.New("a token for " + audience)
	if w.question.Audience == nil {
		return w.step(StageToken, StatusInconclusive, fmt.Sprintf("audience %q: whether the node may have it was not asked; it takes verb request-serviceaccounts-token-audience on resource %q", audience, audience))
	}
	if err := w.question.Audience(ctx, account, audience); err != nil {
		return w.step(StageToken, StatusFail, fmt.Sprintf("audience %q: %v", audience, err))
	}
	return w.step(StageToken, StatusPass, fmt.Sprintf("audience %q, bound to pod %s/%s", audience, w.question.Pod.Namespace, w.question.Pod.Name))
}

func (w *walk) keyed() bool {
	token := w.config.TokenAttributes
	_, err := credprovider.AccountKey(w.question.Account.Ref(), w.request.ServiceAccountAnnotations, token.CacheType, w.request.ServiceAccountToken)
	if err != nil {
		return w.step(StageKey, StatusFail, err.Error())
	}
	if token.CacheType == credprovider.CacheByToken {
		return w.step(StageKey, StatusPass, "answers are kept for one token")
	}
	return w.step(StageKey, StatusPass, "answers are kept for the service account, with its UID and the annotations that are sent")
}
