package oci_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

func config() oci.Config {
	return oci.Config{
		Handler: "gv", Runtime: "/usr/sbin/run c", Node: "n1", Keys: "/etc/lanyard/keys", Spool: "/var/lib/lanyard/spool",
		Mark: oci.MarkWorkloads, Failure: oci.FailOpen, Skew: 1500 * time.Millisecond, UnmarkedNamespaces: []string{"kube-system"},
	}
}

func TestConfig(t *testing.T) {
	t.Run("BRG-9 what Encode wrote is parsed", func(t *testing.T) {
		if got, err := oci.ParseConfig(config().Encode()); err != nil || !reflect.DeepEqual(got, config()) {
			t.Errorf("ParseConfig = %+v, %v, want %+v", got, err, config())
		}
	})
	t.Run("BRG-9 a short one has the safe defaults", func(t *testing.T) {
		got, err := oci.ParseConfig([]byte(`{"version":1,"runtime":"/r","node":"n","keys":"/k","spool":"/s","later":{}}`))
		want := oci.Config{Runtime: "/r", Node: "n", Keys: "/k", Spool: "/s"}
		if err != nil || !reflect.DeepEqual(got, want) || got.MaxApart() != oci.DefaultSkew {
			t.Errorf("ParseConfig = %+v, %v, want %+v", got, err, want)
		}
	})
	t.Run("BRG-11 one that passes through needs the runtime alone", func(t *testing.T) {
		if got, err := oci.ParseConfig([]byte(`{"version":1,"runtime":"/r","passThrough":true}`)); err != nil || !got.PassThrough {
			t.Errorf("ParseConfig = %+v, %v", got, err)
		}
	})
	for text, want := range map[string]string{
		``:                              "bad configuration: not valid JSON",
		`[]`:                            "bad configuration: not a JSON object",
		`{}`:                            "bad configuration: version is 0, must be 1",
		`{"version":2}`:                 "bad configuration: version is 2, must be 1",
		`{"version":1}`:                 "bad configuration: runtime must be an absolute path",
		`{"version":1,"Version":1}`:     "bad configuration: Version duplicate name",
		`{"version":1,"node":["n"]}`:    "bad configuration: node has a value of the wrong form",
		`{"version":1,"skew":"a day"}`:  "bad configuration: skew has a value of the wrong form",
		`{"version":1,"runtime":"r"}`:   "bad configuration: runtime must be an absolute path",
		`{"version":1,"runtime":"/r"}`:  "bad configuration: node is missing",
		strings.Repeat(" ", 1<<20) + "": "bad configuration: not valid JSON",
		strings.Repeat(" ", 1<<20+1):    "bad configuration: larger than 1 MiB",
	} {
		t.Run("BRG-6 "+want, func(t *testing.T) {
			_, err := oci.ParseConfig([]byte(text))
			var fault *oci.ConfigFault
			if !errors.As(err, &fault) || !errors.Is(err, oci.ErrConfig) || err.Error() != want {
				t.Errorf("ParseConfig = %v, want %s", err, want)
			}
		})
	}
	for field, change := range map[string]func(*oci.Config){
		"node":    func(c *oci.Config) { c.Node = "" },
		"keys":    func(c *oci.Config) { c.Keys = "keys" },
		"spool":   func(c *oci.Config) { c.Spool = "" },
		"mark":    func(c *oci.Config) { c.Mark = "all" },
		"failure": func(c *oci.Config) { c.Failure = "ajar" },
		"skew":    func(c *oci.Config) { c.Skew = oci.MaxSkew + 1 },
	} {
		t.Run("BRG-6 a fault in "+field, func(t *testing.T) {
			c := config()
			change(&c)
			var fault *oci.ConfigFault
			if err := c.Validate(); !errors.As(err, &fault) || fault.Field != field {
				t.Errorf("Validate = %v, want a fault in %s", err, field)
			}
		})
	}
	t.Run("BRG-9 beside the program, or where a covered one has it", func(t *testing.T) {
		want := []string{"/usr/sbin/run c.json", "/run/lanyard/usr-sbin-run c.json"}
		if got := oci.ConfigPaths("/usr/sbin/run c"); !reflect.DeepEqual(got, want) {
			t.Errorf("ConfigPaths = %q, want %q", got, want)
		}
	})
}
