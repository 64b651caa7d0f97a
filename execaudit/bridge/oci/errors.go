package oci

import "errors"

// ErrConfig is what every [ConfigFault] unwraps to.
var ErrConfig = errors.New("bad configuration")

// ConfigFault is what is wrong with a configuration.
type ConfigFault struct {
	// Field is the name in the file, empty for the file as a whole.
	Field string
	// Rule says what is wrong with it.
	Rule string
}

// Error returns the field and the rule.
func (f *ConfigFault) Error() string {
	if f.Field == "" {
		return ErrConfig.Error() + ": " + f.Rule
	}
	return ErrConfig.Error() + ": " + f.Field + " " + f.Rule
}

// Unwrap returns [ErrConfig].
func (f *ConfigFault) Unwrap() error { return ErrConfig }
