// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// privileged are the fields that decide what code runs, with which privileges, and what it reaches.
var privileged = regexp.MustCompile(`\.(image|command|args|exec|env|envFrom|volumes|volumeDevices|serviceAccountName|automountServiceAccountToken|securityContext|` +
	`shareProcessNamespace|host[A-Z]\w*|ephemeralContainers|runtimeClassName|nodeName|tolerations|resourceClaims|imagePullSecrets|` +
	`type|selector|externalIPs|externalName|externalTrafficPolicy|loadBalancer\w*|nodePort)\b`)

// Restored returns how a restoration changes the specs of the objects; of a backup that nothing vouches for, in every field,
// otherwise in those that are about privileges. Each change is one value, or a list that changes as a whole. live is nil if the Deployment
// is created again: then all of it is a change.
func (s Saved) Restored(live *appsv1.Deployment, service *corev1.Service, every bool) ([]preview.Change, error) {
	after := s.Deployment
	if live == nil {
		live = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: after.Name}}
	} else {
		after = Restore(live, s.Deployment)
		if name := onlyNew(live, after); name != "" {
			rename(&after.Spec.Template.Spec, name, live.Name, addsTemporaryVolume(&live.Spec.Template.Spec))
		}
	}
	changes, err := values(child.Deployment.Kind+"/"+live.Name+": .spec", live.Spec, after.Spec)
	if err != nil {
		return nil, err
	}
	if service != nil && s.Service != nil {
		more, err := values(child.Service.Kind+"/"+service.Name+": .spec", service.Spec, s.Service.Spec)
		if err != nil {
			return nil, err
		}
		changes = append(changes, more...)
	}
	if every {
		return changes, nil
	}
	return slices.DeleteFunc(changes, func(c preview.Change) bool { return !privileged.MatchString(c.Path) }), nil
}

// onlyNew is the application's container by its name before the adoption; "" if that is not certain.
func onlyNew(live, restored *appsv1.Deployment) (name string) {
	has := func(name string) bool {
		return slices.ContainsFunc(live.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
	}
	for i := range restored.Spec.Template.Spec.Containers {
		switch candidate := restored.Spec.Template.Spec.Containers[i].Name; {
		case has(candidate):
		case name != "":
			return ""
		default:
			name = candidate
		}
	}
	return name
}

// values returns the changes, value by value.
func values(at string, before, after any) ([]preview.Change, error) {
	changes, err := preview.Changes(before, after)
	if err != nil {
		return nil, err
	}
	var all []preview.Change
	for _, change := range changes {
		change.Path = at + change.Path
		all = divide(all, change)
	}
	return all, nil
}

// divide divides what is added or removed into its values.
func divide(all []preview.Change, change preview.Change) []preview.Change {
	var parts []preview.Change
	switch {
	case change.Before == nil:
		parts = partsOf(change.After, func(path string, part any) preview.Change {
			return preview.Change{Path: change.Path + path, After: part}
		})
	case change.After == nil:
		parts = partsOf(change.Before, func(path string, part any) preview.Change {
			return preview.Change{Path: change.Path + path, Before: part}
		})
	}
	if len(parts) == 0 && (change.Before != nil || change.After != nil) {
		return append(all, change)
	}
	for _, part := range parts {
		all = divide(all, part)
	}
	return all
}

func partsOf(whole any, part func(path string, value any) preview.Change) (parts []preview.Change) {
	switch whole := whole.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(whole)) {
			parts = append(parts, part("."+key, whole[key]))
		}
	case []any:
		for i := range whole {
			parts = append(parts, part(fmt.Sprintf("[%d]", i), whole[i]))
		}
	}
	return parts
}
