// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// bases returns the images that a Dockerfile builds upon, other than scratch and its own stages.
func bases(dockerfile io.Reader) ([]string, error) {
	var found []string
	stages := map[string]bool{"scratch": true}
	scanner := bufio.NewScanner(dockerfile)
	for scanner.Scan() {
		words := strings.Fields(scanner.Text())
		if len(words) == 0 || !strings.EqualFold(words[0], "FROM") {
			continue
		}
		words = words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0], "--") {
			words = words[1:]
		}
		if len(words) == 0 || strings.Contains(words[0], "$") {
			return nil, fmt.Errorf("%q does not name an image", scanner.Text())
		}
		if !stages[words[0]] {
			found = append(found, words[0])
			stages[words[0]] = true
		}
		if len(words) == 3 && strings.EqualFold(words[1], "AS") {
			stages[words[2]] = true
		}
	}
	return found, scanner.Err()
}

// isGo reports whether an image brings a Go toolchain, by its name: golang or …/golang, with any tag.
func isGo(image string) bool {
	name := image[strings.LastIndex(image, "/")+1:]
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	return name == "golang"
}

// nameOfStandIn is the name of a base without its digest, which a stand-in cannot have.
func nameOfStandIn(base string) string {
	name, _, _ := strings.Cut(base, "@")
	return name
}
