package podlist

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// All returns the pods of a JSON list, and of further lists that follow it, reading one at a time. An error names the
// place and is the last pair; its pod is nil.
//
// Errors: ErrNotPod for items of another kind; ErrNotList for anything but a list, even after a list; ErrPartial for a
// list that goes on elsewhere (metadata.continue); io.ErrUnexpectedEOF for one that is cut off; and the reader's.
func All(r io.Reader) iter.Seq2[*corev1.Pod, error] {
	return func(yield func(*corev1.Pod, error) bool) {
		err := readDump(r, func(pod *corev1.Pod) error {
			if !yield(pod, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped ends the reading when the caller wants no more.
var errStopped = errors.New("stopped")

func readDump(r io.Reader, yield func(*corev1.Pod) error) error {
	d := dump{json.NewDecoder(r)}
	for n := 1; ; n++ {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && n > 1 {
			return nil
		}
		if err == nil {
			err = d.list(t, yield)
		} else {
			err = fmt.Errorf("%w: %w", ErrNotList, err)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", n, err)
		}
	}
}

// dump reads one list after another.
type dump struct{ *json.Decoder }

// list reads the rest of a list that begins with token t.
func (d dump) list(t json.Token, yield func(*corev1.Pod) error) error {
	if t != json.Delim('{') {
		return ErrNotList
	}
	var head struct {
		Kind     string
		Metadata struct{ Continue string }
	}
	found := false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "items":
			found, err = true, d.items(yield)
		case "kind":
			err = d.Decode(&head.Kind)
		case "metadata":
			err = d.Decode(&head.Metadata)
		default:
			var skip json.RawMessage
			err = d.Decode(&skip)
		}
		if err != nil {
			return err
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	switch {
	case head.Metadata.Continue != "":
		return fmt.Errorf("%w: metadata.continue is set", ErrPartial)
	case !found:
		return fmt.Errorf("%w: no items", ErrNotList)
	}
	return checkList(head.Kind)
}

func (d dump) items(yield func(*corev1.Pod) error) error {
	if t, err := d.Token(); err != nil {
		return err
	} else if t != json.Delim('[') {
		return fmt.Errorf("%w: items is not an array", ErrNotList)
	}
	for i := 0; d.More(); i++ {
		var pod corev1.Pod
		err := d.Decode(&pod)
		if err == nil {
			err = checkPod(&pod)
		}
		if err != nil {
			return fmt.Errorf("items[%d]: %w", i, err)
		}
		if err := yield(&pod); err != nil {
			return err
		}
	}
	return d.end()
}

// end reads the closing bracket, which tells a list that ends from one that was cut off.
func (d dump) end() error {
	_, err := d.Token()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
