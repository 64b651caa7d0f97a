package pluginexec

// stackOfRun is what a run and the decoding of its answer need of the stack, in bytes.
const stackOfRun = 16 << 10 // 16 KiB

// growStack grows the goroutine's stack at once. Most runs have a goroutine of their own, and a new one would double
// its stack four times on the way through os/exec and the decoder, copying it each time: that takes as long as the
// decoder does.
//
//go:noinline
func growStack() { keep(&[stackOfRun]byte{}) }

//go:noinline
func keep(*[stackOfRun]byte) {}
