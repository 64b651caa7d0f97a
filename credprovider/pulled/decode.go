package pulled

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrCorrupt is the condition of a file that is not a record: cut short, of another kind or version, or of another
// image than its name says.
var ErrCorrupt = errors.New("corrupt pull record")

// DecodeRecord returns the record in data. Unknown fields are ignored, because a newer kubelet may have written them.
// Every error is ErrCorrupt.
func DecodeRecord(data []byte) (Record, error) {
	var record Record
	if err := decode(data, recordKind, &record, func() (string, string) { return record.Kind, record.APIVersion }); err != nil {
		return Record{}, err
	}
	if record.ImageRef == "" {
		return Record{}, fmt.Errorf("%w: no imageRef", ErrCorrupt)
	}
	return record, nil
}

// intent is upstream's ImagePullIntent.
type intent struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Image      string `json:"image"`
}

// decodeIntent returns the image of the intent in data. Every error is ErrCorrupt.
func decodeIntent(data []byte) (string, error) {
	var i intent
	if err := decode(data, intentKind, &i, func() (string, string) { return i.Kind, i.APIVersion }); err != nil {
		return "", err
	}
	if i.Image == "" {
		return "", fmt.Errorf("%w: no image", ErrCorrupt)
	}
	return i.Image, nil
}

func decode(data []byte, wantKind string, into any, header func() (kind, version string)) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	kind, version := header()
	if kind != wantKind || (version != v1beta1 && version != v1alpha1) {
		return fmt.Errorf("%w: %q in %q is not a %s", ErrCorrupt, kind, version, wantKind)
	}
	return nil
}
