// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// connection is a subresource that connects the user with one pod of an Application, under the same name as a pod's.
type connection struct {
	subresource string
	newOptions  func() runtime.Object
	// query returns the parameters of the pod's subresource.
	query func(options runtime.Object, application string, p *pod) (url.Values, error)
}

func connections() []connection {
	return []connection{
		{"exec", func() runtime.Object { return &v1alpha1.ApplicationExecOptions{} }, execQuery},
		{"portforward", func() runtime.Object { return &v1alpha1.ApplicationPortForwardOptions{} }, portForwardQuery},
	}
}

func execQuery(given runtime.Object, application string, p *pod) (url.Values, error) {
	options, ok := given.(*v1alpha1.ApplicationExecOptions)
	switch {
	case !ok:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T is not ApplicationExecOptions", given))
	case len(options.Command) == 0:
		return nil, apierrors.NewBadRequest("command must have at least one part")
	case !options.Stdin && !options.Stdout && !options.Stderr:
		return nil, apierrors.NewBadRequest("at least one of stdin, stdout and stderr must be true")
	case options.TTY && options.Stderr:
		return nil, apierrors.NewBadRequest("tty and stderr exclude each other: a terminal has one output")
	}
	return podQuery(&corev1.PodExecOptions{
		Container: containerOf(options.Container, application, p), Command: options.Command,
		Stdin: options.Stdin, Stdout: options.Stdout, Stderr: options.Stderr, TTY: options.TTY,
	})
}

func portForwardQuery(given runtime.Object, _ string, _ *pod) (url.Values, error) {
	options, ok := given.(*v1alpha1.ApplicationPortForwardOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T is not ApplicationPortForwardOptions", given))
	}
	for _, port := range options.Ports {
		if port < 1 || port > 65535 {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("port %d is not between 1 and 65535", port))
		}
	}
	return podQuery(&corev1.PodPortForwardOptions{Ports: options.Ports})
}

func podQuery(options runtime.Object) (url.Values, error) {
	query, err := scheme.ParameterCodec.EncodeParameters(options, corev1.SchemeGroupVersion)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return query, nil
}

// connector is the registry of one connection.
type connector struct {
	connection
	caches   *caches
	history  *history // It knows whether the caches are filled.
	access   access
	limits   Limits
	streams  *quota
	pods     *PodConnections
	stopping <-chan struct{}
}

var _ rest.Connecter = &connector{}

func (r *connector) New() runtime.Object { return &v1alpha1.ApplicationRuntime{} }
func (r *connector) Destroy()            {}

// ConnectMethods implements rest.Connecter: websockets begin with GET, SPDY with POST.
func (r *connector) ConnectMethods() []string { return []string{http.MethodGet, http.MethodPost} }

// NewConnectOptions implements rest.Connecter.
func (r *connector) NewConnectOptions() (options runtime.Object, subpath bool, subpathKey string) {
	return r.newOptions(), false, ""
}

// Connect picks a pod, and returns what connects the user with it.
func (r *connector) Connect(ctx context.Context, name string, options runtime.Object, responder rest.Responder) (http.Handler, error) {
	if err := r.mayConnect(ctx, name); err != nil {
		return nil, err
	}
	if err := r.history.ready(); err != nil {
		return nil, err
	}
	key := cache.ObjectName{Namespace: request.NamespaceValue(ctx), Name: name}
	application, found := r.caches.application(key)
	if !found {
		return nil, apierrors.NewNotFound(v1alpha1.Resource(v1.ApplicationResource), name)
	}
	below, err := r.caches.family(application, key)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	picked := healthyPod(below)
	if picked == nil {
		return nil, apierrors.NewConflict(v1alpha1.Resource(v1.ApplicationResource), name, errNoHealthyPod)
	}
	query, err := r.query(options, name, picked)
	if err != nil {
		return nil, err
	}
	return &podStream{
		registry: r, application: name, responder: responder,
		location: r.pods.location(picked.Namespace, picked.Name, r.subresource, query),
	}, nil
}

const errNoHealthyPod endError = "no pod is ready; the subresource tree says why"

// mayConnect returns an error unless the user of the request may connect with any pod of the namespace. A websocket begins with
// GET, which kube-apiserver authorizes as the verb get: a permission to read must not suffice, so create is asked for here.
func (r *connector) mayConnect(ctx context.Context, name string) error {
	return r.access.require(ctx, name,
		permission{
			verb: "create", group: v1alpha1.GroupName, version: v1alpha1.SchemeGroupVersion.Version,
			resource: v1.ApplicationResource, subresource: r.subresource, name: name,
		},
		onApplications("get", name), onPods("list", ""), onPods("create", r.subresource))
}
