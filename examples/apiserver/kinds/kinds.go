// Package kinds is the API of the reference API server as Go types: which kinds there are, how they are encoded, which
// of their fields a selector may name.
//
// Kubernetes keeps an internal form of every type and converts. Here the published v1 types are their own internal
// form.
package kinds

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// groups lists the kinds of each group, in the order in which discovery shows the groups.
func groups() []group {
	return []group{
		{corev1.SchemeGroupVersion, []runtime.Object{
			&corev1.Namespace{}, &corev1.NamespaceList{},
			&corev1.Pod{}, &corev1.PodList{}, &corev1.Binding{},
			&corev1.Node{}, &corev1.NodeList{},
			&corev1.ServiceAccount{}, &corev1.ServiceAccountList{},
			&corev1.Secret{}, &corev1.SecretList{},
			&corev1.ConfigMap{}, &corev1.ConfigMapList{},
			&corev1.Event{}, &corev1.EventList{},
			&corev1.Service{}, &corev1.ServiceList{},
			&corev1.PersistentVolume{}, &corev1.PersistentVolumeList{},
			&corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaimList{},
			&corev1.PodAttachOptions{}, &corev1.PodLogOptions{}, &corev1.PodPortForwardOptions{}, &corev1.NodeProxyOptions{},
		}},
		{authenticationv1.SchemeGroupVersion, []runtime.Object{
			&authenticationv1.TokenReview{}, &authenticationv1.TokenRequest{}, &authenticationv1.SelfSubjectReview{},
		}},
		{authorizationv1.SchemeGroupVersion, []runtime.Object{
			&authorizationv1.SubjectAccessReview{}, &authorizationv1.SelfSubjectAccessReview{},
			&authorizationv1.LocalSubjectAccessReview{}, &authorizationv1.SelfSubjectRulesReview{},
		}},
		{coordinationv1.SchemeGroupVersion, []runtime.Object{&coordinationv1.Lease{}, &coordinationv1.LeaseList{}}},
		{rbacv1.SchemeGroupVersion, []runtime.Object{
			&rbacv1.Role{}, &rbacv1.RoleList{}, &rbacv1.RoleBinding{}, &rbacv1.RoleBindingList{},
			&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBinding{}, &rbacv1.ClusterRoleBindingList{},
		}},
		{storagev1.SchemeGroupVersion, []runtime.Object{
			&storagev1.CSIDriver{}, &storagev1.CSIDriverList{}, &storagev1.CSINode{}, &storagev1.CSINodeList{},
		}},
	}
}

type group struct {
	version schema.GroupVersion
	objects []runtime.Object
}

// Kinds is a scheme with its codecs.
type Kinds struct {
	// Scheme knows every kind in v1 and in its internal form, which is the same Go type.
	Scheme *runtime.Scheme
	// Codecs encodes JSON, YAML and protobuf.
	Codecs serializer.CodecFactory
}

// New returns the kinds. With execEnv the options of an exec are [PodExecOptions], which have Env; without it they are
// the published ones, which do not: then env parameters of a request mean nothing to the server (ExecEnvVar off).
func New(execEnv bool) Kinds {
	scheme := runtime.NewScheme()
	for _, g := range groups() {
		register(scheme, g.version, g.objects...)
		metav1.AddToGroupVersion(scheme, g.version)
	}
	if execEnv {
		register(scheme, corev1.SchemeGroupVersion, &PodExecOptions{})
	} else {
		register(scheme, corev1.SchemeGroupVersion, &corev1.PodExecOptions{})
	}
	utilruntime.Must(addParameters(scheme))
	utilruntime.Must(addSelectors(scheme))
	return Kinds{Scheme: scheme, Codecs: serializer.NewCodecFactory(scheme)}
}

// register adds the objects to v1 and to the internal version of the group.
func register(scheme *runtime.Scheme, version schema.GroupVersion, objects ...runtime.Object) {
	scheme.AddKnownTypes(version, objects...)
	scheme.AddKnownTypes(schema.GroupVersion{Group: version.Group, Version: runtime.APIVersionInternal}, objects...)
}

// GroupVersions returns the groups in the order of discovery.
func GroupVersions() []schema.GroupVersion {
	var versions []schema.GroupVersion
	for _, g := range groups() {
		versions = append(versions, g.version)
	}
	return versions
}
