package layerfs_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/layerfs"
	"github.com/lanyard-dev/lanyard/supgroups/rootfs"
)

// item is one tar entry: a value beginning with "->" is a symbolic link, with "=>" a hard link, "/" a directory.
type item struct{ name, value string }

func layer(items ...item) layerfs.Layer {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, it := range items {
		h := &tar.Header{Name: it.name, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(it.value))}
		content := it.value
		if target, ok := strings.CutPrefix(it.value, "->"); ok {
			h.Typeflag, h.Linkname, h.Size, content = tar.TypeSymlink, target, 0, ""
		}
		if target, ok := strings.CutPrefix(it.value, "=>"); ok {
			h.Typeflag, h.Linkname, h.Size, content = tar.TypeLink, target, 0, ""
		}
		switch it.value {
		case "/":
			h.Typeflag, h.Size, content = tar.TypeDir, 0, ""
		case "fifo":
			h.Typeflag, h.Size, content = tar.TypeFifo, 0, ""
		}
		if err := w.WriteHeader(h); err != nil {
			panic(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			panic(err)
		}
	}
	w.Close()
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
}

func read(f *layerfs.FS, name string) (string, error) {
	file, err := rootfs.New(f).File(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	b, err := io.ReadAll(file)
	return string(b), err
}

func TestLayers(t *testing.T) {
	const want = "the right one"
	found := map[string][]layerfs.Layer{
		"GRP-18 GRP-7 one layer":                                 {layer(item{"etc/passwd", want})},
		"GRP-18 GRP-7 names with dots and slashes":               {layer(item{"./etc/passwd", want})},
		"GRP-18 GRP-7 absolute names":                            {layer(item{"/etc/", "/"}, item{"/etc/passwd", want})},
		"GRP-18 GRP-7 the upper layer wins":                      {layer(item{"etc/passwd", "old"}), layer(item{"etc/passwd", want})},
		"GRP-18 GRP-7 the last entry of a layer wins":            {layer(item{"etc/passwd", "old"}, item{"etc/passwd", want})},
		"GRP-18 GRP-7 a whiteout and a new file in one layer":    {layer(item{"etc/passwd", "old"}), layer(item{"etc/.wh.passwd", ""}, item{"etc/passwd", want})},
		"GRP-18 GRP-7 an opaque directory and a new file":        {layer(item{"etc/passwd", "old"}), layer(item{"etc/passwd", want}, item{"etc/.wh..wh..opq", ""})},
		"GRP-18 GRP-7 a whiteout below the file means nothing":   {layer(item{"etc/.wh.passwd", ""}), layer(item{"etc/passwd", want})},
		"GRP-18 GRP-7 a whiteout of another file":                {layer(item{"etc/passwd", want}), layer(item{"etc/.wh.passw", ""}, item{"etc/.wh.passwd2", ""})},
		"GRP-18 GRP-7 a directory entry above":                   {layer(item{"etc/passwd", want}), layer(item{"etc", "/"}, item{"etc/hosts", "x"})},
		"GRP-18 GRP-7 a link to a file of a lower layer":         {layer(item{"usr/p", want}), layer(item{"etc/passwd", "->/usr/p"})},
		"GRP-18 GRP-7 a link to a file of a higher layer":        {layer(item{"etc/passwd", "->../usr/p"}), layer(item{"usr/p", want})},
		"GRP-18 GRP-7 a directory that became a link":            {layer(item{"etc/passwd", "old"}), layer(item{"etc", "->usr/etc"}, item{"usr/etc/passwd", want})},
		"GRP-18 GRP-7 a hard link":                               {layer(item{"a", want}, item{"etc/passwd", "=>a"})},
		"GRP-18 GRP-7 a hard link to a lower layer":              {layer(item{"a", want}), layer(item{"etc/passwd", "=>./a"})},
		"GRP-18 GRP-7 a hard link outlives a change of its twin": {layer(item{"a", want}, item{"etc/passwd", "=>a"}), layer(item{"a", "new"})},
		"GRP-18 GRP-7 a file too large to keep":                  {layer(item{"x", "y"}, item{"etc/passwd", strings.Repeat(want, 1<<17)})},
	}
	for name, layers := range found {
		t.Run(name, func(t *testing.T) {
			got, err := read(layerfs.New(layers), rootfs.Passwd)
			if strings.ReplaceAll(got, want, "") != "" || got == "" || err != nil {
				t.Errorf("content = %.40q, %v, want %q", got, err, want)
			}
		})
	}
	refused := map[string]struct {
		layers []layerfs.Layer
		want   error
	}{
		"GRP-18 GRP-7 no such file":                        {[]layerfs.Layer{layer(item{"etc/hosts", "x"})}, fs.ErrNotExist},
		"GRP-18 GRP-7 no layers":                           {nil, fs.ErrNotExist},
		"GRP-18 GRP-7 whited out":                          {[]layerfs.Layer{layer(item{"etc/passwd", "x"}), layer(item{"etc/.wh.passwd", ""})}, fs.ErrNotExist},
		"GRP-18 GRP-7 its directory whited out":            {[]layerfs.Layer{layer(item{"etc/passwd", "x"}), layer(item{".wh.etc", ""})}, fs.ErrNotExist},
		"GRP-18 GRP-7 its directory made anew":             {[]layerfs.Layer{layer(item{"etc/passwd", "x"}), layer(item{".wh.etc", ""}, item{"etc", "/"})}, fs.ErrNotExist},
		"GRP-18 GRP-7 its directory opaque":                {[]layerfs.Layer{layer(item{"etc/passwd", "x"}), layer(item{"etc/.wh..wh..opq", ""})}, fs.ErrNotExist},
		"GRP-18 GRP-7 everything opaque":                   {[]layerfs.Layer{layer(item{"etc/passwd", "x"}), layer(item{".wh..wh..opq", ""})}, fs.ErrNotExist},
		"GRP-18 GRP-7 its directory became a file":         {[]layerfs.Layer{layer(item{"etc/passwd", "x"}), layer(item{"etc", "file"}), layer(item{"etc", "/"})}, fs.ErrNotExist},
		"GRP-18 GRP-7 a pipe":                              {[]layerfs.Layer{layer(item{"etc/passwd", "fifo"})}, rootfs.ErrNotRegular},
		"GRP-18 GRP-7 a directory":                         {[]layerfs.Layer{layer(item{"etc/passwd/x", "x"})}, rootfs.ErrNotRegular},
		"GRP-18 GRP-7 a loop of links":                     {[]layerfs.Layer{layer(item{"etc/passwd", "->group"}, item{"etc/group", "->passwd"})}, rootfs.ErrTooManyLinks},
		"GRP-18 GRP-7 a hard link to itself":               {[]layerfs.Layer{layer(item{"etc/passwd", "=>etc/passwd"})}, layerfs.ErrTooManyLinks},
		"GRP-18 GRP-7 a hard link to nothing":              {[]layerfs.Layer{layer(item{"etc/passwd", "=>gone"})}, fs.ErrNotExist},
		"GRP-18 GRP-7 a layer that is cut off is an error": {[]layerfs.Layer{cut(layer(item{"etc/passwd", "x"}))}, io.ErrUnexpectedEOF},
	}
	for name, c := range refused {
		t.Run(name, func(t *testing.T) {
			if got, err := read(layerfs.New(c.layers), rootfs.Passwd); !errors.Is(err, c.want) {
				t.Errorf("content = %q, %v, want %v", got, err, c.want)
			}
		})
	}
}

func cut(l layerfs.Layer) layerfs.Layer {
	return func() (io.ReadCloser, error) {
		r, err := l()
		if err != nil {
			return nil, err
		}
		return io.NopCloser(io.LimitReader(r, 300)), nil
	}
}

func TestFrugality(t *testing.T) {
	unopened := func() (io.ReadCloser, error) { return nil, errors.New("this layer is not needed") }
	t.Run("GRP-18 layers below the deciding one are not opened", func(t *testing.T) {
		top := layer(item{"etc/passwd", "alice:x:1:1\n"}, item{"etc/group", "g:x:2:alice\n"})
		f := layerfs.New([]layerfs.Layer{unopened, top}, rootfs.Passwd, rootfs.Group)
		id, err := rootfs.New(f).Resolve(supgroups.Request{ImageUser: "alice"})
		if err != nil || !slices.Equal(id.GIDs(), []uint32{1, 2}) || f.Opened() != 1 {
			t.Errorf("Resolve(…) = %v, %v after opening %d layers, want [1 2] after 1", id, err, f.Opened())
		}
	})
	t.Run("GRP-18 both files and their directory cost one pass", func(t *testing.T) {
		layers := []layerfs.Layer{layer(item{"etc/passwd", "p"}), layer(item{"etc/group", "g"}), layer(item{"bin/sh", "x"})}
		f := layerfs.New(layers, rootfs.Passwd, rootfs.Group)
		p, err := read(f, rootfs.Passwd)
		g, err2 := read(f, rootfs.Group)
		if p != "p" || g != "g" || err != nil || err2 != nil || f.Opened() != 3 {
			t.Errorf("read %q %v, %q %v after opening %d layers, want 3", p, err, g, err2, f.Opened())
		}
	})
}

// unpacked is the obvious model: layers applied one after the other to a map.
func unpacked(layers [][]item) map[string]string {
	tree := map[string]string{}
	remove := func(name string) {
		for p := range tree {
			if p == name || strings.HasPrefix(p, name+"/") {
				delete(tree, p)
			}
		}
	}
	for _, items := range layers {
		for _, it := range items {
			dir, base := path.Split(it.name)
			if base == ".wh..wh..opq" {
				for p := range tree {
					if strings.HasPrefix(p, dir) {
						delete(tree, p)
					}
				}
			} else if hidden, ok := strings.CutPrefix(base, ".wh."); ok {
				remove(dir + hidden)
			}
		}
		for _, it := range items {
			if strings.HasPrefix(path.Base(it.name), ".wh.") {
				continue
			}
			for i := range it.name {
				if p := it.name[:i]; it.name[i] == '/' && tree[p] != "/" {
					remove(p)
					tree[p] = "/"
				}
			}
			if it.value == "/" && tree[it.name] == "/" {
				continue
			}
			remove(it.name)
			tree[it.name] = it.value
		}
	}
	return tree
}

func TestLayersLaw(t *testing.T) {
	t.Run("GRP-18 GRP-7 the view is what unpacking gives", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			layers := drawLayers(t)
			var views []layerfs.Layer
			for _, items := range layers {
				views = append(views, layer(items...))
			}
			f, want := layerfs.New(views), unpacked(layers)
			for _, name := range []string{"a", "a/b", "a/c", "a/b/c", "d"} {
				if got, exp := describe(f, name), cmpOr(want[name], "missing"); got != exp {
					t.Fatalf("%s is %q, want %q, in %v", name, got, exp, layers)
				}
			}
		})
	})
}

// drawLayers makes layers in which no path is both a file and a directory: real archives have none.
func drawLayers(t *rapid.T) [][]item {
	names := rapid.SampledFrom([]string{"a", "a/b", "a/c", "a/b/c", "d", ".wh.a", "a/.wh.b", "a/.wh.c", "a/.wh..wh..opq", "a/b/.wh.c", ".wh..wh..opq", ".wh.d"})
	var layers [][]item
	for l := range rapid.IntRange(1, 4).Draw(t, "layers") {
		var items []item
		kinds := map[string]string{}
		for i := range rapid.IntRange(0, 5).Draw(t, "entries") {
			it := item{names.Draw(t, "name"), fmt.Sprintf("%d.%d", l, i)}
			if strings.Contains(it.name, ".wh.") {
				it.value = ""
			} else if rapid.Bool().Draw(t, "dir") {
				it.value = "/"
			}
			if fits(kinds, it) {
				items = append(items, it)
			}
		}
		layers = append(layers, items)
	}
	return layers
}

func fits(kinds map[string]string, it item) bool {
	if strings.Contains(it.name, ".wh.") {
		dir := path.Dir(it.name)
		return dir == "." || kinds[dir] != "file"
	}
	kind := "file"
	if it.value == "/" {
		kind = "dir"
	}
	if k := kinds[it.name]; k != "" && k != kind {
		return false
	}
	for p := path.Dir(it.name); p != "."; p = path.Dir(p) {
		if kinds[p] == "file" {
			return false
		}
	}
	for p := path.Dir(it.name); p != "."; p = path.Dir(p) {
		kinds[p] = "dir"
	}
	kinds[it.name] = kind
	return true
}

func describe(f *layerfs.FS, name string) string {
	info, err := f.Lstat(name)
	if err != nil {
		return "missing"
	}
	if info.IsDir() {
		return "/"
	}
	file, err := f.Open(name)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	b, _ := io.ReadAll(file)
	return string(b)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func FuzzLayer(f *testing.F) {
	for _, l := range []layerfs.Layer{
		layer(item{"etc/passwd", "alice:x:1:1\n"}, item{"etc/group", "g:x:2:alice\n"}),
		layer(item{"etc", "->usr"}, item{"usr/passwd", "=>usr/group"}, item{"usr/.wh.group", ""}),
		layer(item{"etc/.wh..wh..opq", ""}, item{"etc/passwd", "->../../.."}),
	} {
		r, err := l()
		if err != nil {
			f.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, b)
	}
	f.Fuzz(func(t *testing.T, lower, upper []byte) {
		open := func(b []byte) layerfs.Layer {
			return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
		}
		view := layerfs.New([]layerfs.Layer{open(lower), open(upper)}, rootfs.Passwd, rootfs.Group)
		id, err := rootfs.New(view).Resolve(supgroups.Request{ImageUser: "alice"})
		if err == nil && (len(id.Groups) == 0 || id.UID > supgroups.MaxID) {
			t.Fatalf("Resolve(…) = %v", id)
		}
	})
}
