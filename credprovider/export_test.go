package credprovider

// IsDefaultRegistry reports whether image is pulled from Docker Hub.
func IsDefaultRegistry(image string) bool { return isDefaultRegistry(image) }
