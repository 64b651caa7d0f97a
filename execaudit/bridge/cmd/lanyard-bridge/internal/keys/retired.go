package keys

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lanyard-dev/lanyard/execaudit/bridge/token"
)

// retiredAnnotation on the ConfigMap says when which key was retired: a JSON object of times by key ID.
const retiredAnnotation = "bridge.lanyard.dev/retired"

func retiredOf(m *corev1.ConfigMap) (map[string]time.Time, error) {
	retired := map[string]time.Time{}
	if m == nil {
		return retired, nil
	}
	if said := m.Annotations[retiredAnnotation]; said != "" {
		if err := json.Unmarshal([]byte(said), &retired); err != nil || retired == nil {
			return nil, fmt.Errorf("config map %s: annotation %s is not an object of times", m.Name, retiredAnnotation)
		}
	}
	return retired, nil
}

func markRetired(m *corev1.ConfigMap, id token.KeyID, now time.Time) error {
	retired, err := retiredOf(m)
	if err != nil {
		return err
	}
	retired[id.String()] = now.UTC().Truncate(time.Second)
	return setRetired(m, retired)
}

func setRetired(m *corev1.ConfigMap, retired map[string]time.Time) error {
	said, err := json.Marshal(retired)
	if err != nil {
		return err
	}
	if m.Annotations == nil {
		m.Annotations = map[string]string{}
	}
	m.Annotations[retiredAnnotation] = string(said)
	if len(retired) == 0 {
		delete(m.Annotations, retiredAnnotation)
	}
	return nil
}
