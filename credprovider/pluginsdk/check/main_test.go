package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider/internal/testbin"
)

// exchange is the path of the test plugin.
var exchange string

func TestMain(m *testing.M) {
	var err error
	if exchange, err = testbin.Build("../testdata/exchange"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(filepath.Dir(exchange))
	os.Exit(code)
}
