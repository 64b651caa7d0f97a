package credprovider

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a time.Duration whose JSON form is a string such as "10m0s". A JSON number is refused.
type Duration time.Duration

// NewDuration returns a pointer to d, for the optional fields of this package.
func NewDuration(d time.Duration) *Duration {
	duration := Duration(d)
	return &duration
}

// String returns the duration as time.Duration prints it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalJSON returns the string form.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads what time.ParseDuration reads, in a JSON string. JSON null leaves d as it is.
func (d *Duration) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("duration: want a string such as \"10m\": %w", err)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}
