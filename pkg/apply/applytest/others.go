// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package applytest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
)

// This file has what others do: users, other controllers, the garbage collector.

// Others is the field manager of Edit.
const Others = "others"

// Put creates an object as another user, and returns the stored object.
func Put[T child.Object](s *Server, kind child.Kind, object T) T {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	created, err := s.create(s.kindOf(kind.GroupVersionResource()), object.GetNamespace(), object, Others)
	if err != nil {
		s.t.Fatalf("create %s: %v", kind, err)
	}
	answer, _ := created.(T)
	return answer
}

// Edit changes an object as another user, and returns the stored object.
func Edit[T child.Object](s *Server, kind child.Kind, namespace, name string, change func(T)) T {
	s.t.Helper()
	return edit(s, kind, namespace, name, "", change)
}

// EditStatus changes the status of an object, as its own controller does.
func EditStatus[T child.Object](s *Server, kind child.Kind, namespace, name string, change func(T)) T {
	s.t.Helper()
	return edit(s, kind, namespace, name, "status", change)
}

func edit[T child.Object](s *Server, kind child.Kind, namespace, name, subresource string, change func(T)) T {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kindOf(kind.GroupVersionResource())
	object, err := s.get(k, cache.ObjectName{Namespace: namespace, Name: name})
	if typed, ok := object.(T); ok {
		change(typed)
		object, err = s.update(k, object, subresource, Others)
	}
	edited, ok := object.(T)
	if err != nil || !ok {
		s.t.Fatalf("edit %s %s/%s, a %T: %v", kind, namespace, name, object, err)
	}
	return edited
}

// Delete deletes an object as another user. An object with finalizers only gets its deletionTimestamp.
func (s *Server) Delete(kind child.Kind, namespace, name string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.delete(s.kindOf(kind.GroupVersionResource()), cache.ObjectName{Namespace: namespace, Name: name}, nil); err != nil {
		s.t.Fatalf("delete %s %s/%s: %v", kind, namespace, name, err)
	}
}

// CollectGarbage deletes the children whose owner no longer exists, as Kubernetes' garbage collector does.
func (s *Server) CollectGarbage() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	alive := map[types.UID]bool{}
	for _, k := range s.kinds {
		for _, object := range k.objects {
			alive[object.GetUID()] = true
		}
	}
	for _, k := range s.kinds {
		for name, object := range k.objects {
			owner := metav1.GetControllerOfNoCopy(object)
			if owner == nil || alive[owner.UID] {
				continue
			}
			if err := s.delete(k, name, nil); err != nil {
				s.t.Fatalf("collect %s %s: %v", k.Kind, name, err)
			}
		}
	}
}
