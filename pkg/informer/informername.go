// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// metricsName is the label "name" of the metrics of informers.
const metricsName = "fairlead"

// informerName names the informers of a scope. client-go has metrics only for informers with a name, and allows each
// resource once per name.
//
// Names are unique in a process. If two controllers run in one process, as in tests, only the first has metrics. nil
// disables them.
func informerName(namespace string) *cache.InformerName {
	name := metricsName
	if namespace != metav1.NamespaceAll {
		name += "/" + namespace
	}
	unique, err := cache.NewInformerName(name)
	if err != nil {
		return nil // Another controller in this process has the name.
	}
	return unique
}
