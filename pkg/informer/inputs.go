// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// VisitSyncInputs calls visit with every cached object that a sync of the Application reads first, in no order: the
// Application, its encoded children, its ReplicaSets and its pods. If the Application does not exist, it calls visit
// for none. The cache owns the objects: never change them.
func (i *Informers) VisitSyncInputs(application cache.ObjectName, visit func(kind string, object metav1.Object)) error {
	object, found, err := i.Application(application)
	if err != nil || !found {
		return err
	}
	visit(v1.ApplicationKind, object)
	s, _ := i.scope(application.Namespace)
	for _, c := range i.childrenIn(s) {
		if err := visitIndexed(c.informer, application, c.kind.Kind, visit); err != nil {
			return err
		}
	}
	if err := visitIndexed(s.pods.replicaSets, application, "ReplicaSet", visit); err != nil {
		return err
	}
	return visitIndexed(s.pods.pods, application, "Pod", visit)
}

func visitIndexed[T interface {
	cache.Object
	metav1.Object
}](informer cache.TypedSharedIndexInformer[T], application cache.ObjectName, kind string, visit func(string, metav1.Object)) error {
	objects, err := informer.GetTypedIndexer().ByTypedIndex(byApplication, application.String())
	if err != nil {
		return fmt.Errorf("find %s of %s: %w", kind, application, err)
	}
	for _, object := range objects {
		visit(kind, object)
	}
	return nil
}
