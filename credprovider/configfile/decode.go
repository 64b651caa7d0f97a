package configfile

import (
	"encoding/json"
	"errors"
	"fmt"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// DecodeError is one reason why a configuration file cannot be decoded. It names fields and lines, not the values of
// arguments or environment variables. It unwraps to [credprovider.ErrConfig].
type DecodeError struct {
	// File is the path.
	File string
	// Reason is what is wrong, in one line, such as `unknown field "providers[0].unknownField"`.
	Reason string
}

// Error names the file and the reason.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("error decoding config %q: %s", e.File, e.Reason)
}

// Unwrap returns credprovider.ErrConfig.
func (e *DecodeError) Unwrap() error { return credprovider.ErrConfig }

// decode is strict: every field is known, spelled with its case, and not duplicated. The error joins a *DecodeError for
// each fault.
func decode(file string, data []byte) (credprovider.Config, error) {
	fail := func(reasons ...string) (credprovider.Config, error) {
		faults := make([]error, len(reasons))
		for i, reason := range reasons {
			faults[i] = &DecodeError{File: file, Reason: oneLine(reason)}
		}
		return credprovider.Config{}, errors.Join(faults...)
	}
	document, err := firstDocument(data)
	if err != nil {
		return fail(err.Error())
	}
	var header struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(document, &header); err != nil {
		return fail(err.Error())
	}
	if fault := headerFault(header.Kind, header.APIVersion); fault != "" {
		return fail(fault)
	}
	var wire wireConfig
	strict, err := kjson.UnmarshalStrict(document, &wire)
	if err != nil {
		return fail(err.Error())
	}
	faults := texts(strict)
	if header.APIVersion != credprovider.ConfigV1 {
		faults = append(faults, tokenAttributeFaults(wire)...)
	}
	if len(faults) > 0 {
		return fail(faults...)
	}
	return wire.config(), nil
}

// firstDocument returns the JSON form of data. JSON is not sent through YAML, which allows no tabs. Of several YAML
// documents the first counts, as upstream does it.
func firstDocument(data []byte) ([]byte, error) {
	if json.Valid(data) {
		return data, nil
	}
	return yaml.YAMLToJSONStrict(data)
}

func headerFault(kind, version string) string {
	switch version {
	case "":
		return "Object 'apiVersion' is missing"
	case credprovider.ConfigV1, credprovider.ConfigV1beta1, credprovider.ConfigV1alpha1:
	default:
		return fmt.Sprintf("no kind %q is registered for version %q", kind, version)
	}
	switch kind {
	case "":
		return "Object 'Kind' is missing"
	case credprovider.ConfigKind:
		return ""
	}
	return fmt.Sprintf("no kind %q is registered for version %q", kind, version)
}

// tokenAttributeFaults treats the field as unknown: only the version v1 of the file defines it.
func tokenAttributeFaults(config wireConfig) []string {
	var faults []string
	for i, provider := range config.Providers {
		if provider.TokenAttributes != nil {
			faults = append(faults, fmt.Sprintf(`unknown field "providers[%d].tokenAttributes"`, i))
		}
	}
	return faults
}

func texts(all []error) []string {
	lines := make([]string, len(all))
	for i, err := range all {
		lines[i] = err.Error()
	}
	return lines
}
