// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// TestKeepsWhatServes: what serves the pods from before an adoption is in conflict, and its deletion would be an outage.
func TestKeepsWhatServes(t *testing.T) {
	const (
		exists = "It exists."
		name   = "Or give the Application another name."
		keep   = "Keep the Ingress until the Application has adopted the Deployment and replaced its pods, since what runs now needs it. Then hand it over: docs/guides/migrate.md says how, at 'An Ingress or HTTPRoute leads to the Service'."
	)
	for _, test := range []struct {
		kind    child.Kind
		object  child.Object
		adopted bool
		want    []string
	}{
		{child.Ingress, &networkingv1.Ingress{}, false, []string{
			"Remove spec.routes from the Application: the adoption needs that. The Ingress stays, and leads to the Service.",
			"To let the Application have it, hand it over once the condition Adopted is True: docs/guides/migrate.md says how, at 'An Ingress or HTTPRoute leads to the Service'.", name,
		}},
		{child.Ingress, &networkingv1.Ingress{}, true, []string{keep}},
		{child.Service, &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "shop"}}}, false, []string{"The adoption of the Deployment takes the Service over too.", "Keep the Service, since what runs now needs it.", name}},
		{child.Service, &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "shop"}}}, true, []string{
			"Do what the message says, so that the Application adopts the Service too. Keep it meanwhile, since what runs now needs it.",
		}},
		{child.HorizontalPodAutoscaler, &autoscalingv2.HorizontalPodAutoscaler{}, false, []string{
			"Remove spec.autoscaling from the Application: the adoption needs that. The HorizontalPodAutoscaler stays, and keeps working.",
			"To have the Application's own, set spec.autoscaling once the condition Adopted is True, and delete yours.", name,
		}},
		{child.PodDisruptionBudget, &policyv1.PodDisruptionBudget{}, false, []string{
			"Set spec.disruptionBudget to mode Disabled: the adoption needs that. The PodDisruptionBudget stays, and keeps working.",
			"To have the Application's own, set another mode once the condition Adopted is True, and delete yours.", name,
		}},
		{child.ServiceAccount, &corev1.ServiceAccount{}, false, []string{
			"Name it in spec.serviceAccount.name, if the class allows that. Keep the ServiceAccount, since what runs now needs it.", name,
		}},
		{child.ConfigMap, &corev1.ConfigMap{}, false, []string{
			"Keep the ConfigMap, since what runs now may need it, and remove spec.config from the Application until the condition Adopted is True.",
			"Then delete the ConfigMap, or replace it by one of another name, before you set spec.config again.", name,
		}},
	} {
		loaded := clustertest.Load(t, "paused")
		if test.adopted {
			loaded = adopting(t, v1.ReasonPodsHeld)
			deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
			deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}
			deployment.Spec.Template.Labels["app"] = "shop"
		} else {
			childOf(t, loaded, child.Deployment.Kind).SetOwnerReferences(nil)
			childOf(t, loaded, child.Deployment.Kind).SetAnnotations(nil)
			setResource(loaded, child.Deployment.Kind, v1.ResourceConflict, exists)
		}
		remove(loaded, test.kind)
		addForeign(loaded, test.kind, test.object, v1.ResourceConflict, exists)
		var got []string
		for _, finding := range why.Explain(loaded).Findings {
			if finding.Reason == v1.ReasonConflict && finding.Evidence[0].Field == "status.resources["+test.kind.Kind+"/web]" {
				got = finding.Next
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, adopted %t: advises %q, want %q", test.kind, test.adopted, got, test.want)
		}
	}
}

// TestUnusedServiceAccount: the pods that run do not need each ServiceAccount that is in the way.
func TestUnusedServiceAccount(t *testing.T) {
	loaded := clustertest.Load(t, "paused")
	deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
	deployment.SetOwnerReferences(nil)
	deployment.SetAnnotations(nil)
	deployment.Spec.Template.Spec.ServiceAccountName = ""
	setResource(loaded, child.Deployment.Kind, v1.ResourceConflict, "It exists.")
	remove(loaded, child.ServiceAccount)
	addForeign(loaded, child.ServiceAccount, &corev1.ServiceAccount{}, v1.ResourceConflict, "It exists.")
	text, _ := printed(t, loaded)
	wantParts(t, "ServiceAccount", text, map[string]bool{
		"   → Delete the ServiceAccount, if nothing needs it: the pods of the Deployment run as another one.\n": true,
		"Keep the ServiceAccount": false,
	})
}

// TestServiceAccountWithoutDeployment: the ServiceAccount is probably that of other pods, so its deletion is the last advice.
func TestServiceAccountWithoutDeployment(t *testing.T) {
	loaded := clustertest.Load(t, "paused")
	remove(loaded, child.Deployment)
	remove(loaded, child.ServiceAccount)
	addForeign(loaded, child.ServiceAccount, &corev1.ServiceAccount{}, v1.ResourceConflict, "It exists.")
	text, _ := printed(t, loaded)
	wantParts(t, "ServiceAccount", text, map[string]bool{
		"so Fairlead does not touch it. What refers to it waits.\n": true,
		"   → Name it in spec.serviceAccount.name, if the class and the controller allow that: then it stays, and the pods run as it.\n" +
			"   → Or delete the ServiceAccount, if nothing needs it, or give the Application another name.\n": true,
	})
}

// TestWaitsForTheEarlierApplication: Kubernetes has not deleted yet what an Application of the name had that is gone.
func TestWaitsForTheEarlierApplication(t *testing.T) {
	loaded := clustertest.Load(t, "paused")
	earlier := loaded.Application.DeepCopy()
	earlier.UID = "earlier"
	policy := &networkingv1.NetworkPolicy{}
	policy.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(earlier, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))}
	addForeign(loaded, child.NetworkPolicy, policy, v1.ResourceConflict, "NetworkPolicy web belongs to an earlier Application of this name, which is gone; Kubernetes deletes it.")
	wantParts(t, "an earlier Application", shown(t, loaded), map[string]bool{
		"controlled by an Application of this name that is gone\n":                           true,
		"   → Wait: Kubernetes deletes it, and Fairlead then creates its own within 30 s.\n": true,
		"Change Application": false, "another name": false,
	})
}

// TestKeepsOthersObject: a user who keeps an object of others can tell the Application to make none. The advice agrees with the message of the
// controller.
func TestKeepsOthersObject(t *testing.T) {
	oneRoute := func(a *v1.Application) { a.Spec.Routes = a.Spec.Routes[:1] }
	routes := func(a *v1.Application) { a.Spec.Routes = []v1.Route{{Name: "public"}, {Name: "admin"}} }
	policy := func(a *v1.Application) { a.Spec.NetworkPolicy = &v1.NetworkPolicy{} }
	monitoring := func(a *v1.Application) { a.Spec.Monitoring = &v1.Monitoring{} }
	inClass := func(a *v1.Application) { a.Status.Class = &v1.AppliedClass{Name: "std"} }
	for _, test := range []struct {
		name    string
		kind    child.Kind
		object  child.Object
		suffix  string
		changes []func(*v1.Application)
		keep    []string
	}{
		{name: "autoscaler", kind: child.HorizontalPodAutoscaler, object: &autoscalingv2.HorizontalPodAutoscaler{}, changes: []func(*v1.Application){
			func(a *v1.Application) { a.Spec.Autoscaling = &v1.Autoscaling{} },
		}, keep: []string{"Remove spec.autoscaling from the Application: then the HorizontalPodAutoscaler stays, and keeps working."}},
		{name: "budget", kind: child.PodDisruptionBudget, object: &policyv1.PodDisruptionBudget{}, keep: []string{
			"Set spec.disruptionBudget to mode Disabled: then the PodDisruptionBudget stays, and keeps working.",
		}},
		{name: "files", kind: child.ConfigMap, object: &corev1.ConfigMap{}, suffix: "-config", changes: []func(*v1.Application){
			func(a *v1.Application) { a.Spec.Config = &v1.Config{} },
		}, keep: []string{"Remove spec.config from the Application: then the ConfigMap stays."}},
		{name: "policy", kind: child.NetworkPolicy, object: &networkingv1.NetworkPolicy{}, changes: []func(*v1.Application){policy}, keep: []string{
			"Remove spec.networkPolicy from the Application: then the NetworkPolicy stays.",
		}},
		{name: "policy, in a class", kind: child.NetworkPolicy, object: &networkingv1.NetworkPolicy{}, changes: []func(*v1.Application){policy, inClass}, keep: []string{
			"Remove spec.networkPolicy from the Application, unless ApplicationClass std asks for one too: then the NetworkPolicy stays.",
		}},
		{name: "policy of the class", kind: child.NetworkPolicy, object: &networkingv1.NetworkPolicy{}, changes: []func(*v1.Application){inClass}},
		{name: "monitor", kind: child.ServiceMonitor, object: &metav1.PartialObjectMetadata{}, changes: []func(*v1.Application){monitoring}, keep: []string{
			"Remove spec.monitoring from the Application: then the ServiceMonitor stays.",
		}},
		{name: "monitor of the class", kind: child.ServiceMonitor, object: &metav1.PartialObjectMetadata{}, changes: []func(*v1.Application){inClass}},
		{name: "first route", kind: child.Ingress, object: &networkingv1.Ingress{}, changes: []func(*v1.Application){routes}, keep: []string{
			"Hand it over to the Application: docs/guides/migrate.md says how, at 'An Ingress or HTTPRoute leads to the Service'.",
		}},
		{name: "only route", kind: child.Ingress, object: &networkingv1.Ingress{}, changes: []func(*v1.Application){routes, oneRoute}, keep: []string{
			"Hand it over to the Application: docs/guides/migrate.md says how, at 'An Ingress or HTTPRoute leads to the Service'.",
			"Or remove spec.routes from the Application: then the Ingress stays.",
		}},
		{name: "another route", kind: child.Ingress, object: &networkingv1.Ingress{}, suffix: "-admin", changes: []func(*v1.Application){routes}, keep: []string{
			"Remove or rename route admin in spec.routes: then the Ingress stays.",
		}},
		{name: "another HTTPRoute", kind: child.HTTPRoute, object: &metav1.PartialObjectMetadata{}, suffix: "-admin", changes: []func(*v1.Application){routes}, keep: []string{
			"Remove or rename route admin in spec.routes: then the HTTPRoute stays.",
		}},
	} {
		loaded := clustertest.Load(t, "paused")
		remove(loaded, test.kind)
		for _, change := range test.changes {
			change(loaded.Application)
		}
		addForeign(loaded, test.kind, test.object, v1.ResourceConflict, "It exists.")
		test.object.SetName("web" + test.suffix)
		resources := loaded.Application.Status.Resources
		resources[len(resources)-1].Name = test.object.GetName()
		want := slices.Concat(test.keep, []string{"Or delete the " + test.kind.Kind + ", if nothing needs it, or give the Application another name."})
		if len(test.keep) == 0 {
			want = []string{"Delete the " + test.kind.Kind + ", or give the Application another name."}
		}
		wantParts(t, test.name, shown(t, loaded), map[string]bool{"   → " + strings.Join(want, "\n   → ") + "\n": true})
	}
}

// TestBesideALeftoverDeployment: to take a Deployment back is no adoption, so nothing waits for the condition Adopted.
func TestBesideALeftoverDeployment(t *testing.T) {
	const giveName = "Or give the Application another name."
	for _, test := range []struct {
		kind   child.Kind
		object child.Object
		spec   v1.ApplicationSpec
		want   []string
	}{
		{child.HorizontalPodAutoscaler, &autoscalingv2.HorizontalPodAutoscaler{}, v1.ApplicationSpec{Autoscaling: &v1.Autoscaling{}}, []string{
			"Remove spec.autoscaling from the Application: then the HorizontalPodAutoscaler stays, and keeps working.", giveName,
		}},
		{child.Ingress, &networkingv1.Ingress{}, v1.ApplicationSpec{Routes: []v1.Route{{Name: "public"}}}, []string{
			"Hand it over to the Application: docs/guides/migrate.md says how, at 'An Ingress or HTTPRoute leads to the Service'.",
			"Or remove spec.routes from the Application: then the Ingress stays.", giveName,
		}},
		{child.NetworkPolicy, &networkingv1.NetworkPolicy{}, v1.ApplicationSpec{}, []string{
			"Keep the NetworkPolicy until the Application has taken the Deployment back, since what runs now needs it. Then delete it, or replace it by one of another name.", giveName,
		}},
	} {
		loaded := clustertest.Load(t, "paused")
		deployment := childOf(t, loaded, child.Deployment.Kind)
		deployment.SetOwnerReferences(nil)
		deployment.SetLabels(map[string]string{v1.LabelManagedBy: v1.ManagedBy})
		deployment.SetAnnotations(map[string]string{v1.AnnotationOwnerUID: "gone"})
		setResource(loaded, child.Deployment.Kind, v1.ResourceConflict, "It exists.")
		loaded.Application.Spec.Autoscaling, loaded.Application.Spec.Routes = test.spec.Autoscaling, test.spec.Routes
		addForeign(loaded, test.kind, test.object, v1.ResourceConflict, "It exists.")
		wantParts(t, test.kind.Kind, shown(t, loaded), map[string]bool{"   → " + strings.Join(test.want, "\n   → ") + "\n": true, "condition Adopted": false})
	}
}

// TestLeftoverServiceAccount: the advice to take back what eject left behind is not followed by another about the same object.
func TestLeftoverServiceAccount(t *testing.T) {
	const takeBack, rename = "Take back what the earlier Application left behind: see docs/guides/take-back.md", "Or give the Application another name."
	for account, want := range map[string][]string{
		"web": {takeBack, rename},
		"":    {takeBack, "Or delete the ServiceAccount, if nothing needs it: the pods of the Deployment run as another one.", rename},
	} {
		loaded := clustertest.Load(t, "paused")
		deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
		deployment.SetOwnerReferences(nil)
		deployment.SetAnnotations(nil)
		deployment.Spec.Template.Spec.ServiceAccountName = account
		setResource(loaded, child.Deployment.Kind, v1.ResourceConflict, "It exists.")
		remove(loaded, child.ServiceAccount)
		ejected := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: plan.PluginFieldManager}}}}
		addForeign(loaded, child.ServiceAccount, ejected, v1.ResourceConflict, "It exists.")
		var got []string
		for _, finding := range why.Explain(loaded).Findings {
			if finding.Reason == v1.ReasonConflict && finding.Evidence[0].Field == "status.resources[ServiceAccount/web]" {
				got = finding.Next
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the pods run as %q: advises %q, want %q", account, got, want)
		}
	}
}

// remove removes the child of the kind.
func remove(loaded *cluster.Loaded, kind child.Kind) {
	loaded.Children = slices.DeleteFunc(loaded.Children, func(object child.Object) bool {
		return object.GetObjectKind().GroupVersionKind().Kind == kind.Kind
	})
	resources := &loaded.Application.Status.Resources
	*resources = slices.DeleteFunc(*resources, func(resource v1.ResourceStatus) bool { return resource.Kind == kind.Kind })
}

// TestDeletesTheDeploymentAlone: the pods of a Deployment that is in the way go on to serve.
func TestDeletesTheDeploymentAlone(t *testing.T) {
	loaded := clustertest.Load(t, "paused")
	deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
	deployment.SetOwnerReferences(nil)
	setResource(loaded, child.Deployment.Kind, v1.ResourceConflict, "It exists.")
	const takesOver = "   → Or delete the Deployment with --cascade=orphan, after which the Application's own takes its pods over and replaces them, or give the Application another name.\n"
	deployment.Annotations = nil
	deployment.Spec.Template.Labels[v1.LabelApplication] = deployment.Name
	text, _ := printed(t, loaded)
	wantParts(t, "Deployment with the labels of the Application", text, map[string]bool{takesOver: true, "which keeps its pods": false})
	deployment.Annotations = map[string]string{v1.AnnotationRenderedHash: "1"}
	deployment.Labels = map[string]string{v1.LabelManagedBy: v1.ManagedBy}
	text, _ = printed(t, loaded)
	wantParts(t, "Deployment left behind", text, map[string]bool{
		"   → Take back what the earlier Application left behind: see docs/guides/take-back.md\n   → Or give the Application another name.\n": true, "cascade": false,
	})
	deployment.Annotations, deployment.Spec.Template.Labels, deployment.Spec.Selector = nil, map[string]string{"app": "web"}, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	text, _ = printed(t, loaded)
	wantParts(t, "Deployment", text, map[string]bool{
		"   → Or delete the Deployment with --cascade=orphan, which keeps its pods, or give the Application another name.\n": true,
		"Delete the Deployment, or": false,
		"→ Go on: ":                 false, // It would end the pause that an adoption needs.
	})
}

// TestKeepsTheService: clients may know its address.
func TestKeepsTheService(t *testing.T) {
	loaded := clustertest.Load(t, "paused")
	addForeign(loaded, child.Service, &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "shop"}}}, v1.ResourceConflict, "Service web exists and has no consent to its adoption; annotate it.")
	text, _ := printed(t, loaded)
	wantParts(t, "Service", text, map[string]bool{
		"   → To keep the Service and its address, let the Application adopt it: set spec.adoptionPolicy to Consented, and do what the message of the Service then says.\n   → Or delete the Service": true,
	})
}

// rename gives the Application and its children another name.
func rename(loaded *cluster.Loaded, name string) {
	loaded.Application.Name = name
	for i := range loaded.Application.Status.Resources {
		loaded.Application.Status.Resources[i].Name = name
	}
	for _, object := range loaded.Children {
		object.SetName(name)
	}
}

// TestGroupsWhatWasLeftBehind: one step takes all of it back, so it is said once.
func TestGroupsWhatWasLeftBehind(t *testing.T) {
	loaded := clustertest.Load(t, "paused")
	loaded.Application.Spec.Paused, loaded.Application.Status.Conditions = nil, nil
	leave := func(object child.Object) {
		object.SetOwnerReferences(nil)
		object.SetLabels(map[string]string{v1.LabelManagedBy: v1.ManagedBy})
		object.SetAnnotations(map[string]string{v1.AnnotationOwnerUID: "gone"})
	}
	remove(loaded, child.ControllerRevision)
	leave(childOf(t, loaded, child.ServiceAccount.Kind))
	setResource(loaded, child.ServiceAccount.Kind, v1.ResourceConflict, "It exists.")
	addForeign(loaded, child.ConfigMap, &corev1.ConfigMap{}, v1.ResourceConflict, "It exists.")
	leave(childOf(t, loaded, child.ConfigMap.Kind))
	const back = "   → Take back what the earlier Application left behind: see docs/guides/take-back.md\n"
	text, encoded := printed(t, loaded)
	wantParts(t, "two", text, map[string]bool{
		"ServiceAccount web and ConfigMap web exist and do not belong to this Application, so Fairlead does not touch them. What refers to them waits.\n": true,
		back + "   → Or give the Application another name.\n": true,
		"status.resources[ServiceAccount/web]: It exists.\n":  true,
		"status.resources[ConfigMap/web]: It exists.\n":       true,
	})
	if got := strings.Count(encoded, `"reason":"Conflict"`); got != 1 || strings.Count(text, back) != 1 {
		t.Errorf("%d findings about conflicts:\n%s", got, text)
	}

	addForeign(loaded, child.Ingress, &networkingv1.Ingress{}, v1.ResourceConflict, "It exists.")
	wantParts(t, "another client's", shown(t, loaded), map[string]bool{
		"2. Ingress web exists and does not belong to this Application, so Fairlead does not touch it.\n":                             true,
		"   → Hand it over to the Application: docs/guides/migrate.md says how, at 'An Ingress or HTTPRoute leads to the Service'.\n": true,
		"   → Or delete the Ingress, if nothing needs it, or give the Application another name.\n":                                    true,
	})

	leave(childOf(t, loaded, child.Deployment.Kind))
	setResource(loaded, child.Deployment.Kind, v1.ResourceConflict, "It exists.")
	text, _ = printed(t, loaded)
	wantParts(t, "with the Deployment", text, map[string]bool{
		"ServiceAccount web, Deployment web and ConfigMap web exist and do not belong": true,
		back + "   → Or give the Application another name.\n":                          true,
		"--existing":  false, // The adoption would refuse what the earlier Application made beside the Deployment.
		"Delete them": false,
	})

	// An Application of that name may be called default, as the account of the pods that name none.
	childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment).Spec.Template.Spec.ServiceAccountName = ""
	const orDelete = "   → Or delete the ServiceAccount, if nothing needs it: the pods of the Deployment run as another one.\n"
	wantParts(t, "another account", shown(t, loaded), map[string]bool{orDelete: true})
	rename(loaded, "default")
	wantParts(t, "the account default", shown(t, loaded), map[string]bool{"ServiceAccount default, Deployment default and": true, orDelete: false})

	loaded = adopting(t, v1.ReasonPodsHeld)
	for _, kind := range []child.Kind{child.ServiceAccount, child.ConfigMap} {
		remove(loaded, kind)
		object := map[child.Kind]child.Object{child.ServiceAccount: &corev1.ServiceAccount{}, child.ConfigMap: &corev1.ConfigMap{}}[kind]
		addForeign(loaded, kind, object, v1.ResourceConflict, "It exists.")
		leave(object)
	}
	deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}
	deployment.Spec.Template.Labels["app"] = "shop"
	wantParts(t, "during an adoption", shown(t, loaded), map[string]bool{
		"ServiceAccount web and ConfigMap web exist and do not belong": true, back + "\n": true, "another name": false,
	})
}
