package journal

import (
	"errors"
	"fmt"
)

// ErrInvalidRecord is what errors of Validate unwrap to.
var ErrInvalidRecord = errors.New("invalid journal record")

// Validate returns nil for a record that a reader can use, else an error that
// unwraps to ErrInvalidRecord and names the field: another version, an unknown
// kind, no time, no node, container ID or exec ID, a start without PID or start
// time, a negative PID, an end with neither exit code nor reason.
func (r Record) Validate() error {
	if fault := r.fault(); fault != "" {
		return fmt.Errorf("%w: %s", ErrInvalidRecord, fault)
	}
	return nil
}

func (r Record) fault() string {
	switch {
	case r.Version != Version:
		return fmt.Sprintf("version %d, must be %d", r.Version, Version)
	case r.Time.IsZero():
		return "time is missing"
	case r.Node == "":
		return "node is missing"
	case r.ContainerID == "":
		return "containerID is missing"
	case r.ExecID == "":
		return "execID is missing"
	case r.PID < 0:
		return "pid is negative"
	}
	return r.kindFault()
}

func (r Record) kindFault() string {
	switch r.Kind {
	case KindIntent:
		return ""
	case KindStart:
		if r.PID == 0 || r.StartTicks == 0 {
			return "a start needs pid and startTicks"
		}
		return ""
	case KindEnd:
		if r.ExitCode == nil && r.Reason == "" {
			return "an end needs exitCode or reason"
		}
		return ""
	}
	return "kind is not one of intent, start, end"
}
