// Package auditlog reads exec requests from the API server's audit log: JSON lines of audit.k8s.io Events, and
// EventLists as a webhook receives them.
//
// An exec request is known by its subresource, not its verb: over a WebSocket it is a get. Other requests are checked
// for structure and skipped. The text "exec" has to stand in a line as it is, as every JSON encoder writes it.
package auditlog
