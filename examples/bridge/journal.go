package bridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/lanyard-dev/lanyard/examples/kubernetes"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/journal"
)

// JournalFile is the sealed journal of the node's daemon, as seen from outside of the node.
func (r *Rig) JournalFile() string { return r.worker().Private(journalFile) }

// Journal returns the records of the node's journal that match, in its order; nil matches all. A journal that is not
// there yet has none.
func (r *Rig) Journal(match func(journal.Record) bool) (out []journal.Record, err error) {
	files, err := journal.Files(r.JournalFile())
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		found, err := recordsOf(file, match)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func recordsOf(file string, match func(journal.Record) bool) (out []journal.Record, _ error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for record, err := range journal.NewReader(f, file).Records() {
		if err != nil {
			var last *journal.LineError
			if errors.As(err, &last) {
				continue // it is being written
			}
			return nil, err
		}
		if match == nil || match(record) {
			out = append(out, record)
		}
	}
	return out, nil
}

// AwaitJournal waits for records that match and returns them: the daemon writes them down after the session began.
func (r *Rig) AwaitJournal(ctx context.Context, match func(journal.Record) bool) (found []journal.Record, err error) {
	err = kubernetes.Await(ctx, "records of the journal", func(context.Context) (bool, error) {
		found, err = r.Journal(match)
		return len(found) > 0, err
	})
	return found, err
}

// Settle waits until nothing waits in the spool: what began, or was refused, is in the journal.
func (r *Rig) Settle(ctx context.Context) error {
	dir := r.SpoolDir()
	return kubernetes.Await(ctx, "an empty spool", func(context.Context) (bool, error) {
		for record, err := range spool.Records(dir) {
			return false, errors.Join(err, fmt.Errorf("session %s waits", record.Session))
		}
		for waiting, err := range spool.Refusals(dir) {
			return false, errors.Join(err, fmt.Errorf("refusal %s waits", waiting.Name))
		}
		return true, nil
	})
}

// SpoolDir is where the wrapper leaves its records, as seen from outside of the node.
func (r *Rig) SpoolDir() string { return r.worker().Private(spoolDir) }

// VerifyJournal ends the node's daemon, which seals what it wrote, and checks the whole journal: it returns how many
// seals hold.
func (r *Rig) VerifyJournal() (int, error) {
	r.daemon.Stop(webhookGrace)
	files, err := journal.Files(r.JournalFile())
	if err != nil {
		return 0, err
	}
	report, err := journal.Verify(files, journal.Check{Keys: []journal.Key{r.journalKey}, KeyFile: r.worker().Private(journalKey)})
	if err != nil {
		return 0, err
	}
	return report.Seals, report.Err()
}
