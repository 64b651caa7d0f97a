package oci_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/oci"
)

func TestPrinting(t *testing.T) {
	process, err := oci.ParseProcess([]byte(`{"args":["sh","-c"],"env":["A=hunter2"]}`))
	if err != nil {
		t.Fatal(err)
	}
	bundle := oci.Bundle{Namespace: "shop", Pod: "web-0", PodUID: "u1", Container: "app", Env: []string{"A=hunter2", "B=hunter2"}}
	for want, value := range map[string]any{
		"process of 2 arguments and 1 variables":                                process,
		`bundle of container "app" in pod shop/web-0, UID u1, with 2 variables`: bundle,
	} {
		t.Run("MOD-9 no environment value is printed: "+want, func(t *testing.T) {
			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "value", value)
			text, err := json.Marshal(map[string]any{"value": value})
			if err != nil {
				t.Fatal(err)
			}
			for _, shown := range []string{fmt.Sprintf("%v", value), fmt.Sprintf("%+v %#v %x %s", value, value, value, value), log.String(), string(text)} {
				if strings.Contains(shown, "hunter2") || !strings.Contains(strings.ReplaceAll(shown, `\"`, `"`), want) {
					t.Errorf("printed %s, want %s", shown, want)
				}
			}
		})
	}
}
