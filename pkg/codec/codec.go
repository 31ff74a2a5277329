// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package codec decodes custom resources so that an object that cannot be decoded affects only itself.
//
// A schema may admit a value that Go cannot decode, and a stored object may be older than its schema. client-go then
// fails the whole list or watch, so one object would stop the controller for all. The decoder of this package leaves
// out the fields that do not decode and records them in DecodeErrors. A sync writes no child of such an Application.
package codec

import (
	"fmt"
	"net/http"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// NewRESTClient returns the REST client of one version of an API, from which its generated package creates a
// clientset. The scheme and its codecs are those of the generated package.
func NewRESTClient(config *rest.Config, client *http.Client, version schema.GroupVersion, scheme *runtime.Scheme, codecs serializer.CodecFactory) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion, config.APIPath = &version, "/apis"
	config.NegotiatedSerializer = tolerant{rest.CodecFactoryForGeneratedClient(scheme, codecs).WithoutConversion()}
	made, err := rest.RESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("create REST client of %s: %w", version, err)
	}
	return made, nil
}

// tolerant is client-go's serializer with another decoder, for responses and for the objects in watch events.
type tolerant struct{ runtime.NegotiatedSerializer }

func (s tolerant) DecoderToVersion(of runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return decoder{Guard(s.NegotiatedSerializer.DecoderToVersion(of, version))}
}

// decoder decodes like client-go's as long as that succeeds.
type decoder struct{ runtime.Decoder }

func (d decoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	object, kind, err := d.Decoder.Decode(data, defaults, into)
	if err == nil || kind == nil {
		return object, kind, err
	}
	remains, found := prune(data, func(document []byte) error {
		_, _, err := d.Decoder.Decode(document, kind, blank(into))
		return err
	})
	if !found {
		return object, kind, err
	}
	if into != nil {
		reflect.ValueOf(into).Elem().SetZero() // The first attempt set some fields.
	}
	pruned, _, again := d.Decoder.Decode(remains.document, kind, into)
	if again != nil {
		return object, kind, err
	}
	return pruned, kind, remains.note(pruned)
}

// blank returns an empty object of the type of the given one, which may be nil.
func blank(object runtime.Object) runtime.Object {
	if object == nil {
		return nil
	}
	made, _ := reflect.TypeAssert[runtime.Object](reflect.New(reflect.TypeOf(object).Elem()))
	return made
}

// setErrors records in an object what was left out of it. An HTTPRoute has no field for that and needs none: a sync
// takes the fields for missing and writes them.
func setErrors(object runtime.Object, errs []v1.DecodeError) {
	switch o := object.(type) {
	case *v1.Application:
		o.DecodeErrors = errs
	case *v1.ApplicationClass:
		o.DecodeErrors = errs
	}
}
