// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import "iter"

// Health says how an object stands, in the words that Argo CD made common.
type Health string

// The values of Health.
const (
	// Healthy: the object does what it is there for.
	Healthy Health = "Healthy"
	// Progressing: it is on its way there.
	Progressing Health = "Progressing"
	// Degraded: it fails; the reason says why.
	Degraded Health = "Degraded"
	// Suspended: a user stopped it, for example by spec.paused.
	Suspended Health = "Suspended"
	// Missing: it should exist and does not.
	Missing Health = "Missing"
	// Unknown: its health cannot be found out.
	Unknown Health = "Unknown"
)

// Node is one object.
type Node struct {
	// Group is the API group; empty for core.
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	// Health says how the object stands, and Reason and Message why, unless it is Healthy.
	Health  Health `json:"health"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Info is what else there is to know in a few words, such as "3/3 ready".
	Info     string  `json:"info,omitempty"`
	Children []*Node `json:"children,omitempty"`
}

// Ref is the node in the form in which kubectl takes it: Deployment/web.
func (n *Node) Ref() string { return n.Kind + "/" + n.Name }

// All yields the node and everything below it with its depth, parents first.
func (n *Node) All() iter.Seq2[int, *Node] {
	return func(yield func(int, *Node) bool) { n.walk(0, yield) }
}

func (n *Node) walk(depth int, yield func(int, *Node) bool) bool {
	if !yield(depth, n) {
		return false
	}
	for _, below := range n.Children {
		if !below.walk(depth+1, yield) {
			return false
		}
	}
	return true
}
