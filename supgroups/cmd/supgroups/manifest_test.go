package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lanyard-dev/lanyard/supgroups/cmd/supgroups/internal/report"
)

const (
	podA  = "kind: Pod\nmetadata: {namespace: ns, name: a}\nspec: {containers: [{name: ca}]}\n"
	podB  = "kind: Pod\nmetadata: {namespace: ns, name: b}\nspec: {containers: [{name: cb}]}\n"
	jsonA = `{"kind":"Pod","metadata":{"namespace":"ns","name":"a"},"spec":{"containers":[{"name":"ca"}]}}`
	jsonB = `{"kind":"Pod","metadata":{"namespace":"ns","name":"b"},"spec":{"containers":[{"name":"cb"}]}}`
)

func TestManifestDocuments(t *testing.T) {
	archive := writeArchive(t, filepath.Join(t.TempDir(), "kep.tar"), kepImage(t))
	explain := func(text string, args ...string) (int, string, string) {
		return tool(text, append([]string{"explain", "--image", archive, "--pod", "-"}, args...)...)
	}
	both := map[string]string{
		"two documents":                     podA + "---\n" + podB,
		"the marker before the first too":   "---\n" + podA + "---\n" + podB,
		"directives and comments":           "# pods\n%YAML 1.1\n---\n" + podA + "...\n%YAML 1.1\n# b\n---\n" + podB,
		"a document after the end marker":   podA + "...\n" + podB,
		"empty documents between":           podA + "---\n---\n# nothing\n---\n" + podB + "---\n",
		"a marker with a comment":           podA + "--- # next\n" + podB,
		"CRLF":                              strings.ReplaceAll(podA+"---\n"+podB, "\n", "\r\n"),
		"content on the marker's line":      podA + "--- " + jsonB + "\n",
		"JSON documents between markers":    jsonA + "\n---\n" + jsonB,
		"newline-delimited JSON":            jsonA + "\n" + jsonB + "\n",
		"JSON values without anything else": jsonA + jsonB,
		"a List":                            "kind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(podA), "\n", "\n  ") + "\n- " + jsonB + "\n",
		"a PodList in JSON":                 `{"kind":"PodList","items":[` + jsonA + "," + jsonB + "]}",
		"a List and a pod":                  `{"kind":"List","items":[` + jsonA + "]}\n---\n" + podB,
	}
	for name, text := range both {
		t.Run("GRP-18 all are explained: "+name, func(t *testing.T) {
			code, out, errs := explain(text)
			if code != 0 || errs != "" || !strings.Contains(out, "container ca,") || !strings.Contains(out, "container cb,") {
				t.Errorf("explain = %d\n%s%s, want both pods", code, out, errs)
			}
			if !strings.Contains(out, "pod ns/a, ") || !strings.Contains(out, "pod ns/b, ") {
				t.Errorf("explain does not say which pod is which:\n%s", out)
			}
		})
	}
	// Each refusal names its place, and the pod beside it is explained all the same.
	refused := map[string]struct{ text, place string }{
		"another kind":                 {podA + "---\nkind: Deployment\n", "document 2: "},
		"another kind first":           {"kind: Service\n---\n" + podA, "document 1: "},
		"broken YAML":                  {"a: [\n---\n" + podA, "document 1: "},
		"broken YAML after it":         {podA + "---\na: [\n", "document 2: "},
		"a scalar":                     {podA + "---\nhello\n", "document 2: "},
		"a sequence of pods":           {podA + "---\n- " + jsonB + "\n", "document 2: "},
		"no kind and no containers":    {podA + "---\nspec: {}\n", "document 2: "},
		"a pod without containers":     {podA + "---\nkind: Pod\n", "document 2: "},
		"a key twice":                  {podA + "---\n" + podB + "spec: {containers: [{name: hidden}]}\n", "document 2: "},
		"a field of the wrong type":    {podA + "---\nkind: Pod\nspec: {containers: 7}\n", "document 2: "},
		"an item of another kind":      {`{"kind":"List","items":[{"kind":"Node"},` + jsonA + `]}`, "document 1 items[0]: "},
		"a broken item":                {`{"kind":"List","items":[` + jsonA + `,{"kind":"Pod","spec":7}]}`, "document 1 items[1]: "},
		"an empty item":                {`{"kind":"List","items":[` + jsonA + `,null]}`, "document 1 items[1]: "},
		"a List in a List":             {`{"kind":"List","items":[` + jsonA + `,{"kind":"List","items":[` + jsonB + `]}]}`, "document 1 items[1]: "},
		"a list of other things":       {podA + "---\nkind: NodeList\nitems: [{}]\n", "document 2: "},
		"JSON cut off":                 {jsonA + "\n" + `{"kind":"Po`, "document 2: "},
		"text after JSON":              {jsonA + "\nmore\n", "document 2: "},
		"an unknown policy":            {podA + "---\nspec: {securityContext: {supplementalGroupsPolicy: merge}, containers: [{name: cb}]}\n", `document 2: container "cb": `},
		"a line break only YAML knows": {podA + "---\n" + podB + "\r---\r" + podB, "document 2: "},
		"NEL for a line break":         {podA + "---\nkind: Pod\u0085---\u0085kind: Pod\u0085", "document 2: "},
	}
	for name, c := range refused {
		for _, format := range []string{"table", "json"} {
			t.Run("GRP-18 refused by place as "+format+": "+name, func(t *testing.T) {
				code, out, errs := explain(c.text, "-o", format)
				if code != 2 || !strings.Contains(errs, c.place) || strings.Count(errs, "\n") != 1 {
					t.Errorf("explain = %d\n%s, want 2 and one line with %q", code, errs, c.place)
				}
				if !strings.Contains(out, "ca") || strings.Contains(out, "hidden") || strings.Contains(out, "cb") {
					t.Errorf("explain printed\n%s\nwant the pod beside it", out)
				}
			})
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "comments": "# nothing\n", "empty documents": "---\n---\n", "null": "null\n", "an empty List": `{"kind":"List","items":[]}`,
	} {
		t.Run("GRP-18 no pod is no success: "+name, func(t *testing.T) {
			for _, format := range []string{"table", "json"} {
				if code, out, errs := explain(text, "-o", format); code != 2 || out != "" || !strings.Contains(errs, "no pod") {
					t.Errorf("explain = %d %q %q, want 2 and a message", code, out, errs)
				}
			}
		})
	}
	t.Run("GRP-18 JSON says which pod and which document", func(t *testing.T) {
		_, out, _ := explain(podA+"---\n"+podB, "-o", "json")
		var got []report.Explanation
		check(t, json.Unmarshal([]byte(out), &got))
		if len(got) != 2 || got[1].Pod != "b" || got[1].Namespace != "ns" || got[1].Place != "document 2" {
			t.Errorf("explain = %+v", got)
		}
	})
	t.Run("GRP-18 --container looks in every document", func(t *testing.T) {
		code, out, errs := explain(podA+"---\n"+podB, "--container", "cb")
		if code != 0 || strings.Contains(out, "container ca") || !strings.Contains(out, "container cb") {
			t.Errorf("explain = %d\n%s%s", code, out, errs)
		}
	})
	t.Run("GRP-18 ephemeral containers are explained", func(t *testing.T) {
		code, out, errs := explain(`{"spec":{"containers":[{"name":"c"}],"ephemeralContainers":[{"name":"debug"}]}}`)
		if code != 0 || !strings.Contains(out, "container debug,") {
			t.Errorf("explain = %d\n%s%s", code, out, errs)
		}
	})
	t.Run("GRP-18 one image that cannot be read does not silence the other containers", func(t *testing.T) {
		text := `{"spec":{"containers":[{"name":"gone","image":"./gone"},{"name":"bad","image":"A"}]}}`
		code, out, errs := tool(text, "explain", "--pod", "-")
		if code != 2 || out != "" || !strings.Contains(errs, `container "gone"`) || !strings.Contains(errs, `container "bad"`) {
			t.Errorf("explain = %d %q\n%s, want both named", code, out, errs)
		}
	})
}

func TestScanDocuments(t *testing.T) {
	archive := "kep=" + writeArchive(t, filepath.Join(t.TempDir(), "kep.tar"), kepImage(t))
	const (
		list  = `{"kind":"List","items":[{"kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"kep"}]}}]}`
		other = `{"items":[{"kind":"Pod","metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"kep"}]}}],"kind":"PodList"}`
	)
	for name, text := range map[string]string{
		"two lists":                list + "\n" + other,
		"without a newline":        list + other,
		"a list's items key twice": strings.TrimSuffix(list, "}") + `,` + strings.TrimPrefix(other, "{"),
	} {
		t.Run("GRP-18 all are scanned: "+name, func(t *testing.T) {
			code, out, errs := tool(text, "scan", "--image", archive)
			if code != 1 || !strings.Contains(out, "2 pods,") || errs != "" {
				t.Errorf("scan = %d\n%s%s, want two pods", code, out, errs)
			}
		})
	}
	for name, c := range map[string]struct{ text, place string }{
		"text after the list":      {list + "\nmore", "document 2: "},
		"YAML after the list":      {list + "\n---\n" + podA, "document 2: "},
		"a pod after the list":     {list + "\n" + jsonA, "document 2: "},
		"another list after it":    {list + "\n" + `{"items":[{"kind":"Node"}]}`, "document 2: items[0]: "},
		"a list's end missing":     {strings.TrimSuffix(list, "}"), "document 1: "},
		"a list of another kind":   {`{"kind":"NodeList","items":[{"metadata":{"name":"node"}}]}`, "document 1: "},
		"its kind after the items": {`{"items":[],"kind":"NodeList"}`, "document 1: "},
		"items that are no pods":   {`{"items":[{"metadata":{"name":"node"}}]}`, "document 1: items[0]: "},
		"an empty item":            {`{"items":[null]}`, "document 1: items[0]: "},
		"one chunk of a list":      {`{"kind":"PodList","items":[],"metadata":{"continue":"token"}}`, "document 1: "},
		"nothing":                  {"", "document 1: "},
	} {
		t.Run("GRP-18 refused by place: "+name, func(t *testing.T) {
			code, out, errs := tool(c.text, "scan", "--image", archive)
			if code != 2 || out != "" || !strings.Contains(errs, c.place) || strings.Count(errs, "\n") != 1 {
				t.Errorf("scan = %d\n%s%s, want 2 and %q", code, out, errs, c.place)
			}
		})
	}
}
