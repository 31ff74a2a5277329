// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// metricsName is the label "name" of the metrics of informers.
const metricsName = "fairlead"

// measured names the informers of a factory, so that client-go counts what is queued in them: of one without
// a name it counts nothing. It is the name of one scope, since a name has each resource once.
//
// Names are unique in a process. Of two controllers in one, as tests have them, the first is
// measured; nil measures nothing.
func measured(namespace string) *cache.InformerName {
	name := metricsName
	if namespace != metav1.NamespaceAll {
		name += "/" + namespace
	}
	unique, err := cache.NewInformerName(name)
	if err != nil {
		return nil // It is taken.
	}
	return unique
}
