//go:build amd64 || arm64

package bpf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// keptMaps are the maps that outlive programs, in the order in which they are pinned. The last one says that all are
// there.
var keptMaps = [...]string{programsMapRing, programsMapCounters, programsMapReader}

// The suffixes of a generation's pins: process_fork-1-link, process_fork-1-program.
const (
	linkSuffix    = "-link"
	programSuffix = "-program"
)

// pins are the files in a BPF file system by which a reader's objects outlive it.
type pins struct {
	dir  string // PinDir and the layout's version
	lock *os.File
}

// openPins makes the layout's directory and locks PinDir for this process.
func openPins(dir string) (*pins, error) {
	lock, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	p := &pins{dir: filepath.Join(dir, "v"+strconv.Itoa(recordLayout)), lock: lock}
	if err := p.open(dir); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return p, nil
}

func (p *pins) open(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(p.lock.Fd()), &fs); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if fs.Type != unix.BPF_FS_MAGIC {
		return &os.PathError{Op: "pin", Path: dir, Err: ErrNotBPFFS}
	}
	if err := unix.Flock(int(p.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrInUse
		}
		return &os.PathError{Op: "lock", Path: dir, Err: err}
	}
	if err := os.Mkdir(p.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

func (p *pins) close() error { return p.lock.Close() }

func (p *pins) path(name string) string { return filepath.Join(p.dir, name) }

func (p *pins) generationPath(name string, generation uint64, suffix string) string {
	return p.path(name + "-" + strconv.FormatUint(generation, 10) + suffix)
}

// maps returns the pinned maps, nil when there are none. Of an incomplete set nothing can be kept.
func (p *pins) maps() (map[string]*ebpf.Map, error) {
	if _, err := os.Stat(p.path(keptMaps[len(keptMaps)-1])); errors.Is(err, os.ErrNotExist) {
		return nil, p.remove(everything)
	}
	maps := map[string]*ebpf.Map{}
	for _, name := range keptMaps {
		m, err := ebpf.LoadPinnedMap(p.path(name), nil)
		if err != nil {
			for _, m := range maps {
				_ = m.Close()
			}
			return nil, fmt.Errorf("pinned %s: %w", name, err)
		}
		maps[name] = m
	}
	return maps, nil
}

func (p *pins) pinMaps(maps map[string]*ebpf.Map) error {
	for _, name := range keptMaps {
		if err := maps[name].Pin(p.path(name)); err != nil {
			return err
		}
	}
	return nil
}

func (p *pins) pin(name string, generation uint64, program *ebpf.Program, l link.Link) error {
	if err := program.Pin(p.generationPath(name, generation, programSuffix)); err != nil {
		return err
	}
	return l.Pin(p.generationPath(name, generation, linkSuffix))
}

// generation returns the pinned programs and their links.
func (p *pins) generation(n uint64) (programs []*ebpf.Program, links []link.Link, err error) {
	for _, t := range tracepoints {
		var program *ebpf.Program
		var l link.Link
		if program, err = ebpf.LoadPinnedProgram(p.generationPath(t.program, n, programSuffix), nil); err != nil {
			break
		}
		programs = append(programs, program)
		if l, err = link.LoadPinnedLink(p.generationPath(t.program, n, linkSuffix), nil); err != nil {
			break
		}
		links = append(links, l)
	}
	if err != nil {
		for _, program := range programs {
			_ = program.Close()
		}
		for _, l := range links {
			_ = l.Close()
		}
		return nil, nil, fmt.Errorf("pinned programs: %w", err)
	}
	return programs, links, nil
}

// detach removes a generation's links and returns how often its programs did not run since they ran already.
func (p *pins) detach(n uint64) (missed uint64, err error) {
	mine := "-" + strconv.FormatUint(n, 10)
	err = p.remove(func(name string) bool { return strings.HasSuffix(name, mine+linkSuffix) })
	for _, t := range tracepoints {
		program, openErr := ebpf.LoadPinnedProgram(p.generationPath(t.program, n, programSuffix), nil)
		if openErr != nil {
			continue // nothing was attached
		}
		if stats, statsErr := program.Stats(); statsErr == nil {
			missed += stats.RecursionMisses
		}
		_ = program.Close()
	}
	return missed, err
}

// removeOthers removes the programs and links of every generation but this one.
func (p *pins) removeOthers(n uint64) error {
	mine := "-" + strconv.FormatUint(n, 10)
	return p.remove(func(name string) bool {
		ofGeneration := strings.HasSuffix(name, linkSuffix) || strings.HasSuffix(name, programSuffix)
		kept := strings.HasSuffix(name, mine+linkSuffix) || strings.HasSuffix(name, mine+programSuffix)
		return ofGeneration && !kept
	})
}

// remove unpins what match selects. A link that nothing else holds is detached by it, some time later.
func (p *pins) remove(match func(name string) bool) error {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if match(e.Name()) {
			errs = append(errs, os.Remove(p.path(e.Name())))
		}
	}
	return errors.Join(errs...)
}

// retire removes what agents of other layouts left, whose records cannot be read, and returns how many there were. By
// then the programs of this layout are attached.
func (p *pins) retire() (lost uint64, err error) {
	top := filepath.Dir(p.dir)
	entries, err := os.ReadDir(top)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, e := range entries {
		other := pins{dir: filepath.Join(top, e.Name())}
		if number, ok := strings.CutPrefix(e.Name(), "v"); !ok || other.dir == p.dir {
			continue
		} else if _, err := strconv.ParseUint(number, 10, 32); err != nil {
			continue
		}
		errs = append(errs, other.remove(func(name string) bool { return strings.HasSuffix(name, linkSuffix) }))
		n, err := other.unread()
		lost += n
		errs = append(errs, err, other.remove(everything), os.Remove(other.dir))
	}
	return lost, errors.Join(errs...)
}

// unread counts the records that the pinned ring has. Their headers are the kernel's, the same in every layout.
func (p *pins) unread() (n uint64, err error) {
	m, err := ebpf.LoadPinnedMap(p.path(programsMapRing), nil)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer m.Close()
	r, err := openRing(m)
	if err != nil {
		return 0, err
	}
	defer r.close()
	for {
		record, err := r.read()
		if record == nil {
			return n, err
		}
		n++
	}
}

func everything(string) bool { return true }

// Remove detaches the programs that are pinned below the directory and removes them, with what nobody read.
// The error is ErrInUse while a reader has them.
func Remove(dir string) error {
	p, err := openPins(dir)
	if err != nil {
		return err
	}
	defer p.close()
	return errors.Join(p.remove(everything), os.Remove(p.dir))
}
