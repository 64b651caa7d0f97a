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

// captureLog raises the verbosity to that of request logs and returns what was logged since.
func captureLog(t *testing.T) func() string {
	t.Helper()
	var mu sync.Mutex
	var text strings.Builder
	set := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(set)
	verbosity := func(v string) {
		if err := set.Set("v", v); err != nil {
			t.Fatal(err)
		}
	}
	verbosity("5")
	klog.SetLogger(funcr.New(func(_, args string) {
		mu.Lock()
		defer mu.Unlock()
		text.WriteString(args + "\n")
	}, funcr.Options{Verbosity: 5}))
	t.Cleanup(func() {
		verbosity("0")
		klog.SetLogger(logr.Discard())
	})
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}
