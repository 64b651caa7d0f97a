module github.com/lanyard-dev/lanyard/execaudit/cmd/execaudit

go 1.26.0

require (
	github.com/lanyard-dev/lanyard/execaudit v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/attribution v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/journal v0.1.0
	github.com/lanyard-dev/lanyard/internal/terminal v0.1.0
	github.com/spf13/cobra v1.10.2
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/lanyard-dev/lanyard/envprecedence v0.1.0 // indirect
	github.com/lanyard-dev/lanyard/redact v0.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
)
