package configfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/lanyard-dev/lanyard/credprovider"
)

// DecodeError says why a configuration file cannot be decoded. It names fields and lines, not the values of env entries.
type DecodeError struct {
	// File is the path.
	File string
	// Faults are what is wrong, at least one: unknown and doubled fields with their place, such as
	// `unknown field "providers[0].unknownField"`.
	Faults []string
}

// Error names the file and all faults, in one line.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("error decoding config %q: %s", e.File, strings.Join(e.Faults, ", "))
}

// decode is strict: fields are known, spelled with their case and there once.
func decode(file string, data []byte) (credprovider.Config, error) {
	fail := func(faults ...string) (credprovider.Config, error) {
		return credprovider.Config{}, &DecodeError{File: file, Faults: faults}
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
		return fail(oneLine(err.Error()))
	}
	if fault := headerFault(header.Kind, header.APIVersion); fault != "" {
		return fail(fault)
	}
	var config credprovider.Config
	strict, err := kjson.UnmarshalStrict(document, &config)
	if err != nil {
		return fail(oneLine(err.Error()))
	}
	faults := texts(strict)
	if header.APIVersion != credprovider.ConfigV1 {
		faults = append(faults, tokenAttributeFaults(config)...)
	}
	if len(faults) > 0 {
		return fail(faults...)
	}
	return config, nil
}

// firstDocument returns the JSON form of data. JSON is not sent through YAML, which has no tabs. Of several YAML
// documents the first counts, as upstream has it.
func firstDocument(data []byte) ([]byte, error) {
	if json.Valid(data) {
		return data, nil
	}
	document, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	return document, nil
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

// tokenAttributeFaults treats the field as unknown: only the version v1 of the file has it.
func tokenAttributeFaults(config credprovider.Config) []string {
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
