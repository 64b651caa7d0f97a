// Package webhook is the command `lanyard-bridge webhook`: the server that the API server asks about every exec.
//
// It serves /mutate, /validate and, with an audit file, /audit, each behind the secret path where there is one, and on
// its own address /metrics, /healthz and /readyz. What it reads from files, keys, certificates and the secret path, it
// reads again when they change.
package webhook
