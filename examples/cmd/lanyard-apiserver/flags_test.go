package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/lanyard-dev/lanyard/examples/apiserver"
	"github.com/lanyard-dev/lanyard/execaudit"
	execapi "github.com/lanyard-dev/lanyard/execaudit/apiserver"
)

// parse reads a command line; what it lacks is in the error.
func parse(t *testing.T, args ...string) (apiserver.Options, error) {
	t.Helper()
	f, set := newFlags(), pflag.NewFlagSet("lanyard-apiserver", pflag.ContinueOnError)
	f.add(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f.options()
}

func TestFlagsReachTheOptions(t *testing.T) {
	t.Run("EXA-7 the whole prefix is reserved by a flag, and only by it", func(t *testing.T) {
		plain, _ := parse(t)
		wide, _ := parse(t, "--reserve-kubernetes-prefix")
		if plain.Reserved != execaudit.ReservedList || wide.Reserved != execaudit.ReservedPrefix {
			t.Errorf("Reserved = %v and with the flag %v, want the list and the prefix", plain.Reserved, wide.Reserved)
		}
	})
	t.Run("EXA-26 clients' audit IDs are ignored by a flag, and only by it", func(t *testing.T) {
		plain, _ := parse(t)
		strict, _ := parse(t, "--ignore-client-audit-ids")
		if plain.ClientAuditIDs == execapi.ClientIDsIgnore || strict.ClientAuditIDs != execapi.ClientIDsIgnore {
			t.Errorf("ClientAuditIDs = %v and with the flag %v", plain.ClientAuditIDs, strict.ClientAuditIDs)
		}
	})
	t.Run("STK-8 gates are a flag, with the defaults of the version that is played", func(t *testing.T) {
		for _, c := range []struct {
			args []string
			want bool
		}{
			{[]string{"--emulated-minor=32"}, false},
			{[]string{"--emulated-minor=33"}, true},
			{[]string{"--emulated-minor=99"}, true},
			{[]string{"--emulated-minor=33", "--feature-gates=KubeletFineGrainedAuthz=false"}, false},
		} {
			o, _ := parse(t, c.args...)
			if got := o.Gates.Enabled("KubeletFineGrainedAuthz"); got != c.want {
				t.Errorf("%v: KubeletFineGrainedAuthz = %v, want %v", c.args, got, c.want)
			}
		}
		if _, err := parse(t, "--feature-gates=KubeletFineGrainedAuthz=false"); err == nil || !strings.Contains(err.Error(), "KubeletFineGrainedAuthz") {
			t.Errorf("a locked gate set false: %v, want an error that names it", err)
		}
	})
}

func TestFlagFaultsComeTogether(t *testing.T) {
	_, err := parse(t, "--service-account-signing-key-file=/nowhere", "--pod-policy-file=/nowhere", "--emulated-minor=1")
	for _, part := range []string{
		"--tls-cert-file is required", "--tls-private-key-file is required", "--client-ca-file is required",
		"--kubelet-client-certificate is required", "--kubelet-client-key is required", "--kubelet-certificate-authority is required",
		"--service-account-signing-key-file", "--pod-policy-file", "minor version 1",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error = %v, want one that says %q", err, part)
		}
	}
}
