module github.com/lanyard-dev/lanyard/peers/attribution

go 1.26.0

require (
	github.com/lanyard-dev/lanyard/execaudit/attribution v0.1.0
	github.com/lanyard-dev/lanyard/execaudit/journal v0.1.0
	github.com/valyala/fastjson v1.6.10
	pgregory.net/rapid v1.3.0
)

replace (
	github.com/lanyard-dev/lanyard/execaudit/attribution => ../../execaudit/attribution
	github.com/lanyard-dev/lanyard/execaudit/journal => ../../execaudit/journal
	github.com/lanyard-dev/lanyard/internal/terminal => ../../internal/terminal
)
