// Package monitor is the language between the runtime and the monitor of one container: the files they share and the
// packets they exchange.
//
// A monitor is a small process of its own (package shim, program lanyard-monitor) that starts one container, holds its
// standard streams and its log, waits for it and for every exec session in it, and writes down how they ended. It does
// not depend on the runtime: when the runtime is killed, the container goes on and nothing about it is lost. The
// runtime that comes back reads the files, see [Read], and speaks to the socket again, see [Dial].
package monitor
