package proc

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Sessions looks once at every process, and returns for each session ID that want takes the PIDs of its processes,
// in the order of /proc. It costs three system calls a process. A process that began or ended meanwhile may be missing,
// so that one that is missing twice in a row, and could not begin between, is gone.
func (f FS) Sessions(want func(session uint32) bool) (map[uint32][]int, error) {
	dir, err := os.Open(f.Root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	found := map[uint32][]int{}
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		session, err := sessionAt(int(dir.Fd()), name)
		if err != nil || !want(session) {
			continue // it ended, or the kernel has no audit
		}
		if pid, err := strconv.Atoi(name); err == nil {
			found[session] = append(found[session], pid)
		}
	}
	return found, nil
}

func sessionAt(dir int, pid string) (uint32, error) {
	fd, err := unix.Openat(dir, pid+"/sessionid", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Unset, err
	}
	defer unix.Close(fd)
	var text [16]byte
	n, err := unix.Read(fd, text[:])
	if err != nil {
		return Unset, err
	}
	session, err := strconv.ParseUint(string(text[:n]), 10, 32)
	return uint32(session), err
}
