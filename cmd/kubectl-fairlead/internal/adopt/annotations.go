// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// DefaultContainer is an annotation of pods with the name of the container for kubectl logs and exec.
const DefaultContainer = "kubectl.kubernetes.io/default-container"

// Mentioning returns the annotations with the name of a container as a word in the key or the value. What they do, only their own
// programs know: an annotation may mean something else by the word.
func Mentioning(annotations map[string]string, container string) (keys []string) {
	// Keys join the name to other words, as in fluentbit.io/parser-web. In values, that is another name, or a path.
	key, value := word(container, "a-zA-Z0-9"), word(container, "-a-zA-Z0-9_./")
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if key.MatchString(name) || value.MatchString(annotations[name]) {
			keys = append(keys, name)
		}
	}
	return keys
}

// word matches a name between characters that are not in the set.
func word(name, set string) *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf("(^|[^%[1]s])%[2]s([^%[1]s]|$)", set, regexp.QuoteMeta(name)))
}
