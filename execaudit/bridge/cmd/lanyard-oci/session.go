//go:build linux

package main

import (
	"encoding/hex"
	"errors"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// maxKeysBytes is the most that the file of public keys may have.
const maxKeysBytes = 64 << 10 // 64 KiB

// executable is access(2)'s X_OK.
const executable = 1

// request is what an exec asked for, as far as it is known.
type request struct {
	element  string      // what is like a token
	token    token.Token // zero until it is verified
	verified bool
	args     []string
	tty      bool
}

// session lets a session with a token begin: the process file loses the token and gets the variable, the thread gets
// the mark, the spool the record. The order is such that what fails leaves nothing behind: no mark without a record, no
// used nonce without a session.
func (w *wrapper) session(p oci.Process, file processFile, element string, command []string) error {
	now := time.Now()
	asked := request{element: element, args: p.Args, tty: p.Terminal}
	if err := file.owned(); err != nil {
		return w.refuse(err, asked)
	}
	if err := syscall.Access(w.config.Runtime, executable); err != nil {
		return w.refuse(&os.PathError{Op: "execute the runtime", Path: w.config.Runtime, Err: err}, asked)
	}
	t, key, err := w.verify(element, now)
	if err != nil {
		return w.refuse(err, asked)
	}
	asked.token, asked.verified = t, true
	bundle, err := w.check(t, command, p.Terminal)
	if err != nil {
		return w.refuse(err, asked)
	}
	r := spool.Record{
		Session: t.Session, Nonce: t.Nonce, Expiry: t.Expiry, Key: key.String(), Requester: t.Requester, Where: w.where(t, bundle),
		AuditID: p.AuditID(bundle.Env), BootID: bootID(), Argv: command, TTY: p.Terminal, Time: now.UTC(),
	}
	variable := t.Session.String()
	if r.AuditID != "" {
		variable = ""
	}
	replacement, err := file.prepare(p.Rewrite(variable))
	if err != nil {
		return w.refuse(err, asked)
	}
	if err := w.record(r, t.Unmarked || w.unmarked(bundle)); err != nil {
		replacement.discard()
		if w.config.Failure != oci.FailOpen || !errors.As(err, new(*spoolError)) {
			return w.refuse(err, asked)
		}
		logLine(w.call, "warning", "exec goes on without mark and record: "+err.Error())
		if replacement, err = file.prepare(p.Rewrite("")); err != nil {
			return w.refuse(err, asked)
		}
	}
	if err := replacement.commit(); err != nil {
		return w.refuse(err, asked)
	}
	return nil
}

// verify returns the token that an element is, and the key that signed it.
func (w *wrapper) verify(element string, now time.Time) (token.Token, token.KeyID, error) {
	text, err := readFile(w.config.Keys, maxKeysBytes)
	if err != nil {
		return token.Token{}, token.KeyID{}, err
	}
	keys, err := token.ParseKeys(string(text))
	if err != nil {
		return token.Token{}, token.KeyID{}, &fault{w.config.Keys + ": " + err.Error()}
	}
	t, err := keys.Verify(element, now, w.config.MaxApart())
	if err != nil {
		return token.Token{}, token.KeyID{}, err
	}
	_, key, err := token.Parse(element)
	return t, key, err
}

// check compares a token with the node, the command and the container.
func (w *wrapper) check(t token.Token, command []string, tty bool) (oci.Bundle, error) {
	if t.Node != w.config.Node {
		return oci.Bundle{}, &oci.MismatchError{Thing: "node", Token: t.Node, Here: w.config.Node}
	}
	if token.Digest(command, tty) != t.Command {
		return oci.Bundle{}, &oci.MismatchError{Thing: "command"}
	}
	bundle, err := w.bundle()
	if err != nil {
		return oci.Bundle{}, err
	}
	return bundle, bundle.Check(t)
}

// spoolError is a record that could not be written: the failure that may be let pass.
type spoolError struct{ err error }

func (e *spoolError) Error() string { return "spool: " + e.err.Error() }

// record takes the token's use, marks the thread and writes the record.
func (w *wrapper) record(r spool.Record, unmarked bool) error {
	claim, err := spool.Take(w.config.Spool, r.Nonce)
	if errors.Is(err, spool.ErrReplayed) {
		return err
	}
	if err != nil {
		return &spoolError{err}
	}
	if unmarked {
		r.Mark = "off"
	} else {
		r.LoginUID = r.Session.LoginUID()
		if r.SessionID, r.Mark = setMark(r.LoginUID); r.Mark != spool.MarkSet {
			r.LoginUID = 0
		}
	}
	if err := claim.Commit(r); err != nil {
		if r.Mark == spool.MarkSet {
			if err := writeLoginUID(unset); err != nil {
				return &fault{"spool: " + err.Error() + "; and the mark cannot be taken back"}
			}
		}
		return &spoolError{err}
	}
	return nil
}

// where returns the container as the token and the bundle have it.
func (w *wrapper) where(t token.Token, bundle oci.Bundle) spool.Where {
	at := spool.Where{
		Node: w.config.Node, PodUID: bundle.PodUID, Namespace: bundle.Namespace, Pod: bundle.Pod, Container: bundle.Container,
		ContainerID: w.call.ID, ExecID: strings.TrimSuffix(path.Base(w.call.PIDFile), ".pid"), PIDFile: w.call.PIDFile,
	}
	if w.call.PIDFile == "" {
		at.ExecID = hex.EncodeToString(t.Nonce[:])
	}
	return at
}

// bootID identifies the machine's boot, "" where the kernel does not tell.
func bootID() string {
	text, _ := readFile("/proc/sys/kernel/random/boot_id", 64)
	return strings.TrimSpace(string(text))
}
