// Command duckdb joins an audit log with Tetragon's export by the ID alone, once for each line it reads, and prints how
// many events got a user. It is a program and a module of its own because the driver's prebuilt C++ library weighs
// hundreds of megabytes, which no test of ours needs.
//
//	duckdb AUDIT EVENTS
package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"

	_ "github.com/marcboeker/go-duckdb" // the driver
)

// join names the columns it wants, which is the faster of DuckDB's two ways: the other guesses them first.
const join = `
SELECT count(*) FROM (
	SELECT coalesce(process_exec.process, process_exit.process).environment_variables[1]."Value" AS id
	FROM read_json(?, format = 'newline_delimited', columns = {
		process_exec: 'STRUCT(process STRUCT(environment_variables STRUCT("Key" VARCHAR, "Value" VARCHAR)[]))',
		process_exit: 'STRUCT(process STRUCT(environment_variables STRUCT("Key" VARCHAR, "Value" VARCHAR)[]))'})
) e JOIN (
	SELECT "auditID" AS id, max("user".username) AS username
	FROM read_json(?, format = 'newline_delimited', columns = {
		"auditID": 'VARCHAR', "user": 'STRUCT(username VARCHAR)', "objectRef": 'STRUCT(subresource VARCHAR)'})
	WHERE "objectRef".subresource = 'exec' GROUP BY ALL
) s USING (id)`

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: duckdb AUDIT EVENTS")
		os.Exit(2)
	}
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
		named, err := run(os.Args[1], os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(named)
	}
}

// run joins in a database of its own, so that nothing is left from the time before.
func run(audit, events string) (named int, err error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	if _, err := db.Exec("SET threads = 2"); err != nil {
		return 0, err
	}
	err = db.QueryRow(join, events, audit).Scan(&named)
	return named, err
}
