package gates_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/component-base/featuregate"

	"github.com/lanyard-dev/lanyard/examples/gates"
	"github.com/lanyard-dev/lanyard/execaudit"
)

type maker func(int) (featuregate.MutableVersionedFeatureGate, error)

// TestDefaults checks each gate's default for the versions around its changes.
func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		component string
		make      maker
		gate      featuregate.Feature
		defaults  map[int]bool
	}{
		{"API server", gates.APIServer, gates.ExecEnvVar, map[int]bool{37: false}},
		{"API server", gates.APIServer, gates.ExecRequestID, map[int]bool{37: false}},
		{"kubelet", gates.Kubelet, gates.ExecEnvVar, map[int]bool{37: false}},
		{"API server", gates.APIServer, gates.SupplementalGroupsPolicy, map[int]bool{31: false, 32: false, 33: true, 35: true, 37: true}},
		{"kubelet", gates.Kubelet, gates.SupplementalGroupsPolicy, map[int]bool{31: false, 32: false, 33: true, 35: true, 37: true}},
		{"kubelet", gates.Kubelet, gates.FineGrainedAuthz, map[int]bool{32: false, 33: true, 36: true}},
		{"API server", gates.APIServer, gates.FineGrainedAuthz, map[int]bool{32: false, 33: true, 36: true}},
		{"kubelet", gates.Kubelet, gates.ServiceAccountTokenForPlugins, map[int]bool{33: false, 34: true, 37: true}},
		{"API server", gates.APIServer, gates.NodeAudienceRestriction, map[int]bool{32: false, 33: true, 37: true}},
		{"kubelet", gates.Kubelet, gates.EnsureSecretPulledImages, map[int]bool{33: false, 34: false, 35: true, 37: true}},
	} {
		for minor, want := range c.defaults {
			t.Run(fmt.Sprintf("STK-8 %s %s 1.%d", c.component, c.gate, minor), func(t *testing.T) {
				g, err := c.make(minor)
				if err != nil {
					t.Fatal(err)
				}
				if got := g.Enabled(c.gate); got != want {
					t.Errorf("default = %v, want %v", got, want)
				}
			})
		}
	}
}

func TestSetting(t *testing.T) {
	for _, c := range []struct {
		name, set string
		make      maker
		minor     int
		refused   string // part of the error, empty where it is accepted
	}{
		{"STK-8 GRP-16 a locked gate set false is an error", "SupplementalGroupsPolicy=false", gates.Kubelet, 35, "locked"},
		{"STK-8 a locked gate set true is accepted", "SupplementalGroupsPolicy=true", gates.Kubelet, 35, ""},
		{"STK-8 GRP-16 before the lock it can be off", "SupplementalGroupsPolicy=false", gates.Kubelet, 34, ""},
		{"STK-8 KubeletFineGrainedAuthz is locked from 1.36", "KubeletFineGrainedAuthz=false", gates.Kubelet, 36, "locked"},
		{"STK-8 a gate of a later version is refused", "ExecEnvVar=true", gates.APIServer, 36, "PreAlpha"},
		{"STK-8 a gate of the other component is refused", "ServiceAccountNodeAudienceRestriction=true", gates.Kubelet, 37, "unrecognized"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := c.make(c.minor)
			if err != nil {
				t.Fatal(err)
			}
			err = g.Set(c.set)
			if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("Set(%s) at 1.%d = %v, want %q", c.set, c.minor, err, c.refused)
			}
		})
	}
}

func TestExec(t *testing.T) {
	t.Run("EXA-1 ExecRequestID without ExecEnvVar is refused at start", func(t *testing.T) {
		g, err := gates.APIServer(37)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Set("ExecRequestID=true"); err != nil {
			t.Fatal(err)
		}
		if _, err := gates.Exec(g); !errors.Is(err, execaudit.ErrRequestIDNeedsEnvVar) {
			t.Errorf("Exec = %v, want ErrRequestIDNeedsEnvVar", err)
		}
	})
	t.Run("EXA-1 the kubelet has ExecEnvVar alone", func(t *testing.T) {
		g, err := gates.Kubelet(37)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Set("ExecEnvVar=true"); err != nil {
			t.Fatal(err)
		}
		got, err := gates.Exec(g)
		if want := (execaudit.Gates{ExecEnvVar: true}); got != want || err != nil {
			t.Errorf("Exec = %+v, %v, want %+v", got, err, want)
		}
	})
}

func TestVersionsOutsideTheRange(t *testing.T) {
	for _, c := range []struct {
		component string
		make      maker
	}{{"API server", gates.APIServer}, {"kubelet", gates.Kubelet}} {
		t.Run("KAZ-17 "+c.component+" of a newer minor has the gates of the newest known", func(t *testing.T) {
			newest, err := c.make(gates.MaxMinor)
			if err != nil {
				t.Fatal(err)
			}
			for _, minor := range []int{gates.MaxMinor + 1, 99} {
				got, err := c.make(minor)
				if err != nil {
					t.Fatalf("1.%d: %v", minor, err)
				}
				if !reflect.DeepEqual(got.GetAll(), newest.GetAll()) {
					t.Errorf("gates of 1.%d = %v, want %v", minor, got.GetAll(), newest.GetAll())
				}
				if err := got.Set("KubeletFineGrainedAuthz=false"); err == nil {
					t.Errorf("1.%d: a locked gate can be switched off", minor)
				}
			}
		})
		t.Run("STK-8 "+c.component+" of an older minor is refused", func(t *testing.T) {
			for _, minor := range []int{gates.MinMinor - 1, 0, -1} {
				if _, err := c.make(minor); err == nil {
					t.Errorf("1.%d: nil error, want the oldest", minor)
				}
			}
		})
	}
	t.Run("KAZ-17 Known says so", func(t *testing.T) {
		for minor, want := range map[int]int{99: gates.MaxMinor, gates.MaxMinor: gates.MaxMinor, gates.MinMinor: gates.MinMinor, gates.MinMinor - 1: 0} {
			if got, same := gates.Known(minor); got != want || same != (want == minor) {
				t.Errorf("Known(%d) = %d, %v, want %d", minor, got, same, want)
			}
		}
	})
}
