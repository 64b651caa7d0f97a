package kubeconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// MaxFileBytes is the largest kubeconfig, and the largest certificate authority file, that is read.
const MaxFileBytes = 8 << 20 // 8 MiB

// Parse reads a kubeconfig, YAML or JSON. Unknown keys are ignored and keys are case-sensitive, as in kubectl. An empty
// document is an empty configuration. Relative paths stay as they are; [Config.ResolvePaths] makes them absolute.
//
// Errors, none of which repeats the document: [ErrTooLarge]; *[SyntaxError]; *[EntryError] with [ErrDuplicate] for two
// entries of one name in a list; those of the reader.
func Parse(r io.Reader) (*Config, error) {
	data, err := readBounded(r)
	if err != nil {
		return nil, err
	}
	document, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, &SyntaxError{Reason: "neither YAML nor JSON"}
	}
	if bytes.Equal(document, []byte("null")) {
		return &Config{}, nil
	}
	var wire wireConfig
	if err := kjson.UnmarshalCaseSensitivePreserveInts(document, &wire); err != nil {
		return nil, syntaxError(err)
	}
	if wire.Kind != "" && wire.Kind != "Config" || wire.APIVersion != "" && wire.APIVersion != "v1" {
		return nil, &SyntaxError{Reason: "not a Config of version v1"}
	}
	config := wire.config()
	return config, config.duplicates()
}

func readBounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFileBytes {
		return nil, ErrTooLarge
	}
	return data, nil
}

func syntaxError(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return &SyntaxError{Reason: fmt.Sprintf("field %s is not a %s", mismatch.Field, mismatch.Type)}
	}
	return &SyntaxError{Reason: "not a kubeconfig"}
}

func (c *Config) duplicates() error {
	if name, ok := repeated(c.Clusters, func(e NamedCluster) string { return e.Name }); ok {
		return &EntryError{List: "clusters", Name: name, Err: ErrDuplicate}
	}
	if name, ok := repeated(c.Users, func(e NamedUser) string { return e.Name }); ok {
		return &EntryError{List: "users", Name: name, Err: ErrDuplicate}
	}
	if name, ok := repeated(c.Contexts, func(e NamedContext) string { return e.Name }); ok {
		return &EntryError{List: "contexts", Name: name, Err: ErrDuplicate}
	}
	return nil
}

func repeated[E any](entries []E, name func(E) string) (string, bool) {
	seen := make(map[string]bool, len(entries))
	for _, entry := range entries {
		if seen[name(entry)] {
			return name(entry), true
		}
		seen[name(entry)] = true
	}
	return "", false
}

// Encode returns the configuration as YAML, with its secrets in clear: it is meant for a file of mode 0600. Parse reads
// it back. The error is encoding/json's when an extension is not a JSON value.
func (c *Config) Encode() ([]byte, error) { return yaml.Marshal(c.wire()) }
