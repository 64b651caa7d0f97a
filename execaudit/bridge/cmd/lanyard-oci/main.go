// Command lanyard-oci stands in the place of an OCI runtime.
package main

func main() {}
