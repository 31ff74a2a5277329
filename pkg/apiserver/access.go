// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// permission is what a request amounts to, if the user made it directly. An empty name is any name.
type permission struct {
	verb, group, version, resource, subresource, name string
}

func (p permission) String() string {
	resource := p.resource
	if p.subresource != "" {
		resource += "/" + p.subresource
	}
	return p.verb + " " + schema.GroupResource{Group: p.group, Resource: resource}.String()
}

func onApplications(verb, name string) permission {
	return permission{verb: verb, group: v1.GroupName, version: v1.SchemeGroupVersion.Version, resource: v1.ApplicationResource, name: name}
}

func onPods(verb, subresource string) permission {
	return permission{verb: verb, version: "v1", resource: "pods", subresource: subresource}
}

// access answers whether the user of a request may do directly what this server does for it. The server has wider
// permissions than its users, so without this a subresource could be a way around RBAC.
type access struct {
	authorizer authorizer.UnconditionalAuthorizer
}

// require returns a Forbidden error that names the first permission that the user of the request lacks. The namespace is
// that of the request; empty is all namespaces.
func (a access) require(ctx context.Context, name string, permissions ...permission) error {
	for _, p := range permissions {
		allowed, err := a.allows(ctx, p)
		if err != nil {
			return err
		}
		if !allowed {
			return apierrors.NewForbidden(v1alpha1.Resource(v1.ApplicationResource), name,
				fmt.Errorf("it also needs the permission to %s %s", p, where(ctx)))
		}
	}
	return nil
}

func where(ctx context.Context) string {
	if namespace := request.NamespaceValue(ctx); namespace != "" {
		return "in namespace " + namespace
	}
	return "in all namespaces"
}

func (a access) allows(ctx context.Context, p permission) (bool, error) {
	user, known := request.UserFrom(ctx)
	if !known {
		return false, apierrors.NewInternalError(errors.New("the request has no user"))
	}
	decision, _, err := a.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: user, Verb: p.verb, Namespace: request.NamespaceValue(ctx), ResourceRequest: true,
		APIGroup: p.group, APIVersion: p.version, Resource: p.resource, Subresource: p.subresource, Name: p.name,
	})
	if err != nil {
		return false, apierrors.NewInternalError(fmt.Errorf("ask whether %s may %s: %w", user.GetName(), p, err))
	}
	return decision == authorizer.DecisionAllow, nil
}
