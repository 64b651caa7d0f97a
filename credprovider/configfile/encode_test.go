package configfile_test

import (
	"encoding/json"
	"testing"

	"github.com/lanyard-dev/lanyard/credprovider"
)

func encode(t *testing.T, config credprovider.Config) string {
	t.Helper()
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
