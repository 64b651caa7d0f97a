package fields

// containerRows are the fields of a container, but for its security context.
func containerRows() []Row {
	const at = containerPrefix + "."
	return []Row{
		honoured(at+"name", "the container's name"),
		honoured(at+"image", "the image that is pulled and run"),
		judged(at+"command", "$(NAME) and $$ are not expanded", literal),
		judged(at+"args", "$(NAME) and $$ are not expanded", literal),
		honoured(at+"workingDir", "the process's working directory"),
		ignored(at+"ports[].name", "information"),
		judged(at+"ports[].hostPort", "no port of the node is mapped", samePort),
		ignored(at+"ports[].containerPort", "information"),
		ignored(at+"ports[].protocol", "information"),
		refused(at+"ports[].hostIP", "no port of the node is mapped"),
		refused(at+"envFrom", "variables are named one by one"),
		honoured(at+"env[].name", "the variable's name"),
		judged(at+"env[].value", "$(NAME) and $$ are not expanded", literal),
		limited(at+"env[].valueFrom.fieldRef.apiVersion", "the API's only version", "v1"),
		limited(at+"env[].valueFrom.fieldRef.fieldPath", "only some fields of the pod can be had", FieldPaths()...),
		refused(at+"env[].valueFrom.resourceFieldRef", "resources cannot be had as variables"),
		honoured(at+"env[].valueFrom.configMapKeyRef.name", "the config map"),
		honoured(at+"env[].valueFrom.configMapKeyRef.key", "its key"),
		honoured(at+"env[].valueFrom.configMapKeyRef.optional", "whether it must be there"),
		honoured(at+"env[].valueFrom.secretKeyRef.name", "the secret"),
		honoured(at+"env[].valueFrom.secretKeyRef.key", "its key"),
		honoured(at+"env[].valueFrom.secretKeyRef.optional", "whether it must be there"),
		refused(at+"env[].valueFrom.fileKeyRef", "files cannot be had as variables"),
		limited(at+"resources.limits", "CPU time and memory are limited, nothing else is", "cpu", "memory"),
		limited(at+"resources.requests", "of CPU a share is given; one of memory is the scheduler's", "cpu", "memory"),
		refused(at+"resources.claims", "no devices are allocated"),
		ignored(at+"resizePolicy[].resourceName", "says of what restartPolicy is"),
		limited(at+"resizePolicy[].restartPolicy", "a container that runs is not resized; this is the API's default", "NotRequired"),
		refused(at+"restartPolicy", "containers have the pod's restart policy"),
		refused(at+"restartPolicyRules", "containers have the pod's restart policy"),
		honoured(at+"volumeMounts[].name", "the volume"),
		honoured(at+"volumeMounts[].readOnly", "the mount is read-only"),
		limited(at+"volumeMounts[].recursiveReadOnly", "mounts below a read-only one stay as they are", "Disabled"),
		honoured(at+"volumeMounts[].mountPath", "the mount's place"),
		refused(at+"volumeMounts[].subPath", "a link in the volume could lead out of it"),
		limited(at+"volumeMounts[].mountPropagation", "mounts do not travel", "None"),
		refused(at+"volumeMounts[].subPathExpr", "$(NAME) is not expanded"),
		refused(at+"volumeMounts[].bindMountOptions", "mounts have no options"),
		refused(at+"volumeDevices", "there are no block devices"),
		refused(at+"livenessProbe", "probes are not run"),
		refused(at+"readinessProbe", "probes are not run"),
		refused(at+"startupProbe", "probes are not run"),
		refused(at+"lifecycle", "hooks are not run, and the stop signal is the image's"),
		limited(at+"terminationMessagePath", "no message is read; this is the API's default", "/dev/termination-log"),
		limited(at+"terminationMessagePolicy", "no message is read; this is the API's default", "File"),
		limited(at+"imagePullPolicy", "the policies of the API", "Always", "IfNotPresent", "Never"),
		honoured(at+"stdin", "the process's standard input"),
		honoured(at+"stdinOnce", "its end with the first client"),
		honoured(at+"tty", "the process's terminal"),
	}
}

// containerSecurityRows are the fields of a container's security context.
func containerSecurityRows() []Row {
	const at = containerPrefix + ".securityContext."
	return append(profileRows(at),
		honoured(at+"capabilities.add", "the process's capabilities"),
		honoured(at+"capabilities.drop", "the process's capabilities"),
		honoured(at+"privileged", "the runtime's privileged containers"),
		honoured(at+"runAsUser", "supgroups"),
		honoured(at+"runAsGroup", "supgroups"),
		honoured(at+"runAsNonRoot", "a container that would run as root is not made"),
		honoured(at+"readOnlyRootFilesystem", "the root file system is read-only"),
		honoured(at+"allowPrivilegeEscalation", "no_new_privs"),
		limited(at+"procMount", "the usual paths are masked and read-only", "Default"),
	)
}

// FieldPaths returns the fields of a pod that fieldRef can name, in the order of the API's documentation.
func FieldPaths() []string {
	return []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.podIP",
	}
}
