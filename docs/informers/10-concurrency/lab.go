// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package concurrency lets two writers meet on one object, with updates and with server-side apply.
package concurrency

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/csaupgrade"
	"k8s.io/client-go/util/retry"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// boats are the ConfigMaps of the lab.
type boats struct {
	typedcore.ConfigMapInterface
	lab *lab.Lab
}

// Lab shows both ways to write an object that another writer changes too.
func Lab(ctx context.Context, l *lab.Lab) error {
	b := boats{l.Client.CoreV1().ConfigMaps(l.Namespace), l}
	if err := b.update(ctx); err != nil {
		return err
	}
	if err := b.apply(ctx); err != nil {
		return err
	}
	if err := b.upgrade(ctx); err != nil {
		return err
	}
	return b.preconditions(ctx)
}

// update writes whole objects.
func (b boats) update(ctx context.Context) error {
	b.lab.Step("update: two writers have read the same version")
	made, err := b.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "ida"}}, metav1.CreateOptions{FieldManager: "yard"})
	if err != nil {
		return err
	}
	b.lab.Say("created at %s", b.lab.Version(made.ResourceVersion))
	one, two := made.DeepCopy(), made.DeepCopy()
	one.Data = map[string]string{"sails": "white"}
	two.Data = map[string]string{"length": "5"}
	if one, err = b.Update(ctx, one, metav1.UpdateOptions{FieldManager: "one"}); err != nil {
		return err
	}
	b.lab.Say("one: updated, now %s", b.lab.Version(one.ResourceVersion))
	_, err = b.Update(ctx, two, metav1.UpdateOptions{FieldManager: "two"})
	b.lab.Say("two, from %s: conflict %t", b.lab.Version(two.ResourceVersion), apierrors.IsConflict(err))
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh, err := b.Get(ctx, "ida", metav1.GetOptions{})
		if err != nil {
			return err
		}
		fresh.Data["length"] = "5" // The decision is made anew, on what is there now.
		_, err = b.Update(ctx, fresh, metav1.UpdateOptions{FieldManager: "two"})
		return err
	})
	if err != nil {
		return err
	}
	if err := b.say(ctx, "two, read again"); err != nil {
		return err
	}
	two.ResourceVersion = ""
	if _, err := b.Update(ctx, two, metav1.UpdateOptions{FieldManager: "two"}); err != nil {
		return err
	}
	return b.say(ctx, "two, without a version: the sails of one are lost")
}

// apply writes the fields that a writer cares about.
func (b boats) apply(ctx context.Context) error {
	b.lab.Step("server-side apply: each writer owns what it sends")
	for _, change := range []struct {
		manager string
		data    map[string]string
		force   bool
	}{
		{"one", map[string]string{"sails": "white", "flag": "yes"}, false},
		{"two", map[string]string{"sails": "black"}, false},
		{"two", map[string]string{"sails": "black"}, true},
		{"one", map[string]string{"flag": "yes"}, false},
		{"one", map[string]string{}, false},
	} {
		want := corev1ac.ConfigMap("moby", b.lab.Namespace).WithData(change.data)
		_, err := b.Apply(ctx, want, metav1.ApplyOptions{FieldManager: change.manager, Force: change.force})
		b.lab.Say("%s applies %v, force %t", change.manager, change.data, change.force)
		if apierrors.IsConflict(err) {
			b.lab.Say("  %s", firstLine(err))
			continue
		}
		if err != nil {
			return err
		}
		if err := b.owners(ctx, "moby"); err != nil {
			return err
		}
	}
	return nil
}

// upgrade shows that a field which was created, not applied, stays.
func (b boats) upgrade(ctx context.Context) error {
	b.lab.Step("created with POST, then applied without one of its fields")
	for _, name := range []string{"nemo", "vega"} {
		_, err := b.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Data:       map[string]string{"sails": "white", "flag": "yes"},
		}, metav1.CreateOptions{FieldManager: "one"})
		if err != nil {
			return err
		}
	}
	vega, err := b.Get(ctx, "vega", metav1.GetOptions{})
	if err != nil {
		return err
	}
	// This changes the manager's entry as if it had applied from the beginning.
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(vega, sets.New("one"), "one")
	if err != nil {
		return err
	}
	if _, err := b.Patch(ctx, "vega", types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	for _, name := range []string{"nemo", "vega"} {
		want := corev1ac.ConfigMap(name, b.lab.Namespace).WithData(map[string]string{"sails": "white"})
		if _, err := b.Apply(ctx, want, metav1.ApplyOptions{FieldManager: "one"}); err != nil {
			return err
		}
		if err := b.owners(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// preconditions binds a delete to one object.
func (b boats) preconditions(ctx context.Context) error {
	b.lab.Step("a delete of one object, not of one name")
	old, err := b.Get(ctx, "nemo", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := b.Delete(ctx, "nemo", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if _, err := b.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "nemo"}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	err = b.Delete(ctx, "nemo", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &old.UID}})
	b.lab.Say("delete the old nemo: conflict %t", apierrors.IsConflict(err))
	return nil
}

func (b boats) say(ctx context.Context, what string) error {
	ida, err := b.Get(ctx, "ida", metav1.GetOptions{})
	b.lab.Say("%s: %v", what, ida.Data)
	return err
}

// owners prints the data of an object and who owns which field of it.
func (b boats) owners(ctx context.Context, name string) error {
	object, err := b.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	var lines []string
	for _, entry := range object.ManagedFields {
		var fields struct {
			Data map[string]any `json:"f:data"`
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			return err
		}
		var names []string
		for field := range fields.Data {
			if field != "." {
				names = append(names, strings.TrimPrefix(field, "f:"))
			}
		}
		slices.Sort(names)
		lines = append(lines, fmt.Sprintf("%s (%s) owns %v", entry.Manager, entry.Operation, names))
	}
	slices.Sort(lines)
	b.lab.Say("  %s is %v; %s", name, object.Data, strings.Join(lines, ", "))
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
