package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// newSuffix is of a file that is being made.
const newSuffix = ".new"

// numberDigits is the least number of digits in a rotated file's name, so that names sort as numbers do.
const numberDigits = 8

// rotatedName is where the file of this number is, once it is rotated.
func rotatedName(path string, number uint64) string {
	return fmt.Sprintf("%s.%0*d", path, numberDigits, number)
}

// rotatedNumber returns the number of a rotated file's name.
func rotatedNumber(path, name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(filepath.Base(name), filepath.Base(path)+".")
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && n > 0 && filepath.Base(rotatedName(path, n)) == filepath.Base(name)
}

// rotated returns the numbers of a journal's rotated files in order.
func rotated(path string) ([]uint64, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	var numbers []uint64
	for _, e := range entries {
		if n, ok := rotatedNumber(path, e.Name()); ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// Files returns the files of the journal at path, oldest first: those that were rotated away, and path itself unless
// it does not exist. Errors are the system's.
func Files(path string) ([]string, error) {
	numbers, err := rotated(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, n := range numbers {
		files = append(files, rotatedName(path, n))
	}
	if _, err := os.Lstat(path); err == nil {
		files = append(files, path)
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return files, nil
}

// NextName returns where the file at path is to be moved when somebody other than a Writer rotates it as a journal is:
// PATH.NUMBER, and the number, which is the least above that of every file that was rotated, and above last. Errors are
// the system's.
func NextName(path string, last uint64) (name string, number uint64, err error) {
	numbers, err := rotated(path)
	if n := len(numbers); n > 0 {
		last = max(last, numbers[n-1])
	}
	return rotatedName(path, last+1), last + 1, err
}

// Retire deletes the oldest files that were rotated at path, all but the newest keep; 0 or less keeps all. The file at
// path stays. Errors are the system's, joined.
func Retire(path string, keep int) error {
	if keep <= 0 {
		return nil
	}
	numbers, err := rotated(path)
	for _, n := range numbers[:max(0, len(numbers)-keep)] {
		err = errors.Join(err, os.Remove(rotatedName(path, n)))
	}
	return err
}

// ErrNotOpened: the Writer was made by NewWriter, which does not know where its file is.
var ErrNotOpened = errors.New("journal was not opened by its path")

// Rotate seals the file, gives it the name PATH.NUMBER, goes on in a new file at path, chained to it, and deletes the
// files beyond Options.Keep. Records that are appended meanwhile are in one of the two. It does nothing when nothing
// was written.
//
// There is a file at path at every moment, and whoever reads one that was rotated finds all of it there: nothing is
// written to it after its name was given away. When the new file cannot be made, the journal goes on in the old one.
//
// Errors: ErrNotOpened; ErrInUse when path is not the Writer's file any more; fs.ErrExist when the new name is taken;
// Append's; or the system's.
func (w *Writer) Rotate() error {
	if w.own == nil {
		return ErrNotOpened
	}
	return w.own.rotate(w)
}

func (o *owner) rotate(w *Writer) error {
	o.busy.Lock()
	defer o.busy.Unlock()
	if w.empty() {
		return nil
	}
	if o.key != nil {
		if err := o.sealNow(w, CauseRotate); err != nil {
			return err
		}
	}
	next, err := o.makeNext()
	if err != nil {
		return err
	}
	if err := o.turn(w, next); err != nil {
		return err
	}
	if o.key != nil {
		if err := o.sealNow(w, CauseOpen); err != nil {
			return err
		}
	}
	return o.retire()
}

func (w *Writer) empty() bool {
	w.write.Lock()
	defer w.write.Unlock()
	return !w.chain.marked
}

// makeNext makes the file that will be the journal's, and takes its lock before anybody else knows it.
func (o *owner) makeNext() (claimed, error) {
	name := o.path + newSuffix
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return claimed{}, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL|noFollow, fileMode)
	if err != nil {
		return claimed{}, err
	}
	info, err := f.Stat()
	if err == nil {
		err = restrict(f, info)
	}
	if err == nil {
		err = lock(f)
	}
	if err != nil {
		return claimed{}, errors.Join(err, f.Close(), os.Remove(name))
	}
	crashPoint("rotate: made")
	return claimed{f}, nil
}

// turn goes on in the next file. Nobody writes or syncs meanwhile.
func (o *owner) turn(w *Writer, next claimed) error {
	w.sync.Lock()
	defer w.sync.Unlock()
	w.write.Lock()
	defer w.write.Unlock()
	line, size, err := o.prepare(w, next)
	if err == nil {
		err = o.exchange(w)
	}
	if err != nil {
		_ = os.Remove(next.Name())
		return errors.Join(err, next.Close())
	}
	old := w.file
	w.file, w.torn = next, false
	w.chain.whole, w.chain.size, w.chain.rotateAt = w.chain.hasher.after(w.chain.whole, line), size, 0
	o.number++
	w.next.done = true // all that was written is on disk
	w.next = new(round)
	crashPoint("rotate: renamed")
	if err := syncDir(filepath.Dir(o.path)); err != nil {
		return errors.Join(w.fail(err), old.Close())
	}
	crashPoint("rotate: durable")
	return old.Close()
}

// prepare makes durable what is in the old file, and the mark in the next one.
func (o *owner) prepare(w *Writer, next claimed) (line []byte, size int64, err error) {
	if w.failed != nil {
		return nil, 0, w.failed
	}
	if err := w.endLine(); err != nil {
		return nil, 0, err
	}
	if err := w.file.Sync(); err != nil {
		return nil, 0, w.fail(err)
	}
	crashPoint("rotate: synced")
	line, err = o.mark(o.number + 1).line(&w.chain.whole)
	if err != nil {
		return nil, 0, err
	}
	n, err := next.Write(append(line, '\n'))
	if err == nil {
		crashPoint("rotate: marked")
		err = next.Sync()
	}
	crashPoint("rotate: next synced")
	return line, int64(n), err
}

// endLine closes a line that is torn.
func (w *Writer) endLine() error {
	if !w.torn {
		return nil
	}
	n, err := w.file.Write([]byte{'\n'})
	if n == 1 {
		w.tear([]byte{'\n'})
	}
	return err
}

// exchange gives the old file its second name and the next one its place. After a crash between, the file has both
// names, and settle takes the second one away.
func (o *owner) exchange(w *Writer) error {
	info, err := w.file.(claimed).Stat()
	if err != nil {
		return err
	}
	if err := stillNamed(info, o.path); err != nil {
		return err
	}
	name := rotatedName(o.path, o.number)
	if err := os.Link(o.path, name); err != nil {
		return err
	}
	crashPoint("rotate: linked")
	if err := os.Rename(o.path+newSuffix, o.path); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// settle undoes a rotation that a crash has cut short. Whoever calls it has the journal's lock.
func settle(info os.FileInfo, path string) error {
	numbers, err := rotated(path)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		name := rotatedName(path, n)
		if twin, err := os.Lstat(name); err == nil && os.SameFile(info, twin) {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// retire deletes the files that the journal's mark does not keep.
func (o *owner) retire() error {
	if o.Keep <= 0 {
		return nil
	}
	numbers, err := rotated(o.path)
	oldest := o.mark(o.number).Oldest
	for _, n := range numbers {
		if n < oldest {
			err = errors.Join(err, os.Remove(rotatedName(o.path, n)))
			crashPoint("rotate: deleted")
		}
	}
	return err
}
