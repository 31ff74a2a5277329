// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// privileged are the fields that decide what code runs, with which privileges, and what it reaches.
var privileged = regexp.MustCompile(`\.(image|command|args|exec|env|envFrom|volumes|volumeDevices|serviceAccountName|automountServiceAccountToken|securityContext|` +
	`shareProcessNamespace|host[A-Z]\w*|ephemeralContainers|runtimeClassName|nodeName|tolerations|resourceClaims|imagePullSecrets|` +
	`type|selector|externalIPs|externalName|externalTrafficPolicy|loadBalancer\w*|nodePort)\b`)

// Restored returns how a restoration changes the objects; of a backup that nothing vouches for, in every field of the specs, the labels
// and the annotations, otherwise in those fields of the specs that are about privileges. Each change is one value, or a list that changes
// as a whole. A volume has its name in the backup, unless another live volume has that name. live is nil if the Deployment is created again, and service has no UID if the Service is: then all of it is a change.
func (s Saved) Restored(live *appsv1.Deployment, service *corev1.Service, every bool) ([]preview.Change, error) {
	after := RecreatedDeployment(s)
	var former map[string]string
	if live == nil {
		live = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: after.Name}}
	} else {
		after = Restore(live, s.Deployment)
		if name := onlyNew(live, after); name != "" {
			saved, now := after.Spec.Template.Spec.DeepCopy(), &live.Spec.Template.Spec
			former = formerNames(saved, name, now)
			rename(&after.Spec.Template.Spec, name, live.Name, addsTemporaryVolume(now))
			alignVolumes(&after.Spec.Template.Spec, saved, now)
		}
	}
	changes, err := changesOf(child.Deployment.Kind+"/"+live.Name, live, after, live.Spec, after.Spec, former)
	if err != nil {
		return nil, err
	}
	if service != nil && s.Service != nil {
		after := Recreated(s)
		if service.UID != "" {
			after = RestoreService(service, s.Service)
		}
		more, err := changesOf(child.Service.Kind+"/"+service.Name, service, after, service.Spec, after.Spec, nil)
		if err != nil {
			return nil, err
		}
		changes = append(changes, more...)
	}
	if every {
		return changes, nil
	}
	return slices.DeleteFunc(changes, func(c preview.Change) bool {
		return !strings.Contains(c.Path, inSpec) || !privileged.MatchString(c.Path)
	}), nil
}

// inSpec is in the path of a change of a spec, and begins it behind the name of the object.
const inSpec = ": .spec"

// marks are the labels and annotations of an object.
type marks struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// changesOf returns the changes of one object. The loss of Fairlead's marks does not count.
func changesOf(object string, before, after metav1.Object, specBefore, specAfter any, former map[string]string) ([]preview.Change, error) {
	changes, err := values(object+": .metadata", marks{before.GetLabels(), before.GetAnnotations()}, marks{after.GetLabels(), after.GetAnnotations()}, nil)
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c preview.Change) bool { return c.After == nil && strings.Contains(c.Path, "["+v1.ReservedPrefix) })
	more, err := values(object+inSpec, specBefore, specAfter, former)
	return append(changes, more...), err
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

// alignVolumes lets a comparison find each volume of the backup in the live pods. after has the backup's pods with the names that an
// Application gives, saved has them as they are. A volume is compared with each live volume that stands for it: one for each of its mounts,
// and the one with its own name, which a manifest may have brought back. One that has none keeps its own name.
func alignVolumes(after, saved, live *corev1.PodSpec) {
	at := func(name string) int {
		return slices.IndexFunc(live.Volumes, func(volume corev1.Volume) bool { return volume.Name == name })
	}
	stands, taken := map[string][]string{}, map[string]bool{}
	for _, of := range [][2][]corev1.Container{{after.Containers, saved.Containers}, {after.InitContainers, saved.InitContainers}} {
		for i := range of[0] {
			for j := range of[0][i].VolumeMounts {
				mount, own := &of[0][i].VolumeMounts[j], of[1][i].VolumeMounts[j].Name
				switch {
				case at(mount.Name) < 0:
					mount.Name = own
				case !taken[mount.Name]:
					taken[mount.Name] = true
					stands[own] = append(stands[own], mount.Name)
				}
			}
		}
	}
	var volumes []corev1.Volume
	for i := range saved.Volumes {
		own := saved.Volumes[i].Name
		names := stands[own]
		switch {
		case !taken[own] && (at(own) >= 0 || len(names) == 0):
			names = append(names, own)
		case len(names) == 0:
			names = []string{after.Volumes[i].Name} // Its own name is another volume's: it would mean two.
		}
		for _, name := range names {
			volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: saved.Volumes[i].VolumeSource})
		}
	}
	// The order of volumes means nothing to pods.
	slices.SortStableFunc(volumes, func(a, b corev1.Volume) int { return cmp.Compare(at(a.Name), at(b.Name)) })
	after.Volumes = volumes
}

// values returns the changes, value by value, with the former names of the volumes.
func values(at string, before, after any, former map[string]string) ([]preview.Change, error) {
	changes, err := preview.Changes(before, after)
	if err != nil {
		return nil, err
	}
	var all []preview.Change
	for _, change := range changes {
		change.Path = at + change.Path
		all = divide(all, withFormerNames(change, former))
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
			parts = append(parts, part(preview.Step(key), whole[key]))
		}
	case []any:
		for i := range whole {
			parts = append(parts, part(fmt.Sprintf("[%d]", i), whole[i]))
		}
	}
	return parts
}
