// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Caches returns the informers.
func (r *Recorder) Caches() CacheList {
	return CacheList{Version: Version, Instance: r.instance, Time: time.Now().UTC(), Resources: r.describeResources()}
}

func indexNames(indexer cache.Indexer) []string {
	return slices.Sorted(maps.Keys(indexer.GetIndexers()))
}

// Cache returns the objects of a resource, without their content.
func (r *Recorder) Cache(resource string, lookup Lookup) (CachePage, error) {
	page := CachePage{
		Version: Version, Instance: r.instance, Time: time.Now().UTC(), Resource: resource, Index: lookup.Index, Value: lookup.Value, Objects: []CachedObject{},
	}
	err := r.cached(resource, func(rr *ResourceRecorder, indexer cache.Indexer) error {
		objects, err := find(indexer, lookup)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if described, ok := rr.describe(object, indexer); ok && described.matches(lookup) {
				page.Objects = append(page.Objects, described)
			}
		}
		return nil
	})
	if err != nil {
		return CachePage{}, err
	}
	slices.SortFunc(page.Objects, func(a, b CachedObject) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name.Name, b.Name.Name))
	})
	page.Total = len(page.Objects)
	if lookup.Limit > 0 && page.Total > lookup.Limit {
		page.Objects = page.Objects[:lookup.Limit]
	}
	return page, nil
}

// CachedObject returns one object, with redacted values.
func (r *Recorder) CachedObject(resource string, name Name) (CachePage, error) {
	page := CachePage{Version: Version, Instance: r.instance, Time: time.Now().UTC(), Resource: resource}
	err := r.cached(resource, func(rr *ResourceRecorder, indexer cache.Indexer) error {
		object, exists, err := indexer.GetByKey(cache.ObjectName(name).String())
		if err != nil || !exists {
			return err
		}
		described, ok := rr.describe(object, indexer)
		if !ok {
			return nil
		}
		content, err := rr.unpack(object)
		if err != nil {
			return err
		}
		if described.Object, err = redacted(content); err != nil {
			return fmt.Errorf("redact %s %s: %w", resource, cache.ObjectName(name), err)
		}
		page.Objects = append(page.Objects, described)
		return nil
	})
	if err == nil && len(page.Objects) == 0 {
		err = fmt.Errorf("%s %s: %w", resource, cache.ObjectName(name), ErrNotFound)
	}
	page.Total = len(page.Objects)
	return page, err
}

// cached visits the caches of a resource: one for each watched namespace and role.
func (r *Recorder) cached(resource string, visit func(*ResourceRecorder, cache.Indexer) error) error {
	found, hidden := false, false
	for _, rr := range r.all() {
		if rr.Resource != resource {
			continue
		}
		if rr.Hidden {
			hidden = true
			continue
		}
		indexer := r.indexerOf(rr)
		if indexer == nil {
			continue
		}
		found = true
		if err := visit(rr, indexer); err != nil {
			return err
		}
	}
	switch {
	case found:
		return nil
	case hidden:
		return fmt.Errorf("the objects of %s: %w", resource, ErrNotShown)
	default:
		return fmt.Errorf("resource %q: %w", resource, ErrNotFound)
	}
}

func find(indexer cache.Indexer, lookup Lookup) ([]any, error) {
	if lookup.Index == "" {
		return indexer.List(), nil
	}
	if _, exists := indexer.GetIndexers()[lookup.Index]; !exists {
		return nil, fmt.Errorf("index %q: %w", lookup.Index, ErrNotFound)
	}
	return indexer.ByIndex(lookup.Index, lookup.Value)
}

func (o *CachedObject) matches(lookup Lookup) bool {
	return (lookup.Namespace == "" || o.Namespace == lookup.Namespace) &&
		(lookup.Name == "" || strings.Contains(o.Name.Name, lookup.Name))
}

// describe returns the view of a cached object.
func (rr *ResourceRecorder) describe(object any, indexer cache.Indexer) (CachedObject, bool) {
	m, err := meta.Accessor(object)
	if err != nil {
		return CachedObject{}, false
	}
	described := CachedObject{
		Name: Name{Namespace: m.GetNamespace(), Name: m.GetName()}, UID: string(m.GetUID()), ResourceVersion: m.GetResourceVersion(),
		Generation: m.GetGeneration(), Deleting: m.GetDeletionTimestamp() != nil, Key: nameOf(rr.CachedKey(object)), Indexed: map[string][]string{},
	}
	if created := m.GetCreationTimestamp(); created != (metav1.Time{}) {
		described.Created = optionalTimeOf(created.Time)
	}
	for name, index := range indexer.GetIndexers() {
		if values, err := index(object); err == nil && len(values) > 0 {
			described.Indexed[name] = values
		}
	}
	return described, true
}
