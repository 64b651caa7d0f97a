//go:build race

package supgroups_test

// largeFile is smaller under the race detector, which takes a minute for a GiB and learns nothing from it.
const largeFile = 64 << 20 // 64 MiB
