// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

// Each item of a list or map costs the API server time in every request that writes the object: 4 µs for a word of a
// command, 100 µs for a variable of a container, whose owner it records. So what a user can size has a limit. One in the
// types wins; Kubernetes' own types have none.

// limits are those of lists and maps by how many lists are around them: the deeper, the fewer, because they multiply. The
// last goes for whatever is deeper.
var limits = struct{ objects, scalars, entries []int }{
	objects: []int{16, 8, 4},
	scalars: []int{256, 64, 32, 16},
	entries: []int{64, 16, 8},
}

// namedLimits are those of lists which ordinary Applications have more of, or fewer, by the name of the field.
var namedLimits = map[string][]int{
	"bindMountOptions": {4},
	"env":              {128}, // Of a sidecar or init container. A rule of the spec limits those of all together.
	"envFrom":          {16},
	"httpHeaders":      {16},
	"items":            {32, 32, 8}, // The files of a volume.
	"matchExpressions": {8, 4},
	"ports":            {16},
	"volumeMounts":     {16},

	// The terms of an affinity: each selector of each term has expressions, and each of those has words.
	"nodeSelectorTerms": {8},
	"preferredDuringSchedulingIgnoredDuringExecution": {4},
	"requiredDuringSchedulingIgnoredDuringExecution":  {4},
}

// selectors are the fields that select objects by their labels. One counts as a list around what it has, because the terms
// of an affinity multiply them: four lists of terms with two selectors each.
var selectors = map[string]bool{"labelSelector": true, "namespaceSelector": true}

// limit gives each list and map of a schema a limit if it has none. The name is that of the field, and depth counts the
// lists around it.
func limit(name string, schema node, depth int) {
	if selectors[name] {
		depth++
	}
	if properties, ok := schema["properties"].(node); ok {
		for name, property := range properties {
			if property, ok := property.(node); ok {
				limit(name, property, depth)
			}
		}
	}
	if values, ok := schema["additionalProperties"].(node); ok {
		setLimit(schema, "maxProperties", "", limits.entries, depth)
		limit("", values, depth+1)
	}
	if items, ok := schema["items"].(node); ok {
		byDepth := limits.scalars
		if items["type"] == "object" {
			byDepth = limits.objects
		}
		setLimit(schema, "maxItems", name, byDepth, depth)
		limit("", items, depth+1)
	}
}

// setLimit sets the limit of a list or map: the one of its name, or that of its depth.
func setLimit(schema node, keyword, name string, byDepth []int, depth int) {
	if _, has := schema[keyword]; has {
		return
	}
	if named, has := namedLimits[name]; has {
		byDepth = named
	}
	schema[keyword] = byDepth[min(depth, len(byDepth)-1)]
}
