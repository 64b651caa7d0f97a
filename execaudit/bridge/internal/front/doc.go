// Package front is what lanyard-oci needs to know of a call before the rest of it is initialised, and package oci tells
// everybody: where the configuration stands, and what a runtime was called to do. It imports nothing,
// since what it imports is initialised first.
package front
