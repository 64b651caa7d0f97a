package terminal_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/internal/terminal"
)

func ExampleEscape() {
	fmt.Println(terminal.Escape("registry says: \x1b[2Jall is well\n"))
	// Output: registry says: \x1b[2Jall is well\n
}
