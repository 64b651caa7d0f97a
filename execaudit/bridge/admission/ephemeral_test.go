package admission_test

import (
	"encoding/json"
	"maps"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/admission"
)

func ephemeral(name string, env ...corev1.EnvVar) corev1.EphemeralContainer {
	return corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "busybox", Env: env}}
}

// debug is the update that adds the containers to the pod, which has an ephemeral container already.
func debug(t *testing.T, user authenticationv1.UserInfo, added ...corev1.EphemeralContainer) *admissionv1.AdmissionRequest {
	t.Helper()
	before, after := pod(), pod()
	after.Spec.EphemeralContainers = append(after.Spec.EphemeralContainers, added...)
	r := connect("ephemeralcontainers", user, after)
	r.Operation = admissionv1.Update
	old, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	r.OldObject = runtime.RawExtension{Raw: old}
	return r
}

func TestEphemeral(t *testing.T) {
	decide := func(r *admissionv1.AdmissionRequest) admission.Decision {
		return admission.Decide(input(t, r, admission.Known{}), refuse, signer)
	}
	variable := func(d admission.Decision) corev1.EnvVar {
		return corev1.EnvVar{Name: bridge.SessionName, Value: d.Session.String()}
	}
	mine := corev1.EnvVar{Name: "A", Value: "b"}
	t.Run("BRG-7 every new one gets the variable, and no other", func(t *testing.T) {
		d := decide(debug(t, alice, ephemeral("one"), ephemeral("two", mine)))
		got, err := json.Marshal(d.Patch)
		if err != nil {
			t.Fatal(err)
		}
		want := `[{"op":"add","path":"/spec/ephemeralContainers/1/env","value":[{"name":"LANYARD_EXEC_SESSION","value":"` + d.Session.String() + `"}]},` +
			`{"op":"add","path":"/spec/ephemeralContainers/2/env/-","value":{"name":"LANYARD_EXEC_SESSION","value":"` + d.Session.String() + `"}}]`
		if string(got) != want || !d.Allowed || !d.Record {
			t.Fatalf("patch %s, want %s", got, want)
		}
		annotations := map[string]string{"session": d.Session.String(), "outcome": "hint"}
		if !maps.Equal(d.Response("u").AuditAnnotations, annotations) || d.Target != (admission.Target{PodUID: string(pod().UID), Container: "one", Node: "n1"}) {
			t.Fatalf("%+v, want %v", d, annotations)
		}
	})
	t.Run("BRG-7 a dry run is patched and not recorded", func(t *testing.T) {
		r := debug(t, alice, ephemeral("one"))
		*r.DryRun = true
		if d := decide(r); len(d.Patch) != 1 || d.Record {
			t.Fatalf("%+v", d)
		}
	})
	t.Run("BRG-7 an update without a new one goes on, and nothing is said of it", func(t *testing.T) {
		if d := decide(debug(t, alice)); !d.Allowed || d.Record || d.Patch != nil || d.Response("u").AuditAnnotations != nil {
			t.Fatalf("%+v", d)
		}
	})
	t.Run("BRG-7 a second call leaves the variable and keeps the session", func(t *testing.T) {
		first := decide(debug(t, alice, ephemeral("one")))
		d := decide(debug(t, alice, ephemeral("one", variable(first), mine)))
		if !d.Allowed || d.Patch != nil || d.Session != first.Session {
			t.Fatalf("%+v, want the session %v", d, first.Session)
		}
		d = decide(debug(t, alice, ephemeral("one", variable(first)), ephemeral("injected")))
		if len(d.Patch) != 1 || d.Session != first.Session {
			t.Fatalf("with a container that another webhook added: %+v, want the session %v", d, first.Session)
		}
	})
	t.Run("BRG-7 BRG-12 a caller who knows the variable from a dry run is recorded all the same", func(t *testing.T) {
		r := debug(t, alice, ephemeral("one"))
		*r.DryRun = true
		if d := decide(debug(t, alice, ephemeral("one", variable(decide(r))))); !d.Record {
			t.Fatalf("%+v", d)
		}
	})
	t.Run("BRG-2 a second call by a replica that has a newer key keeps the session", func(t *testing.T) {
		first := admission.Decide(input(t, debug(t, alice, ephemeral("one")), admission.Known{}), refuse, admission.NewSigner(oldKey))
		d := decide(debug(t, alice, ephemeral("one", variable(first))))
		if !d.Allowed || d.Session != first.Session {
			t.Fatalf("%+v, want the session %v", d, first.Session)
		}
	})
	own := variable(decide(debug(t, alice, ephemeral("one"))))
	for name, r := range map[string]*admissionv1.AdmissionRequest{
		"the variable":                   debug(t, alice, ephemeral("one", corev1.EnvVar{Name: bridge.SessionName, Value: session.String()})),
		"an empty variable":              debug(t, alice, ephemeral("one", corev1.EnvVar{Name: bridge.SessionName})),
		"the variable from elsewhere":    debug(t, alice, ephemeral("one", corev1.EnvVar{Name: bridge.SessionName, ValueFrom: &corev1.EnvVarSource{}})),
		"another user's session":         debug(t, bob, ephemeral("one", own)),
		"another container's session":    debug(t, alice, ephemeral("two", own)),
		"the right variable twice":       debug(t, alice, ephemeral("one", own, own)),
		"the variable in the second one": debug(t, alice, ephemeral("one"), ephemeral("two", corev1.EnvVar{Name: bridge.SessionName, Value: "x"})),
	} {
		t.Run("BRG-7 a caller who sets "+name+" is refused", func(t *testing.T) {
			d := decide(r)
			if d.Allowed || !d.Record || d.Outcome != bridge.OutcomeRefused || d.Reason != "the caller set LANYARD_EXEC_SESSION" {
				t.Fatalf("%+v, want a refusal", d)
			}
		})
	}
}
