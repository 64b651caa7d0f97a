// Package spool is the directory in which the program in the runtime's place leaves, for the node's journal, a record
// of each session that it lets begin and of each that it refuses.
//
//	claim, err := spool.Take(dir, token.Nonce)     // ErrReplayed: the token was used before
//	err = claim.Commit(spool.Record{…})            // on the disk, synced: the session may begin
//
// and the daemon:
//
//	for record, err := range spool.Records(dir) {  // those that are not done, oldest first
//		…                                      // into the journal, synced
//		err = spool.Done(dir, record.Nonce)
//	}
//	err = spool.Sweep(dir, now.Add(-margin))       // forgets the tokens that have expired before
//
// A session's file is NONCE.json, the nonce in hexadecimal. It is the intent and the token's single use at once: as
// long as it stands, the token is refused. So Done leaves it, as a file of mode 0400, and Sweep removes it when the
// token's own time is over by margin: at least the clock skew that the node allows. A file that is not done is never
// removed: without the daemon, records wait.
//
// Refusals stand in at most [MaxRefusals] files, and what is beyond is counted.
package spool
