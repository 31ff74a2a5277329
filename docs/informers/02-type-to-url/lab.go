// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typetourl follows a Go type to the URL of its objects.
package typetourl

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

//go:embed quays.yaml
var definition []byte

// Lab goes from types to URLs, and shows what is fixed at compile time and what only the server knows.
func Lab(ctx context.Context, l *lab.Lab) (err error) {
	l.Step("type to kind: the scheme knows, the object does not")
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: l.Namespace}}
	kinds, _, err := scheme.Scheme.ObjectKinds(deployment)
	if err != nil {
		return err
	}
	l.Say("%T is %s; its own kind field: %q", deployment, kinds[0], deployment.Kind)
	if err := sayWithoutKind(ctx, l); err != nil {
		return err
	}
	many, _, err := scheme.Scheme.ObjectKinds(&metav1.ListOptions{})
	if err != nil {
		return err
	}
	l.Say("%T is in more than one group: %t", &metav1.ListOptions{}, len(many) > 1)
	_, _, err = scheme.Scheme.ObjectKinds(&unregistered{})
	l.Say("an unregistered type is an error: %t", runtime.IsNotRegisteredError(err))

	l.Step("kind to resource: a guess, and the server's answer")
	quay := schema.GroupVersionKind{Group: "labs.fairlead.dev", Version: "v1", Kind: "Quay"}
	remove, err := l.WithCRD(ctx, definition, quay.GroupVersion().WithResource("quays"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	mapper, err := newMapper(ctx, l.Config, quay)
	if err != nil {
		return err
	}
	for _, kind := range []schema.GroupVersionKind{
		kinds[0],
		networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"),
		networkingv1.SchemeGroupVersion.WithKind("Ingress"),
		rbacv1.SchemeGroupVersion.WithKind("ClusterRole"),
		quay,
	} {
		if err := sayMapping(l, mapper, kind); err != nil {
			return err
		}
	}

	l.Step("a kind without a resource, and one with several")
	if _, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Podd"}); meta.IsNoMatchError(err) {
		l.Say("%v", err)
	}
	return sayScales(ctx, l)
}

// unregistered is a runtime.Object that no scheme knows.
type unregistered struct{ metav1.TypeMeta }

// DeepCopyObject makes it a runtime.Object.
func (u *unregistered) DeepCopyObject() runtime.Object { c := *u; return &c }

// sayWithoutKind shows the best-known surprise of the typed client.
func sayWithoutKind(ctx context.Context, l *lab.Lab) error {
	namespace, err := l.Client.CoreV1().Namespaces().Get(ctx, l.Namespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	l.Say("%T from the typed client; its own kind field: %q", namespace, namespace.Kind)
	return nil
}

// newMapper runs discovery until the server lists the new kind.
func newMapper(ctx context.Context, config *rest.Config, until schema.GroupVersionKind) (mapper meta.RESTMapper, err error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	err = lab.Eventually(ctx, "discovery of "+until.Kind, func(ctx context.Context) (bool, error) {
		groups, err := restmapper.GetAPIGroupResourcesWithContext(ctx, client)
		if err != nil {
			return false, err
		}
		mapper = restmapper.NewDiscoveryRESTMapper(groups)
		_, err = mapper.RESTMapping(until.GroupKind(), until.Version)
		return err == nil, nil
	})
	return mapper, err
}

func sayMapping(l *lab.Lab, mapper meta.RESTMapper, kind schema.GroupVersionKind) error {
	guess, _ := meta.UnsafeGuessKindToResource(kind)
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	address, err := urlOf(l, mapping)
	if err != nil {
		return err
	}
	l.Say("%-13s  guessed %-15s  is %-15s  %s", kind.Kind, guess.Resource, mapping.Resource.Resource, address)
	return nil
}

// urlOf lets the REST client build the address of an object called web, as every typed client does.
func urlOf(l *lab.Lab, mapping *meta.RESTMapping) (string, error) {
	config := rest.CopyConfig(l.Config)
	version := mapping.GroupVersionKind.GroupVersion()
	config.GroupVersion = &version
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.APIPath = "/apis"
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return "", err
	}
	request := client.Get().Resource(mapping.Resource.Resource).Name("web")
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		request = request.Namespace(l.Namespace)
	}
	return request.URL().Path, nil
}

// sayScales lists what has a scale: one kind, Scale of autoscaling/v1, under the URLs of many resources.
func sayScales(ctx context.Context, l *lab.Lab) error {
	client, err := discovery.NewDiscoveryClientForConfig(l.Config)
	if err != nil {
		return err
	}
	list, err := client.ServerResourcesForGroupVersionWithContext(ctx, "apps/v1")
	if err != nil {
		return err
	}
	var scales []string
	for i := range list.APIResources {
		resource := &list.APIResources[i]
		if resource.Group == autoscalingv1.GroupName && resource.Kind == "Scale" {
			scales = append(scales, resource.Name)
		}
	}
	l.Say("Scale of %s: %s", autoscalingv1.SchemeGroupVersion, strings.Join(scales, ", "))
	return nil
}
