package supgroups_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/supgroups"
)

func ptr(v int64) *int64 { return &v }

var (
	names = rapid.SampledFrom([]string{
		"root", "alice", "bob", "a", "al", "alice2", "alice,bob", "administrator", "administrators", "xadministrator", "111", "+nis", "", "w x", "end ",
		"axaxaxaxaxa", "xaxaxaxa", "xaxa",
	})
	ids = rapid.SampledFrom([]string{
		"0", "1", "00", "1000", "01000", "10000", "11000", "2147483647", "2147483648", "4294967296", "99999999999999999999", "-1", "+1", "", "x", "1000 ", "5",
	})
	lineEnds = rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\n\n", " \n", "\t \r\n"})
	padding  = rapid.SampledFrom([]int{0, 0, 0, 0, 0, 990, 1024, 4000, 4096, 9000})
)

func drawPasswd(t *rapid.T) string {
	return drawFile(t, "passwd", func(row string) string {
		return fmt.Sprintf("%s:%s:%s:%s:gecos:/home:/bin/sh", names.Draw(t, row), drawPad(t, row), ids.Draw(t, row), ids.Draw(t, row))
	})
}

func drawGroup(t *rapid.T) string {
	members := rapid.SliceOfN(names, 0, 5)
	return drawFile(t, "group", func(row string) string {
		pad := drawPad(t, row)
		list := strings.Join(members.Draw(t, row), ",") + rapid.SampledFrom([]string{"", "", "", ",", " ", ":alice", ", alice"}).Draw(t, row)
		if rapid.Bool().Draw(t, row) {
			return fmt.Sprintf("%s:%s:%s:%s", names.Draw(t, row), pad, ids.Draw(t, row), list)
		}
		return fmt.Sprintf("%s:x:%s:%s,%s", names.Draw(t, row), ids.Draw(t, row), pad, list)
	})
}

func drawPad(t *rapid.T, label string) string { return strings.Repeat("p", padding.Draw(t, label)) }

func drawFile(t *rapid.T, label string, row func(string) string) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 8).Draw(t, label+" rows") {
		l := fmt.Sprint(label, i)
		text := row(l)
		switch rapid.IntRange(0, 9).Draw(t, l) {
		case 0:
			text = text[:rapid.IntRange(0, len(text)).Draw(t, l)]
		case 1:
			text = "#" + text
		case 2:
			text = "  " + text
		}
		b.WriteString(text + lineEnds.Draw(t, l))
	}
	return strings.TrimSuffix(b.String(), rapid.SampledFrom([]string{"", "\n"}).Draw(t, label+" end"))
}

func drawRequest(t *rapid.T) supgroups.Request {
	id := rapid.SampledFrom([]int64{0, 1, 5, 1000, 10000, 2147483647})
	maybe := func(label string) *int64 { return rapid.Ptr(id, true).Draw(t, label) }
	req := supgroups.Request{
		Policy:             rapid.SampledFrom([]supgroups.Policy{supgroups.PolicyMerge, supgroups.PolicyStrict}).Draw(t, "policy"),
		RunAsGroup:         maybe("group"),
		FSGroup:            maybe("fsGroup"),
		SupplementalGroups: rapid.SliceOfN(id, 0, 4).Draw(t, "supplemental"),
	}
	if rapid.Bool().Draw(t, "by name") {
		req.RunAsUsername = rapid.SampledFrom([]string{"root", "alice", "administrator", "a", "alice,bob", "end ", "w x", "axaxaxaxaxa", "xaxaxaxa", "xaxa"}).Draw(t, "name")
	} else {
		req.RunAsUser = ptr(id.Draw(t, "uid"))
	}
	return req
}

// reader returns text through a reader of one of several habits; none may change an answer.
func reader(t *rapid.T, text string) io.Reader {
	r := io.Reader(strings.NewReader(text))
	switch rapid.IntRange(0, 3).Draw(t, "reader") {
	case 0:
		return iotest.OneByteReader(r)
	case 1:
		return iotest.DataErrReader(r)
	case 2:
		return iotest.HalfReader(r)
	}
	return r
}

func TestResolveLaws(t *testing.T) {
	t.Run("GRP-1 GRP-2 GRP-5 GRP-6 agreement with a slow obvious model, however the files are read", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			req, passwd, group := drawRequest(t), drawPasswd(t), drawGroup(t)
			got, err := supgroups.Resolve(req, reader(t, passwd), reader(t, group))
			want := resolveModel(req, passwd, group)
			if !want.known {
				if !errors.Is(err, supgroups.ErrUnknownUser) {
					t.Fatalf("Resolve(%+v) = %v, %v, want ErrUnknownUser\npasswd %q", req, got, err, passwd)
				}
				return
			}
			if err != nil || got.UID != want.uid || got.GID != want.gid || !slices.Equal(got.GIDs(), want.groups) {
				t.Fatalf("Resolve(%+v) = %v, %v, want %v\npasswd %q\ngroup %q", req, got, err, want, passwd, group)
			}
		})
	})
	t.Run("GRP-2 Strict is what Merge has without the image's memberships", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			req, passwd, group := drawRequest(t), drawPasswd(t), drawGroup(t)
			merge, strict, ok := both(req, passwd, group)
			if !ok {
				return
			}
			if !slices.Equal(merge.Under(supgroups.PolicyStrict).Groups, strict.Groups) {
				t.Fatalf("Under(Strict) = %v, want %v", merge.Under(supgroups.PolicyStrict).Groups, strict.Groups)
			}
			for _, g := range strict.GIDs() {
				if !slices.Contains(merge.GIDs(), g) {
					t.Fatalf("Strict has %d, Merge has %v", g, merge.GIDs())
				}
			}
			if len(merge.Groups)-len(strict.Groups) != len(merge.Unasked()) {
				t.Fatalf("Unasked() = %v, Merge %v, Strict %v", merge.Unasked(), merge.Groups, strict.Groups)
			}
			again := merge.Under(supgroups.PolicyMerge)
			if !reflect.DeepEqual(again, merge) || !reflect.DeepEqual(strict.Under(supgroups.PolicyStrict).Groups, strict.Groups) {
				t.Fatalf("Under is not idempotent: %v, %v", again, merge)
			}
		})
	})
	t.Run("GRP-1 without membership in the image, Merge is Strict", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			req, passwd := drawRequest(t), drawPasswd(t)
			merge, strict, ok := both(req, passwd, "staff:x:50:nobody-else\n")
			if ok && !slices.Equal(merge.Groups, strict.Groups) {
				t.Fatalf("Merge %v, Strict %v", merge.Groups, strict.Groups)
			}
		})
	})
	t.Run("GRP-8 every ID was asked for, is written in the image, or is the default group", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			req, passwd, group := drawRequest(t), drawPasswd(t), drawGroup(t)
			got, err := supgroups.Resolve(req, strings.NewReader(passwd), strings.NewReader(group))
			if err != nil {
				return
			}
			for _, g := range got.Groups {
				if g.Origin == 0 || g.ID > supgroups.MaxID {
					t.Fatalf("group %v", g)
				}
				if g.Origin.Has(supgroups.OriginRequested) != slices.Contains(req.SupplementalGroups, int64(g.ID)) {
					t.Fatalf("origin of %v, asked for %v", g, req.SupplementalGroups)
				}
				if g.Origin.Has(supgroups.OriginPrimary) != (g.ID == got.GID) {
					t.Fatalf("origin of %v, primary %d", g, got.GID)
				}
				if g.Origin.Has(supgroups.OriginImage) && !strings.Contains(group, fmt.Sprint(g.ID)) {
					t.Fatalf("%v is nowhere in %q", g, group)
				}
			}
		})
	})
	t.Run("GRP-6 asking for what one has changes no ID", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			req, passwd, group := drawRequest(t), drawPasswd(t), drawGroup(t)
			once, err := supgroups.Resolve(req, strings.NewReader(passwd), strings.NewReader(group))
			if err != nil {
				return
			}
			req.SupplementalGroups = nil
			for _, g := range once.GIDs() {
				req.SupplementalGroups = append(req.SupplementalGroups, int64(g))
			}
			twice, err := supgroups.Resolve(req, strings.NewReader(passwd), strings.NewReader(group))
			if err != nil || !slices.Equal(once.GIDs(), twice.GIDs()) {
				t.Fatalf("once %v, twice %v, %v", once.GIDs(), twice.GIDs(), err)
			}
		})
	})
}

func both(req supgroups.Request, passwd, group string) (merge, strict supgroups.Identity, ok bool) {
	req.Policy = supgroups.PolicyMerge
	merge, err := supgroups.Resolve(req, strings.NewReader(passwd), strings.NewReader(group))
	req.Policy = supgroups.PolicyStrict
	strict, err2 := supgroups.Resolve(req, strings.NewReader(passwd), strings.NewReader(group))
	return merge, strict, err == nil && err2 == nil
}

func TestUserStringLaws(t *testing.T) {
	t.Run("GRP-4 what parses prints as an equal user string", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			s := rapid.StringMatching(`[a-z0-9+:-]{0,12}`).Draw(t, "user")
			u, err := supgroups.ParseUserString(s)
			if err != nil || s == "" {
				return
			}
			text := u.User.String()
			if !u.Group.IsZero() {
				text += ":" + u.Group.String()
			}
			again, err := supgroups.ParseUserString(text)
			if err != nil || again != u {
				t.Fatalf("ParseUserString(%q) = %v, %v, want %v", text, again, err, u)
			}
		})
	})
}

func TestCheckLaws(t *testing.T) {
	t.Run("GRP-7 the rows that are counted are those the model calls unusable", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			text := drawPasswd(t)
			got, err := supgroups.CheckPasswd(reader(t, text))
			want := 0
			for _, r := range modelRows(text, 2) {
				if !r.usable {
					want++
				}
			}
			if err != nil || got.Rows != want || len(got.First) != min(want, supgroups.MaxFaults) {
				t.Fatalf("CheckPasswd(%q) = %+v, %v, want %d rows", text, got, err, want)
			}
		})
	})
}
