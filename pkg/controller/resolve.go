// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/revision"
)

// target is the desired state of an Application.
type target struct {
	// Application is the one to render: with the defaults of its class, and the pods of the selected revision.
	*v1.Application
	// class is the part of its class that applies; nil if it has none.
	class *v1.AppliedClass
	// invalid is why nothing may change, and invalidReason is the reason for a condition.
	invalid       field.ErrorList
	invalidReason string
	// references are the ConfigMaps and Secrets that the pods use.
	references configState
	// revision is the record of the selected revision.
	revision revision.Record
	// facts are the other inputs of the rendering.
	facts render.Facts
	// pending means that a cache that the sync needs has not synced. That event triggers the next sync.
	pending bool
}

// resolve computes the desired state of the Application: its class, whether the spec is valid, whether it owns its routes,
// which revision runs, and which ConfigMaps and Secrets that revision uses. It reads from the API server only the content
// of those that changed.
func (c *Controller) resolve(ctx context.Context, observed observation, now time.Time) (target, error) {
	application := observed.Application
	if undecodable := validation.Undecodable(application.DecodeErrors); len(undecodable) > 0 {
		// Part of the spec is unknown, so the class is unknown, too.
		c.grants.forget(cache.MetaObjectToName(application))
		return target{class: application.Status.Class, invalid: undecodable}, nil
	}
	resolved, err := c.resolveClass(application)
	if err != nil {
		return target{}, err
	}
	t := target{class: resolved.Applied}
	if t.invalid, t.invalidReason = resolved.Validate(c.Validation); len(t.invalid) > 0 {
		c.grants.forget(cache.MetaObjectToName(application))
		return t, nil
	}
	if t.invalid, err = c.grants.take(application); err != nil || len(t.invalid) > 0 {
		t.invalidReason = v1.ReasonRouteConflict
		return t, err
	}
	selection, err := c.selectRevision(observed, resolved)
	if err != nil {
		return target{}, err
	}
	if t.invalid, t.invalidReason = selection.Invalid, selection.InvalidReason; len(t.invalid) > 0 {
		return t, nil
	}
	t.Application = selection.Application
	if t.references, err = c.resolveReferences(ctx, observed.Snapshot, t.Application, now); err != nil || t.references.pending {
		t.pending = t.references.pending
		return t, err
	}
	if t.revision, err = selection.Record(t.references.hashes.ConfigMaps.Hash, t.references.hashes.Secrets.Hash); err != nil {
		return target{}, err
	}
	t.facts = c.Facts
	t.facts.References, t.facts.Revision = t.references.hashes, rendered(t.revision)
	t.facts.Replicas = render.LiveReplicas(observed.Snapshot)
	httpRoutes, unavailable := observed.Unavailable[child.HTTPRoute]
	t.facts.WithoutHTTPRoutes = unavailable && !httpRoutes.ListFailed
	return t, nil
}

// namespacesUnreadable is why a class with a namespace selector does not apply if the controller cannot read labels.
const namespacesUnreadable = "the controller lacks the permission to get, list and watch namespaces"

// errNamespaceNotCached means that an Application is cached before its namespace.
var errNamespaceNotCached = errors.New("the cache of namespaces does not have the namespace yet")

// resolveClass applies the class of the Application, from the cache. The result is never written into the spec.
func (c *Controller) resolveClass(application *v1.Application) (class.Resolution, error) {
	classes, err := c.Informers.Classes()
	if err != nil {
		return class.Resolution{}, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	rules := class.Rules{Classes: classes, Required: c.RequireClass}
	if rules.Namespace, err = namespaceOf(c.Informers, application.Namespace, classes); err != nil {
		return class.Resolution{}, err
	}
	return class.Resolve(application, rules), nil
}

// namespaceOf returns the labels by which classes select the namespace, if they do.
func namespaceOf(informers *informer.Informers, name string, classes []*v1.ApplicationClass) (class.Namespace, error) {
	namespace := class.Namespace{Name: name}
	if !class.NeedsNamespace(classes) {
		return namespace, nil
	}
	if !informers.ReadsNamespaces() {
		namespace.Unreadable = namespacesUnreadable
		return namespace, nil
	}
	labels, found := informers.NamespaceLabels(name)
	if !found {
		return class.Namespace{}, fmt.Errorf("%w: %s", errNamespaceNotCached, name)
	}
	namespace.Labels = labels
	return namespace, nil
}

// selectRevision selects the revision of the pods: the spec, a pinned revision, or a rollback.
func (c *Controller) selectRevision(observed observation, resolved class.Resolution) (revision.Selection, error) {
	in := revision.Input{
		Application: resolved.Application,
		Health:      observed.health,
		Validate: func(former *v1.Application) (field.ErrorList, string) {
			return resolved.ValidateAs(former, c.Validation)
		},
	}
	for _, live := range ownedChildren(observed.Snapshot) {
		switch object := live.(type) {
		case *appsv1.ControllerRevision:
			in.History = append(in.History, object)
		case *appsv1.Deployment:
			if object.Name == observed.Application.Name {
				in.Deployment = object
			}
		}
	}
	return revision.Select(in)
}

// rendered converts a record for the rendering.
func rendered(record revision.Record) render.Revision {
	return render.Revision{
		Name: record.Name, Number: record.Number, FormerNumbers: record.FormerNumbers, ServicePorts: record.ServicePorts, Data: record.Data,
		RolledBackFrom: record.RolledBackFrom, RolledBackBecause: record.RolledBackBecause, RolledBackBefore: record.RolledBackBefore,
	}
}

// keptRevisions returns the children to keep although they are no longer rendered.
func (t target) keptRevisions() map[child.Ref]bool {
	kept := make(map[child.Ref]bool, len(t.revision.Kept))
	for _, name := range t.revision.Kept {
		kept[child.Ref{Kind: child.ControllerRevision, Namespace: t.Namespace, Name: name}] = true
	}
	return kept
}
