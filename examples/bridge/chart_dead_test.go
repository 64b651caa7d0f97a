package bridge_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/examples/bridge"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

// chartDeadWebhook asks for sessions while nobody answers at the webhook's Service.
func chartDeadWebhook(t *testing.T, c *kubernetes.Cluster) {
	somebody, err := c.Certificate("somebody", "developers")
	if err != nil {
		t.Fatal(err)
	}
	rescuer, err := c.Certificate("rescuer", "lanyard:break-glass")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Client().RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "sessions"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "developers"}, {APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "lanyard:break-glass"},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Which a controller manager would make.
	if _, err := c.Client().CoreV1().ServiceAccounts("kube-system").Create(t.Context(), &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The pods are bound to a node that is not there, which is what the API server finds after admission.
	for _, namespace := range []string{"team", "kube-system", bridge.Namespace} {
		if _, err := c.Client().CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "app"},
			Spec: corev1.PodSpec{
				NodeName: "gone", AutomountServiceAccountToken: new(false), Containers: []corev1.Container{{Name: "c", Image: "none.example/none"}},
			},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const dead = `failed calling webhook "exec.lanyard.dev"`
	// Each kind of session, as somebody sees that it was refused or went on.
	sessions := map[string]func(*kubernetes.User, string) error{
		"exec": func(u *kubernetes.User, namespace string) error {
			_, err := u.Exec(t.Context(), kubernetes.Session{Namespace: namespace, Pod: "app", Command: []string{"id"}})
			return err
		},
		"attach": func(u *kubernetes.User, namespace string) error {
			return stream(t, u, namespace, "attach", "stdout", "true")
		},
		"port-forward": func(u *kubernetes.User, namespace string) error {
			return stream(t, u, namespace, "portforward", "ports", "80")
		},
		"debug": func(u *kubernetes.User, namespace string) error {
			client, err := u.Client()
			if err != nil {
				return err
			}
			patch := []byte(`{"spec": {"ephemeralContainers": [{"name": "debug", "image": "none.example/none"}]}}`)
			_, err = client.CoreV1().Pods(namespace).Patch(t.Context(), "app", "application/strategic-merge-patch+json", patch,
				metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "ephemeralcontainers")
			return err
		},
	}
	refused := func(err error) bool { return err != nil && strings.Contains(err.Error(), dead) }
	wentOn := func(err error) bool { return err == nil || strings.Contains(err.Error(), `"gone" not found`) }
	chartSoon(t, "the webhook configurations are in force", func() bool { return refused(sessions["exec"](somebody, "team")) })
	for name, session := range sessions {
		t.Run("BRG-9 the webhook is dead: "+name+" is refused in a team's namespace", func(t *testing.T) {
			if err := session(somebody, "team"); !refused(err) {
				t.Errorf("%v, want %s", err, dead)
			}
		})
		for _, namespace := range []string{"kube-system", bridge.Namespace} {
			t.Run("BRG-9 the webhook is dead: "+name+" goes on in "+namespace, func(t *testing.T) {
				if err := session(somebody, namespace); !wentOn(err) {
					t.Error(err)
				}
			})
		}
		t.Run("BRG-9 the webhook is dead: "+name+" of the break-glass group goes on", func(t *testing.T) {
			if err := session(rescuer, "team"); !wentOn(err) {
				t.Error(err)
			}
		})
	}
	if err := render(t, bridge.Release{Values: mapping{"webhook": mapping{"failurePolicy": "Ignore"}}}).Apply(t.Context(), c.Admin().Config, bridge.Namespace); err != nil {
		t.Fatal(err)
	}
	t.Run("BRG-9 the webhook is dead: failure policy Ignore lets sessions go on everywhere", func(t *testing.T) {
		chartSoon(t, "the policy is in force", func() bool { return wentOn(sessions["exec"](somebody, "team")) })
	})
}

// stream asks for a subresource of pod app that streams, up to the answer.
func stream(t *testing.T, u *kubernetes.User, namespace, subresource, option, value string) error {
	t.Helper()
	client, err := u.Client()
	if err != nil {
		return err
	}
	return client.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name("app").SubResource(subresource).
		Param(option, value).Do(t.Context()).Error()
}
