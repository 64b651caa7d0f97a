package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usageError is a fault of the command line.
type usageError struct{ error }

// usage makes a fault of arguments one of usage.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// maxMemory bounds --memory.
const maxMemory = 1 << 20 // MiB, that is 1 TiB

// check refuses flags that contradict each other or themselves.
func (a *attribute) check() error {
	inputs := standardInputs(a.audit, a.journals, a.events)
	switch {
	case len(a.audit) == 0 || len(a.events) == 0:
		return usageError{errors.New("--audit and --events are required")}
	case inputs > 1:
		return usageError{errors.New("standard input can be read once only")}
	case a.follow && inputs > 0:
		return usageError{errors.New("--follow needs files: standard input does not tell when it has ended")}
	case a.options.Window <= 0:
		return usageError{fmt.Errorf("--window %v is not above 0", a.options.Window)}
	case a.options.Linger <= 0:
		return usageError{fmt.Errorf("--linger %v is not above 0", a.options.Linger)}
	case a.options.Skew < 0:
		return usageError{fmt.Errorf("--skew %v is below 0", a.options.Skew)}
	case a.memory < 1 || a.memory > maxMemory:
		return usageError{fmt.Errorf("--memory %d is not from 1 to %d", a.memory, maxMemory)}
	}
	if a.options.Skew == 0 {
		a.options.Skew = -1 // none; the zero value would be the default
	}
	if a.format == "html" || a.format == "table" && !a.follow {
		a.options.Last = true // a page is written at its end, and so is a table read
	}
	a.options.MaxBytes = a.memory << 20
	return nil
}

func standardInputs(flags ...[]string) (n int) {
	for _, lists := range flags {
		for _, list := range lists {
			for path := range strings.SplitSeq(list, ",") {
				if path == "-" {
					n++
				}
			}
		}
	}
	return n
}
