module github.com/lanyard-dev/lanyard/internal/terminal

go 1.25

require pgregory.net/rapid v1.3.0
