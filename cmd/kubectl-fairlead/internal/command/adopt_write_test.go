// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"io"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
	"fairlead.dev/fairlead/pkg/plan"
)

// TestAwaitWaitsForARollout: the consent itself begins a generation of the Deployment, so the controller may see a rollout
// in progress at first. That is no answer yet.
func TestAwaitWaitsForARollout(t *testing.T) {
	answers := []metav1.Condition{
		{Type: v1.ConditionAdopted, Reason: v1.ReasonAwaitingConsent},
		{Type: v1.ConditionAdopted, Reason: v1.ReasonAdopting, Message: "Deployment web is not adopted yet: " + plan.RolloutInProgress + "."},
		{Type: v1.ConditionAdopted, Reason: v1.ReasonPodsHeld},
	}
	fairlead := fake.NewClientset()
	fairlead.PrependReactor("get", "applications", func(clienttesting.Action) (bool, runtime.Object, error) {
		next := answers[0]
		answers = answers[1:]
		return true, &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid"}, Status: v1.ApplicationStatus{Conditions: []metav1.Condition{next}}}, nil
	})
	kube := kubefake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web", Annotations: map[string]string{v1.AnnotationAdoptableBy: "uid"},
		Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: "web"},
	}})
	adopting := adopting{clients: &cluster.Clients{Kube: kube, Fairlead: fairlead}, namespace: "shop", name: "web"}
	_, condition, err := adopting.await(t.Context(), func(reason string) bool { return reason != v1.ReasonAwaitingConsent })
	if err != nil || condition.Reason != v1.ReasonPodsHeld {
		t.Errorf("it waited until %s, %v; want %s", condition.Reason, err, v1.ReasonPodsHeld)
	}
}

// TestExistingDryRun: a dry run that finds an adoption under way says that it writes nothing.
func TestExistingDryRun(t *testing.T) {
	for dryRun, want := range map[cmdutil.DryRunStrategy]string{
		cmdutil.DryRunClient: "shop/web: the Application exists; its adoption would go on.\n  not written (dry run)\n",
		cmdutil.DryRunServer: "shop/web: the Application exists; its adoption would go on.\n  not written (server dry run)\n",
	} {
		kube := kubefake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", Annotations: map[string]string{v1.AnnotationAdoptableBy: "uid"},
			Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: "web"},
		}})
		fairlead := fake.NewClientset(&v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"}, Spec: v1.ApplicationSpec{AdoptionPolicy: v1.AdoptionConsented}})
		var out bytes.Buffer
		tool := toolWith(*clientcmdapi.NewConfig(), "shop")
		tool.Out, tool.getenv = &out, func(string) string { return "" }
		a := adopting{tool: tool, clients: &cluster.Clients{Kube: kube, Fairlead: fairlead}, namespace: "shop", name: "web", existing: true, editing: editing{tool: tool, dryRun: dryRun}}
		if err := a.run(t.Context()); err != nil || out.String() != want {
			t.Errorf("it says %q, %v; want %q", out.String(), err, want)
		}
		for _, action := range append(kube.Actions(), fairlead.Actions()...) {
			if verb := action.GetVerb(); verb != "get" && verb != "list" {
				t.Errorf("it wrote: %s %s", verb, action.GetResource().Resource)
			}
		}
	}
}

// TestAdoptedAlready: after the adoption, the command says so, writes nothing, and does not wait for the controller. An adoption that holds the
// pods is not complete.
func TestAdoptedAlready(t *testing.T) {
	const adopted = "shop/web: the Application has adopted the Deployment already.\n"
	for _, test := range []struct {
		dryRun cmdutil.DryRunStrategy
		status metav1.ConditionStatus
		reason string
		want   string
	}{
		{cmdutil.DryRunNone, metav1.ConditionTrue, v1.ReasonAdopted, adopted},
		{cmdutil.DryRunClient, metav1.ConditionTrue, v1.ReasonAdopted, adopted},
		{cmdutil.DryRunClient, metav1.ConditionFalse, v1.ReasonPodsHeld, "shop/web: the Application exists; its adoption would go on.\n  not written (dry run)\n"},
	} {
		application := &v1.Application{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"}, Spec: v1.ApplicationSpec{AdoptionPolicy: v1.AdoptionConsented},
			Status: v1.ApplicationStatus{Conditions: []metav1.Condition{{Type: v1.ConditionAdopted, Status: test.status, Reason: test.reason}}},
		}
		owner := metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
		kube := kubefake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", OwnerReferences: []metav1.OwnerReference{*owner}}})
		fairlead := fake.NewClientset(application)
		var out bytes.Buffer
		tool := toolWith(*clientcmdapi.NewConfig(), "shop")
		tool.Out, tool.getenv = &out, func(string) string { return "" }
		a := adopting{tool: tool, clients: &cluster.Clients{Kube: kube, Fairlead: fairlead}, namespace: "shop", name: "web", editing: editing{tool: tool, dryRun: test.dryRun}}
		if err := a.run(t.Context()); err != nil || out.String() != test.want {
			t.Errorf("%s: it says %q, %v; want %q", test.reason, out.String(), err, test.want)
		}
		for _, action := range append(kube.Actions(), fairlead.Actions()...) {
			if verb := action.GetVerb(); verb != "get" && verb != "list" {
				t.Errorf("it wrote: %s %s", verb, action.GetResource().Resource)
			}
		}
	}
}

// TestHeldAdvice: an adoption by hand saved nothing that --abort could restore, and a Deployment may have no pods to replace. The digest on
// the Deployment counts for a user without permission to read Secrets.
func TestHeldAdvice(t *testing.T) {
	const (
		again = "kubectl fairlead -n shop adopt web --"
		abort = "  Take it back:     " + again + "abort\n"
		alone = "  Delete the Application alone: kubectl fairlead -n shop eject web\n  Nothing saved what the Deployment was, so --abort cannot take the adoption back.\n"
	)
	forbidden := apierrors.NewForbidden(corev1.Resource("secrets"), "web-before-adoption", nil)
	for name, test := range map[string]struct {
		digest     string
		secret     bool
		unreadable error
		replicas   int32
		want       string
	}{
		"saved":                    {"d", true, nil, 2, "  Replace the pods: " + again + "rollout\n" + abort},
		"by hand":                  {"", false, nil, 2, "  Replace the pods:             " + again + "rollout\n" + alone},
		"saved, then deleted":      {"d", false, nil, 2, "  Replace the pods:             " + again + "rollout\n" + alone},
		"by hand, after another":   {"", true, nil, 2, "  Replace the pods:             " + again + "rollout\n" + alone},
		"saved, unreadable":        {"d", true, forbidden, 2, "  Replace the pods: " + again + "rollout\n" + abort},
		"by hand, and unreadable":  {"", false, forbidden, 2, "  Replace the pods:             " + again + "rollout\n" + alone},
		"saved, and without pods":  {"d", true, nil, 0, "  Release the rollout: " + again + "rollout\n  Take it back:        " + again + "abort\n"},
		"by hand and without pods": {"", false, nil, 0, "  Release the rollout:          " + again + "rollout\n" + alone},
	} {
		application := &v1.Application{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"},
			Spec:       v1.ApplicationSpec{AdoptionPolicy: v1.AdoptionConsented, ReconcilePolicy: v1.ReconcileEnforce, Paused: new(true)},
			Status:     v1.ApplicationStatus{Conditions: []metav1.Condition{{Type: v1.ConditionAdopted, Reason: v1.ReasonPodsHeld, Message: "Held."}}},
		}
		deployment := pods(test.replicas, 0)
		owner := metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
		deployment.ObjectMeta = metav1.ObjectMeta{Namespace: "shop", Name: "web", OwnerReferences: []metav1.OwnerReference{*owner}, Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy}}
		if test.digest != "" {
			deployment.Annotations = map[string]string{adopt.AnnotationBackup: test.digest}
		}
		objects := []runtime.Object{deployment}
		if test.secret {
			objects = append(objects, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-before-adoption"}})
		}
		kube := kubefake.NewClientset(objects...)
		if test.unreadable != nil {
			kube.PrependReactor("get", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, test.unreadable })
		}
		var out bytes.Buffer
		tool := toolWith(*clientcmdapi.NewConfig(), "shop")
		tool.Out, tool.getenv = &out, func(string) string { return "" }
		a := adopting{tool: tool, clients: &cluster.Clients{Kube: kube, Fairlead: fake.NewClientset(application)}, namespace: "shop", name: "web", deployment: &appsv1.Deployment{}}
		if err := a.enforce(t.Context(), application); err != nil || out.String() != "  Held.\n"+test.want {
			t.Errorf("%s: %v, %s\nwant %s", name, err, out.String(), test.want)
		}
	}
}

// TestRolloutThatWaits: a Secret that the pods need is missing, so the release of the rollout replaces no pod yet.
func TestRolloutThatWaits(t *testing.T) {
	for reason, want := range map[string]string{
		v1.ReasonConfigMissing: "shop/web: all 2 pods will be replaced.\n  That waits: Secret db does not exist.\n  not written (dry run)\n",
		v1.ReasonPaused:        "shop/web: all 2 pods will be replaced.\n  not written (dry run)\n",
	} {
		application := &v1.Application{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"},
			Spec:       v1.ApplicationSpec{AdoptionPolicy: v1.AdoptionConsented, Paused: new(true)},
			Status: v1.ApplicationStatus{Conditions: []metav1.Condition{
				{Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: v1.ReasonPodsHeld},
				{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: "Secret db does not exist."},
			}},
		}
		deployment := pods(2, 0)
		owner := metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
		deployment.ObjectMeta = metav1.ObjectMeta{Namespace: "shop", Name: "web", OwnerReferences: []metav1.OwnerReference{*owner}}
		var out bytes.Buffer
		tool := toolWith(*clientcmdapi.NewConfig(), "shop")
		tool.Out, tool.ErrOut, tool.getenv = &out, io.Discard, func(string) string { return "" }
		clients := &cluster.Clients{Kube: kubefake.NewClientset(deployment), Fairlead: fake.NewClientset(application)}
		a := adopting{tool: tool, clients: clients, namespace: "shop", name: "web", editing: editing{tool: tool, dryRun: cmdutil.DryRunClient}}
		if err := a.rollOut(t.Context()); err != nil || out.String() != want {
			t.Errorf("%s: it says %q, %v; want %q", reason, out.String(), err, want)
		}
	}
}

// TestRolloutOfNothing: there may be no Deployment to adopt either, such as under a misspelt name.
func TestRolloutOfNothing(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	for name, want := range map[string]string{
		"web":  "there is nothing to roll out: namespace shop has no Application web. Adopt the Deployment first: run kubectl fairlead -n shop adopt web",
		"wbe":  "deployments.apps \"wbe\" not found in namespace shop\nDid you mean web?",
		"nope": "deployments.apps \"nope\" not found in namespace shop",
	} {
		clients := &cluster.Clients{Kube: kubefake.NewClientset(deployment), Fairlead: fake.NewClientset()}
		a := adopting{tool: toolWith(*clientcmdapi.NewConfig(), "shop"), clients: clients, namespace: "shop", name: name}
		if err := a.rollOut(t.Context()); err == nil || explain(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if err := a.abort(t.Context()); name != "web" && (err == nil || explain(err) != want) {
			t.Errorf("%s --abort: %v, want %s", name, err, want)
		}
	}
}

// TestOwnedAlready: the Application created its Deployment, and a Service of another client is in the way. The adoption of that is by hand. No run
// waits for the controller, which waits for the consent.
func TestOwnedAlready(t *testing.T) {
	const (
		owned    = "the Deployment belongs to the Application web already"
		by       = owned + ", but the Service web does not. To let the Application adopt it by hand, "
		consent  = by + "set spec.adoptionPolicy to Consented: kubectl fairlead -n shop why web then says how to consent on the Service"
		annotate = by + "consent on the Service: kubectl fairlead -n shop why web says how"
	)
	service := func(annotations map[string]string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: annotations}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}}
	}
	http := []v1.ApplicationPort{{Name: "http"}}
	for name, test := range map[string]struct {
		service *corev1.Service
		ports   []v1.ApplicationPort
		policy  v1.AdoptionPolicy
		want    string
	}{
		"no Service":                          {nil, http, "", owned},
		"a Service, unused":                   {service(nil), nil, "", owned},
		"a Service of a chart":                {service(map[string]string{"meta.helm.sh/release-name": "web"}), http, "", owned},
		"a Service in the way":                {service(nil), http, "", consent},
		"a Service in the way, and Consented": {service(nil), http, v1.AdoptionConsented, annotate},
	} {
		for _, existing := range []bool{false, true} {
			application := &v1.Application{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"}, Spec: v1.ApplicationSpec{Ports: test.ports, AdoptionPolicy: test.policy},
				Status: v1.ApplicationStatus{Conditions: []metav1.Condition{{Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: v1.ReasonAwaitingConsent}}},
			}
			owner := metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
			objects := []runtime.Object{&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", OwnerReferences: []metav1.OwnerReference{*owner}}}}
			if test.service != nil {
				objects = append(objects, test.service)
			}
			var out bytes.Buffer
			tool := toolWith(*clientcmdapi.NewConfig(), "shop")
			tool.Out, tool.getenv = &out, func(string) string { return "" }
			a := adopting{
				tool: tool, clients: &cluster.Clients{Kube: kubefake.NewClientset(objects...), Fairlead: fake.NewClientset(application)},
				namespace: "shop", name: "web", existing: existing, editing: editing{tool: tool, dryRun: cmdutil.DryRunClient},
			}
			if err := a.run(t.Context()); err == nil || err.Error() != test.want || out.Len() > 0 {
				t.Errorf("%s: %v and %q, want %s", name, err, out.String(), test.want)
			}
		}
	}
}

// TestBackupInTheWay: a user learns at once why the Application would be refused too, and does not delete the backup in vain.
func TestBackupInTheWay(t *testing.T) {
	const (
		backup  = "the Secret web-before-adoption has the objects of an earlier adoption. Keep a copy, since without it they cannot be restored; then run kubectl -n shop delete secret web-before-adoption, and this command again"
		refusal = `Application.apps.fairlead.dev "web" is invalid: spec.serviceAccount.name: Forbidden: no`
	)
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "example.com/web:1"}}}
	labels := map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "live"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
	}}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-before-adoption"}, Data: map[string][]byte{"deployment.json": []byte(`{"metadata":{"name":"web","uid":"former"}}`)},
	}
	for _, test := range []struct {
		dryRun  cmdutil.DryRunStrategy
		refused bool
		want    string
	}{
		{cmdutil.DryRunNone, false, backup},
		{cmdutil.DryRunNone, true, "nothing was written, for 2 reasons:\n- " + backup + "\n- " + refusal},
		{cmdutil.DryRunServer, true, "nothing was written, for 2 reasons:\n- " + backup + "\n- " + refusal},
		{cmdutil.DryRunClient, true, backup}, // It does not ask the API server.
	} {
		fairlead := fake.NewClientset()
		fairlead.PrependReactor("create", "applications", func(action clienttesting.Action) (bool, runtime.Object, error) {
			if options := action.(clienttesting.CreateActionImpl).CreateOptions; len(options.DryRun) == 0 {
				t.Errorf("a request that is no dry run: %v", options)
			}
			if !test.refused {
				return false, nil, nil
			}
			kind := v1.SchemeGroupVersion.WithKind(v1.ApplicationKind).GroupKind()
			return true, nil, apierrors.NewInvalid(kind, "web", field.ErrorList{field.Forbidden(field.NewPath("spec", "serviceAccount", "name"), "no")})
		})
		a := adopting{
			tool: toolWith(*clientcmdapi.NewConfig(), "shop"), clients: &cluster.Clients{Kube: kubefake.NewClientset(deployment, secret), Fairlead: fairlead},
			namespace: "shop", name: "web", options: adopt.Options{Harden: true}, editing: editing{dryRun: test.dryRun},
		}
		if err := a.run(t.Context()); err == nil || err.Error() != test.want {
			t.Errorf("%v, refused %t: %v, want %s", test.dryRun, test.refused, err, test.want)
		}
	}
}

// TestAcceptedAbove: the Application has come to have an annotation of its own, so each that the pods lose has a path of its own.
func TestAcceptedAbove(t *testing.T) {
	var out bytes.Buffer
	tool := toolWith(*clientcmdapi.NewConfig(), "shop")
	tool.Out, tool.getenv = &out, func(string) string { return "" }
	a := adopting{tool: tool, accept: []string{".metadata.annotations", ".spec.hostNetwork", ".metadata.labels[a]"}}
	a.announceUnneeded([]string{".metadata.annotations[a]", ".metadata.labels[a]", ".spec.hostNetworks"}, "nothing is lost there.")
	const want = "  ! --accept='.metadata.annotations' changes nothing: name each path below it that is lost.\n" +
		"  ! --accept='.spec.hostNetwork' changes nothing: nothing is lost there.\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestIgnoredFlags: what an earlier run decided, and what names nothing, is not ignored silently.
func TestIgnoredFlags(t *testing.T) {
	const (
		goes     = "shop/web: the Application exists; its adoption goes on.\n"
		accepted = "  ! --accept changes nothing, because the Application exists already: this run compares no pods.\n"
	)
	for _, test := range []struct {
		has, class string
		accept     []string
		want       string
	}{
		{"small", "small", nil, goes},
		{"", "small", nil, goes + "  ! --class=small is not applied, because the Application exists already, without a class. To change that, set spec.className in it.\n"},
		{"big", "small", nil, goes + "  ! --class=small is not applied, because the Application exists already, with class big. To change that, set spec.className in it.\n"},
		{"", "", []string{".spec.containers[web].tty"}, goes + accepted},
	} {
		var out bytes.Buffer
		tool := toolWith(*clientcmdapi.NewConfig(), "shop")
		tool.Out, tool.getenv = &out, func(string) string { return "" }
		a := adopting{tool: tool, namespace: "shop", name: "web", deployment: &appsv1.Deployment{}, accept: test.accept, options: adopt.Options{Class: test.class}}
		application := &v1.Application{Spec: v1.ApplicationSpec{ClassName: test.has}}
		a.announceExisting(application)
		if out.String() != test.want {
			t.Errorf("it says %q, want %q", out.String(), test.want)
		}
	}
}

// TestRefusedByController: what only the controller knows is no reason to wait for it.
func TestRefusedByController(t *testing.T) {
	const refuses = "the controller refuses the Application, and nothing is adopted: No. Take it back with --abort"
	for reason, want := range map[string]string{
		v1.ReasonInvalid: refuses, v1.ReasonClassRequired: refuses + ". " + nameClass, v1.ReasonClassNotFound: "", v1.ReasonPaused: "",
	} {
		err := refusedByController(&metav1.Condition{Reason: reason, Message: "No"})
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", reason, err, want)
		}
	}
}

// TestPausedByOthers: what another client has in its manifest, it sets again.
func TestPausedByOthers(t *testing.T) {
	for manager, want := range map[string]bool{"kubectl-client-side-apply": true, "argocd-controller": true, fieldManager: false} {
		application := &v1.Application{}
		application.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "kubectl-edit", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:image":{}}}`)},
			{Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:paused":{}}}`)},
		}
		if got := pausedByOthers(application); got != want {
			t.Errorf("%s: %t, want %t", manager, got, want)
		}
	}
}
