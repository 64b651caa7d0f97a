package kubernetes_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"

	"github.com/lanyard-dev/lanyard/credprovider/audience"
	"github.com/lanyard-dev/lanyard/examples/kubernetes"
)

// ghost is a node that has an identity, and pods that nobody runs.
const ghost = "ghost"

// TestAudienceRestriction asks the real API server for tokens as a node, and our check over the same objects and the
// same authorizer: the decision is the same, and so are the words.
func TestAudienceRestriction(t *testing.T) {
	c := shared.Cluster(t)
	d := newDecisions(t, c)
	roles := newRoles(t, c, "audiences", ghost)
	node := func(resources []string, names ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{Verbs: []string{audience.Verb}, APIGroups: []string{""}, Resources: resources, ResourceNames: names}
	}
	for _, example := range []struct {
		name  string
		rules []rbacv1.PolicyRule
		want  string // what is allowed beside what the pods' volumes ask for
	}{
		{"no rule", nil, ""},
		{
			"any audience for any service account",
			[]rbacv1.PolicyRule{node([]string{"*"})},
			"mysa:my, mysa:https://reg.io/a, mysa:, othersa:my, mounting:my",
		},
		{"any audience for mysa", []rbacv1.PolicyRule{node([]string{"*"}, "mysa")}, "mysa:my, mysa:https://reg.io/a, mysa:"},
		{"one audience for any service account", []rbacv1.PolicyRule{node([]string{"my"})}, "mysa:my, othersa:my, mounting:my"},
		{"one audience, a URL, for mysa", []rbacv1.PolicyRule{node([]string{"https://reg.io/a"}, "mysa")}, "mysa:https://reg.io/a"},
		{"the API server's audience for all service accounts", []rbacv1.PolicyRule{node([]string{""})}, "mysa:"},
	} {
		for _, kind := range []string{"ClusterRole", "Role"} {
			t.Run(fmt.Sprintf("STK-13 CRP-27 CRP-19 %s, by a %s", example.name, kind), func(t *testing.T) {
				roles.grant(t, kind, example.rules...)
				var allowed []string
				for _, q := range d.questions {
					if d.same(t, q) && q.byRole {
						allowed = append(allowed, q.name)
					}
				}
				if got := strings.Join(allowed, ", "); got != example.want {
					t.Errorf("allowed by the role: %s; want %s", got, example.want)
				}
			})
		}
	}
	t.Run("STK-13 CRP-19 a volume that cannot be looked up: the real one denies what a role allows, ours allows it", func(t *testing.T) {
		lost := d.question("lost", nil, "my")
		roles.grant(t, "ClusterRole")
		if real, ours := d.ask(t, lost), d.check(t, lost); real == nil || ours == nil {
			t.Errorf("without a role: the API server says %v, our check %v; want both to deny", real, ours)
		}
		roles.grant(t, "ClusterRole", node([]string{"*"}))
		real, ours := d.ask(t, lost), d.check(t, lost)
		if real == nil || !strings.Contains(real.Error(), `error validating audience "my"`) || ours != nil {
			t.Errorf("with a role: the API server says %v, our check %v; want it to deny because of the volume, and ours to allow", real, ours)
		}
	})
}

// decisions are the two deciders.
type decisions struct {
	admin     clientset.Interface
	node      clientset.Interface
	checker   audience.Checker
	pods      map[string]*corev1.Pod
	questions []question
}

// question is a request for a token.
type question struct {
	name    string
	account string
	spec    authenticationv1.TokenRequestSpec
	byRole  bool // the pod's volumes do not ask for it
}

func newDecisions(t *testing.T, c *kubernetes.Cluster) *decisions {
	t.Helper()
	user, err := c.Certificate("system:node:"+ghost, "system:nodes")
	if err != nil {
		t.Fatal(err)
	}
	node, err := user.Client()
	if err != nil {
		t.Fatal(err)
	}
	real := objects{c.Client()}
	d := &decisions{
		admin: c.Client(), node: node, pods: map[string]*corev1.Pod{},
		checker: audience.Checker{Pods: real, Claims: real, Volumes: real, Drivers: real, Authorizer: real},
	}
	d.makeObjects(t)
	d.writeQuestions(t)
	return d
}

// writeQuestions writes the questions down, and waits until the API server's caches have what they are about.
func (d *decisions) writeQuestions(t *testing.T) {
	t.Helper()
	volumes := []question{
		d.question("mounting", nil, "mounted"), d.question("mounting", nil, "of-the-driver"),
		d.question("claiming", nil, "of-the-driver"), d.question("scratching", nil, "of-the-driver"),
	}
	for _, q := range volumes {
		await(t, "a token that the pod's volumes ask for: "+q.name, func() (bool, error) {
			err := d.ask(t, q)
			return err == nil, err
		})
	}
	roles := []question{
		d.question("mysa", nil, "my"), d.question("mysa", nil, "https://reg.io/a"), d.question("mysa", nil),
		d.question("othersa", nil, "my"), d.question("mounting", nil, "my"),
	}
	for i := range roles {
		roles[i].byRole = true
	}
	binding := func(change func(*authenticationv1.BoundObjectReference)) question {
		return d.question("mysa", func(s *authenticationv1.TokenRequestSpec) { change(s.BoundObjectRef) }, "my")
	}
	d.questions = append(append(volumes, roles...),
		d.question("mysa", nil, "my", "another"), d.question("othersa", nil, "mounted"),
		d.question("mysa", func(s *authenticationv1.TokenRequestSpec) { s.BoundObjectRef = nil }, "my"),
		binding(func(r *authenticationv1.BoundObjectReference) { r.UID = "" }),
		binding(func(r *authenticationv1.BoundObjectReference) { r.UID = "old" }),
		binding(func(r *authenticationv1.BoundObjectReference) { r.Name = "gone" }),
		binding(func(r *authenticationv1.BoundObjectReference) { r.Name, r.UID = "elsewhere", d.pods["elsewhere"].UID }),
	)
}

// question is about a token of the pod's account, bound to the pod, unless that is changed.
func (d *decisions) question(pod string, change func(*authenticationv1.TokenRequestSpec), audiences ...string) question {
	p := d.pods[pod]
	q := question{name: pod + ":" + strings.Join(audiences, "+"), account: p.Spec.ServiceAccountName, spec: authenticationv1.TokenRequestSpec{
		Audiences: audiences, BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
	}}
	if change != nil {
		change(&q.spec)
		q.name += fmt.Sprintf(" bound to %v", q.spec.BoundObjectRef)
	}
	return q
}

// ask requests the token from the real API server, as the node.
func (d *decisions) ask(t *testing.T, q question) error {
	_, err := d.node.CoreV1().ServiceAccounts(metav1.NamespaceDefault).CreateToken(t.Context(), q.account,
		&authenticationv1.TokenRequest{Spec: q.spec}, metav1.CreateOptions{})
	return err
}

// check asks ours.
func (d *decisions) check(t *testing.T, q question) error {
	return d.checker.Check(t.Context(), audience.Request{
		Node: ghost, User: audience.User{Name: "system:node:" + ghost, Groups: []string{"system:nodes", "system:authenticated"}},
		Namespace: metav1.NamespaceDefault, Name: q.account, Spec: q.spec,
	})
}

// same reports whether both allow it. It is an error when they disagree, or give other reasons.
func (d *decisions) same(t *testing.T, q question) bool {
	t.Helper()
	real, ours := d.ask(t, q), d.check(t, q)
	switch {
	case (real == nil) != (ours == nil), apierrors.IsNotFound(real) != apierrors.IsNotFound(ours):
		t.Errorf("%s: the API server says %v, our check %v", q.name, real, ours)
	case real != nil && !apierrors.IsNotFound(real) && !strings.HasSuffix(real.Error(), ours.Error()):
		t.Errorf("%s: the API server's reason is %q, ours %q", q.name, real, ours)
	}
	return real == nil
}

// makeObjects makes what the questions are about. Pods without a token of their own: with one, their volumes would ask
// for the API server's audience.
func (d *decisions) makeObjects(t *testing.T) {
	t.Helper()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, core, create := t.Context(), d.admin.CoreV1(), metav1.CreateOptions{}
	for _, account := range []string{"mysa", "othersa"} {
		must(core.ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, create))
	}
	const driver = "csi.example.io"
	must(d.admin.StorageV1().CSIDrivers().Create(ctx, &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: driver},
		Spec: storagev1.CSIDriverSpec{
			VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral},
			TokenRequests:        []storagev1.TokenRequest{{Audience: "of-the-driver"}},
		},
	}, create))
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}
	claim := corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: "ours",
		Resources: corev1.VolumeResourceRequirements{Requests: size},
	}
	must(core.PersistentVolumes().Create(ctx, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "ours"}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: claim.AccessModes, Capacity: size,
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "1"}},
	}}, create))
	for _, name := range []string{"claim", "scratching-scratch"} {
		must(core.PersistentVolumeClaims("default").Create(ctx,
			&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: claim}, create))
	}
	csi := func(name string) corev1.VolumeSource {
		return corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: name}}
	}
	unbound := claim
	unbound.VolumeName = ""
	for name, volumes := range map[string][]corev1.VolumeSource{
		"mysa": nil, "othersa": nil, "elsewhere": nil, "lost": {csi("missing.example.io")},
		"mounting": {csi(driver), {Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "mounted", Path: "token"}},
		}}}},
		"claiming":   {{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}}},
		"scratching": {{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: unbound}}}},
	} {
		pod := d.newPod(name, volumes)
		made, err := core.Pods("default").Create(ctx, pod, create)
		must(made, err)
		d.pods[name] = made
		t.Cleanup(func() {
			at := int64(0)
			if err := core.Pods("default").Delete(context.Background(), made.Name, metav1.DeleteOptions{GracePeriodSeconds: &at}); err != nil {
				t.Error(err)
			}
		})
	}
}

func (d *decisions) newPod(name string, volumes []corev1.VolumeSource) *corev1.Pod {
	no := false
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		NodeName: ghost, ServiceAccountName: "othersa", AutomountServiceAccountToken: &no,
		Containers: []corev1.Container{{Name: "app", Image: kubernetes.Image}},
	}}
	switch name {
	case "elsewhere":
		pod.Spec.NodeName, pod.Spec.ServiceAccountName = "elsewhere", "mysa"
	case "mysa", "lost":
		pod.Spec.ServiceAccountName = "mysa"
	}
	for i, source := range volumes {
		label := fmt.Sprintf("v%d", i)
		if source.Ephemeral != nil {
			label = "scratch"
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: label, VolumeSource: source})
	}
	return pod
}

// objects are the real API server's, for our check.
type objects struct{ client clientset.Interface }

func (o objects) Pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	return o.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (o objects) Claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	return o.client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (o objects) Volume(ctx context.Context, name string) (*corev1.PersistentVolume, error) {
	return o.client.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
}

func (o objects) Driver(ctx context.Context, name string) (*storagev1.CSIDriver, error) {
	return o.client.StorageV1().CSIDrivers().Get(ctx, name, metav1.GetOptions{})
}

func (o objects) Authorize(ctx context.Context, a audience.Attributes) (bool, string, error) {
	review, err := o.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: a.User.Name, Groups: a.User.Groups, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: a.Namespace, Verb: a.Verb, Group: a.APIGroup, Version: a.APIVersion, Resource: a.Resource, Name: a.Name,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, "", err
	}
	return review.Status.Allowed, review.Status.Reason, nil
}

// roles are a ClusterRole and a Role that a node has, with nothing in them at first.
type roles struct {
	objects
	name, node string
	turn       int
}

func newRoles(t *testing.T, c *kubernetes.Cluster, name, node string) *roles {
	t.Helper()
	r := &roles{objects: objects{c.Client()}, name: name, node: node}
	api, object := c.Client().RbacV1(), metav1.ObjectMeta{Name: name}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "system:node:" + node}}
	ref := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
	}
	_, cluster := api.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: object}, metav1.CreateOptions{})
	_, role := api.Roles("default").Create(t.Context(), &rbacv1.Role{ObjectMeta: object}, metav1.CreateOptions{})
	_, clusterBinding := api.ClusterRoleBindings().Create(t.Context(),
		&rbacv1.ClusterRoleBinding{ObjectMeta: object, Subjects: subjects, RoleRef: ref("ClusterRole")}, metav1.CreateOptions{})
	_, binding := api.RoleBindings("default").Create(t.Context(),
		&rbacv1.RoleBinding{ObjectMeta: object, Subjects: subjects, RoleRef: ref("Role")}, metav1.CreateOptions{})
	for _, err := range []error{cluster, role, clusterBinding, binding} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		ctx, now := context.Background(), metav1.DeleteOptions{}
		for _, err := range []error{
			api.ClusterRoleBindings().Delete(ctx, name, now), api.ClusterRoles().Delete(ctx, name, now),
			api.RoleBindings("default").Delete(ctx, name, now), api.Roles("default").Delete(ctx, name, now),
		} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return r
}

// grant gives the rules to the node by that kind of role, and nothing by the other, and waits until both are in force:
// each has a rule more that says which turn it is.
func (r *roles) grant(t *testing.T, kind string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	r.turn++
	given := map[string][]rbacv1.PolicyRule{kind: rules}
	turn := func(kind string) string { return fmt.Sprintf("turn-%s-%d", strings.ToLower(kind), r.turn) }
	rulesOf := func(kind string) []rbacv1.PolicyRule {
		return append([]rbacv1.PolicyRule{{Verbs: []string{turn(kind)}, APIGroups: []string{""}, Resources: []string{"turns"}}}, given[kind]...)
	}
	api, object := r.client.RbacV1(), metav1.ObjectMeta{Name: r.name}
	_, cluster := api.ClusterRoles().Update(t.Context(), &rbacv1.ClusterRole{ObjectMeta: object, Rules: rulesOf("ClusterRole")}, metav1.UpdateOptions{})
	_, role := api.Roles("default").Update(t.Context(), &rbacv1.Role{ObjectMeta: object, Rules: rulesOf("Role")}, metav1.UpdateOptions{})
	if cluster != nil || role != nil {
		t.Fatal(cluster, role)
	}
	for _, kind := range []string{"ClusterRole", "Role"} {
		await(t, "a "+kind+" in force", func() (bool, error) {
			allowed, _, err := r.Authorize(t.Context(), audience.Attributes{
				User: audience.User{Name: "system:node:" + r.node, Groups: []string{"system:nodes"}},
				Verb: turn(kind), APIVersion: "v1", Resource: "turns", Namespace: "default",
			})
			return allowed, err
		})
	}
}
