package pluginexec_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/lanyard-dev/lanyard/pluginexec"
)

func ExampleLookup() {
	_, err := pluginexec.Lookup("no-such-plugin")
	fmt.Println(err)
	fmt.Println(errors.Is(err, pluginexec.ErrNotFound))
	// Output:
	// command "no-such-plugin": no such executable
	// true
}

func ExampleRun() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := pluginexec.Run(ctx, pluginexec.Command{Path: "/usr/bin/plugin"})
	fmt.Println(err)
	// Output: "/usr/bin/plugin" stopped: context canceled
}
