package runtime

import runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

// verdict is what becomes of a field that a request sets.
type verdict int

const (
	honoured verdict = iota // every value is acted upon, or refused where it is acted upon
	ignored                 // it asks for nothing
	refused                 // every value is refused
	judged                  // some values are refused
)

// rule is the verdict on a field of a request and on everything below it.
type rule struct {
	verdict
	why   string
	allow func(asked) bool // of judged; the field is set
}

// What is said more than once.
const (
	noProfiles  = "no security profile is applied"
	noSELinux   = "no SELinux label is set"
	noUserns    = "there are no user namespaces"
	noWindows   = "this is a Linux runtime"
	noHostPorts = "no port of the node is mapped"
	noIDMaps    = "IDs are not mapped"
)

func keep(paths ...string) map[string]rule { return each(rule{verdict: honoured}, paths) }

func ignore(why string, paths ...string) map[string]rule {
	return each(rule{verdict: ignored, why: why}, paths)
}

func refuse(why string, paths ...string) map[string]rule {
	return each(rule{verdict: refused, why: why}, paths)
}

func judge(why string, allow func(asked) bool, paths ...string) map[string]rule {
	return each(rule{verdict: judged, why: why, allow: allow}, paths)
}

func each(r rule, paths []string) map[string]rule {
	out := map[string]rule{}
	for _, p := range paths {
		out[p] = r
	}
	return out
}

// sandboxRules has every field of RunPodSandboxRequest, by its names in the protocol; [] is each element of a list.
var sandboxRules = []map[string]rule{
	keep("config.metadata.name", "config.metadata.uid", "config.metadata.namespace", "config.metadata.attempt",
		"config.hostname", "config.log_directory", "config.dns_config.servers", "config.dns_config.searches", "config.dns_config.options",
		"config.labels", "config.annotations", "config.linux.cgroup_parent", "config.linux.sysctls", "config.linux.security_context.privileged"),
	keep("runtime_handler"),
	judge(noHostPorts, unmappedPort, "config.port_mappings[]"),
	refuse(noWindows, "config.windows"),
	judge("a pod has a network and IPC of its own, or the node's", modes(runtimeapi.NamespaceMode_POD, runtimeapi.NamespaceMode_NODE),
		"config.linux.security_context.namespace_options.network", "config.linux.security_context.namespace_options.ipc"),
	judge("only a container can have the PIDs of another",
		modes(runtimeapi.NamespaceMode_POD, runtimeapi.NamespaceMode_CONTAINER, runtimeapi.NamespaceMode_NODE),
		"config.linux.security_context.namespace_options.pid"),
	refuse("only a container can have the PIDs of another", "config.linux.security_context.namespace_options.target_id"),
	judge(noUserns, hostUsers, "config.linux.security_context.namespace_options.userns_options"),
	refuse(noSELinux, "config.linux.security_context.selinux_options"),
	// A kubelet asks for RuntimeDefault for every sandbox.
	judge("a sandbox runs no program of the pod's, and other profiles are not known",
		profiles(runtimeapi.SecurityProfile_RuntimeDefault, runtimeapi.SecurityProfile_Unconfined),
		"config.linux.security_context.seccomp", "config.linux.security_context.apparmor"),
	judge(noProfiles, oneOf("unconfined", "runtime/default"), "config.linux.security_context.seccomp_profile_path"),
	ignore("a sandbox runs no program of the pod's",
		"config.linux.security_context.run_as_user.value", "config.linux.security_context.run_as_group.value",
		"config.linux.security_context.supplemental_groups"),
	judge("the value is not known", known, "config.linux.security_context.supplemental_groups_policy"),
	ignore("a sandbox has no root file system", "config.linux.security_context.readonly_rootfs"),
	ignore("for information", "config.linux.overhead", "config.linux.resources"),
}

// containerRules has every field of CreateContainerRequest.
var containerRules = []map[string]rule{
	keep("pod_sandbox_id", "config.metadata.name", "config.metadata.attempt", "config.image.image", "config.command", "config.args",
		"config.working_dir", "config.envs[].key", "config.envs[].value", "config.labels", "config.annotations", "config.log_path",
		"config.stdin", "config.stdin_once", "config.tty"),
	judge("the value is not known", known, "config.stop_signal", "config.mounts[].propagation",
		"config.linux.security_context.namespace_options.pid"),
	ignore("the sandbox was made with it", "sandbox_config"),
	ignore("for information", "config.image.annotations", "config.image.user_specified_image", "config.image.image_ref"),
	refuse("there are no runtime handlers", "config.image.runtime_handler"),
	keep("config.mounts[].container_path", "config.mounts[].host_path", "config.mounts[].readonly"),
	judge("only of a mount that is read-only and private", readOnlyAndPrivate, "config.mounts[].recursive_read_only"),
	refuse(noSELinux, "config.mounts[].selinux_relabel", "config.linux.security_context.selinux_options"),
	refuse(noIDMaps, "config.mounts[].uidMappings", "config.mounts[].gidMappings"),
	refuse("there are no image volumes", "config.mounts[].image", "config.mounts[].image_sub_path"),
	refuse("mounts have no options", "config.mounts[].mount_options"),
	keep("config.devices[].container_path", "config.devices[].host_path"),
	judge("a rootless runtime cannot keep a container to them", rooted, "config.devices[].permissions"),
	refuse("there are no CDI devices", "config.CDI_devices"),
	refuse(noWindows, "config.windows"),
	keep("config.linux.resources.cpu_period", "config.linux.resources.cpu_shares", "config.linux.resources.oom_score_adj"),
	judge("a rootless runtime sets no limits", rooted, "config.linux.resources.cpu_quota", "config.linux.resources.memory_limit_in_bytes",
		"config.linux.resources.memory_swap_limit_in_bytes", "config.linux.resources.cpuset_cpus", "config.linux.resources.cpuset_mems",
		"config.linux.resources.hugepage_limits", "config.linux.resources.unified"),
	judge("not a capability that this runtime can give", givable, "config.linux.security_context.capabilities.add_capabilities",
		"config.linux.security_context.capabilities.add_ambient_capabilities"),
	judge("not a capability", droppable, "config.linux.security_context.capabilities.drop_capabilities"),
	judge("the sandbox was not made for privileged containers", inPrivileged, "config.linux.security_context.privileged"),
	judge("the sandbox has it otherwise", sameNetwork, "config.linux.security_context.namespace_options.network"),
	judge("the sandbox has it otherwise", sameIPC, "config.linux.security_context.namespace_options.ipc"),
	keep("config.linux.security_context.namespace_options.target_id"),
	judge(noUserns, hostUsers, "config.linux.security_context.namespace_options.userns_options"),
	keep("config.linux.security_context.run_as_user.value", "config.linux.security_context.run_as_group.value",
		"config.linux.security_context.run_as_username", "config.linux.security_context.readonly_rootfs",
		"config.linux.security_context.supplemental_groups", "config.linux.security_context.supplemental_groups_policy",
		"config.linux.security_context.no_new_privs", "config.linux.security_context.masked_paths", "config.linux.security_context.readonly_paths"),
	judge(noProfiles, profiles(runtimeapi.SecurityProfile_Unconfined),
		"config.linux.security_context.seccomp", "config.linux.security_context.apparmor"),
	judge(noProfiles, oneOf("unconfined"),
		"config.linux.security_context.seccomp_profile_path", "config.linux.security_context.apparmor_profile"),
}

// updateRules has every field of UpdateContainerResourcesRequest.
var updateRules = []map[string]rule{
	keep("container_id", "linux.cpu_period", "linux.cpu_quota", "linux.cpu_shares", "linux.memory_limit_in_bytes",
		"linux.memory_swap_limit_in_bytes", "linux.cpuset_cpus", "linux.cpuset_mems"),
	refuse("only a new container gets it", "linux.oom_score_adj", "linux.hugepage_limits", "linux.unified"),
	refuse(noWindows, "windows"),
	ignore("for information", "annotations"),
}
