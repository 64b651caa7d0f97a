// Package environ holds only tests: it compares the envprecedence module with containerd, moby, a map and a bare copy.
package environ
