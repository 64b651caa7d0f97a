package kubernetes_test

import (
	"os"
	"testing"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

// shared is the cluster of every test that does not break it.
var shared kubernetes.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
