package oci

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/front"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/internal/jsonspan"
)

// ConfigVersion is the version of the configuration file's form.
const ConfigVersion = 1

// Limits of a configuration.
const (
	// MaxConfigBytes is the most that a configuration file may have.
	MaxConfigBytes = 1 << 20 // 1 MiB
	// DefaultSkew is how far the clocks of webhook and node may be apart where nothing is said.
	DefaultSkew = 10 * time.Second
	// MaxSkew is the most that may be said.
	MaxSkew = 5 * time.Minute
)

// Marking says which processes get a login UID of the bridge's.
type Marking string

// The markings.
const (
	// MarkSessions: those of sessions with a token. The default.
	MarkSessions Marking = "sessions"
	// MarkWorkloads: those too that a container or an exec without token starts, with [bridge.WorkloadLoginUID].
	MarkWorkloads Marking = "workloads"
	// MarkOff: none; sessions have the variable and a record.
	MarkOff Marking = "off"
)

// Failing says what becomes of a session whose record cannot be written.
type Failing string

// The ways of failing.
const (
	// FailClosed: it is refused. The default.
	FailClosed Failing = "closed"
	// FailOpen: it goes on without token, variable, mark and record.
	FailOpen Failing = "open"
)

// Config is how lanyard-oci is configured, for one runtime handler.
type Config struct {
	// Handler is the runtime handler's name; the default one's is "".
	Handler string
	// Runtime is the path of the real runtime; absolute, required.
	Runtime string
	// PassThrough: every call goes to the runtime as it is; nothing below is needed.
	PassThrough bool
	// Node is the node's name; required.
	Node string
	// Keys is the path of the file of public keys, Spool the directory for records; absolute, required.
	Keys, Spool string
	// Mark is [MarkSessions] if empty, Failure [FailClosed].
	Mark    Marking
	Failure Failing
	// Skew is how far the webhook's clock may be apart, in whole milliseconds; 0 is [DefaultSkew].
	Skew time.Duration
	// UnmarkedNamespaces are those whose processes get no mark.
	UnmarkedNamespaces []string
}

// ConfigPaths returns where the configuration of the program at the absolute path exe stands, in the order in which it
// is looked for: beside it as NAME.json, and in /run/lanyard, its path with dashes for slashes, for a program that
// covers another by a bind mount and so has nothing of its own beside it.
func ConfigPaths(exe string) []string { return front.ConfigPaths(exe) }

// ParseConfig returns the configuration in a text that Encode wrote, or a person: a JSON object with the fields' names
// in lower camel case, skew as in "10s", and version 1. Names that it does not know are passed over. Its error is a
// *[ConfigFault]: not such an object, another version, a duplicate or differently cased name, or what Validate says.
func ParseConfig(text []byte) (Config, error) {
	if len(text) > MaxConfigBytes {
		return Config{}, &ConfigFault{"", "larger than 1 MiB"}
	}
	root, err := jsonspan.Parse(text)
	if err != nil {
		return Config{}, &ConfigFault{"", err.Error()}
	}
	if !jsonspan.IsObject(text, root) {
		return Config{}, &ConfigFault{"", "not a JSON object"}
	}
	c, version, seen := Config{}, uint64(0), map[string]bool{}
	for name, at := range jsonspan.Members(text, root) {
		if seen[strings.ToLower(name)] {
			return Config{}, &ConfigFault{name, "duplicate name"}
		}
		seen[strings.ToLower(name)] = true
		ok := true
		switch name {
		case "version":
			version, ok = jsonspan.Uint(text, at)
		case "handler":
			c.Handler, ok = jsonspan.String(text, at)
		case "runtime":
			c.Runtime, ok = jsonspan.String(text, at)
		case "passThrough":
			c.PassThrough, ok = jsonspan.Bool(text, at)
		case "node":
			c.Node, ok = jsonspan.String(text, at)
		case "keys":
			c.Keys, ok = jsonspan.String(text, at)
		case "spool":
			c.Spool, ok = jsonspan.String(text, at)
		case "mark":
			ok = stringAs(text, at, &c.Mark)
		case "failure":
			ok = stringAs(text, at, &c.Failure)
		case "skew":
			c.Skew, ok = duration(text, at)
		case "unmarkedNamespaces":
			c.UnmarkedNamespaces, ok = jsonspan.Strings(text, at)
		}
		if !ok {
			return Config{}, &ConfigFault{name, "has a value of the wrong form"}
		}
	}
	if version != ConfigVersion {
		return Config{}, &ConfigFault{"version", "is " + strconv.FormatUint(version, 10) + ", must be 1"}
	}
	return c, c.Validate()
}

// Encode returns the configuration's text, which ParseConfig takes if Validate finds no fault.
func (c Config) Encode() []byte {
	var o jsonspan.Object
	o.Uint("version", ConfigVersion)
	o.String("handler", c.Handler)
	o.String("runtime", c.Runtime)
	o.Bool("passThrough", c.PassThrough)
	o.String("node", c.Node)
	o.String("keys", c.Keys)
	o.String("spool", c.Spool)
	o.String("mark", string(c.Mark))
	o.String("failure", string(c.Failure))
	o.String("skew", c.Skew.String())
	o.Strings("unmarkedNamespaces", c.UnmarkedNamespaces)
	return o.Line()
}

// Validate returns the first fault, a *[ConfigFault], or nil: a path that is required and not absolute, no node, an
// unknown word, a skew below 0 or above [MaxSkew]. Under PassThrough Runtime alone is looked at.
func (c Config) Validate() error {
	if !path.IsAbs(c.Runtime) {
		return &ConfigFault{"runtime", "must be an absolute path"}
	}
	if c.PassThrough {
		return nil
	}
	switch {
	case c.Node == "":
		return &ConfigFault{"node", "is missing"}
	case !path.IsAbs(c.Keys):
		return &ConfigFault{"keys", "must be an absolute path"}
	case !path.IsAbs(c.Spool):
		return &ConfigFault{"spool", "must be an absolute path"}
	case !slices.Contains([]Marking{"", MarkSessions, MarkWorkloads, MarkOff}, c.Mark):
		return &ConfigFault{"mark", "must be sessions, workloads or off"}
	case !slices.Contains([]Failing{"", FailClosed, FailOpen}, c.Failure):
		return &ConfigFault{"failure", "must be closed or open"}
	case c.Skew < 0 || c.Skew > MaxSkew:
		return &ConfigFault{"skew", "must be from 0s to 5m"}
	}
	return nil
}

// MaxApart returns Skew, or [DefaultSkew] for 0.
func (c Config) MaxApart() time.Duration {
	if c.Skew == 0 {
		return DefaultSkew
	}
	return c.Skew
}

func stringAs[T ~string](text []byte, at jsonspan.Span, into *T) bool {
	value, ok := jsonspan.String(text, at)
	*into = T(value)
	return ok
}

func duration(text []byte, at jsonspan.Span) (time.Duration, bool) {
	value, ok := jsonspan.String(text, at)
	d, err := time.ParseDuration(value)
	return d, ok && err == nil
}
