// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/reference"
)

// byReference is the name of the index that finds the Applications which refer to an object. Those
// with configChangePolicy Ignore are not in it.
const byReference = "reference"

// addReferences makes the caches of references and the index that leads from them to Applications.
func (s *scope) addReferences(namespace string, options Options) error {
	if err := s.applications.AddIndexers(cache.Indexers{byReference: referenceIndex}); err != nil {
		return fmt.Errorf("index Applications by reference: %w", err)
	}
	if options.Metadata == nil {
		return nil
	}
	s.references = map[reference.Kind]*references{}
	for _, kind := range reference.Kinds() {
		r, err := newReferences(options.Metadata, kind, namespace, options.Access, s.recording)
		if err != nil {
			return err
		}
		r.concerned = s.concerned
		s.references[kind] = r
	}
	return nil
}

// referenceIndex is the index function behind byReference: a key for each object that the
// Application refers to, and one for each kind of object.
func referenceIndex(object any) ([]string, error) {
	application, ok := object.(*v1.Application)
	if !ok {
		return nil, fmt.Errorf("index a %T by reference", object)
	}
	if !reference.Follows(&application.Spec) {
		return nil, nil
	}
	var keys []string
	var last reference.Kind
	for _, r := range reference.InSpec(&application.Spec) {
		if r.Kind != last {
			keys = append(keys, referenceKey(r.Kind, nil))
			last = r.Kind
		}
		keys = append(keys, referenceKey(r.Kind, &cache.ObjectName{Namespace: application.Namespace, Name: r.Name}))
	}
	return keys, nil
}

// referenceKey is the key in the index of one object, or of all of its kind.
func referenceKey(kind reference.Kind, object *cache.ObjectName) string {
	if object == nil {
		return string(kind)
	}
	return string(kind) + "/" + object.String()
}

// concerned finds the Applications that refer to one object, or all that refer to the kind.
func (s *scope) concerned(kind reference.Kind, object *cache.ObjectName) []cache.ObjectName {
	found, err := s.applications.GetTypedIndexer().ByTypedIndex(byReference, referenceKey(kind, object))
	if err != nil {
		return nil // There is no such index; addReferences has made it.
	}
	names := make([]cache.ObjectName, 0, len(found))
	for _, application := range found {
		names = append(names, cache.MetaObjectToName(application))
	}
	return names
}

// HandleReferences registers the handler. Call it before Start, and once.
func (i *Informers) HandleReferences(handler ReferenceHandler) error {
	for _, s := range i.scopes {
		for _, r := range s.references {
			if err := r.handle(handler); err != nil {
				return err
			}
		}
	}
	return nil
}

// WatchReferences makes the cache of a kind of reference be filled for the namespace, if it is not,
// and says how far it is. It does not wait: ReferencesDecided tells when NotYet has ended.
func (i *Informers) WatchReferences(kind reference.Kind, namespace string) Watching {
	s, found := i.scope(namespace)
	if !found || s.references[kind] == nil {
		return NotPermitted
	}
	s.references[kind].want()
	return s.references[kind].state()
}

// ReferenceVersion is the cached version of an object, the zero Version if there is no such object.
// It knows only while WatchReferences says Watched.
func (i *Informers) ReferenceVersion(kind reference.Kind, object cache.ObjectName) reference.Version {
	s, found := i.scope(object.Namespace)
	if !found || s.references[kind] == nil {
		return reference.Version{}
	}
	return s.references[kind].version(object)
}
