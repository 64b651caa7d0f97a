module github.com/lanyard-dev/lanyard/execaudit/agent

go 1.26.0

require (
	github.com/cilium/ebpf v0.22.0
	github.com/lanyard-dev/lanyard/execaudit/attribution v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/journal v0.1.0
	github.com/lanyard-dev/lanyard/redact v0.1.0
	golang.org/x/sys v0.49.0
	pgregory.net/rapid v1.3.0
)

tool github.com/cilium/ebpf/cmd/bpf2go
