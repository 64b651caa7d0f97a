package apiserver

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/lanyard-dev/lanyard/envprecedence"
	"github.com/lanyard-dev/lanyard/execaudit"
)

// maxInjectedIDBytes bounds an audit ID that nobody checked before auditing, so that it
// cannot push the environment over what execve takes.
const maxInjectedIDBytes = 1024

// Inject returns the URL to send to the kubelet: u with the entries of envs
// and, with both gates on, env=KUBERNETES_EXEC_AUDIT_ID=<id> after them, so
// that the last entry, which wins, is the API server's. Every parameter that u
// has stays untouched and in place, but that a raw '#' is escaped: parsed once more, as proxies
// do, the URL would lose at it all that follows. u is not changed.
//
// auditID is the ID of the request's audit context, "" when there is none. An
// empty one becomes execaudit.PlaceholderAuditID, and so does one that no
// environment can carry (NUL, invalid UTF-8) or of over 1024 bytes. With
// ExecEnvVar off neither envs nor the ID is appended.
//
// The result is recorded, once per call that returns no error. The error is
// execaudit.EncodeQuery's; entries that Validate passed cause none.
//
// Source: KEP-6035, Audit ID Propagation.
func (e Exec) Inject(u *url.URL, envs []envprecedence.Entry, auditID string) (*url.URL, Result, error) {
	sent, result := e.entries(envs, auditID)
	query, err := execaudit.EncodeQuery(sent)
	if err != nil {
		return nil, "", err
	}
	injected := *u
	injected.RawQuery = join(u.RawQuery, query)
	if e.Recorder != nil {
		e.Recorder.AuditIDInjected(result)
	}
	return &injected, result, nil
}

func (e Exec) entries(envs []envprecedence.Entry, auditID string) ([]envprecedence.Entry, Result) {
	if !e.Gates.ExecEnvVar {
		return nil, ResultSkipped
	}
	if !e.Gates.InjectsAuditID() {
		return envs, ResultSkipped
	}
	result := ResultInjected
	if !carriable(auditID) {
		auditID, result = execaudit.PlaceholderAuditID, ResultPlaceholder
	}
	sent := make([]envprecedence.Entry, 0, len(envs)+1)
	sent = append(sent, envs...)
	return append(sent, envprecedence.NewEntry(execaudit.AuditIDName, auditID)), result
}

func carriable(auditID string) bool {
	return auditID != "" && len(auditID) <= maxInjectedIDBytes &&
		strings.IndexByte(auditID, 0) < 0 && utf8.ValidString(auditID)
}

func join(rawQuery, more string) string {
	rawQuery = strings.ReplaceAll(rawQuery, "#", "%23")
	if rawQuery == "" || more == "" {
		return rawQuery + more
	}
	return rawQuery + "&" + more
}
