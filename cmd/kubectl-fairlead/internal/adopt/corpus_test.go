// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	podsecurity "k8s.io/pod-security-admission/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt/corpus"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestCorpus adopts every shape as far as that goes without a cluster, and holds the result against the table.
func TestCorpus(t *testing.T) {
	table, err := corpus.Read()
	if err != nil {
		t.Fatal(err)
	}
	differ, adopted := plan.NewDiffer(scheme.Scheme), 0
	for _, c := range table.Cases {
		t.Run(c.Name, func(t *testing.T) {
			lost, err := outcome(differ, c)
			switch {
			case c.Result == corpus.Refused:
				if err == nil || len(c.At) != 1 || !strings.Contains(err.Error(), c.At[0]+": ") {
					t.Errorf("the error is %v; want one about %v", err, c.At)
				}
				return
			case err != nil:
				t.Errorf("it is refused: %v", err)
			case !slices.Equal(lost, c.At) || (c.Result == corpus.Adopted) != (len(c.At) == 0):
				t.Errorf("the result is %s at %q; the pods lose %q", c.Result, c.At, lost)
			}
			adopted++
		})
	}
	const most, enough = 100, 70
	if len(table.Cases) < most || adopted < enough {
		t.Errorf("%d of %d shapes can be adopted, want %d of %d or more", adopted, len(table.Cases), enough, most)
	}
}

// TestRefusal changes one thing about a shape that can be adopted, to what the controller refuses.
func TestRefusal(t *testing.T) {
	for want, change := range map[string]func(*appsv1.Deployment, *corev1.Service){
		"Service boutique-ads cannot be adopted because of spec.clusterIP: ": func(_ *appsv1.Deployment, service *corev1.Service) { service.Spec.ClusterIP = corev1.ClusterIPNone },
		"Service boutique-ads cannot be adopted because of spec.selector: ":  func(_ *appsv1.Deployment, service *corev1.Service) { service.Spec.Selector = nil },
		"Deployment boutique-ads cannot be adopted because of spec.selector.matchExpressions: ": func(deployment *appsv1.Deployment, _ *corev1.Service) {
			deployment.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpExists}}
		},
		"Deployment boutique-ads cannot be adopted because of metadata.ownerReferences: ": func(deployment *appsv1.Deployment, _ *corev1.Service) {
			deployment.OwnerReferences = []metav1.OwnerReference{{Kind: "Rollout", Name: "ads"}}
		},
		"": func(deployment *appsv1.Deployment, _ *corev1.Service) { deployment.Status.Replicas = 2 }, // A rollout is in progress: wait.
	} {
		table, err := corpus.Read()
		if err != nil {
			t.Fatal(err)
		}
		c := table.Cases[slices.IndexFunc(table.Cases, func(c *corpus.Case) bool { return c.Name == "boutique-ads" })]
		change(c.Deployment, c.Service)
		_, err = outcome(plan.NewDiffer(scheme.Scheme), c)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// outcome returns what the pods lose, or why the shape is refused.
func outcome(differ plan.Differ, c *corpus.Case) (lost []string, err error) {
	restricted := c.Platform == podsecurity.LevelRestricted
	options := adopt.Options{Container: c.Container, Harden: restricted, Scaled: slices.ContainsFunc(c.Beside, isAutoscaler)}
	deployment := plain(c.Deployment)
	draft, err := adopt.Draft(deployment, c.Service, options)
	if err != nil {
		return nil, err
	}
	platform := preview.Platform{Validation: validation.Options{SecurityProfile: c.Platform, ForeignServiceAccounts: true}}
	rendering, err := preview.Render(draft, child.Snapshot{Application: draft}, platform, time.Time{})
	if err != nil {
		return nil, err
	}
	if len(rendering.Invalid) > 0 {
		return nil, rendering.Invalid.ToAggregate()
	}
	if err := adopt.Refusal(differ, rendering.Application, rendering.Children, deployment, c.Service); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rendering.Children, func(desired child.Desired) bool { return desired.Kind == child.Deployment })
	if at < 0 {
		return nil, errors.New("no Deployment is rendered")
	}
	next := &appsv1.Deployment{}
	if err := adopt.Convert(rendering.Children[at].Configuration, next); err != nil {
		return nil, err
	}
	container, err := adopt.Container(deployment, options)
	if err != nil {
		return nil, err
	}
	differences, err := adopt.Compare(deployment, container, &next.Spec.Template)
	if err != nil {
		return nil, err
	}
	for _, change := range differences.Lost {
		lost = append(lost, change.Path)
	}
	return lost, nil
}

func isAutoscaler(object corpus.Object) bool {
	_, is := object.(*autoscalingv2.HorizontalPodAutoscaler)
	return is
}

// plain leaves out what the API server would fill in with the same value, into the template of the Application too.
func plain(deployment *appsv1.Deployment) *appsv1.Deployment {
	deployment = deployment.DeepCopy()
	pod := &deployment.Spec.Template.Spec
	pod.DeprecatedServiceAccount = ""
	if pod.DNSPolicy == corev1.DNSClusterFirst {
		pod.DNSPolicy = ""
	}
	if pod.RestartPolicy == corev1.RestartPolicyAlways {
		pod.RestartPolicy = ""
	}
	if pod.SchedulerName == corev1.DefaultSchedulerName {
		pod.SchedulerName = ""
	}
	for i := range pod.Containers { // Another policy is replaced by the default one: a change, which is announced.
		pod.Containers[i].TerminationMessagePath, pod.Containers[i].TerminationMessagePolicy = "", ""
	}
	return deployment
}
