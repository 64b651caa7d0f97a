package bridge_test

import (
	"crypto/tls"
	"crypto/x509"
	"reflect"
	"slices"
	"strings"
	"testing"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
)

func TestChartAdmission(t *testing.T) {
	objects := render(t, bridge.Release{Namespace: "somewhere"})
	t.Run("BRG-9 two configurations of each kind, whose names sort last", func(t *testing.T) {
		var names []string
		for _, object := range objects.Only("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration") {
			names = append(names, object.GetKind()[:1]+" "+object.GetName())
		}
		slices.Sort(names)
		if want := []string{"M zzz-lanyard-exec", "M zzz-lanyard-exec-system", "V zzz-lanyard-exec", "V zzz-lanyard-exec-system"}; !slices.Equal(names, want) {
			t.Errorf("configurations %q, want %q", names, want)
		}
	})
	t.Run("BRG-9 a dead webhook locks nobody out of kube-system and the release's namespace", func(t *testing.T) {
		for name, want := range map[string]admissionregistration.FailurePolicyType{
			"zzz-lanyard-exec": admissionregistration.Fail, "zzz-lanyard-exec-system": admissionregistration.Ignore,
		} {
			mutating := typed[admissionregistration.MutatingWebhookConfiguration](t, objects, "MutatingWebhookConfiguration", name).Webhooks[0]
			validating := typed[admissionregistration.ValidatingWebhookConfiguration](t, objects, "ValidatingWebhookConfiguration", name).Webhooks[0]
			if *mutating.FailurePolicy != want || *validating.FailurePolicy != want {
				t.Errorf("%s: failure policies %s and %s, want %s", name, *mutating.FailurePolicy, *validating.FailurePolicy, want)
			}
			operator := map[bool]metav1.LabelSelectorOperator{true: metav1.LabelSelectorOpNotIn, false: metav1.LabelSelectorOpIn}[want == admissionregistration.Fail]
			selector := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "kubernetes.io/metadata.name", Operator: operator, Values: []string{"kube-system", "somewhere"}},
			}}
			if !reflect.DeepEqual(mutating.NamespaceSelector, selector) || !reflect.DeepEqual(validating.NamespaceSelector, selector) {
				t.Errorf("%s: selectors %v and %v, want %v", name, mutating.NamespaceSelector, validating.NamespaceSelector, selector)
			}
			if mutating.Name != "exec.lanyard.dev" || validating.Name != "verify.exec.lanyard.dev" {
				t.Errorf("%s: webhooks %s and %s", name, mutating.Name, validating.Name)
			}
			if *mutating.ReinvocationPolicy != admissionregistration.IfNeededReinvocationPolicy {
				t.Errorf("%s: reinvocation policy %s", name, *mutating.ReinvocationPolicy)
			}
		}
	})
	t.Run("BRG-9 what a caller must know stands in every configuration, under the certificate's authority", func(t *testing.T) {
		path := typed[corev1.Secret](t, objects, "Secret", "lanyard-bridge-webhook-path").Data["path-secret"]
		secret := typed[corev1.Secret](t, objects, "Secret", "lanyard-bridge-webhook-tls")
		roots := x509.NewCertPool()
		if len(path) < 32 || !roots.AppendCertsFromPEM(secret.Data["ca.crt"]) {
			t.Fatalf("a path secret of %d bytes, or no authority", len(path))
		}
		pair, err := tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "lanyard-bridge-webhook.somewhere.svc"}); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"zzz-lanyard-exec", "zzz-lanyard-exec-system"} {
			config := typed[admissionregistration.MutatingWebhookConfiguration](t, objects, "MutatingWebhookConfiguration", name).Webhooks[0].ClientConfig
			if *config.Service.Path != "/"+string(path)+"/mutate" || string(config.CABundle) != string(secret.Data["ca.crt"]) {
				t.Errorf("%s: path or authority is another", name)
			}
			config = typed[admissionregistration.ValidatingWebhookConfiguration](t, objects, "ValidatingWebhookConfiguration", name).Webhooks[0].ClientConfig
			if *config.Service.Path != "/"+string(path)+"/validate" || string(config.CABundle) != string(secret.Data["ca.crt"]) {
				t.Errorf("%s: path or authority is another", name)
			}
		}
	})
}

func TestChartRights(t *testing.T) {
	objects := render(t, bridge.Release{})
	read := []string{"get", "list", "watch"}
	t.Run("BRG-9 the webhook reads pods, namespaces, runtime classes and its namespace's leases, and no more", func(t *testing.T) {
		wantRules(t, typed[rbacv1.ClusterRole](t, objects, "ClusterRole", "lanyard-bridge-webhook").Rules,
			rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods", "namespaces"}, Verbs: read},
			rbacv1.PolicyRule{APIGroups: []string{"node.k8s.io"}, Resources: []string{"runtimeclasses"}, Verbs: read})
		wantRules(t, typed[rbacv1.Role](t, objects, "Role", "lanyard-bridge-webhook").Rules,
			rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: read})
	})
	t.Run("BRG-9 a node's daemon writes leases of its namespace, and no more", func(t *testing.T) {
		wantRules(t, typed[rbacv1.Role](t, objects, "Role", "lanyard-bridge-node").Rules,
			rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}})
	})
	t.Run("BRG-9 no other role, and each is bound to its own account", func(t *testing.T) {
		if got := len(objects.Only("ClusterRole", "Role")); got != 3 {
			t.Errorf("%d roles, want 3", got)
		}
		for _, object := range objects.Only("ClusterRoleBinding", "RoleBinding") {
			binding := typed[rbacv1.RoleBinding](t, objects, object.GetKind(), object.GetName())
			if len(binding.Subjects) != 1 || binding.Subjects[0].Name != binding.RoleRef.Name || binding.Subjects[0].Namespace != bridge.Namespace {
				t.Errorf("%s %s: subjects %v of %s", object.GetKind(), object.GetName(), binding.Subjects, binding.RoleRef.Name)
			}
		}
	})
}

func TestChartAgent(t *testing.T) {
	podOf := func(t *testing.T, values mapping) corev1.PodSpec {
		t.Helper()
		values["enabled"] = true
		objects := render(t, bridge.Release{Values: mapping{"agent": values}})
		return typed[appsv1.DaemonSet](t, objects, "DaemonSet", "lanyard-agent").Spec.Template.Spec
	}
	t.Run("AGT-7 it is there only where it is asked for", func(t *testing.T) {
		for _, object := range render(t, bridge.Release{}) {
			if strings.Contains(object.GetName(), "agent") {
				t.Errorf("%s %s", object.GetKind(), object.GetName())
			}
		}
	})
	t.Run("AGT-7 it has no right in the cluster, and no token", func(t *testing.T) {
		pod := podOf(t, mapping{})
		if *pod.AutomountServiceAccountToken || pod.ServiceAccountName != "lanyard-agent" {
			t.Errorf("account %q, token: %t", pod.ServiceAccountName, *pod.AutomountServiceAccountToken)
		}
		objects := render(t, bridge.Release{Values: mapping{"agent": mapping{"enabled": true}}})
		for _, object := range objects.Only("ClusterRoleBinding", "RoleBinding") {
			for _, subject := range typed[rbacv1.RoleBinding](t, objects, object.GetKind(), object.GetName()).Subjects {
				if subject.Name == "lanyard-agent" {
					t.Errorf("%s %s names it", object.GetKind(), object.GetName())
				}
			}
		}
	})
	for mode, want := range map[string][]corev1.Capability{
		"ebpf": {"BPF", "PERFMON"}, "connector": {"NET_ADMIN", "SYS_PTRACE", "DAC_READ_SEARCH"},
		"auto": {"BPF", "PERFMON", "NET_ADMIN", "SYS_PTRACE", "DAC_READ_SEARCH"},
	} {
		t.Run("AGT-7 its capabilities, and nothing that would give it more: "+mode, func(t *testing.T) {
			pod := podOf(t, mapping{"mode": mode})
			s := pod.Containers[0].SecurityContext
			if !slices.Equal(s.Capabilities.Add, want) || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
				t.Errorf("capabilities %v, want %v and no others", s.Capabilities, want)
			}
			if s.Privileged != nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || pod.SecurityContext.SeccompProfile.Type != "RuntimeDefault" {
				t.Errorf("security context %+v", s)
			}
			if !pod.HostPID || pod.HostIPC || pod.HostNetwork != (mode != "ebpf") {
				t.Errorf("namespaces of the host: PID %t, IPC %t, network %t", pod.HostPID, pod.HostIPC, pod.HostNetwork)
			}
		})
	}
	t.Run("AGT-6 the notes say where its events are, and that it sees nothing without marks", func(t *testing.T) {
		for _, row := range []struct {
			values mapping
			says   string
		}{
			{mapping{"agent": mapping{"enabled": true}}, "each node's /var/log/lanyard"},
			{mapping{"agent": mapping{"enabled": true, "output": mapping{"stdout": true}}}, "the output of its pods"},
			{mapping{"agent": mapping{"enabled": true}, "node": mapping{"mark": "off"}}, "WARNING: node.mark is off"},
		} {
			if _, notes, err := loadChart(t).Render(bridge.Release{Values: row.values}); err != nil || !strings.Contains(notes, row.says) {
				t.Errorf("%v, the notes lack %q:\n%s", err, row.says, notes)
			}
		}
	})
	t.Run("AGT-7 of the host it can write what it pins, its socket and its events, and no more", func(t *testing.T) {
		pod := podOf(t, mapping{"output": mapping{"directory": "/srv/events"}})
		var writable []string
		for _, mount := range pod.Containers[0].VolumeMounts {
			if !mount.ReadOnly {
				writable = append(writable, mount.MountPath)
			}
		}
		if want := []string{"/run/execaudit-agent", "/sys/fs/bpf", "/srv/events"}; !slices.Equal(writable, want) {
			t.Errorf("it can write %q, want %q", writable, want)
		}
		if len(pod.Volumes) != len(pod.Containers[0].VolumeMounts) {
			t.Errorf("%d volumes, %d mounts", len(pod.Volumes), len(pod.Containers[0].VolumeMounts))
		}
	})
}

func wantRules(t *testing.T, got []rbacv1.PolicyRule, want ...rbacv1.PolicyRule) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("rules %v, want %v", got, want)
	}
}
