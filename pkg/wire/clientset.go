// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package wire is how Applications come from the API server.
//
// Custom resources come as JSON, never as protobuf, and the first list as one stream of events, which is decoded one after
// the other: at a start, that is what the caches wait for. client-go goes over each event ten times: twice to find its end,
// twice for a kind that it has not, twice to take it apart, twice for the kind of what is in it, and twice to check and decode
// that. This package finds the end in one go that understands nothing but quotes and braces (frames.go). Where all that the
// next six look for is to be seen by the first bytes, it leaves them out (decode.go).
package wire

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
)

// NewClientset makes the generated clientset, but for how watches of Applications are decoded. It has no discovery.
func NewClientset(config *rest.Config, client *http.Client) (versioned.Interface, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion, config.APIPath = &v1.SchemeGroupVersion, "/apis"
	config.NegotiatedSerializer = serializers{rest.CodecFactoryForGeneratedClient(scheme.Scheme, scheme.Codecs).WithoutConversion()}
	made, err := rest.RESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("make REST client of %s: %w", v1.SchemeGroupVersion, err)
	}
	return versioned.New(made), nil
}
