// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

func TestEveryFieldIsOfThePodsOrBeside(t *testing.T) {
	spec := reflect.TypeFor[v1.ApplicationSpec]()
	for i := range spec.NumField() {
		name := spec.Field(i).Name
		from, to := reflect.New(spec).Elem(), v1.ApplicationSpec{}
		switch field := from.Field(i); field.Kind() {
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Map:
			field.Set(reflect.MakeMap(field.Type()))
		case reflect.String:
			field.SetString("x")
		default:
			t.Fatalf("%s is a %s", name, field.Kind())
		}
		given := from.Interface().(v1.ApplicationSpec)
		copyPodFields(&to, &given)
		taken := !reflect.ValueOf(to).Field(i).IsZero()
		inJSON, _, _ := strings.Cut(spec.Field(i).Tag.Get("json"), ",")
		if taken == slices.Contains(besidePods, inJSON) || taken != isOfPods("spec."+inJSON+"[0].name") {
			t.Errorf("%s: taken is %t; it has to be either in copyPodFields or in besidePods", name, taken)
		}
	}
}

// The number of pods and the ports of the Service do not make other pods.
func TestSamePods(t *testing.T) {
	spec := v1.ApplicationSpec{Image: "web:1", Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}}}
	for name, test := range map[string]struct {
		edit func(*v1.ApplicationSpec)
		same bool
	}{
		"image":        {func(s *v1.ApplicationSpec) { s.Image = "web:2" }, false},
		"port":         {func(s *v1.ApplicationSpec) { s.Ports[0].ContainerPort = 80 }, false},
		"service port": {func(s *v1.ApplicationSpec) { s.Ports[0].ServicePort = new(int32(80)) }, true},
		"replicas":     {func(s *v1.ApplicationSpec) { s.Replicas = new(int32(3)) }, true},
	} {
		edited := spec.DeepCopy()
		test.edit(edited)
		if got := SamePods(&spec, edited); got != test.same {
			t.Errorf("%s: %t, want %t", name, got, test.same)
		}
	}
}

// template is the pod template and the own ConfigMap, as they are rendered.
func template(t *rapid.T, application *v1.Application) any {
	children, err := render.Children(application, render.Facts{})
	if err != nil {
		t.Fatal(err)
	}
	var found []any
	for _, c := range children {
		switch c.Kind {
		case child.Deployment:
			found = append(found, rendertest.Object(t, c).Object["spec"].(map[string]any)["template"])
		case child.ConfigMap:
			found = append(found, rendertest.Object(t, c).Object["data"])
		}
	}
	return found
}

// With the pods of another spec, exactly what that spec says about pods is rendered.
func TestSpliceIsOfThePods(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		application := rendertest.Applications().Draw(t, "application")
		other := application.DeepCopy()
		other.Spec = rendertest.Specs().Draw(t, "other")
		before := application.DeepCopy()
		spliced := withPodFields(application, podSpec(&other.Spec))
		if diff := cmp.Diff(template(t, other), template(t, spliced)); diff != "" {
			t.Errorf("the pods (-other +spliced):\n%s", diff)
		}
		if !equality.Semantic.DeepEqual(before, application) {
			t.Error("the Application was changed")
		}
		// And back again everything is as it was.
		back := withPodFields(spliced, podSpec(&application.Spec))
		if diff := cmp.Diff(template(t, application), template(t, back)); diff != "" {
			t.Errorf("the pods (-before +back):\n%s", diff)
		}
	})
}

// What was stored is found to be the same, and has the same key.
func TestStoredSpecKeepsItsKey(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		application := rendertest.Applications().Draw(t, "application")
		before := application.DeepCopy()
		pods, key := encoded(t, application.UID, application.Spec)
		if !equality.Semantic.DeepEqual(before, application) {
			t.Error("the Application was changed")
		}
		data, err := json.Marshal(content{Spec: pods})
		if err != nil {
			t.Fatal(err)
		}
		// The API keeps the fields in another order.
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		if data, err = json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
		stored := revision{spec: key, data: data}
		if _, found := stored.pods(application.UID); !found {
			t.Errorf("it is not what its name says: %s", data)
		}
		if _, found := stored.pods("another"); found {
			t.Error("it is taken for that of another Application")
		}
	})
}

// encoded is what the spec says about the pods, and its key.
func encoded(t rapid.TB, uid types.UID, spec v1.ApplicationSpec) (pods json.RawMessage, key string) {
	pods, err := encode(podSpec(&spec))
	if err != nil {
		t.Fatal(err)
	}
	return pods, keyOf(uid, pods)
}

func TestPodSpec(t *testing.T) {
	port := v1.ApplicationPort{Name: "http", ContainerPort: 8080, ServicePort: new(int32(80)), ServicePortName: new("web"), AppProtocol: new("http")}
	for name, test := range map[string]struct{ a, b v1.ApplicationSpec }{
		"the Service's ports":       {v1.ApplicationSpec{Ports: []v1.ApplicationPort{port}}, v1.ApplicationSpec{Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}}}},
		"the account's annotations": {v1.ApplicationSpec{ServiceAccount: &v1.ServiceAccount{Annotations: map[string]string{"a": "b"}}}, v1.ApplicationSpec{}},
		"no token":                  {v1.ApplicationSpec{ServiceAccount: &v1.ServiceAccount{AutomountToken: new(false)}}, v1.ApplicationSpec{}},
		"an empty list":             {v1.ApplicationSpec{Env: []corev1.EnvVar{}}, v1.ApplicationSpec{}},
	} {
		_, a := encoded(t, "uid", test.a)
		_, b := encoded(t, "uid", test.b)
		if a != b {
			t.Errorf("%s: %s and %s", name, a, b)
		}
	}
	// Pinned: another key would make a new revision of every Application, and forget what was rolled back.
	spec := v1.ApplicationSpec{Image: "registry.example.com/web:1", Ports: []v1.ApplicationPort{port}, Env: []corev1.EnvVar{{Name: "A", Value: "1"}}}
	if _, got := encoded(t, "00000000-0000-4000-8000-000000000000", spec); got != "84f8e3268a" {
		t.Errorf("the key is %s", got)
	}
}

// Only a single port may have no name in the Service, and the former revision may have had more.
func TestSpliceNamesTheServicePortsOfSeveral(t *testing.T) {
	application := &v1.Application{Spec: v1.ApplicationSpec{Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080, ServicePortName: new("")}}}}
	former := v1.ApplicationSpec{Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}, {Name: "admin", ContainerPort: 9000}}}
	if got := withPodFields(application, former).Spec.Ports; got[0].ServicePortName != nil {
		t.Errorf("one of two ports of the Service has the name %q", *got[0].ServicePortName)
	}
	former.Ports = former.Ports[:1]
	if got := withPodFields(application, former).Spec.Ports; got[0].ServicePortName == nil {
		t.Error("the only port of the Service got a name")
	}
}

// The Service's part of a port, and the account's annotations, are those of today.
func TestSpliceKeepsWhatIsBeside(t *testing.T) {
	application := &v1.Application{}
	application.Spec = v1.ApplicationSpec{
		Ports:          []v1.ApplicationPort{{Name: "http", ContainerPort: 1, ServicePort: new(int32(80)), ServicePortName: new("web")}, {Name: "new", ContainerPort: 2}},
		ServiceAccount: &v1.ServiceAccount{Annotations: map[string]string{"role": "reader"}},
	}
	got := withPodFields(application, v1.ApplicationSpec{Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}}}).Spec
	want := v1.ApplicationSpec{
		Ports:          []v1.ApplicationPort{{Name: "http", ContainerPort: 8080, ServicePort: new(int32(80)), ServicePortName: new("web")}},
		ServiceAccount: application.Spec.ServiceAccount,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if got := withPodFields(application, v1.ApplicationSpec{ServiceAccount: &v1.ServiceAccount{Name: "robot"}}).Spec.ServiceAccount; len(got.Annotations) > 0 {
		t.Errorf("a foreign account has annotations: %+v", got)
	}
}

// Clients of the Service know the number of its port, and the port may have had another name in the revision.
func TestFormerServicePorts(t *testing.T) {
	port := func(name string, number int32, service *int32) v1.ApplicationPort {
		return v1.ApplicationPort{Name: name, ContainerPort: number, ServicePort: service}
	}
	for name, test := range map[string]struct{ former, present, want []v1.ApplicationPort }{
		"another name":            {[]v1.ApplicationPort{port("http", 8080, new(int32(80)))}, []v1.ApplicationPort{port("web", 9090, new(int32(80)))}, []v1.ApplicationPort{port("http", 8080, new(int32(80)))}},
		"the spec decides":        {[]v1.ApplicationPort{port("http", 8080, new(int32(80)))}, []v1.ApplicationPort{port("http", 9090, new(int32(81)))}, []v1.ApplicationPort{port("http", 8080, new(int32(81)))}},
		"also that it has none":   {[]v1.ApplicationPort{port("http", 8080, new(int32(80)))}, []v1.ApplicationPort{port("http", 9090, nil)}, []v1.ApplicationPort{port("http", 8080, nil)}},
		"a port that is gone":     {[]v1.ApplicationPort{port("http", 8080, nil), port("admin", 9999, new(int32(81)))}, []v1.ApplicationPort{port("http", 8080, nil)}, []v1.ApplicationPort{port("http", 8080, nil), port("admin", 9999, new(int32(81)))}},
		"a number that is taken":  {[]v1.ApplicationPort{port("admin", 9999, new(int32(81))), port("http", 8080, nil)}, []v1.ApplicationPort{port("http", 8080, new(int32(81)))}, []v1.ApplicationPort{port("admin", 9999, nil), port("http", 8080, new(int32(81)))}},
		"nothing was said of one": {[]v1.ApplicationPort{port("http", 8080, nil)}, []v1.ApplicationPort{port("web", 9090, new(int32(80)))}, []v1.ApplicationPort{port("http", 8080, nil)}},
	} {
		annotation, err := encodeServicePorts(test.former)
		if err != nil {
			t.Fatal(err)
		}
		data, key := encoded(t, "uid", v1.ApplicationSpec{Ports: test.former})
		raw, err := json.Marshal(content{Spec: data})
		if err != nil {
			t.Fatal(err)
		}
		pods, found := revision{spec: key, data: raw, service: readServicePorts(annotation)}.pods("uid")
		if !found {
			t.Fatalf("%s: not found", name)
		}
		got := withPodFields(&v1.Application{Spec: v1.ApplicationSpec{Ports: test.present}}, pods).Spec.Ports
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, forged := range []string{"", "no", `["http"]`, `{"http":{"port":"80"}}`} {
		if got := readServicePorts(forged); len(got) > 0 {
			t.Errorf("%q is read as %v", forged, got)
		}
	}
}
