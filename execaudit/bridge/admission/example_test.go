package admission_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
)

func ExampleDecide() {
	request, err := admission.Read(exec(alice, "sh", "-c", "id"))
	if err != nil {
		fmt.Println(err)
		return
	}
	in := admission.Input{Request: request, Known: known(), Session: bridge.SessionID{1}, Nonce: [16]byte{1}, Now: now}

	d := admission.Decide(in, admission.Policy{}, signer)
	fmt.Println(d.Outcome, d.Session, "on", d.Node)

	in.Known.Lease = nil
	d = admission.Decide(in, admission.Policy{}, signer)
	fmt.Println(d.Outcome, d.Session, "because", d.Reason)
	// Output:
	// marked 01000000-0000-0000-0000-000000000000 on n1
	// unmarked 01000000-0000-0000-0000-000000000000 because the node has no lease
}
