package journal

import (
	"bytes"
	"encoding/json"
	"time"
)

// Kinds of lines that are not records, which readers pass over.
const (
	// kindFile begins a file: which one of the journal's files it is.
	kindFile Kind = "file"
	// kindSeal vouches for all that stands before it.
	kindSeal Kind = "seal"
)

// fileMark is the first chained line of a file.
type fileMark struct {
	Version int       `json:"version"`
	Kind    Kind      `json:"kind"`
	Time    time.Time `json:"time"`
	// File is the file's number, from 1.
	File uint64 `json:"file"`
	// Oldest is the number of the oldest file that is kept beside it: those before may have been deleted.
	Oldest uint64 `json:"oldest"`
}

// Cause says why a seal was written.
type Cause string

// The causes of seals.
const (
	// CauseOpen: the journal was opened, after whatever ended the writer before.
	CauseOpen Cause = "open"
	// CauseRecords: Options.SealRecords records were written since the seal before.
	CauseRecords Cause = "records"
	// CauseInterval: Options.SealInterval passed. It shows that the writer was there.
	CauseInterval Cause = "interval"
	// CauseCall: Writer.Seal was called.
	CauseCall Cause = "call"
	// CauseRotate: the file ends here and the journal goes on in the next one.
	CauseRotate Cause = "rotate"
	// CauseClose: the writer was closed. Nothing is missing until the next CauseOpen.
	CauseClose Cause = "close"
)

// Seal is a line that vouches for all lines before it, in its file and in those before.
type Seal struct {
	// KeyID is the ID of the key, as Key.ID returns it.
	KeyID string `json:"key"`
	// Epoch counts a key's seals from 0.
	Epoch uint64 `json:"epoch"`
	// Time is the wall clock of the writer, in UTC.
	Time time.Time `json:"time"`
	// Cause says why it was written.
	Cause Cause `json:"cause"`
}

type sealWire struct {
	Version int    `json:"version"`
	Kind    Kind   `json:"kind"`
	Time    string `json:"time"`
	Key     string `json:"key"`
	Epoch   uint64 `json:"epoch"`
	Cause   Cause  `json:"cause"`
}

// How a line of each kind begins, and how a seal ends before its digest.
const (
	fileBegin = `{"version":1,"kind":"file",`
	sealBegin = `{"version":1,"kind":"seal",`
	macBegin  = `,"mac":"`
	macEnd    = `"`
)

func isFileMark(line []byte) bool { return bytes.HasPrefix(line, []byte(fileBegin)) }

func isSeal(line []byte) bool { return bytes.HasPrefix(line, []byte(sealBegin)) }

func (m fileMark) line(before *digest) ([]byte, error) {
	m.Version, m.Kind, m.Time = Version, kindFile, m.Time.UTC().Round(0)
	line, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return before.link(line), nil
}

// parseFileMark takes what fileMark.line writes, byte for byte, and nothing else.
func parseFileMark(line []byte) (m fileMark, ok bool) {
	head, prev, ok := linked(line)
	if !ok || json.Unmarshal(append(bytes.Clone(head), '}'), &m) != nil {
		return m, false
	}
	again, err := m.line(&prev)
	return m, err == nil && bytes.Equal(again, line)
}

// unsigned returns the seal's line up to its MAC.
func (s *Seal) unsigned() ([]byte, error) {
	line, err := json.Marshal(sealWire{
		Version: Version, Kind: kindSeal, Time: s.Time.UTC().Format(time.RFC3339Nano), Key: s.KeyID, Epoch: s.Epoch, Cause: s.Cause,
	})
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}

// line returns the seal's line where before stands before it.
func (s *Seal) line(before *digest, key *ratchet) ([]byte, error) {
	line, err := s.unsigned()
	if err != nil {
		return nil, err
	}
	mac := key.mac(before, line)
	line = append(line, macBegin...)
	line = digestEncoding.AppendEncode(line, mac[:])
	return before.link(append(line, macEnd+"}"...)), nil
}

// parsedSeal is a seal's line in its parts.
type parsedSeal struct {
	Seal
	head []byte // what the MAC is over, with the digest before it
	mac  digest
}

// parseSeal takes what Seal.line writes, byte for byte, and nothing else. It keeps no reference to the line.
func parseSeal(line []byte) (s parsedSeal, ok bool) {
	rest, _, ok := linked(line)
	if !ok {
		return s, false
	}
	head, mac, ok := member(rest, macBegin, macEnd)
	if !ok {
		return s, false
	}
	var wire sealWire
	if json.Unmarshal(append(bytes.Clone(head), '}'), &wire) != nil {
		return s, false
	}
	at, err := time.Parse(time.RFC3339Nano, wire.Time)
	if err != nil {
		return s, false
	}
	s = parsedSeal{Seal: Seal{KeyID: wire.Key, Epoch: wire.Epoch, Time: at.UTC(), Cause: wire.Cause}, head: bytes.Clone(head), mac: mac}
	again, err := s.unsigned()
	return s, err == nil && bytes.Equal(again, head)
}

// holds reports whether the seal is one of the key's epoch, which must be the seal's.
func (s *parsedSeal) holds(before *digest, key *ratchet) bool {
	return key.epoch == s.Epoch && key.check(before, s.head, s.mac)
}
