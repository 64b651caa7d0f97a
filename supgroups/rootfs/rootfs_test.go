package rootfs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

const (
	passwd = "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/:/bin/sh\n"
	group  = "staff:x:50000:alice\n"
)

// tree is a root file system to unpack: a value beginning with "->" is a link, one ending in "/" a directory.
type tree map[string]string

func (files tree) unpack(t *testing.T) (outside, root string) {
	t.Helper()
	outside = t.TempDir()
	root = filepath.Join(outside, "rootfs")
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch target, link := strings.CutPrefix(content, "->"); {
		case link:
			must(t, os.Symlink(target, path))
		case content == "dir/":
			must(t, os.MkdirAll(path, 0o755))
		default:
			must(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
	must(t, os.MkdirAll(root, 0o755))
	must(t, os.MkdirAll(filepath.Join(outside, "etc"), 0o755))
	for _, name := range []string{"etc/passwd", "etc/group", "passwd", "group"} {
		must(t, os.WriteFile(filepath.Join(outside, name), []byte("outside:x:0:0\nalice:x:0:0\noutside:x:0:alice\n"), 0o644))
	}
	return outside, root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func resolve(t *testing.T, dir string, req supgroups.Request) (supgroups.Identity, error) {
	t.Helper()
	root, err := rootfs.Open(dir)
	must(t, err)
	defer root.Close()
	return root.Resolve(req)
}

func TestLinks(t *testing.T) {
	alice := supgroups.Request{RunAsUsername: "alice"}
	found := map[string]tree{
		"GRP-7 plain files":                                {"etc/passwd": passwd, "etc/group": group},
		"GRP-7 an absolute link starts at the image":       {"etc/passwd": "->/usr/etc/passwd", "usr/etc/passwd": passwd, "etc/group": group},
		"GRP-7 an absolute directory link too":             {"etc": "->/nix/store/etc", "nix/store/etc/passwd": passwd, "nix/store/etc/group": group},
		"GRP-7 a chain of links":                           {"etc": "->a", "a": "->/b/./c", "b/c": "->../d", "d/passwd": "->p", "d/p": passwd, "d/group": group},
		"GRP-7 a link that climbs out stops at the root":   {"etc/passwd": "->../../../../p", "p": passwd, "etc/group": "->/../../g", "g": group},
		"GRP-7 a relative link through a directory link":   {"etc": "->usr/etc", "usr/etc/passwd": "->../share/passwd", "usr/share/passwd": passwd, "usr/etc/group": group},
		"GRP-7 the path of the root outside means nothing": {"etc/passwd": "->/rootfs/etc/p", "rootfs/etc/p": passwd, "etc/group": group},
	}
	for name, files := range found {
		t.Run(name, func(t *testing.T) {
			_, dir := files.unpack(t)
			id, err := resolve(t, dir, alice)
			if err != nil || id.UID != 1000 || !slices.Equal(id.GIDs(), []uint32{1000, 50000}) {
				t.Errorf("Resolve(…) = %v, %v, want 1000 [1000 50000]", id, err)
			}
		})
	}
	t.Run("GRP-7 a link to a file that exists only outside leads nowhere", func(t *testing.T) {
		files := tree{"etc/group": group}
		outside, dir := files.unpack(t)
		must(t, os.Symlink(filepath.Join(outside, "passwd"), filepath.Join(dir, "etc", "passwd")))
		if id, err := resolve(t, dir, alice); !errors.Is(err, supgroups.ErrUnknownUser) {
			t.Errorf("Resolve(…) = %v, %v, want ErrUnknownUser", id, err)
		}
		must(t, os.Remove(filepath.Join(dir, "etc", "passwd")))
		must(t, os.Symlink("../../passwd", filepath.Join(dir, "etc", "passwd")))
		if id, err := resolve(t, dir, alice); !errors.Is(err, supgroups.ErrUnknownUser) {
			t.Errorf("Resolve(…) = %v, %v, want ErrUnknownUser", id, err)
		}
	})
}

func TestRefused(t *testing.T) {
	cases := map[string]struct {
		files tree
		want  error
	}{
		"GRP-7 missing files":                     {tree{}, supgroups.ErrUnknownUser},
		"GRP-7 a dangling link is a missing file": {tree{"etc/passwd": "->/nowhere"}, supgroups.ErrUnknownUser},
		"GRP-7 a file in place of /etc":           {tree{"etc": "x"}, supgroups.ErrUnknownUser},
		"GRP-7 a directory is not a file":         {tree{"etc/passwd": "dir/"}, rootfs.ErrNotRegular},
		"GRP-7 a loop of links":                   {tree{"etc/passwd": "->group", "etc/group": "->passwd"}, rootfs.ErrTooManyLinks},
		"GRP-7 a link to itself":                  {tree{"etc": "->etc"}, rootfs.ErrTooManyLinks},
		"GRP-7 a link to the root":                {tree{"etc/passwd": "->/"}, rootfs.ErrNotRegular},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, dir := c.files.unpack(t)
			if id, err := resolve(t, dir, supgroups.Request{RunAsUsername: "alice"}); !errors.Is(err, c.want) {
				t.Errorf("Resolve(…) = %v, %v, want %v", id, err, c.want)
			}
		})
	}
	t.Run("GRP-7 missing files are no fault for an ID", func(t *testing.T) {
		_, dir := tree{}.unpack(t)
		uid := int64(7)
		if id, err := resolve(t, dir, supgroups.Request{RunAsUser: &uid}); err != nil || id.UID != 7 || id.GID != 0 {
			t.Errorf("Resolve(…) = %v, %v, want 7:0", id, err)
		}
	})
	t.Run("GRP-2 a broken group file does not matter under Strict", func(t *testing.T) {
		_, dir := tree{"etc/passwd": passwd, "etc/group": "dir/"}.unpack(t)
		if _, err := resolve(t, dir, supgroups.Request{RunAsUsername: "alice", Policy: supgroups.PolicyStrict}); err != nil {
			t.Errorf("Resolve(Strict) = %v, want no error", err)
		}
		if _, err := resolve(t, dir, supgroups.Request{RunAsUsername: "alice"}); !errors.Is(err, rootfs.ErrNotRegular) {
			t.Errorf("Resolve(Merge) = %v, want ErrNotRegular", err)
		}
	})
}

func TestFile(t *testing.T) {
	t.Run("GRP-7 a file that claims to be larger than the limit is refused unread", func(t *testing.T) {
		_, dir := tree{"etc/passwd": ""}.unpack(t)
		must(t, os.Truncate(filepath.Join(dir, "etc", "passwd"), rootfs.MaxFileBytes+1))
		root, err := rootfs.Open(dir)
		must(t, err)
		defer root.Close()
		if _, err := root.File(rootfs.Passwd); !errors.Is(err, rootfs.ErrTooLarge) {
			t.Errorf("File(…) = %v, want ErrTooLarge", err)
		}
	})
	t.Run("GRP-7 a file swapped for something else after the first look is refused", func(t *testing.T) {
		root := rootfs.New(swapFS{fstest.MapFS{"etc/passwd": {Data: []byte(passwd)}, "dir/x": {}}})
		if _, err := root.File(rootfs.Passwd); !errors.Is(err, rootfs.ErrNotRegular) {
			t.Errorf("File(…) = %v, want ErrNotRegular", err)
		}
	})
	t.Run("GRP-7 the content is the file's", func(t *testing.T) {
		root := rootfs.New(fstest.MapFS{"etc/passwd": {Data: []byte(passwd)}})
		f, err := root.File(rootfs.Passwd)
		must(t, err)
		defer f.Close()
		if got, err := io.ReadAll(f); err != nil || string(got) != passwd {
			t.Errorf("ReadAll = %q, %v", got, err)
		}
	})
}

// swapFS opens a directory in place of any file, as if the container had been quick.
type swapFS struct{ fstest.MapFS }

func (s swapFS) Open(string) (fs.File, error) { return s.MapFS.Open("dir") }

func FuzzFollow(f *testing.F) {
	f.Add("/usr/etc", "../x")
	f.Add("../../..", "/")
	f.Add("etc", "passwd")
	f.Add("a//./b/..", "../etc/link")
	f.Fuzz(func(t *testing.T, one, two string) {
		fsys := fstest.MapFS{
			"etc":            {Mode: fs.ModeSymlink | 0o777, Data: []byte(one)},
			"usr/passwd":     {Mode: fs.ModeSymlink | 0o777, Data: []byte(two)},
			"usr/etc/passwd": {Data: []byte(passwd)},
		}
		path, err := rootfs.Follow(fsys, rootfs.Passwd)
		if err != nil {
			return
		}
		if !fs.ValidPath(path) {
			t.Fatalf("Follow = %q, which is no path below the root", path)
		}
		info, err := fsys.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			t.Fatalf("Follow = %q, which is %v, %v", path, info, err)
		}
	})
}
