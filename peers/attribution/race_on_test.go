//go:build race

package attribution_test

// shadow is how many times its own memory a program under the race detector may need.
const shadow = 4
