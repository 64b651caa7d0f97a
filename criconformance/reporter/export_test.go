package reporter

// Write is write, which a test holds to be the inverse of [Parse].
var Write = write
