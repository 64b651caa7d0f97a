package podlist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	goyaml "go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const (
	// MaxManifestBytes is the largest manifest, all documents together.
	MaxManifestBytes = 4 << 20 // 4 MiB
	// MaxItems is the most documents of a manifest, and the most items of its lists: tiny ones would take minutes.
	MaxItems = 10_000
)

// Item is one place of a manifest: a pod, or an error.
type Item struct {
	// Place is as in "document 2" or "document 1 items[0]"; documents count from 1, empty ones too.
	Place string
	// Pod is nil when Err is set.
	Pod *corev1.Pod
	Err error
}

// Manifest reads every pod of a manifest, in its order: YAML or JSON, one document or many, pods or lists of pods. What
// cannot be read or is not a pod is an Item with an error, and the others are returned nevertheless: ErrNotPod,
// ErrNotList, ErrSeveral, ErrTooLarge, or the parser's error, also for a duplicate key. Empty documents are ignored.
//
// The error is the reader's, ErrTooLarge, or ErrNoPods when there are no items.
func Manifest(r io.Reader) ([]Item, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxManifestBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxManifestBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, MaxManifestBytes)
	}
	docs := documents(text)
	var items []Item
	for i, doc := range docs {
		if len(docs) > MaxItems || len(items) > MaxItems {
			return nil, fmt.Errorf("%w: more than %d documents or items", ErrTooLarge, MaxItems)
		}
		items = append(items, document(fmt.Sprintf("document %d", i+1), doc)...)
	}
	if len(items) == 0 {
		return nil, ErrNoPods
	}
	return items, nil
}

func document(place string, text []byte) []Item {
	refused := func(err error) []Item { return []Item{{Place: place, Err: err}} }
	content, err := single(text)
	if err != nil {
		return refused(err)
	}
	if content == nil {
		return nil
	}
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		return refused(err)
	}
	var head struct {
		Kind  string
		Items []json.RawMessage
	}
	if err := json.Unmarshal(asJSON, &head); err != nil {
		return refused(fmt.Errorf("%w: %w", ErrNotPod, err))
	}
	if head.Items == nil {
		return []Item{newItem(place, text)}
	}
	if err := checkList(head.Kind); err != nil {
		return refused(err)
	}
	if len(head.Items) > MaxItems {
		return refused(fmt.Errorf("%w: more than %d items", ErrTooLarge, MaxItems))
	}
	var items []Item
	for i, item := range head.Items {
		items = append(items, newItem(fmt.Sprintf("%s items[%d]", place, i), item))
	}
	return items
}

func newItem(place string, text []byte) Item {
	var pod corev1.Pod
	err := yaml.Unmarshal(text, &pod)
	if err == nil {
		err = checkPod(&pod)
	}
	if err != nil {
		return Item{Place: place, Err: err}
	}
	return Item{Place: place, Pod: &pod}
}

// single returns the content of text, nil when there is none, and refuses a second document: the parser would read the
// first and ignore the other. The parser decides, because it knows more line breaks than documents does.
//
// A duplicate key is refused too, since one of its values would be ignored. Where keys are merged ("<<") it is not: to
// the parser, the intended change of a merged key is a duplicate.
func single(text []byte) (any, error) {
	d := goyaml.NewDecoder(bytes.NewReader(text))
	d.SetStrict(!bytes.Contains(text, []byte("<<")))
	var content, more any
	if err := d.Decode(&content); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := d.Decode(&more); err == nil {
		return nil, ErrSeveral
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %w", ErrSeveral, err)
	}
	return content, nil
}
