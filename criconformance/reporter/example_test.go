package reporter_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/criconformance/reporter"
)

func ExampleParse() {
	m, err := reporter.Parse([]byte(`{"self":{"uid":1000,"gid":1000,"groups":[1000,60000],"env":[{"name":"BAZ","value":"JEZPTw=="}]}}`))
	fmt.Println(m.Self.Values("BAZ"), m.Self.Groups, err)
	// Output: [$FOO] [1000 60000] <nil>
}
