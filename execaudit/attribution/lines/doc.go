// Package lines reads files of JSON lines into batches: plain or gzip, rotated, growing, or standard input; in chunks
// that are decoded on several cores and come out in order, within a fixed amount of memory. What a decoder refuses is
// counted and reported with file and line, and reading goes on.
package lines
