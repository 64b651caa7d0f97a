// Package keys is the command `lanyard-bridge keys`: it makes and rotates the webhook's keys.
package keys
