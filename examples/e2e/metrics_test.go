package e2e_test

import (
	"strconv"
	"strings"
	"testing"
)

// metric returns a sample's value, 0 where the page does not have it.
func metric(t *testing.T, page, sample string) int {
	t.Helper()
	for line := range strings.Lines(page) {
		if text, ok := strings.CutPrefix(line, sample+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatalf("%s = %q: %v", sample, text, err)
			}
			return int(n)
		}
	}
	return 0
}

// kubeletMetrics returns the page of a node's kubelet, fetched through the API server.
func kubeletMetrics(t *testing.T, c *cluster, node string) string {
	t.Helper()
	got := kubectl(t, c.AdminFile(), "get", "--raw", "/api/v1/nodes/"+node+"/proxy/metrics")
	if got.code != 0 {
		t.Fatalf("metrics of %s: %s", node, got.err)
	}
	return got.out
}
