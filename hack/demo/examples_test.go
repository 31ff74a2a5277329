// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubescheme "k8s.io/client-go/kubernetes/scheme"

	"fairlead.dev/fairlead/hack/internal/objects"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	fairleadscheme "fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
)

const examplesDir = "../../artifacts/examples"

// TestExamplesAreStrictlyValid decodes every object of every example, unknown and repeated fields being errors, and
// validates the Applications.
func TestExamplesAreStrictlyValid(t *testing.T) {
	// The broken ones, each with what the sync must say about it; "" means valid.
	broken := map[string]string{
		"wrong-port":  `spec.routes[0].paths[0].port: Unsupported value: "https": supported values: "http"`,
		"wrong-image": "",
	}
	for _, object := range decodeExamples(t) {
		application, ok := object.object.(*v1.Application)
		if !ok {
			continue
		}
		want, isBroken := broken[application.Name]
		if inBroken := filepath.Base(filepath.Dir(object.file)) == "broken"; inBroken != isBroken {
			t.Errorf("%s: Application %s is in the wrong directory", object.file, application.Name)
		}
		delete(broken, application.Name)
		if got := errorText(validation.ValidateApplication(application, validation.Options{})); got != want {
			t.Errorf("%s: ValidateApplication(%s) says %q, want %q", object.file, application.Name, got, want)
		}
	}
	if len(broken) > 0 {
		t.Errorf("not found: the broken examples %v", broken)
	}
}

// TestExamplesAreIndependentOfANamespace: they may be applied anywhere, and side by side.
func TestExamplesAreIndependentOfANamespace(t *testing.T) {
	seen := sets.New[string]()
	for _, file := range exampleFiles(t) {
		manifests, err := objects.ReadFiles(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range manifests {
			name := objects.Name(object)
			if object.GetNamespace() != "" {
				t.Errorf("%s: %s names a namespace", file, name)
			}
			if seen.Has(name) {
				t.Errorf("%s: another example has %s too", file, name)
			}
			seen.Insert(name)
		}
	}
}

// TestExamplesHaveHeadComments: a file says first what it shows.
func TestExamplesHaveHeadComments(t *testing.T) {
	for _, file := range exampleFiles(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(content), "# ") {
			t.Errorf("%s does not begin with a comment that says what it shows", file)
		}
	}
}

// TestShopPeersExist: every Application that a network policy of the shop names is one of the shop, and lets its
// counterpart through too.
func TestShopPeersExist(t *testing.T) {
	shop := map[string]*v1.Application{}
	for _, object := range decodeExamples(t) {
		if application, ok := object.object.(*v1.Application); ok && filepath.Base(filepath.Dir(object.file)) == "shop" {
			shop[application.Name] = application
		}
	}
	connections := map[string]sets.Set[string]{"in": sets.New[string](), "out": sets.New[string]()}
	for name, application := range shop {
		if application.Spec.NetworkPolicy == nil {
			t.Errorf("%s has no network policy", name)
			continue
		}
		for _, rule := range application.Spec.NetworkPolicy.Ingress {
			for _, peer := range applicationPeers(rule.From) {
				connections["in"].Insert(peer + " -> " + name)
			}
		}
		for _, rule := range application.Spec.NetworkPolicy.Egress {
			for _, peer := range applicationPeers(rule.To) {
				connections["out"].Insert(name + " -> " + peer)
			}
		}
	}
	if in, out := connections["in"], connections["out"]; in.Len() == 0 || !in.Equal(out) {
		t.Errorf("the two ends of the network policies differ:\n in  %v\n out %v", sets.List(in), sets.List(out))
	}
	for connection := range connections["out"] {
		if peer := connection[strings.LastIndex(connection, " ")+1:]; shop[peer] == nil {
			t.Errorf("%s: there is no such Application in the shop", connection)
		}
	}
}

func applicationPeers(peers []v1.NetworkPolicyPeer) []string {
	var names []string
	for _, peer := range peers {
		if peer.Application != nil {
			names = append(names, peer.Application.Name)
		}
	}
	return names
}

// TestFullExampleHasWhatItNeedsFirst: otherwise kubectl apply warns of each Secret and ConfigMap that comes later.
func TestFullExampleHasWhatItNeedsFirst(t *testing.T) {
	manifests, err := objects.ReadFiles(filepath.Join(examplesDir, "full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i, object := range manifests {
		if last := i == len(manifests)-1; (object.GetKind() == v1.ApplicationKind) != last {
			t.Errorf("object %d is %s, want the Application last", i, objects.Name(object))
		}
	}
}

// TestFullExampleShowsEveryField: every field that Fairlead itself defines below spec appears in full.yaml, if need be
// in a comment, because it is exclusive with another one. Fields of Kubernetes' own types need not.
func TestFullExampleShowsEveryField(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(examplesDir, "full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for field, owner := range fairleadFields(reflect.TypeFor[v1.ApplicationSpec]()) {
		// Followed by a colon; or spelled out in a comment, after the field that it belongs to.
		if !regexp.MustCompile(`(\b` + field + `:|#.*\b` + field + `\b)`).Match(content) {
			t.Errorf("full.yaml does not show %s.%s", owner, field)
		}
	}
}

// fairleadFields returns the JSON names of the fields of a type and of what it refers to, as far as it is declared in
// the API package, each with a type that has it.
func fairleadFields(root reflect.Type) map[string]string {
	fields := map[string]string{}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, t.Kind()) {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || t.PkgPath() != root.PkgPath() {
			return
		}
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields[name] = t.Name()
			visit(field.Type)
		}
	}
	visit(root)
	return fields
}

type decoded struct {
	file   string
	object runtime.Object
}

func decodeExamples(t *testing.T) []decoded {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubescheme.AddToScheme, fairleadscheme.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var all []decoded
	for _, file := range exampleFiles(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for text := range bytes.SplitSeq(content, []byte("\n---\n")) {
			if len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			object, _, err := decoder.Decode(text, nil, nil)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			all = append(all, decoded{file: file, object: object})
		}
	}
	return all
}

func exampleFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.yaml", "*/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(examplesDir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatalf("no example in %s", examplesDir)
	}
	return files
}

func errorText(errs field.ErrorList) string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}
