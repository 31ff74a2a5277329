// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The grammar of image references in container runtimes.
var (
	imageDomain    = regexp.MustCompile(`^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::[0-9]{1,5})?$`)
	imageComponent = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$`)
	imageTag       = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	imageDigest    = regexp.MustCompile(`^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$`)
)

const (
	maxImage     = 1024
	maxImageName = 255
)

func validateApplicationImage(in input) field.ErrorList {
	return validateImage(in.path.Child("image"), in.spec.Image)
}

// validateImage refuses images that no container runtime can pull. Kubernetes accepts any text, and shows the mistake
// only as a pod that never starts.
func validateImage(path *field.Path, image string) field.ErrorList {
	if image == "" {
		return field.ErrorList{field.Required(path, "must be an image, e.g. ghcr.io/acme/web:1.2")}
	}
	if message := imageProblem(image); message != "" {
		return field.ErrorList{field.Invalid(path, image, message)}
	}
	return nil
}

func imageProblem(image string) string {
	switch {
	case len(image) > maxImage:
		return "must be no more than 1024 bytes"
	case strings.ContainsFunc(image, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "must not contain whitespace, control or non-ASCII characters"
	case strings.Contains(image, "://"):
		return "must not have a scheme: write registry/repository:tag, e.g. ghcr.io/acme/web:1.2"
	}
	name, digest, hasDigest := strings.Cut(image, "@")
	if hasDigest && !imageDigest.MatchString(digest) {
		return "the digest after '@' must be sha256: and 64, or sha512: and 128, lower-case hexadecimal digits"
	}
	if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") {
		if !imageTag.MatchString(name[colon+1:]) {
			return "the tag after ':' must be 1 to 128 letters, digits, '_', '.' and '-', and must not start with '.' or '-'"
		}
		name = name[:colon]
	}
	if name == "" {
		return "must have a repository before the tag or digest"
	}
	if len(name) > maxImageName {
		return "registry and repository must be no more than 255 characters"
	}
	components := strings.Split(name, "/")
	if first := components[0]; len(components) > 1 && (strings.ContainsAny(first, ".:[") || first == "localhost" || first != strings.ToLower(first)) {
		if !imageDomain.MatchString(first) {
			return "the registry before the first '/' must be a host name with an optional port"
		}
		components = components[1:]
	}
	for _, component := range components {
		if strings.Contains(component, ":") {
			return "must have one tag at most, behind the last '/', as in ghcr.io/acme/web:1.2"
		}
		if !imageComponent.MatchString(component) {
			return "each part of the repository must be lower-case letters and digits, separated by '.', '_', '__' or '-'"
		}
	}
	return ""
}
