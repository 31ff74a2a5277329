// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import "testing"

func TestProjected(t *testing.T) {
	run(t, []testCase{{
		name: "valid sources",
		spec: `
mounts:
- mountPath: /p
  projected:
    defaultMode: 0
    sources:
    - {serviceAccountToken: {path: token}}
    - {clusterTrustBundle: {name: bundle, path: a.pem}}
    - {clusterTrustBundle: {name: "example.com:ca:v1", path: b.pem}}
    - {podCertificate: {signerName: kubernetes.io/kube-apiserver-client-pod, keyType: RSA3072, keyPath: key.pem, certificateChainPath: chain.pem, maxExpirationSeconds: 86400, userAnnotations: {example.com/A: b}}}`,
	}, {
		name: "sources",
		spec: `mounts: [{mountPath: /p, projected: {defaultMode: 1000, defaultUser: -1, sources: [{}, {secret: {name: ""}, configMap: {name: ""}}]}}, {mountPath: /q, projected: {sources: []}}]`,
		want: []string{
			`spec.mounts[0].projected.defaultMode: Invalid value: 1000: must be between 0 and 0777 octal (511 decimal)`,
			`spec.mounts[0].projected.defaultUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.mounts[0].projected.sources[0]: Required value: exactly one of secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate must be set`,
			`spec.mounts[0].projected.sources[1]: Forbidden: exactly one of secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate may be set: keep one of secret, configMap`,
			`spec.mounts[0].projected.sources[1].secret.name: Required value: must be the name of an object`,
			`spec.mounts[0].projected.sources[1].configMap.name: Required value: must be the name of an object`,
			`spec.mounts[1].projected.sources: Required value: must have at least one source`,
		},
	}, {
		name: "one path twice",
		spec: `mounts: [{mountPath: /p, projected: {sources: [{secret: {name: a, items: [{key: k, path: x}]}}, {serviceAccountToken: {path: x}}, {downwardAPI: {items: [{path: x, fieldRef: {fieldPath: metadata.name}}]}}]}}]`,
		want: []string{
			`spec.mounts[0].projected.sources[1].serviceAccountToken.path: Duplicate value: "x": spec.mounts[0].projected.sources[0].secret.items[0].path has it too`,
			`spec.mounts[0].projected.sources[2].downwardAPI.items[0].path: Duplicate value: "x": spec.mounts[0].projected.sources[0].secret.items[0].path has it too`,
		},
	}, {
		name: "tokens",
		spec: `mounts: [{mountPath: /p, projected: {sources: [{serviceAccountToken: {path: "", expirationSeconds: 599}}, {serviceAccountToken: {path: /a, expirationSeconds: 4294967297}}]}}]`,
		want: []string{
			`spec.mounts[0].projected.sources[0].serviceAccountToken.path: Required value: must be a relative path in the volume`,
			`spec.mounts[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: must be between 600 and 4294967296`,
			`spec.mounts[0].projected.sources[1].serviceAccountToken.path: Invalid value: "/a": must be a relative path`,
			`spec.mounts[0].projected.sources[1].serviceAccountToken.expirationSeconds: Invalid value: 4294967297: must be between 600 and 4294967296`,
		},
	}, {
		name: "the pod's own fields",
		spec: `mounts: [{mountPath: /p, projected: {sources: [{downwardAPI: {items: [{path: a}, {path: b, fieldRef: {fieldPath: status.podIP}}, {path: c, resourceFieldRef: {resource: limits.cpu}}, {path: d, fieldRef: {fieldPath: metadata.uid}, resourceFieldRef: {containerName: x, resource: limits.cpu}}]}}]}}]`,
		want: []string{
			`spec.mounts[0].projected.sources[0].downwardAPI.items[0]: Required value: exactly one of fieldRef, resourceFieldRef must be set`,
			`spec.mounts[0].projected.sources[0].downwardAPI.items[1].fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: "metadata.annotations", "metadata.annotations['<key>']", "metadata.labels", "metadata.labels['<key>']", "metadata.name", "metadata.namespace", "metadata.uid"`,
			`spec.mounts[0].projected.sources[0].downwardAPI.items[2].resourceFieldRef.containerName: Required value: must be the name of a container of the pod`,
			`spec.mounts[0].projected.sources[0].downwardAPI.items[3]: Forbidden: exactly one of fieldRef, resourceFieldRef may be set: keep one of fieldRef, resourceFieldRef`,
			`spec.mounts[0].projected.sources[0].downwardAPI.items[3].resourceFieldRef.containerName: Unsupported value: "x": supported values: "web"`,
		},
	}, {
		name: "trust bundles",
		spec: `mounts: [{mountPath: /p, projected: {sources: [{clusterTrustBundle: {path: a}}, {clusterTrustBundle: {name: "x:y", labelSelector: {}, path: b}}, {clusterTrustBundle: {signerName: "", path: c}}, {clusterTrustBundle: {name: "", signerName: "example.com/a/b", labelSelector: {matchLabels: {"a b": c}}, path: ""}}]}}]`,
		want: []string{
			`spec.mounts[0].projected.sources[0].clusterTrustBundle: Required value: exactly one of name, signerName must be set`,
			`spec.mounts[0].projected.sources[1].clusterTrustBundle.name: Invalid value: "x": must be of the form example.com/signer-name`,
			`spec.mounts[0].projected.sources[1].clusterTrustBundle.labelSelector: Forbidden: labelSelector needs signerName`,
			`spec.mounts[0].projected.sources[2].clusterTrustBundle.signerName: Required value: must be a signer, e.g. example.com/signer`,
			`spec.mounts[0].projected.sources[3].clusterTrustBundle: Forbidden: exactly one of name, signerName may be set: keep one of name, signerName`,
			`spec.mounts[0].projected.sources[3].clusterTrustBundle.name: Required value: must be the name of an object`,
			`spec.mounts[0].projected.sources[3].clusterTrustBundle.labelSelector: Forbidden: labelSelector needs signerName`,
			`spec.mounts[0].projected.sources[3].clusterTrustBundle.signerName: Invalid value: "example.com/a/b": must be of the form example.com/signer-name`,
			`spec.mounts[0].projected.sources[3].clusterTrustBundle.labelSelector.matchLabels[a b]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.mounts[0].projected.sources[3].clusterTrustBundle.path: Required value: must be a relative path in the volume`,
		},
	}, {
		name: "pod certificates",
		spec: `mounts: [{mountPath: /p, projected: {sources: [{podCertificate: {keyType: DSA, maxExpirationSeconds: 3599, user: -1, userAnnotations: {a: b}}}, {podCertificate: {signerName: kubernetes.io/x, keyType: ED25519, maxExpirationSeconds: 86401, keyPath: a, credentialBundlePath: a}}]}}]`,
		want: []string{
			`spec.mounts[0].projected.sources[0].podCertificate.signerName: Required value: must be a signer, e.g. example.com/signer`,
			`spec.mounts[0].projected.sources[0].podCertificate.keyType: Unsupported value: "DSA": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"`,
			`spec.mounts[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid value: 3599: must be between 3600 and 7862400`,
			`spec.mounts[0].projected.sources[0].podCertificate.user: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.mounts[0].projected.sources[0].podCertificate.userAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")`,
			`spec.mounts[0].projected.sources[0].podCertificate: Required value: at least one of credentialBundlePath, keyPath, certificateChainPath must be set`,
			`spec.mounts[0].projected.sources[1].podCertificate.maxExpirationSeconds: Invalid value: 86401: must be between 3600 and 86400`,
			`spec.mounts[0].projected.sources[1].podCertificate.keyPath: Duplicate value: "a": spec.mounts[0].projected.sources[1].podCertificate.credentialBundlePath has it too`,
		},
	}})
}
