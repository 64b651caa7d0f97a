module github.com/lanyard-dev/lanyard/execaudit/attribution

go 1.25

require (
	github.com/lanyard-dev/lanyard/execaudit/journal v0.1.0
	github.com/lanyard-dev/lanyard/internal/terminal v0.1.0
	pgregory.net/rapid v1.3.0
)
