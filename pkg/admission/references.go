// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// The kinds of a Reference, all of the core group.
const (
	KindConfigMap      = "ConfigMap"
	KindSecret         = "Secret"
	KindServiceAccount = "ServiceAccount"
)

// Reference is an object of the Application's namespace without which its pods do not start.
type Reference struct {
	Kind, Namespace, Name string
}

// mention is a Reference and where the spec has it first.
type mention struct {
	Reference
	path *field.Path
}

// mentions are the objects that the pods need, each once, in the order of the spec. What is optional
// is left out; so is the Secret of a route, which its certificate's issuer usually makes afterwards.
func mentions(application *v1.Application) []mention {
	list := &mentionList{namespace: application.Namespace, seen: map[Reference]struct{}{}}
	spec, path := &application.Spec, field.NewPath("spec")
	for i, secret := range spec.ImagePullSecrets {
		list.add(KindSecret, secret.Name, nil, path.Child("imagePullSecrets").Index(i))
	}
	list.addEnv(path, spec.Env, spec.EnvFrom)
	for i := range spec.Mounts {
		list.addMount(path.Child("mounts").Index(i), &spec.Mounts[i])
	}
	for i := range spec.InitContainers {
		list.addEnv(path.Child("initContainers").Index(i), spec.InitContainers[i].Env, spec.InitContainers[i].EnvFrom)
	}
	for i := range spec.Sidecars {
		list.addEnv(path.Child("sidecars").Index(i), spec.Sidecars[i].Env, spec.Sidecars[i].EnvFrom)
	}
	list.add(KindServiceAccount, serviceAccountName(application), nil, path.Child("serviceAccount", "name"))
	return list.mentions
}

type mentionList struct {
	namespace string
	mentions  []mention
	seen      map[Reference]struct{}
}

func (l *mentionList) add(kind, name string, optional *bool, path *field.Path) {
	reference := Reference{Kind: kind, Namespace: l.namespace, Name: name}
	if _, seen := l.seen[reference]; seen || name == "" || optional != nil && *optional {
		return
	}
	l.seen[reference] = struct{}{}
	l.mentions = append(l.mentions, mention{reference, path})
}

func (l *mentionList) addEnv(path *field.Path, env []corev1.EnvVar, envFrom []corev1.EnvFromSource) {
	for i := range env {
		source, path := env[i].ValueFrom, path.Child("env").Index(i).Child("valueFrom")
		if source == nil {
			continue
		}
		if ref := source.ConfigMapKeyRef; ref != nil {
			l.add(KindConfigMap, ref.Name, ref.Optional, path.Child("configMapKeyRef"))
		}
		if ref := source.SecretKeyRef; ref != nil {
			l.add(KindSecret, ref.Name, ref.Optional, path.Child("secretKeyRef"))
		}
	}
	for i := range envFrom {
		path := path.Child("envFrom").Index(i)
		if ref := envFrom[i].ConfigMapRef; ref != nil {
			l.add(KindConfigMap, ref.Name, ref.Optional, path.Child("configMapRef"))
		}
		if ref := envFrom[i].SecretRef; ref != nil {
			l.add(KindSecret, ref.Name, ref.Optional, path.Child("secretRef"))
		}
	}
}

func (l *mentionList) addMount(path *field.Path, mount *v1.Mount) {
	if source := mount.Secret; source != nil {
		l.add(KindSecret, source.SecretName, source.Optional, path.Child("secret"))
	}
	if source := mount.ConfigMap; source != nil {
		l.add(KindConfigMap, source.Name, source.Optional, path.Child("configMap"))
	}
	if mount.Projected == nil {
		return
	}
	for i := range mount.Projected.Sources {
		path := path.Child("projected", "sources").Index(i)
		if source := mount.Projected.Sources[i].Secret; source != nil {
			l.add(KindSecret, source.Name, source.Optional, path.Child("secret"))
		}
		if source := mount.Projected.Sources[i].ConfigMap; source != nil {
			l.add(KindConfigMap, source.Name, source.Optional, path.Child("configMap"))
		}
	}
}
