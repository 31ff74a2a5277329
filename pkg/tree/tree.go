// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Objects are an Application and the objects around it. Build changes none.
type Objects struct {
	Application *v1.Application
	// Children are the live objects with the name or the label of a child, owned or not.
	Children []child.Object
	// ReplicaSets, Pods and EndpointSlices are those with the Application's label. The chain of UIDs proves whose they are.
	ReplicaSets    []*appsv1.ReplicaSet
	Pods           []*corev1.Pod
	EndpointSlices []*discoveryv1.EndpointSlice
	// Hidden are the resources that the reader may not list, such as "deployments": that a child is not among Children then means nothing.
	Hidden []string
}

// Build returns the tree of the Application.
func Build(objects Objects) *Node {
	root := applicationNode(objects.Application)
	for _, ref := range refs(objects) {
		live := objects.get(ref)
		node := childNode(objects.Application, ref, live)
		if node.Health == Missing && slices.Contains(objects.Hidden, ref.Kind.Resource) {
			continue
		}
		if live == nil || !owned(objects.Application, ref, live) {
			root.Children = append(root.Children, node)
			continue // The Application does not own what is below an object of another owner.
		}
		switch live := live.(type) {
		case *appsv1.Deployment:
			node.Children = replicaSetNodes(objects, live)
		case *corev1.Service:
			node.Children = endpointNodes(objects, live)
			serviceHealth(node, objects, live)
		}
		root.Children = append(root.Children, node)
	}
	return root
}

func owned(application *v1.Application, ref child.Ref, live child.Object) bool {
	return child.OwnedBy(live, application) || child.IsOrphaned(application, ref, live)
}

// refs returns the children that status lists, and the live ones that the Application owns, in the order of writes.
// Status lists only the current ControllerRevision, and the tree shows no other.
func refs(objects Objects) []child.Ref {
	var found []child.Ref
	add := func(ref child.Ref) {
		if !slices.Contains(found, ref) {
			found = append(found, ref)
		}
	}
	for _, resource := range objects.Application.Status.Resources {
		if ref, known := child.RefOf(objects.Application, resource); known {
			add(ref)
		}
	}
	for _, live := range objects.Children {
		ref, known := refOf(live)
		if known && ref.Kind != child.ControllerRevision && child.OwnedBy(live, objects.Application) {
			add(ref)
		}
	}
	order := child.AllKinds()
	slices.SortStableFunc(found, func(a, b child.Ref) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), cmp.Compare(a.Name, b.Name))
	})
	return found
}

func refOf(live child.Object) (child.Ref, bool) {
	gvk := live.GetObjectKind().GroupVersionKind()
	for _, kind := range child.AllKinds() {
		if kind.Group == gvk.Group && kind.Kind == gvk.Kind {
			return child.Ref{Kind: kind, Namespace: live.GetNamespace(), Name: live.GetName()}, true
		}
	}
	return child.Ref{}, false
}

// get returns the live object of that name, or nil.
func (o Objects) get(ref child.Ref) child.Object {
	for _, live := range o.Children {
		if found, known := refOf(live); known && found == ref {
			return live
		}
	}
	return nil
}

// Snapshot returns the objects as a sync observes them, for the packages that take a snapshot.
func (o Objects) Snapshot() child.Snapshot {
	snapshot := child.Snapshot{Application: o.Application, Children: map[child.Ref]child.Object{}}
	for _, live := range o.Children {
		if ref, known := refOf(live); known {
			snapshot.Children[ref] = live
		}
	}
	for _, replicaSet := range o.ReplicaSets {
		snapshot.ReplicaSets = append(snapshot.ReplicaSets, child.NewReplicaSet(replicaSet))
	}
	for _, pod := range o.Pods {
		snapshot.Pods = append(snapshot.Pods, child.NewPod(pod))
	}
	return snapshot
}
