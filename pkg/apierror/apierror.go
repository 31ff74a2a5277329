// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apierror classifies the errors of the API server: the reason and the message of a condition.
package apierror

import (
	"errors"
	"net/url"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// ReasonFor returns the reason of the condition Ready for a failed write. It is empty for nil, and v1.ReasonApplying for
// what is no failure: the namespace is being deleted, or another writer was faster and the next sync will observe that.
//
// The API server returns 403 for a missing permission, a quota and a policy. Only the message distinguishes them.
func ReasonFor(err error) string {
	if err == nil {
		return ""
	}
	if namespaceTerminates(err) || apierrors.IsConflict(err) {
		return v1.ReasonApplying
	}
	message, answered := answer(err)
	switch {
	case !answered:
		return v1.ReasonApplyFailed
	case deniedByPolicy(message):
		// With any code: policies and webhooks choose their own.
		return v1.ReasonPolicyDenied
	case apierrors.IsForbidden(err):
		return reasonForForbidden(message)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return v1.ReasonChildRefused
	default:
		return v1.ReasonApplyFailed
	}
}

func namespaceTerminates(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

func reasonForForbidden(message string) string {
	switch {
	case deniedByQuota(message):
		return v1.ReasonQuotaExceeded
	case deniedByPermission(message):
		return v1.ReasonPermissionDenied
	case notReady(message):
		return v1.ReasonApplyFailed
	default:
		return v1.ReasonPolicyDenied
	}
}

// ReasonForPods returns the reason why a Deployment cannot create pods. Its condition ReplicaFailure has only the message
// of the API server.
func ReasonForPods(message string) string {
	switch {
	case deniedByQuota(message):
		return v1.ReasonQuotaExceeded
	case deniedByPolicy(message), deniedByPodSecurity(message), deniedByLimitRange(message):
		return v1.ReasonPolicyDenied
	default:
		return v1.ReasonReplicaFailure
	}
}

// ReasonForMessage returns the reason for a failed write where only the message of the API server is left; "" if the message alone is
// ambiguous.
func ReasonForMessage(message string) string {
	switch {
	case deniedByPolicy(message):
		return v1.ReasonPolicyDenied // First, since policies choose their words.
	case !strings.Contains(message, " is forbidden: "):
		return ""
	case deniedByQuota(message):
		return v1.ReasonQuotaExceeded
	case deniedByPermission(message):
		return v1.ReasonPermissionDenied
	default:
		return ""
	}
}

// answer returns the message of the API server, without the wrapping of callers.
func answer(err error) (message string, answered bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "", false
	}
	return status.Status().Message, true
}

// Message explains a failed write to users. If a request got no response, it omits the address, which changes with each
// attempt and means nothing to users.
func Message(err error) string {
	switch {
	case namespaceTerminates(err):
		return "The namespace is being deleted."
	case apierrors.IsConflict(err):
		return "Write conflict with another writer; retrying."
	}
	message, _ := answer(err)
	var request *url.Error
	switch {
	case message != "":
		return text.Sentence(message)
	case errors.As(err, &request):
		return "The API server did not respond; retrying."
	case err.Error() != "":
		return text.Sentence(err.Error())
	default:
		return "The API server gave no reason."
	}
}

// webhookName finds the webhook that the API server could not ask.
var webhookName = regexp.MustCompile(`failed calling webhook "([^"]+)"`)

// UnansweredWebhook returns the name of the admission webhook that gave the API server no answer, so that it refused the request; "" if that
// is not the cause.
func UnansweredWebhook(message string) string {
	if match := webhookName.FindStringSubmatch(message); match != nil {
		return match[1]
	}
	return ""
}

// deniedByQuota reports whether the admission plugin ResourceQuota denied the request.
func deniedByQuota(message string) bool {
	return strings.Contains(message, "exceeded quota: ") || strings.Contains(message, "failed quota: ") ||
		strings.Contains(message, "insufficient quota to ")
}

var (
	// The authorizer.
	lacksPermission = regexp.MustCompile(`User ".*" cannot \S+ (resource|path) "`)
	// The admission plugins ValidatingAdmissionPolicy and webhooks.
	policyMessage  = regexp.MustCompile(`ValidatingAdmissionPolicy '.*' denied request`)
	webhookMessage = regexp.MustCompile(`admission webhook ".*" denied the request`)
	// The admission plugin LimitRanger.
	limitMessage = regexp.MustCompile(`(minimum|maximum) \S+ usage per \S+ is |max limit to request ratio per `)
)

// deniedByPermission reports whether the authorizer denied the request, or the admission plugin
// OwnerReferencesPermissionEnforcement.
func deniedByPermission(message string) bool {
	return lacksPermission.MatchString(message) ||
		strings.Contains(message, "cannot set blockOwnerDeletion") || strings.Contains(message, "cannot set an ownerRef")
}

func deniedByPolicy(message string) bool {
	return policyMessage.MatchString(message) || webhookMessage.MatchString(message)
}

// deniedByPodSecurity reports whether the admission plugin PodSecurity denied the request.
func deniedByPodSecurity(message string) bool {
	return strings.Contains(message, "violates PodSecurity ")
}

func deniedByLimitRange(message string) bool { return limitMessage.MatchString(message) }

// notReady reports whether admission could not decide because its caches have not synced.
func notReady(message string) bool {
	return strings.Contains(message, "not yet ready to handle request") ||
		strings.Contains(message, "status unknown for quota: ") ||
		strings.Contains(message, "there was an error enforcing limit ranges")
}
