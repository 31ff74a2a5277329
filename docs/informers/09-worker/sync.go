// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// syncHandler brings the copy of one ConfigMap to the state that it should have, whatever happened before.
func (c *Controller) syncHandler(ctx context.Context, key cache.ObjectName) error {
	if c.beforeSync != nil {
		if err := c.beforeSync(); err != nil {
			return err
		}
	}
	lister := c.maps.Lister().ConfigMaps(key.Namespace)
	owner, err := lister.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil // The garbage collector deletes the copy.
	}
	if err != nil {
		return err
	}
	desired := copyOf(owner)
	live, err := lister.Get(desired.Name)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	_, wanted := owner.Labels[wantsCopy]
	switch {
	case owner.DeletionTimestamp != nil:
		return nil // A child created now would only be collected again.
	case live == nil && wanted:
		return c.create(ctx, desired)
	case live == nil:
		return nil
	case !metav1.IsControlledBy(live, owner) && wanted: // By UID.
		return fmt.Errorf("ConfigMap %s exists and is not controlled by %s", desired.Name, owner.Name)
	case !metav1.IsControlledBy(live, owner):
		return nil
	case !wanted:
		return c.delete(ctx, live)
	case !maps.Equal(live.Data, desired.Data):
		return c.update(ctx, live, desired)
	default:
		return nil
	}
}

func (c *Controller) create(ctx context.Context, desired *corev1.ConfigMap) error {
	_, err := c.client.CoreV1().ConfigMaps(desired.Namespace).Create(ctx, desired, metav1.CreateOptions{})
	return c.written("create", desired, err)
}

// update changes a copy of the cached object. Its resourceVersion makes the API server refuse the write if the cache was stale.
func (c *Controller) update(ctx context.Context, live, desired *corev1.ConfigMap) error {
	changed := live.DeepCopy()
	changed.Data = desired.Data
	_, err := c.client.CoreV1().ConfigMaps(live.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
	return c.written("update", desired, err)
}

// delete cannot hit a successor with the same name: the UID is a precondition.
func (c *Controller) delete(ctx context.Context, live *corev1.ConfigMap) error {
	err := c.client.CoreV1().ConfigMaps(live.Namespace).Delete(ctx, live.Name, *metav1.NewPreconditionDeleteOptions(string(live.UID)))
	return c.written("delete", live, err)
}

func (c *Controller) written(verb string, object *corev1.ConfigMap, err error) error {
	if err != nil {
		return fmt.Errorf("%s ConfigMap %s: %w", verb, object.Name, err)
	}
	if c.onWrite != nil {
		c.onWrite(verb, object)
	}
	return nil
}

// copyOf returns the copy that an owner should have. It shares no map with the owner, which belongs to the cache.
func copyOf(owner *corev1.ConfigMap) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:            owner.Name + "-copy",
			Namespace:       owner.Namespace,
			Labels:          map[string]string{isCopy: ""},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		},
		Data: maps.Clone(owner.Data),
	}
}
