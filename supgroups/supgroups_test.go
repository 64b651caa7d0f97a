package supgroups_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/supgroups"
)

// The files of the KEP's example image.
const (
	kepPasswd = "root:x:0:0:root:/root:/bin/bash\nalice:x:1000:1000::/home/alice:/bin/sh\n"
	kepGroup  = "root:x:0:\nalice:x:1000:\ngroup-in-image:x:50000:alice\n"
)

func resolve(t *testing.T, req supgroups.Request, passwd, group string) supgroups.Identity {
	t.Helper()
	id, err := supgroups.Resolve(req, strings.NewReader(passwd), strings.NewReader(group))
	if err != nil {
		t.Fatalf("Resolve(%+v) = %v, want no error", req, err)
	}
	return id
}

func checkIdentity(t *testing.T, id supgroups.Identity, uid, gid uint32, gids ...uint32) {
	t.Helper()
	if id.UID != uid || id.GID != gid || !slices.Equal(id.GIDs(), gids) {
		t.Errorf("Resolve(…) = %d:%d %v, want %d:%d %v", id.UID, id.GID, id.GIDs(), uid, gid, gids)
	}
}

func TestKEPExample(t *testing.T) {
	req := supgroups.Request{RunAsUser: ptr(1000), RunAsGroup: ptr(1000), SupplementalGroups: []int64{60000}, ImageUser: "alice"}
	t.Run("GRP-9 GRP-1 Merge adds the image's group", func(t *testing.T) {
		id := resolve(t, req, kepPasswd, kepGroup)
		checkIdentity(t, id, 1000, 1000, 1000, 50000, 60000)
		want := []string{`1000 (primary group)`, `50000 (image group "group-in-image")`, `60000 (requested)`}
		for i, g := range id.Groups {
			if g.String() != want[i] {
				t.Errorf("Groups[%d] = %s, want %s", i, g, want[i])
			}
		}
	})
	t.Run("GRP-9 GRP-2 Strict does not", func(t *testing.T) {
		strict := req
		strict.Policy = supgroups.PolicyStrict
		checkIdentity(t, resolve(t, strict, kepPasswd, kepGroup), 1000, 1000, 1000, 60000)
	})
	t.Run("GRP-1 an fsGroup counts as asked for under both policies", func(t *testing.T) {
		with := req
		with.FSGroup = ptr(70000)
		id := resolve(t, with, kepPasswd, kepGroup)
		checkIdentity(t, id, 1000, 1000, 1000, 50000, 60000, 70000)
		checkIdentity(t, id.Under(supgroups.PolicyStrict), 1000, 1000, 1000, 60000, 70000)
		if got := id.Groups[3].String(); got != "70000 (fsGroup)" {
			t.Errorf("Groups[3] = %s", got)
		}
	})
}

// The files of busybox, as far as they matter.
const (
	busyPasswd = "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/bin/false\nguest:x:405:100:guest:/:/bin/false\n"
	busyGroup  = "root:x:0:\ndaemon:x:1:\nwheel:x:10:root\nusers:x:100:\n"
)

func TestPrimaryUser(t *testing.T) {
	cases := []struct {
		name     string
		req      supgroups.Request
		uid, gid uint32
		groups   []uint32
		from     supgroups.Source
	}{
		{"GRP-3 nobody asked for a user: root, with its memberships", supgroups.Request{}, 0, 0, []uint32{0, 10}, supgroups.SourceRuntimeDefault},
		{"GRP-3 GRP-5 the same under Strict keeps the primary group", supgroups.Request{Policy: supgroups.PolicyStrict}, 0, 0, []uint32{0}, supgroups.SourceRuntimeDefault},
		{"GRP-3 the name wins over the ID", supgroups.Request{RunAsUsername: "guest", RunAsUser: ptr(1)}, 405, 100, []uint32{100}, supgroups.SourceRunAsUsername},
		{"GRP-3 the ID wins over the image", supgroups.Request{RunAsUser: ptr(1), ImageUser: "guest:wheel"}, 1, 1, []uint32{1}, supgroups.SourceRunAsUser},
		{"GRP-3 a numeric name is an ID", supgroups.Request{RunAsUsername: "405"}, 405, 100, []uint32{100}, supgroups.SourceRunAsUsername},
		{"GRP-4 user", supgroups.Request{ImageUser: "guest"}, 405, 100, []uint32{100}, supgroups.SourceImageUser},
		{"GRP-4 uid", supgroups.Request{ImageUser: "405"}, 405, 100, []uint32{100}, supgroups.SourceImageUser},
		{"GRP-4 user:group", supgroups.Request{ImageUser: "guest:wheel"}, 405, 10, []uint32{10}, supgroups.SourceImageUser},
		{"GRP-4 uid:gid", supgroups.Request{ImageUser: "405:7"}, 405, 7, []uint32{7}, supgroups.SourceImageUser},
		{"GRP-4 uid:group", supgroups.Request{ImageUser: "405:wheel"}, 405, 10, []uint32{10}, supgroups.SourceImageUser},
		{"GRP-4 user:gid", supgroups.Request{ImageUser: "guest:7"}, 405, 7, []uint32{7}, supgroups.SourceImageUser},
		{"GRP-4 an empty group part is no group", supgroups.Request{ImageUser: "guest:"}, 405, 100, []uint32{100}, supgroups.SourceImageUser},
		{"GRP-4 a group in the image's user does not stop memberships", supgroups.Request{ImageUser: "root:users"}, 0, 100, []uint32{10, 100}, supgroups.SourceImageUser},
		{"GRP-4 signs and zeros in a number", supgroups.Request{ImageUser: "+0405:010"}, 405, 10, []uint32{10}, supgroups.SourceImageUser},
		{"GRP-7 an ID that no row lists has group 0", supgroups.Request{RunAsUser: ptr(1234)}, 1234, 0, []uint32{0}, supgroups.SourceRunAsUser},
		{"GRP-7 unless a group is asked for", supgroups.Request{RunAsUser: ptr(1234), RunAsGroup: ptr(1234)}, 1234, 1234, []uint32{1234}, supgroups.SourceRunAsUser},
		{"GRP-1 GRP-6 requested and image groups are one ascending set", supgroups.Request{SupplementalGroups: []int64{1234, 1, 10, 1}}, 0, 0, []uint32{0, 1, 10, 1234}, supgroups.SourceRuntimeDefault},
		{"GRP-8 the largest ID is accepted", supgroups.Request{ImageUser: "7456:2147483647"}, 7456, 2147483647, []uint32{2147483647}, supgroups.SourceImageUser},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			id := resolve(t, c.req, busyPasswd, busyGroup)
			checkIdentity(t, id, c.uid, c.gid, c.groups...)
			if id.UserFrom != c.from {
				t.Errorf("UserFrom = %v, want %v", id.UserFrom, c.from)
			}
		})
	}
}

func TestGroupFrom(t *testing.T) {
	cases := map[string]struct {
		req  supgroups.Request
		from supgroups.Source
		text string
	}{
		"GRP-2 asked for":                                {supgroups.Request{RunAsUser: ptr(405), RunAsGroup: ptr(5)}, supgroups.SourceRunAsGroup, "runAsGroup"},
		"GRP-2 GRP-4 the image's user string":            {supgroups.Request{ImageUser: "405:wheel"}, supgroups.SourceImageUser, "image user"},
		"GRP-2 the image's passwd, also under Strict":    {supgroups.Request{RunAsUser: ptr(405), Policy: supgroups.PolicyStrict}, supgroups.SourcePasswd, "image passwd"},
		"GRP-2 GRP-7 the default for a user not listed":  {supgroups.Request{RunAsUser: ptr(9)}, supgroups.SourceRuntimeDefault, "runtime default"},
		"GRP-2 GRP-3 runAsGroup wins over a user's name": {supgroups.Request{RunAsUsername: "guest", RunAsGroup: ptr(5)}, supgroups.SourceRunAsGroup, "runAsGroup"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			id := resolve(t, c.req, busyPasswd, busyGroup)
			if id.GroupFrom != c.from || id.GroupFrom.String() != c.text {
				t.Errorf("GroupFrom = %v, want %v", id.GroupFrom, c.from)
			}
			if c.from.FromImage() != strings.HasPrefix(c.text, "image") {
				t.Errorf("%v.FromImage() = %v", c.from, c.from.FromImage())
			}
		})
	}
}

func TestRefused(t *testing.T) {
	huge := strings.Repeat("9", 40)
	cases := []struct {
		name string
		req  supgroups.Request
		want error
	}{
		{"GRP-3 a group without a user", supgroups.Request{RunAsGroup: ptr(5)}, supgroups.ErrGroupWithoutUser},
		{"GRP-3 also when the image has a user", supgroups.Request{RunAsGroup: ptr(5), ImageUser: "root"}, supgroups.ErrGroupWithoutUser},
		{"GRP-3 GRP-4 an image user that is only a group", supgroups.Request{ImageUser: ":5"}, supgroups.ErrGroupWithoutUser},
		{"GRP-4 two colons", supgroups.Request{ImageUser: "a:b:c"}, supgroups.ErrUserSyntax},
		{"GRP-4 a colon in a user name", supgroups.Request{RunAsUsername: "root:root"}, supgroups.ErrUserSyntax},
		{"GRP-4 an endless user", supgroups.Request{ImageUser: strings.Repeat("a", 257)}, supgroups.ErrUserSyntax},
		{"GRP-7 an unknown user", supgroups.Request{ImageUser: "notuser"}, supgroups.ErrUnknownUser},
		{"GRP-7 an unknown group", supgroups.Request{ImageUser: "root:notgroup"}, supgroups.ErrUnknownGroup},
		{"GRP-8 negative user", supgroups.Request{RunAsUser: ptr(-1)}, supgroups.ErrIDRange},
		{"GRP-8 a user beyond the range, though the name would win", supgroups.Request{RunAsUsername: "root", RunAsUser: ptr(1 << 31)}, supgroups.ErrIDRange},
		{"GRP-8 negative group", supgroups.Request{RunAsUser: ptr(1), RunAsGroup: ptr(-1)}, supgroups.ErrIDRange},
		{"GRP-8 fsGroup", supgroups.Request{FSGroup: ptr(1 << 31)}, supgroups.ErrIDRange},
		{"GRP-8 a supplemental group that would wrap round to 0", supgroups.Request{SupplementalGroups: []int64{1, 1 << 32}}, supgroups.ErrIDRange},
		{"GRP-8 image uid", supgroups.Request{ImageUser: "2147483648"}, supgroups.ErrIDRange},
		{"GRP-8 image gid", supgroups.Request{ImageUser: "42:2147483648"}, supgroups.ErrIDRange},
		{"GRP-8 negative image uid, even when a user is called so", supgroups.Request{ImageUser: "-42"}, supgroups.ErrIDRange},
		{"GRP-8 a number beyond 64 bits is no name", supgroups.Request{ImageUser: huge}, supgroups.ErrIDRange},
		{"GRP-8 nor is one in a username", supgroups.Request{RunAsUsername: "9223372036854775808"}, supgroups.ErrIDRange},
	}
	files := "-42:x:7:7::/:\n" + huge + ":x:8:8::/:\n9223372036854775808:x:9:9::/:\n" + busyPasswd
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			id, err := supgroups.Resolve(c.req, strings.NewReader(files), strings.NewReader(busyGroup))
			if !errors.Is(err, c.want) {
				t.Errorf("Resolve(%+v) = %v, %v, want %v", c.req, id, err, c.want)
			}
		})
	}
	t.Run("GRP-8 the error names the field and the value", func(t *testing.T) {
		_, err := supgroups.Resolve(supgroups.Request{SupplementalGroups: []int64{1, 4294967296}}, nil, nil)
		var id *supgroups.IDError
		if !errors.As(err, &id) || id.Field != "supplementalGroups[1]" || id.Value != "4294967296" {
			t.Fatalf("error = %v", err)
		}
		if want := "supplementalGroups[1]: id 4294967296 is outside 0 to 2147483647"; err.Error() != want {
			t.Errorf("text = %q, want %q", err, want)
		}
	})
}

func TestPolicy(t *testing.T) {
	t.Run("GRP-12 only Merge and Strict are policies", func(t *testing.T) {
		for text, want := range map[string]supgroups.Policy{"": supgroups.PolicyMerge, "Merge": supgroups.PolicyMerge, "Strict": supgroups.PolicyStrict} {
			if got, err := supgroups.ParsePolicy(text); got != want || err != nil {
				t.Errorf("ParsePolicy(%q) = %v, %v, want %v", text, got, err, want)
			}
		}
		for _, text := range []string{"merge", "STRICT", " Merge", "0"} {
			if _, err := supgroups.ParsePolicy(text); !errors.Is(err, supgroups.ErrUnknownPolicy) {
				t.Errorf("ParsePolicy(%q) = %v, want ErrUnknownPolicy", text, err)
			}
		}
		if _, err := supgroups.Resolve(supgroups.Request{Policy: 2}, nil, nil); !errors.Is(err, supgroups.ErrUnknownPolicy) {
			t.Errorf("Resolve(policy 2) = %v, want ErrUnknownPolicy", err)
		}
	})
}

func TestThroughKubelet(t *testing.T) {
	cases := map[string]struct {
		req      supgroups.Request
		uid      *int64
		username string
	}{
		"GRP-3 the image's name is filled in, its group is lost": {supgroups.Request{ImageUser: "alice:users"}, nil, "alice"},
		"GRP-3 the image's ID is filled in":                      {supgroups.Request{ImageUser: "1:2:3"}, ptr(1), ""},
		"GRP-3 without any user the kubelet asks for root":       {supgroups.Request{}, ptr(0), ""},
		"GRP-3 a user asked for stays":                           {supgroups.Request{RunAsUser: ptr(7), ImageUser: "alice"}, ptr(7), ""},
		"GRP-3 GRP-8 a bad ID travels on, to be refused":         {supgroups.Request{ImageUser: "-5"}, ptr(-5), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := c.req.ThroughKubelet()
			if got.RunAsUsername != c.username || (got.RunAsUser == nil) != (c.uid == nil) || c.uid != nil && *got.RunAsUser != *c.uid {
				t.Errorf("ThroughKubelet() = %v %q, want %v %q", got.RunAsUser, got.RunAsUsername, c.uid, c.username)
			}
			if got.ImageUser != "" {
				t.Errorf("ImageUser = %q, want none", got.ImageUser)
			}
		})
	}
	t.Run("GRP-3 a pod's runAsGroup without a user is no error on this way", func(t *testing.T) {
		req := supgroups.Request{RunAsGroup: ptr(5), ImageUser: "alice"}.ThroughKubelet()
		checkIdentity(t, resolve(t, req, kepPasswd, kepGroup), 1000, 5, 5, 50000)
	})
}
