package shim

import (
	"os"
	"strconv"

	"github.com/lanyard-dev/lanyard/examples/runtime/monitor"
)

// loginUIDFile is the only one that a thread may write: each has a login UID, which its children inherit.
const loginUIDFile = "/proc/thread-self/loginuid"

// setMark gives this thread, and so what is started from it, a login UID, and with it a session of the kernel's own. It
// returns no mark where the kernel refuses: the login UID is set already, or a user namespace does not have it.
func setMark(loginUID uint32) (m monitor.Mark) {
	if os.WriteFile(loginUIDFile, strconv.AppendUint(nil, uint64(loginUID), 10), 0) != nil {
		return m
	}
	id, err := monitor.ThreadSessionID()
	if err != nil || id == 0 {
		return m
	}
	return monitor.Mark{SessionID: id, LoginUID: loginUID}
}
