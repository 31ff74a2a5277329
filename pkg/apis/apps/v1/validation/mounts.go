// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateConfig(in input) field.ErrorList {
	if in.spec.Config == nil {
		return nil
	}
	fldPath := in.path.Child("config")
	errs := validateMountPath(fldPath.Child("mountPath"), in.spec.Config.MountPath)
	errs = append(errs, validateReadOnlyPath(fldPath.Child("mountPath"), in.spec.Config.MountPath)...)
	data := in.spec.Config.Data
	fldPath = fldPath.Child("data")
	if len(data) == 0 {
		errs = append(errs, field.Required(fldPath, "must have at least one file"))
	}
	for _, key := range sortedKeys(data) {
		errs = append(errs, invalid(fldPath.Key(truncate(key, maxValue)), key, validation.IsConfigMapKey(key))...)
	}
	return errs
}

func validateMounts(in input) field.ErrorList {
	fldPath := in.path.Child("mounts")
	errs := tooMany(fldPath, len(in.spec.Mounts), 64)
	mountPaths := names{}
	if in.spec.Config != nil {
		mountPaths.add(in.path.Child("config", "mountPath"), path.Clean(in.spec.Config.MountPath))
	}
	for i := range in.spec.Mounts {
		mount, fldPath := &in.spec.Mounts[i], fldPath.Index(i)
		errs = append(errs, validateMountPath(fldPath.Child("mountPath"), mount.MountPath)...)
		errs = append(errs, mountPaths.add(fldPath.Child("mountPath"), path.Clean(mount.MountPath))...)
		if mount.Secret != nil || mount.ConfigMap != nil || mount.Projected != nil || isTrue(mount.ReadOnly) {
			errs = append(errs, validateReadOnlyPath(fldPath.Child("mountPath"), mount.MountPath)...)
		}
		if mount.SubPath != "" {
			errs = append(errs, validateRelativePath(fldPath.Child("subPath"), mount.SubPath)...)
		}
		errs = append(errs, exactlyOne(fldPath, []string{"secret", "configMap", "emptyDir", "persistentVolumeClaim", "projected"},
			mount.Secret != nil, mount.ConfigMap != nil, mount.EmptyDir != nil, mount.PersistentVolumeClaim != nil, mount.Projected != nil)...)
		if source := mount.Secret; source != nil {
			fldPath := fldPath.Child("secret")
			errs = append(errs, subdomain(fldPath.Child("secretName"), source.SecretName)...)
			errs = append(errs, validateItems(fldPath, source.Items, source.DefaultMode, source.DefaultUser)...)
		}
		if source := mount.ConfigMap; source != nil {
			fldPath := fldPath.Child("configMap")
			errs = append(errs, subdomain(fldPath.Child("name"), source.Name)...)
			errs = append(errs, validateItems(fldPath, source.Items, source.DefaultMode, source.DefaultUser)...)
		}
		if source := mount.EmptyDir; source != nil {
			errs = append(errs, validateEmptyDir(fldPath.Child("emptyDir"), source)...)
		}
		if source := mount.PersistentVolumeClaim; source != nil {
			errs = append(errs, subdomain(fldPath.Child("persistentVolumeClaim", "claimName"), source.ClaimName)...)
		}
		if source := mount.Projected; source != nil {
			errs = append(errs, validateProjected(in, fldPath.Child("projected"), source)...)
		}
	}
	return errs
}

// validateMountPath refuses paths that the API server accepts and no container runtime can mount.
func validateMountPath(fldPath *field.Path, mountPath string) field.ErrorList {
	if mountPath == "" {
		return field.ErrorList{field.Required(fldPath, "must be an absolute path in the container")}
	}
	var message string
	switch clean := path.Clean(mountPath); {
	case !path.IsAbs(mountPath):
		message = "must be an absolute path"
	case len(mountPath) > 1024:
		message = "must be no more than 1024 bytes"
	case strings.Contains(mountPath, ":"):
		message = "must not contain ':'"
	case hasControl(mountPath):
		message = "must not contain control characters"
	case hasElement(mountPath, ".."):
		message = "must not contain '..'"
	case clean == "/":
		message = "must not be the root of the container's file system"
	case clean == "/proc" || strings.HasPrefix(clean, "/proc/"):
		message = "must not be in /proc, which the container runtime owns"
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(fldPath, mountPath, message)}
}

// validateReadOnlyPath refuses paths that only a writable volume can have. The kubelet mounts files of Secrets and ConfigMaps
// read-only, whatever readOnly says, and the container runtime mounts /etc/hosts, /dev/pts and more below the volume.
func validateReadOnlyPath(fldPath *field.Path, mountPath string) field.ErrorList {
	switch clean := path.Clean(mountPath); clean {
	case "/etc", "/dev":
		return field.ErrorList{field.Invalid(fldPath, mountPath, fmt.Sprintf("must not be %s, because no container starts with a read-only volume there: use a directory below it, such as %s/web", clean, clean))}
	}
	return nil
}

func hasElement(p, element string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if part == element {
			return true
		}
	}
	return false
}

// validateRelativePath checks paths inside a volume.
func validateRelativePath(fldPath *field.Path, p string) field.ErrorList {
	var errs field.ErrorList
	if path.IsAbs(p) {
		errs = append(errs, field.Invalid(fldPath, p, "must be a relative path"))
	}
	if hasElement(p, "..") {
		errs = append(errs, field.Invalid(fldPath, p, "must not contain '..'"))
	}
	if hasControl(p) {
		errs = append(errs, field.Invalid(fldPath, p, "must not contain control characters"))
	}
	return errs
}

// validateFilePath checks files that the kubelet writes. Names that start with '..' are its own.
func validateFilePath(fldPath *field.Path, p string) field.ErrorList {
	if p == "" {
		return field.ErrorList{field.Required(fldPath, "must be a relative path in the volume")}
	}
	errs := validateRelativePath(fldPath, p)
	if len(errs) == 0 && strings.HasPrefix(p, "..") {
		errs = append(errs, field.Invalid(fldPath, p, "must not start with '..'"))
	}
	return errs
}

// validateItems checks what volumes of Secrets and ConfigMaps have in common.
func validateItems(fldPath *field.Path, items []corev1.KeyToPath, defaultMode *int32, defaultUser *int64) field.ErrorList {
	errs := validateMode(fldPath.Child("defaultMode"), defaultMode)
	errs = append(errs, validateUser(fldPath.Child("defaultUser"), defaultUser)...)
	return append(errs, validateKeysToPaths(fldPath.Child("items"), items, names{})...)
}

// validateKeysToPaths refuses two keys with one path, because one would overwrite the other.
func validateKeysToPaths(fldPath *field.Path, items []corev1.KeyToPath, files names) field.ErrorList {
	var errs field.ErrorList
	for i, item := range items {
		fldPath := fldPath.Index(i)
		errs = append(errs, validateKey(fldPath.Child("key"), item.Key)...)
		errs = append(errs, validateFile(fldPath, item.Path, item.Mode, item.User, files)...)
	}
	return errs
}

func validateFile(fldPath *field.Path, file string, mode *int32, user *int64, files names) field.ErrorList {
	errs := validateFilePath(fldPath.Child("path"), file)
	errs = append(errs, files.add(fldPath.Child("path"), cleanFile(file))...)
	errs = append(errs, validateMode(fldPath.Child("mode"), mode)...)
	return append(errs, validateUser(fldPath.Child("user"), user)...)
}

func cleanFile(file string) string {
	if file == "" {
		return ""
	}
	return path.Clean(file)
}

func validateMode(fldPath *field.Path, mode *int32) field.ErrorList {
	if mode == nil || (*mode >= 0 && *mode <= 0o777) {
		return nil
	}
	message := "must be between 0 and 0777 octal (511 decimal)"
	if meant, err := strconv.ParseInt(strconv.Itoa(int(*mode)), 8, 32); err == nil && meant > 0 && meant <= 0o777 {
		message += fmt.Sprintf(": did you mean %#o, which is %d in JSON?", meant, meant)
	}
	return field.ErrorList{field.Invalid(fldPath, *mode, message)}
}

func validateUser(fldPath *field.Path, user *int64) field.ErrorList {
	if user == nil {
		return nil
	}
	return invalid(fldPath, *user, validation.IsValidUserID(*user))
}

func validateEmptyDir(fldPath *field.Path, source *corev1.EmptyDirVolumeSource) field.ErrorList {
	var errs field.ErrorList
	switch medium := source.Medium; medium {
	case corev1.StorageMediumDefault, corev1.StorageMediumMemory, corev1.StorageMediumHugePages:
	default:
		size, ok := strings.CutPrefix(string(medium), string(corev1.StorageMediumHugePagesPrefix))
		if quantity, err := resource.ParseQuantity(size); !ok || err != nil || quantity.Sign() <= 0 {
			errs = append(errs, field.NotSupported(fldPath.Child("medium"), medium,
				[]corev1.StorageMedium{corev1.StorageMediumMemory, corev1.StorageMediumHugePages, corev1.StorageMediumHugePagesPrefix + "<size>"}))
		}
	}
	if limit := source.SizeLimit; limit != nil && limit.Sign() < 0 {
		errs = append(errs, field.Invalid(fldPath.Child("sizeLimit"), limit.String(), "must be greater than or equal to 0"))
	}
	if mode := source.Mode; mode != nil && (*mode < 0 || *mode > 0o1777) {
		errs = append(errs, field.Invalid(fldPath.Child("mode"), *mode, "must be between 0 and 01777 octal (1023 decimal)"))
	}
	return errs
}
