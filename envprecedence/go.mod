module github.com/lanyard-dev/lanyard/envprecedence

go 1.25

require (
	github.com/lanyard-dev/lanyard/redact v0.1.0
	pgregory.net/rapid v1.3.0
)
