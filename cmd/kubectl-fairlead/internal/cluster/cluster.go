// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster reads an Application and everything around it, with the rights of the user. What the user may not
// read, or the cluster does not serve, is left out and named.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/childcodec"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/tree"
)

// Clients are those that the commands use.
type Clients struct {
	Config   *rest.Config
	Kube     kubernetes.Interface
	Fairlead versioned.Interface
	Dynamic  dynamic.Interface
	// Metadata reads Secrets without their content, where the plugin only needs to know that they exist.
	Metadata metadata.Interface
}

// New makes the Clients.
func New(config *rest.Config) (*Clients, error) {
	// The API server knows its load, and a limiter here reports its own error at the end of a wait, not that the time is over.
	config = rest.CopyConfig(config)
	config.QPS = -1
	c := &Clients{Config: config}
	var err error
	if c.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.Fairlead, err = versioned.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.Dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.Metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	return c, nil
}

// Loaded is what was read.
type Loaded struct {
	tree.Objects
	// Events are those about the Application, the newest first. EventsOfObjects are Warnings about its children and pods.
	Events          []corev1.Event
	EventsOfObjects []corev1.Event
	// Saved says that a Secret has what a Deployment was before its adoption, or before the consent to it. Only why asks for it.
	Saved bool
	// Scalers are the HorizontalPodAutoscalers of LoadScalers that scale the Deployment, and SpecScalers those that scale the Application, so
	// they set spec.replicas. Only why and scale ask for them.
	Scalers, SpecScalers []string
	// MissingSecrets and UnboundClaims are those of LoadMissingSecrets and LoadUnboundClaims. Only why asks for them.
	MissingSecrets []string
	UnboundClaims  []*corev1.PersistentVolumeClaim
	// Quotas are the ResourceQuotas of LoadQuotas, if QuotasRead. Only why asks for them, and only where one may refuse pods.
	Quotas     []*corev1.ResourceQuota
	QuotasRead bool
	// LimitRanges are those of LoadLimitRanges, if LimitRangesRead. Only why asks for them, and only where one may refuse pods.
	LimitRanges     []*corev1.LimitRange
	LimitRangesRead bool
	// ClassesMissing says that the cluster has no ApplicationClass. Only why asks for it, and only where the Application names one.
	ClassesMissing bool
	// MaxReplicas is the limit of LoadMaxReplicas; nil if there is none, or it is not known. Only why asks for it.
	MaxReplicas *int32
	// Unreadable are the resources that could not be listed, and why.
	Unreadable map[string]error

	mu sync.Mutex
}

// Load reads what belongs to the Application.
func (c *Clients) Load(ctx context.Context, application *v1.Application) (*Loaded, error) {
	loaded := &Loaded{Objects: tree.Objects{Application: application}, Unreadable: map[string]error{}}
	namespace, selector := application.Namespace, metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application.Name}
	group, loading := errgroup.WithContext(ctx)
	for _, kind := range child.AllKinds() {
		group.Go(func() error { return c.loadChildren(loading, loaded, kind, selector) })
	}
	group.Go(func() error { return c.loadReplicaSets(loading, loaded, selector) })
	group.Go(func() error { return c.loadPods(loading, loaded, selector) })
	group.Go(func() error {
		list, err := c.Kube.DiscoveryV1().EndpointSlices(namespace).List(loading, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName})
		return loaded.add("endpointslices", err, func() { loaded.EndpointSlices = pointers(list.Items) })
	})
	group.Go(func() error {
		list, err := c.Kube.CoreV1().Events(namespace).List(loading, metav1.ListOptions{})
		return loaded.add("events", err, func() { loaded.Events = list.Items })
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if adopted, found := loaded.adoptedSelector(); found {
		if err := errors.Join(c.loadReplicaSets(ctx, loaded, adopted), c.loadPods(ctx, loaded, adopted)); err != nil {
			return nil, err
		}
	}
	loaded.sortEvents()
	return loaded, nil
}

func (c *Clients) loadReplicaSets(ctx context.Context, loaded *Loaded, selector metav1.ListOptions) error {
	list, err := c.Kube.AppsV1().ReplicaSets(loaded.Application.Namespace).List(ctx, selector)
	return loaded.add("replicasets", err, func() { loaded.ReplicaSets = pointers(list.Items) })
}

func (c *Clients) loadPods(ctx context.Context, loaded *Loaded, selector metav1.ListOptions) error {
	list, err := c.Kube.CoreV1().Pods(loaded.Application.Namespace).List(ctx, selector)
	return loaded.add("pods", err, func() { loaded.Pods = pointers(list.Items) })
}

// adoptedSelector selects the pods of an adopted Deployment. It keeps its selector, and its pods lack the Application's label
// until a rollout has replaced them.
func (l *Loaded) adoptedSelector() (options metav1.ListOptions, found bool) {
	for _, live := range l.Children {
		deployment, ok := live.(*appsv1.Deployment)
		if !ok || !child.OwnedBy(deployment, l.Application) || deployment.Spec.Selector == nil {
			continue
		}
		if _, own := deployment.Spec.Selector.MatchLabels[v1.LabelApplication]; !own {
			return metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(deployment.Spec.Selector)}, true
		}
	}
	return options, false
}

// loadChildren lists the children of one kind, and gets those that only status names: they may have lost the label, or
// belong to another owner.
func (c *Clients) loadChildren(ctx context.Context, loaded *Loaded, kind child.Kind, selector metav1.ListOptions) error {
	application := loaded.Application
	client := c.Dynamic.Resource(kind.GroupVersionResource()).Namespace(application.Namespace)
	list, err := client.List(ctx, selector)
	if apierrors.IsNotFound(err) {
		return nil // The cluster does not serve an optional kind; status says what that means.
	}
	if apierrors.IsForbidden(err) && !HasKind(application, kind) {
		return nil // Kubernetes' roles do not have the optional kinds, which few clusters serve.
	}
	if err != nil {
		return loaded.add(kind.Resource, err, nil)
	}
	typed := make([]child.Object, 0, len(list.Items))
	for i := range list.Items {
		object, err := childcodec.Decode(kind, &list.Items[i])
		if err != nil {
			return err
		}
		typed = append(typed, object)
	}
	if err := loaded.add(kind.Resource, nil, func() { loaded.Children = append(loaded.Children, typed...) }); err != nil {
		return err
	}
	for _, resource := range application.Status.Resources {
		ref, known := child.RefOf(application, resource)
		if !known || ref.Kind != kind || slices.ContainsFunc(list.Items, named(ref.Name)) {
			continue
		}
		if _, err := c.LoadChild(ctx, loaded, ref); err != nil {
			return err
		}
	}
	return nil
}

// LoadChild gets the object that has the name of a child, also if it is not the Application's, and reports whether it exists.
func (c *Clients) LoadChild(ctx context.Context, loaded *Loaded, ref child.Ref) (exists bool, err error) {
	live, err := c.Dynamic.Resource(ref.Kind.GroupVersionResource()).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, loaded.add(ref.Kind.Resource, err, nil)
	}
	object, err := childcodec.Decode(ref.Kind, live)
	if err != nil {
		return false, err
	}
	return true, loaded.add(ref.Kind.Resource, nil, func() { loaded.Children = append(loaded.Children, object) })
}

// HasKind reports whether the Application may have a child of an optional kind: status has all that exist.
func HasKind(application *v1.Application, kind child.Kind) bool {
	return !kind.Optional() || slices.ContainsFunc(application.Status.Resources, func(resource v1.ResourceStatus) bool {
		return resource.Group == kind.Group && resource.Kind == kind.Kind
	})
}

// add takes in what was read. A resource that the user may not read is no reason to show nothing.
func (l *Loaded) add(resource string, err error, take func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		take()
		return nil
	case apierrors.IsForbidden(err):
		l.Unreadable[resource] = err
		return nil
	default:
		return fmt.Errorf("list %s: %w", resource, err)
	}
}

// pointers returns pointers to the items.
func pointers[T appsv1.ReplicaSet | corev1.Pod | corev1.ResourceQuota | corev1.LimitRange | discoveryv1.EndpointSlice](items []T) []*T {
	list := make([]*T, 0, len(items))
	for i := range items {
		list = append(list, &items[i])
	}
	return list
}
