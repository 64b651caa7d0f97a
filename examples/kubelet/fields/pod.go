package fields

// podRows are the fields of the PodSpec itself.
func podRows() []Row {
	return []Row{
		refused("ephemeralContainers", "ephemeral containers are not run"),
		limited("restartPolicy", "the policies of the API", "Always", "OnFailure", "Never"),
		honoured("terminationGracePeriodSeconds", "the time between SIGTERM and SIGKILL"),
		refused("activeDeadlineSeconds", "no deadline is kept"),
		limited("dnsPolicy", "containers get the node's resolv.conf, as a cluster without a DNS service does for ClusterFirst",
			"Default", "ClusterFirst"),
		refused("nodeSelector", "the node's labels are not compared"),
		honoured("serviceAccountName", "spec.serviceAccountName of fieldRef, and tokens of credential providers"),
		ignored("serviceAccount", "the API server keeps it equal to serviceAccountName"),
		ignored("automountServiceAccountToken", "the API server acts on it, by adding a volume"),
		honoured("nodeName", "only pods of the node are seen"),
		honoured("hostNetwork", "the sandbox's network namespace"),
		honoured("hostPID", "the sandbox's PID namespace"),
		honoured("hostIPC", "the sandbox's IPC namespace"),
		honoured("shareProcessNamespace", "the sandbox's PID namespace"),
		refused("imagePullSecrets", "credentials come from credential providers alone"),
		honoured("hostname", "the sandbox's host name"),
		refused("subdomain", "pods have no domain"),
		refused("affinity", "neither nodes nor pods are compared"),
		ignored("schedulerName", "a pod that reaches a kubelet is bound"),
		ignored("tolerations", "they only allow; the kubelet evicts for no taint"),
		refused("hostAliases", "/etc/hosts is the image's"),
		refused("priorityClassName", "pods have no order among each other"),
		limited("priority", "pods have no order among each other; 0 is the API's default", "0"),
		refused("dnsConfig", "containers get the node's resolv.conf"),
		refused("readinessGates", "a pod is ready when its containers run"),
		honoured("runtimeClassName", "the runtime handler that the kubelet's configuration has for it"),
		ignored("enableServiceLinks", "the kubelet reads no Services, whose variables it could set; true is the API's default"),
		ignored("preemptionPolicy", "the scheduler's"),
		refused("overhead", "nothing is accounted"),
		ignored("topologySpreadConstraints", "the scheduler's"),
		limited("setHostnameAsFQDN", "pods have no domain", "false"),
		limited("os.name", "the node is a Linux machine", "linux"),
		limited("hostUsers", "there are no user namespaces", "true"),
		refused("schedulingGates", "a pod with a gate is not to run"),
		refused("resourceClaims", "no devices are allocated"),
		refused("resources", "limits are those of containers"),
		refused("hostnameOverride", "the host name is spec.hostname or the pod's name"),
		ignored("schedulingGroup", "the scheduler's"),
		refused("evictionResponders", "evictions are not answered"),
	}
}

// podSecurityRows are the fields of the pod's security context.
func podSecurityRows() []Row {
	const at = "securityContext."
	return append(profileRows(at),
		honoured(at+"runAsUser", "supgroups"),
		honoured(at+"runAsGroup", "supgroups"),
		honoured(at+"runAsNonRoot", "a container that would run as root is not made"),
		honoured(at+"supplementalGroups", "supgroups"),
		honoured(at+"supplementalGroupsPolicy", "supgroups, and admission by the matrix of KEP-3619"),
		honoured(at+"fsGroup", "a group of every process, and the group of the volumes that the kubelet makes"),
		refused(at+"sysctls", "no kernel parameter is set"),
		ignored(at+"fsGroupChangePolicy", "the API gives it no effect on the kinds of volumes that the kubelet makes"),
		refused(at+"seLinuxChangePolicy", "no SELinux label is set"),
	)
}

// profileRows are what a pod's security context and a container's both have.
func profileRows(at string) []Row {
	return []Row{
		refused(at+"seLinuxOptions", "no SELinux label is set"),
		refused(at+"windowsOptions", "the node is a Linux machine"),
		limited(at+"seccompProfile.type", "no seccomp profile is applied", "Unconfined"),
		refused(at+"seccompProfile.localhostProfile", "no seccomp profile is applied"),
		limited(at+"appArmorProfile.type", "no AppArmor profile is applied", "Unconfined"),
		refused(at+"appArmorProfile.localhostProfile", "no AppArmor profile is applied"),
	}
}
