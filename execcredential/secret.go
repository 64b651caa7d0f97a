package execcredential

import "github.com/lanyard-dev/lanyard/internal/pluginexec"

// Secret is a token or key. Every formatting verb, encoder and log handler prints it as "[redacted]"; Reveal returns it.
type Secret = pluginexec.Secret

// NewSecret returns a secret that holds text.
func NewSecret(text string) Secret { return pluginexec.NewSecret(text) }

const redacted = "[redacted]"
