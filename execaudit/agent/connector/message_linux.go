package connector

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// The kernel's names and numbers, from linux/connector.h and linux/cn_proc.h.
const (
	connectorIndex = 1 // CN_IDX_PROC, also the multicast group
	connectorValue = 1 // CN_VAL_PROC

	opListen = 1 // PROC_CN_MCAST_LISTEN
	opIgnore = 2 // PROC_CN_MCAST_IGNORE

	whatAck  = 0x00000000
	whatFork = 0x00000001
	whatExec = 0x00000002
	whatExit = 0x80000000
)

// Offsets in a message: the netlink header, then the connector's, then the event.
const (
	connectorAt = unix.SizeofNlMsghdr
	eventAt     = connectorAt + 20
	dataAt      = eventAt + 16
)

// notice is what the kernel tells of one event.
type notice struct {
	what uint32
	// since is the time since the machine started, in nanoseconds, suspension not counted.
	since int64
	// thread and process did it; in a fork they are the new ones.
	thread, process int
	// parent is the process that has the new one as its child; in a fork only.
	parent int
	// status is an exit's, as wait(2) gives it.
	status int
	// refused is the error number of an acknowledgement.
	refused uint32
}

// parse reads one message; false for one that is cut short or not of the proc connector.
func parse(b []byte) (n notice, ok bool) {
	if len(b) < dataAt+4 || number(b, connectorAt) != connectorIndex || number(b, connectorAt+4) != connectorValue {
		return n, false
	}
	n.what = number(b, eventAt)
	n.since = int64(binary.NativeEndian.Uint64(b[eventAt+8:]))
	data := b[dataAt:]
	switch n.what {
	case whatAck:
		n.refused = number(data, 0)
	case whatFork:
		if len(data) < 16 {
			return n, false
		}
		n.parent, n.thread, n.process = pid(data, 4), pid(data, 8), pid(data, 12)
	case whatExit:
		if len(data) < 12 {
			return n, false
		}
		n.thread, n.process, n.status = pid(data, 0), pid(data, 4), pid(data, 8)
	default:
		if len(data) < 8 {
			return n, false
		}
		n.thread, n.process = pid(data, 0), pid(data, 4)
	}
	return n, true
}

func number(b []byte, at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }

func pid(b []byte, at int) int { return int(int32(number(b, at))) }

// request is the message that begins or ends the subscription.
func request(op uint32) []byte {
	const operationBytes = 4
	b := make([]byte, eventAt+operationBytes)
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], unix.NLMSG_DONE)
	binary.NativeEndian.PutUint32(b[connectorAt:], connectorIndex)
	binary.NativeEndian.PutUint32(b[connectorAt+4:], connectorValue)
	binary.NativeEndian.PutUint16(b[connectorAt+16:], operationBytes)
	binary.NativeEndian.PutUint32(b[eventAt:], op)
	return b
}
