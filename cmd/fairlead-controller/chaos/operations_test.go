// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

var (
	applications = []string{"a", "b"}
	propagations = []string{"background", "foreground", "orphan"}
)

// operations are what users and other controllers do.
func operations() []verb {
	return []verb{
		{"create", [][]string{applications, presetNames()}, create},
		{"edit", [][]string{applications, editNames()}, edit},
		{"draw", [][]string{applications, numbers(40)}, drawSpec},
		{"delete", [][]string{applications, propagations}, remove},
		{"recreate", [][]string{applications, presetNames()}, recreate},
		{"policy", [][]string{applications, {"Enforce", "Observe", "Suspend"}}, setPolicy},
		{"deletion", [][]string{applications, {"Delete", "Orphan"}}, setDeletion},
		{"hold", [][]string{applications, {"on", "off"}}, hold},
		{"class", [][]string{{"one", "two", "default", "delete"}}, class},
		{"reference", [][]string{{"settings", "credentials"}, {"one", "two", "delete"}}, reference},
		{"child", [][]string{applications, childKinds(), {"delete", "edit", "unlabel", "disown", "take", "hold"}}, changeChild},
		{"foreign", [][]string{applications, childKinds(), {"create", "delete"}}, foreign},
		{"pods", [][]string{applications, {"delete", "evict", "crash-loop", "image-pull-error", "readiness-failing", "well"}}, pods},
		{"quota", [][]string{{"on", "off"}}, quota},
		{"limits", [][]string{{"on", "off"}}, limits},
		{"deny", [][]string{append(deniedKinds(), "nothing")}, deny},
		{"let", [][]string{{"50ms", "300ms", "1s", "3s"}}, let},
		{"wait", nil, waitTrue},
		{"api", [][]string{optionalResources(), {"install", "install", "break", "remove"}}, api},
	}
}

func numbers(count int) []string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprint(i+1))
	}
	return all
}

// tolerate drops the errors that a user may well get: the object is not there, or there already, or the API server refuses
// the change.
func tolerate(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

func create(ctx context.Context, w *world, arguments []string) error {
	application := preset(arguments[1], arguments[0], w.namespace)
	w.past.specified(application)
	_, err := w.fairlead.AppsV1().Applications(w.namespace).Create(ctx, application, metav1.CreateOptions{FieldManager: user})
	return tolerate(err)
}

func edit(ctx context.Context, w *world, arguments []string) error {
	w.counter++
	body := strings.NewReplacer("NAME", arguments[0], "NAMESPACE", w.namespace, "COUNT", fmt.Sprint(w.counter+1)).Replace(edits()[arguments[1]])
	return w.patch(ctx, arguments[0], `{"spec":`+body+`}`)
}

// patch sends a merge patch to an Application. What it asks for is known before the controller can know of it.
func (w *world) patch(ctx context.Context, name, body string) error {
	client := w.fairlead.AppsV1().Applications(w.namespace)
	next, err := client.Patch(ctx, name, types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: user, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return tolerate(err)
	}
	w.past.specified(next)
	_, err = client.Patch(ctx, name, types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: user})
	return tolerate(err)
}

func remove(ctx context.Context, w *world, arguments []string) error {
	policy := map[string]metav1.DeletionPropagation{
		"background": metav1.DeletePropagationBackground, "foreground": metav1.DeletePropagationForeground, "orphan": metav1.DeletePropagationOrphan,
	}[arguments[1]]
	if err := w.noteOrphans(ctx, arguments[0], arguments[1] == "orphan"); err != nil {
		return err
	}
	w.past.deleted(arguments[0], arguments[1] == "orphan")
	return tolerate(w.fairlead.AppsV1().Applications(w.namespace).Delete(ctx, arguments[0], metav1.DeleteOptions{PropagationPolicy: &policy}))
}

// noteOrphans notes which children a deletion must leave behind: all, if the Application is as its spec says and that says
// so.
func (w *world) noteOrphans(ctx context.Context, name string, orphan bool) error {
	application, err := w.fairlead.AppsV1().Applications(w.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return tolerate(err)
	}
	orphan = orphan || application.Spec.DeletionPolicy == v1.DeletionOrphan
	if !orphan || application.DeletionTimestamp != nil || !w.past.isSettled(name) {
		return nil
	}
	for _, kind := range namedKinds() {
		list, err := w.children(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			// An Ingress may become an HTTPRoute at any time.
			if object := &list.Items[i]; kind != child.Ingress && child.OwnedBy(object, application) && object.GetDeletionTimestamp() == nil {
				w.past.leftBehind(string(object.GetUID()), kind.Kind+" "+object.GetName())
			}
		}
	}
	return nil
}

func recreate(ctx context.Context, w *world, arguments []string) error {
	if err := remove(ctx, w, []string{arguments[0], "background"}); err != nil {
		return err
	}
	return create(ctx, w, arguments)
}

func setPolicy(ctx context.Context, w *world, arguments []string) error {
	return w.patch(ctx, arguments[0], fmt.Sprintf(`{"spec":{"reconcilePolicy":%q}}`, arguments[1]))
}

func setDeletion(ctx context.Context, w *world, arguments []string) error {
	if arguments[1] == "Orphan" {
		w.past.orphaned(arguments[0])
	}
	return w.patch(ctx, arguments[0], fmt.Sprintf(`{"spec":{"deletionPolicy":%q}}`, arguments[1]))
}

// userFinalizer is one that another controller put on an object.
const userFinalizer = "chaos.example.com/hold"

// hold adds the finalizer of another controller to an Application, or removes it. The controller may write in between, so a
// conflict is tried again: a finalizer that stays would hold the deletion at the end.
func hold(ctx context.Context, w *world, arguments []string) error {
	client := w.fairlead.AppsV1().Applications(w.namespace)
	return tolerate(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := client.Get(ctx, arguments[0], metav1.GetOptions{})
		if err != nil {
			return err
		}
		live.Finalizers = without(live.Finalizers, userFinalizer)
		if arguments[1] == "on" && live.DeletionTimestamp == nil {
			live.Finalizers = append(live.Finalizers, userFinalizer)
		}
		_, err = client.Update(ctx, live, metav1.UpdateOptions{FieldManager: user})
		return err
	}))
}

// class writes the one class that selects this namespace alone.
func class(ctx context.Context, w *world, arguments []string) error {
	client := w.fairlead.AppsV1().ApplicationClasses()
	if arguments[0] == "delete" {
		return tolerate(client.Delete(ctx, w.namespace, metav1.DeleteOptions{}))
	}
	object := &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	object.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}}
	object.Spec.Defaults = &v1.ApplicationDefaults{PodMetadata: &v1.PodMetadata{Labels: map[string]string{"class": arguments[0]}}}
	if arguments[0] == "default" {
		object.Annotations = map[string]string{v1.AnnotationDefaultClass: "true"}
	}
	_, err := client.Create(ctx, object, metav1.CreateOptions{FieldManager: user})
	if apierrors.IsAlreadyExists(err) {
		live, err := client.Get(ctx, w.namespace, metav1.GetOptions{})
		if err != nil {
			return tolerate(err)
		}
		object.ResourceVersion = live.ResourceVersion
		_, err = client.Update(ctx, object, metav1.UpdateOptions{FieldManager: user})
		return tolerate(err)
	}
	return tolerate(err)
}

// inputLabel is on the objects of users that the controller reads.
const inputLabel = "chaos.example.com/input"

// reference writes or deletes the ConfigMap or Secret that Applications may refer to.
func reference(ctx context.Context, w *world, arguments []string) error {
	meta := metav1.ObjectMeta{Name: arguments[0], Labels: map[string]string{inputLabel: ""}}
	value := arguments[1]
	var err error
	switch maps, secrets := w.kube.CoreV1().ConfigMaps(w.namespace), w.kube.CoreV1().Secrets(w.namespace); {
	case value == "delete" && arguments[0] == "settings":
		err = maps.Delete(ctx, arguments[0], metav1.DeleteOptions{})
	case value == "delete":
		err = secrets.Delete(ctx, arguments[0], metav1.DeleteOptions{})
	case arguments[0] == "settings":
		object := &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"LEVEL": value}}
		if _, err = maps.Create(ctx, object, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
		}
	default:
		object := &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"PASSWORD": value}}
		if _, err = secrets.Create(ctx, object, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			_, err = secrets.Update(ctx, object, metav1.UpdateOptions{})
		}
	}
	return tolerate(err)
}

// pods deletes the pods of an Application, or makes new ones misbehave.
func pods(ctx context.Context, w *world, arguments []string) error {
	switch arguments[1] {
	case "delete":
		return tolerate(w.kube.CoreV1().Pods(w.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + arguments[0]}))
	case "evict":
		return w.evict(ctx, arguments[0])
	case "well":
		return w.patch(ctx, arguments[0], `{"spec":{"podMetadata":{"annotations":{"simulate.fairlead.dev/behavior":null}}}}`)
	default:
		return w.patch(ctx, arguments[0], fmt.Sprintf(`{"spec":{"podMetadata":{"annotations":{"simulate.fairlead.dev/behavior":%q}}}}`, arguments[1]))
	}
}

// quota allows no further Service, ConfigMap or pod, or lifts that.
func quota(ctx context.Context, w *world, arguments []string) error {
	client := w.kube.CoreV1().ResourceQuotas(w.namespace)
	if arguments[0] == "off" {
		return tolerate(client.Delete(ctx, "chaos", metav1.DeleteOptions{}))
	}
	object := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "chaos"}}
	object.Spec.Hard = corev1.ResourceList{"services": resource.MustParse("0"), "count/configmaps": resource.MustParse("0"), "pods": resource.MustParse("1")}
	_, err := client.Create(ctx, object, metav1.CreateOptions{FieldManager: user})
	return tolerate(err)
}

// let lets time pass.
func let(ctx context.Context, _ *world, arguments []string) error {
	length, err := time.ParseDuration(arguments[0])
	if err != nil {
		return err
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}
