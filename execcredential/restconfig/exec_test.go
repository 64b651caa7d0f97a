package restconfig_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/lanyard-dev/lanyard/execcredential"
	"github.com/lanyard-dev/lanyard/execcredential/restconfig"
	"github.com/lanyard-dev/lanyard/redact"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestExecConfig(t *testing.T) {
	theirs := clientcmdapi.ExecConfig{
		Command: "c", Args: []string{"a"}, Env: []clientcmdapi.ExecEnvVar{{Name: "n", Value: "v"}}, APIVersion: execcredential.V1,
		InstallHint: "h", ProvideClusterInfo: true, InteractiveMode: clientcmdapi.AlwaysExecInteractiveMode,
		Config: &runtime.Unknown{Raw: []byte(`{"a":1}`)}, StdinUnavailable: true, StdinUnavailableMessage: "m",
		PluginPolicy: clientcmdapi.PluginPolicy{PolicyType: "Allowlist", Allowlist: []clientcmdapi.AllowlistEntry{{Command: "c"}, {}}},
	}
	converted, extension, err := restconfig.FromExecConfig(&theirs)
	if err != nil {
		t.Fatal(err)
	}
	back, _ := restconfig.ToExecConfig(converted)
	back.Config = &runtime.Unknown{Raw: extension.Reveal()}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[clientcmdapi.ExecConfig]()) {
		t.Run("ECR-29 ECR-19 client-go's ExecConfig."+field.Name+" comes over and goes back", func(t *testing.T) {
			want := reflect.ValueOf(theirs).FieldByIndex(field.Index)
			if want.IsZero() {
				t.Fatalf("field %s is new in client-go: say what becomes of it, and set it here", field.Name)
			}
			if got := reflect.ValueOf(*back).FieldByIndex(field.Index); !reflect.DeepEqual(got.Interface(), want.Interface()) {
				t.Errorf("%s = %v, want %v", field.Name, got, want)
			}
		})
	}
	ours := execcredential.ExecConfig{
		Command: "c", Args: redact.Texts("a"), Env: []execcredential.EnvVar{{Name: "n", Value: redact.New("v")}}, APIVersion: execcredential.V1,
		InstallHint: "h", ProvideClusterInfo: true, InteractiveMode: execcredential.InteractiveAlways, StdinUnavailable: true, StdinUnavailableMessage: "m",
		Policy:      execcredential.Policy{Type: execcredential.PolicyAllowlist, Commands: []string{"c"}},
		Impersonate: execcredential.Impersonation{Name: "n", UID: "u", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}}},
	}
	exec, as := restconfig.ToExecConfig(ours)
	again, _, err := restconfig.FromExecConfig(exec)
	if err != nil {
		t.Fatal(err)
	}
	again.Impersonate = execcredential.Impersonation{Name: as.UserName, UID: as.UID, Groups: as.Groups, Extra: as.Extra}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[execcredential.ExecConfig]()) {
		t.Run("ECR-29 ECR-19 our ExecConfig."+field.Name+" goes over and comes back", func(t *testing.T) {
			want := reflect.ValueOf(ours).FieldByIndex(field.Index)
			if want.IsZero() {
				t.Fatalf("field %s is not set in this test", field.Name)
			}
			if got := reflect.ValueOf(again).FieldByIndex(field.Index); !reflect.DeepEqual(got.Interface(), want.Interface()) {
				t.Errorf("%s = %v, want %v", field.Name, got, want)
			}
		})
	}
	t.Run("ECR-29 an impersonation has the fields of client-go's", func(t *testing.T) {
		if got, want := reflect.TypeFor[execcredential.Impersonation]().NumField(), reflect.TypeFor[rest.ImpersonationConfig]().NumField(); got != want {
			t.Errorf("%d fields, client-go's has %d", got, want)
		}
	})
	t.Run("ECR-21 an empty list stays one, since it is a fault where none is not", func(t *testing.T) {
		empty := clientcmdapi.ExecConfig{PluginPolicy: clientcmdapi.PluginPolicy{PolicyType: "AllowAll", Allowlist: []clientcmdapi.AllowlistEntry{}}}
		converted, _, err := restconfig.FromExecConfig(&empty)
		if err != nil || converted.Policy.Commands == nil || converted.Policy.Validate() == nil {
			t.Errorf("policy = %+v, %v, want a faulty one", converted.Policy, err)
		}
		if back, _ := restconfig.ToExecConfig(converted); back.PluginPolicy.Allowlist == nil {
			t.Error("ToExecConfig lost the empty list")
		}
	})
	t.Run("ECR-29 a Config that is no JSON is an error", func(t *testing.T) {
		if _, _, err := restconfig.FromExecConfig(&clientcmdapi.ExecConfig{Config: &unencodable{}}); !errors.Is(err, errUnencodable) {
			t.Errorf("FromExecConfig = %v, want errUnencodable", err)
		}
	})
}

var errUnencodable = errors.New("cannot be encoded")

// unencodable is an object that has no JSON form.
type unencodable struct{ runtime.Unknown }

func (*unencodable) MarshalJSON() ([]byte, error) { return nil, errUnencodable }

func (u *unencodable) DeepCopyObject() runtime.Object { return u }
