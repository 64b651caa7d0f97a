package authorize

import (
	"context"
	"strings"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

// Options change how an Authorizer decides. The zero value decides as the kubelet does.
type Options struct {
	// DenyStops makes an explicit denial of one attribute final. Off is upstream's behaviour, where denial and no
	// opinion are the same: allowing "nodes/proxy" overrules a denial of "nodes/pods". RBAC never denies.
	DenyStops bool
}

// Authorizer decides requests by the answers of a Reviewer. It has no state of its own and is safe for concurrent use.
type Authorizer struct {
	reviewer  Reviewer
	denyStops bool
}

// New returns an Authorizer that asks reviewer, most often a [Cache].
func New(reviewer Reviewer, o Options) *Authorizer {
	return &Authorizer{reviewer: reviewer, denyStops: o.DenyStops}
}

// Verdict is a decision about a request. The zero value is a refusal.
type Verdict struct {
	// Allowed reports whether an attribute was allowed.
	Allowed bool
	// Attribute is the one that was allowed; zero unless Allowed.
	Attribute kubeletauthz.Attribute
	// Reason is what the answers said, for logs: that of the allowed attribute, else those of all refusals, in order,
	// with "; " between. It may be empty.
	Reason string
}

// Authorize asks the attributes in order and allows the request with the first that is allowed.
//
// It returns a refusal and a [*ReviewError] as soon as a question is not answered: the Reviewer's error,
// [ErrContradiction], [ErrNoReviewer], a [*PanicError] when the Reviewer panics, or the context's error when an allow
// comes after the context has ended; later attributes are then not asked, even if they would be allowed. Without
// attributes the request is refused.
func (a *Authorizer) Authorize(ctx context.Context, user User, attributes kubeletauthz.Attributes) (Verdict, error) {
	var refusals []string
	for attribute := range attributes.All() {
		status, err := ask(ctx, a.reviewer, specOf(user, attribute))
		if err == nil && status.Allowed {
			err = ctx.Err()
		}
		if err != nil {
			return Verdict{}, &ReviewError{Attribute: attribute, Err: err}
		}
		if status.Allowed {
			return Verdict{Allowed: true, Attribute: attribute, Reason: status.Reason}, nil
		}
		for _, reason := range []string{status.Reason, status.EvaluationError} {
			if reason != "" {
				refusals = append(refusals, reason)
			}
		}
		if status.Denied && a.denyStops {
			break
		}
	}
	return Verdict{Reason: strings.Join(refusals, "; ")}, nil
}

// AlwaysAllow allows every request without asking anyone: the kubelet's authorization mode of that name. The
// KubeletFineGrainedAuthz gate changes nothing under it.
type AlwaysAllow struct{}

// Authorize allows the request; the verdict carries its first attribute.
func (AlwaysAllow) Authorize(_ context.Context, _ User, attributes kubeletauthz.Attributes) (Verdict, error) {
	return Verdict{Allowed: true, Attribute: attributes.At(0), Reason: "authorization mode AlwaysAllow"}, nil
}
