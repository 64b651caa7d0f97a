package modproxy

import (
	"errors"
	"regexp"
)

var fence = regexp.MustCompile("(?s)```go\n(.*?)```")

// ErrNoExample is returned for a README without a Go program in it.
var ErrNoExample = errors.New("no go code block that is a whole program")

// Example returns the first Go code block of a README that is a whole program
// (one that begins with its package clause).
func Example(readme string) (string, error) {
	for _, block := range fence.FindAllStringSubmatch(readme, -1) {
		if regexp.MustCompile(`(?m)^package main$`).MatchString(block[1]) {
			return block[1], nil
		}
	}
	return "", ErrNoExample
}
