package supgroups_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// endless repeats one row until a number of bytes is reached, then ends with last.
type endless struct {
	row, last []byte
	left      int
	at        int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) && e.left > 0 {
		k := copy(p[n:min(len(p), n+e.left)], e.row[e.at:])
		n, e.left, e.at = n+k, e.left-k, (e.at+k)%len(e.row)
		if e.left == 0 && e.last != nil {
			e.row, e.at, e.left, e.last = e.last, 0, len(e.last), nil
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestLargeFiles(t *testing.T) {
	row := bytes.Repeat([]byte("staff:x:50:bob,carol,dave,erin,frank,grace,heidi\n"), 1000)
	t.Run("GRP-7 a group file of 1 GiB (64 MiB under the race detector) is resolved in constant memory", func(t *testing.T) {
		file := &endless{row: row, last: []byte("\nlast:x:60:alice\n"), left: largeFile}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		id, err := supgroups.Resolve(supgroups.Request{RunAsUsername: "alice"}, strings.NewReader(kepPasswd), file)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		checkIdentity(t, id, 1000, 1000, 60, 1000)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<10 {
			t.Errorf("allocated %d bytes in all, want at most 64 KiB", used)
		}
	})
	t.Run("GRP-7 so is one row of 64 MiB", func(t *testing.T) {
		file := &endless{row: bytes.Repeat([]byte("bob,"), 1000), last: []byte(",alice\n"), left: 64 << 20}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		id, err := supgroups.Resolve(supgroups.Request{RunAsUsername: "alice"}, strings.NewReader(kepPasswd), io.MultiReader(strings.NewReader("g:x:60:"), file))
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		checkIdentity(t, id, 1000, 1000, 60, 1000)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<10 {
			t.Errorf("allocated %d bytes in all, want at most 64 KiB", used)
		}
	})
	t.Run("GRP-7 more groups than a kernel takes are refused", func(t *testing.T) {
		var group strings.Builder
		for i := range supgroups.MaxGroups + 1 {
			fmt.Fprintf(&group, "g:x:%d:alice\n", 10_000+i)
		}
		_, err := supgroups.Resolve(supgroups.Request{RunAsUsername: "alice"}, strings.NewReader(kepPasswd), strings.NewReader(group.String()))
		if !errors.Is(err, supgroups.ErrTooManyGroups) {
			t.Errorf("Resolve(…) = %v, want ErrTooManyGroups", err)
		}
		_, err = supgroups.Resolve(supgroups.Request{RunAsUsername: "alice", Policy: supgroups.PolicyStrict}, strings.NewReader(kepPasswd), strings.NewReader(group.String()))
		if err != nil {
			t.Errorf("Resolve(Strict) = %v, want no error", err)
		}
	})
	t.Run("GRP-7 at most four allocations besides the result", func(t *testing.T) {
		passwd, group := strings.NewReader(kepPasswd), strings.NewReader(kepGroup)
		req := supgroups.Request{RunAsUser: ptr(1000), SupplementalGroups: []int64{60000}}
		got := testing.AllocsPerRun(100, func() {
			passwd.Reset(kepPasswd)
			group.Reset(kepGroup)
			if _, err := supgroups.Resolve(req, passwd, group); err != nil {
				t.Fatal(err)
			}
		})
		// The result is three: the user's name, the groups, and the groups' names.
		if got > 4+3 {
			t.Errorf("Resolve allocates %v times, want at most 7", got)
		}
	})
}
