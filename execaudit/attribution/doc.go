// Package attribution tells which Kubernetes user ran what inside containers: it joins the API server's audit log,
// which knows who opened an exec session, with process events, which know what ran, by the audit ID that KEP-6035
// puts into the session's environment ("Goals", stories 1 and 2), and says how far each answer can be trusted.
//
//	m := attribution.New(attribution.Options{}, func(a *attribution.Answer) { ... })
//	m.AddAudit(&audit)      // who asked
//	m.AddRecord(&record)    // what the runtime started (execaudit/journal), if it is kept
//	m.AddEvent(&event)      // what ran
//	m.Advance(now)          // answers what has waited long enough, and revises what was answered
//	m.Flush()               // answers the rest
//
// An environment can be rewritten, so an ID alone is a hint. An answer is corroborated when the kernel's audit session of
// the process is one that a journal recorded or, without that, an unbroken chain of parents leads to the first process
// that a journal recorded; and when the pod, container and time of that session agree with the one request of its ID.
// Only then does it name a user as fact. What an agent alone saw is never enough: a process can be given a parent outside
// of its container.
//
// Answers have keys, and evidence that comes late revises them: the highest Revision of a Key counts.
//
// This package is pure: a Machine sees no clock, file or network. The packages beside it do:
//
//   - auditlog, tetragon, falco, tracee, spo, journal, procevents: one line of a log into a Batch
//   - lines: files, rotated, zipped, growing, into batches; join: batches through a Machine; webhook: audit events as
//     they are sent
//   - report: answers as a table, JSON lines or a page
//
// Several Machines share the work when all events and records of a node go to one of them, and audit events to each.
//
// The command is execaudit/cmd/execaudit. To carry the ID to the process in the first place, use the module execaudit.
package attribution
