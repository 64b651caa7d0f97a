package suite_test

import (
	"fmt"
	"os"

	"github.com/lanyard-dev/lanyard/criconformance/suite"
)

func ExampleResult_Explain() {
	r := suite.Result{
		Problems: []suite.Problem{{Where: "SPDY", Sent: `BAZ="$FOO" FOO="bar"`, Seen: `BAZ="bar", want "$FOO"`}},
		Source:   "KEP-6035, CRI Primitive", Sentence: "Values are injected literally", Fix: "pass $FOO through as it is",
	}
	fmt.Fprint(os.Stdout, r.Explain(""))
	// Output:
	// where  SPDY
	// sent   BAZ="$FOO" FOO="bar"
	// seen   BAZ="bar", want "$FOO"
	// rule   KEP-6035, CRI Primitive: "Values are injected literally"
	// to do  pass $FOO through as it is
}
