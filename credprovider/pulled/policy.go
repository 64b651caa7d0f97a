package pulled

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// PolicyName is an imagePullCredentialsVerificationPolicy.
type PolicyName string

// The policies of KEP-2535.
const (
	// PolicyNeverVerify: every pod may use every image on the node.
	PolicyNeverVerify PolicyName = "NeverVerify"
	// PolicyNeverVerifyPreloaded: every pod may use the images that the kubelet did not pull. The default.
	PolicyNeverVerifyPreloaded PolicyName = "NeverVerifyPreloadedImages"
	// PolicyNeverVerifyAllowlisted: every pod may use the images on a list.
	PolicyNeverVerifyAllowlisted PolicyName = "NeverVerifyAllowlistedImages"
	// PolicyAlwaysVerify: a pod must prove access to every image.
	PolicyAlwaysVerify PolicyName = "AlwaysVerify"
)

// Policy says for which images access is checked. The zero value is PolicyNeverVerifyPreloaded. It is immutable.
type Policy struct {
	name     PolicyName
	exact    []string
	prefixes []string
}

// ErrPolicy is the condition of a policy that does not exist, or of a list that cannot be read.
var ErrPolicy = errors.New("image pull policy")

// NewPolicy returns a policy; an empty name is the default. The allowlist counts only with
// PolicyNeverVerifyAllowlisted: an entry is an image without tag and digest, or a prefix that ends in "/*". Errors are
// ErrPolicy, with the entry and its rule.
func NewPolicy(name PolicyName, allowlist []string) (Policy, error) {
	p := Policy{name: name}
	switch name {
	case "":
		p.name = PolicyNeverVerifyPreloaded
	case PolicyNeverVerify, PolicyNeverVerifyPreloaded, PolicyAlwaysVerify:
	case PolicyNeverVerifyAllowlisted:
		for _, entry := range allowlist {
			if err := p.allow(entry); err != nil {
				return Policy{}, err
			}
		}
	default:
		return Policy{}, fmt.Errorf("%w: %q is unknown", ErrPolicy, string(name))
	}
	return p, nil
}

func (p *Policy) allow(entry string) error {
	prefix, isPrefix := strings.CutSuffix(entry, "*")
	switch {
	case entry == "" || entry != strings.TrimSpace(entry):
		return fmt.Errorf("%w: %q: an entry is not empty and has no spaces around it", ErrPolicy, entry)
	case strings.Contains(prefix, "*") || isPrefix && !strings.HasSuffix(prefix, "/"):
		return fmt.Errorf("%w: %q: '*' is allowed at the end, after '/', only", ErrPolicy, entry)
	case isPrefix && prefix == "/":
		return fmt.Errorf("%w: %q: a prefix begins with a registry", ErrPolicy, entry)
	case isPrefix:
		p.prefixes = append(p.prefixes, prefix)
		return nil
	}
	if name, err := trimmed(entry); err != nil || name != entry {
		return fmt.Errorf("%w: %q: an entry is an image without tag and digest", ErrPolicy, entry)
	}
	p.exact = append(p.exact, entry)
	return nil
}

// verifies reports whether a holder must prove access to image.
func (p Policy) verifies(image string, pulledHere bool) bool {
	switch p.name {
	case PolicyNeverVerify:
		return false
	case PolicyAlwaysVerify:
		return true
	case PolicyNeverVerifyAllowlisted:
		name, err := trimmed(image)
		if err != nil {
			name = image
		}
		return !slices.Contains(p.exact, name) &&
			!slices.ContainsFunc(p.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	}
	return pulledHere
}

// trimmed returns image as it is written, without tag and digest.
func trimmed(image string) (string, error) {
	parsed, err := credprovider.ParseImage(image)
	if err != nil {
		return "", err
	}
	if parsed.Digest != "" {
		image = strings.TrimSuffix(image, "@"+parsed.Digest)
	}
	if parsed.Tag != "" {
		image = strings.TrimSuffix(image, ":"+parsed.Tag)
	}
	return image, nil
}
