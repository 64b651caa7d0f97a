//go:build !race

package attribution_test

const shadow = 1
