// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateApplicationEnv(in input) field.ErrorList {
	errs := tooMany(in.path.Child("env"), len(in.spec.Env), 1024)
	errs = append(errs, validateEnv(in, in.path.Child("env"), in.spec.Env)...)
	errs = append(errs, tooMany(in.path.Child("envFrom"), len(in.spec.EnvFrom), 64)...)
	errs = append(errs, validateEnvFrom(in.path.Child("envFrom"), in.spec.EnvFrom)...)
	return errs
}

func validateEnv(in input, path *field.Path, env []corev1.EnvVar) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	for i, variable := range env {
		path := path.Index(i)
		if variable.Name == "" {
			errs = append(errs, field.Required(path.Child("name"), "must be the name of the variable"))
		} else {
			errs = append(errs, invalid(path.Child("name"), variable.Name, validation.IsRelaxedEnvVarName(variable.Name))...)
			errs = append(errs, seen.add(path.Child("name"), variable.Name)...)
		}
		if strings.Contains(variable.Value, "\x00") {
			errs = append(errs, field.Invalid(path.Child("value"), variable.Value, "must not contain a NUL character"))
		}
		if variable.ValueFrom == nil {
			continue
		}
		if variable.Value != "" {
			errs = append(errs, field.Forbidden(path.Child("valueFrom"), "value and valueFrom exclude each other: remove one of them"))
		}
		errs = append(errs, validateEnvSource(in, path.Child("valueFrom"), variable.ValueFrom)...)
	}
	return errs
}

func validateEnvSource(in input, path *field.Path, source *corev1.EnvVarSource) field.ErrorList {
	errs := exactlyOne(path, []string{"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"},
		source.FieldRef != nil, source.ResourceFieldRef != nil, source.ConfigMapKeyRef != nil, source.SecretKeyRef != nil, source.FileKeyRef != nil)
	if ref := source.FieldRef; ref != nil {
		errs = append(errs, validateFieldRef(path.Child("fieldRef"), ref, envFieldPaths)...)
	}
	if ref := source.ResourceFieldRef; ref != nil {
		errs = append(errs, validateResourceFieldRef(in, path.Child("resourceFieldRef"), ref, false)...)
	}
	if ref := source.ConfigMapKeyRef; ref != nil {
		errs = append(errs, subdomain(path.Child("configMapKeyRef", "name"), ref.Name)...)
		errs = append(errs, validateKey(path.Child("configMapKeyRef", "key"), ref.Key)...)
	}
	if ref := source.SecretKeyRef; ref != nil {
		errs = append(errs, subdomain(path.Child("secretKeyRef", "name"), ref.Name)...)
		errs = append(errs, validateKey(path.Child("secretKeyRef", "key"), ref.Key)...)
	}
	if ref := source.FileKeyRef; ref != nil {
		errs = append(errs, validateFileKeyRef(in, path.Child("fileKeyRef"), ref)...)
	}
	return errs
}

// validateFileKeyRef checks the file of variables, which an init container writes.
func validateFileKeyRef(in input, path *field.Path, ref *corev1.FileKeySelector) field.ErrorList {
	var errs field.ErrorList
	if ref.Key == "" {
		errs = append(errs, field.Required(path.Child("key"), "must be a variable of the file"))
	} else {
		errs = append(errs, invalid(path.Child("key"), ref.Key, validation.IsRelaxedEnvVarName(ref.Key))...)
	}
	errs = append(errs, validateFilePath(path.Child("path"), ref.Path)...)
	return append(errs, oneOf(path.Child("volumeName"), ref.VolumeName, in.emptyDirs...)...)
}

func validateKey(path *field.Path, key string) field.ErrorList {
	if key == "" {
		return field.ErrorList{field.Required(path, "must be a key of the object")}
	}
	return invalid(path, key, validation.IsConfigMapKey(key))
}

func validateEnvFrom(path *field.Path, sources []corev1.EnvFromSource) field.ErrorList {
	var errs field.ErrorList
	for i, source := range sources {
		path := path.Index(i)
		if source.Prefix != "" {
			errs = append(errs, invalid(path.Child("prefix"), source.Prefix, validation.IsRelaxedEnvVarName(source.Prefix))...)
		}
		errs = append(errs, exactlyOne(path, []string{"configMapRef", "secretRef"}, source.ConfigMapRef != nil, source.SecretRef != nil)...)
		if ref := source.ConfigMapRef; ref != nil {
			errs = append(errs, subdomain(path.Child("configMapRef", "name"), ref.Name)...)
		}
		if ref := source.SecretRef; ref != nil {
			errs = append(errs, subdomain(path.Child("secretRef", "name"), ref.Name)...)
		}
	}
	return errs
}

// fieldPaths are the fields of a pod that its containers can refer to.
type fieldPaths []string

var (
	envFieldPaths = fieldPaths{
		"metadata.annotations['<key>']", "metadata.labels['<key>']", "metadata.name", "metadata.namespace", "metadata.uid",
		"spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	volumeFieldPaths = fieldPaths{
		"metadata.annotations", "metadata.annotations['<key>']", "metadata.labels", "metadata.labels['<key>']",
		"metadata.name", "metadata.namespace", "metadata.uid",
	}
)

func validateFieldRef(path *field.Path, ref *corev1.ObjectFieldSelector, allowed fieldPaths) field.ErrorList {
	errs := enum(path.Child("apiVersion"), ref.APIVersion, "v1")
	path = path.Child("fieldPath")
	if ref.FieldPath == "" {
		return append(errs, field.Required(path, "must be a field of the pod, e.g. metadata.name"))
	}
	if name, key, ok := subscript(ref.FieldPath); ok {
		switch name {
		case "metadata.annotations":
			return append(errs, invalid(path, ref.FieldPath, validation.IsQualifiedName(strings.ToLower(key)))...)
		case "metadata.labels":
			return append(errs, invalid(path, ref.FieldPath, validation.IsQualifiedName(key))...)
		}
	}
	if strings.ContainsRune(ref.FieldPath, '<') || !slices.Contains(allowed, ref.FieldPath) {
		errs = append(errs, field.NotSupported(path, ref.FieldPath, allowed))
	}
	return errs
}

// subscript matches metadata.labels['key'].
func subscript(fieldPath string) (name, key string, ok bool) {
	name, key, ok = strings.Cut(strings.TrimSuffix(fieldPath, "']"), "['")
	return name, key, ok && strings.HasSuffix(fieldPath, "']")
}

// The values of resourceFieldRef.
var (
	resourceFields    = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"}
	cpuDivisors       = []string{"1", "1m"}
	byteDivisors      = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
	hugePagePrefixes  = []string{"limits.hugepages-", "requests.hugepages-"}
	resourceFieldHelp = append(slices.Clone(resourceFields), "limits.hugepages-<size>", "requests.hugepages-<size>")
)

// validateResourceFieldRef requires the container's name in a volume; in a variable the default is its own container.
func validateResourceFieldRef(in input, path *field.Path, ref *corev1.ResourceFieldSelector, volume bool) field.ErrorList {
	var errs field.ErrorList
	switch {
	case ref.ContainerName != "":
		errs = append(errs, validateContainerRef(in, path.Child("containerName"), ref.ContainerName)...)
	case volume:
		errs = append(errs, field.Required(path.Child("containerName"), "must be the name of a container of the pod"))
	}
	hugePages := slices.ContainsFunc(hugePagePrefixes, func(prefix string) bool { return strings.HasPrefix(ref.Resource, prefix) })
	switch {
	case ref.Resource == "":
		errs = append(errs, field.Required(path.Child("resource"), "must be a resource of the container, e.g. limits.memory"))
	case !hugePages && !slices.Contains(resourceFields, ref.Resource):
		errs = append(errs, field.NotSupported(path.Child("resource"), ref.Resource, resourceFieldHelp))
	}
	if !ref.Divisor.IsZero() {
		divisors := byteDivisors
		if strings.HasSuffix(ref.Resource, ".cpu") {
			divisors = cpuDivisors
		}
		if divisor := ref.Divisor.String(); !slices.Contains(divisors, divisor) {
			errs = append(errs, field.NotSupported(path.Child("divisor"), divisor, divisors))
		}
	}
	return errs
}

// validateContainerRef checks the name of a container of the pod.
func validateContainerRef(in input, path *field.Path, name string) field.ErrorList {
	return oneOf(path, name, in.containers...)
}
