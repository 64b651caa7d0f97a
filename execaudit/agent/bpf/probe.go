package bpf

// Finding is one thing that the programs need or use, and whether it is there.
type Finding struct {
	// Name is a text for people, the same on every node.
	Name string
	// Err is why it is not there, or why it could not be found out; nil where it is there.
	Err error
	// Optional says that the agent sees everything without it.
	Optional bool
}
