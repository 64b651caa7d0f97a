package audience

import corev1 "k8s.io/api/core/v1"

// The CSI drivers that in-tree volumes have been moved to.
const (
	driverEBS       = "ebs.csi.aws.com"
	driverGCE       = "pd.csi.storage.gke.io"
	driverCinder    = "cinder.csi.openstack.org"
	driverAzureDisk = "disk.csi.azure.com"
	driverAzureFile = "file.csi.azure.com"
	driverVSphere   = "csi.vsphere.vmware.com"
	driverPortworx  = "pxd.portworx.com"
)

// migratedInline returns the driver of a volume in a pod that names an in-tree source, empty when there is none.
func migratedInline(source *corev1.VolumeSource) string {
	switch {
	case source.AWSElasticBlockStore != nil:
		return driverEBS
	case source.GCEPersistentDisk != nil:
		return driverGCE
	case source.Cinder != nil:
		return driverCinder
	case source.AzureDisk != nil:
		return driverAzureDisk
	case source.AzureFile != nil:
		return driverAzureFile
	case source.VsphereVolume != nil:
		return driverVSphere
	case source.PortworxVolume != nil:
		return driverPortworx
	}
	return ""
}

// migratedPersistent does the same for a persistent volume.
func migratedPersistent(source *corev1.PersistentVolumeSource) string {
	switch {
	case source.AWSElasticBlockStore != nil:
		return driverEBS
	case source.GCEPersistentDisk != nil:
		return driverGCE
	case source.Cinder != nil:
		return driverCinder
	case source.AzureDisk != nil:
		return driverAzureDisk
	case source.AzureFile != nil:
		return driverAzureFile
	case source.VsphereVolume != nil:
		return driverVSphere
	case source.PortworxVolume != nil:
		return driverPortworx
	}
	return ""
}
