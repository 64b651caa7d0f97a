module github.com/lanyard-dev/lanyard/envprecedence

go 1.25
