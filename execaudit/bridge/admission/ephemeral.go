package admission

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge"
	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// wirePod is what of a pod matters here; the rest of it is not decoded.
type wirePod struct {
	Metadata struct {
		UID         string            `json:"uid"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		NodeName            string `json:"nodeName"`
		EphemeralContainers []struct {
			Name string `json:"name"`
			Env  []struct {
				Name      string `json:"name"`
				Value     string `json:"value"`
				ValueFrom any    `json:"valueFrom"`
			} `json:"env"`
			TTY bool `json:"tty"`
		} `json:"ephemeralContainers"`
	} `json:"spec"`
}

// readEphemeral finds the ephemeral containers that the old object does not have.
func (r *Request) readEphemeral(from *admissionv1.AdmissionRequest) error {
	var now, before wirePod
	if err := decode(from.Object.Raw, &now); err != nil {
		return err
	}
	if err := decode(from.OldObject.Raw, &before); err != nil {
		return err
	}
	r.podUID, r.podNode = token.PodUID(now.Metadata.UID, now.Metadata.Annotations), now.Spec.NodeName
	old := map[string]bool{}
	for _, c := range before.Spec.EphemeralContainers {
		old[c.Name] = true
	}
	for i, c := range now.Spec.EphemeralContainers {
		if old[c.Name] {
			continue
		}
		added := addedContainer{index: i, name: c.Name, hasEnv: len(c.Env) > 0}
		for _, v := range c.Env {
			if v.Name == bridge.SessionName {
				value := v.Value
				if v.ValueFrom != nil {
					value = "from elsewhere"
				}
				added.values = append(added.values, value)
			}
		}
		if len(r.added) == 0 {
			r.Container, r.TTY = c.Name, c.TTY
		}
		r.added = append(r.added, added)
	}
	return nil
}

// ephemeral gives the new ephemeral containers the session's variable: a hint, since whoever may edit the pod could
// write it. The session's ID follows from the pod, the name of the first new container, which a pod can have once, and the
// user: by that a second call for one request knows that the variable is its own.
func (in Input) ephemeral(signer Signer) Decision {
	r := in.Request
	if len(r.added) == 0 {
		return Decision{Allowed: true}
	}
	d := Decision{
		Allowed: true, Outcome: bridge.OutcomeHint, Session: in.Session, Record: !r.DryRun,
		Target: Target{PodUID: r.podUID, Container: r.Container, Node: r.podNode},
	}
	var own []string
	for _, key := range signer.keys {
		tag := key.Requester(bridge.SessionID{}, r.User)
		for _, c := range r.added {
			own = append(own, ephemeralSession(tag, r.podUID, c.name).String())
		}
	}
	if len(own) > 0 {
		d.Session, _ = bridge.ParseSessionID(own[0])
	}
	session := d.Session.String()
	for _, c := range r.added {
		for _, value := range c.values {
			if len(c.values) > 1 || !slices.Contains(own, value) {
				return d.refused("the caller set "+bridge.SessionName,
					"ephemeral container "+strconv.Quote(c.name)+" sets "+bridge.SessionName+", which is for the webhook to set")
			}
			session = value
		}
	}
	d.Session, _ = bridge.ParseSessionID(session)
	for _, c := range r.added {
		if len(c.values) > 0 { // a second call, or a caller who knows it from a dry run: so it is recorded again
			continue
		}
		variable := map[string]string{"name": bridge.SessionName, "value": session}
		path := "/spec/ephemeralContainers/" + strconv.Itoa(c.index) + "/env"
		if c.hasEnv {
			d.Patch = append(d.Patch, Operation{"add", path + "/-", variable})
		} else {
			d.Patch = append(d.Patch, Operation{"add", path, []any{variable}})
		}
	}
	return d
}

func ephemeralSession(requester [16]byte, texts ...string) bridge.SessionID {
	h := sha256.New()
	h.Write([]byte("lanyard ephemeral container 1\x00"))
	h.Write(requester[:])
	for _, text := range texts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	id := bridge.SessionID(h.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // a UUID of version 8
	return id
}
