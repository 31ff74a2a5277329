// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package render turns an Application into the children that it needs. It is pure: the same
// Application and Facts give the same children, byte for byte, and nothing is looked up.
//
// Read children.go first. Then there is one file for each kind of child (deployment.go,
// service.go, …), one for each part of the pod template (podtemplate.go, container.go,
// probes.go, volumes.go, security.go, …), and what they share: effective.go (which default
// applies where the spec is silent), names.go, metadata.go, and atomic.go.
//
// # What is rendered, and what is not
//
// A child has exactly the fields that Fairlead decides on. All others are left to the API
// server's defaults and to whoever else owns them. The live child is later compared with the
// rendered one field by field, therefore every rendered field must come back from the API
// server as it was sent:
//
//   - Nothing is rendered whose value is the zero of a field that the API drops when it is
//     zero, because it would never come back.
//   - Structs and lists that server-side apply treats as one value (atomic) are compared as a
//     whole, so the API server's defaults inside of them are filled in. See atomic.go.
//   - The keys of associative lists are always complete.
//   - Quantities have their canonical form.
//
// The pod template depends only on what the pods need. A new autoscaler, route or label of
// the Application leaves it as it was, because any change of it replaces every pod.
package render
