// Package message is what the program in the suite's images prints about itself, and how the suite reads it.
package message

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxBytes bounds the output in which [Parse] looks for a message: 1 MiB, four times the largest message of a case.
const MaxBytes = 1 << 20

// The commands of the program, its second argument; the first is reporter.Argument.
const (
	Say   = "say"   // print a [Message] as one line of JSON, values included
	Pause = "pause" // do nothing until SIGTERM or SIGINT
)

// Message is what the program says. It shows without values, in JSON too; [Write] and [Parse] make and read what is
// sent.
type Message struct {
	Self  Process
	First Process // the process with ID 1 in the container
}

// Self describes the calling process and the first one of its container. It needs /proc.
func Self() (m Message, err error) {
	if m.Self, err = read("/proc/self"); err != nil {
		return m, err
	}
	m.First, err = read("/proc/1")
	return m, err
}

// Parse reads a message from what a session printed, and ignores what follows it. It is an error if there is none, or
// if output is longer than [MaxBytes].
func Parse(output []byte) (m Message, err error) {
	if len(output) > MaxBytes {
		return m, fmt.Errorf("%d bytes of output, want at most %d", len(output), MaxBytes)
	}
	var wire wireMessage
	if err := json.NewDecoder(bytes.NewReader(output)).Decode(&wire); err != nil {
		return m, fmt.Errorf("no report in %d bytes of output: %w", len(output), err)
	}
	return Message{Self: wire.Self.process(), First: wire.First.process()}, nil
}
