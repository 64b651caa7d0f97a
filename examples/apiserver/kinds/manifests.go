package kinds

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// ParseObjects reads the YAML or JSON documents of a file of manifests, in their order. An unknown kind or field is an
// error that counts the documents from 1.
func ParseObjects(text []byte) ([]runtime.Object, error) {
	decoder := serializer.NewCodecFactory(New(true).Scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var out []runtime.Object
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if empty(document) {
			continue
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		out = append(out, object)
	}
}

// empty reports whether a document has nothing but comments. One that cannot be read is not empty: its error is told.
func empty(document []byte) bool {
	json, err := yaml.ToJSON(document)
	return err == nil && string(json) == "null"
}
