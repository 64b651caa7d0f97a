package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// TestLocalImages works in a directory that holds an archive and a layout under names that pods use for images.
func TestLocalImages(t *testing.T) {
	manifest, err := filepath.Abs("testdata/kep-pod.yaml")
	check(t, err)
	server := httptest.NewServer(registry.New())
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	ref, err := name.ParseReference(host + "/app:1")
	check(t, err)
	pushed := makeImage(t, "", map[string]string{"etc/passwd": "root:x:0:0\n", "etc/group": "pushed:x:77:root\n"})
	check(t, remote.Write(ref, pushed))
	digest, err := pushed.Digest()
	check(t, err)
	digestRef := host + "/app@" + digest.String()

	dir := t.TempDir()
	t.Chdir(dir)
	archive := writeArchive(t, filepath.Join(dir, "app.tar"), kepImage(t))
	check(t, os.Mkdir(filepath.Join(dir, host), 0o755))
	for _, trap := range []string{host + "/app:1", digestRef} {
		writeArchive(t, filepath.Join(dir, trap), kepImage(t))
	}
	writeLayout(t, filepath.Join(dir, "layout"), kepImage(t))
	check(t, os.Symlink("app.tar", filepath.Join(dir, "link.tar")))
	check(t, os.WriteFile(filepath.Join(dir, "Upper.tar"), nil, 0o600))

	const pod = `{"spec":{"containers":[{"name":"c","image":%q}]}%s}`
	t.Run("GRP-18 a pod's image never reads a file of its name, in explain", func(t *testing.T) {
		code, out, errs := tool(fmt.Sprintf(pod, host+"/app:1", ""), "explain", "--pod", "-")
		if code != 0 || !strings.Contains(out, `image group "pushed"`) {
			t.Errorf("explain = %d\n%s%s, want the registry's image", code, out, errs)
		}
	})
	t.Run("GRP-18 a pod's image never reads a file of its name, in scan", func(t *testing.T) {
		for _, status := range []string{"", `,"status":{"containerStatuses":[{"name":"c","imageID":"` + digestRef + `"}]}`} {
			code, out, errs := tool(`{"items":[`+fmt.Sprintf(pod, host+"/app:1", status)+`]}`, "scan")
			if code != 1 || !strings.Contains(out, `77 "pushed"`) {
				t.Errorf("scan = %d\n%s%s, want the registry's image", code, out, errs)
			}
		}
	})
	t.Run("GRP-18 a pod's image in the form of a path is refused", func(t *testing.T) {
		for _, image := range []string{archive, "./app.tar", "../" + filepath.Base(dir) + "/app.tar", "./layout", "./link.tar"} {
			code, out, errs := tool(fmt.Sprintf(pod, image, ""), "explain", "--pod", "-")
			if code != 2 || out != "" || !strings.Contains(errs, "a path is not a reference") {
				t.Errorf("explain of image %q = %d\n%s%s, want 2", image, code, out, errs)
			}
			code, out, errs = tool(`{"items":[`+fmt.Sprintf(pod, image, "")+`]}`, "scan")
			if code != 3 || !strings.Contains(out, "a path is not a reference") {
				t.Errorf("scan of image %q = %d\n%s%s, want 3", image, code, out, errs)
			}
		}
	})
	t.Run("GRP-18 --image is local when it begins as a path", func(t *testing.T) {
		for _, where := range []string{archive, "./app.tar", "./layout", "../" + filepath.Base(dir) + "/app.tar", "./link.tar"} {
			code, out, errs := tool("", "explain", "--image", where, "--pod", manifest)
			if code != 0 || out != kepTable {
				t.Errorf("explain --image %s = %d\n%s%s", where, code, out, errs)
			}
		}
	})
	t.Run("GRP-18 --image is a reference otherwise, whatever files there are", func(t *testing.T) {
		code, out, errs := tool(fmt.Sprintf(pod, "x", ""), "explain", "--image", host+"/app:1", "--pod", "-")
		if code != 0 || !strings.Contains(out, `image group "pushed"`) {
			t.Errorf("explain = %d\n%s%s, want the registry's image", code, out, errs)
		}
		code, out, errs = tool(`{"items":[`+fmt.Sprintf(pod, "x", "")+`]}`, "scan", "--image", "x="+host+"/app:1")
		if code != 1 || !strings.Contains(out, `77 "pushed"`) {
			t.Errorf("scan = %d\n%s%s, want the registry's image", code, out, errs)
		}
	})
	t.Run("GRP-18 a reference that fails and is a file's name says how to write a path", func(t *testing.T) {
		code, _, errs := tool("", "explain", "--image", "Upper.tar", "--pod", manifest)
		if code != 2 || !strings.Contains(errs, `"./Upper.tar"`) {
			t.Errorf("explain = %d %s, want a hint", code, errs)
		}
		code, _, errs = tool(fmt.Sprintf(pod, "Upper.tar", ""), "explain", "--pod", "-")
		if code != 2 || strings.Contains(errs, "./") {
			t.Errorf("explain of a pod's image = %d %s, want no word about local files", code, errs)
		}
	})
	t.Run("GRP-18 a path that is neither file nor directory is refused, not waited for", func(t *testing.T) {
		code, _, errs := tool("", "explain", "--image", os.DevNull, "--pod", manifest)
		if code != 2 || !strings.Contains(errs, "neither a file nor a directory") {
			t.Errorf("explain = %d %s", code, errs)
		}
	})
}
