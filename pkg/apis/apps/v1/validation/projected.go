// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateProjected follows the API server's rules for projected volumes.
func validateProjected(in input, path *field.Path, projected *corev1.ProjectedVolumeSource) field.ErrorList {
	errs := validateMode(path.Child("defaultMode"), projected.DefaultMode)
	errs = append(errs, validateUser(path.Child("defaultUser"), projected.DefaultUser)...)
	path = path.Child("sources")
	if len(projected.Sources) == 0 {
		errs = append(errs, field.Required(path, "must have at least one source"))
	}
	files := names{}
	for i := range projected.Sources {
		source, path := &projected.Sources[i], path.Index(i)
		errs = append(errs, exactlyOne(path, []string{"secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"},
			source.Secret != nil, source.ConfigMap != nil, source.DownwardAPI != nil,
			source.ServiceAccountToken != nil, source.ClusterTrustBundle != nil, source.PodCertificate != nil)...)
		if source := source.Secret; source != nil {
			errs = append(errs, subdomain(path.Child("secret", "name"), source.Name)...)
			errs = append(errs, validateKeysToPaths(path.Child("secret", "items"), source.Items, files)...)
		}
		if source := source.ConfigMap; source != nil {
			errs = append(errs, subdomain(path.Child("configMap", "name"), source.Name)...)
			errs = append(errs, validateKeysToPaths(path.Child("configMap", "items"), source.Items, files)...)
		}
		if source := source.DownwardAPI; source != nil {
			errs = append(errs, validateDownwardFiles(in, path.Child("downwardAPI", "items"), source.Items, files)...)
		}
		if source := source.ServiceAccountToken; source != nil {
			errs = append(errs, validateTokenProjection(path.Child("serviceAccountToken"), source, files)...)
		}
		if source := source.ClusterTrustBundle; source != nil {
			errs = append(errs, validateTrustBundle(path.Child("clusterTrustBundle"), source, files)...)
		}
		if source := source.PodCertificate; source != nil {
			errs = append(errs, validatePodCertificate(path.Child("podCertificate"), source, files)...)
		}
	}
	return errs
}

func validateDownwardFiles(in input, path *field.Path, items []corev1.DownwardAPIVolumeFile, files names) field.ErrorList {
	var errs field.ErrorList
	for i, item := range items {
		path := path.Index(i)
		errs = append(errs, validateFile(path, item.Path, item.Mode, item.User, files)...)
		errs = append(errs, exactlyOne(path, []string{"fieldRef", "resourceFieldRef"}, item.FieldRef != nil, item.ResourceFieldRef != nil)...)
		if item.FieldRef != nil {
			errs = append(errs, validateFieldRef(path.Child("fieldRef"), item.FieldRef, volumeFieldPaths)...)
		}
		if item.ResourceFieldRef != nil {
			errs = append(errs, validateResourceFieldRef(in, path.Child("resourceFieldRef"), item.ResourceFieldRef, true)...)
		}
	}
	return errs
}

func validateTokenProjection(path *field.Path, token *corev1.ServiceAccountTokenProjection, files names) field.ErrorList {
	errs := validateFile(path, token.Path, nil, token.User, files)
	return append(errs, between(path.Child("expirationSeconds"), token.ExpirationSeconds, 600, 1<<32)...)
}

func validateTrustBundle(path *field.Path, bundle *corev1.ClusterTrustBundleProjection, files names) field.ErrorList {
	errs := exactlyOne(path, []string{"name", "signerName"}, bundle.Name != nil, bundle.SignerName != nil)
	if bundle.Name != nil {
		// The name of a signer's bundle is <signer domain>:<signer path>:<name>.
		name := *bundle.Name
		signer, last, signed := cutLast(name, ":")
		if signed {
			errs = append(errs, validateSignerName(path.Child("name"), strings.ReplaceAll(signer, ":", "/"))...)
			name = last
		}
		errs = append(errs, subdomain(path.Child("name"), name)...)
		if bundle.LabelSelector != nil {
			errs = append(errs, field.Forbidden(path.Child("labelSelector"), "labelSelector needs signerName"))
		}
	}
	if bundle.SignerName != nil {
		errs = append(errs, validateSignerName(path.Child("signerName"), *bundle.SignerName)...)
		errs = append(errs, validateLabelSelector(path.Child("labelSelector"), bundle.LabelSelector)...)
	}
	return append(errs, validateFile(path, bundle.Path, nil, bundle.User, files)...)
}

func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return "", s, false
}

// Pod certificates live at least an hour. Those of Kubernetes' own signers live at most a day, others at most 91 days.
const (
	minCertificateSeconds        = 3600
	maxCertificateSeconds        = 91 * 24 * 3600
	maxKubernetesCertificateTime = 24 * 3600
)

func validatePodCertificate(path *field.Path, certificate *corev1.PodCertificateProjection, files names) field.ErrorList {
	errs := validateSignerName(path.Child("signerName"), certificate.SignerName)
	keyTypes := []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}
	errs = append(errs, oneOf(path.Child("keyType"), certificate.KeyType, keyTypes...)...)
	longest := int32(maxCertificateSeconds)
	if domain, _, _ := strings.Cut(certificate.SignerName, "/"); domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io") {
		longest = maxKubernetesCertificateTime
	}
	errs = append(errs, between(path.Child("maxExpirationSeconds"), certificate.MaxExpirationSeconds, minCertificateSeconds, longest)...)
	errs = append(errs, validateUser(path.Child("user"), certificate.User)...)
	for _, key := range sortedKeys(certificate.UserAnnotations) {
		errs = append(errs, validation.IsDomainPrefixedKey(path.Child("userAnnotations"), strings.ToLower(key))...)
	}
	if certificate.CredentialBundlePath == "" && certificate.KeyPath == "" && certificate.CertificateChainPath == "" {
		errs = append(errs, field.Required(path, "at least one of credentialBundlePath, keyPath, certificateChainPath must be set"))
	}
	for _, file := range []struct{ name, path string }{
		{"credentialBundlePath", certificate.CredentialBundlePath},
		{"keyPath", certificate.KeyPath},
		{"certificateChainPath", certificate.CertificateChainPath},
	} {
		if file.path != "" {
			errs = append(errs, validateFilePath(path.Child(file.name), file.path)...)
			errs = append(errs, files.add(path.Child(file.name), cleanFile(file.path))...)
		}
	}
	return errs
}

// validateSignerName requires <domain of two labels or more>/<path>.
func validateSignerName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "must be a signer, e.g. example.com/signer")}
	}
	domain, signer, found := strings.Cut(name, "/")
	if !found || strings.Contains(signer, "/") || !strings.Contains(domain, ".") ||
		len(validation.IsDNS1123Subdomain(domain)) > 0 || len(validation.IsDNS1123Subdomain(signer)) > 0 || longLabel(domain) {
		return field.ErrorList{field.Invalid(path, name, "must be of the form example.com/signer-name")}
	}
	return nil
}

// longLabel returns a label of a domain name that is too long for DNS.
func longLabel(domain string) bool {
	for label := range strings.SplitSeq(domain, ".") {
		if len(label) > validation.DNS1123LabelMaxLength {
			return true
		}
	}
	return false
}
