// Package lines is a file of lines that is rotated by size: what a kill, a full disk or somebody who moves the file
// leaves behind is whole lines.
package lines
