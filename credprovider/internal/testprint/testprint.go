// Package testprint finds secrets in what printing a value shows.
package testprint

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
)

// Leaks returns what printing value by fmt, JSON or slog shows, if the secret is in it in any form; else the empty
// string. The value is printed alone, in a slice, in a map, and in a field whose methods fmt cannot call.
func Leaks(value any, secret string) string {
	numbers := strings.Trim(fmt.Sprint([]byte(secret)), "[]")
	forms := []string{secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), numbers, base64.StdEncoding.EncodeToString([]byte(secret))[:8]}
	for _, shape := range []any{value, []any{value}, map[string]any{"key": value}, struct{ hidden any }{value}} {
		for _, text := range prints(shape) {
			for _, form := range forms {
				if strings.Contains(text, form) {
					return text
				}
			}
		}
	}
	return ""
}

func prints(value any) []string {
	var all []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		all = append(all, fmt.Sprintf(verb, value))
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "k", value)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "k", value)
	all = append(all, log.String())
	if data, err := json.Marshal(value); err == nil {
		all = append(all, string(data))
	}
	return all
}
