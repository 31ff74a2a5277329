// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// applications is the registry of the resource itself: get, list and watch of the views.
type applications struct {
	history *history
	access  access
	watches *quota
}

var (
	_ rest.Scoper               = &applications{}
	_ rest.Getter               = &applications{}
	_ rest.Lister               = &applications{}
	_ rest.Watcher              = &applications{}
	_ rest.ShortNamesProvider   = &applications{}
	_ rest.SingularNameProvider = &applications{}
)

func (r *applications) New() runtime.Object     { return &v1alpha1.ApplicationRuntime{} }
func (r *applications) NewList() runtime.Object { return &v1alpha1.ApplicationRuntimeList{} }
func (r *applications) Destroy()                {}
func (r *applications) NamespaceScoped() bool   { return true }

// GetSingularName and ShortNames let kubectl find the resource by its kind. By its plural, which the custom resource has
// too, kubectl finds the custom resource.
func (r *applications) GetSingularName() string { return "applicationruntime" }
func (r *applications) ShortNames() []string    { return []string{"applicationruntimes", "flr"} }

// Get returns one view. A resourceVersion in the options is ignored: the view is as new as the caches.
func (r *applications) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if err := r.access.require(ctx, name, onApplications("get", name), onPods("list", "")); err != nil {
		return nil, err
	}
	if err := r.history.ready(); err != nil {
		return nil, err
	}
	view, found := r.history.get(cache.ObjectName{Namespace: request.NamespaceValue(ctx), Name: name})
	if !found {
		return nil, apierrors.NewNotFound(v1alpha1.Resource(v1.ApplicationResource), name)
	}
	show, err := r.show(ctx)
	if err != nil {
		return nil, err
	}
	return show(view), nil
}

// List returns all matching views. It needs no pages, since they are in memory, so it takes limit for the hint that it is.
func (r *applications) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	if err := r.access.require(ctx, "", onApplications("list", ""), onPods("list", "")); err != nil {
		return nil, err
	}
	if err := r.history.ready(); err != nil {
		return nil, err
	}
	if options != nil && options.Continue != "" {
		return nil, apierrors.NewBadRequest("continue is not a token of this server: its lists are complete")
	}
	show, err := r.show(ctx)
	if err != nil {
		return nil, err
	}
	views, version := r.history.list(matcher(ctx, options))
	if err := listable(options, version); err != nil {
		return nil, err
	}
	list := &v1alpha1.ApplicationRuntimeList{
		ListMeta: metav1.ListMeta{ResourceVersion: strconv.FormatUint(version, 10)},
		Items:    make([]v1alpha1.ApplicationRuntime, len(views)),
	}
	for i, view := range views {
		list.Items[i] = *show(view)
	}
	return list, nil
}

// listable returns a 410 if the list that the client asks for is not the present one, and may never be.
func listable(options *metainternalversion.ListOptions, version uint64) error {
	if options == nil || options.ResourceVersion == "" || options.ResourceVersion == "0" {
		return nil
	}
	asked, err := parseVersion(options.ResourceVersion)
	if err != nil {
		return err
	}
	if asked > version || options.ResourceVersionMatch == metav1.ResourceVersionMatchExact && asked != version {
		return apierrors.NewResourceExpired("resourceVersion " + options.ResourceVersion + " is not the present one of this server; list without it")
	}
	return nil
}

// Watch sends the changes after a resourceVersion. Without one, or with sendInitialEvents, it sends the present views
// first.
func (r *applications) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	if err := r.access.require(ctx, "", onApplications("watch", ""), onPods("watch", "")); err != nil {
		return nil, err
	}
	if err := r.history.ready(); err != nil {
		return nil, err
	}
	show, err := r.show(ctx)
	if err != nil {
		return nil, err
	}
	if options == nil {
		options = &metainternalversion.ListOptions{}
	}
	user, known := request.UserFrom(ctx)
	if !known {
		return nil, apierrors.NewInternalError(errors.New("the request has no user"))
	}
	release, err := r.watches.acquire(user.GetName())
	if err != nil {
		return nil, err
	}
	w := &watcher{history: r.history, match: matcher(ctx, options), show: show, bookmarks: options.AllowWatchBookmarks, ctx: ctx, ended: release}
	if err := w.begin(options); err != nil {
		release()
		return nil, err
	}
	return w.start(), nil
}

// begin finds where the watch begins.
func (w *watcher) begin(options *metainternalversion.ListOptions) (err error) {
	asked := options.SendInitialEvents != nil
	if asked && *options.SendInitialEvents || !asked && (options.ResourceVersion == "" || options.ResourceVersion == "0") {
		w.initial, w.version = w.history.list(w.match)
		w.endInitial = asked && options.AllowWatchBookmarks
		return listable(options, w.version)
	}
	if options.ResourceVersion == "" || options.ResourceVersion == "0" {
		_, w.version = w.history.list(w.match) // Only what comes.
	} else if w.version, err = parseVersion(options.ResourceVersion); err != nil {
		return err
	}
	_, _, err = w.history.since(w.version)
	return err
}

func parseVersion(version string) (uint64, error) {
	parsed, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest("resourceVersion " + strconv.Quote(version) + " is not a number")
	}
	return parsed, nil
}

// matcher selects by the request's namespace, labels and fields.
func matcher(ctx context.Context, options *metainternalversion.ListOptions) func(*v1alpha1.ApplicationRuntime) bool {
	namespace, byLabel, byField := request.NamespaceValue(ctx), labels.Everything(), fields.Everything()
	if options != nil && options.LabelSelector != nil {
		byLabel = options.LabelSelector
	}
	if options != nil && options.FieldSelector != nil {
		byField = options.FieldSelector
	}
	return func(view *v1alpha1.ApplicationRuntime) bool {
		return (namespace == "" || namespace == view.Namespace) && byLabel.Matches(labels.Set(view.Labels)) &&
			byField.Matches(fields.Set{"metadata.name": view.Name, "metadata.namespace": view.Namespace, fieldReady: string(view.Ready)})
	}
}

// show returns the copy of a view that a request encodes, without the measurements if the user may not list those of pods.
// The encoder sets and clears the kind of the object itself, so no two requests may have the same one. What a view points
// to, nothing changes.
func (r *applications) show(ctx context.Context) (func(*v1alpha1.ApplicationRuntime) *v1alpha1.ApplicationRuntime, error) {
	measured, err := r.access.allows(ctx, permission{verb: "list", group: "metrics.k8s.io", version: "v1beta1", resource: "pods"})
	if err != nil {
		return nil, err
	}
	return func(view *v1alpha1.ApplicationRuntime) *v1alpha1.ApplicationRuntime {
		shown := *view
		if !measured {
			shown.CPU.Used, shown.Memory.Used = nil, nil
		}
		return &shown
	}, nil
}
