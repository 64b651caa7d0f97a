package journal

import "fmt"

// Validate returns nil for a record that a reader can use, else a *Fault: another
// version, an unknown kind, no time, no node, container ID or exec ID, a negative
// PID, the session ID SessionIDUnset, the login UID LoginUIDUnset, a start without
// PID or start time, an end with neither exit code nor reason, a refusal without reason.
func (r Record) Validate() error {
	if f := r.fault(); f != nil {
		return f
	}
	return nil
}

func (r *Record) fault() *Fault {
	switch {
	case r.Version != Version:
		return &Fault{"version", fmt.Sprintf("is %d, must be %d", r.Version, Version)}
	case !r.Kind.known():
		return &Fault{"kind", "is not one of intent, start, end, refusal"}
	case r.Time.IsZero():
		return &Fault{"time", "is missing"}
	case r.Node == "":
		return &Fault{"node", "is missing"}
	case r.ContainerID == "":
		return &Fault{"containerID", "is missing"}
	case r.ExecID == "":
		return &Fault{"execID", "is missing"}
	case r.PID < 0:
		return &Fault{"pid", "is negative"}
	case r.SessionID == SessionIDUnset:
		return &Fault{"sessionID", "is 4294967295, the kernel's word for none, which is left out"}
	case r.LoginUID == LoginUIDUnset:
		return &Fault{"loginUID", "is 4294967295, the kernel's word for none, which is left out"}
	}
	return r.kindFault()
}

func (r *Record) kindFault() *Fault {
	switch r.Kind {
	case KindStart:
		switch {
		case r.PID == 0:
			return &Fault{"pid", "is missing from a start"}
		case r.StartTicks == 0:
			return &Fault{"startTicks", "is missing from a start"}
		}
	case KindEnd:
		if r.ExitCode == nil && r.Reason == "" {
			return &Fault{"exitCode", "and reason are missing from an end, which needs one"}
		}
	case KindRefusal:
		if r.Reason == "" {
			return &Fault{"reason", "is missing from a refusal"}
		}
	}
	return nil
}

func (k Kind) known() bool {
	return k == KindIntent || k == KindStart || k == KindEnd || k == KindRefusal
}
