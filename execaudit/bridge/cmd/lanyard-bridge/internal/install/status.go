//go:build linux

package install

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/spool"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// daemonTimeout bounds the question to the node's daemon.
const daemonTimeout = 5 * time.Second

// Status is all that can be said of the bridge on a node.
type Status struct {
	Report
	// Fault is why the runtime could not be asked.
	Fault    string          `json:"fault,omitempty"`
	Wrappers []WrapperStatus `json:"wrappers,omitempty"`
	Keys     KeysStatus      `json:"keys"`
	Spool    SpoolStatus     `json:"spool"`
	// Journal are the files of the sealed journal, with their bytes.
	Journal []FileStatus `json:"journal,omitempty"`
	// Older are the pods and containers of the installed handlers that remember the runtime of before: their sessions
	// go on unmarked, also those of containers that are made in such a pod later.
	Older []User `json:"older,omitempty"`
	// Daemon is what the node's daemon answers of itself, its Lease included; DaemonFault why it did not.
	Daemon      json.RawMessage `json:"daemon,omitempty"`
	DaemonFault string          `json:"daemonFault,omitempty"`
}

// WrapperStatus is one file of the wrapper.
type WrapperStatus struct {
	Path    string `json:"path"`
	Version string `json:"version,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
}

// KeysStatus is the file of public keys.
type KeysStatus struct {
	Path  string   `json:"path"`
	IDs   []string `json:"ids"`
	Fault string   `json:"fault,omitempty"`
}

// SpoolStatus is the directory in which records wait for the daemon. What the journal has already is not counted.
type SpoolStatus struct {
	Path      string `json:"path"`
	Records   int    `json:"records"`
	Refusals  int    `json:"refusals"`
	FreeBytes uint64 `json:"freeBytes"`
	Fault     string `json:"fault,omitempty"`
}

// FileStatus is one file.
type FileStatus struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Inspect returns the status, and changes nothing. The daemon is asked at the URL; "" asks nobody. Its error is
// [ErrUsage] or the system's on the record of the installation.
func Inspect(ctx context.Context, o Options, daemon string) (s Status, err error) {
	if o, err = o.withDefaults(); err != nil {
		return Status{}, err
	}
	h := host{o.HostRoot, o.MountNamespace}
	var r *record
	if err := h.do(func() error { r, err = h.load(o.State); return err }); err != nil {
		return Status{}, err
	}
	if r != nil {
		h.inspectRuntime(ctx, o, r, &s)
	}
	_ = h.do(func() error {
		s.Keys = h.keys(o)
		s.Spool = h.spool(filepath.Join(o.State, "spool"))
		names, _ := filepath.Glob(h.path(filepath.Join(o.State, "journal")) + "/*")
		for _, name := range names {
			if info, err := os.Stat(name); err == nil {
				s.Journal = append(s.Journal, FileStatus{h.back(name), info.Size()})
			}
		}
		return nil
	})
	if daemon != "" {
		if s.Daemon, err = askDaemon(ctx, daemon); err != nil {
			s.DaemonFault = err.Error()
		}
	}
	return s, nil
}

func (h host) inspectRuntime(ctx context.Context, o Options, r *record, s *Status) {
	s.Report = Report{Mode: r.Mode, Leaving: r.Leaving, Config: r.Config}
	if o.Socket == "" {
		o.Socket = r.Socket
	}
	a, err := h.ask(ctx, h.socketOf(o.Socket), false)
	var all []User
	if err == nil {
		defer a.close()
		all, err = a.users(ctx)
	}
	if err != nil {
		s.Fault = err.Error()
	}
	_ = h.do(func() error {
		for _, w := range r.Wrapped {
			s.Wrappers = append(s.Wrappers, h.wrapperStatus(w.Wrapper))
		}
		if a == nil {
			return nil
		}
		s.Report = h.report(a, r)
		told, err := h.told(o.State)
		for i := range s.Handlers {
			s.Handlers[i].Since = told[s.Handlers[i].Names[0]].Since
		}
		if r.Leaving {
			s.Keeping = h.keeping(a, r, all)
			return err
		}
		s.Older = older(a, r, all)
		return err
	})
}

// older returns those that remember another program than the wrapper.
func older(a *asked, r *record, all []User) (out []User) {
	if r.Mode == ModeBind || a.kind != kindContainerd {
		return nil // covered all the same; CRI-O remembers none
	}
	for _, w := range r.Wrapped {
		for _, u := range all {
			for _, name := range w.Handlers {
				if u.live && u.Handler == name && u.Runtime != w.Executed {
					out = append(out, u)
				}
			}
		}
	}
	return out
}

func (h host) wrapperStatus(path string) WrapperStatus {
	s := WrapperStatus{Path: path}
	if info, err := buildinfo.ReadFile(h.path(path)); err == nil {
		s.Version = info.Main.Version
	}
	f, err := os.Open(h.path(path))
	if err != nil {
		return s
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err == nil {
		s.SHA256 = hex.EncodeToString(digest.Sum(nil))
	}
	return s
}

func (h host) keys(o Options) KeysStatus {
	s := KeysStatus{Path: o.Keys, IDs: []string{}}
	text, err := os.ReadFile(h.path(o.Keys))
	if err != nil {
		s.Fault = err.Error()
		return s
	}
	keys, err := token.ParseKeys(string(text))
	if err != nil {
		s.Fault = err.Error()
	}
	for _, k := range keys {
		s.IDs = append(s.IDs, k.ID().String())
	}
	return s
}

func (h host) spool(path string) SpoolStatus {
	s := SpoolStatus{Path: path}
	var fs unix.Statfs_t
	if err := unix.Statfs(h.path(path), &fs); err != nil {
		s.Fault = err.Error()
		return s
	}
	s.FreeBytes = fs.Bavail * uint64(fs.Bsize)
	for _, err := range spool.Records(h.path(path)) {
		s.count(&s.Records, err)
	}
	for _, err := range spool.Refusals(h.path(path)) {
		s.count(&s.Refusals, err)
	}
	return s
}

// count counts a file that waits, one that cannot be read too; another error is the directory's.
func (s *SpoolStatus) count(waiting *int, err error) {
	if err == nil || errors.As(err, new(*spool.FileError)) {
		*waiting++
		return
	}
	s.Fault = err.Error()
}

func askDaemon(ctx context.Context, url string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, daemonTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK || !json.Valid(text) {
		return nil, errors.New(url + ": " + answer.Status + ", and not JSON")
	}
	return text, nil
}
