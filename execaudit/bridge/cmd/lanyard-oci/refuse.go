//go:build linux

package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/jsonspan"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// Exit codes, which are runc's: 255 for an exec that did not begin, 1 for everything else.
const (
	exitExec  = 255
	exitOther = 1
)

// refuse writes the refusal's record and returns the error that main ends with. If the spool takes no record, the
// runtime's log has the refusal alone.
func (w *wrapper) refuse(reason error, asked request) error {
	bundle, _ := w.bundle()
	if !asked.verified && asked.element != "" {
		asked.token, _, _ = token.Parse(asked.element) // what it claims
	}
	args := make([]string, len(asked.args))
	for i, arg := range asked.args {
		if args[i] = arg; token.Like(arg) {
			args[i] = spool.TokenPlace
		}
	}
	_ = spool.Refuse(w.config.Spool, spool.Refusal{
		Session: asked.token.Session, Verified: asked.verified, Where: w.where(asked.token, bundle), Reason: reason.Error(),
		Argv: args, TTY: asked.tty, Time: time.Now().UTC(),
	})
	return &fault{"exec refused: " + reason.Error()}
}

// fail tells why nothing was executed, where the runtime's callers look: in its log, whose last error containerd's shim
// shows, and on standard error. It returns the exit code.
func fail(call oci.Call, reason string) int {
	if !logLine(call, "error", reason) {
		_, _ = os.Stderr.Write(line(call.LogFormat, "error", reason))
	} else {
		_, _ = os.Stderr.WriteString(prefix + reason + "\n")
	}
	if call.Command == "exec" {
		return exitExec
	}
	return exitOther
}

const prefix = "lanyard-oci: "

// logLine appends a line to the runtime's log, and reports whether it could.
func logLine(call oci.Call, level, message string) bool {
	if call.Log == "" {
		return false
	}
	file, err := os.OpenFile(call.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return false
	}
	defer file.Close()
	_, err = file.Write(line(call.LogFormat, level, message))
	return err == nil
}

// line is a line of runc's log in the format that it was called with.
func line(format, level, message string) []byte {
	message = prefix + strings.ToValidUTF8(message, "\ufffd")
	at := time.Now().Format(time.RFC3339)
	if format != "json" {
		return []byte("time=" + strconv.Quote(at) + " level=" + level + " msg=" + strconv.Quote(message) + "\n")
	}
	var o jsonspan.Object
	o.String("level", level)
	o.String("msg", message)
	o.String("time", at)
	return o.Line()
}
