// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"fairlead.dev/fairlead/pkg/child"
)

// Unaddressed are the Ingresses of an Application that no controller has given an address. Some controllers give none, so this
// proves nothing; but it is all that an Ingress shows of a class that no controller serves.
type Unaddressed []*networkingv1.Ingress

// Unaddressed returns those of the Application.
func (l *Loaded) Unaddressed() Unaddressed {
	var found Unaddressed
	for _, live := range l.Children {
		ingress, ok := live.(*networkingv1.Ingress)
		if ok && child.OwnedBy(ingress, l.Application) && ingress.DeletionTimestamp == nil && len(ingress.Status.LoadBalancer.Ingress) == 0 {
			found = append(found, ingress)
		}
	}
	return found
}

// Names names the Ingresses in words.
func (u Unaddressed) Names() string {
	names := make([]string, 0, len(u))
	for _, ingress := range u {
		names = append(names, "Ingress "+ingress.Name)
	}
	return strings.Join(names, " and ")
}

// Hint says what to check.
func (u Unaddressed) Hint() string {
	var classes []string
	for _, ingress := range u {
		class := "the default IngressClass"
		if ingress.Spec.IngressClassName != nil {
			class = "IngressClass " + *ingress.Spec.IngressClassName
		}
		if !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
	}
	return "if clients do not reach the application, check that a controller serves " + strings.Join(classes, " and ")
}
