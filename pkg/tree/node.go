// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import "iter"

// Health is the health of an object, in the words of Argo CD.
type Health string

// The values of Health.
const (
	// Healthy means that the object works.
	Healthy Health = "Healthy"
	// Progressing means that the object does not work yet.
	Progressing Health = "Progressing"
	// Degraded means that the object fails; the reason says why.
	Degraded Health = "Degraded"
	// Suspended means that a user stopped the object, for example by spec.paused.
	Suspended Health = "Suspended"
	// Missing means that the object should exist and does not.
	Missing Health = "Missing"
	// Unknown means that the health cannot be determined.
	Unknown Health = "Unknown"
)

// Node is one object.
type Node struct {
	// Group is the API group; empty for core.
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	// Health is the health of the object, with Reason and Message unless it is Healthy.
	Health  Health `json:"health"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Info has a few more words, such as "3/3 ready".
	Info     string  `json:"info,omitempty"`
	Children []*Node `json:"children,omitempty"`
}

// Ref returns the node as kubectl accepts it: Deployment/web.
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
