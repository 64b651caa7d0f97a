// Command house runs the chores that go over every module of the repository:
// see the Makefile for the names by which they are called.
package main

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/lanyard-dev/lanyard/tools/house"
)

// errUsage is returned by a chore whose arguments are wrong.
var errUsage = errors.New("wrong arguments")

// chore is one verb of the command.
type chore func(h *house.House, args []string) error

func chores() map[string]chore {
	return map[string]chore{
		"api":     api,
		"bench":   bench,
		"cross":   crossCompile,
		"fuzz":    fuzzAll,
		"lint":    lint,
		"modules": prove,
		"sums":    sums,
		"test":    test,
		"tidy":    tidy,
		"trace":   traceIDs,
		"work":    work,
	}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func run(args []string) error {
	all := chores()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	if len(args) == 0 || all[args[0]] == nil {
		return fmt.Errorf("%w: want one of %s", errUsage, strings.Join(names, ", "))
	}
	h, err := house.Open(".")
	if err != nil {
		return err
	}
	return all[args[0]](h, args[1:])
}

// selected returns the modules in the given directories, or those of the kinds when
// no directory is given; without kinds every module but the heavy ones.
func selected(h *house.House, dirs []string, kinds ...house.Kind) ([]house.Module, error) {
	switch {
	case len(dirs) > 0:
	case len(kinds) > 0:
		return h.Select(kinds...), nil
	default:
		return h.Everyday(), nil
	}
	var out []house.Module
	for _, dir := range dirs {
		m, err := h.Module(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
