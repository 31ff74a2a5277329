// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"k8s.io/client-go/tools/cache"
)

// byApplication is the name of the index that finds the children of an Application.
const byApplication = "application"

// ApplicationsOf returns the Applications that a child may concern: the one that its controller
// ownerReference names, and the one that its label names. The label matters if the child lost its
// ownerReference, or if a foreign object has the name of a child. Neither proves ownership; the sync checks
// the UID.
func ApplicationsOf(object *Encoded) []cache.ObjectName {
	var names []cache.ObjectName
	if object.Owner != "" {
		names = append(names, cache.ObjectName{Namespace: object.Namespace, Name: object.Owner})
	}
	if object.Label != "" && object.Label != object.Owner {
		names = append(names, cache.ObjectName{Namespace: object.Namespace, Name: object.Label})
	}
	return names
}

// applicationIndex is the index function behind byApplication.
func applicationIndex(object *Encoded) ([]string, error) {
	names := ApplicationsOf(object)
	keys := make([]string, 0, len(names))
	for _, name := range names {
		keys = append(keys, name.String())
	}
	return keys, nil
}
