package fields

import "k8s.io/apimachinery/pkg/util/validation"

// volumeRows are the fields of a volume.
func volumeRows() []Row {
	const at = "volumes[]."
	rows := []Row{
		judged(at+"name", "a volume's directory has its name, which has to be a DNS label", label),
		honoured(at+"hostPath.path", "the path on the node"),
		limited(at+"hostPath.type", "the path is neither checked nor made", ""),
		refused(at+"emptyDir.medium", "the directory is on the node's disk"),
		refused(at+"emptyDir.sizeLimit", "the directory has no limit"),
		refused(at+"emptyDir.mode", "the directory has mode 0777"),
		honoured(at+"secret.secretName", "the secret"),
		refused(at+"secret.items", "every key is a file of its name"),
		limited(at+"secret.defaultMode", "files have mode 0644, the API's default", "420"),
		refused(at+"secret.defaultUser", "files belong to root"),
		limited(at+"secret.optional", "the secret has to be there", "false"),
		honoured(at+"configMap.name", "the config map"),
		refused(at+"configMap.items", "every key is a file of its name"),
		limited(at+"configMap.defaultMode", "files have mode 0644, the API's default", "420"),
		refused(at+"configMap.defaultUser", "files belong to root"),
		limited(at+"configMap.optional", "the config map has to be there", "false"),
	}
	for _, kind := range otherVolumes {
		rows = append(rows, refused(at+kind, "volumes of this kind are not made"))
	}
	return rows
}

// label reports whether a name is a DNS label, as the API has it: it is not a path.
func label(text string, _ scope) bool { return len(validation.IsDNS1123Label(text)) == 0 }

// otherVolumes are the kinds that the kubelet does not make.
var otherVolumes = []string{
	"gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "persistentVolumeClaim", "rbd", "flexVolume",
	"cinder", "cephfs", "flocker", "downwardAPI", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk",
	"projected", "portworxVolume", "scaleIO", "storageos", "csi", "ephemeral", "image",
}
