package cri_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"pgregory.net/rapid"

	"github.com/lanyard-dev/lanyard/supgroups"
	"github.com/lanyard-dev/lanyard/supgroups/cri"
)

func value(v int64) *runtimeapi.Int64Value { return &runtimeapi.Int64Value{Value: v} }

func TestPolicy(t *testing.T) {
	t.Run("GRP-12 both ways", func(t *testing.T) {
		for wire, want := range map[runtimeapi.SupplementalGroupsPolicy]supgroups.Policy{
			runtimeapi.SupplementalGroupsPolicy_Merge:  supgroups.PolicyMerge,
			runtimeapi.SupplementalGroupsPolicy_Strict: supgroups.PolicyStrict,
		} {
			got, err := cri.Policy(wire)
			back, err2 := cri.FromPolicy(want)
			if got != want || back != wire || err != nil || err2 != nil {
				t.Errorf("%v: Policy = %v, %v; FromPolicy = %v, %v", wire, got, err, back, err2)
			}
		}
	})
	t.Run("GRP-12 an unknown value is an error and never Merge", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			v := rapid.Int32().Filter(func(v int32) bool { return v != 0 && v != 1 }).Draw(t, "value")
			p := runtimeapi.SupplementalGroupsPolicy(v)
			if _, err := cri.Policy(p); !errors.Is(err, supgroups.ErrUnknownPolicy) {
				t.Fatalf("Policy(%d) = %v, want ErrUnknownPolicy", v, err)
			}
			if _, err := cri.ContainerRequest(&runtimeapi.LinuxContainerSecurityContext{SupplementalGroupsPolicy: p}, ""); !errors.Is(err, supgroups.ErrUnknownPolicy) {
				t.Fatalf("ContainerRequest = %v, want ErrUnknownPolicy", err)
			}
			if _, err := cri.SandboxRequest(&runtimeapi.LinuxSandboxSecurityContext{SupplementalGroupsPolicy: p}, ""); !errors.Is(err, supgroups.ErrUnknownPolicy) {
				t.Fatalf("SandboxRequest = %v, want ErrUnknownPolicy", err)
			}
		})
		if _, err := cri.FromPolicy(9); !errors.Is(err, supgroups.ErrUnknownPolicy) {
			t.Errorf("FromPolicy(9) = %v, want ErrUnknownPolicy", err)
		}
	})
}

func TestRequest(t *testing.T) {
	uid, gid := int64(1000), int64(2000)
	t.Run("GRP-12 GRP-3 every field of a container's context", func(t *testing.T) {
		got, err := cri.ContainerRequest(&runtimeapi.LinuxContainerSecurityContext{
			RunAsUser: value(1000), RunAsGroup: value(2000), RunAsUsername: "alice",
			SupplementalGroups:       []int64{3333},
			SupplementalGroupsPolicy: runtimeapi.SupplementalGroupsPolicy_Strict,
		}, "bob")
		want := supgroups.Request{
			Policy: supgroups.PolicyStrict, RunAsUsername: "alice", RunAsUser: &uid, RunAsGroup: &gid,
			SupplementalGroups: []int64{3333}, ImageUser: "bob",
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ContainerRequest(…) = %+v, %v, want %+v", got, err, want)
		}
	})
	t.Run("GRP-12 every field of a sandbox's context", func(t *testing.T) {
		got, err := cri.SandboxRequest(&runtimeapi.LinuxSandboxSecurityContext{
			RunAsUser: value(1000), RunAsGroup: value(2000), SupplementalGroups: []int64{3333},
			SupplementalGroupsPolicy: runtimeapi.SupplementalGroupsPolicy_Strict,
		}, "")
		want := supgroups.Request{Policy: supgroups.PolicyStrict, RunAsUser: &uid, RunAsGroup: &gid, SupplementalGroups: []int64{3333}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("SandboxRequest(…) = %+v, %v, want %+v", got, err, want)
		}
	})
	t.Run("GRP-1 no context asks for nothing, under Merge", func(t *testing.T) {
		got, err := cri.ContainerRequest(nil, "alice")
		if want := (supgroups.Request{ImageUser: "alice"}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ContainerRequest(nil) = %+v, %v, want %+v", got, err, want)
		}
	})
}

func TestUser(t *testing.T) {
	request := supgroups.Request{RunAsUsername: "alice", SupplementalGroups: []int64{60000, 7}}
	who, err := supgroups.Resolve(request, strings.NewReader("alice:x:1000:2000\n"), strings.NewReader("g:x:50000:alice\n"))
	if err != nil {
		t.Fatal(err)
	}
	process := &specs.Process{User: cri.ProcessUser(who)}
	t.Run("GRP-5 GRP-6 the OCI process has the primary group among its ascending groups", func(t *testing.T) {
		want := specs.User{UID: 1000, GID: 2000, AdditionalGids: []uint32{7, 2000, 50000, 60000}}
		if !reflect.DeepEqual(process.User, want) {
			t.Errorf("ProcessUser(…) = %+v, want %+v", process.User, want)
		}
	})
	t.Run("GRP-11 the status is what the process starts with", func(t *testing.T) {
		got := cri.StatusUser(process).GetLinux()
		if got.GetUid() != 1000 || got.GetGid() != 2000 || !slices.Equal(got.GetSupplementalGroups(), []int64{7, 2000, 50000, 60000}) {
			t.Errorf("StatusUser(…) = %+v", got)
		}
		if got := cri.StatusUser(nil); got != nil {
			t.Errorf("StatusUser(nil) = %+v, want nil", got)
		}
	})
}

func TestImageUser(t *testing.T) {
	cases := map[string]struct {
		user, name string
		uid        *runtimeapi.Int64Value
	}{
		"GRP-3 none":               {"", "", nil},
		"GRP-3 a name and group":   {"alice:users", "alice", nil},
		"GRP-3 an ID and more":     {"1:2:3", "", value(1)},
		"GRP-3 an ID beyond int64": {"9223372036854775808", "9223372036854775808", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			image := &runtimeapi.Image{Uid: value(99), Username: "stale"}
			cri.SetImageUser(image, c.user)
			if image.GetUsername() != c.name || (image.Uid == nil) != (c.uid == nil) || image.GetUid().GetValue() != c.uid.GetValue() {
				t.Errorf("SetImageUser(%q) = %v %q", c.user, image.GetUid(), image.GetUsername())
			}
		})
	}
}

func TestFeatures(t *testing.T) {
	t.Run("GRP-13 unset, false and true differ", func(t *testing.T) {
		if got := cri.NodeFeature(&runtimeapi.StatusResponse{}); got != nil {
			t.Errorf("NodeFeature(no features) = %v, want nil", *got)
		}
		if got := cri.NodeFeature(nil); got != nil {
			t.Errorf("NodeFeature(nil) = %v, want nil", *got)
		}
		if got := cri.NodeFeature(&runtimeapi.StatusResponse{Features: &runtimeapi.RuntimeFeatures{}}); got == nil || *got {
			t.Errorf("NodeFeature(false) = %v, want false", got)
		}
		if got := cri.NodeFeature(&runtimeapi.StatusResponse{Features: cri.Features()}); got == nil || !*got {
			t.Errorf("NodeFeature(true) = %v, want true", got)
		}
	})
}
