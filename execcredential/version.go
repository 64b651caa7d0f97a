package execcredential

// Names that KEP-541 fixes.
const (
	// Group is the API group of every version.
	Group = "client.authentication.k8s.io"
	// V1 is the API version for new plugins.
	V1 = Group + "/v1"
	// V1Beta1 is the version before it, with the same fields.
	V1Beta1 = Group + "/v1beta1"
	// V1Alpha1 is the first version, without cluster information. client-go has dropped it; the KEP has not.
	V1Alpha1 = Group + "/v1alpha1"
	// Kind is the kind of the object that travels both ways.
	Kind = "ExecCredential"
	// InfoEnv is the environment variable that carries the object to the plugin.
	InfoEnv = "KUBERNETES_EXEC_INFO"
	// ExtensionName is the cluster extension in a kubeconfig whose value becomes [Cluster].Config.
	ExtensionName = "client.authentication.k8s.io/exec"
)

// knownVersion reports whether version is one of V1, V1Beta1 and V1Alpha1.
func knownVersion(version string) bool {
	return version == V1 || version == V1Beta1 || version == V1Alpha1
}

// hasCluster reports whether version has the field spec.cluster: V1 and V1Beta1 do (KEP-541, Provider input format).
func hasCluster(version string) bool { return version == V1 || version == V1Beta1 }

// requiresMode reports whether version wants an explicit interactive mode: V1 does (KEP-541, Provider configuration).
func requiresMode(version string) bool { return version == V1 }
