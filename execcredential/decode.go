package execcredential

import (
	"bytes"
	"encoding/json"
	"errors"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Parse reads an ExecCredential of any known version, as a plugin finds it in [InfoEnv]: JSON or YAML, unknown fields
// ignored, field names matched by case. This is the reading half of the KEP's LoadExecCredential; the module restconfig
// adds the rest.Config.
//
// Errors: *[DecodeError] when data is not such an object, *[KindError] for another kind or group, *[VersionError] for
// an unknown version of the group.
func Parse(data []byte) (*ExecCredential, error) {
	wire, err := decode(data)
	if err != nil {
		return nil, err
	}
	if wire.Kind != Kind || groupOf(wire.APIVersion) != Group {
		return nil, &KindError{Kind: clip(wire.Kind), Group: clip(groupOf(wire.APIVersion))}
	}
	if !knownVersion(wire.APIVersion) {
		return nil, &VersionError{Got: clip(wire.APIVersion)}
	}
	return &ExecCredential{
		Kind: wire.Kind, APIVersion: wire.APIVersion, Status: wire.Status.status(),
		Spec: Spec{Cluster: wire.Spec.Cluster.cluster(), Interactive: wire.Spec.Interactive},
	}, nil
}

// decode reads JSON when the first byte says so, else YAML.
func decode(data []byte) (*wireObject, error) {
	var wire wireObject
	document := data
	if !isJSON(data) {
		converted, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, &DecodeError{Reason: "neither JSON nor YAML"}
		}
		document = converted
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(document, &wire); err != nil {
		return nil, decodeError(err)
	}
	return &wire, nil
}

func isJSON(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n\v\f"), []byte("{"))
}

// decodeError keeps the position and the expected type, and drops what the document said: it may be a token.
func decodeError(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return &DecodeError{Reason: "field " + mismatch.Field + " is not a " + mismatch.Type.String()}
	}
	if errors.Is(err, errTimestamp) {
		return &DecodeError{Reason: errTimestamp.Error()}
	}
	return &DecodeError{Reason: "not a JSON object of this shape"}
}

func groupOf(apiVersion string) string {
	for i := range len(apiVersion) {
		if apiVersion[i] == '/' {
			return apiVersion[:i]
		}
	}
	return ""
}

// clip bounds a plugin's text before it enters an error.
func clip(text string) string {
	const most = 80
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
