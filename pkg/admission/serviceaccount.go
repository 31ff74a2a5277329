// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/plan"
)

// serviceAccountVerb is the right that a user needs to run pods as an existing ServiceAccount. A user who decides what
// code runs as an account can do all that the account can; RBAC calls that impersonation. The built-in roles edit and
// admin have the right in their namespace. So a user who could run such a pod anyway is not refused, and no user gains
// a right through an Application.
const serviceAccountVerb = "impersonate"

// serviceAccount refuses to let pods run as a ServiceAccount that is not the Application's own, unless the
// requester may act as that account. It asks with every change of the spec, not only with one of the account: a user
// who changes the image decides what runs as the account too.
func (h *Handler) serviceAccount(ctx context.Context, in input, found *verdict) error {
	name := serviceAccountName(in.new)
	if name == "" && in.old != nil {
		// Pods run as the account until they are replaced, and the same change may edit the files that they read.
		name = serviceAccountName(in.old)
	}
	if name != "" {
		allowed, err := h.mayActAs(ctx, in, name)
		if err == nil && !allowed {
			found.errs = append(found.errs, field.Forbidden(field.NewPath("spec", "serviceAccount", "name"),
				fmt.Sprintf("user %q must be allowed to %s ServiceAccount %q in namespace %q to change what runs as it; without a name the Application gets an account of its own",
					in.request.UserInfo.Username, serviceAccountVerb, name, in.new.Namespace)))
		}
		return err
	}
	return h.ownServiceAccount(ctx, in, found)
}

// ownServiceAccount is about an existing account that has the name of the Application's own. The sync gives it to no
// pod. A requester who may act as it gets a warning, any other is refused.
func (h *Handler) ownServiceAccount(ctx context.Context, in input, found *verdict) error {
	name := in.new.Name
	if name == "" { // It is generated when the request has been admitted.
		return nil
	}
	account, err := h.config.Find(ctx, Reference{Kind: KindServiceAccount, Namespace: in.new.Namespace, Name: name})
	if err == nil && (account == nil || belongsTo(account, in.new)) {
		return nil
	}
	if err != nil {
		// What may not be read is never taken for absent.
		klog.FromContext(ctx).V(2).Info("ServiceAccount not readable; reviewing the requester", "serviceAccount", klog.KRef(in.new.Namespace, name), "err", err)
	}
	allowed, reviewErr := h.mayActAs(ctx, in, name)
	switch {
	case reviewErr != nil:
		return reviewErr
	case !allowed:
		found.errs = append(found.errs, field.Forbidden(field.NewPath("metadata", "name"),
			fmt.Sprintf("ServiceAccount %q in namespace %q is not this Application's, and user %q must be allowed to %s it: choose another name for the Application",
				name, in.new.Namespace, in.request.UserInfo.Username, serviceAccountVerb)))
	case err == nil:
		until := "it is gone"
		if h.config.Validation.ForeignServiceAccounts {
			until += ", or until spec.serviceAccount.name names it"
		}
		if plan.IsLeftover(account) {
			until = "you take back what an earlier Application left behind (docs/guides/take-back.md), or until it is gone"
		}
		found.warnings = append(found.warnings, fmt.Sprintf("ServiceAccount %q in namespace %q is not this Application's: the pods wait until %s", name, in.new.Namespace, until))
	}
	return nil
}

// belongsTo reports whether the account is that of an Application of this name. It may be a former one, whose account
// the garbage collector is about to delete; the sync compares UIDs. With deletionPolicy Orphan the account has no
// ownerReference, and an annotation names the UID.
func belongsTo(account *metav1.PartialObjectMetadata, application *v1.Application) bool {
	if owner := metav1.GetControllerOf(account); owner != nil {
		return owner.Kind == v1.ApplicationKind && owner.Name == application.Name && strings.HasPrefix(owner.APIVersion, v1.GroupName+"/")
	}
	uid := account.Annotations[v1.AnnotationOwnerUID]
	return uid != "" && uid == string(application.UID)
}

// mayActAs asks the API server whether the requester may act as the ServiceAccount.
func (h *Handler) mayActAs(ctx context.Context, in input, name string) (bool, error) {
	allowed, err := h.mayAct(ctx, in, authorizationv1.ResourceAttributes{
		Namespace: in.new.Namespace, Verb: serviceAccountVerb, Version: "v1", Resource: "serviceaccounts", Name: name,
	})
	if err != nil {
		return false, fmt.Errorf("find out whether %q may use ServiceAccount %s: %w", in.request.UserInfo.Username, name, err)
	}
	return allowed, nil
}

func serviceAccountName(application *v1.Application) string {
	if account := application.Spec.ServiceAccount; account != nil {
		return account.Name
	}
	return ""
}
