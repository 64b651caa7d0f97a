// Package install is the commands `lanyard-bridge install`, `uninstall` and `status`.
package install
