package supgroups_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// malformed is the table of odd files in docs/supgroups.md. The user is asked for as user; groups is nil where no user
// is found.
var malformed = []struct {
	name          string
	user          string
	passwd, group string
	uid           uint32
	groups        []uint32
	faults        string // of both files, in order
}{
	{"GRP-7 missing files, by ID", "1000", "", "", 1000, []uint32{0}, ""},
	{"GRP-7 missing files, by name", "alice", "", "", 0, nil, ""},
	{"GRP-7 too few fields are not group 0", "alice", "alice:x:1000\n", "", 0, nil, "too few fields"},
	{"GRP-7 a name alone", "alice", "alice\n", "", 0, nil, "too few fields"},
	{"GRP-7 four fields are enough", "alice", "alice:x:1000:7", "", 1000, []uint32{7}, ""},
	{"GRP-7 a uid that is no number is not 0", "alice", "alice:x:abc:7::/:\n", "", 0, nil, "id is not a number"},
	{"GRP-7 an empty uid is not 0", "alice", "alice:x::7::/:\n", "", 0, nil, "id is not a number"},
	{"GRP-7 an empty gid is not 0", "alice", "alice:x:7:::/:\n", "", 0, nil, "id is not a number"},
	{"GRP-7 a usable row after an unusable one counts", "alice", "alice:x:abc:7::/:\nalice:x:8:9::/:\n", "", 8, []uint32{9}, "id is not a number"},
	{"GRP-7 a gid that is no number grants nothing", "alice", "alice:x:5:5::/:\n", "bad:x:abc:alice\nbad:x::alice\ngood:x:6:alice\n", 5, []uint32{5, 6}, "id is not a number, id is not a number"},
	{"GRP-7 a comment above root does not become root", "0", "# made by hand:x:0:0\nroot:x:0:3::/:\n", "#g:x:9:root\nwheel:x:10:root\n", 0, []uint32{3, 10}, ""},
	{"GRP-7 nor does a NIS directive", "0", "+::::::\n+nis:x:0:0::/:\nroot:x:0:3::/:\n", "wheel:x:10:root\n+:x:9:root\n", 0, []uint32{3, 10}, "NIS directive, NIS directive"},
	{"GRP-7 a row without a name", "5", ":x:5:5::/:\nfive:x:5:6::/:\n", "", 5, []uint32{6}, "no usable name"},
	{"GRP-7 the first of several rows counts", "alice", "alice:x:5:5::/:\nalice:x:6:6::/:\n", "", 5, []uint32{5}, ""},
	{"GRP-7 the first of several rows with an ID counts", "5", "a:x:5:1::/:\nb:x:5:2::/:\n", "x:x:8:a\ny:x:9:b\n", 5, []uint32{1, 8}, ""},
	{"GRP-7 several rows of one group all count", "alice", "alice:x:5:5::/:\n", "g:x:8:alice\ng:x:9:alice\ng:x:8:alice\n", 5, []uint32{5, 8, 9}, ""},
	{"GRP-7 a numeric name is never looked up", "111", "111:x:222:333::/:\n", "g:x:8:111\n", 111, []uint32{0}, ""},
	{"GRP-7 a member by number is none", "5", "alice:x:5:5::/:\n", "g:x:8:5\n", 5, []uint32{5}, ""},
	{"GRP-7 members compare in full and by case", "alice", "alice:x:5:5::/:\n", "g:x:8:Alice,alice2,malice\n", 5, []uint32{5}, ""},
	{"GRP-7 blanks in a member list are part of a name", "alice", "alice:x:5:5::/:\n", "g:x:8:bob, alice\nh:x:9: alice\n", 5, []uint32{5}, ""},
	{"GRP-7 blanks around a row are not", "alice", " \talice:x:5:5::/:\n", "  g:x:8:bob,alice \t\n", 5, []uint32{5, 8}, ""},
	{"GRP-7 CRLF", "alice", "alice:x:5:5::/:\r\n", "g:x:8:bob,alice\r\n", 5, []uint32{5, 8}, ""},
	{"GRP-7 a list ends at a colon", "alice", "alice:x:5:5::/:\n", "g:x:8:bob:alice\n", 5, []uint32{5}, ""},
	{"GRP-7 a group without a list", "alice", "alice:x:5:5::/:\n", "g:x:8\nalice:x:9:\n", 5, []uint32{5}, ""},
	{"GRP-7 a group named like the user is a group", "alice", "alice:x:5:5::/:\n", "alice:x:9:alice\n", 5, []uint32{5, 9}, ""},
	{"GRP-7 a name with a comma is in no list", "a,b", "a,b:x:5:5::/:\n", "g:x:8:a,b\n", 5, []uint32{5}, ""},
	{"GRP-7 a name that begins with a newline is in no row, and does not stop the search for it", "\nb", "a:x:1:1\nb:x:2:2\n\nb:x:3:3\n", "", 0, nil, ""},
	{"GRP-7 no newline at the end", "alice", "alice:x:5:5::/:", "g:x:8:alice", 5, []uint32{5, 8}, ""},
	{"GRP-7 GRP-8 a uid that would wrap round to 0", "alice", "alice:x:4294967296:7::/:\n", "", 0, nil, "id out of range"},
	{"GRP-7 GRP-8 a uid beyond 64 bits", "alice", "alice:x:99999999999999999999999:7::/:\n", "", 0, nil, "id out of range"},
	{"GRP-7 GRP-8 a negative gid", "alice", "alice:x:7:-1::/:\n", "", 0, nil, "id is not a number"},
	{"GRP-7 GRP-8 a group that would wrap round to 0", "alice", "alice:x:5:5::/:\n", "g:x:4294967296:alice\n", 5, []uint32{5}, "id out of range"},
	{"GRP-7 GRP-8 a negative group", "alice", "alice:x:5:5::/:\n", "g:x:-5:alice\n", 5, []uint32{5}, "id is not a number"},
	{"GRP-7 GRP-8 the largest ID of a row", "alice", "alice:x:2147483647:5::/:\n", "g:x:2147483647:alice\n", 2147483647, []uint32{5, 2147483647}, ""},
	{"GRP-7 a very long row counts", "alice", "alice:x:5:5:" + strings.Repeat("g", 100<<10) + ":/:\n", "g:x:8:" + strings.Repeat("bob,", 50<<10) + "alice\n", 5, []uint32{5, 8}, ""},
	{"GRP-7 the row after it too", "bob", strings.Repeat("#", 100<<10) + "\nbob:x:6:6::/:\n", "g:x:8:" + strings.Repeat("al,", 50<<10) + "x\nh:x:9:bob\n", 6, []uint32{6, 9}, ""},
	{"GRP-7 a head that is too long", "alice", "alice:" + strings.Repeat("x", 2<<10) + ":5:5::/:\n", "", 0, nil, "row head too long"},
	{"GRP-7 a group's name that is too long", "alice", "alice:x:5:5::/:\n", strings.Repeat("g", 300) + ":x:8:alice\n", 5, []uint32{5}, "no usable name"},
	{"GRP-7 zeros and NULs", "alice", "\x00\x00\nalice:x:5:5::/:\n", "g\x00:x:8:alice\n\x00alice\n", 5, []uint32{5, 8}, ""},
}

func TestMalformedFiles(t *testing.T) {
	for _, c := range malformed {
		t.Run(c.name, func(t *testing.T) {
			req := supgroups.Request{RunAsUsername: c.user}
			id, err := supgroups.Resolve(req, strings.NewReader(c.passwd), strings.NewReader(c.group))
			if got := faults(id.Passwd, id.Group); got != c.faults {
				t.Errorf("skipped %q, want %q", got, c.faults)
			}
			if c.groups == nil {
				if !errors.Is(err, supgroups.ErrUnknownUser) {
					t.Errorf("Resolve(%q) = %v, %v, want ErrUnknownUser", c.user, id, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("Resolve(%q) = %v, want no error", c.user, err)
			}
			checkIdentity(t, id, c.uid, id.GID, c.groups...)
		})
	}
}

func faults(files ...supgroups.Skipped) string {
	var out []string
	for _, f := range files {
		for _, r := range f.First {
			out = append(out, r.Kind.String())
		}
	}
	return strings.Join(out, ", ")
}

func TestReports(t *testing.T) {
	t.Run("GRP-7 reports are counted and the first few kept, with their lines", func(t *testing.T) {
		group := "# comment\n" + strings.Repeat("g:x:bad:alice\nfine:x:7:bob\n", 20)
		id := resolve(t, supgroups.Request{RunAsUsername: "alice"}, "alice:x:5:5::/:\n", group)
		if id.Group.Rows != 20 || len(id.Group.First) != supgroups.MaxFaults {
			t.Fatalf("skipped %d, kept %d, want 20 and %d", id.Group.Rows, len(id.Group.First), supgroups.MaxFaults)
		}
		for i, r := range id.Group.First {
			if want := (supgroups.Fault{Line: 2 + 2*i, Kind: supgroups.FaultNotNumber}); r != want {
				t.Errorf("First[%d] = %+v, want %+v", i, r, want)
			}
		}
	})
	t.Run("GRP-7 lines are right after long rows and block ends", func(t *testing.T) {
		group := strings.Repeat("fine:x:7:bob\n", 1000) + "long:x:7:" + strings.Repeat("bob,", 3000) + "\n" +
			"long:x:bad:" + strings.Repeat("bob,", 3000) + "alice\n" + "g:x:bad:alice\n"
		id := resolve(t, supgroups.Request{RunAsUsername: "alice"}, "alice:x:5:5::/:\n", group)
		if got := fmt.Sprint(id.Group.First); got != "[{1002 id is not a number} {1003 id is not a number}]" {
			t.Errorf("First = %s", got)
		}
	})
	t.Run("GRP-7 a whole file can be checked", func(t *testing.T) {
		passwd, err := supgroups.CheckPasswd(strings.NewReader("root:x:0:0\n\n#c\nbad\n+\nx:x:1:-1\n"))
		if got := fmt.Sprint(passwd.Rows, passwd.First); err != nil || got != "3 [{4 too few fields} {5 NIS directive} {6 id is not a number}]" {
			t.Errorf("CheckPasswd = %s, %v", got, err)
		}
		group, err := supgroups.CheckGroup(strings.NewReader("root:x:0\n:x:1:\n" + strings.Repeat("x", 9000)))
		if got := fmt.Sprint(group.Rows, group.First); err != nil || got != "2 [{2 no usable name} {3 row head too long}]" {
			t.Errorf("CheckGroup = %s, %v", got, err)
		}
	})
}

func TestPlaces(t *testing.T) {
	t.Run("GRP-1 a name of any length is found wherever it stands, among names that end like it", func(t *testing.T) {
		for length := 1; length <= 20; length++ {
			name := "abcdefghijklmnopqrst"[:length]
			for before := range 20 {
				group := "g:x:7:0" + name + "\nh:x:8:" + strings.Repeat("0", before) + "," + name
				for _, after := range []string{"", "\nlast:x:9:00000000000000000000\n"} {
					id := resolve(t, supgroups.Request{RunAsUsername: name}, name+":x:5:5::/:\n", group+after)
					checkIdentity(t, id, 5, 5, 5, 8)
				}
			}
		}
	})
}

func TestGroupNameWithNewline(t *testing.T) {
	t.Run("GRP-7 a group's name that begins with a newline is in no row, and does not stop the search for it", func(t *testing.T) {
		id, err := supgroups.Resolve(supgroups.Request{ImageUser: "0:\nb"}, nil, strings.NewReader("a:x:1:\nb:x:2:\n\nb:x:3:\n"))
		if !errors.Is(err, supgroups.ErrUnknownGroup) {
			t.Errorf("Resolve(…) = %v, %v, want ErrUnknownGroup", id, err)
		}
	})
}

func TestReaders(t *testing.T) {
	broken := errors.New("disk on fire")
	t.Run("GRP-7 a reader's error is returned, and half a row is never used", func(t *testing.T) {
		half := io.MultiReader(strings.NewReader("alice:x:1000:10"), iotest.ErrReader(broken))
		id, err := supgroups.Resolve(supgroups.Request{RunAsUsername: "alice"}, half, nil)
		if !errors.Is(err, broken) {
			t.Errorf("Resolve(…) = %v, %v, want %v", id, err, broken)
		}
		group := io.MultiReader(strings.NewReader("g:x:1:alice"), iotest.ErrReader(broken))
		if id, err = supgroups.Resolve(supgroups.Request{RunAsUsername: "alice"}, strings.NewReader("alice:x:5:5\n"), group); !errors.Is(err, broken) {
			t.Errorf("Resolve(…) = %v, %v, want %v", id, err, broken)
		}
	})
	t.Run("GRP-7 a reader that never answers is given up", func(t *testing.T) {
		_, err := supgroups.Resolve(supgroups.Request{}, idle{}, nil)
		if !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("Resolve(…) = %v, want io.ErrNoProgress", err)
		}
	})
	t.Run("GRP-2 under Strict the group file is not even read", func(t *testing.T) {
		req := supgroups.Request{RunAsUsername: "alice", Policy: supgroups.PolicyStrict}
		id, err := supgroups.Resolve(req, strings.NewReader(kepPasswd), iotest.ErrReader(broken))
		if err != nil || len(id.Groups) != 1 {
			t.Errorf("Resolve(…) = %v, %v, want the primary group alone", id, err)
		}
	})
	t.Run("GRP-7 passwd is read no further than the user's row", func(t *testing.T) {
		passwd := io.MultiReader(strings.NewReader(kepPasswd), strings.NewReader(strings.Repeat("x", 8<<10)), iotest.ErrReader(broken))
		if _, err := supgroups.Resolve(supgroups.Request{RunAsUsername: "alice"}, passwd, nil); err != nil {
			t.Errorf("Resolve(…) = %v, want no error", err)
		}
	})
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }
