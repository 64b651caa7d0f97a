// Package testimage makes the images that tests run, and serves them from a registry inside the test process. Nothing
// is fetched from anywhere: an image holds one static program (lanyard-reporter) and the files that a case needs.
package testimage
