package bpf

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/agent"
	"github.com/lanyard-dev/lanyard/redact"
)

// A record of the ring, as programs.c has it: the numbers, then the file with its NUL, arguments and environment.
const (
	// recordLayout changes with the shape of a record or of a pinned map.
	recordLayout = 1
	recordBytes  = 120
)

// flagArgsCut in a record's flags: there are more arguments.
const flagArgsCut = 1

// Decode returns what a record of the ring tells, in o. Args and Env are parts of the record. The error wraps
// ErrMalformed and names the field; o then has no meaning.
func Decode(record []byte, o *agent.Observation) error {
	*o = agent.Observation{}
	if len(record) < recordBytes {
		return fmt.Errorf("%w: %d bytes", ErrMalformed, len(record))
	}
	if record[0] != recordLayout {
		return fmt.Errorf("%w: layout %d", ErrMalformed, record[0])
	}
	if record[1] > byte(agent.KindExit) {
		return fmt.Errorf("%w: kind %d", ErrMalformed, record[1])
	}
	u32 := func(offset int) uint32 { return binary.LittleEndian.Uint32(record[offset:]) }
	u64 := func(offset int) uint64 { return binary.LittleEndian.Uint64(record[offset:]) }

	o.Kind = agent.Kind(record[1])
	o.CPU = int(u32(4))
	o.Sequence = u64(8)
	o.At = time.Duration(u64(16))
	o.Task = agent.Task{PID: int(int32(u32(56))), Start: time.Duration(u64(24))}
	o.Parent = agent.Task{PID: int(int32(u32(60))), Start: time.Duration(u64(32))}
	o.CgroupID = u64(40)
	o.InnerPID = int(int32(u32(64)))
	o.SessionID, o.LoginUID = u32(68), u32(72)
	o.MountNS, o.PIDNS = u32(76), u32(80)
	o.UID, o.GID, o.EUID, o.EGID = u32(84), u32(88), u32(92), u32(96)
	o.Status = int(u32(100))
	return decodeStrings(record, u32(108), u32(112), u32(116), o)
}

func decodeStrings(record []byte, file, args, env uint32, o *agent.Observation) error {
	rest := record[recordBytes:]
	if uint64(file)+uint64(args)+uint64(env) != uint64(len(rest)) {
		return fmt.Errorf("%w: strings of %d, %d and %d bytes in %d", ErrMalformed, file, args, env, len(rest))
	}
	if file > 0 {
		if rest[file-1] != 0 {
			return fmt.Errorf("%w: file without its end", ErrMalformed)
		}
		o.File = string(rest[:file-1])
	}
	if o.Kind == agent.KindExec {
		o.Args = redact.NewBytes(rest[file : file+args : file+args])
		o.Env = redact.NewBytes(rest[file+args:])
		o.ArgsCut = record[2]&flagArgsCut != 0
	}
	return nil
}
