package token_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

func Example() {
	// The webhook has the private key, and signs for one pod, container, node and command.
	key := token.NewKey()
	command := []string{"sh", "-c", "id"}
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	text, err := key.Sign(token.Token{
		Session:   bridge.NewSessionID(),
		Pod:       token.Pod{UID: "0b2b3c7e-6f0c-4d0f-9a55-0d4a3f5b1c2d", Namespace: "shop", Name: "cart-0"},
		Container: "app",
		Node:      "n1",
		NotBefore: now,
		Expiry:    now.Add(time.Minute),
		Nonce:     [16]byte(bridge.NewSessionID()),
		Command:   token.Digest(command, true),
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	// The node has public keys.
	keys := token.Keys{key.Public()}
	t, err := keys.Verify(text, now.Add(3*time.Second), 5*time.Second)
	fmt.Println(t.Pod.Name, t.Container, t.Command == token.Digest(command, true), err)
	fmt.Println("another command:", t.Command == token.Digest([]string{"sh", "-c", "reboot"}, true))

	_, err = keys.Verify(text, now.Add(72*time.Second), 5*time.Second)
	fmt.Println(err, errors.Is(err, token.ErrExpired))
	// Output:
	// cart-0 app true <nil>
	// another command: false
	// token expired 12 s ago by this node's clock true
}

func ExampleParseKeys() {
	_, err := token.ParseKeys("# the key of 2026\nlanyard-exec-public:1:c29tZXRoaW5nIGVsc2U\n")
	fmt.Println(err)
	// Output:
	// bad token key in line 2: not lanyard-exec-public:1: and 43 characters of base64url
}

func ExampleKey() {
	fmt.Printf("%v\n", token.NewKey())
	// Output:
	// [redacted]
}
