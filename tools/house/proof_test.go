package house_test

import (
	"testing"

	"github.com/lanyard-dev/lanyard/tools/house"
)

func TestProof(t *testing.T) {
	h := tree(t)
	put(t, h.Root, "tools/go.mod", "module "+house.Prefix+"/tools\n")
	above, err := h.Module("above")
	if err != nil {
		t.Fatal(err)
	}
	proof := func(name string) house.Proof {
		p, err := h.Proof(name, above)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if proof("works").Kept() {
		t.Error("kept before it was proved")
	}
	if err := proof("works").Keep(); err != nil {
		t.Fatal(err)
	}
	if !proof("works").Kept() || proof("other").Kept() {
		t.Error("want the one proof kept, and no other")
	}
	for _, file := range []string{"below/below.go", "above/README.md", "LICENSE", "tools/prove.go", "go.work.sum"} {
		put(t, h.Root, file, "package changed\n")
		if proof("works").Kept() {
			t.Errorf("kept although %s changed", file)
		}
		if err := proof("works").Keep(); err != nil {
			t.Fatal(err)
		}
	}
	put(t, h.Root, "peers/x/x.go", "package x\n")
	if !proof("works").Kept() {
		t.Error("not kept although nothing changed that it is about")
	}
}
