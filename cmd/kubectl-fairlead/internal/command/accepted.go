// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// accepted asks the API server by a dry run whether it would accept the Application: webhooks and policies know more than the plugin, such
// as the routes of other Applications. It returns the refusal; a webhook that the API server cannot call is one, too. Whatever else the API
// server answers leaves the difference as it is: the user may lack the permission to write, which the difference does not need. old is nil
// if there is no Application yet.
func accepted(ctx context.Context, clients *cluster.Clients, old, application *v1.Application) error {
	dryRun := []string{metav1.DryRunAll}
	if old == nil {
		_, err := clients.Fairlead.AppsV1().Applications(application.Namespace).
			Create(ctx, application, metav1.CreateOptions{FieldManager: fieldManager, DryRun: dryRun})
		return refusal(err)
	}
	edited := old.DeepCopy()
	edited.Spec, edited.Labels, edited.Annotations = application.Spec, application.Labels, application.Annotations
	if patch, err := edit.Patch(old, edited); err != nil || patch == nil {
		return err
	}
	_, err := write(ctx, clients, old, edited, metav1.PatchOptions{FieldManager: fieldManager, DryRun: dryRun})
	return refusal(err)
}

// refusal says in the words of refused that the API server does not accept the Application; nil if it says something else.
func refusal(err error) error {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return nil
	}
	reason := apierror.ReasonFor(err)
	message := status.Status().Message
	switch details := status.Status().Details; {
	case apierrors.IsInvalid(err):
		reason = v1.ReasonInvalid
	case apierrors.IsNotFound(err) && details != nil && details.Kind == "namespaces":
		return fmt.Errorf("the Application would be refused (NamespaceNotFound): %s. Create the namespace first", message)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return fmt.Errorf("the Application would be refused (NamespaceTerminating): %s", message)
	case isWebhookDown(err):
		return fmt.Errorf("the Application would be refused: %w", err)
	}
	switch reason {
	case v1.ReasonInvalid, v1.ReasonPolicyDenied, v1.ReasonQuotaExceeded:
		if fields := invalidFields(status.Status().Details); len(fields) == 1 {
			message = fields[0]
		} else if len(fields) > 1 {
			message = "[" + strings.Join(fields, ", ") + "]"
		}
		if isClassRequired(status.Status().Details) {
			reason = v1.ReasonClassRequired
		}
		return fmt.Errorf("the Application would be refused (%s): %s", reason, message)
	}
	return nil
}

// isClassRequired reports whether all that is wrong is that the Application names no class. The server does not tell the reason of the condition.
func isClassRequired(details *metav1.StatusDetails) bool {
	return details != nil && len(details.Causes) == 1 && details.Causes[0].Field == "spec.className" &&
		details.Causes[0].Type == metav1.CauseTypeFieldValueRequired
}

// invalidFields are the fields that the API server or a webhook names, each with what is wrong with it.
func invalidFields(details *metav1.StatusDetails) []string {
	if details == nil {
		return nil
	}
	fields := make([]string, 0, len(details.Causes))
	for _, cause := range details.Causes {
		if cause.Field == "" {
			return nil
		}
		fields = append(fields, cause.Field+": "+cause.Message)
	}
	return fields
}
