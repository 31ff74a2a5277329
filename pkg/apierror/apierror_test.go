// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apierror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

var errOther = errors.New("something else")

var services = schema.GroupResource{Resource: "services"}

func terminating() error {
	err := apierrors.NewForbidden(services, "web", errors.New("unable to create new content in namespace shop because it is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

// answered returns the error that a client makes of the API server's response.
func answered(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

func TestReasonFor(t *testing.T) {
	forbidden := func(message string) error { return apierrors.NewForbidden(services, "web", errors.New(message)) }
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"none", nil, ""},
		{"permission", forbidden(`User "system:serviceaccount:fairlead:fairlead" cannot create resource "services" in API group "" in the namespace "shop"`), v1.ReasonPermissionDenied},
		{"permission, with the authorizer's reason", forbidden(`User "fairlead" cannot patch resource "deployments" in API group "apps" in the namespace "shop": RBAC: role "x" not found`), v1.ReasonPermissionDenied},
		{"permission for the owner's finalizers", forbidden("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"), v1.ReasonPermissionDenied},
		{"quota", forbidden("exceeded quota: small, requested: services=1, used: services=5, limited: services=5"), v1.ReasonQuotaExceeded},
		{"quota that wants a request", forbidden("failed quota: small: must specify cpu for: web"), v1.ReasonQuotaExceeded},
		{"quota not counted yet", forbidden("status unknown for quota: small, resources: services"), v1.ReasonApplyFailed},
		{"admission not ready", forbidden("not yet ready to handle request"), v1.ReasonApplyFailed},
		{"limit range", forbidden("maximum cpu usage per Container is 1, but limit is 2"), v1.ReasonPolicyDenied},
		{"unknown admission plugin", forbidden("no"), v1.ReasonPolicyDenied},
		{"validating policy, its default", answered(422, metav1.StatusReasonInvalid, `services "web" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), v1.ReasonPolicyDenied},
		{"validating policy, Forbidden", forbidden("ValidatingAdmissionPolicy 'p' denied request: no"), v1.ReasonPolicyDenied},
		{"webhook, its default", answered(400, "", `admission webhook "policy.example.com" denied the request: no`), v1.ReasonPolicyDenied},
		{"webhook, Forbidden", answered(403, metav1.StatusReasonForbidden, `admission webhook "policy.example.com" denied the request: exceeded quota: mine`), v1.ReasonPolicyDenied},
		{"webhook away", apierrors.NewInternalError(errors.New(`failed calling webhook "policy.example.com": context deadline exceeded`)), v1.ReasonApplyFailed},
		{"invalid", apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "web", field.ErrorList{field.Required(field.NewPath("spec"), "")}), v1.ReasonChildRefused},
		{"bad request", apierrors.NewBadRequest("unknown field"), v1.ReasonChildRefused},
		{"too large", apierrors.NewRequestEntityTooLargeError("limit is 3145728"), v1.ReasonChildRefused},
		{"namespace terminating", terminating(), v1.ReasonApplying},
		{"conflict", apierrors.NewConflict(services, "web", errors.New("modified")), v1.ReasonApplying},
		{"too many requests", apierrors.NewTooManyRequests("later", 1), v1.ReasonApplyFailed},
		{"unavailable", apierrors.NewServiceUnavailable("later"), v1.ReasonApplyFailed},
		{"server timeout", apierrors.NewServerTimeout(services, "create", 1), v1.ReasonApplyFailed},
		{"unauthorized", apierrors.NewUnauthorized("no"), v1.ReasonApplyFailed},
		{"not found", apierrors.NewNotFound(services, "web"), v1.ReasonApplyFailed},
		{"name taken", apierrors.NewAlreadyExists(services, "web"), v1.ReasonApplyFailed},
		{"no answer", &url.Error{Op: "Post", URL: "https://10.0.0.1", Err: errors.New("connection refused")}, v1.ReasonApplyFailed},
		{"interrupted", context.Canceled, v1.ReasonApplyFailed},
		{"other", errOther, v1.ReasonApplyFailed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := ReasonFor(test.err); got != test.want {
				t.Errorf("ReasonFor = %q, want %q", got, test.want)
			}
			if test.err == nil {
				return
			}
			if got := ReasonFor(fmt.Errorf("apply Service shop/web: %w", test.err)); got != test.want {
				t.Errorf("wrapped: ReasonFor = %q, want %q", got, test.want)
			}
		})
	}
}

func TestReasonForPods(t *testing.T) {
	for message, want := range map[string]string{
		`pods "web-1-x" is forbidden: exceeded quota: small, requested: pods=1`:                                     v1.ReasonQuotaExceeded,
		`pods "web-1-x" is forbidden: failed quota: small: must specify cpu for: web`:                               v1.ReasonQuotaExceeded,
		`pods "web-1-x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`:               v1.ReasonPolicyDenied,
		`admission webhook "policy.example.com" denied the request: no`:                                             v1.ReasonPolicyDenied,
		`pods "web-1-x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`:            v1.ReasonPolicyDenied,
		`pods "web-1-x" is forbidden: [maximum memory usage per Pod is 1Gi, but limit is 2Gi]`:                      v1.ReasonPolicyDenied,
		`pods "web-1-x" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 4.0`: v1.ReasonPolicyDenied,
		`pods "web-1-x" is forbidden: error looking up service account shop/robot: not found`:                       v1.ReasonReplicaFailure,
		`Internal error occurred: failed calling webhook "policy.example.com": timeout`:                             v1.ReasonReplicaFailure,
		"": v1.ReasonReplicaFailure,
	} {
		if got := ReasonForPods(message); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}

func TestReasonForMessage(t *testing.T) {
	for message, want := range map[string]string{
		`services "web" is forbidden: exceeded quota: small, requested: services=1, used: services=0, limited: services=0.`:       v1.ReasonQuotaExceeded,
		`services "web" is forbidden: User "fairlead" cannot create resource "services" in API group "" in the namespace "shop".`: v1.ReasonPermissionDenied,
		`services "web" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no.`:                         v1.ReasonPolicyDenied,
		`services "web" is forbidden: admission webhook "policy.example.com" denied the request: exceeded quota: mine.`:           v1.ReasonPolicyDenied,
		`services "web" is forbidden: status unknown for quota: small, resources: services.`:                                      "",
		`services "web" is forbidden: no.`:                                                    "",
		`Service "web" is invalid: spec.externalName: Invalid value: "exceeded quota: mine".`: "",
		"The API server did not respond; retrying.":                                           "",
		"": "",
	} {
		if got := ReasonForMessage(message); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}

func TestErrorMessage(t *testing.T) {
	unreachable := &url.Error{Op: http.MethodPost, URL: "https://10.0.0.1:6443/api?token=secret", Err: errors.New("dial tcp 10.0.0.9:51234->10.0.0.1:6443: refused")}
	tests := []struct {
		err  error
		want string
	}{
		{fmt.Errorf("apply Service shop/web: %w", answered(500, metav1.StatusReasonInternalError, "etcd is away")), "etcd is away."},
		{fmt.Errorf("apply Service shop/web: %w", unreachable), "The API server did not respond; retrying."},
		{answered(500, "", ""), "The API server gave no reason."},
		{errOther, "something else."},
	}
	for _, test := range tests {
		got := Message(test.err)
		if got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
		if strings.Contains(got, "secret") || strings.Contains(got, "10.0.0.1") {
			t.Errorf("%q tells where the API server is", got)
		}
	}
}

func TestUnansweredWebhook(t *testing.T) {
	for message, want := range map[string]string{
		`Internal error occurred: failed calling webhook "names.example.com": failed to call webhook: Post "https://x": EOF`: "names.example.com",
		`admission webhook "names.example.com" denied the request: no`:                                                       "",
		"etcdserver: request timed out": "",
	} {
		if got := UnansweredWebhook(message); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}
