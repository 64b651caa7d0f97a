package audience_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lanyard-dev/lanyard/credprovider/audience"
)

var errAbsent = errors.New("absent")

// cluster is a node's view of an API server.
type cluster struct {
	pod     *corev1.Pod
	claims  map[string]*corev1.PersistentVolumeClaim
	volumes map[string]*corev1.PersistentVolume
	drivers map[string]*storagev1.CSIDriver
	allow   func(audience.Attributes) bool
	authErr error
	asked   []audience.Attributes
}

func (c *cluster) Pod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	if c.pod.Namespace != namespace || c.pod.Name != name {
		return nil, errAbsent
	}
	return c.pod, nil
}

func find[V any](all map[string]*V, name string) (*V, error) {
	if v, ok := all[name]; ok {
		return v, nil
	}
	return nil, fmt.Errorf("%q: %w", name, errAbsent)
}

func (c *cluster) Claim(_ context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	return find(c.claims, namespace+"/"+name)
}

func (c *cluster) Volume(_ context.Context, name string) (*corev1.PersistentVolume, error) {
	return find(c.volumes, name)
}

func (c *cluster) Driver(_ context.Context, name string) (*storagev1.CSIDriver, error) {
	return find(c.drivers, name)
}

func (c *cluster) Authorize(_ context.Context, a audience.Attributes) (bool, string, error) {
	c.asked = append(c.asked, a)
	return c.allow != nil && c.allow(a), "no rule", c.authErr
}

func newCluster(volumes ...corev1.Volume) *cluster {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "pod-uid"}, Spec: corev1.PodSpec{NodeName: "n1", Volumes: volumes}}
	driver := func(name string) *storagev1.CSIDriver {
		return &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSIDriverSpec{TokenRequests: []storagev1.TokenRequest{{Audience: "other"}, {Audience: "aud"}}}}
	}
	claim := func(volume string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeName: volume}}
	}
	return &cluster{
		pod: pod, drivers: map[string]*storagev1.CSIDriver{"csi": driver("csi"), "ebs.csi.aws.com": driver("ebs.csi.aws.com"), "none": {}},
		claims: map[string]*corev1.PersistentVolumeClaim{"ns/claim": claim("pv"), "ns/p-scratch": claim("pv"), "ns/moved": claim("intree"), "ns/lost": claim("gone"), "ns/nfs": claim("nfs")},
		volumes: map[string]*corev1.PersistentVolume{
			"pv":     {Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi"}}}},
			"intree": {Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{}}}},
			"nfs":    {Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{}}}},
		},
	}
}

func (c *cluster) check(change func(*audience.Checker, *audience.Request)) error {
	checker := audience.Checker{Pods: c, Claims: c, Volumes: c, Drivers: c, Authorizer: c}
	request := audience.Request{
		Node: "n1", User: audience.User{Name: "system:node:n1", Groups: []string{"system:nodes"}}, Namespace: "ns", Name: "sa",
		Spec: authenticationv1.TokenRequestSpec{
			Audiences: []string{"aud"}, BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "pod-uid"},
		},
	}
	if change != nil {
		change(&checker, &request)
	}
	return checker.Check(context.Background(), request)
}

func volume(name string, source corev1.VolumeSource) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: source}
}

func projected(aud string) corev1.Volume {
	return volume("token", corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{}, {ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: aud}}}}})
}

func claimed(name string) corev1.Volume {
	return volume(name, corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}})
}

func TestVolumes(t *testing.T) {
	for name, c := range map[string]struct {
		volume  corev1.Volume
		allowed bool
	}{
		"a projected token with it":                {projected("aud"), true},
		"a projected token with another":           {projected("other"), false},
		"an inline CSI volume":                     {volume("v", corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "csi"}}), true},
		"a CSI driver without it":                  {volume("v", corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "none"}}), false},
		"a claim of a CSI volume":                  {claimed("claim"), true},
		"an ephemeral volume":                      {volume("scratch", corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}}), true},
		"a claim of an in-tree volume that moved":  {claimed("moved"), true},
		"an in-tree volume that moved, inline":     {volume("v", corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{}}), true},
		"a claim of a volume that is not CSI":      {claimed("nfs"), false},
		"a volume that has nothing to do with it":  {volume("v", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), false},
		"a claim that is not there":                {claimed("absent"), false},
		"a claim of a volume that is not there":    {claimed("lost"), false},
		"an inline CSI volume of a missing driver": {volume("v", corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "missing"}}), false},
	} {
		t.Run("CRP-19 "+name, func(t *testing.T) {
			w := newCluster(c.volume)
			err := w.check(nil)
			var denied *audience.DeniedError
			if c.allowed != (err == nil) || err != nil && !errors.As(err, &denied) {
				t.Errorf("Check = %v, allowed is %v", err, c.allowed)
			}
			if asked := len(w.asked) > 0; asked == c.allowed {
				t.Errorf("the authorizer was asked: %v", asked)
			}
		})
	}
	t.Run("CRP-19 an error of one volume counts only when nothing else grants", func(t *testing.T) {
		if err := newCluster(claimed("absent"), projected("aud")).check(nil); err != nil {
			t.Errorf("Check = %v", err)
		}
		if err := newCluster(claimed("absent")).check(nil); !errors.Is(err, errAbsent) || !strings.Contains(err.Error(), `volume "absent"`) {
			t.Errorf("Check = %v, want the volume's error", err)
		}
	})
	t.Run("CRP-19 every in-tree source has its driver", func(t *testing.T) {
		for driver, source := range map[string]corev1.VolumeSource{
			"pd.csi.storage.gke.io":    {GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{}},
			"cinder.csi.openstack.org": {Cinder: &corev1.CinderVolumeSource{}},
			"disk.csi.azure.com":       {AzureDisk: &corev1.AzureDiskVolumeSource{}},
			"file.csi.azure.com":       {AzureFile: &corev1.AzureFileVolumeSource{}},
			"csi.vsphere.vmware.com":   {VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{}},
			"pxd.portworx.com":         {PortworxVolume: &corev1.PortworxVolumeSource{}},
		} {
			w := newCluster(volume("v", source))
			w.drivers[driver] = w.drivers["csi"]
			if err := w.check(nil); err != nil {
				t.Errorf("%s: %v", driver, err)
			}
		}
		for driver, source := range map[string]corev1.PersistentVolumeSource{
			"pd.csi.storage.gke.io":    {GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{}},
			"cinder.csi.openstack.org": {Cinder: &corev1.CinderPersistentVolumeSource{}},
			"disk.csi.azure.com":       {AzureDisk: &corev1.AzureDiskVolumeSource{}},
			"file.csi.azure.com":       {AzureFile: &corev1.AzureFilePersistentVolumeSource{}},
			"csi.vsphere.vmware.com":   {VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{}},
			"pxd.portworx.com":         {PortworxVolume: &corev1.PortworxVolumeSource{}},
		} {
			w := newCluster(claimed("claim"))
			w.drivers[driver], w.volumes["pv"].Spec.PersistentVolumeSource = w.drivers["csi"], source
			if err := w.check(nil); err != nil {
				t.Errorf("persistent %s: %v", driver, err)
			}
		}
	})
}

func TestBinding(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*authenticationv1.TokenRequestSpec, *audience.Request)
		want   string
	}{
		"no binding":     {func(s *authenticationv1.TokenRequestSpec, _ *audience.Request) { s.BoundObjectRef = nil }, "not bound to a pod"},
		"another kind":   {func(s *authenticationv1.TokenRequestSpec, _ *audience.Request) { s.BoundObjectRef.Kind = "Secret" }, "not bound to a pod"},
		"no name":        {func(s *authenticationv1.TokenRequestSpec, _ *audience.Request) { s.BoundObjectRef.Name = "" }, "not bound to a pod"},
		"no UID":         {func(s *authenticationv1.TokenRequestSpec, _ *audience.Request) { s.BoundObjectRef.UID = "" }, "without a uid"},
		"another UID":    {func(s *authenticationv1.TokenRequestSpec, _ *audience.Request) { s.BoundObjectRef.UID = "old" }, "does not match the UID in record"},
		"another node's": {func(_ *authenticationv1.TokenRequestSpec, r *audience.Request) { r.Node = "n2" }, "scheduled on a different node"},
	} {
		for gate, unrestricted := range map[string]bool{"on": false, "off": true} {
			t.Run("CRP-19 "+name+", gate "+gate, func(t *testing.T) {
				err := newCluster(projected("aud")).check(func(k *audience.Checker, r *audience.Request) {
					k.Unrestricted = unrestricted
					c.change(&r.Spec, r)
				})
				var binding *audience.BindingError
				if !errors.As(err, &binding) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Check = %v, want %q", err, c.want)
				}
			})
		}
	}
	t.Run("CRP-19 a pod that is not there is the source's error", func(t *testing.T) {
		if err := newCluster().check(func(_ *audience.Checker, r *audience.Request) { r.Namespace = "elsewhere" }); !errors.Is(err, errAbsent) {
			t.Errorf("Check = %v", err)
		}
	})
}

func TestAuthorizer(t *testing.T) {
	t.Run("CRP-27 what the authorizer is asked", func(t *testing.T) {
		w := newCluster()
		w.allow = func(audience.Attributes) bool { return true }
		if err := w.check(func(_ *audience.Checker, r *audience.Request) { r.Spec.Audiences[0] = "https://reg.io/a" }); err != nil {
			t.Fatal(err)
		}
		got := w.asked[0]
		if got.Verb != "request-serviceaccounts-token-audience" || got.Resource != "https://reg.io/a" || got.APIGroup != "" || got.APIVersion != "v1" ||
			got.Namespace != "ns" || got.Name != "sa" || got.User.Name != "system:node:n1" {
			t.Errorf("attributes = %+v", got)
		}
	})
	t.Run("CRP-27 no audience is the API server's, asked as the empty string", func(t *testing.T) {
		for _, audiences := range [][]string{nil, {""}} {
			w := newCluster()
			w.allow = func(a audience.Attributes) bool { return a.Resource == "" }
			if err := w.check(func(_ *audience.Checker, r *audience.Request) { r.Spec.Audiences = audiences }); err != nil {
				t.Errorf("Check(%q) = %v", audiences, err)
			}
		}
		if err := newCluster(projected("")).check(func(_ *audience.Checker, r *audience.Request) { r.Spec.Audiences = nil }); err != nil {
			t.Errorf("a projected token for the API server: %v", err)
		}
	})
	t.Run("CRP-19 several audiences", func(t *testing.T) {
		w := newCluster(projected("aud"))
		several := func(k *audience.Checker, r *audience.Request) { r.Spec.Audiences = []string{"aud", "b"} }
		if err := w.check(several); !errors.Is(err, audience.ErrAudiences) {
			t.Errorf("Check = %v, want ErrAudiences", err)
		}
		if err := w.check(func(k *audience.Checker, r *audience.Request) { several(k, r); k.Unrestricted = true }); err != nil {
			t.Errorf("CRP-27: with the gate off = %v", err)
		}
	})
	t.Run("CRP-19 denied, in the words of Kubernetes 1.37", func(t *testing.T) {
		err := newCluster().check(nil)
		const want = `system:node:n1 is not authorized to request tokens for audience "aud"`
		var denied *audience.DeniedError
		if err == nil || err.Error() != want || !errors.As(err, &denied) || denied.Reason != "no rule" {
			t.Errorf("Check = %v, want %s", err, want)
		}
		w := newCluster()
		w.authErr = errors.New("role not found")
		const broken = `error authorizing system:node:n1 to request tokens for audience "aud": role not found`
		if err := w.check(nil); err == nil || err.Error() != broken {
			t.Errorf("Check = %v, want %s", err, broken)
		}
	})
	t.Run("CRP-19 an error of the authorizer denies, unless it allows as well", func(t *testing.T) {
		w := newCluster()
		w.authErr = errors.New("role not found")
		if err := w.check(nil); !errors.Is(err, w.authErr) {
			t.Errorf("Check = %v", err)
		}
		w.allow = func(audience.Attributes) bool { return true }
		if err := w.check(nil); err != nil {
			t.Errorf("Check = %v", err)
		}
	})
}

// rule is what the RBAC examples of the KEP say.
type rule struct{ resources, names []string }

func (r rule) allows(a audience.Attributes) bool {
	has := func(list []string, s string) bool {
		for _, entry := range list {
			if entry == s || entry == "*" {
				return true
			}
		}
		return false
	}
	return a.Verb == audience.Verb && a.APIGroup == "" && has(r.resources, a.Resource) && (r.names == nil || has(r.names, a.Name))
}

func TestExamplesOfTheKEP(t *testing.T) {
	for name, c := range map[string]struct {
		rule rule
		want map[string]bool // "audience account"
	}{
		"any audience, any account":      {rule{[]string{"*"}, nil}, map[string]bool{"myaudience mysa": true, "other other": true, " mysa": true}},
		"any audience, one account":      {rule{[]string{"*"}, []string{"mysa"}}, map[string]bool{"myaudience mysa": true, "other mysa": true, "myaudience other": false}},
		"one audience, any account":      {rule{[]string{"myaudience"}, nil}, map[string]bool{"myaudience mysa": true, "myaudience other": true, "other mysa": false}},
		"one audience, one account":      {rule{[]string{"myaudience"}, []string{"mysa"}}, map[string]bool{"myaudience mysa": true, "myaudience other": false, "other mysa": false}},
		"the API server's, all accounts": {rule{[]string{""}, nil}, map[string]bool{" mysa": true, " other": true, "myaudience mysa": false}},
	} {
		t.Run("CRP-27 "+name, func(t *testing.T) {
			for question, want := range c.want {
				aud, account, _ := strings.Cut(question, " ")
				w := newCluster()
				w.allow = c.rule.allows
				err := w.check(func(_ *audience.Checker, r *audience.Request) {
					r.Name, r.Spec.Audiences = account, []string{aud}
				})
				if (err == nil) != want {
					t.Errorf("audience %q, account %q: %v, want allowed %v", aud, account, err, want)
				}
			}
		})
	}
}
