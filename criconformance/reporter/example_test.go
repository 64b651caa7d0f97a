package reporter_test

import (
	"fmt"
	"os"

	"github.com/lanyard-dev/lanyard/criconformance/reporter"
)

func ExampleMain() {
	code, asked := reporter.Main([]string{"mytests", "-test.v"}, os.Stdout, os.Stderr)
	fmt.Println(code, asked) // the program goes on
	// Output: 0 false
}
