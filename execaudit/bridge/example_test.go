package bridge_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
)

func ExampleSessionID() {
	id, err := bridge.ParseSessionID("5ff1c7b9-0000-4000-8001-00000000000a")
	fmt.Println(id, err)
	fmt.Printf("%s=%s\n", bridge.SessionName, id)
	fmt.Println("login UID", id.LoginUID()) // for ausearch --loginuid, and for filters of agents
	// Output:
	// 5ff1c7b9-0000-4000-8001-00000000000a <nil>
	// LANYARD_EXEC_SESSION=5ff1c7b9-0000-4000-8001-00000000000a
	// login UID 2015363594
}

func ExampleParseSessionID() {
	_, err := bridge.ParseSessionID("5FF1C7B9-0000-4000-8001-00000000000A")
	fmt.Println(err)
	// Output:
	// bad session ID
}
