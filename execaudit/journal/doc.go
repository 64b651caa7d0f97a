// Package journal is the runtime's own record of exec sessions: which audit ID
// started which process in which container. It exists because a process can
// rewrite its environment, and cannot rewrite this.
//
//	w, err := journal.Open(path, journal.Options{})
//	err = w.Append(journal.Intent(session, argv, tty, now))   // before the process starts
//	err = w.Append(journal.Start(session, process, now))      // when it has a PID
//	err = w.Append(journal.End(session, process, code, now))  // when it is gone
//
// A journal is a file of JSON lines that only grows, one Record a line. Append
// returns once the record is on disk, AppendUnsynced once the end of this process
// cannot lose it. Reader.Records iterates over a journal, a Decoder reads single lines. A
// session is found by its SessionKey, a process by its ProcessKey. Records contain
// no environment value except the audit ID; they do contain the command line.
//
// Records are chained by hash. With a key file (Options.KeyFile, Key.Install) they are sealed by keys that evolve one
// way, so that Verify finds what was changed before somebody took the host. Writer.Rotate loses no record.
//
// Source: beyond KEP-6035, which defers tamper-proof attribution.
package journal
