// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
)

// TestProtobuf: the server answers protobuf, byte for byte what its objects encode to, and the same as in JSON.
func TestProtobuf(t *testing.T) {
	f := start(t)
	f.apply("encoded", 1)
	f.view("encoded", running(1))
	client := f.fairlead.SubresourcesV1alpha1().RESTClient()
	codec := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	for _, path := range []string{"applications", "applications/encoded", "applications/encoded/tree"} {
		ask := func(mediaType string) ([]byte, error) {
			return client.Get().AbsPath("apis", group, version, "namespaces", f.namespace, path).SetHeader("Accept", mediaType).DoRaw(t.Context())
		}
		f.eventually(path+" in both forms", func() error {
			encoded, err := ask(runtime.ContentTypeProtobuf)
			if err != nil {
				return err
			}
			text, err := ask(runtime.ContentTypeJSON)
			if err != nil {
				return err
			}
			decoded, kind, err := codec.Decode(encoded, nil, nil)
			if err != nil {
				return fmt.Errorf("%w in %q", err, encoded)
			}
			decoded.GetObjectKind().SetGroupVersionKind(*kind)
			var again bytes.Buffer
			if err := codec.Encode(decoded, &again); err != nil {
				return err
			}
			if !bytes.Equal(again.Bytes(), encoded) {
				return fmt.Errorf("the server says\n%q, its types encode to\n%q", encoded, again.Bytes())
			}
			asJSON, err := json.Marshal(decoded)
			if err != nil {
				return err
			}
			if want := strings.TrimSpace(string(text)); string(asJSON) != want {
				return fmt.Errorf("protobuf says\n%s, JSON\n%s", asJSON, want)
			}
			return nil
		})
	}

	config := cluster.Config()
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	views := versioned.NewForConfigOrDie(config).SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)
	rendering, err := views.Render(t.Context(), "encoded", renderOptions("encoded", "example.com/encoded:2"), metav1.CreateOptions{})
	if err != nil || !rendering.Pods.Replaced {
		t.Errorf("a rendering in protobuf is %+v, %v", rendering, err)
	}
	if _, err := views.Restart(t.Context(), "encoded", &v1alpha1.RestartOptions{}, dryRun); err != nil {
		t.Errorf("restart in protobuf: %v", err)
	}
	watching, err := views.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	event := f.next(watching)
	if view, ok := event.Object.(*v1alpha1.ApplicationRuntime); event.Type != watch.Added || !ok || view.Name != "encoded" {
		t.Errorf("first event in protobuf %+v", event)
	}
}
