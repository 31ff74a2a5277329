// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// collector remembers whether the garbage collector of the shared cluster has got to know
// Applications.
var collector struct {
	sync.Mutex
	knows bool
}

// waitGarbageCollector waits until the garbage collector knows Applications. It looks for new
// kinds twice a minute, and what it has met of an unknown kind it tries again ever more seldom. A
// test that needs it should not be the one that it meets first.
func (e *env) waitGarbageCollector() {
	e.Helper()
	collector.Lock()
	defer collector.Unlock()
	if collector.knows {
		return
	}
	tries := 0
	e.within(2*patience, "the garbage collector knows Applications", func() (bool, string) {
		tries++
		if tries%20 == 1 { // Once in a second it meets a new one.
			e.create(e.dangling(tries))
		}
		list, err := e.children(child.ConfigMap).List(e.Context(), metav1.ListOptions{LabelSelector: "dangling"})
		if err != nil {
			e.Fatal(err)
		}
		return len(list.Items) < (tries+19)/20, fmt.Sprintf("%d objects whose owner does not exist", len(list.Items))
	})
	collector.knows = true
}

// dangling is an object of an Application that does not exist.
func (e *env) dangling(number int) child.Object {
	object := e.decode(fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: dangling-%d, labels: {dangling: ""}}}`, number))[0]
	object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind, Name: "nobody", UID: uuid.NewUUID()}})
	return object
}
