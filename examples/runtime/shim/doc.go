// Package shim is the program behind lanyard-monitor: it starts one container, keeps its streams and its log, and waits
// for it and for the exec sessions in it, whatever becomes of the runtime. Package monitor has its files and packets.
//
// It is a process of its own so that it can be a child subreaper: the low-level runtime detaches what it starts, and
// only a subreaper may wait for a process it did not start itself.
package shim
