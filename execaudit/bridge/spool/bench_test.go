package spool_test

import (
	"encoding/binary"
	"testing"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
)

// BenchmarkCommit is a token's use and its record, on the disk of the directory for temporary files; most of it is the
// two syncs, of the file and of the directory.
func BenchmarkCommit(b *testing.B) {
	dir, r := b.TempDir(), record(1)
	for i := 0; b.Loop(); i++ {
		binary.BigEndian.PutUint64(r.Nonce[8:], uint64(i))
		claim, err := spool.Take(dir, r.Nonce)
		if err == nil {
			err = claim.Commit(r)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTake is the same without writing and syncing: the use is given back.
func BenchmarkTake(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		claim, err := spool.Take(dir, [16]byte{1})
		if err == nil {
			err = claim.Release()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	b.ReportAllocs()
	r := record(1)
	for b.Loop() {
		_ = r.Encode()
	}
}

func BenchmarkParseRecord(b *testing.B) {
	b.ReportAllocs()
	text := record(1).Encode()
	for b.Loop() {
		if _, err := spool.ParseRecord(text); err != nil {
			b.Fatal(err)
		}
	}
}
