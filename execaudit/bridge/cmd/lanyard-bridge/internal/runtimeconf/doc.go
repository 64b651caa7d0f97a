// Package runtimeconf changes the configuration texts of containerd and CRI-O so that a runtime handler executes
// another program, and takes the change back byte for byte. It is pure: texts in, edits out.
//
// # Where a change goes
//
// containerd merges a main file with the files that it imports. What it does with the table of its CRI plugin decides
// where a change can be made:
//
//   - containerd 1.x replaces a plugin's table as a whole: the last file that has the CRI plugin's table is the only
//     one that counts. A further file would have to repeat all of that table and hide every later change of it, so the
//     file that counts is edited.
//   - containerd 2.x merges the tables. Where the main file imports a directory, a file of our own goes there and
//     nothing else changes. Where it imports none, the file that defines the handler is edited, or the main file.
//   - CRI-O reads its directory of further files after the main one, and replaces a handler's table as a whole: a file
//     of our own there repeats that one table.
//
// # An edit
//
// An [Edit] inserts marked lines, or puts marked lines in the place of one line. Whatever else is changed in the file
// afterwards, only these lines go again; where they were changed, nothing does ([ErrNotFound]).
package runtimeconf
