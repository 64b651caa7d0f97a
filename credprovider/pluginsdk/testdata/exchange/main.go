// Exchange is the plugin of the tests: it gives a user the name of its image and a password made from its token.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pluginsdk"
	"github.com/lanyard-dev/lanyard/redact"
)

func main() { os.Exit(pluginsdk.Main(exchange)) }

func exchange(_ context.Context, r credprovider.Request) (credprovider.Response, error) {
	if err := record(r); err != nil {
		return credprovider.Response{}, err
	}
	if os.Getenv("REFUSE") != "" {
		return credprovider.Response{}, fmt.Errorf("no credentials for token %s", r.ServiceAccountToken.Reveal())
	}
	registry, _, _ := strings.Cut(r.Image, "/")
	password := fmt.Sprintf("pw-%x", sha256.Sum256([]byte(r.ServiceAccountToken.Reveal())))
	if os.Getenv("ECHO") != "" {
		password = r.ServiceAccountToken.Reveal()
	}
	response := credprovider.Response{
		CacheKeyType: credprovider.KeyImage,
		Auth:         map[string]credprovider.AuthConfig{registry: {Username: r.Image, Password: redact.New(password)}},
	}
	if keyType := os.Getenv("KEY_TYPE"); keyType != "" {
		response.CacheKeyType = credprovider.CacheKeyType(keyType)
	}
	if text := os.Getenv("DURATION"); text != "" {
		duration, err := time.ParseDuration(text)
		if err != nil {
			return credprovider.Response{}, err
		}
		response.CacheDuration = credprovider.NewDuration(duration)
	}
	return response, nil
}

// record adds a line for this run to the file that RUNS names. Appending a short line is one write.
func record(r credprovider.Request) error {
	path := os.Getenv("RUNS")
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "%s %s %d %v\n", os.Args[0], r.Image, len(r.ServiceAccountToken.Reveal()), r.ServiceAccountAnnotations)
	if err != nil {
		return err
	}
	return file.Close()
}
