module github.com/lanyard-dev/lanyard/execaudit/agent/cmd/execaudit-agent

go 1.26.0

require (
	github.com/lanyard-dev/lanyard/execaudit/agent v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/attribution v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/bridge v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/journal v0.1.0
	github.com/lanyard-dev/lanyard/internal/terminal v0.1.0
	github.com/lanyard-dev/lanyard/redact v0.1.0
	github.com/prometheus/client_golang v1.24.0
	github.com/spf13/cobra v1.10.2
	golang.org/x/sys v0.49.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/cilium/ebpf v0.22.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.2 // indirect
	github.com/prometheus/common v0.70.0 // indirect
	github.com/prometheus/procfs v0.21.1 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
