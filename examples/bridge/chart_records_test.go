package bridge_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
)

// recording is what a webhook's pod has to do with its files.
type recording struct {
	flags  map[string]string
	volume *corev1.Volume
	notes  string
}

func recordingOf(t *testing.T, values mapping) recording {
	t.Helper()
	objects, notes, err := loadChart(t).Render(bridge.Release{Values: values})
	if err != nil {
		t.Fatal(err)
	}
	pod := typed[appsv1.Deployment](t, objects, "Deployment", "lanyard-bridge-webhook").Spec.Template.Spec
	out := recording{flags: map[string]string{}, notes: strings.Join(strings.Fields(notes), " ")}
	for _, arg := range pod.Containers[0].Args[1:] {
		flag, value, _ := strings.Cut(arg, "=")
		out.flags[flag] = value
	}
	if i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "records" }); i >= 0 {
		out.volume = &pod.Volumes[i]
	}
	mounted := slices.ContainsFunc(pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "records" })
	if mounted != (out.volume != nil) {
		t.Errorf("volume %v, mounted %v", out.volume, mounted)
	}
	return out
}

func TestChartRecords(t *testing.T) {
	for name, test := range map[string]struct {
		webhook mapping
		files   int64
		limit   string
	}{
		"as it is":            {mapping{}, 1, "1Gi"},
		"audit events beside": {mapping{"auditEvents": true}, 2, "2Gi"},
		"audit events alone":  {mapping{"auditEvents": true, "records": mapping{"stdout": true}}, 1, "1Gi"},
		"few and small files": {mapping{"records": mapping{"fileMiB": 1, "keep": 1}}, 1, "3Mi"},
	} {
		t.Run("BRG-12 a flood of sessions does not fill the volume: "+name, func(t *testing.T) {
			got := recordingOf(t, mapping{"webhook": test.webhook})
			size, err := strconv.ParseInt(got.flags["--records-max-bytes"], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			keep, err := strconv.ParseInt(got.flags["--records-keep"], 10, 64)
			if err != nil || keep == 0 {
				t.Fatal(keep, err)
			}
			limit := got.volume.EmptyDir.SizeLimit
			// One more than those that are kept and the one that is written: until it is deleted.
			if need := test.files * size * (keep + 2); limit.String() != test.limit || limit.Value() < need {
				t.Errorf("limit %s, want %s and at least %d", limit, test.limit, need)
			}
			if !strings.Contains(got.notes, "go with the webhook's pods (webhook.records.existingClaim is empty), and the oldest of a pod") {
				t.Errorf("the notes do not say what is lost:\n%s", got.notes)
			}
		})
	}
	t.Run("BRG-12 records on standard output need no volume", func(t *testing.T) {
		got := recordingOf(t, mapping{"webhook": mapping{"records": mapping{"stdout": true}}})
		if _, there := got.flags["--records-max-bytes"]; there || got.volume != nil || got.flags["--records-file"] != "-" || strings.Contains(got.notes, "oldest") {
			t.Errorf("%v, %v", got.flags, got.volume)
		}
	})
	t.Run("BRG-12 with a claim all can be kept", func(t *testing.T) {
		got := recordingOf(t, mapping{"webhook": mapping{"records": mapping{"existingClaim": "c", "keep": 0}}})
		if got.flags["--records-keep"] != "0" || got.volume.PersistentVolumeClaim == nil || strings.Contains(got.notes, "oldest") {
			t.Errorf("%v, %v", got.flags, got.volume)
		}
	})
	t.Run("BRG-9 what becomes of an unrecorded session, how long a token is good, and where audit events go", func(t *testing.T) {
		for _, test := range []struct {
			webhook mapping
			want    map[string]string
		}{
			{mapping{}, map[string]string{"--record-failure": "refuse", "--token-lifetime": "60s", "--audit-file": ""}},
			{
				mapping{"recordFailure": "allow", "tokenLifetime": "10m", "auditEvents": true},
				map[string]string{"--record-failure": "allow", "--token-lifetime": "10m", "--audit-file": "/records/audit-$(POD_NAME).jsonl"},
			},
		} {
			got := recordingOf(t, mapping{"webhook": test.webhook})
			for flag, want := range test.want {
				if got.flags[flag] != want {
					t.Errorf("%s=%s, want %s", flag, got.flags[flag], want)
				}
			}
		}
	})
}

func TestChartSecretPath(t *testing.T) {
	const shown = "while the webhook does not answer, the API server shows its URL, with the path's secret, to whoever execs"
	for name, test := range map[string]struct {
		webhook mapping
		says    []string
		not     string
	}{
		"as it is": {mapping{}, []string{shown, "set webhook.apiServerCIDRs", "--set-string webhook.pathSecret="}, ""},
		"with addresses": {
			mapping{"apiServerCIDRs": []any{"192.0.2.10/32"}}, []string{shown, "keep webhook.apiServerCIDRs narrow", "--set-string webhook.pathSecret="}, "",
		},
		"with client certificates":    {mapping{"clientCAConfigMap": "callers"}, nil, shown},
		"when sessions are let go on": {mapping{"failurePolicy": "Ignore"}, nil, shown},
	} {
		t.Run("BRG-12 the notes say who is shown the secret path: "+name, func(t *testing.T) {
			notes := recordingOf(t, mapping{"webhook": test.webhook}).notes
			for _, part := range test.says {
				if !strings.Contains(notes, part) {
					t.Errorf("no %q in\n%s", part, notes)
				}
			}
			if test.not != "" && strings.Contains(notes, test.not) {
				t.Errorf("%q in\n%s", test.not, notes)
			}
		})
	}
}
