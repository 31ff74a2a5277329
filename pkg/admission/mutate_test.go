// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

func TestMutate(t *testing.T) {
	shouting := application(withRoute("api.example.com", "Web.Example.com"))
	orphan := func(a *v1.Application) { a.Spec.DeletionPolicy = v1.DeletionOrphan }
	orphaned := func(a *v1.Application) {
		orphan(a)
		a.Finalizers = []string{v1.FinalizerOrphan}
	}
	for _, test := range []struct {
		name         string
		updated, old any
		change       func(*admissionv1.AdmissionRequest)
		// want is the patch, "" for none.
		want string
	}{
		{"nothing to do", application(nil), nil, nil, ""},
		{"a host name in capitals", shouting, nil, nil, `[{"op":"replace","path":"/spec/routes/0/hostnames/1","value":"web.example.com"}]`},
		{"the same in a dry run", shouting, nil, func(r *admissionv1.AdmissionRequest) { r.DryRun = new(true) }, `[{"op":"replace","path":"/spec/routes/0/hostnames/1","value":"web.example.com"}]`},
		{"paths without a slash", application(func(a *v1.Application) {
			a.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"web.example.com"}, Paths: []v1.RoutePath{{Path: "/a"}, {Path: "b"}}}}
			a.Spec.LivenessProbe = &v1.Probe{HTTPGet: &v1.HTTPGetAction{Path: "live"}}
		}), nil, nil, `[{"op":"replace","path":"/spec/livenessProbe/httpGet/path","value":"/live"},{"op":"replace","path":"/spec/routes/0/paths/1/path","value":"/b"}]`},
		{"an update of the spec", shouting, application(nil), nil, `[{"op":"replace","path":"/spec/routes/0/hostnames/1","value":"web.example.com"}]`},
		{"an update of something else", application(func(a *v1.Application) {
			withRoute("api.example.com", "Web.Example.com")(a)
			a.Finalizers = nil
			a.Labels = map[string]string{"team": "a"}
		}), shouting, nil, ""},
		{"on its way out", application(func(a *v1.Application) {
			withRoute("Web.Example.com")(a)
			a.DeletionTimestamp = &metav1.Time{}
		}), application(nil), nil, `[{"op":"replace","path":"/spec/routes/0/hostnames/0","value":"web.example.com"}]`},
		{"Orphan", application(orphan), nil, nil, `[{"op":"add","path":"/metadata/finalizers","value":["apps.fairlead.dev/orphan"]}]`},
		{"Orphan beside another finalizer", application(func(a *v1.Application) {
			orphan(a)
			a.Finalizers = []string{"example.com/theirs"}
		}), nil, nil, `[{"op":"add","path":"/metadata/finalizers/-","value":"apps.fairlead.dev/orphan"}]`},
		{"Orphan with its finalizer", application(orphaned), nil, nil, ""},
		{"Orphan replaced without its finalizer", application(orphan), application(orphaned), nil, `[{"op":"add","path":"/metadata/finalizers","value":["apps.fairlead.dev/orphan"]}]`},
		{"Orphan no more: the controller takes the finalizer off", application(func(a *v1.Application) {
			a.Finalizers = []string{v1.FinalizerOrphan}
		}), application(orphaned), nil, ""},
		{"Orphan in a spec that the schema will refuse", `{"metadata":{"finalizers":null},"spec":{"image":5,"deletionPolicy":"Orphan"}}`, nil, nil, `[{"op":"add","path":"/metadata/finalizers","value":["apps.fairlead.dev/orphan"]}]`},
		{"a finalizer taken off on the way out", `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"image":"a:1","deletionPolicy":"Orphan"}}`, application(orphaned), nil, ""},
		{"a subresource", shouting, nil, func(r *admissionv1.AdmissionRequest) { r.SubResource = "status" }, ""},
		{"a deletion", shouting, nil, func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete }, ""},
		{"what the schema will refuse", `{"spec":{"image":5}}`, nil, nil, ""},
		{"no spec", `{}`, nil, nil, ""},
		{"a field of a later version stays", `{"spec":{"image":"a:1","later":{"x":1},"routes":[{"name":"a","later":1,"hostnames":["A.example.com"]}]}}`, nil, nil, `[{"op":"replace","path":"/spec/routes/0/hostnames/0","value":"a.example.com"}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, test.old)
			if test.change != nil {
				test.change(question.Request)
			}
			response := ask(t, (&cluster{}).handler(t), MutatePath, question)
			if !response.Allowed || len(response.Warnings) > 0 {
				t.Errorf("the response is %+v", response)
			}
			if diff := cmp.Diff(test.want, string(response.Patch)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if (response.PatchType != nil) != (test.want != "") {
				t.Errorf("the type of the patch is %v", response.PatchType)
			}
		})
	}
}

// Further defaulters run after our own, e.g. the one that writes the default class.
func TestDefaulters(t *testing.T) {
	c := &cluster{config: func(config *Config) {
		config.Defaulters = []Defaulter{func(_ context.Context, a *v1.Application) { a.Spec.PriorityClassName = a.Spec.Routes[0].Hostnames[0] }}
	}}
	response := ask(t, c.handler(t), MutatePath, review(t, application(withRoute("A.example.com")), nil))
	want := `[{"op":"add","path":"/spec/priorityClassName","value":"a.example.com"},{"op":"replace","path":"/spec/routes/0/hostnames/0","value":"a.example.com"}]`
	if diff := cmp.Diff(want, string(response.Patch)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}

// What is stored and what is rendered agree: the children are the same, whether the webhooks were
// asked or not.
func TestStoredDefaultsRenderTheSame(t *testing.T) {
	facts := rendertest.Facts()
	fixedseed.Check(t, func(t *rapid.T) {
		without := rendertest.Applications().Draw(t, "application")
		for _, probe := range []*v1.Probe{without.Spec.LivenessProbe, without.Spec.ReadinessProbe} {
			if probe != nil && probe.HTTPGet != nil && rapid.Bool().Draw(t, "no slash") {
				probe.HTTPGet.Path = "health"
			}
		}
		with := without.DeepCopy()
		v1.SetDefaults(with)
		facts := facts.Draw(t, "facts")
		if diff := cmp.Diff(children(t, without, facts), children(t, with, facts)); diff != "" {
			t.Errorf("children without and with the webhook (-without +with):\n%s", diff)
		}
	})
}

func children(t *rapid.T, application *v1.Application, facts render.Facts) string {
	desired, err := render.Children(application, facts)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.MarshalIndent(desired, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// The primary port is not stored in probes, so they follow it when it is renamed. What a person
// wrote stays.
func TestProbesFollowThePrimaryPort(t *testing.T) {
	a := application(func(a *v1.Application) {
		a.Spec.LivenessProbe = &v1.Probe{HTTPGet: &v1.HTTPGetAction{Path: "/"}}
		a.Spec.ReadinessProbe = &v1.Probe{TCPSocket: &v1.TCPSocketAction{Port: new(intstr.FromInt32(8080))}}
	})
	v1.SetDefaults(a)
	if a.Spec.LivenessProbe.HTTPGet.Port != nil || a.Spec.ReadinessProbe.TCPSocket.Port.IntVal != 8080 {
		t.Errorf("the probes are %+v and %+v", a.Spec.LivenessProbe, a.Spec.ReadinessProbe)
	}
	a.Spec.Ports[0].Name = "web"
	if response := ask(t, (&cluster{}).handler(t), ValidatePath, review(t, a, application(nil))); !response.Allowed {
		t.Errorf("after the renaming: %s", messageOf(response))
	}
}
