package kubernetes

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lanyard-dev/lanyard/examples/parts"
)

// Command is a program and its flags, to be changed before it starts.
type Command struct {
	// Program is the name of a program that the Makefile builds, or an absolute path.
	Program string
	// Flags are arguments of the form --name=value.
	Flags []string
	// Env are further variables, each as NAME=VALUE.
	Env []string
}

// Set gives the flag this value only.
func (c *Command) Set(name, value string) {
	c.Drop(name)
	c.Add(name, value)
}

// Add adds the flag with the value, beside others of the name.
func (c *Command) Add(name, value string) { c.Flags = append(c.Flags, "--"+name+"="+value) }

// Drop removes every flag of the names.
func (c *Command) Drop(names ...string) {
	c.Flags = slices.DeleteFunc(c.Flags, func(flag string) bool { return slices.Contains(names, flagName(flag)) })
}

// Keep removes every flag but those of the names.
func (c *Command) Keep(names ...string) {
	c.Flags = slices.DeleteFunc(c.Flags, func(flag string) bool { return !slices.Contains(names, flagName(flag)) })
}

func flagName(flag string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	return name
}

// path returns the path of the program.
func (c *Command) path() (string, error) {
	if filepath.IsAbs(c.Program) {
		return c.Program, nil
	}
	return parts.Find(c.Program)
}
