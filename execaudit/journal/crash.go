package journal

// crashPoint is called between any two steps that change a disk, so that tests can end there what happens.
var crashPoint = func(string) {}
