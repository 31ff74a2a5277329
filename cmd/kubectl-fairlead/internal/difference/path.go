// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/pkg/preview"
)

// itemKey finds the key of an item of a list as managed fields spell it, such as [name="web"] or [containerPort=80,protocol="TCP"].
var itemKey = regexp.MustCompile(`\[\w+=(?:"([^"]*)"|([^,\]]*))(?:,\w+=(?:"[^"]*"|[^,\]]*))*\]`)

// protocolOf finds the protocol in the key of a port.
var protocolOf = regexp.MustCompile(`,protocol="?(\w+)`)

// pathOf is the path of a change in one spelling, whether it comes from two renderings or from managed fields: an item is in brackets by its
// key alone. Two ports may have the same number, so one that is not TCP has its protocol too: [53/UDP].
func pathOf(change preview.Change) string {
	return itemKey.ReplaceAllStringFunc(change.Path, func(key string) string {
		short := itemKey.ReplaceAllString(key, "$1$2")
		if protocol := protocolOf.FindStringSubmatch(key); len(protocol) > 1 && protocol[1] != string(corev1.ProtocolTCP) {
			short += "/" + protocol[1]
		}
		return "[" + short + "]"
	})
}

// ofPod names a field of the pod template as one of the pods.
func ofPod(change preview.Change) string {
	path := pathOf(change)
	for prefix, kind := range map[string]string{".spec.template.metadata.annotations[": "annotation", ".spec.template.metadata.labels[": "label"} {
		if key, found := strings.CutPrefix(path, prefix); found {
			return "the pod " + kind + " " + strings.TrimSuffix(key, "]")
		}
	}
	return strings.TrimPrefix(path, ".spec.template.spec.")
}

// EditedFirst moves what a user just edited before what waits since earlier edits.
func EditedFirst(because, edited []preview.Change) []preview.Change {
	isEdited := func(change preview.Change) int {
		if slices.ContainsFunc(edited, func(other preview.Change) bool { return pathOf(other) == pathOf(change) }) {
			return 0
		}
		return 1
	}
	return slices.SortedStableFunc(slices.Values(because), func(a, b preview.Change) int { return isEdited(a) - isEdited(b) })
}
