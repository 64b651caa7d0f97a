package reporter

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxMessage bounds the output in which [Parse] looks for a message: 1 MiB, four times what the largest case's takes.
const MaxMessage = 1 << 20

// Message is what the reporter says. It shows without values, in JSON too; what travels is written by [Main] and read by [Parse].
type Message struct {
	Self  Process
	First Process // the process with ID 1 in the container
}

// Self returns what the calling process would say.
func Self() (m Message, err error) {
	if m.Self, err = read("/proc/self"); err != nil {
		return m, err
	}
	m.First, err = read("/proc/1")
	return m, err
}

// Parse reads a message from what a session printed. What follows it is ignored. It is an error if there is none, or
// more than [MaxMessage] bytes.
func Parse(output []byte) (m Message, err error) {
	if len(output) > MaxMessage {
		return m, fmt.Errorf("%d bytes of output, want at most %d", len(output), MaxMessage)
	}
	var wire wireMessage
	if err := json.NewDecoder(bytes.NewReader(output)).Decode(&wire); err != nil {
		return m, fmt.Errorf("no report in %d bytes of output: %w", len(output), err)
	}
	return Message{Self: wire.Self.process(), First: wire.First.process()}, nil
}
