// Package terminal makes text of others safe to print.
//
// Names, messages and errors come from images, registries, runtimes, plugins, configurations and file names. A terminal
// obeys control characters in them: they move the cursor, overwrite lines, set the title, or change the direction of
// writing. In the output of this package such characters are visible and have no effect.
//
// The package imports the standard library only.
package terminal
