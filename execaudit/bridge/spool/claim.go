package spool

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The modes of a session's file: one that waits for the journal, and one that is done and bars its token.
const (
	modeWaiting = 0o600
	modeDone    = 0o400
)

// Claim is a token's single use, taken and not yet committed. It is used once: Commit or Release.
type Claim struct {
	dir  string
	file *os.File
}

// Take takes the single use of the token with this nonce: it makes its file in the directory dir. Errors: [ErrReplayed]
// if the file stands already, else the system's.
func Take(dir string, nonce [16]byte) (*Claim, error) {
	file, err := os.OpenFile(filepath.Join(dir, fileName(nonce)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, modeWaiting)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrReplayed
	}
	if err != nil {
		return nil, err
	}
	return &Claim{dir, file}, nil
}

// Commit writes the record of the session that the token is used for. When it returns nil, the record is on the disk.
// On an error, the system's, the use is given back as Release does.
func (c *Claim) Commit(r Record) error {
	_, err := c.file.Write(r.Encode())
	if err == nil {
		err = c.file.Sync()
	}
	if err == nil {
		err = syncDir(c.dir)
	}
	if err != nil {
		return errors.Join(err, c.Release())
	}
	return c.file.Close()
}

// Release gives the token's use back: nothing began.
func (c *Claim) Release() error { return errors.Join(os.Remove(c.file.Name()), c.file.Close()) }

// syncDir makes a file's name as lasting as its content.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func fileName(nonce [16]byte) string { return hex.EncodeToString(nonce[:]) + ".json" }
