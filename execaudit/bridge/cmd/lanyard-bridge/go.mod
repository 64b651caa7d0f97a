module github.com/lanyard-dev/lanyard/execaudit/bridge/cmd/lanyard-bridge

go 1.26.0

require (
	github.com/lanyard-dev/lanyard/internal/terminal v0.1.0
	github.com/pelletier/go-toml/v2 v2.4.3
	github.com/spf13/cobra v1.10.2
	golang.org/x/sys v0.49.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
)
