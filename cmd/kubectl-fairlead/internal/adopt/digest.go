// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// AnnotationBackup is on an adopted object until it is restored: the digest of the backup. More users may write Secrets than
// Deployments and Services. To change what this says, a user needs the permission to change the object itself, and gains
// nothing from a restoration.
const AnnotationBackup = v1.ReservedPrefix + "backup-digest"

// Digest is the digest of all that a backup says.
func Digest(secret *corev1.Secret) string {
	hash := sha256.New()
	for _, key := range []string{DeploymentKey, ServiceKey, releaseKey} {
		fmt.Fprintf(hash, "%s %d\n", key, len(secret.Data[key]))
		hash.Write(secret.Data[key])
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// IsVouched reports whether every object that a backup restores names its digest, or is what the backup says already, as after
// a restoration that was interrupted. A service of nil is not restored.
func (s Saved) IsVouched(digest string, deployment *appsv1.Deployment, service *corev1.Service) bool {
	return s.IsDeploymentVouched(digest, deployment) && (service == nil || s.IsServiceVouched(digest, service))
}

// IsDeploymentVouched is the half of IsVouched about the Deployment.
func (s Saved) IsDeploymentVouched(digest string, deployment *appsv1.Deployment) bool {
	return deployment.Annotations[AnnotationBackup] == digest || s.isDeployment(deployment)
}

// IsServiceVouched is the half of IsVouched about the Service.
func (s Saved) IsServiceVouched(digest string, service *corev1.Service) bool {
	return service.Annotations[AnnotationBackup] == digest || s.IsService(service)
}

// IsMarked reports whether an adoption has changed the object, or at least begun to: it has the consent, or the digest of a backup.
func IsMarked(object metav1.Object) bool {
	annotations := object.GetAnnotations()
	return annotations[v1.AnnotationAdoptableBy] != "" || annotations[AnnotationBackup] != ""
}

// Describes reports whether the backup says what runs before an adoption. The Service may carry the consent already, with the
// digest of this backup.
func (s Saved) Describes(digest string, deployment *appsv1.Deployment, service *corev1.Service) bool {
	if (s.Service == nil) != (service == nil) || !s.isDeployment(deployment) {
		return false
	}
	return service == nil || service.UID == s.Service.UID && s.IsVouched(digest, deployment, service)
}

// IsPlain reports whether the objects are what the backup says, but for the marks of a Helm release. A service of nil is not restored.
func (s Saved) IsPlain(deployment *appsv1.Deployment, service *corev1.Service) bool {
	plain := Saved{Deployment: s.Deployment.DeepCopy(), Service: s.Service.DeepCopy()}
	plain.Unmark()
	return plain.isDeployment(deployment) && (service == nil || plain.IsService(service))
}

func (s Saved) isDeployment(live *appsv1.Deployment) bool {
	plain := live.DeepCopy()
	delete(plain.Annotations, AnnotationBackup)
	return equality.Semantic.DeepEqual(plain, Restore(plain, s.Deployment))
}

// IsService reports whether the live Service is what the backup says.
func (s Saved) IsService(live *corev1.Service) bool {
	if s.Service == nil {
		return false
	}
	plain := live.DeepCopy()
	delete(plain.Annotations, AnnotationBackup)
	return equality.Semantic.DeepEqual(plain, RestoreService(plain, s.Service))
}
