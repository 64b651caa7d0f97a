package rootfs

// What the tests outside the package look into.
const MaxFileBytes = maxFileBytes

var Follow = follow
