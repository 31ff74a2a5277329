// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestValidate(t *testing.T) {
	twoRoutes := func(a *v1.Application) {
		a.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"a.example.com"}}, {Name: "second", Hostnames: []string{"b.example.com"}}}
	}
	invalid := func(a *v1.Application) { a.Spec.Replicas = new(int32(-1)) }
	front := application(func(a *v1.Application) { a.Namespace, a.Name = "other", "front"; withRoute("web.example.com")(a) })
	labelled := func(key string) func(*v1.Application) {
		return func(a *v1.Application) { a.Labels = map[string]string{key: "x"} }
	}
	both := func(changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			for _, change := range changes {
				change(a)
			}
		})
	}
	for _, test := range []struct {
		name         string
		cluster      cluster
		updated, old any
		change       func(*admissionv1.AdmissionRequest)
		// refused are parts of the message; none means allowed.
		refused []string
		// warned are parts of the only warning; none means none.
		warned []string
		// unwarned is no part of it.
		unwarned string
	}{
		{name: "valid", updated: application(nil)},
		{name: "invalid", updated: application(invalid), refused: []string{`Application.apps.fairlead.dev "web" is invalid`, "spec.replicas", "-1"}},
		{name: "invalid, in a dry run", updated: application(invalid), change: func(r *admissionv1.AdmissionRequest) { r.DryRun = new(true) }, refused: []string{"spec.replicas"}},
		{name: "an update to something invalid", updated: application(invalid), old: application(nil), refused: []string{"spec.replicas"}},
		{name: "the namespace is that of the request", updated: application(func(a *v1.Application) { a.Namespace = "" })},

		{name: "was invalid before, and gets a label", updated: both(invalid, labelled("team")), old: application(invalid), warned: []string{"the spec is stored, but not applied until this is fixed: spec.replicas: Invalid value: -1"}},
		{name: "was invalid before, and another field changes", updated: both(invalid, image("web:2")), old: application(invalid), refused: []string{"spec.replicas"}},
		{name: "on its way out", updated: both(invalid, func(a *v1.Application) { a.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time} }), old: application(nil)},
		{name: "a subresource", updated: application(invalid), change: func(r *admissionv1.AdmissionRequest) { r.SubResource = "status" }},
		{name: "a deletion", updated: `null`, change: func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete }},

		{name: "wrong type", updated: `{"metadata":{"name":"web"},"spec":{"image":5}}`, refused: []string{"decode the spec", "image"}},
		{name: "a field that this version does not know", updated: `{"metadata":{"name":"web"},"spec":{"image":"web:1","later":1}}`, refused: []string{`unknown field "spec.later"`}},
		{name: "a field twice", updated: `{"metadata":{"name":"web"},"spec":{"image":"web:1","image":"web:2"}}`, refused: []string{`duplicate field "spec.image"`}},
		{
			name:    "an unknown field that was there before",
			updated: `{"metadata":{"name":"web","labels":{"team":"a"}},"spec":{"image":"web:1","later":1}}`,
			old:     `{"metadata":{"name":"web"},"spec":{"later":1,"image":"web:1"}}`,
			warned:  []string{`unknown field "spec.later"`, "as before"},
		},
		{name: "status of a later version", updated: `{"metadata":{"name":"web"},"spec":{"image":"web:1"},"status":{"later":1}}`},

		{name: "a reserved label", updated: application(labelled(v1.LabelApplication)), refused: []string{"metadata.labels[apps.fairlead.dev/application]", "reserved"}},
		{name: "a reserved label that was there before", updated: both(labelled(v1.LabelApplication), withRoute("a.example.com")), old: application(labelled(v1.LabelApplication))},
		{name: "a label of a tool", updated: application(labelled(v1.LabelManagedBy))},
		{name: "a reserved label for the pods", updated: application(func(a *v1.Application) {
			a.Spec.PodMetadata = &v1.PodMetadata{Labels: map[string]string{v1.LabelApplication: "db"}}
		}), refused: []string{"spec.podMetadata.labels[apps.fairlead.dev/application]"}},

		{name: "a host name of its own", cluster: cluster{stored: []*v1.Application{front}}, updated: application(withRoute("api.example.com"))},
		{name: "another's host name", cluster: cluster{stored: []*v1.Application{front}}, updated: application(withRoute("api.example.com", "web.example.com")), refused: []string{"spec.routes[0].hostnames[1]", "web.example.com", "other/front"}},
		{name: "another's host name, by an update", cluster: cluster{stored: []*v1.Application{front}}, updated: application(withRoute("web.example.com")), old: application(nil), refused: []string{"other/front"}},
		{name: "another's host name, which it had before", cluster: cluster{stored: []*v1.Application{front}}, updated: both(withRoute("web.example.com"), image("web:2")), old: application(withRoute("web.example.com"))},
		{name: "the caches fail", cluster: cluster{err: errors.New("no index")}, updated: application(withRoute("web.example.com")), refused: []string{"no index"}},

		{name: "a ServiceAccount of others", updated: application(withAccount("powerful")), refused: []string{"spec.serviceAccount.name", `"jane"`, "impersonate", `"powerful"`}},
		{name: "a ServiceAccount that the requester may use", cluster: cluster{allowed: []string{"powerful"}, exist: []string{"ServiceAccount/powerful"}}, updated: application(withAccount("powerful"))},
		{name: "another image for a ServiceAccount that it had before", updated: both(withAccount("powerful"), image("web:2")), old: application(withAccount("powerful")), refused: []string{"spec.serviceAccount.name", `"jane"`, "impersonate", `"powerful"`}},
		{name: "a label for an Application with a ServiceAccount", updated: both(withAccount("powerful"), labelled("team")), old: application(withAccount("powerful"))},
		{name: "back to its own ServiceAccount, while pods still run as the other", cluster: cluster{owned: []string{"ServiceAccount/web"}}, updated: application(nil), old: application(withAccount("powerful")), refused: []string{"impersonate", `"powerful"`}},
		{name: "back to its own ServiceAccount", cluster: cluster{allowed: []string{"powerful"}, owned: []string{"ServiceAccount/web"}}, updated: application(nil), old: application(withAccount("powerful"))},
		{name: "the name of a ServiceAccount of others", cluster: cluster{exist: []string{"ServiceAccount/web"}}, updated: application(nil), refused: []string{"metadata.name", `"jane"`, "impersonate", `ServiceAccount "web"`}},
		{name: "the name of a ServiceAccount of others, by an update", cluster: cluster{exist: []string{"ServiceAccount/web"}}, updated: application(image("web:2")), old: application(nil), refused: []string{"metadata.name"}},
		{
			name: "the name of a ServiceAccount that the requester may use", cluster: cluster{allowed: []string{"web"}, exist: []string{"ServiceAccount/web"}}, updated: application(nil),
			warned: []string{`ServiceAccount "web" in namespace "shop" is not this Application's`},
		},
		{
			name: "a ServiceAccount that an earlier Application left behind", cluster: cluster{allowed: []string{"web"}, leftBehind: []string{"ServiceAccount/web"}}, updated: application(nil),
			warned: []string{`ServiceAccount "web" in namespace "shop" is not this Application's: the pods wait until you take back what an earlier Application left behind (docs/guides/take-back.md), or until it is gone`},
		},
		{
			name: "a ServiceAccount that was ejected", cluster: cluster{allowed: []string{"web"}, ejected: []string{"ServiceAccount/web"}}, updated: application(nil),
			warned: []string{`ServiceAccount "web" in namespace "shop" is not this Application's: the pods wait until you take back what an earlier Application left behind (docs/guides/take-back.md), or until it is gone`},
		},
		{name: "its own ServiceAccount", cluster: cluster{owned: []string{"ServiceAccount/web"}}, updated: application(image("web:2")), old: application(nil)},
		{name: "a ServiceAccount that may not be read", cluster: cluster{unreadable: true}, updated: application(nil), refused: []string{"metadata.name", "impersonate"}},
		{name: "a ServiceAccount that may not be read, for who may use it", cluster: cluster{unreadable: true, allowed: []string{"web"}}, updated: application(nil)},
		{name: "another ServiceAccount than before", updated: application(withAccount("powerful")), old: application(withAccount("weak")), refused: []string{"powerful"}},
		{name: "the API server does not answer", cluster: cluster{err: errors.New("gone")}, updated: application(withAccount("powerful")), refused: []string{"find out whether", "gone"}},

		{name: "a missing ServiceAccount", cluster: cluster{allowed: []string{"a"}}, updated: application(withAccount("a")), warned: []string{`ServiceAccount "a" does not exist in namespace "shop"`}},
		{name: "a missing Secret", updated: application(func(a *v1.Application) {
			a.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
		}), warned: []string{`Secret "pull" does not exist in namespace "shop", so the nodes pull the image without its credentials`}},
		{name: "a missing ConfigMap, in a sidecar", updated: application(func(a *v1.Application) {
			a.Spec.Sidecars = []corev1.Container{{Name: "log", Image: "log:1", EnvFrom: []corev1.EnvFromSource{
				{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}}},
				{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "any"}, Optional: new(true)}},
			}}}
		}), warned: []string{`ConfigMap "conf"`}},
		{name: "a ConfigMap that was missing before", updated: both(mounting("conf"), withRoute("a.example.com")), old: application(mounting("conf"))},
		{name: "a ConfigMap that exists", cluster: cluster{exist: []string{"ConfigMap/conf"}}, updated: application(mounting("conf"))},
		{name: "no way to find out", cluster: cluster{unreadable: true, allowed: []string{"web"}}, updated: application(mounting("conf"))},
		{
			name: "a Deployment that an earlier Application left behind", cluster: cluster{leftBehind: []string{"Deployment/web"}, config: selecting("apps.fairlead.dev/application", "web")}, updated: application(nil),
			warned: []string{`Deployment "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone and starts no pods: ` +
				`take back what an earlier Application left behind (docs/guides/take-back.md), or rename the Application`},
			unwarned: "cascade",
		},
		{
			name: "a Deployment of others with the labels of the Application", updated: application(nil),
			cluster: cluster{exist: []string{"Deployment/web"}, config: selecting("apps.fairlead.dev/application", "web")},
			warned:  []string{`rename the Application, or run kubectl delete deployment web --cascade=orphan, after which the Application's own takes the old pods over and replaces them`},
		},
		{
			name: "a Deployment of others", cluster: cluster{exist: []string{"Deployment/web"}, config: selecting("app", "web")}, updated: application(nil),
			warned: []string{`Deployment "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone and starts no pods: ` +
				`instead of this Application (delete it if it exists already), let kubectl fairlead adopt web --harden write one that fits, which names what needs your --accept, and replaces no pod until you say so; ` +
				`or let this one adopt it (set spec.adoptionPolicy to Consented and spec.paused to true, then run kubectl fairlead adopt web --existing), ` +
				`rename the Application, or run kubectl delete deployment web --cascade=orphan, which keeps the old pods until you delete their ReplicaSet`},
		},
		{
			name: "a Deployment of others that cannot be adopted", updated: application(nil),
			cluster: cluster{exist: []string{"Deployment/web"}, config: selection(appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}},
			})},
			warned: []string{`Deployment "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone and starts no pods: ` +
				`rename the Application, or run kubectl delete deployment web --cascade=orphan, which keeps the old pods until you delete their ReplicaSet`},
		},
		{
			name: "a Deployment of others whose selector cannot be read", updated: application(nil),
			cluster: cluster{exist: []string{"Deployment/web"}, config: func(c *Config) {
				c.WithSelection = func(_ context.Context, unread *metav1.PartialObjectMetadata) metav1.Object { return unread }
			}},
			warned: []string{"starts no pods: instead of this Application (delete it if it exists already), let kubectl fairlead adopt web --harden write one", "then run kubectl fairlead adopt web --existing), or rename the Application"},
		},
		{
			name: "a Service of others", cluster: cluster{exist: []string{"Service/web", "ConfigMap/web-config"}}, updated: application(nil),
			warned: []string{`Service "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: ` +
				"let the Application adopt it (spec.adoptionPolicy), which keeps its address, delete it if nothing needs it, or give the Application another name"},
		},
		{
			name: "a Service that an earlier Application left behind", cluster: cluster{leftBehind: []string{"Service/web"}}, updated: application(nil),
			warned: []string{"so Fairlead leaves it alone: take it back as docs/guides/take-back.md says, or give the Application another name"},
		},
		{name: "a Service of others, and no ports", cluster: cluster{exist: []string{"Service/web"}}, updated: application(func(a *v1.Application) { a.Spec.Ports = nil })},
		{
			name: "a Service of others, and a consent to its adoption may follow", cluster: cluster{allowed: []string{"web"}, exist: []string{"Service/web"}},
			updated: application(func(a *v1.Application) { a.Spec.AdoptionPolicy = v1.AdoptionConsented }),
		},
		{name: "a Service of its own, after a restore", cluster: cluster{owned: []string{"Service/web"}}, updated: application(nil)},
		{name: "a Service of others, which status reports", cluster: cluster{exist: []string{"Service/web"}}, updated: application(image("web:2")), old: application(nil)},
		{
			name: "a Service of others, and the first ports", cluster: cluster{exist: []string{"Service/web"}}, updated: application(nil), old: application(func(a *v1.Application) { a.Spec.Ports = nil }),
			warned: []string{`Service "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: let the Application adopt it`},
		},
		{
			name: "an Ingress of others, and the second route", updated: application(twoRoutes), old: application(withRoute("a.example.com")),
			cluster: cluster{owned: []string{"Ingress/web"}, exist: []string{"Ingress/web-second"}},
			warned:  []string{`Ingress "web-second" in namespace "shop" is not this Application's`},
		},
		{
			name: "a Service of its own, and the first ports", cluster: cluster{owned: []string{"Service/web"}}, updated: application(nil), old: application(func(a *v1.Application) { a.Spec.Ports = nil }),
		},
		{
			name: "a ConfigMap of others", cluster: cluster{exist: []string{"ConfigMap/web-config"}}, updated: application(configured),
			warned: []string{`ConfigMap "web-config" in namespace "shop" is not this Application's, so Fairlead leaves it alone and starts no pods: remove spec.config so that it stays, delete it if nothing needs it, or give the Application another name`},
		},
		{
			name: "a budget and an autoscaler of others", updated: application(scaled),
			cluster: cluster{exist: []string{"PodDisruptionBudget/web", "HorizontalPodAutoscaler/web", "NetworkPolicy/web", "Ingress/web"}},
			warned: []string{
				`HorizontalPodAutoscaler "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: remove spec.autoscaling so that it stays, delete it, or give the Application another name`,
				`PodDisruptionBudget "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: set spec.disruptionBudget to mode Disabled so that it stays, delete it, or give the Application another name`,
			},
			unwarned: "NetworkPolicy", // It has none.
		},
		{
			name: "an autoscaler of others beside their Deployment and Service", updated: application(scaled),
			cluster: cluster{exist: []string{"Deployment/web", "Service/web", "HorizontalPodAutoscaler/web"}},
			warned: []string{
				`Deployment "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone and starts no pods: `,
				`HorizontalPodAutoscaler "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: keep it, since what runs now may need it, and remove spec.autoscaling until the condition Adopted is True; ` +
					`then leave it so, or delete the HorizontalPodAutoscaler and set the field again`,
			},
			unwarned: `Service "web" in`, // The adoption of the Deployment takes it over.
		},
		{
			name: "a budget and an Ingress of others beside their Deployment", updated: both(scaled, withRoute("a.example.com")),
			cluster: cluster{exist: []string{"Deployment/web", "Service/web", "PodDisruptionBudget/web", "Ingress/web"}},
			warned: []string{
				`Deployment "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone and starts no pods: `,
				`PodDisruptionBudget "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: keep it, since what runs now may need it, ` +
					`and set spec.disruptionBudget to mode Disabled until the condition Adopted is True; then leave it so, or delete the PodDisruptionBudget and set the field again`,
				`Ingress "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: keep it, since what runs now may need it, ` +
					`and remove spec.routes until the condition Adopted is True; then leave it so, or hand the Ingress over as docs/guides/migrate.md says`,
			},
		},
		{
			name: "a Service beside a Deployment that an earlier Application left behind", updated: application(nil),
			cluster: cluster{leftBehind: []string{"Deployment/web", "Service/web"}},
			warned: []string{
				`Deployment "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone and starts no pods: take back`,
				`Service "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: take it back as docs/guides/take-back.md says, or give the Application another name`,
			},
		},
		{
			name: "a Service beside a Deployment that cannot be adopted", updated: application(nil),
			cluster: cluster{exist: []string{"Deployment/web", "Service/web"}, config: selection(appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}},
			})},
			warned: []string{
				`Deployment "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone and starts no pods: rename the Application`,
				`Service "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: `,
			},
		},
		{
			name: "a NetworkPolicy and an Ingress of others", updated: both(withRoute("a.example.com"), func(a *v1.Application) { a.Spec.NetworkPolicy = &v1.NetworkPolicy{} }),
			cluster: cluster{exist: []string{"NetworkPolicy/web", "Ingress/web", "HTTPRoute/web"}},
			warned: []string{
				`NetworkPolicy "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: remove spec.networkPolicy so that it stays, delete it, or give the Application another name`,
				`Ingress "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: hand it over as docs/guides/migrate.md says, remove spec.routes so that it stays, delete it if nothing needs it, or give the Application another name`,
			},
			unwarned: "HTTPRoute",
		},
		{
			name: "Ingresses of others, which have the names of two routes", updated: both(withRoute("a.example.com"), func(a *v1.Application) {
				a.Spec.Routes = append(a.Spec.Routes, v1.Route{Name: "second", Hostnames: []string{"b.example.com"}})
			}),
			cluster: cluster{exist: []string{"Ingress/web", "Ingress/web-second"}},
			warned: []string{
				`Ingress "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: hand it over as docs/guides/migrate.md says, delete it if nothing needs it, or give the Application another name`,
				`Ingress "web-second" in namespace "shop" is not this Application's, so Fairlead leaves it alone: hand it over as docs/guides/migrate.md says, ` +
					`remove or rename route second in spec.routes so that it stays, delete it if nothing needs it, or give the Application another name`,
			},
		},
		{
			name: "an Ingress of its own, after a restore", updated: application(withRoute("a.example.com")),
			cluster: cluster{owned: []string{"Ingress/web"}},
		},
		{
			name: "an HTTPRoute of others, where a class makes them", updated: both(withRoute("a.example.com"), inClass("gateways")),
			cluster: cluster{exist: []string{"HTTPRoute/web"}, config: func(c *Config) {
				c.Classes = &inClasses{classes: []*v1.ApplicationClass{applicationClass("gateways", false, func(spec *v1.ApplicationClassSpec) {
					spec.Defaults = &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{Type: v1.RouteHTTPRoute, ParentRefs: []v1.ParentReference{{Name: "shared"}}}}
				})}}
			}},
			warned: []string{`HTTPRoute "web" in namespace "shop" is not this Application's, so Fairlead leaves it alone: remove spec.routes so that it stays, delete it, after which nothing serves its host names for up to 30 s, or give the Application another name`},
		},
		{name: "a Deployment of its own, after a restore", cluster: cluster{owned: []string{"Deployment/web"}}, updated: application(nil)},
		{name: "a Deployment of others, which status reports", cluster: cluster{exist: []string{"Deployment/web"}}, updated: application(image("web:2")), old: application(nil)},
		{
			name: "a revision that does not exist", cluster: cluster{revisions: []int64{2, 3}}, updated: application(toRevision99), old: application(nil),
			warned: []string{"spec.rollback.toRevision: revision 99 does not exist, so Fairlead changes nothing until you name another one or remove the field. Revisions: 2, 3"},
		},
		{
			name: "a revision of a new Application", updated: application(toRevision99),
			warned: []string{"revision 99 does not exist", "The Application has no revisions yet"},
		},
		{
			name: "the last of many revisions", cluster: cluster{revisions: []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, updated: application(toRevision99), old: application(nil),
			warned: []string{"Revisions: 2 older ones, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"},
		},
		{name: "a revision that exists", cluster: cluster{revisions: []int64{98, 99}}, updated: application(toRevision99), old: application(nil)},
		{
			name: "another image beside a revision that was named before and does not exist", cluster: cluster{revisions: []int64{2, 3}},
			updated: both(toRevision99, image("web:2")), old: application(toRevision99),
			warned: []string{"spec.rollback.toRevision: revision 99 does not exist, so this change of the pods has no effect until you name another one or remove the field. Revisions: 2, 3"},
		},
		{
			name: "another image beside a revision that was named before", cluster: cluster{revisions: []int64{98, 99}}, updated: both(toRevision99, image("web:2")), old: application(toRevision99),
			warned: []string{"spec.rollback.toRevision: it names revision 99, so this change of the pods has no effect until you remove the field"},
		},
		{
			name: "a URL as the path of a probe", updated: application(probing("/http://localhost/healthz")),
			warned: []string{"spec.livenessProbe.httpGet.path: the kubelet requests /http://localhost/healthz as a path of the pod, and not as a URL: write the path alone, such as /healthz"},
		},
		{name: "a URL that was the path of a probe before", updated: both(probing("/http://localhost/healthz"), image("web:2")), old: application(probing("/http://localhost/healthz"))},
		{name: "a path of a probe", updated: application(probing("/healthz"))},
		{name: "another image with a revision", cluster: cluster{revisions: []int64{99}}, updated: both(toRevision99, image("web:2")), old: application(nil)},
		{name: "another number of pods beside a revision", cluster: cluster{revisions: []int64{99}}, updated: both(toRevision99, replicas(3)), old: application(toRevision99)},
		{name: "revisions that are not known", cluster: cluster{unreadable: true, allowed: []string{"web"}}, updated: application(toRevision99)},
		{name: "missing and invalid: what refuses is enough", updated: both(mounting("conf"), invalid), refused: []string{"spec.replicas"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, test.old)
			if test.change != nil {
				test.change(question.Request)
			}
			response := ask(t, test.cluster.handler(t), ValidatePath, question)
			if response.Allowed != (len(test.refused) == 0) || response.Patch != nil {
				t.Errorf("allowed is %t: %s", response.Allowed, messageOf(response))
			}
			if !response.Allowed && response.Result.Code < 400 {
				t.Errorf("the code is %d", response.Result.Code)
			}
			contains(t, messageOf(response), test.refused)
			if (len(response.Warnings) > 0) != (len(test.warned) > 0) {
				t.Errorf("the warnings are %q", response.Warnings)
			}
			warnings := strings.Join(response.Warnings, "\n")
			contains(t, warnings, test.warned)
			if test.unwarned != "" && strings.Contains(warnings, test.unwarned) {
				t.Errorf("the warning %q has %q", warnings, test.unwarned)
			}
		})
	}
}

// selecting lets every Deployment select the pods by the label app, and have the label in its template.
func selecting(key, value string) func(*Config) {
	spec := appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}
	spec.Template.Labels = map[string]string{"app": "web", key: value}
	return selection(spec)
}

// selection lets every Deployment have the spec.
func selection(spec appsv1.DeploymentSpec) func(*Config) {
	return func(c *Config) {
		c.WithSelection = func(_ context.Context, deployment *metav1.PartialObjectMetadata) metav1.Object {
			return &appsv1.Deployment{ObjectMeta: deployment.ObjectMeta, Spec: spec}
		}
	}
}

func configured(a *v1.Application) {
	a.Spec.Config = &v1.Config{MountPath: "/conf", Data: map[string]string{"a": "b"}}
}

func scaled(a *v1.Application) {
	a.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 4, TargetCPUUtilizationPercentage: new(int32(70))}
	a.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}}
}

func image(image string) func(*v1.Application) {
	return func(a *v1.Application) { a.Spec.Image = image }
}

func probing(path string) func(*v1.Application) {
	return func(a *v1.Application) { a.Spec.LivenessProbe = &v1.Probe{HTTPGet: &v1.HTTPGetAction{Path: path}} }
}

func toRevision99(a *v1.Application) { a.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(99))} }

func mounting(configMap string) func(*v1.Application) {
	return func(a *v1.Application) {
		a.Spec.Mounts = []v1.Mount{{MountPath: "/conf", ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}}}
	}
}

func contains(t *testing.T, text string, parts []string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}

// Other rules about the spec, such as a class's limits, come in by the configuration.
func TestOtherRules(t *testing.T) {
	c := &cluster{config: func(config *Config) {
		config.Validate = func(_ context.Context, a *v1.Application) (field.ErrorList, error) {
			if a.Name == "broken" {
				return nil, errors.New("no class")
			}
			return field.ErrorList{field.Forbidden(field.NewPath("spec", "image"), "not from there")}, nil
		}
	}}
	contains(t, messageOf(ask(t, c.handler(t), ValidatePath, review(t, application(nil), nil))), []string{"spec.image", "not from there"})
	broken := application(func(a *v1.Application) { a.Name = "broken" })
	contains(t, messageOf(ask(t, c.handler(t), ValidatePath, review(t, broken, nil))), []string{"no class"})
}
