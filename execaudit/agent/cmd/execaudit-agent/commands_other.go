//go:build !linux

package main

import "github.com/spf13/cobra"

// ofNodes is empty: nodes run Linux.
func ofNodes() []*cobra.Command { return nil }
