// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// VisitApplications calls f for every cached Application, in no order. The cache owns them: never change them.
func (i *Informers) VisitApplications(f func(*v1.Application)) {
	for _, s := range i.scopes {
		for _, object := range s.applications.GetStore().List() {
			if application, ok := object.(*v1.Application); ok {
				f(application)
			}
		}
	}
}

// Application returns the cached Application. The cache owns it: never change it.
func (i *Informers) Application(name cache.ObjectName) (*v1.Application, bool, error) {
	s, found := i.scope(name.Namespace)
	if !found {
		return nil, false, nil
	}
	object, exists, err := s.applications.GetStore().GetByKey(name.String())
	if err != nil || !exists {
		return nil, false, err
	}
	application, ok := object.(*v1.Application)
	if !ok {
		return nil, false, fmt.Errorf("the cache of Applications has a %T", object)
	}
	return application, true, nil
}

// HandleApplications registers another handler of Applications and returns what to wait for, like Handle.
func (i *Informers) HandleApplications(handler ApplicationHandler) ([]cache.DoneChecker, error) {
	var synced []cache.DoneChecker
	for _, s := range i.scopes {
		registration, err := s.applications.AddTypedEventHandler(handler)
		if err != nil {
			return nil, fmt.Errorf("handle Applications: %w", err)
		}
		synced = append(synced, registration.HasSyncedChecker())
	}
	return synced, nil
}
