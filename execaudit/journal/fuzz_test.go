package journal_test

import (
	"bytes"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"", "\n\n", "null", "{}", `{"version":1}`, `{"version":1,"kind":"end","time":"2026-11-21T04:10:00Z","node":"n","containerID":"c","execID":"e","exitCode":0}`,
		`{"version":1,"kind":"start","pid":1e99}`, "\xff", `{"version":1,"kind":"intent","argv":[1]}`,
		`{"version":1,"kind":"refusal","time":"2026-11-21T04:10:00Z","node":"n","containerID":"c","execID":"e","execSession":"s","reason":"why"}`,
		`{"version":1,"kind":"intent","time":"2026-11-21T04:10:00Z","node":"n","containerID":"c","execID":"e","sessionID":7,"loginUID":2013265920}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		records, faults := readAll(t, data)
		if lines := bytes.Count(data, []byte("\n")) + 1; len(records)+len(faults) > lines {
			t.Fatalf("%d records and %d faults from %d lines", len(records), len(faults), lines)
		}
		for _, fault := range faults {
			if len(fault.Error()) > 120 {
				t.Fatalf("a fault repeats content: %v", fault)
			}
		}
		for _, r := range records {
			if err := r.Validate(); err != nil {
				t.Fatalf("read a record that is none: %v", err)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(goodLine))
	for _, key := range keys {
		f.Add([]byte(`{"` + key + `":"\\u0041"}`))
	}
	for _, value := range values {
		if len(value) < 1<<10 {
			f.Add([]byte(`{"version":1,"reason":` + value + `,"later":` + value + "}"))
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var d journal.Decoder
		checkDecode(t, &d, line)
		checkDecode(t, &d, []byte(goodLine))
		checkDecode(t, &d, line)
	})
}
