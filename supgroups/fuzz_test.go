package supgroups_test

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lanyard-dev/lanyard/supgroups"
)

func FuzzPasswd(f *testing.F) {
	for _, c := range malformed {
		f.Add(seed(c.passwd), c.user, int64(-1))
		f.Add(seed(c.passwd), "", int64(c.uid))
	}
	f.Fuzz(func(t *testing.T, passwd, name string, uid int64) {
		req := supgroups.Request{Policy: supgroups.PolicyStrict, RunAsUsername: name, RunAsUser: &uid}
		if uid < 0 {
			req.RunAsUser = nil
		}
		agree(t, req, passwd, "")
	})
}

func FuzzGroup(f *testing.F) {
	for _, c := range malformed {
		f.Add(seed(c.group), c.user)
	}
	f.Fuzz(func(t *testing.T, group, name string) {
		if strings.ContainsAny(name, ":\n") {
			return
		}
		agree(t, supgroups.Request{RunAsUsername: name}, name+":x:5:5\n", group)
	})
}

// seed takes the middle out of a very long file and leaves rows that are longer than a block: shortening what it finds
// byte by byte, a fuzzer would do little else.
func seed(file string) string {
	const head, tail = 5 << 10, 1 << 10
	if len(file) <= head+tail {
		return file
	}
	return file[:head] + file[len(file)-tail:]
}

// agree compares Resolve with the model, and with itself when the files come byte by byte.
func agree(t *testing.T, req supgroups.Request, passwd, group string) {
	t.Helper()
	got, err := supgroups.Resolve(req, strings.NewReader(passwd), strings.NewReader(group))
	slow, slowErr := supgroups.Resolve(req, iotest.OneByteReader(strings.NewReader(passwd)), iotest.OneByteReader(strings.NewReader(group)))
	if (err == nil) != (slowErr == nil) || !slices.Equal(got.Groups, slow.Groups) || got.Passwd.Rows != slow.Passwd.Rows || got.Group.Rows != slow.Group.Rows {
		t.Fatalf("whole: %v, %v; byte by byte: %v, %v", got, err, slow, slowErr)
	}
	user, parseErr := supgroups.ParseUserString(req.RunAsUsername)
	if parseErr != nil || user.User.Numeric || req.RunAsUsername == "" && req.RunAsUser == nil {
		return
	}
	if req.RunAsUser != nil && *req.RunAsUser > supgroups.MaxID || !user.Group.IsZero() || strings.HasSuffix(req.RunAsUsername, ":") {
		return
	}
	want := resolveModel(req, passwd, group)
	if want.known != (err == nil) {
		t.Fatalf("Resolve(%+v) = %v, %v, want %v\npasswd %q", req, got, err, want, passwd)
	}
	if err == nil && (got.UID != want.uid || got.GID != want.gid || !slices.Equal(got.GIDs(), want.groups)) {
		t.Fatalf("Resolve(%+v) = %v, want %v\npasswd %q\ngroup %q", req, got, want, passwd, group)
	}
}

func FuzzUserString(f *testing.F) {
	for _, s := range []string{"", "a", "1", "a:b", "1:2", "1:b", "a:2", "a:", ":b", "a:b:c", "+1", "-1", "2147483648", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := supgroups.ParseUserString(s)
		if err != nil {
			if u != (supgroups.UserString{}) && !u.Group.IsZero() {
				t.Fatalf("ParseUserString(%q) = %v with %v", s, u, err)
			}
			return
		}
		for _, r := range []supgroups.Ref{u.User, u.Group} {
			if r.ID > supgroups.MaxID || r.Numeric && r.Name != "" || len(r.Name) > supgroups.MaxNameBytes || strings.Contains(r.Name, ":") {
				t.Fatalf("ParseUserString(%q) = %+v", s, u)
			}
		}
		if s != "" && u.User.IsZero() {
			t.Fatalf("ParseUserString(%q) has no user", s)
		}
	})
}

func FuzzPolicy(f *testing.F) {
	for _, s := range []string{"", "Merge", "Strict", "merge", "STRICT", "Strict "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := supgroups.ParsePolicy(s)
		if known := s == "" || s == "Merge" || s == "Strict"; known != (err == nil) {
			t.Fatalf("ParsePolicy(%q) = %v, %v", s, p, err)
		}
		if err == nil && s != "" && p.String() != s {
			t.Fatalf("ParsePolicy(%q).String() = %q", s, p)
		}
	})
}
