// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// The kubelet's messages about limits of local storage.
var (
	overVolume    = regexp.MustCompile(`Usage of EmptyDir volume "([^"]+)" exceeds the limit`)
	overContainer = regexp.MustCompile(`Container (\S+) exceeded its local ephemeral storage limit`)
)

const overPod = "ephemeral local storage usage exceeds the total limit of containers"

// adviceForEvicted looks at why the kubelet ended the pod. Requests of resources help against pressure on the node, and not against a
// limit of the pod, a shutdown of the node or the preemption by a critical pod.
func (f facts) adviceForEvicted(message string, next []string) []string {
	const limit = "resources.limits.ephemeral-storage"
	for _, words := range []string{"Preempt", "node shutdown", "node is shutting down", "NodeShutdown"} {
		if strings.Contains(message, words) {
			return nil
		}
	}
	if over := overVolume.FindStringSubmatch(message); over != nil {
		return []string{fmt.Sprintf("Raise %s, or let the application write less to the volume.", f.sizeLimitOf(over[1]))}
	}
	if over := overContainer.FindStringSubmatch(message); over != nil {
		return []string{fmt.Sprintf("Raise %s, or let the container write less: its logs and its files outside of volumes count.", f.fieldsOf(over[1], limit))}
	}
	switch {
	case strings.Contains(message, overPod):
		return []string{fmt.Sprintf("Raise %s, or let the application write less: its logs, its files outside of volumes and its emptyDir volumes count.", f.fieldsOf("", limit))}
	case message == "Terminated": // The reason of a shutdown, where there is no message.
		return nil
	default:
		return next
	}
}

// sizeLimitOf is the path of the limit of an emptyDir in the spec, or names the volume.
func (f facts) sizeLimitOf(volume string) string {
	i := slices.IndexFunc(f.app.Spec.Mounts, func(mount v1.Mount) bool { return v1.VolumeName(mount.MountPath) == volume })
	if i < 0 {
		return "the sizeLimit of the emptyDir of volume " + volume
	}
	return fmt.Sprintf("spec.mounts[%s].emptyDir.sizeLimit", f.app.Spec.Mounts[i].MountPath)
}
