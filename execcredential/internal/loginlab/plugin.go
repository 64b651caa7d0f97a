package loginlab

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execcredential"
)

// Plugin is a shell script that counts its runs and prints a prepared answer.
type Plugin struct {
	// Path is the script.
	Path string

	t   testing.TB
	dir string
}

// NewPlugin writes a plugin whose script runs body before it prints the answer. The script finds its directory in $LAB.
func NewPlugin(t testing.TB, body string) *Plugin {
	t.Helper()
	dir := t.TempDir()
	p := &Plugin{Path: filepath.Join(dir, "plugin"), t: t, dir: dir}
	script := "#!/bin/sh\nLAB='" + dir + "'\necho run >>\"$LAB/runs\"\n" + body + "\nexec cat \"$LAB/answer\"\n"
	must(t, os.WriteFile(p.Path, []byte(script), 0o755))
	return p
}

// Config returns a configuration that runs the plugin, of version V1 and mode Never.
func (p *Plugin) Config() execcredential.ExecConfig {
	return execcredential.ExecConfig{Command: p.Path, APIVersion: execcredential.V1, InteractiveMode: execcredential.InteractiveNever}
}

// Answer makes text the next answer, in one step.
func (p *Plugin) Answer(text string) {
	p.t.Helper()
	next := filepath.Join(p.dir, "next")
	must(p.t, os.WriteFile(next, []byte(text), 0o600))
	must(p.t, os.Rename(next, filepath.Join(p.dir, "answer")))
}

// Status makes an answer of a status; expires may be the zero time for never.
func (p *Plugin) Status(token, certificate, key string, expires time.Time) {
	p.t.Helper()
	p.Answer(Answer(execcredential.V1, token, certificate, key, expires))
}

// Runs returns how often the plugin was started.
func (p *Plugin) Runs() int { return bytes.Count(p.File("runs"), []byte("\n")) }

// File returns the content of a file that the script wrote into its directory; nil when there is none.
func (p *Plugin) File(name string) []byte {
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return nil
	}
	return data
}

// Put makes an empty file in the script's directory, for a script that waits for it.
func (p *Plugin) Put(name string) {
	p.t.Helper()
	must(p.t, os.WriteFile(filepath.Join(p.dir, name), nil, 0o600))
}

// Answer returns an answer with full precision of the expiry.
func Answer(version, token, certificate, key string, expires time.Time) string {
	status := map[string]any{}
	for name, value := range map[string]string{"token": token, "clientCertificateData": certificate, "clientKeyData": key} {
		if value != "" {
			status[name] = value
		}
	}
	if !expires.IsZero() {
		status["expirationTimestamp"] = expires.Format(time.RFC3339Nano)
	}
	data, _ := json.Marshal(map[string]any{"kind": execcredential.Kind, "apiVersion": version, "status": status})
	return string(data)
}
