//go:build amd64 || arm64

package bpf

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// The header of a record in the ring, in bytes, and the bits of its length.
const (
	headerBytes = 8
	headerBusy  = 1 << 31
	headerGone  = 1 << 30
)

// ring reads a ring buffer without freeing what it read: free does.
type ring struct {
	consumer []byte // its first word is how far the kernel may overwrite
	producer []byte // its first word is how far the kernel wrote; the data follows, twice, so that a record is contiguous
	data     []byte
	mask     uint64
	next     uint64 // of the first record that was not read
	stop     atomic.Bool
	until    uint64 // where reading ends, once it was seen that it shall
	ending   bool
	epoll    int
	event    int // an eventfd: Interrupt
}

func openRing(m *ebpf.Map) (*ring, error) {
	size, page := int(m.MaxEntries()), os.Getpagesize()
	r := &ring{mask: uint64(size - 1), epoll: -1, event: -1}
	if err := r.open(m.FD(), size, page); err != nil {
		r.close()
		return nil, fmt.Errorf("ring buffer: %w", err)
	}
	r.next = atomic.LoadUint64(word(r.consumer))
	return r, nil
}

func (r *ring) open(fd, size, page int) (err error) {
	if r.consumer, err = unix.Mmap(fd, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return err
	}
	if r.producer, err = unix.Mmap(fd, int64(page), page+2*size, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return err
	}
	r.data = r.producer[page:]
	if r.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if r.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return err
	}
	// The ring has data until it is freed: only what is new may wake.
	wake := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}
	if err = unix.EpollCtl(r.epoll, unix.EPOLL_CTL_ADD, fd, &wake); err != nil {
		return err
	}
	wake = unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(r.event)}
	return unix.EpollCtl(r.epoll, unix.EPOLL_CTL_ADD, r.event, &wake)
}

func (r *ring) close() error {
	var errs []error
	for _, fd := range []int{r.epoll, r.event} {
		if fd >= 0 {
			errs = append(errs, unix.Close(fd))
		}
	}
	for _, m := range [][]byte{r.consumer, r.producer} {
		if m != nil {
			errs = append(errs, unix.Munmap(m))
		}
	}
	return errors.Join(errs...)
}

func word(b []byte) *uint64 { return (*uint64)(unsafe.Pointer(&b[0])) }

// read returns the next record, as long as it is not freed, or nil when there is none yet. After interrupt its error is
// ErrInterrupted, once it has given what was there.
func (r *ring) read() ([]byte, error) {
	for {
		if r.stop.Load() && r.ended() {
			return nil, ErrInterrupted
		}
		left := atomic.LoadUint64(word(r.producer)) - r.next
		if left == 0 {
			return nil, nil
		}
		at := r.next & r.mask
		header := atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.data[at])))
		if header&headerBusy != 0 {
			return nil, nil // its end wakes
		}
		length := uint64(header &^ (headerBusy | headerGone))
		size := headerBytes + (length+7)&^7
		if left > r.mask+1 || size > left {
			return nil, fmt.Errorf("%w: %d bytes where %d are left", ErrMalformed, size, left)
		}
		r.next += size
		if header&headerGone == 0 {
			return r.data[at+headerBytes : at+headerBytes+length], nil
		}
	}
}

// ended tells whether what was there when reading was interrupted is read.
func (r *ring) ended() bool {
	if !r.ending {
		r.ending, r.until = true, atomic.LoadUint64(word(r.producer))
	}
	if r.next < r.until {
		return false
	}
	var count [8]byte
	_, _ = unix.Read(r.event, count[:])
	r.ending = false
	r.stop.Store(false)
	return true
}

// free gives the kernel the space before the position. One that was not read, or is freed already, changes nothing.
func (r *ring) free(position uint64) {
	if freed := atomic.LoadUint64(word(r.consumer)); position-freed <= r.next-freed {
		atomic.StoreUint64(word(r.consumer), position)
	}
}

// lookAgain bounds a wait. A full ring has no room for what would wake the reader.
const lookAgain = time.Second

// wait returns when there may be a record or reading is interrupted, or os.ErrDeadlineExceeded.
func (r *ring) wait(deadline time.Time) error {
	timeout := lookAgain
	if !deadline.IsZero() {
		left := time.Until(deadline)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		timeout = min(left, timeout)
	}
	var events [2]unix.EpollEvent
	_, err := unix.EpollWait(r.epoll, events[:], int(timeout.Milliseconds())+1)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait for the ring buffer: %w", err)
	}
	return nil
}

// interrupt has read end with what is there. It may be called at any time until close.
func (r *ring) interrupt() {
	r.stop.Store(true)
	one := [8]byte{1}
	_, _ = unix.Write(r.event, one[:])
}
