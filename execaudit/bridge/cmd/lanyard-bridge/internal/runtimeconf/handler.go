package runtimeconf

import (
	"fmt"
)

// Handler is a runtime handler as a configuration has it.
type Handler struct {
	// Name is the handler's.
	Name string
	// Type is its runtime_type.
	Type string
	// Binary is the program that is executed; "" is the runtime's default.
	Binary string
	// Table is all of it.
	Table map[string]any
}

// Supported returns nil where the wrapper can stand for the handler's runtime. Its error is [ErrRuntime].
func (h Handler) Supported() error {
	switch h.Type {
	case RuncV2, typeOCI, "":
		return nil
	}
	return fmt.Errorf("handler %q: %w: runtime_type %q brings a shim of its own, which executes no program like runc", h.Name, ErrRuntime, h.Type)
}

// Change is what is wanted of a handler.
type Change struct {
	// Handler is the handler's name.
	Handler string
	// CopyOf is the handler that a new one is a copy of; "" changes the handler itself.
	CopyOf string
	// Binary is the program that the handler shall execute.
	Binary string
}
