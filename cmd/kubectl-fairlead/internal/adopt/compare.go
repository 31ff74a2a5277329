// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/preview"
)

// Differences are how the pods will differ.
type Differences struct {
	// Renamed says what has another name afterwards: the application's container, and the volumes that it mounts.
	Renamed []string
	// Changed are fields with another value, and Lost those that the Application does not have. Their paths have the new name of the
	// container, but the names that the user gave the volumes.
	Changed, Lost []preview.Change
}

// Empty reports whether the pods stay, because the pod template does.
func (d *Differences) Empty() bool { return len(d.Renamed)+len(d.Changed)+len(d.Lost) == 0 }

// Compare returns how the pods will differ. next is the template of the Application as the API server completes it.
func Compare(live *appsv1.Deployment, container string, next *corev1.PodTemplateSpec) (*Differences, error) {
	before := live.Spec.Template.DeepCopy()
	d := &Differences{}
	former := map[string]string{}
	if !hasNames(&before.Spec, container, live.Name, &next.Spec) {
		d.Renamed = renamed(&before.Spec, container, live.Name, &next.Spec)
		former = formerNames(&before.Spec, container, &next.Spec)
		rename(&before.Spec, container, live.Name, addsTemporaryVolume(&next.Spec))
	}
	all, err := preview.Changes(before, next)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i] = withFormerNames(all[i], former)
	}
	for _, change := range all {
		switch {
		case change.After == nil && meansNothing(change):
		case change.After == nil && !isFairleads(change):
			d.Lost = append(d.Lost, change)
		default:
			d.Changed = append(d.Changed, change)
		}
	}
	if d.Empty() && !equality.Semantic.DeepEqual(before, next) {
		d.Changed = all // They mean nothing, but a Deployment replaces its pods for less.
	}
	return d, nil
}

// isFairleads reports whether only Fairlead sets what is lost: an Application that is gone left its marks on the pods.
func isFairleads(lost preview.Change) bool {
	for _, field := range []string{".metadata.labels", ".metadata.annotations"} {
		if strings.HasPrefix(lost.Path, field+"["+v1.ReservedPrefix) {
			return true
		}
		if values, isMap := lost.Before.(map[string]any); isMap && lost.Path == field {
			return !slices.ContainsFunc(slices.Collect(maps.Keys(values)), func(key string) bool { return !strings.HasPrefix(key, v1.ReservedPrefix) })
		}
	}
	return false
}

// addsTemporaryVolume reports whether the Application adds the volume at TemporaryPath itself. Its mounts never have that name.
func addsTemporaryVolume(next *corev1.PodSpec) bool {
	return slices.ContainsFunc(next.Volumes, func(volume corev1.Volume) bool { return volume.Name == v1.TemporaryVolumeName })
}

// meansNothing reports whether pods are the same without a field: it is empty, says what holds anyway, or is metadata that
// pods do not take over from their template.
func meansNothing(lost preview.Change) bool {
	switch lost.Path {
	case ".metadata.name", ".metadata.namespace":
		return true
	case ".spec.shareProcessNamespace", ".spec.setHostnameAsFQDN":
		return lost.Before == false
	}
	switch value := lost.Before.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	default:
		return value == nil
	}
}

// hasNames reports whether the pods have the names of the Application already, as those that it left behind do.
func hasNames(pod *corev1.PodSpec, container, name string, next *corev1.PodSpec) bool {
	at := slices.IndexFunc(pod.Containers, func(candidate corev1.Container) bool { return candidate.Name == container })
	if at < 0 || container != name {
		return false
	}
	isMissing := func(mount corev1.VolumeMount) bool {
		return !slices.ContainsFunc(next.Volumes, func(volume corev1.Volume) bool { return volume.Name == mount.Name })
	}
	return !slices.ContainsFunc(pod.Containers[at].VolumeMounts, isMissing)
}

// renamed says what rename renames, as far as next has it.
func renamed(pod *corev1.PodSpec, container, name string, next *corev1.PodSpec) (said []string) {
	at := slices.IndexFunc(pod.Containers, func(candidate corev1.Container) bool { return candidate.Name == container })
	if at < 0 {
		return nil
	}
	if container != name {
		said = append(said, "container "+container+" becomes "+name)
	}
	names := volumeNames(&pod.Containers[at], addsTemporaryVolume(next))
	for i := range pod.Volumes {
		former := pod.Volumes[i].Name
		becomes := func(volume corev1.Volume) bool { return volume.Name == names.first[former] && volume.Name != former }
		if slices.ContainsFunc(next.Volumes, becomes) {
			said = append(said, "volume "+former+", mounted at "+mountPath(&pod.Containers[at], former)+", becomes "+names.first[former])
		}
	}
	return said
}

// mountPath is where the container mounts the volume first, which decides the volume's name in an Application.
func mountPath(container *corev1.Container, volume string) string {
	at := slices.IndexFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool { return mount.Name == volume })
	if at < 0 {
		return ""
	}
	return container.VolumeMounts[at].MountPath
}

// formerNames are the names that the user knows of the volumes that rename renames, by the new names. A name that another volume of next
// has stays out: it would mean two volumes.
func formerNames(pod *corev1.PodSpec, container string, next *corev1.PodSpec) map[string]string {
	former := map[string]string{}
	at := slices.IndexFunc(pod.Containers, func(candidate corev1.Container) bool { return candidate.Name == container })
	if at < 0 {
		return former
	}
	for volume, name := range volumeNames(&pod.Containers[at], addsTemporaryVolume(next)).first {
		if !slices.ContainsFunc(next.Volumes, func(other corev1.Volume) bool { return other.Name == volume }) {
			former[name] = volume
		}
	}
	return former
}

var (
	// volumeInPath is a volume, or a mount, in the path of a change.
	volumeInPath = regexp.MustCompile(`(\.(?:volumes|volumeMounts)\[)([^\]]+)\]`)
	// ofVolumes is the path of a change whose value is volumes or mounts, one of them, a name, or names in their order.
	ofVolumes = regexp.MustCompile(`\.(?:volumes|volumeMounts)(?:\[[^\]]+\](?:\.name)?| \(order\))?$`)
)

// withFormerNames is the change in the words of the user, who reads and accepts it before the volumes have their new names.
func withFormerNames(change preview.Change, former map[string]string) preview.Change {
	isVolumes := ofVolumes.MatchString(change.Path)
	change.Path = volumeInPath.ReplaceAllStringFunc(change.Path, func(step string) string {
		parts := volumeInPath.FindStringSubmatch(step)
		return parts[1] + cmp.Or(former[parts[2]], parts[2]) + "]"
	})
	change.Before, change.After = formerly(change.Before, isVolumes, former), formerly(change.After, isVolumes, former)
	return change
}

// formerly is the value with the former names of the volumes and mounts in it. isVolumes says that the value itself is about them.
func formerly(value any, isVolumes bool, former map[string]string) any {
	switch value := value.(type) {
	case string:
		if !isVolumes {
			return value
		}
		names := strings.Split(value, ", ") // An order has several.
		for i, name := range names {
			names[i] = cmp.Or(former[name], name)
		}
		return strings.Join(names, ", ")
	case []any:
		for i := range value {
			value[i] = formerly(value[i], isVolumes, former)
		}
	case map[string]any:
		for field, part := range value {
			_, isName := part.(string)
			value[field] = formerly(part, field == "volumes" || field == "volumeMounts" || isName && isVolumes && field == "name", former)
		}
	}
	return value
}

// rename gives the container and its volumes the names that the Application gives them.
func rename(pod *corev1.PodSpec, container, name string, temporary bool) {
	at := slices.IndexFunc(pod.Containers, func(candidate corev1.Container) bool { return candidate.Name == container })
	if at < 0 {
		return
	}
	main := &pod.Containers[at]
	names := volumeNames(main, temporary)
	main.Name = name
	for i := range pod.Volumes {
		pod.Volumes[i].Name = cmp.Or(names.first[pod.Volumes[i].Name], pod.Volumes[i].Name)
	}
	for _, containers := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
		for i := range containers {
			for j := range containers[i].VolumeMounts {
				mount := &containers[i].VolumeMounts[j]
				mount.Name = cmp.Or(names.of(mount), mount.Name)
			}
		}
	}
	for i := range main.VolumeMounts {
		main.VolumeMounts[i].Name = volumeName(&main.VolumeMounts[i], temporary)
	}
}
