// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/reference"
)

// addReferences makes the caches of references, and what leads from them to Applications.
func (s *scope) addReferences(namespace string, options Options) error {
	s.referrers = newReferrers()
	if options.Metadata == nil {
		return nil
	}
	s.references = map[reference.Kind]*references{}
	for _, kind := range reference.Kinds() {
		r, err := newReferences(options.Metadata, kind, namespace, options.Access, s.recording)
		if err != nil {
			return err
		}
		r.concerned = s.referrers.find
		s.references[kind] = r
	}
	return nil
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

// FollowReferences replaces what an Application refers to: from now on the handler is told of changes of these objects, and
// that the Application is concerned. Call it before WatchReferences and ReferenceVersion: what changes after their answers
// then concerns the Application. Without references nothing does.
func (i *Informers) FollowReferences(application cache.ObjectName, references []reference.Reference) {
	if s, found := i.scope(application.Namespace); found {
		s.referrers.set(application, references)
	}
}

// WatchReferences makes the cache of a kind of reference be filled for the namespace, if it is not,
// and returns how far it is, with the reason if it is neither filled nor about to be. It does not wait: ReferencesDecided
// tells when NotYet or NotListed has ended.
func (i *Informers) WatchReferences(kind reference.Kind, namespace string) (watching Watching, why string) {
	s, found := i.scope(namespace)
	if !found || s.references[kind] == nil {
		return NotPermitted, "the controller does not watch them"
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
