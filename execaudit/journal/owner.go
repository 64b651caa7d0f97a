package journal

import (
	"errors"
	"sync"
	"time"
)

// owner is what a Writer that has a journal for itself does beside writing: seals and rotations, each alone.
type owner struct {
	Options
	path string

	busy   sync.Mutex // held by the one who seals or rotates; guards what follows, which changes with Writer.write held too
	number uint64     // of the file
	key    *keyFile   // nil for no seals

	due  chan struct{} // there may be something to do
	stop chan struct{}
	done chan struct{} // closed by run
}

// mark returns the mark of one of the journal's files.
func (o *owner) mark(number uint64) fileMark {
	m := fileMark{File: number, Oldest: 1, Time: o.Now()}
	if o.Keep > 0 && number > uint64(o.Keep) {
		m.Oldest = number - uint64(o.Keep)
	}
	return m
}

// notice wakes run when something is due.
func (o *owner) notice(c *chain) {
	if o.due != nil && (o.sealDue(c) || o.rotationDue(c)) {
		select {
		case o.due <- struct{}{}:
		default:
		}
	}
}

func (o *owner) sealDue(c *chain) bool {
	return o.key != nil && o.SealRecords > 0 && c.unsealed >= o.SealRecords
}

func (o *owner) rotationDue(c *chain) bool {
	return o.MaxBytes > 0 && c.size >= max(o.MaxBytes, c.rotateAt)
}

// start runs what is done in the background, if anything is.
func (o *owner) start(w *Writer) {
	if o.key == nil && o.MaxBytes <= 0 {
		return
	}
	o.due, o.stop, o.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go o.run(w)
}

func (o *owner) run(w *Writer) {
	defer close(o.done)
	var tick <-chan time.Time
	if o.key != nil && o.SealInterval > 0 {
		t := time.NewTicker(o.SealInterval)
		defer t.Stop()
		tick = t.C
	}
	for {
		var err error
		select {
		case <-o.stop:
			return
		case <-tick:
			err = o.seal(w, CauseInterval)
		case <-o.due:
			err = o.doDue(w)
		}
		if err != nil {
			o.Failed(err)
		}
	}
}

func (o *owner) doDue(w *Writer) error {
	w.write.Lock()
	rotation, seal := o.rotationDue(w.chain), o.sealDue(w.chain)
	w.write.Unlock()
	switch {
	case rotation:
		return o.tryRotate(w)
	case seal:
		return o.seal(w, CauseRecords)
	}
	return nil
}

// tryRotate lets the file grow by as much again before it tries once more what failed.
func (o *owner) tryRotate(w *Writer) error {
	err := o.rotate(w)
	if err != nil {
		w.write.Lock()
		defer w.write.Unlock()
		w.chain.rotateAt = w.chain.size + o.MaxBytes
	}
	return err
}

// close ends what is done in the background and seals.
func (o *owner) close(w *Writer) error {
	if o.done != nil {
		close(o.stop)
		<-o.done
		o.done = nil
	}
	o.busy.Lock()
	defer o.busy.Unlock()
	if o.key == nil {
		return nil
	}
	err := o.sealNow(w, CauseClose)
	w.write.Lock()
	defer w.write.Unlock()
	key := o.key
	o.key = nil
	return errors.Join(err, key.close())
}

// Seal writes a seal, and returns once it is on disk and its key gone. After that nobody who takes over the host can
// change what was written before without it being found. It does nothing for a Writer without a key file.
//
// Errors are those of Append. One of the key file sticks as one of a sync does.
func (w *Writer) Seal() error {
	if w.own == nil {
		return nil
	}
	return w.own.seal(w, CauseCall)
}

func (o *owner) seal(w *Writer, why Cause) error {
	o.busy.Lock()
	defer o.busy.Unlock()
	if o.key == nil {
		return nil
	}
	return o.sealNow(w, why)
}

// sealNow writes the seal first, and once it is on disk makes the next key: a crash between leaves a seal whose key
// Open replaces. The other way round it would leave a key without its seal, which looks like a seal that somebody
// removed.
func (o *owner) sealNow(w *Writer, why Cause) error {
	mine, err := o.putSeal(w, why)
	if err == nil {
		crashPoint("seal: written")
		err = w.finish(mine)
	}
	if err != nil {
		return err
	}
	crashPoint("seal: synced")
	o.key.key.advance()
	if err := o.key.save(); err != nil {
		w.write.Lock()
		defer w.write.Unlock()
		return w.fail(err)
	}
	crashPoint("seal: key gone")
	return nil
}

func (o *owner) putSeal(w *Writer, why Cause) (*round, error) {
	w.write.Lock()
	defer w.write.Unlock()
	if err := w.begin(); err != nil {
		return nil, err
	}
	before := w.before()
	s := Seal{KeyID: o.key.key.id, Epoch: o.key.key.epoch, Time: o.Now(), Cause: why}
	line, err := s.line(&before, &o.key.key)
	if err != nil {
		return nil, err
	}
	if err := w.putLine(line); err != nil && !w.chain.entire { // one that is all there counts, or its epoch came twice
		return nil, err
	}
	w.chain.unsealed = 0
	return w.next, nil
}
