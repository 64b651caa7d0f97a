// Package journal is the runtime's own record of exec sessions: which audit ID
// started which process in which container. It exists because a process can
// rewrite its environment, and cannot rewrite this.
//
//	w, err := journal.Open(path)
//	err = w.Append(journal.Intent(session, argv, tty, now))   // before the process starts
//	err = w.Append(journal.Start(session, process, now))      // when it has a PID
//	err = w.Append(journal.End(session, process, code, now))  // when it is gone
//
// A journal is a file of JSON lines that only grows, one Record a line. Append returns
// once the record is on disk, AppendUnsynced once this process cannot lose it. A session is found by its SessionKey, a process by
// its ProcessKey. Records name variables' audit ID only and hold no environment
// value; they do hold the command line.
//
// Source: beyond KEP-6035, which defers tamper-proof attribution.
package journal
