// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package render turns an Application into the children that it needs. It is pure: the same Application and Facts give
// the same children, byte for byte. It looks nothing up.
//
// Read children.go first. There is one file for each kind of child (deployment.go, service.go, …), and one for each part
// of the pod template (podtemplate.go, container.go, probes.go, volumes.go, security.go, …). They share effective.go
// (the defaults for what the spec omits), names.go, metadata.go, and atomic.go.
//
// # What is rendered, and what is not
//
// A child has exactly the fields that Fairlead decides. All others are left to the API server's defaults and to other
// managers. The plan later compares the live child with the rendered one field by field, so the API server must return
// every rendered field as it was sent:
//
//   - A zero value is not rendered if the API server drops it, because it would never return it.
//   - Structs and lists that server-side apply treats as one value (atomic) are compared as a whole, so the rendered
//     ones have the API server's defaults inside them. See atomic.go.
//   - The keys of associative lists are always complete.
//   - Quantities have their canonical form.
//
// The pod template depends only on what the pods need. A new autoscaler, route or label of the Application does not
// change it, because any change replaces every pod.
package render
