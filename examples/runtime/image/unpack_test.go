package image_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/examples/runtime/image"
	"github.com/lanyard-dev/lanyard/examples/testimage"
)

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: layers have owners and whiteouts")
	}
}

// hostile are layers that try to get out, or to be too much; each names the error that ends it.
var hostile = []struct {
	name    string
	entries []testimage.Entry
	want    error
}{
	{"name that climbs out", []testimage.Entry{file("../escaped")}, image.ErrEscape},
	{"name that climbs out in the middle", []testimage.Entry{file("a/../../escaped")}, image.ErrEscape},
	{"name that climbs out from the root", []testimage.Entry{file("/../escaped")}, image.ErrEscape},
	{"file through an absolute link", []testimage.Entry{link("out", "/tmp"), file("out/escaped")}, image.ErrEscape},
	{"file through a relative link", []testimage.Entry{link("out", "../.."), file("out/escaped")}, image.ErrEscape},
	{"directory through a link", []testimage.Entry{link("out", ".."), {Header: tar.Header{Typeflag: tar.TypeDir, Name: "out/escaped", Mode: 0o777}}}, image.ErrEscape},
	{"directory two below a link", []testimage.Entry{link("out", ".."), file("out/escaped/x")}, image.ErrEscape},
	{"hard link to the outside", []testimage.Entry{hard("mine", "../secret")}, image.ErrEscape},
	{"hard link through a link", []testimage.Entry{link("out", ".."), hard("mine", "out/secret")}, image.ErrEscape},
	{"whiteout of the outside", []testimage.Entry{link("out", ".."), file("out/.wh.secret")}, image.ErrEscape},
	{"whiteout of the parent", []testimage.Entry{file("a/.wh...")}, image.ErrEscape},
	{"opaque outside", []testimage.Entry{link("out", ".."), file("out/.wh..wh..opq")}, image.ErrEscape},
	{"character device", []testimage.Entry{{Header: tar.Header{Typeflag: tar.TypeChar, Name: "mem", Devmajor: 1, Devminor: 1}}}, image.ErrDevice},
	{"block device", []testimage.Entry{{Header: tar.Header{Typeflag: tar.TypeBlock, Name: "disk", Devmajor: 8}}}, image.ErrDevice},
	{"root that is a file", []testimage.Entry{file(".")}, image.ErrKind},
	{"more bytes than allowed, in two files", []testimage.Entry{big("a", 600<<10), big("b", 600<<10)}, image.ErrTooLarge},
	{"more entries than allowed", []testimage.Entry{file("a"), file("b"), file("c"), file("d"), file("e"), file("f"), file("g"), file("h"), file("i")}, image.ErrTooManyEntries},
}

var tight = image.Limits{Bytes: 1 << 20, Entries: 8}

func file(name string) testimage.Entry { return big(name, 1) }

func big(name string, size int) testimage.Entry {
	return testimage.Entry{Header: tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(size)}, Content: string(make([]byte, size))}
}

func link(name, to string) testimage.Entry {
	return testimage.Entry{Header: tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}}
}

func hard(name, to string) testimage.Entry {
	return testimage.Entry{Header: tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: to}}
}

func archive(t testing.TB, entries []testimage.Entry) []byte {
	t.Helper()
	l, err := testimage.Layer(entries...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// cage is a directory to unpack into, beside a secret that must stay as it is.
func cage(t testing.TB) (dir string, check func()) {
	t.Helper()
	outer, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(outer, "root")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(outer, "secret"), []byte("secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir, func() {
		t.Helper()
		entries, err := os.ReadDir(outer)
		if err != nil || len(entries) != 2 {
			t.Errorf("beside the root is now %v, %v", entries, err)
		}
		var st unix.Stat_t
		if err := unix.Lstat(filepath.Join(outer, "secret"), &st); err != nil || st.Nlink != 1 || st.Mode != unix.S_IFREG|0o600 {
			t.Errorf("the secret is now %+v, %v", st, err)
		}
		if _, err := os.Lstat("/tmp/escaped"); err == nil {
			t.Error("/tmp/escaped is there")
		}
	}
}

func TestUnpackHostile(t *testing.T) {
	needRoot(t)
	for _, tt := range hostile {
		t.Run("STK-2 hostile layer: "+tt.name, func(t *testing.T) {
			dir, check := cage(t)
			err := image.Unpack(dir, bytes.NewReader(archive(t, tt.entries)), tight)
			var le *image.LayerError
			if !errors.Is(err, tt.want) || !errors.As(err, &le) {
				t.Errorf("Unpack = %v, want a LayerError of %v", err, tt.want)
			}
			check()
		})
	}
	t.Run("STK-2 hostile layer: a sparse file of 10 GiB is refused before a byte is written", func(t *testing.T) {
		dir, _ := cage(t)
		// A GNU sparse header: real size 10 GiB, nothing stored.
		head := make([]byte, 512)
		copy(head, "sparse")
		copy(head[100:], "0000644\x000000000\x000000000\x00")
		copy(head[124:], "00000000000\x00")
		copy(head[136:], "00000000000\x00")
		head[156] = 'S'
		copy(head[257:], "ustar  \x00")
		copy(head[386:], "00000000000\x0000000000000\x00") // one hole up to …
		copy(head[386:], "120000000000")                   // … offset 10 GiB, of length 0
		copy(head[483:], "120000000000")
		checksum(head)
		err := image.Unpack(dir, bytes.NewReader(append(head, make([]byte, 1024)...)), image.Limits{})
		if !errors.Is(err, image.ErrTooLarge) {
			t.Errorf("Unpack = %v, want %v", err, image.ErrTooLarge)
		}
	})
	t.Run("STK-2 hostile layer: a million entries", func(t *testing.T) {
		dir, _ := cage(t)
		r, w := io.Pipe()
		go func() {
			out := tar.NewWriter(w)
			for range 1_000_000 {
				if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755}); err != nil {
					return
				}
			}
			w.CloseWithError(out.Close())
		}()
		err := image.Unpack(dir, r, image.Limits{Entries: 20_000})
		r.Close()
		if !errors.Is(err, image.ErrTooManyEntries) {
			t.Errorf("Unpack = %v, want %v", err, image.ErrTooManyEntries)
		}
	})
}

func checksum(head []byte) {
	copy(head[148:156], "        ")
	sum := 0
	for _, b := range head {
		sum += int(b)
	}
	for i := 5; i >= 0; i-- {
		head[148+i] = byte('0' + sum&7)
		sum >>= 3
	}
	head[154] = 0
}

func TestUnpack(t *testing.T) {
	needRoot(t)
	t.Run("STK-2 owner, mode, time and capability of a file", func(t *testing.T) {
		dir, _ := cage(t)
		e := file("bin/tool")
		e.Mode, e.Uid, e.Gid, e.ModTime = 0o4755, 12, 34, time.Unix(1_000_000_000, 0)
		capability := "\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		e.PAXRecords = map[string]string{"SCHILY.xattr.security.capability": capability, "SCHILY.xattr.trusted.overlay.redirect": "/etc"}
		if err := image.Unpack(dir, bytes.NewReader(archive(t, []testimage.Entry{e})), tight); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "bin/tool")
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil || st.Mode&0o7777 != 0o4755 || st.Uid != 12 || st.Gid != 34 || st.Mtim.Sec != 1_000_000_000 {
			t.Errorf("stat = %+v, %v", st, err)
		}
		got := make([]byte, 64)
		if n, err := unix.Getxattr(path, "security.capability", got); err != nil || string(got[:n]) != capability {
			t.Errorf("capability = %x, %v", got[:max(n, 0)], err)
		}
		if _, err := unix.Getxattr(path, "trusted.overlay.redirect", got); err == nil {
			t.Error("an order to the kernel was taken from the layer")
		}
	})
	t.Run("STK-2 whiteouts become overlayfs's", func(t *testing.T) {
		dir, _ := cage(t)
		err := image.Unpack(dir, bytes.NewReader(archive(t, []testimage.Entry{file("a/.wh.gone"), file("b/.wh..wh..opq"), file("c/both"), file("c/.wh.both")})), tight)
		if err != nil {
			t.Fatal(err)
		}
		var st unix.Stat_t
		if err := unix.Lstat(filepath.Join(dir, "a/gone"), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != 0 {
			t.Errorf("whiteout = %+v, %v, want device 0:0", st, err)
		}
		got := make([]byte, 8)
		if n, err := unix.Getxattr(filepath.Join(dir, "b"), "trusted.overlay.opaque", got); err != nil || string(got[:n]) != "y" {
			t.Errorf("opaque = %q, %v", got, err)
		}
		if info, err := os.Lstat(filepath.Join(dir, "c/both")); err != nil || !info.Mode().IsRegular() {
			t.Errorf("a file that its own layer brings is %v, %v", info, err)
		}
	})
	t.Run("STK-2 the last entry of a path counts, and links are not written through", func(t *testing.T) {
		dir, check := cage(t)
		replaced := big("x", 3)
		err := image.Unpack(dir, bytes.NewReader(archive(t, []testimage.Entry{link("x", "../secret"), replaced, hard("y", "x")})), tight)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(filepath.Join(dir, "y")); err != nil || info.Size() != 3 {
			t.Errorf("y = %v, %v", info, err)
		}
		check()
	})
}

// TestUnpackProperty throws random layers at Unpack.
func TestUnpackProperty(t *testing.T) {
	needRoot(t)
	t.Run("STK-2 no layer reaches outside, and each fault has a type", func(t *testing.T) {
		part := rapid.SampledFrom([]string{"a", "b", "..", ".", "", ".wh.a", ".wh..wh..opq", "secret", "/"})
		path := rapid.Custom(func(t *rapid.T) string { return filepath.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts")...) })
		raw := rapid.Custom(func(t *rapid.T) string {
			s := ""
			for _, p := range rapid.SliceOfN(part, 1, 4).Draw(t, "parts") {
				s += p + "/"
			}
			return s + "x"
		})
		kinds := rapid.SampledFrom([]byte{tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeLink, tar.TypeFifo, tar.TypeChar})
		rapid.Check(t, func(rt *rapid.T) {
			var entries []testimage.Entry
			for range rapid.IntRange(1, 6).Draw(rt, "entries") {
				h := tar.Header{Typeflag: kinds.Draw(rt, "kind"), Name: rapid.OneOf(path, raw).Draw(rt, "name"), Mode: 0o777}
				if h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink {
					h.Linkname = rapid.OneOf(path, raw).Draw(rt, "target")
				}
				if h.Name != "" && (h.Typeflag == tar.TypeDir || h.Name[len(h.Name)-1] != '/') {
					entries = append(entries, testimage.Entry{Header: h})
				}
			}
			dir, check := cage(t)
			_ = image.Unpack(dir, bytes.NewReader(archive(t, entries)), tight)
			check()
		})
	})
}

func FuzzUnpack(f *testing.F) {
	for _, tt := range hostile {
		f.Add(archive(f, tt.entries))
	}
	f.Fuzz(func(t *testing.T, layer []byte) {
		needRoot(t)
		dir, check := cage(t)
		_ = image.Unpack(dir, bytes.NewReader(layer), tight)
		check()
	})
}
