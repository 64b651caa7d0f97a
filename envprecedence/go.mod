module github.com/lanyard-dev/lanyard/envprecedence

go 1.25

require pgregory.net/rapid v1.3.0
