// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/doctor"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree"
)

var now = time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)

func definition(name string) apiextensionsv1.CustomResourceDefinition {
	d := apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name + ".apps.fairlead.dev"}}
	d.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	return d
}

// newCA makes a CA once, which takes a second. It is valid at the time of the test.
var newCA = sync.OnceValues(func() ([]byte, error) {
	ca, _, err := cert.GenerateSelfSignedCertKey("fairlead-webhook", nil, nil)
	return ca, err
})

// healthy is an installation with nothing wrong.
func healthy(t *testing.T) doctor.Installation {
	t.Helper()
	ca, err := newCA()
	if err != nil {
		t.Fatal(err)
	}
	webhook := admissionregistrationv1.ValidatingWebhook{Name: "validate.applications.apps.fairlead.dev", ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: ca, Service: &admissionregistrationv1.ServiceReference{Name: "fairlead-webhook"}}}
	deployment := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(2))}, Status: appsv1.DeploymentStatus{Replicas: 2, AvailableReplicas: 2}}
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Image: "fairlead-controller:v1"}}
	return doctor.Installation{
		Namespace: "fairlead-system", Server: "v1.37.1",
		Definitions: []apiextensionsv1.CustomResourceDefinition{definition("applications"), definition("applicationclasses")},
		Deployment:  deployment,
		Lease:       &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: new("pod-1"), LeaseDurationSeconds: new(int32(15)), RenewTime: new(metav1.NewMicroTime(now.Add(-2 * time.Second)))}},
		Webhooks:    []admissionregistrationv1.ValidatingWebhook{webhook},
		Endpoints:   []discoveryv1.EndpointSlice{{Endpoints: []discoveryv1.Endpoint{{}, {}}}},
		Applications: []v1.Application{
			{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 1}, Status: v1.ApplicationStatus{ObservedGeneration: 1}},
		},
	}
}

// TestExamine breaks one thing after the other, and wants exactly that check to say so.
func TestExamine(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(*doctor.Installation)
		check  string
		health tree.Health
	}{
		"nothing":       {damage: func(*doctor.Installation) {}},
		"CRD missing":   {func(in *doctor.Installation) { in.Definitions = in.Definitions[1:] }, doctor.Definitions, tree.Missing},
		"CRD refused":   {func(in *doctor.Installation) { in.Definitions[0].Status.Conditions = nil }, doctor.Definitions, tree.Missing},
		"no Deployment": {func(in *doctor.Installation) { in.Deployment = nil }, doctor.Controller, tree.Unknown},
		"no replica":    {func(in *doctor.Installation) { in.Deployment.Status.AvailableReplicas = 0 }, doctor.Controller, tree.Degraded},
		"no leader":     {func(in *doctor.Installation) { in.Lease = nil }, doctor.Leader, tree.Unknown},
		"leader silent": {func(in *doctor.Installation) {
			in.Lease.Spec.RenewTime = new(metav1.NewMicroTime(now.Add(-time.Minute)))
		}, doctor.Leader, tree.Degraded},
		"leader ended, and others may follow": {func(in *doctor.Installation) { in.Lease.Spec.HolderIdentity = nil }, doctor.Leader, tree.Unknown},
		"webhooks off":                        {func(in *doctor.Installation) { in.Endpoints = nil }, doctor.Webhooks, tree.Degraded},
		"webhooks hang": {func(in *doctor.Installation) {
			in.Probe = apierrors.NewInternalError(errors.New("failed calling webhook \"validate.applications.apps.fairlead.dev\": connection refused"))
		}, doctor.Webhooks, tree.Degraded},
		"a webhook of others hangs": {func(in *doctor.Installation) {
			in.Probe = apierrors.NewInternalError(errors.New("failed calling webhook \"policy.example.com\": connection refused"))
		}, doctor.Webhooks, tree.Unknown},
		"webhooks refuse the probe": {damage: func(in *doctor.Installation) {
			in.Probe = apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind("Application").GroupKind(), "probe", nil)
		}},
		"no probe allowed": {func(in *doctor.Installation) {
			in.Probe = apierrors.NewForbidden(v1.Resource("applications"), "probe", nil)
		}, doctor.Webhooks, tree.Unknown},
		"no CA":          {func(in *doctor.Installation) { in.Webhooks[0].ClientConfig.CABundle = nil }, doctor.Certificates, tree.Degraded},
		"never observed": {func(in *doctor.Installation) { in.Applications[0].Status.ObservedGeneration = -1 }, doctor.Lag, tree.Degraded},
		"not permitted":  {func(in *doctor.Installation) { in.Denied = []string{"list pods"} }, doctor.Permissions, tree.Progressing},
		"Lease not readable": {func(in *doctor.Installation) {
			in.Lease, in.Unreadable = nil, map[string]error{doctor.Leader: errors.New("leases is forbidden")}
		}, doctor.Leader, tree.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			in := healthy(t)
			test.damage(&in)
			results := doctor.Examine(in, now)
			for _, result := range results {
				want := tree.Healthy
				if result.Check == test.check {
					want = test.health
				}
				if result.Health != want {
					t.Errorf("%s is %s (%s), want %s", result.Check, result.Health, result.Message, want)
				}
			}
			if want := test.health == tree.Degraded || test.health == tree.Missing; doctor.Wrong(results) != want {
				t.Errorf("wrong is %t", !want)
			}
		})
	}
}

// TestController: without pods, the advice is not to look at them.
func TestController(t *testing.T) {
	const quota = `pods "fairlead-controller-5d9c" is forbidden: exceeded quota: system`
	refused := []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: quota}}
	for name, test := range map[string]struct {
		wanted, available int32
		conditions        []appsv1.DeploymentCondition
		health            tree.Health
		message, next     string
	}{
		"available":       {2, 2, nil, tree.Healthy, "2 of 2 replicas available", ""},
		"none available":  {2, 0, nil, tree.Degraded, "0 of 2 replicas available", "Look at its pods: kubectl --namespace fairlead-system get pods"},
		"scaled to 0":     {0, 0, nil, tree.Degraded, "scaled to 0", "Scale it up: kubectl --namespace fairlead-system scale deployment fairlead-controller --replicas=2"},
		"refused":         {2, 0, refused, tree.Degraded, "0 of 2 replicas available, and the API server refuses its pods: " + quota, "Look at its Events: kubectl --namespace fairlead-system describe replicasets"},
		"refused in part": {2, 1, refused, tree.Progressing, "1 of 2 replicas available, and the API server refuses its pods: " + quota, "Look at its Events: kubectl --namespace fairlead-system describe replicasets"},
	} {
		t.Run(name, func(t *testing.T) {
			in := healthy(t)
			in.Deployment.Spec.Replicas, in.Deployment.Status = &test.wanted, appsv1.DeploymentStatus{Replicas: test.available, AvailableReplicas: test.available, Conditions: test.conditions}
			want := doctor.Result{Check: doctor.Controller, Health: test.health, Message: "fairlead-controller:v1, " + test.message, Next: test.next}
			if got := find(in, doctor.Controller); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// TestPermissions names the namespace that was asked about: without -n it is the one in the kubeconfig, and in another one the answer may differ.
func TestPermissions(t *testing.T) {
	const (
		leaveOut  = "The commands leave out what you may not read."
		edits     = "Edits of Applications are refused: ask the platform team for the role edit in this namespace."
		revisions = "history and undo need controllerrevisions."
	)
	in := healthy(t)
	in.Asked = "dev"
	for _, test := range []struct {
		denied     []string
		want, next string
	}{
		{nil, "you may do what the commands need in namespace dev", ""},
		{[]string{"list pods", "get pods/log"}, "you may not list pods, get pods/log in namespace dev", leaveOut},
		{[]string{"patch applications"}, "you may not patch applications in namespace dev", edits},
		{[]string{"list controllerrevisions"}, "you may not list controllerrevisions in namespace dev", revisions},
		{
			[]string{"patch applications", "list controllerrevisions", "list events"},
			"you may not patch applications, list controllerrevisions, list events in namespace dev", edits + " " + revisions + " " + leaveOut,
		},
	} {
		in.Denied = test.denied
		results := doctor.Examine(in, now)
		i := slices.IndexFunc(results, func(r doctor.Result) bool { return r.Check == doctor.Permissions })
		if got := results[i]; got.Message != test.want || got.Next != test.next {
			t.Errorf("%q, %q, want %q, %q", got.Message, got.Next, test.want, test.next)
		}
	}
}

// TestDefaultClasses names the classes that are meant as the default, and are not.
func TestDefaultClasses(t *testing.T) {
	class := func(name, isDefault string, age time.Duration) *v1.ApplicationClass {
		made := &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(now.Add(-age))}}
		if isDefault != "" {
			made.Annotations = map[string]string{v1.AnnotationDefaultClass: isDefault}
		}
		return made
	}
	const next = "Correct or remove the annotation applicationclass.apps.fairlead.dev/is-default of the class"
	ready := func(made *v1.ApplicationClass, observed int64, status metav1.ConditionStatus, reason, message string) *v1.ApplicationClass {
		made.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Status: status, Reason: reason, Message: message, ObservedGeneration: observed}}
		return made
	}
	const refuses = "Fairlead refuses 2 of 12 Applications of the class, and leaves their children as they are: t/follow (ClassLimitExceeded), t/pin."
	for _, test := range []struct {
		classes []*v1.ApplicationClass
		want    doctor.Result
	}{
		{
			[]*v1.ApplicationClass{
				ready(class("gold", "true", time.Hour), 0, metav1.ConditionTrue, v1.ReasonApplied, ""),
				ready(class("free", "", time.Hour), 0, metav1.ConditionFalse, v1.ReasonRollingOut, "5 of 9 Applications are synced with this generation."),
				ready(class("team", "", time.Hour), 1, metav1.ConditionFalse, v1.ReasonInvalid, "It was."),
			},
			doctor.Result{Check: doctor.Classes, Health: tree.Healthy, Message: "3 ApplicationClasses, default gold"},
		},
		{
			[]*v1.ApplicationClass{
				ready(class("std", "true", time.Hour), 0, metav1.ConditionFalse, v1.ReasonClassLimitExceeded, refuses),
				ready(class("bad", "maybe", time.Hour), 0, metav1.ConditionFalse, v1.ReasonInvalid, "spec.defaults.priorityClassName: Invalid value"),
			},
			doctor.Result{
				Check: doctor.Classes, Health: tree.Progressing,
				Next: next + ". Correct ApplicationClass bad. See which Applications, and why: kubectl fairlead classes std",
				Message: `bad is no default: its annotation is-default is "maybe", and only "true" has an effect; ` +
					"std is not ready: " + strings.TrimSuffix(refuses, ".") + "; bad is not ready: spec.defaults.priorityClassName: Invalid value",
			},
		},
		{nil, doctor.Result{Check: doctor.Classes, Health: tree.Healthy, Message: "0 ApplicationClasses"}},
		{
			[]*v1.ApplicationClass{class("gold", "true", time.Hour), class("free", "false", time.Minute), class("team", "", time.Minute)},
			doctor.Result{Check: doctor.Classes, Health: tree.Healthy, Message: "3 ApplicationClasses, default gold"},
		},
		{
			[]*v1.ApplicationClass{class("gold", "true", time.Hour), class("free", "true", time.Minute), class("team", "maybe", time.Minute)},
			doctor.Result{Check: doctor.Classes, Health: tree.Progressing, Next: next, Message: "gold is the default nowhere: free is marked too, and was created later; " +
				`team is no default: its annotation is-default is "maybe", and only "true" has an effect`},
		},
		{
			[]*v1.ApplicationClass{class("gold", "true", time.Hour), class("free", "true", time.Hour)},
			doctor.Result{
				Check: doctor.Classes, Health: tree.Progressing, Next: next,
				Message: "gold is the default nowhere: free is marked too, and was created in the same second and comes first by name",
			},
		},
	} {
		in := healthy(t)
		in.Classes = test.classes
		if got := find(in, doctor.Classes); got != test.want {
			t.Errorf("%+v, want %+v", got, test.want)
		}
	}
}

// TestWithoutDefinitions: nothing is known of what the cluster does not serve, and nothing is ok about it. A binary alone brings no files.
func TestWithoutDefinitions(t *testing.T) {
	in := healthy(t)
	in.Definitions, in.Applications = nil, nil
	for _, want := range []doctor.Result{
		{Check: doctor.Lag, Health: tree.Unknown, Message: "not known: the cluster serves no Applications"},
		{Check: doctor.Classes, Health: tree.Unknown, Message: "not known: the cluster serves no ApplicationClasses"},
		{
			Check: doctor.Definitions, Health: tree.Missing, Message: "applications.apps.fairlead.dev and applicationclasses.apps.fairlead.dev not established",
			Next: "Run 'make install' in a checkout of Fairlead to install the CRDs",
		},
	} {
		if got := find(in, want.Check); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestCountsApplications: one is counted as one.
func TestCountsApplications(t *testing.T) {
	for n, want := range map[int]string{
		0: "0 Applications, 0 of them with a spec that is not observed yet",
		1: "1 Application, 0 of them with a spec that is not observed yet",
		2: "2 Applications, 0 of them with a spec that is not observed yet",
	} {
		in := healthy(t)
		in.Applications = slices.Repeat(in.Applications, n)
		for _, result := range doctor.Examine(in, now) {
			if result.Check == doctor.Lag && result.Message != want {
				t.Errorf("%q, want %q", result.Message, want)
			}
		}
	}
}

// TestUnreadableWebhooks says nothing about certificates that the user may not see.
func TestUnreadableWebhooks(t *testing.T) {
	in := healthy(t)
	in.Webhooks, in.Unreadable = nil, map[string]error{doctor.Webhooks: errors.New("webhooks are forbidden")}
	for _, result := range doctor.Examine(in, now) {
		if result.Check == doctor.Certificates && (result.Health != tree.Unknown || result.Message != "webhooks are forbidden") {
			t.Errorf("%+v", result)
		}
	}
}

// TestDeletedWebhooks: a controller that serves webhooks accepts every account, and nothing reviews them without the configurations.
func TestDeletedWebhooks(t *testing.T) {
	none := doctor.Result{Check: doctor.Webhooks, Health: tree.Unknown, Message: "none registered: what the CRD cannot check is reported by the sync"}
	unreviewed := doctor.Result{
		Check: doctor.Webhooks, Health: tree.Degraded,
		Message: "the controller serves webhooks, but none are registered: nothing reviews which ServiceAccounts Applications name",
		Next: "List the accounts that they name now: kubectl get applications.apps.fairlead.dev --all-namespaces " +
			"-o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,ACCOUNT:.spec.serviceAccount.name. " +
			"Then bring the webhooks back: run 'make deploy' in a checkout of Fairlead, or 'helm upgrade'.",
	}
	for _, test := range []struct {
		args []string
		want doctor.Result
	}{
		{nil, none},
		{[]string{"--leader-elect", "--webhook-bind-address="}, none},
		{[]string{"--leader-elect", "--webhook-bind-address=:9443"}, unreviewed},
		{[]string{"--webhook-bind-address", ":9443"}, unreviewed},
	} {
		in := healthy(t)
		in.Webhooks = nil
		in.Deployment.Spec.Template.Spec.Containers[0].Args = test.args
		if got := find(in, doctor.Webhooks); got != test.want {
			t.Errorf("%q: %+v, want %+v", test.args, got, test.want)
		}
		in.Deployment = nil // It runs elsewhere, or the user may not read it.
		if got := find(in, doctor.Webhooks); got != none {
			t.Errorf("without a Deployment: %+v, want %+v", got, none)
		}
	}
}

// TestLeftOverWebhooks: a controller outside of the cluster was killed, and its webhooks are still registered.
func TestLeftOverWebhooks(t *testing.T) {
	in := healthy(t)
	in.Endpoints, in.ByURL = nil, []string{"fairlead-out-of-cluster"}
	in.Webhooks[0].ClientConfig.Service, in.Webhooks[0].ClientConfig.URL = nil, new("https://127.0.0.1:1/validate/applications")
	find := func() doctor.Result {
		results := doctor.Examine(in, now)
		return results[slices.IndexFunc(results, func(r doctor.Result) bool { return r.Check == doctor.Webhooks })]
	}
	if got := find(); got.Health != tree.Healthy || got.Message != "1 registered by URL; they answer" {
		t.Errorf("%+v", got)
	}
	const refused = `failed calling webhook "validate.applications.apps.fairlead.dev": connection refused`
	in.Probe = apierrors.NewInternalError(errors.New(refused))
	want := doctor.Result{
		Check: doctor.Webhooks, Health: tree.Degraded,
		Message: "1 registered by URL, but they do not answer, so writes of Applications fail: Internal error occurred: " + refused,
		Next:    "Start the controller on that machine again, or delete what it left: kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration fairlead-out-of-cluster",
	}
	if got := find(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestReleasedLease: a controller that ended a moment ago has renewed its Lease a moment ago, too.
func TestReleasedLease(t *testing.T) {
	in := healthy(t)
	in.Deployment, in.Lease.Spec.HolderIdentity = nil, new("") // It runs outside of the cluster.
	want := doctor.Result{
		Check: doctor.Leader, Health: tree.Degraded,
		Message: "the last leader released the Lease fairlead-controller in namespace fairlead-system 2s ago, and no replica holds it",
		Next:    "A controller without --leader-elect needs none. Otherwise no controller runs, and no Application is synced: start it, or look at its log.",
	}
	if results := doctor.Examine(in, now); !slices.Contains(results, want) {
		t.Errorf("%+v, want %+v", results, want)
	}
}

func TestPrint(t *testing.T) {
	golden.Screens(t, "doctor", func(to *screen.Screen) {
		doctor.Print(to, []doctor.Result{
			{Check: doctor.Definitions, Health: tree.Healthy, Message: "established, on v1.37.1"},
			{Check: doctor.Leader, Health: tree.Degraded, Message: "pod-1 renewed the Lease 1m0s ago, which is longer than it lasts", Next: "No replica works: look at the controller's log."},
			{Check: doctor.Webhooks, Health: tree.Unknown, Message: "none registered: what the CRD cannot check is reported by the sync"},
		})
	})
}
