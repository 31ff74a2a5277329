// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"

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
