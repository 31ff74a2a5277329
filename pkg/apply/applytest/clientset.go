// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package applytest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	fairleadfake "fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

var noKind schema.GroupVersionKind

// Kube returns a clientset for the built-in kinds.
func (s *Server) Kube() kubernetes.Interface {
	clientset := kubefake.NewClientset()
	clientset.PrependReactor("*", "*", s.react)
	clientset.PrependWatchReactor("*", s.reactToWatch)
	return clientset
}

// Fairlead returns a clientset for Applications.
func (s *Server) Fairlead() versioned.Interface {
	clientset := fairleadfake.NewClientset()
	clientset.PrependReactor("*", "*", s.react)
	clientset.PrependWatchReactor("*", s.reactToWatch)
	return clientset
}

// react serves a request of a fake clientset, which does not pass on its context.
func (s *Server) react(action clienttesting.Action) (bool, runtime.Object, error) {
	k := s.kindOf(action.GetResource())
	r := Request{Verb: action.GetVerb(), Kind: k.Kind, Subresource: action.GetSubresource(), Namespace: action.GetNamespace()}
	var answer runtime.Object
	// The answer has the form in which a typed client decodes it.
	answerWith := func(object child.Object, err error) error {
		if err == nil {
			answer = delivered(object)
		}
		return err
	}
	var do func() error
	switch a := action.(type) {
	case clienttesting.ListActionImpl:
		do = func() (err error) { answer, err = s.list(k, scopeOf(a.GetNamespace(), a.ListOptions)); return err }
	case clienttesting.GetActionImpl:
		r.Name = a.GetName()
		do = func() error { return answerWith(s.get(k, name(r))) }
	case clienttesting.CreateActionImpl:
		object, err := asObject(a.GetObject())
		if err != nil {
			return true, nil, err
		}
		r.Name, r.Manager = object.GetName(), a.CreateOptions.FieldManager
		do = func() error { return answerWith(s.create(k, r.Namespace, object, r.Manager)) }
	case clienttesting.UpdateActionImpl:
		object, err := asObject(a.GetObject())
		if err != nil {
			return true, nil, err
		}
		r.Name, r.Manager = object.GetName(), a.UpdateOptions.FieldManager
		do = func() error { return answerWith(s.update(k, object, r.Subresource, r.Manager)) }
	case clienttesting.PatchActionImpl:
		r.Name, r.Manager, r.PatchType, r.Body = a.GetName(), a.PatchOptions.FieldManager, a.GetPatchType(), a.GetPatch()
		do = func() error { return answerWith(s.patch(k, name(r), r.PatchType, r.Body, r.Subresource, r.Manager)) }
	case clienttesting.DeleteActionImpl:
		r.Name = a.GetName()
		do = func() error { return s.delete(k, name(r), a.DeleteOptions.Preconditions) }
	default:
		return true, nil, fmt.Errorf("applytest: no reaction to %s", action)
	}
	if err := s.serve(s.t.Context(), r, do); err != nil {
		return true, nil, err
	}
	return true, answer, nil
}

func (s *Server) reactToWatch(action clienttesting.Action) (bool, watch.Interface, error) {
	a, ok := action.(clienttesting.WatchActionImpl)
	if !ok {
		return true, nil, fmt.Errorf("applytest: no reaction to %s", action)
	}
	after, err := strconv.ParseInt(a.ListOptions.ResourceVersion, 10, 64)
	if err != nil {
		return true, nil, fmt.Errorf("applytest: watch without the version of a list: %w", err)
	}
	k := s.kindOf(action.GetResource())
	var answer watch.Interface
	err = s.serve(s.t.Context(), Request{Verb: "watch", Kind: k.Kind, Namespace: action.GetNamespace()}, func() (err error) {
		answer, err = s.watch(k, scopeOf(a.GetNamespace(), a.ListOptions), after)
		return err
	})
	return true, answer, err
}

// list returns all objects in the scope, sorted by name. The caller holds the lock.
func (s *Server) list(k *kind, c scope) (runtime.Object, error) {
	gvk := k.GroupVersionKind()
	list, err := s.scheme.New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err != nil {
		return nil, err
	}
	names := make([]cache.ObjectName, 0, len(k.objects))
	for name, object := range k.objects {
		if c.has(object) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b cache.ObjectName) int { return strings.Compare(a.String(), b.String()) })
	items := make([]runtime.Object, 0, len(names))
	for _, name := range names {
		items = append(items, delivered(k.objects[name]))
	}
	if err := meta.SetList(list, items); err != nil {
		return nil, err
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	accessor.SetResourceVersion(strconv.FormatInt(s.version, 10))
	return list, nil
}

func scopeOf(namespace string, options metav1.ListOptions) scope {
	selector, err := labels.Parse(options.LabelSelector)
	if err != nil {
		panic(err)
	}
	return scope{namespace: namespace, selector: selector}
}

func name(r Request) cache.ObjectName { return cache.ObjectName{Namespace: r.Namespace, Name: r.Name} }

func asObject(object runtime.Object) (child.Object, error) {
	o, ok := object.(child.Object)
	if !ok {
		return nil, fmt.Errorf("applytest: a %T is no object", object)
	}
	return o, nil
}
