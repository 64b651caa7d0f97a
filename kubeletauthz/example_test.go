package kubeletauthz_test

import (
	"fmt"

	"github.com/lanyard-dev/lanyard/kubeletauthz"
)

// The questions about one request in three versions of Kubernetes.
func ExampleMapper_Map() {
	for _, minor := range []kubeletauthz.Minor{31, 32, 33} {
		mapper, _ := kubeletauthz.New(kubeletauthz.Options{Node: "node-1", Minor: minor})
		a := mapper.Map("GET", "/pods", "")
		fmt.Println(minor, a.Verb(), a.Subresources())
	}
	// Output:
	// 1.31 get [proxy]
	// 1.32 get [proxy]
	// 1.33 get [pods proxy]
}

// With hardened verbs a WebSocket, which is a GET, needs more than "get nodes/proxy" to run a command.
func ExampleOptions_hardenedVerbs() {
	upstream, _ := kubeletauthz.New(kubeletauthz.Options{})
	hardened, _ := kubeletauthz.New(kubeletauthz.Options{HardenedVerbs: true})
	const path = "/exec/default/pod/app"
	fmt.Println(upstream.Map("GET", path, "").Verb(), hardened.Map("GET", path, "").Verb())
	// Output: get create
}

// A path that two routers may read differently asks for proxy only.
func ExampleClean() {
	fmt.Println(kubeletauthz.Clean("/pods/", ""))
	fmt.Println(kubeletauthz.Clean("/pods/../exec", "/pods/..%2Fexec"))
	// Output:
	// true
	// false
}

// A release of Kubernetes that is newer than this package is treated as the newest known one; a program says so once.
func ExampleMinor_Known() {
	minor, _ := kubeletauthz.ParseMinor("v1.99.0")
	if known, same := minor.Known(); !same {
		fmt.Printf("%s is newer than this program knows; it is treated as %s\n", minor, known)
	}
	_, err := kubeletauthz.New(kubeletauthz.Options{Minor: minor})
	fmt.Println(err)
	// Output:
	// 1.99 is newer than this program knows; it is treated as 1.37
	// <nil>
}
