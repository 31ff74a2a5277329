// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/reference"
)

// addReferences creates the caches of references, and the index from them to Applications.
func (s *scope) addReferences(namespace string, options Options) error {
	s.referrers = newReferrers()
	if options.Metadata == nil {
		return nil
	}
	s.references = map[reference.Kind]*references{}
	for _, kind := range reference.Kinds() {
		r, err := newReferences(options.Metadata, kind, namespace, options.Access, s.instrumentation)
		if err != nil {
			return err
		}
		r.concerned = s.referrers.find
		s.references[kind] = r
	}
	return nil
}

// HandleReferences registers the handler. Call it once, before Start.
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

// SetReferences replaces what an Application refers to. From now on, a change of one of these objects calls the
// handler with the Application. Call it before WatchReferences and ReferenceVersion, so that no later change is
// missed.
func (i *Informers) SetReferences(application cache.ObjectName, references []reference.Reference) {
	if s, found := i.scope(application.Namespace); found {
		s.referrers.set(application, references)
	}
}

// WatchReferences starts the cache of a kind of reference for the namespace, if it is not running, and returns its state,
// with a message if it cannot sync. It does not wait: ReferencesSynced is called when WatchPending or WatchListFailed ends.
func (i *Informers) WatchReferences(kind reference.Kind, namespace string) (watching WatchState, message string) {
	s, found := i.scope(namespace)
	if !found || s.references[kind] == nil {
		return WatchForbidden, "the controller does not watch them"
	}
	s.references[kind].activate()
	return s.references[kind].state()
}

// ReferenceVersion returns the cached version of an object, or the zero Version if there is no such object. It is
// reliable only while WatchReferences returns WatchSynced.
func (i *Informers) ReferenceVersion(kind reference.Kind, object cache.ObjectName) reference.Version {
	s, found := i.scope(object.Namespace)
	if !found || s.references[kind] == nil {
		return reference.Version{}
	}
	return s.references[kind].version(object)
}
