package ratio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadCPUTimes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stat")
	for text, want := range map[string]cpuTimes{
		"cpu  100 0 50 800 50 0 0 25 7 7\ncpu0 1 1 1 1 1 1 1 1\n": {busy: 1750 * time.Millisecond, all: 10250 * time.Millisecond},
		"cpu  1 2 3\n":                {},
		"intr 1 2 3 4 5 6 7 8 9\n":    {},
		"cpu  1 2 3 four 5 6 7 8 9\n": {},
		"":                            {},
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readCPUTimes(file)
		if got != want || (err == nil) != (want != cpuTimes{}) {
			t.Errorf("readCPUTimes(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestLoadSaysWhenItIsTooBusy(t *testing.T) {
	for load, want := range map[Load]string{
		{}:                          "unknown",
		{Known: true, Others: 0.01}: "other programs took 1% of the machine",
		{Known: true, Others: 0.4}:  "TOO BUSY TO BELIEVE: other programs took 40%",
	} {
		if got := load.String(); !strings.Contains(got, want) {
			t.Errorf("%#v.String() = %q, want %q in it", load, got, want)
		}
	}
}
