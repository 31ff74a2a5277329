// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/preview"
)

// renderer is the registry of applications/render. It runs the stages of a sync up to the rendering, and stores nothing.
type renderer struct {
	history *history // It knows whether the caches are filled.
	access  access
	posted  *postedSpecs
	live    *liveReader
	differ  plan.Differ
	renders *quota
}

var _ rest.NamedCreater = &renderer{}

func newRenderer(caches *caches, history *history, access access, clients Clients, limits Limits, platform Platform) (*renderer, error) {
	posted, err := newPostedSpecs()
	if err != nil {
		return nil, err
	}
	return &renderer{
		history: history, access: access, posted: posted, differ: plan.NewDiffer(scheme.Scheme),
		live:    &liveReader{caches: caches, access: access, clients: clients, platform: platform},
		renders: newQuota("renders", limits.RendersPerUser, limits.Renders),
	}, nil
}

func (r *renderer) New() runtime.Object { return &v1alpha1.RenderOptions{} }
func (r *renderer) Destroy()            {}

// Create renders the posted Application. The answer discloses the defaults of the class, which a user may have no permission
// to read. So the user needs the permission to apply the Application: then the children would disclose them too.
func (r *renderer) Create(ctx context.Context, name string, object runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	if err := r.live.mayRead(ctx, name); err != nil {
		return nil, err
	}
	if err := r.history.ready(); err != nil {
		return nil, err
	}
	options, ok := object.(*v1alpha1.RenderOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T is not RenderOptions", object))
	}
	if validate != nil {
		if err := validate(ctx, object.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	release, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	posted, err := r.posted.read(ctx, options.Application.Raw, request.NamespaceValue(ctx), name)
	if err != nil {
		return nil, err
	}
	return r.render(ctx, posted)
}

func (r *renderer) acquire(ctx context.Context) (release func(), err error) {
	user, known := request.UserFrom(ctx)
	if !known {
		return nil, apierrors.NewInternalError(errors.New("the request has no user"))
	}
	return r.renders.acquire(user.GetName())
}

func (r *renderer) render(ctx context.Context, posted *v1.Application) (runtime.Object, error) {
	old, err := r.live.application(ctx, posted.Name)
	if err != nil {
		return nil, err
	}
	about := old
	if about == nil {
		about = posted
	}
	live, unread, err := r.live.snapshot(ctx, about)
	if err != nil {
		return nil, err
	}
	platform, err := r.live.platformOf(ctx, posted)
	if err != nil {
		return nil, err
	}
	rendering, difference, err := preview.Of(r.differ, old, posted, live, platform, time.Now())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if len(rendering.Invalid) > 0 {
		return nil, apierrors.NewInvalid(applicationKind, posted.Name, rendering.Invalid)
	}
	if err := unread.concern(rendering.Children, about); err != nil {
		return nil, err
	}
	found, err := r.live.addForeign(ctx, live, difference)
	if err != nil {
		return nil, err
	}
	if found {
		if rendering, difference, err = preview.Of(r.differ, old, posted, live, platform, time.Now()); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
	}
	return newRendering(about, rendering, difference)
}

var applicationKind = schema.GroupKind{Group: v1.GroupName, Kind: v1.ApplicationKind}

// unreadKinds are the optional kinds that the user may not list, each with the error that says so.
type unreadKinds map[child.Kind]error

// concern returns an error if the Application has or would have a child of such a kind: what may not be read is never taken
// for absent.
func (u unreadKinds) concern(rendered []child.Desired, application *v1.Application) error {
	for _, desired := range rendered {
		if err := u[desired.Kind]; err != nil {
			return err
		}
	}
	for _, resource := range application.Status.Resources {
		if ref, known := child.RefOf(application, resource); known && u[ref.Kind] != nil {
			return u[ref.Kind]
		}
	}
	return nil
}
