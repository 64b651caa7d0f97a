package credprovider

import "github.com/lanyard-dev/lanyard/internal/pluginexec"

// Secret is a token or a password. It prints as "[redacted]" in every form, JSON included; Reveal returns the text.
// Two secrets are compared with Equal, not with ==.
type Secret = pluginexec.Secret

// NewSecret returns a secret that holds text.
func NewSecret(text string) Secret { return pluginexec.NewSecret(text) }
