// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	encodingjson "encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// What an event of an Application looks like, as every API server writes it: by its beginning it is known. Whatever
// looks otherwise is decoded by client-go.
var (
	beforeType   = []byte(`{"type":"`)
	beforeObject = []byte(`","object":`)
	application  = []byte(`{"apiVersion":"` + v1.SchemeGroupVersion.String() + `","kind":"` + v1.ApplicationKind + `",`)
	afterObject  = []byte(`}`)
)

// serializers are client-go's, but for events of Applications.
type serializers struct{ runtime.NegotiatedSerializer }

func (s serializers) SupportedMediaTypes() []runtime.SerializerInfo {
	all := slices.Clone(s.NegotiatedSerializer.SupportedMediaTypes())
	for i := range all {
		if all[i].MediaType != runtime.ContentTypeJSON || all[i].StreamSerializer == nil {
			continue
		}
		stream := *all[i].StreamSerializer
		stream.Framer, stream.Serializer = framer{stream.Framer}, envelopes{stream.Serializer}
		all[i].StreamSerializer = &stream
	}
	return all
}

func (s serializers) DecoderToVersion(decoder runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return contents{s.NegotiatedSerializer.DecoderToVersion(decoder, version)}
}

// envelopes decodes the events of a watch as far as to what is in them.
type envelopes struct{ runtime.Serializer }

// Decode is given one event, which the framer has read to its end. What is in it stays where it stands, and so
// has to be decoded before the next event is read, as client-go does.
func (e envelopes) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, is := into.(*metav1.WatchEvent); is {
		if kind, object, found := open(data); found {
			event.Type, event.Object.Raw = string(kind), object
			return event, nil, nil
		}
	}
	return e.Serializer.Decode(data, defaults, into)
}

// open finds type and object of an event, if it is one of an Application.
func open(event []byte) (kind, object []byte, found bool) {
	rest, hasType := bytes.CutPrefix(event, beforeType)
	kind, rest, hasObject := bytes.Cut(rest, beforeObject)
	object, ends := bytes.CutSuffix(bytes.TrimRight(rest, "\n"), afterObject)
	return kind, object, hasType && hasObject && ends && bytes.HasPrefix(object, application)
}

// contents decodes what is in an event.
type contents struct{ runtime.Decoder }

// Decode is asked to fill an object where somebody reads one, and to make one for an event.
func (c contents) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if into != nil || !bytes.HasPrefix(data, application) {
		return c.Decoder.Decode(data, defaults, into)
	}
	object := &v1.Application{}
	if err := json.Unmarshal(data, object); err != nil {
		return c.Decoder.Decode(firstValue(data), defaults, into)
	}
	object.TypeMeta = metav1.TypeMeta{} // As in every typed object that client-go decodes.
	kind := v1.SchemeGroupVersion.WithKind(v1.ApplicationKind)
	return object, &kind, nil
}

// firstValue leaves out what follows the object in an event: a field that this version of the API does not have.
func firstValue(data []byte) []byte {
	var value encodingjson.RawMessage
	if err := encodingjson.NewDecoder(bytes.NewReader(data)).Decode(&value); err != nil {
		return data // The decoder says what is wrong with it.
	}
	return value
}
