// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Revisions returns the cached revisions that belong to an Application, in no order. known is false if its namespace is not
// watched.
func (i *Informers) Revisions(application *v1.Application) (revisions []*appsv1.ControllerRevision, known bool, err error) {
	s, found := i.scope(application.Namespace)
	if !found {
		return nil, false, nil
	}
	for _, c := range s.children {
		if c.kind != child.ControllerRevision {
			continue
		}
		objects, err := c.of(cache.MetaObjectToName(application))
		if err != nil {
			return nil, false, fmt.Errorf("find revisions of %s/%s: %w", application.Namespace, application.Name, err)
		}
		for _, object := range objects {
			if revision, ok := object.(*appsv1.ControllerRevision); ok && child.OwnedBy(revision, application) {
				revisions = append(revisions, revision)
			}
		}
	}
	return revisions, true, nil
}
