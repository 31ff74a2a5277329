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

// adoption refuses to switch adoption on for a requester who may not update and delete the objects of that name: the
// Application will change them, and may delete them. The consent on the object is what the sync relies on, and it needs
// the right to change the object; this rule says early what a user lacks.
func (h *Handler) adoption(ctx context.Context, in input, found *verdict) error {
	if in.new.Spec.AdoptionPolicy != v1.AdoptionConsented || in.old != nil && in.old.Spec.AdoptionPolicy == v1.AdoptionConsented {
		return nil
	}
	for _, object := range []struct{ group, resource string }{{"apps", "deployments"}, {"", "services"}} {
		for _, verb := range []string{"update", "delete"} {
			allowed, err := h.mayAct(ctx, in, authorizationv1.ResourceAttributes{
				Namespace: in.new.Namespace, Verb: verb, Group: object.group, Version: "v1", Resource: object.resource, Name: in.new.Name,
			})
			if err != nil {
				return fmt.Errorf("find out whether %q may %s %s %s: %w", in.request.UserInfo.Username, verb, object.resource, in.new.Name, err)
			}
			if !allowed {
				found.errs = append(found.errs, field.Forbidden(field.NewPath("spec", "adoptionPolicy"),
					fmt.Sprintf("user %q must be allowed to %s %s %q in namespace %q to let an Application adopt them",
						in.request.UserInfo.Username, verb, object.resource, in.new.Name, in.new.Namespace)))
			}
		}
	}
	return nil
}

// mayAct asks the API server whether the requester may do something.
func (h *Handler) mayAct(ctx context.Context, in input, what authorizationv1.ResourceAttributes) (bool, error) {
	user := in.request.UserInfo
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	status, err := h.config.ReviewAccess(ctx, authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra, ResourceAttributes: &what,
	})
	if err != nil {
		return false, err
	}
	return status.Allowed && !status.Denied, nil
}
