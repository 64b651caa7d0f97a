package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/report"
)

func tool(stdin string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, streams{in: strings.NewReader(stdin), out: &o, err: &e})
	return code, o.String(), e.String()
}

const kepTable = `container main, policy Merge, image user "alice"
uid 1000 (runAsUser)
gid 1000 (runAsGroup)
GROUP  MERGE  STRICT  ORIGIN
1000   yes    yes     primary group
50000  yes    -       image group "group-in-image"
60000  yes    yes     requested
`

func TestExplain(t *testing.T) {
	dir := t.TempDir()
	server := httptest.NewServer(registry.New())
	defer server.Close()
	ref := strings.TrimPrefix(server.URL, "http://") + "/app:1"
	tag, err := name.ParseReference(ref)
	check(t, err)
	check(t, remote.Write(tag, kepImage(t)))
	sources := map[string]string{
		"GRP-18 GRP-9 a docker archive": writeArchive(t, filepath.Join(dir, "app.tar"), kepImage(t)),
		"GRP-18 GRP-9 an OCI layout":    writeLayout(t, filepath.Join(dir, "layout"), kepImage(t)),
		"GRP-18 GRP-9 a registry":       ref,
	}
	for name, where := range sources {
		t.Run(name, func(t *testing.T) {
			code, out, errs := tool("", "explain", "--image", where, "--pod", "testdata/kep-pod.yaml")
			if code != 0 || out != kepTable || errs != "" {
				t.Errorf("explain = %d\n%s%s, want 0\n%s", code, out, errs, kepTable)
			}
		})
	}
	archive := sources["GRP-18 GRP-9 a docker archive"]
	t.Run("GRP-18 JSON", func(t *testing.T) {
		code, out, errs := tool("", "explain", "-o", "json", "--image", archive, "--pod", "testdata/kep-pod.yaml")
		var got []report.Explanation
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || errs != "" {
			t.Fatalf("explain = %d %s %s, %v", code, out, errs, err)
		}
		want := report.Group{ID: 50000, Merge: true, Origin: "image group", ImageName: "group-in-image"}
		if len(got) != 1 || len(got[0].Groups) != 3 || got[0].Groups[1] != want || got[0].UID != 1000 {
			t.Errorf("explain = %+v", got)
		}
	})
	t.Run("GRP-2 GRP-18 it says when the image chose the primary group", func(t *testing.T) {
		pod := `{"spec":{"securityContext":{"supplementalGroupsPolicy":"Strict"},"containers":[{"name":"c"}]}}`
		code, out, errs := tool(pod, "explain", "--image", archive, "--pod", "-")
		if code != 0 || !strings.Contains(out, "gid 1000 (image passwd)") || !strings.Contains(out, "uid 1000 (image user)") {
			t.Errorf("explain = %d\n%s%s", code, out, errs)
		}
	})
	t.Run("GRP-3 GRP-7 GRP-18 an image without a user, and rows that nobody should use", func(t *testing.T) {
		odd := writeArchive(t, filepath.Join(dir, "odd.tar"), makeImage(t, "", map[string]string{
			"etc/passwd": "root:x:0:0\n", "etc/group": "wheel:x:10:root\nbroken:x:99999999999:root\n",
		}))
		code, out, _ := tool(`{"spec":{"containers":[{"name":"c"}]}}`, "explain", "--image", odd, "--pod", "-")
		if code != 0 || !strings.Contains(out, "uid 0 (runtime default)") || !strings.Contains(out, "never used: 1\n  etc/group:2: id out of range\n") {
			t.Errorf("explain = %d\n%s", code, out)
		}
	})
	t.Run("GRP-7 GRP-18 names from an image cannot drive the terminal", func(t *testing.T) {
		evil := writeArchive(t, filepath.Join(dir, "evil.tar"), makeImage(t, "a\x1b[2J", map[string]string{
			"etc/passwd": "a\x1b[2J:x:5:5\n", "etc/group": "g\x1b]0;x\x07:x:8:a\x1b[2J\n",
		}))
		code, out, _ := tool(`{"spec":{"containers":[{"name":"c"}]}}`, "explain", "--image", evil, "--pod", "-")
		if code != 0 || strings.ContainsAny(out, "\x1b\x07") || !strings.Contains(out, `image group "g\x1b]0;x\a"`) {
			t.Errorf("explain = %d %q", code, out)
		}
	})
	refused := map[string][]string{
		"GRP-18 no pod":             {"explain", "--image", archive},
		"GRP-18 a missing pod":      {"explain", "--image", archive, "--pod", "testdata/none.yaml"},
		"GRP-18 a missing image":    {"explain", "--image", "./testdata/none.tar", "--pod", "testdata/kep-pod.yaml"},
		"GRP-18 no such container":  {"explain", "--image", archive, "--pod", "testdata/kep-pod.yaml", "--container", "other"},
		"GRP-18 an unknown format":  {"explain", "--image", archive, "--pod", "testdata/kep-pod.yaml", "-o", "xml"},
		"GRP-18 a bad platform":     {"explain", "--image", archive, "--pod", "testdata/kep-pod.yaml", "--platform", "a/b/c/d"},
		"GRP-18 an unknown command": {"explode"},
	}
	for name, args := range refused {
		t.Run(name+" is exit code 2", func(t *testing.T) {
			if code, out, errs := tool("", args...); code != 2 || errs == "" || out != "" {
				t.Errorf("%v = %d, %q, %q, want 2 and a message", args, code, out, errs)
			}
		})
	}
}

// dump is a list of pods as kubectl prints it.
const dump = `{"apiVersion":"v1","kind":"List","metadata":{},"items":[
{"kind":"Pod","metadata":{"namespace":"b","name":"strict"},"spec":{
  "securityContext":{"supplementalGroupsPolicy":"Strict","supplementalGroups":[60000]},
  "containers":[{"name":"main","image":"kep"}]}},
{"kind":"Pod","metadata":{"namespace":"b","name":"merge"},"spec":{
  "securityContext":{"supplementalGroupsPolicy":"Merge","fsGroup":50000},
  "containers":[{"name":"main","image":"kep"}]}},
{"kind":"Pod","metadata":{"namespace":"a","name":"unset"},"spec":{
  "initContainers":[{"name":"init","image":"plain"}],
  "containers":[{"name":"main","image":"kep"}]},
 "status":{"containerStatuses":[{"name":"main","user":{"linux":{"uid":1000,"gid":1000,"supplementalGroups":[1000,50000]}}}]}},
{"kind":"Pod","metadata":{"namespace":"a","name":"windows"},"spec":{"os":{"name":"windows"},"containers":[{"name":"main","image":"nowhere"}]}}
]}`

func TestScan(t *testing.T) {
	dir := t.TempDir()
	kep := "kep=" + writeArchive(t, filepath.Join(dir, "kep.tar"), kepImage(t))
	plain := "plain=" + writeArchive(t, filepath.Join(dir, "plain.tar"), makeImage(t, "", map[string]string{"etc/passwd": kepPasswd}))
	t.Run("GRP-18 what nobody asked for, what Strict takes away, how many pods set the field", func(t *testing.T) {
		code, out, errs := tool(dump, "scan", "--image", kep, "--image", plain)
		want := `NAMESPACE  POD    CONTAINER  POLICY   GROUPS NOBODY ASKED FOR
a          unset  main       (unset)  50000 "group-in-image" (seen)

4 pods, 2 set supplementalGroupsPolicy (1 Strict); 1 of 4 containers hold groups nobody asked for, 0 could not be told.
Strict would take away: 50000
`
		if code != 1 || out != want || errs != "" {
			t.Errorf("scan = %d\n%s%s, want 1\n%s", code, out, errs, want)
		}
		readme, err := os.ReadFile("README.md")
		check(t, err)
		if !strings.Contains(string(readme), kepTable) || !strings.Contains(string(readme), want) {
			t.Errorf("README.md does not show both this scan\n%s\nand this explanation\n%s", want, kepTable)
		}
	})
	t.Run("GRP-18 JSON from a file", func(t *testing.T) {
		path := filepath.Join(dir, "pods.json")
		check(t, os.WriteFile(path, []byte(dump), 0o600))
		code, out, _ := tool("", "scan", path, "-o", "json", "--image", kep, "--image", plain)
		var got report.Summary
		check(t, json.Unmarshal([]byte(out), &got))
		if code != 1 || got.Pods != 4 || got.PolicySet != 2 || got.Strict != 1 || fmt.Sprint(got.TakenAway) != "[50000]" ||
			len(got.Findings) != 1 || got.Findings[0].Groups[0] != (report.Unasked{ID: 50000, ImageName: "group-in-image", Predicted: true, Observed: true}) {
			t.Errorf("scan = %d %+v", code, got)
		}
	})
	t.Run("GRP-18 nothing found is exit code 0", func(t *testing.T) {
		code, out, _ := tool(`{"items":[]}`, "scan")
		if code != 0 || !strings.Contains(out, "Strict would take nothing away.") {
			t.Errorf("scan = %d\n%s", code, out)
		}
	})
	const one = `{"items":[{"metadata":{"namespace":"n","name":"p"},"spec":{"securityContext":{"supplementalGroupsPolicy":"Strict"},"containers":[{"name":"c","image":"gone"}]}%s}]}`
	t.Run("GRP-18 an image that cannot be read is exit code 3", func(t *testing.T) {
		code, out, _ := tool(fmt.Sprintf(one, ""), "scan", "--image", "gone="+filepath.Join(dir, "gone", ":"))
		if code != 3 || !strings.Contains(out, "cannot tell") {
			t.Errorf("scan = %d\n%s", code, out)
		}
	})
	t.Run("GRP-18 then the status still tells, also of a runtime that ignores Strict", func(t *testing.T) {
		status := `,"status":{"containerStatuses":[{"name":"c","user":{"linux":{"uid":1,"gid":1,"supplementalGroups":[1,998]}}}]}`
		code, out, _ := tool(fmt.Sprintf(one, status), "scan", "--image", "gone="+filepath.Join(dir, "gone", ":"))
		if code != 1 || !strings.Contains(out, "998 (seen, not from this image's group file)") {
			t.Errorf("scan = %d\n%s", code, out)
		}
	})
	for name, input := range map[string]string{
		"GRP-18 no list":        `{"kind":"Pod","spec":{}}`,
		"GRP-18 no JSON":        `apiVersion: v1`,
		"GRP-18 a list cut off": dump[:len(dump)-3],
		"GRP-18 another kind":   `{"items":[{"kind":"Node"}]}`,
	} {
		t.Run(name+" is exit code 2", func(t *testing.T) {
			if code, out, errs := tool(input, "scan", "--image", kep, "--image", plain); code != 2 || errs == "" || out != "" {
				t.Errorf("scan = %d, %q, %q, want 2 and a message", code, out, errs)
			}
		})
	}
	t.Run("GRP-18 the image that runs is looked at, by its digest", func(t *testing.T) {
		server := httptest.NewServer(registry.New())
		defer server.Close()
		host := strings.TrimPrefix(server.URL, "http://")
		repo, err := name.NewRepository(host + "/app")
		check(t, err)
		ran := kepImage(t)
		digest, err := ran.Digest()
		check(t, err)
		check(t, remote.Write(repo.Digest(digest.String()), ran))
		check(t, remote.Write(repo.Tag("1"), makeImage(t, "", map[string]string{"etc/passwd": kepPasswd})))
		pods := fmt.Sprintf(`{"items":[{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"%[1]s/app:1"}]},"status":{"containerStatuses":[{"name":"c","imageID":"%[1]s/app@%[2]s"}]}}]}`, host, digest)
		if code, out, errs := tool(pods, "scan"); code != 1 || !strings.Contains(out, "50000") {
			t.Errorf("scan = %d\n%s%s", code, out, errs)
		}
	})
}

func Example() {
	tb := &testing.T{}
	dir, err := os.MkdirTemp("", "supgroups")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	archive := writeArchive(tb, filepath.Join(dir, "app.tar"), kepImage(tb))
	code := run(context.Background(), []string{"explain", "--image", archive, "--pod", "testdata/kep-pod.yaml"}, streams{out: os.Stdout, err: os.Stderr})
	fmt.Println("exit code", code)
	// Output:
	// container main, policy Merge, image user "alice"
	// uid 1000 (runAsUser)
	// gid 1000 (runAsGroup)
	// GROUP  MERGE  STRICT  ORIGIN
	// 1000   yes    yes     primary group
	// 50000  yes    -       image group "group-in-image"
	// 60000  yes    yes     requested
	// exit code 0
}
