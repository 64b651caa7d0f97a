//go:build !race

package supgroups_test

// largeFile is the size of the large group file.
const largeFile = 1 << 30 // 1 GiB
