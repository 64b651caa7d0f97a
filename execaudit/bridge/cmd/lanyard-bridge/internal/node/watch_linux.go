package node

import (
	"log/slog"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// changes tells of changes in a directory.
type changes struct {
	changed chan struct{} // holds one, whatever the number of changes
	dir     string
	log     *slog.Logger
	file    *os.File // of inotify; nil where that failed, and rescans are all there is
	done    sync.WaitGroup
}

// watchDir begins to watch a directory, by inotify.
func watchDir(dir string, log *slog.Logger) *changes {
	c := &changes{changed: make(chan struct{}, 1), dir: dir, log: log}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		log.Error("no inotify: the spool is rescanned only", "error", err)
		return c
	}
	c.file = os.NewFile(uintptr(fd), "inotify")
	c.renew()
	c.done.Go(c.read)
	return c
}

// renew watches what is at the directory's path now. A directory that is watched already is watched once.
func (c *changes) renew() {
	if c.file == nil {
		return
	}
	control, err := c.file.SyscallConn()
	if err == nil {
		err = control.Control(func(fd uintptr) {
			const events = unix.IN_CLOSE_WRITE | unix.IN_MOVED_TO | unix.IN_ONLYDIR
			if _, err := unix.InotifyAddWatch(int(fd), c.dir, events); err != nil {
				c.log.Error("the spool cannot be watched", "error", err)
			}
		})
	}
	if err != nil {
		c.log.Error("the spool cannot be watched", "error", err)
	}
}

// read empties the queue. What happened to which file does not matter: the directory is read.
func (c *changes) read() {
	buffer := make([]byte, 16<<10)
	for {
		if _, err := c.file.Read(buffer); err != nil {
			return // closed
		}
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
}

func (c *changes) close() {
	if c.file != nil {
		_ = c.file.Close()
		c.done.Wait()
	}
}
