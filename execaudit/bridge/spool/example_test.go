package spool_test

import (
	"fmt"
	"os"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
)

func Example() {
	dir, err := os.MkdirTemp("", "spool")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	nonce := [16]byte{1, 2, 3}
	claim, err := spool.Take(dir, nonce)
	if err != nil {
		panic(err)
	}
	if err := claim.Commit(spool.Record{Nonce: nonce, Session: record(1).Session, Argv: []string{"sh"}, Mark: spool.MarkSet}); err != nil {
		panic(err)
	}
	_, err = spool.Take(dir, nonce)
	fmt.Println(err)

	for r, err := range spool.Records(dir) {
		fmt.Println(r.Argv, r.Mark, err, spool.Done(dir, r.Nonce))
	}
	// Output:
	// token was used before
	// [sh] set <nil> <nil>
}
