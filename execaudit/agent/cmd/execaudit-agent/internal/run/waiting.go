//go:build linux

package run

import (
	"cmp"
	"errors"
	"io/fs"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// unknown stands in a record for what the wrapper could not read, as in those that the bridge's daemon writes.
const unknown = "unknown"

// waiting returns the sessions that began and are in no journal yet: the runtime's wrapper left their records in the
// directory, on the disk, before they began. A directory that is not there has none. Its error joins those of files
// that hold no record, which keep nothing back.
func waiting(dir string) ([]journal.Record, error) {
	var records []journal.Record
	var faults []error
	for r, err := range spool.Records(dir) {
		switch {
		case err == nil:
			records = append(records, intent(r))
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, spool.ErrIncomplete):
			// The first: it is not here, or the journal has it by now. The second is being written.
		default:
			faults = append(faults, err)
		}
	}
	return records, errors.Join(faults...)
}

// intent is the record that the journal will have.
func intent(r spool.Record) journal.Record {
	w := r.Where
	session := journal.Session{
		Node: cmp.Or(w.Node, unknown), ContainerID: cmp.Or(w.ContainerID, unknown), ExecID: cmp.Or(w.ExecID, unknown),
		Namespace: w.Namespace, Pod: w.Pod, PodUID: w.PodUID, Container: w.Container,
		AuditID: r.AuditID, ExecSession: r.Session.String(),
	}
	mark := journal.Process{BootID: r.BootID}
	if r.Mark == spool.MarkSet {
		mark.SessionID, mark.LoginUID = r.SessionID, r.LoginUID
	}
	record := journal.Marked(journal.Intent(session, r.Argv, r.TTY, r.Time), mark)
	record.ArgvTruncated = record.ArgvTruncated || r.ArgvTruncated
	return record
}
