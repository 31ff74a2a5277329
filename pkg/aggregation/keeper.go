// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package aggregation registers the aggregated API server with kube-apiserver, but only while the server answers.
//
// An APIService whose server is down harms the whole cluster: discovery fails, and no namespace can be deleted, because
// the namespace controller cannot list what is left in it. So the [Keeper] creates the APIService only once the server
// answers, and deletes it after two minutes without an answer, or in which kube-apiserver did not reach the server: a firewall
// may let the keeper through and not kube-apiserver. The owner of the APIService belongs to the installation, so the garbage
// collector deletes the APIService even if the keeper is uninstalled.
package aggregation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const (
	// Period is the time between two probes of the server.
	Period = 10 * time.Second
	// MaxDowntime is the time without an answer after which the keeper deletes the APIService.
	MaxDowntime = 2 * time.Minute
	// RetryAfter is for how long the keeper creates no APIService after kube-apiserver did not reach a server that answers.
	RetryAfter = 30 * time.Minute
	// priority is lower than the priority of all groups with custom resources, so that kubectl finds those first under a
	// shared name.
	priority = 100
	// fieldManager owns the fields of the APIService.
	fieldManager = "fairlead-controller"
)

// APIServices is the resource that the keeper writes.
var APIServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// Service is the Service through which kube-apiserver reaches the server.
type Service struct {
	Namespace, Name string
	Port            int32
}

// Config has the dependencies of a Keeper.
type Config struct {
	// Client is the client of APIServices. It writes only while this replica leads.
	Client dynamic.ResourceInterface
	// Version is the version that the server serves.
	Version schema.GroupVersion
	Service Service
	// CABundle has the CAs of the server's certificate; empty before there is one.
	CABundle func() []byte
	// Owner returns the object that owns the APIService. Without one, the server is not installed.
	Owner func(context.Context) (metav1.OwnerReference, error)
	// Probe reports whether the server is ready.
	Probe func(context.Context) error
	// Period, MaxDowntime and RetryAfter default to the constants of the package.
	Period, MaxDowntime, RetryAfter time.Duration
}

// Keeper creates and deletes one APIService.
type Keeper struct {
	config Config
	// answered is when the server answered last, or when the keeper started.
	answered time.Time
	// reached is when kube-apiserver may have reached the server last: the APIService was not unavailable, or the server did
	// not answer anyway.
	reached time.Time
	// resume is when the keeper may create the APIService again.
	resume time.Time
}

// New returns a keeper. Only the leader runs it.
func New(config Config) *Keeper {
	config.Period = cmp.Or(config.Period, Period)
	config.MaxDowntime = cmp.Or(config.MaxDowntime, MaxDowntime)
	config.RetryAfter = cmp.Or(config.RetryAfter, RetryAfter)
	return &Keeper{config: config}
}

// Run maintains the APIService until the context ends. Then it leaves the APIService to the next leader.
func (k *Keeper) Run(ctx context.Context) {
	k.answered, k.reached = time.Now(), time.Now()
	ticker := time.NewTicker(k.config.Period)
	defer ticker.Stop()
	for {
		if err := k.keep(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Cannot keep the APIService of the aggregated API server; retrying", "apiservice", k.name())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (k *Keeper) keep(ctx context.Context) error {
	down, now := k.config.Probe(ctx), time.Now()
	if down != nil {
		k.reached = now
	}
	switch {
	case ctx.Err() != nil:
		return nil //nolint:nilerr // This replica leads no more.
	case down == nil && now.Before(k.resume):
		k.answered = now
		return nil
	case down == nil:
		k.answered = now
		return k.ensure(ctx)
	case time.Since(k.answered) < k.config.MaxDowntime:
		return nil // A rollout does not take longer.
	}
	return k.remove(ctx, down)
}

func (k *Keeper) name() string { return k.config.Version.Version + "." + k.config.Version.Group }

// ensure creates the APIService, or updates an existing one that Fairlead created.
func (k *Keeper) ensure(ctx context.Context) error {
	caBundle := k.config.CABundle()
	if len(caBundle) == 0 {
		return nil
	}
	owner, err := k.config.Owner(ctx)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find the owner of the APIService: %w", err)
	}
	live, err := k.config.Client.Get(ctx, k.name(), metav1.GetOptions{})
	exists := err == nil
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("get APIService: %w", err)
	case exists && !isOurs(live):
		return fmt.Errorf("the APIService is not Fairlead's: it lacks the label %s=%s", v1.LabelManagedBy, v1.ManagedBy)
	}
	if unavailable := unavailability(live); unavailable == nil {
		k.reached = time.Now()
	} else if time.Since(k.reached) >= k.config.MaxDowntime {
		k.resume = time.Now().Add(k.config.RetryAfter)
		return k.remove(ctx, unavailable)
	}
	if exists && bytes.Equal(caBundleOf(live), caBundle) && slices.Contains(live.GetOwnerReferences(), owner) {
		return nil
	}
	// RBAC can restrict a create to a name only for an apply.
	if _, err := k.config.Client.Apply(ctx, k.name(), k.apiService(caBundle, owner), metav1.ApplyOptions{FieldManager: fieldManager, Force: true}); err != nil {
		return fmt.Errorf("apply APIService: %w", err)
	}
	if !exists {
		klog.FromContext(ctx).Info("Registered the aggregated API server", "apiservice", k.name())
	}
	return nil
}

// remove deletes the APIService, unless another client created it.
func (k *Keeper) remove(ctx context.Context, why error) error {
	live, err := k.config.Client.Get(ctx, k.name(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get APIService: %w", err)
	}
	if !isOurs(live) {
		return nil
	}
	uid := live.GetUID()
	err = k.config.Client.Delete(ctx, k.name(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete APIService: %w", err)
	}
	klog.FromContext(ctx).Info("Unregistered the aggregated API server, because it does not answer and would block the deletion of namespaces",
		"apiservice", k.name(), "downtime", k.config.MaxDowntime, "err", why)
	return nil
}

// unavailability returns why kube-apiserver does not reach the server, or nil if it does, or has not tried.
func unavailability(live *unstructured.Unstructured) error {
	if live == nil {
		return nil
	}
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, item := range conditions {
		if condition, ok := item.(map[string]any); ok && condition["type"] == "Available" && condition["status"] == "False" {
			return fmt.Errorf("kube-apiserver does not reach it: %v: %v", condition["reason"], condition["message"])
		}
	}
	return nil
}

func isOurs(live *unstructured.Unstructured) bool {
	return live.GetLabels()[v1.LabelManagedBy] == v1.ManagedBy
}

func (k *Keeper) apiService(caBundle []byte, owner metav1.OwnerReference) *unstructured.Unstructured {
	service := k.config.Service
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": APIServices.GroupVersion().String(), "kind": "APIService",
		"spec": map[string]any{
			"group": k.config.Version.Group, "version": k.config.Version.Version,
			"groupPriorityMinimum": int64(priority), "versionPriority": int64(priority),
			"caBundle": base64.StdEncoding.EncodeToString(caBundle),
			"service":  map[string]any{"namespace": service.Namespace, "name": service.Name, "port": int64(service.Port)},
		},
	}}
	object.SetName(k.name())
	object.SetLabels(map[string]string{v1.LabelManagedBy: v1.ManagedBy})
	object.SetOwnerReferences([]metav1.OwnerReference{owner})
	return object
}

func caBundleOf(live *unstructured.Unstructured) []byte {
	encoded, _, _ := unstructured.NestedString(live.Object, "spec", "caBundle")
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil
	}
	return decoded
}
