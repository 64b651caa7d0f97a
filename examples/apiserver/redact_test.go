package apiserver_test

import (
	"flag"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
)

func TestRedaction(t *testing.T) {
	c := start(t, nil)
	log := captureLog(t)
	must(c.exec(t, c.admin(), session{query: "env=LOG_LEVEL%3Dhunter2"}, "env"))(t)
	c.shutdown(t)
	t.Run("EXA-28 the audit log names variables, not values", func(t *testing.T) {
		text := string(must(os.ReadFile(c.audit))(t))
		contains(t, "audit log", text, "env=LOG_LEVEL=[redacted]")
		if strings.Contains(text, "hunter2") {
			t.Error("the value is in the audit log")
		}
	})
	t.Run("EXA-28 so does the request log", func(t *testing.T) {
		contains(t, "log", log(), "/pods/one/exec", "env=LOG_LEVEL=[redacted]")
		if strings.Contains(log(), "hunter2") {
			t.Error("the value is in the log")
		}
	})
}

// capture is what klog writes to in these tests: nothing is kept until somebody asks for it. klog's logger cannot be
// replaced while a server runs.
type capture struct {
	mu   sync.Mutex
	text *strings.Builder
}

var logged capture

func (c *capture) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.text != nil {
			c.text.WriteString(args + "\n")
		}
	}, funcr.Options{Verbosity: 5})
}

func (c *capture) set(text *strings.Builder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = text
}

// captureLog raises the verbosity to that of request logs and returns what was logged since.
func captureLog(t *testing.T) func() string {
	t.Helper()
	set := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(set)
	verbosity := func(v string) {
		if err := set.Set("v", v); err != nil {
			t.Fatal(err)
		}
	}
	text := &strings.Builder{}
	logged.set(text)
	verbosity("5")
	t.Cleanup(func() {
		verbosity("0")
		logged.set(nil)
	})
	return func() string {
		logged.mu.Lock()
		defer logged.mu.Unlock()
		return text.String()
	}
}
