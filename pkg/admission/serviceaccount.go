// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// serviceAccountVerb is the right that naming an existing ServiceAccount takes. Whoever decides what
// code runs as an account can do all that the account can, which is what impersonating it means. It is
// the verb that RBAC has for this, and the built-in roles edit and admin have it in their namespace;
// so nobody is refused who could run a pod as the account anyway, and nobody gains by an Application.
const serviceAccountVerb = "impersonate"

// serviceAccount asks the API server whether the requester may act as the ServiceAccount, when an
// Application begins to use it.
func (h *Handler) serviceAccount(ctx context.Context, in input, found *verdict) error {
	name := serviceAccountName(in.new)
	if name == "" || in.old != nil && serviceAccountName(in.old) == name {
		return nil
	}
	user := in.request.UserInfo
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	status, err := h.config.ReviewAccess(ctx, authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: in.new.Namespace, Verb: serviceAccountVerb, Version: "v1", Resource: "serviceaccounts", Name: name,
		},
	})
	if err != nil {
		return fmt.Errorf("find out whether %q may use ServiceAccount %s: %w", user.Username, name, err)
	}
	if !status.Allowed || status.Denied {
		found.errs = append(found.errs, field.Forbidden(field.NewPath("spec", "serviceAccount", "name"),
			fmt.Sprintf("user %q must be allowed to %s ServiceAccount %q in namespace %q to let pods run as it; without a name the Application gets an account of its own",
				user.Username, serviceAccountVerb, name, in.new.Namespace)))
	}
	return nil
}

func serviceAccountName(application *v1.Application) string {
	if account := application.Spec.ServiceAccount; account != nil {
		return account.Name
	}
	return ""
}
