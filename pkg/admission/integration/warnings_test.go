// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// What a user reads at apply: of a class that does not exist, of its defaults, and of a Deployment that is in the way.
func TestWarningsAtApply(t *testing.T) {
	f := serve(t)
	memory := func(quantity string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(quantity)}
	}
	f.class("gold", v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: memory("256Mi")}}})
	f.class("standard", v1.ApplicationClassSpec{})
	f.register()
	labels := map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example.com/web:1"}}},
		}},
	}
	if _, err := f.kube.AppsV1().Deployments(f.namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expressions := deployment.DeepCopy()
	expressions.Name, expressions.Spec.Selector = "old", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}
	if _, err := f.kube.AppsV1().Deployments(f.namespace).Create(t.Context(), expressions, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	apps, heard := f.warned()
	for name, test := range map[string]struct {
		application *v1.Application
		want        string
	}{
		"a misspelt class": {
			f.application("shop", inClass("gld")),
			`ApplicationClass "gld" does not exist; the Application waits for it. Classes for namespace "` + f.namespace + `": gold, standard`,
		},
		"a Deployment in the way": {
			f.application("web", inClass("gold")),
			`Deployment "web" in namespace "` + f.namespace + `" is not this Application's, so Fairlead leaves it alone and starts no pods: ` +
				`instead of this Application (delete it if it exists already), let kubectl fairlead adopt web --harden write one that fits, which names what needs your --accept, and replaces no pod until you say so; ` +
				`or let this one adopt it (set spec.adoptionPolicy to Consented and spec.paused to true, then run kubectl fairlead adopt web --existing), ` +
				`rename the Application, or run kubectl delete deployment web --cascade=orphan, which keeps the old pods until you delete their ReplicaSet`,
		},
		"a Deployment in the way that no Application can adopt": {
			f.application("old", inClass("gold")),
			`Deployment "old" in namespace "` + f.namespace + `" is not this Application's, so Fairlead leaves it alone and starts no pods: ` +
				`rename the Application, or run kubectl delete deployment old --cascade=orphan, which keeps the old pods until you delete their ReplicaSet`,
		},
		"a revision of a new Application": {
			f.application("shop", inClass("gold"), func(a *v1.Application) { a.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))} }),
			"spec.rollback.toRevision: revision 1 does not exist, so Fairlead changes nothing until you name another one or remove the field. " +
				"The Application has no revisions yet",
		},
		"a request above the limit that the class has": {
			f.application("shop", inClass("gold"), func(a *v1.Application) {
				a.Spec.Resources = &corev1.ResourceRequirements{Requests: memory("512Mi")}
			}),
			`spec.resources.limits[memory]: the default 256Mi of ApplicationClass "gold" is not taken, because your request 512Mi is higher: set a limit, or Fairlead sets none`,
		},
		"a missing certificate": {
			f.application("shop", inClass("gold"), func(a *v1.Application) {
				a.Spec.Routes = []v1.Route{{Name: "r", Hostnames: []string{"shop.example.com"}, IngressClassName: new("nosuch"), TLS: &v1.RouteTLS{SecretName: "nosuch"}}}
			}),
			`Secret "nosuch" does not exist in namespace "` + f.namespace + `", and route "r" takes its certificate from it: create it, or let a controller such as cert-manager create it`,
		},
		"Gateways where none are served": {
			f.application("shop", inClass("gold"), func(a *v1.Application) {
				a.Spec.Routes = []v1.Route{{Name: "r", Hostnames: []string{"shop.example.com"}, ParentRefs: []v1.ParentReference{{Name: "gateway"}}}}
			}),
			`spec.routes[r].parentRefs: they have no effect, and the route becomes an Ingress: the cluster does not serve HTTPRoute of gateway.networking.k8s.io/v1: ` +
				`install the Gateway API, or set type: Ingress in the route, without what only an HTTPRoute has, such as parentRefs`,
		},
		"none": {f.application("other", inClass("gold")), ""},
	} {
		if _, err := apps.Create(t.Context(), test.application, dryRun); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := heard.all(); got != test.want {
			t.Errorf("%s: the warning is %q, want %q", name, got, test.want)
		}
	}
}

// What the platform reads when it tightens a class that is in use. A dry run says the same, with all names.
func TestWarningsOfAClassChange(t *testing.T) {
	f := serve(t)
	f.class("team", v1.ApplicationClassSpec{Limits: &v1.ApplicationLimits{MaxReplicas: new(int32(9))}})
	f.register()
	for _, name := range []string{"a", "b", "c", "d"} {
		f.create(name, inClass("team"), func(a *v1.Application) { a.Spec.Replicas = new(int32(6)) })
	}
	f.eventually("the Applications are cached", func() (bool, error) {
		users, err := f.caches.OfClass("team")
		return len(users) == 4, err
	})
	config, heard := f.cp.Config(), &warnings{}
	config.WarningHandlerWithContext = heard
	classes := f.fairlead(config).ApplicationClasses()
	reason := f.namespace + `/a: spec.replicas: Invalid value: 6: ApplicationClass "team" allows at most 4`
	const stalled = "with this change 4 Applications are stalled and not updated any more: "
	first, last := f.namespace+"/a, "+f.namespace+"/b, "+f.namespace+"/c", ", "+f.namespace+"/d"
	for _, test := range []struct {
		options metav1.PatchOptions
		want    string
	}{
		{metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, stalled + first + last + "\n" + reason},
		{metav1.PatchOptions{}, stalled + first + " and 1 more; --dry-run=server names all beforehand\n" + reason},
	} {
		if _, err := classes.Patch(t.Context(), "team", types.MergePatchType, []byte(`{"spec":{"limits":{"maxReplicas":4}}}`), test.options); err != nil {
			t.Fatal(err)
		}
		if got := heard.all(); got != test.want {
			t.Errorf("dry run %v: the warnings are\n%s\nwant\n%s", test.options.DryRun, got, test.want)
		}
	}
}

// What the platform reads when it creates a second default class: the one that applies. The API server sets the time of the creation before it
// calls the webhook.
func TestWarningOfASecondDefault(t *testing.T) {
	f := serve(t)
	f.class("middle", v1.ApplicationClassSpec{})
	f.register()
	config, heard := f.cp.Config(), &warnings{}
	config.WarningHandlerWithContext = heard
	classes, isDefault := f.fairlead(config).ApplicationClasses(), map[string]string{v1.AnnotationDefaultClass: "true"}
	if _, err := classes.Patch(t.Context(), "middle", types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+v1.AnnotationDefaultClass+`":"true"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	// It applies if it is created later, and also in the same second.
	first := &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "first", Annotations: isDefault}}
	f.eventually("the warning of a second default", func() (bool, error) {
		heard.all()
		_, err := classes.Create(t.Context(), first, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return strings.HasPrefix(heard.all(), "ApplicationClass middle is marked as default too; where both select a namespace, first applies, because it was created "), err
	})
}

// What the platform reads when a class that is in use begins to restrict connections: what the rules deny, beside what they allow.
func TestWarningOfADefaultNetworkPolicy(t *testing.T) {
	f := serve(t)
	f.class("team", v1.ApplicationClassSpec{})
	f.register()
	f.create("web", inClass("team"))
	f.eventually("the Application is cached", func() (bool, error) {
		users, err := f.caches.OfClass("team")
		return len(users) == 1, err
	})
	config, heard := f.cp.Config(), &warnings{}
	config.WarningHandlerWithContext = heard
	const begin, end = "with this change 1 Application gets a new NetworkPolicy, after which its pods may connect only to ", ", and accept only what it lists, beside routes and monitoring: "
	for _, step := range []struct{ patch, want string }{
		{`{"ingress":[{"from":[{"podSelector":{}}]}]}`, begin + "DNS, because the class lists no egress" + end + f.namespace + "/web"},
		{`{"egress":[{"to":[{"podSelector":{}}]}]}`, begin + "what the class lists, and to DNS" + end + f.namespace + "/web"},
	} {
		patch := `{"spec":{"defaults":{"networkPolicy":` + step.patch + `}}}`
		// The informer may not have the class of the last step yet.
		f.eventually("the warning of "+patch, func() (bool, error) {
			_, err := f.fairlead(config).ApplicationClasses().Patch(t.Context(), "team", types.MergePatchType, []byte(patch), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			return heard.all() == step.want, err
		})
		if _, err := f.fairlead(config).ApplicationClasses().Patch(t.Context(), "team", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		heard.all()
	}
}

// What a user reads when a patch is stored, and nothing is deployed.
func TestWarningsOfHeldChanges(t *testing.T) {
	f := serve(t)
	f.register()
	f.create("web")
	apps, heard := f.warned()
	for _, step := range []struct{ patch, want string }{
		{`{"spec":{"reconcilePolicy":"Observe"}}`, ""},
		{`{"spec":{"image":"registry.example.com/web:2"}}`, "spec.reconcilePolicy: it is Observe, so this change of the pods has no effect until you set it to Enforce"},
		{`{"spec":{"image":"registry.example.com/web:2"}}`, ""},
		{`{"metadata":{"labels":{"team":"shop"}}}`, ""},
		{`{"spec":{"reconcilePolicy":"Suspend"}}`, ""},
		{`{"spec":{"replicas":3}}`, "spec.reconcilePolicy: it is Suspend, so this change has no effect until you set it to Enforce"},
		{`{"spec":{"reconcilePolicy":"Enforce","image":"registry.example.com/web:3"}}`, ""},
		{`{"spec":{"paused":true}}`, ""},
		{`{"spec":{"image":"registry.example.com/web:4"}}`, "spec.paused: the pods stay as they are, so this change of the pods has no effect until you set it to false"},
		{`{"spec":{"paused":false,"image":"registry.example.com/web:5"}}`, ""},
	} {
		patched, err := apps.Patch(t.Context(), "web", types.MergePatchType, []byte(step.patch), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := heard.all(); got != step.want {
			t.Errorf("%s: the warning is %q, want %q", step.patch, got, step.want)
		}
		// The API server begins a patch with the object of its cache. An older one would be reviewed too, and its warnings kept.
		f.eventually("the API server has cached the patched Application", func() (bool, error) {
			cached, err := apps.Get(t.Context(), "web", metav1.GetOptions{ResourceVersion: "0"})
			return err == nil && cached.ResourceVersion == patched.ResourceVersion, err
		})
	}
}
