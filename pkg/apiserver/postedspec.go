// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/fairlead/artifacts/crds"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/crdschema"
)

// postedSpecs checks posted Applications as kube-apiserver checks what it stores: by the schema of the CRD and its CEL rules.
// The schema also bounds every list, so a small request cannot become a huge rendering.
type postedSpecs struct {
	resource *crdschema.Resource
}

func newPostedSpecs() (*postedSpecs, error) {
	resources, err := crdschema.LoadFS(crds.Files)
	if err != nil {
		return nil, fmt.Errorf("read the schema of Applications: %w", err)
	}
	return &postedSpecs{resource: resources[v1.ApplicationKind]}, nil
}

// read returns the Application as it would be stored under this name.
func (p *postedSpecs) read(ctx context.Context, posted []byte, namespace, name string) (*v1.Application, error) {
	object, err := crdschema.Decode(posted)
	if err != nil || object == nil {
		return nil, apierrors.NewBadRequest("application must be an Application, with apiVersion, kind and spec")
	}
	if object["apiVersion"] != v1.SchemeGroupVersion.String() || object["kind"] != v1.ApplicationKind {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("application must be an %s of %s", v1.ApplicationKind, v1.SchemeGroupVersion))
	}
	if err := p.check(ctx, object); len(err) > 0 {
		return nil, apierrors.NewInvalid(applicationKind, name, err)
	}
	application := &v1.Application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, application, true); err != nil {
		return nil, apierrors.NewBadRequest("application: " + err.Error())
	}
	if err := sameName(application, namespace, name); err != nil {
		return nil, err
	}
	v1.SetDefaults(application)
	return application, nil
}

func (p *postedSpecs) check(ctx context.Context, object map[string]any) field.ErrorList {
	var unknown field.ErrorList
	for _, path := range p.resource.Unknown(object) {
		unknown = append(unknown, field.Forbidden(field.NewPath(path), "unknown field: remove it, or correct its name"))
	}
	if len(unknown) > 0 {
		return unknown
	}
	if errs := p.resource.CheckSchema(object); len(errs) > 0 {
		return errs
	}
	return p.resource.CheckRules(ctx, object)
}

// sameName gives the Application the name of the path, which alone was authorized, and nothing that a user cannot set.
func sameName(application *v1.Application, namespace, name string) error {
	if application.Name != "" && application.Name != name || application.Namespace != "" && application.Namespace != namespace {
		return apierrors.NewBadRequest(fmt.Sprintf("application is %s/%s, but the path names %s/%s", application.Namespace, application.Name, namespace, name))
	}
	given := application.ObjectMeta
	application.ObjectMeta = v1.Application{}.ObjectMeta
	application.Namespace, application.Name = namespace, name
	application.Labels, application.Annotations = given.Labels, given.Annotations
	application.Status = v1.ApplicationStatus{}
	return nil
}
