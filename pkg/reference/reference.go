// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Kind is a kind of object from which pods take their configuration.
type Kind string

// The kinds, by their names in the core API.
const (
	ConfigMap Kind = "ConfigMap"
	Secret    Kind = "Secret"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{ConfigMap, Secret} }

// Reference is one ConfigMap or Secret of the Application's namespace that its pods use.
type Reference struct {
	Kind Kind
	Name string
	// Required means that no pod starts without the object.
	Required bool
	// Keys are the keys without which no pod starts, sorted. A reference to all keys, as in envFrom, requires none.
	Keys []string
}

func (r Reference) String() string { return string(r.Kind) + " " + r.Name }

// RollsOut reports whether a change of a referenced object replaces the pods.
func RollsOut(spec *v1.ApplicationSpec) bool {
	return spec.ConfigChangePolicy != v1.ConfigChangeIgnore
}

// FromSpec returns every ConfigMap and Secret that a container of the pods uses, each once, ordered by kind and name.
// It omits imagePullSecrets, which only the kubelet reads, and spec.config, which is not a reference.
func FromSpec(spec *v1.ApplicationSpec) []Reference {
	f := collector{}
	f.container(spec.Env, spec.EnvFrom)
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Sidecars} {
		for i := range containers {
			f.container(containers[i].Env, containers[i].EnvFrom)
		}
	}
	for i := range spec.Mounts {
		f.mount(&spec.Mounts[i])
	}
	return slices.SortedFunc(maps.Values(f), func(a, b Reference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}

// collector collects references by kind and name.
type collector map[target]Reference

type target struct {
	kind Kind
	name string
}

// add adds one place that refers to an object. An object that one place requires is required, even if another place
// can do without it.
func (f collector) add(kind Kind, name string, optional *bool, keys ...string) {
	if name == "" {
		return // The API server refuses a reference without a name where pods use it.
	}
	t := target{kind, name}
	r := f[t]
	r.Kind, r.Name = kind, name
	if optional == nil || !*optional {
		r.Required = true
		r.Keys = slices.Compact(slices.Sorted(slices.Values(append(r.Keys, keys...))))
	}
	f[t] = r
}

func (f collector) container(env []corev1.EnvVar, envFrom []corev1.EnvFromSource) {
	for i := range env {
		source := env[i].ValueFrom
		if source == nil {
			continue
		}
		if s := source.ConfigMapKeyRef; s != nil {
			f.add(ConfigMap, s.Name, s.Optional, s.Key)
		}
		if s := source.SecretKeyRef; s != nil {
			f.add(Secret, s.Name, s.Optional, s.Key)
		}
	}
	for i := range envFrom {
		if s := envFrom[i].ConfigMapRef; s != nil {
			f.add(ConfigMap, s.Name, s.Optional)
		}
		if s := envFrom[i].SecretRef; s != nil {
			f.add(Secret, s.Name, s.Optional)
		}
	}
}

func (f collector) mount(mount *v1.Mount) {
	if s := mount.ConfigMap; s != nil {
		f.add(ConfigMap, s.Name, s.Optional, itemKeys(s.Items)...)
	}
	if s := mount.Secret; s != nil {
		f.add(Secret, s.SecretName, s.Optional, itemKeys(s.Items)...)
	}
	if mount.Projected == nil {
		return
	}
	for i := range mount.Projected.Sources {
		source := &mount.Projected.Sources[i]
		if s := source.ConfigMap; s != nil {
			f.add(ConfigMap, s.Name, s.Optional, itemKeys(s.Items)...)
		}
		if s := source.Secret; s != nil {
			f.add(Secret, s.Name, s.Optional, itemKeys(s.Items)...)
		}
	}
}

// itemKeys returns the keys that a volume selects. Without items it takes all keys, and requires none.
func itemKeys(items []corev1.KeyToPath) []string {
	keys := make([]string, 0, len(items))
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	return keys
}
