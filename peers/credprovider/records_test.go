package credprovider_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/kubelet/config/v1beta1"

	"github.com/lanyard-dev/lanyard/credprovider"
	"github.com/lanyard-dev/lanyard/credprovider/pulled"
)

func TestRecords(t *testing.T) {
	moment := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	theirs := upstream.ImagePulledRecord{
		TypeMeta:        metav1.TypeMeta{Kind: "ImagePulledRecord", APIVersion: upstream.SchemeGroupVersion.String()},
		LastUpdatedTime: metav1.NewTime(moment), ImageRef: "sha256:1",
		CredentialMapping: map[string]upstream.ImagePullCredentials{
			"a.io/x": {KubernetesSecrets: []upstream.ImagePullSecret{{UID: "1", Namespace: "n", Name: "s", CredentialHash: "h"}}, KubernetesServiceAccounts: []upstream.ImagePullServiceAccount{{UID: "2", Namespace: "n", Name: "sa"}}},
			"b.io/x": {NodePodsAccessible: true},
		},
	}
	want, err := json.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("CRP-20 records are upstream's bytes, both ways", func(t *testing.T) {
		ours, err := pulled.DecodeRecord(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(ours); err != nil || string(got) != string(want) {
			t.Errorf("record = %s, %v, want %s", got, err, want)
		}
	})
	t.Run("CRP-30 files are where and what upstream's are", func(t *testing.T) {
		dir := t.TempDir()
		s, err := pulled.Open(dir, pulled.Options{Now: func() time.Time { return moment }})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Begin("a.io/x:1"); err != nil {
			t.Fatal(err)
		}
		// sha256 of "a.io/x:1" and of "sha256:1", as a kubelet names the files.
		var intent upstream.ImagePullIntent
		read(t, filepath.Join(dir, "image_manager", "pulling"), &intent)
		if intent.Image != "a.io/x:1" || intent.Kind != "ImagePullIntent" || intent.APIVersion != upstream.SchemeGroupVersion.String() {
			t.Errorf("intent = %+v", intent)
		}
		account := credprovider.AccountRef{UID: "2", Namespace: "n", Name: "sa"}
		if err := s.Complete("a.io/x:1", "sha256:1", pulled.Access{Accounts: []credprovider.AccountRef{account}}); err != nil {
			t.Fatal(err)
		}
		var record upstream.ImagePulledRecord
		read(t, filepath.Join(dir, "image_manager", "pulled"), &record)
		if !record.LastUpdatedTime.Time.Equal(moment) || record.ImageRef != "sha256:1" || !reflect.DeepEqual(record.CredentialMapping["a.io/x"].KubernetesServiceAccounts, theirs.CredentialMapping["a.io/x"].KubernetesServiceAccounts) {
			t.Errorf("record = %+v", record)
		}
	})
}

func read(t *testing.T, dir string, into any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "sha256-*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s holds %v, %v", dir, files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
