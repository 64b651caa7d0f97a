module github.com/lanyard-dev/lanyard/supgroups

go 1.26.0
