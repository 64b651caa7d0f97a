package suite_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

func TestRunRefuses(t *testing.T) {
	for name, o := range map[string]suite.Options{
		"no endpoint":     {},
		"unknown feature": {Endpoint: "unix:///x", Require: []suite.Feature{"all"}},
		"push and images": {Endpoint: "unix:///x", Push: "a", Images: "b"},
		"nothing to do":   {Endpoint: "unix:///x", Focus: regexp.MustCompile("nothing")},
	} {
		t.Run("CON-4 wrong options are not a case: "+name, func(t *testing.T) {
			if _, err := suite.Run(t.Context(), o); !errors.Is(err, suite.ErrOptions) {
				t.Errorf("Run = %v, want ErrOptions", err)
			}
		})
	}
}

func TestWriteArchiveRefuses(t *testing.T) {
	text := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Run("CON-5 a reporter that is no static Linux program", func(t *testing.T) {
		for _, reporter := range []string{text, filepath.Join(t.TempDir(), "none")} {
			if err := suite.WriteArchive(io.Discard, "localhost/x", reporter); !errors.Is(err, suite.ErrOptions) {
				t.Errorf("WriteArchive(%q) = %v, want ErrOptions", reporter, err)
			}
		}
	})
	t.Run("CON-5 no name for the images", func(t *testing.T) {
		if err := suite.WriteArchive(io.Discard, "", text); !errors.Is(err, suite.ErrOptions) {
			t.Errorf("WriteArchive = %v, want ErrOptions", err)
		}
	})
}
