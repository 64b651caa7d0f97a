// Package sessions is what the control plane knows of exec sessions: the webhook's records, the API server's audit
// events and the nodes' journals, joined into one verdict for each session, and the kernel's marks of processes.
//
//	for record, err := range sessions.Read(file, "sessions.jsonl") { … } // what the webhook wrote by Encode
//	for event, err := range sessions.ReadAudits(log, "audit.log") { … }  // events with the webhook's annotation
//	use, ok := sessions.UseOf(record)                                    // of a journal's record
//
//	for _, s := range sessions.Judge(sessions.Evidence{…}, now) {
//		fmt.Println(s.ID, s.Verdict, s.User.Name)
//	}
//
// A record alone says that whoever called the webhook gave that name: admitted. The audit event comes from the API
// server itself: corroborated. A token that was used without either is forged.
//
// User names are in records and audit events, which stay on the side of the control plane; what comes from nodes has
// none, and nothing here is meant to be sent to them.
//
// Everything is pure and safe for concurrent use.
//
// Source: beyond KEP-6035, for clusters without it; audit.k8s.io/v1.
package sessions
