package kubelet_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/cri"
	"github.com/lanyard-dev/lanyard/supgroups/kubelet"
)

func ptr[T any](v T) *T { return &v }

func pod(sc corev1.PodSecurityContext) *corev1.PodSpec { return &corev1.PodSpec{SecurityContext: &sc} }

func TestRequest(t *testing.T) {
	t.Run("GRP-3 a container's own user and group win over the pod's", func(t *testing.T) {
		spec := pod(corev1.PodSecurityContext{RunAsUser: ptr(int64(1001)), RunAsGroup: ptr(int64(2001)), SupplementalGroups: []int64{5}})
		container := &corev1.Container{SecurityContext: &corev1.SecurityContext{RunAsUser: ptr(int64(1002)), RunAsGroup: ptr(int64(2002))}}
		got, err := kubelet.Request(spec, container, "alice")
		if err != nil || *got.RunAsUser != 1002 || *got.RunAsGroup != 2002 || !slices.Equal(got.SupplementalGroups, []int64{5}) {
			t.Errorf("Request(…) = %+v, %v", got, err)
		}
	})
	t.Run("GRP-3 the image's user is filled in, without its group", func(t *testing.T) {
		got, err := kubelet.Request(&corev1.PodSpec{}, nil, "alice:users")
		if want := (supgroups.Request{RunAsUsername: "alice"}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Request(…) = %+v, %v, want %+v", got, err, want)
		}
	})
	t.Run("GRP-12 a policy that is none is an error", func(t *testing.T) {
		spec := pod(corev1.PodSecurityContext{SupplementalGroupsPolicy: ptr(corev1.SupplementalGroupsPolicy("merge"))})
		if _, err := kubelet.Request(spec, nil, ""); !errors.Is(err, supgroups.ErrUnknownPolicy) {
			t.Errorf("Request(…) = %v, want ErrUnknownPolicy", err)
		}
	})
}

func TestWire(t *testing.T) {
	spec := pod(corev1.PodSecurityContext{
		RunAsGroup: ptr(int64(3000)), FSGroup: ptr(int64(4000)), SupplementalGroups: []int64{60000, 4000},
		SupplementalGroupsPolicy: ptr(corev1.SupplementalGroupsPolicyStrict),
	})
	req, err := kubelet.Request(spec, nil, "alice:users")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("GRP-12 GRP-1 fsGroup, supplemental groups, extra groups, in that order and undivided", func(t *testing.T) {
		var sc runtimeapi.LinuxContainerSecurityContext
		if err := kubelet.SetContainer(&sc, req, 7, 7); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sc.GetSupplementalGroups(), []int64{4000, 60000, 4000, 7, 7}) || sc.GetRunAsUsername() != "alice" || sc.GetRunAsUser() != nil ||
			sc.GetRunAsGroup().GetValue() != 3000 || sc.GetSupplementalGroupsPolicy() != runtimeapi.SupplementalGroupsPolicy_Strict {
			t.Errorf("SetContainer(…) = %v", &sc)
		}
	})
	t.Run("GRP-12 the sandbox gets the same, but no name", func(t *testing.T) {
		var sc runtimeapi.LinuxSandboxSecurityContext
		if err := kubelet.SetSandbox(&sc, req); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sc.GetSupplementalGroups(), []int64{4000, 60000, 4000}) || sc.GetSupplementalGroupsPolicy() != runtimeapi.SupplementalGroupsPolicy_Strict {
			t.Errorf("SetSandbox(…) = %v", &sc)
		}
	})
	t.Run("GRP-1 GRP-2 the runtime arrives at the same identity as the request itself", func(t *testing.T) {
		var sc runtimeapi.LinuxContainerSecurityContext
		if err := kubelet.SetContainer(&sc, req); err != nil {
			t.Fatal(err)
		}
		there, err := cri.ContainerRequest(&sc, "alice:users")
		if err != nil {
			t.Fatal(err)
		}
		files := func() (*strings.Reader, *strings.Reader) {
			return strings.NewReader("alice:x:1000:1000\n"), strings.NewReader("g:x:50000:alice\n")
		}
		p, g := files()
		here, err := supgroups.Resolve(req, p, g)
		p, g = files()
		got, err2 := supgroups.Resolve(there, p, g)
		if err != nil || err2 != nil || !slices.Equal(here.GIDs(), got.GIDs()) || !slices.Equal(got.GIDs(), []uint32{3000, 4000, 60000}) {
			t.Errorf("here %v, %v; there %v, %v", here, err, got, err2)
		}
	})
	t.Run("GRP-12 a policy that is none is not written", func(t *testing.T) {
		bad := supgroups.Request{Policy: 7}
		if err := kubelet.SetContainer(&runtimeapi.LinuxContainerSecurityContext{}, bad); !errors.Is(err, supgroups.ErrUnknownPolicy) {
			t.Errorf("SetContainer(…) = %v, want ErrUnknownPolicy", err)
		}
		if err := kubelet.SetSandbox(&runtimeapi.LinuxSandboxSecurityContext{}, bad); !errors.Is(err, supgroups.ErrUnknownPolicy) {
			t.Errorf("SetSandbox(…) = %v, want ErrUnknownPolicy", err)
		}
	})
}

func TestStatus(t *testing.T) {
	t.Run("GRP-11 the reported user reaches the API unchanged", func(t *testing.T) {
		user := &runtimeapi.ContainerUser{Linux: &runtimeapi.LinuxContainerUser{Uid: 1000, Gid: 0, SupplementalGroups: []int64{60000, 0}}}
		got, err := json.Marshal(kubelet.ContainerUser(user))
		if want := `{"linux":{"uid":1000,"gid":0,"supplementalGroups":[60000,0]}}`; err != nil || string(got) != want {
			t.Errorf("ContainerUser(…) = %s, %v, want %s", got, err, want)
		}
		if got := kubelet.ContainerUser(nil); got != nil {
			t.Errorf("ContainerUser(nil) = %v, want nil", got)
		}
		if got := kubelet.ContainerUser(&runtimeapi.ContainerUser{}); got == nil || got.Linux != nil {
			t.Errorf("ContainerUser(no linux) = %v, want an empty user", got)
		}
	})
	t.Run("GRP-13 no features, false and true differ", func(t *testing.T) {
		if got := kubelet.NodeFeatures(&runtimeapi.StatusResponse{}); got != nil {
			t.Errorf("NodeFeatures(none) = %v, want nil", got)
		}
		for _, v := range []bool{false, true} {
			status := &runtimeapi.StatusResponse{Features: &runtimeapi.RuntimeFeatures{SupplementalGroupsPolicy: v}}
			if got := kubelet.NodeFeatures(status); got == nil || got.SupplementalGroupsPolicy == nil || *got.SupplementalGroupsPolicy != v {
				t.Errorf("NodeFeatures(%v) = %v", v, got)
			}
		}
	})
}
