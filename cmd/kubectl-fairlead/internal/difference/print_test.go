// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/preview"
)

func TestPrint(t *testing.T) {
	image := preview.Change{Path: ".spec.template.spec.containers[web].image", Before: "example.com/web:1", After: "example.com/web:2"}
	probe := preview.Change{Path: ".spec.template.spec.containers[web].readinessProbe", After: map[string]any{"httpGet": map[string]any{"path": "/ready", "port": "http"}}}
	replicas := preview.Change{Path: ".spec.replicas", Before: 2.0, After: 4.0}
	for name, d := range map[string]preview.Difference{
		"nothing":    {},
		"pinned":     {Pods: preview.Pods{Live: 2, Pinned: 3}},
		"stopped":    {Pods: preview.Pods{Live: 2, Stopped: v1.ReconcileSuspend}},
		"unfinished": {Pods: preview.Pods{Live: 3, Stopped: v1.ReconcileSuspend, Unfinished: 2}},
		"specs": {
			Children: []preview.Child{{Kind: "Deployment", Name: "web", Action: preview.Update, Changes: []preview.Change{image}}},
			Pods:     preview.Pods{Live: 2, Stopped: v1.ReconcileObserve},
		},
		"scale": {
			Children: []preview.Child{{Kind: "Deployment", Name: "web", Action: preview.Update, Changes: []preview.Change{replicas}}},
			Pods:     preview.Pods{Live: 2, Before: new(int32(2)), After: new(int32(4))},
		},
		"rollout": {
			Children: []preview.Child{
				{Kind: "ControllerRevision", Name: "web-1234567890", Action: preview.Create},
				{Kind: "Deployment", Name: "web", Action: preview.Update, Changes: []preview.Change{replicas, image, probe}},
				{Kind: "Service", Name: "web", Action: preview.Blocked, Reason: "an object of this name exists and does not belong to the Application"},
				{Kind: "Ingress", Name: "web", Action: preview.Delete},
			},
			Pods: preview.Pods{Replaced: true, Live: 6, Because: []preview.Change{image, probe}, Paused: true, Strategy: appsv1.RecreateDeploymentStrategyType},
		},
	} {
		t.Run(name, func(t *testing.T) {
			golden.Screens(t, name, func(to *screen.Screen) { difference.Print(to, "shop/web", d, "", "") })
		})
	}
}

// A sentence says whether pods are replaced, and why an object is not adopted.
func TestSentence(t *testing.T) {
	image := []preview.Change{{Path: ".spec.template.spec.containers[web].image", Before: "example.com/web:2", After: "example.com/web:1"}}
	const annotations = ".spec.template.metadata.annotations"
	content := []preview.Change{
		{Path: annotations + "[apps.fairlead.dev/configmaps-hash]", Before: "1", After: "2"}, {Path: annotations + "[apps.fairlead.dev/secrets-hash]", Before: "1", After: "2"},
	}
	restarted := []preview.Change{{Path: ".spec.template.metadata.labels[team]", After: "shop"}, {Path: annotations + "[kubectl.kubernetes.io/restartedAt]", After: "now"}}
	for want, d := range map[string]preview.Difference{
		"All 2 pods are replaced, because of the changed content of ConfigMap a or b, the changed content of Secret c.": {
			Pods: preview.Pods{Live: 2, Replaced: true, Because: content, Contents: []string{"ConfigMap a", "ConfigMap b", "Secret c"}},
		},
		"1 pod is replaced, because of containers[web].image, the pod label team, the pod annotation kubectl.kubernetes.io/restartedAt.": {
			Pods: preview.Pods{Live: 1, Replaced: true, Because: slices.Concat(image, restarted)},
		},
		"1 pod is replaced, because of containers[web].image. The strategy may leave no pod ready meanwhile, so that requests fail.": {
			Pods: preview.Pods{Live: 1, Replaced: true, Because: image, Outage: true},
		},
		"All 2 pods are replaced, because a paused rollout goes on.": {Pods: preview.Pods{Live: 2, Held: 2}},
		"All 2 pods are replaced, because of containers[web].image: a paused rollout goes on.": {
			Pods: preview.Pods{Live: 2, Held: 2, Because: image},
		},
		"1 of 2 pods is replaced, because a paused rollout goes on.":  {Pods: preview.Pods{Live: 2, Held: 1}},
		"2 of 4 pods are replaced, because a paused rollout goes on.": {Pods: preview.Pods{Live: 4, Held: 2}},
		"3 pods are started, because a paused rollout goes on.":       {Pods: preview.Pods{Started: 3, Replaced: true, Because: image, Before: new(int32(3)), After: new(int32(3))}},
		"1 pod is started, because a paused rollout goes on.":         {Pods: preview.Pods{Started: 1}},
		"No pod is replaced.": {Pods: preview.Pods{Live: 2}},
		"What becomes of the pods is not known, because you may not list deployments. The rest compares with what the stored spec asks for.": {
			Pods: preview.Pods{LiveUnknown: true, Unlisted: true, Replaced: true, Because: image},
		},
		"No pod changes, because the Deployment does not belong to the Application. Deployment web exists.": {
			Children: []preview.Child{{Kind: "Deployment", Name: "web", Action: preview.Blocked, Reason: "Deployment web exists"}},
			Pods:     preview.Pods{Live: 4, Before: new(int32(4)), After: new(int32(2))},
		},
		"1 of 3 pods is replaced, because of containers[web].image. The others stay, because they are of that revision already.": {
			Pods: preview.Pods{Live: 3, Replaced: true, Kept: 2, Because: image},
		},
		"1 pod is stopped, and none is started: the others are of that revision already.": {
			Pods: preview.Pods{Live: 4, Replaced: true, Kept: 3, Because: image, Before: new(int32(3)), After: new(int32(3))},
		},
		"2 pods are stopped, and none is started: the others are of that revision already.": {
			Pods: preview.Pods{Live: 5, Replaced: true, Kept: 3, Because: image, After: new(int32(3))},
		},
		"3 pods are stopped, and none is started: the others are of that revision already.": {
			Pods: preview.Pods{Live: 5, Replaced: true, Kept: 3, Because: image, Before: new(int32(2)), After: new(int32(2))},
		},
		"2 pods are stopped, and none is started: the other one is of that revision already. The desired number of pods goes from 2 to 1.": {
			Pods: preview.Pods{Live: 3, Replaced: true, Kept: 2, Because: image, Before: new(int32(2)), After: new(int32(1))},
		},
		"4 pods are stopped, and none is started: the others are of that revision already.": {
			Pods: preview.Pods{Live: 7, Replaced: true, Kept: 3, Because: image, Asked: new(int32(3))},
		},
		"1 pod is stopped, and none is started: the others are of that revision already. Kubernetes does that while rollouts are paused too, once the others are available.": {
			Pods: preview.Pods{Live: 3, Replaced: true, Kept: 2, Because: image, Before: new(int32(2)), After: new(int32(2)), Paused: true},
		},
		"2 pods are stopped, and none is started: the other one is of that revision already. Kubernetes does that while rollouts are paused too, once the other one is available.": {
			Pods: preview.Pods{Live: 3, Replaced: true, Kept: 1, Because: image, Asked: new(int32(1)), Paused: true},
		},
		"2 of 4 pods are replaced, because of containers[web].image. The others stay, because they are of that revision already. It waits while rollouts are paused.": {
			Pods: preview.Pods{Live: 4, Replaced: true, Kept: 2, Because: image, Before: new(int32(3)), After: new(int32(3)), Paused: true},
		},
		"The pods of the failed revision are replaced, because of containers[web].image. No pod starts while rollouts are paused.": {
			Pods: preview.Pods{Live: 3, Replaced: true, Kept: -1, Because: image, Before: new(int32(2)), After: new(int32(2)), Paused: true},
		},
		"2 of 4 pods are replaced, because of containers[web].image. The others stay, because they are of that revision already.": {
			Pods: preview.Pods{Live: 4, Replaced: true, Kept: 2, Because: image, Before: new(int32(3)), After: new(int32(3))},
		},
		"The pods of the failed revision are replaced, because of containers[web].image.": {
			Pods: preview.Pods{Live: 3, Replaced: true, Kept: -1, Because: image},
		},
		"All 2 pods are replaced, because of containers[web].image. The desired number of pods goes from 2 to 5.": {
			Pods: preview.Pods{Live: 2, Replaced: true, Because: image, Before: new(int32(2)), After: new(int32(5))},
		},
		"No pod is replaced; the desired number of pods goes from 3 to 0.": {Pods: preview.Pods{Live: 3, Replaced: true, Because: image, Before: new(int32(3)), After: new(int32(0))}},
		"No pod is replaced; the desired number of pods stays 0, and is left to the autoscaler or to you.": {
			Pods: preview.Pods{Before: new(int32(0)), Asked: new(int32(0))},
		},
		"No pod is replaced; the desired number of pods stays 2, and is left to the autoscaler.": {
			Pods: preview.Pods{Before: new(int32(2)), Asked: new(int32(2)), Autoscaled: true},
		},
		"No pod is replaced; the number of pods is left to the autoscaler.": {
			Children: []preview.Child{{Kind: "HorizontalPodAutoscaler", Name: "web", Action: preview.Create}}, Pods: preview.Pods{Before: new(int32(7)), Asked: new(int32(3))},
		},
		"No pod is replaced, because none is asked for.": {Pods: preview.Pods{Replaced: true, Because: image, Before: new(int32(0)), After: new(int32(0))}},
		"No pod is replaced, because none is asked for. The pods stay at revision 2 until you remove spec.rollback.toRevision.": {
			Pods: preview.Pods{Replaced: true, Because: image, Asked: new(int32(0)), Pinned: 2},
		},
		"All pods are replaced, because of containers[web].image.": {Pods: preview.Pods{LiveUnknown: true, Replaced: true, Because: image, Before: new(int32(3)), After: new(int32(3))}},
		"All 2 pods are replaced, because of containers[web].image. It waits while rollouts are paused. ConfigMap web-config changes at once, and running pods see its new files within about a minute.": {
			Children: []preview.Child{{Kind: "ConfigMap", Name: "web-config", Action: preview.Update}}, Pods: preview.Pods{Live: 2, Replaced: true, Because: image, Paused: true},
		},
		"All 2 pods are replaced, because of containers[web].image. It waits while rollouts are paused.": {
			Children: []preview.Child{{Kind: "ConfigMap", Name: "web-config", Action: preview.Create}}, Pods: preview.Pods{Live: 2, Replaced: true, Because: image, Paused: true},
		},
		"No pod is replaced, because all of them are of that revision already.": {
			Pods: preview.Pods{Live: 2, Replaced: true, Kept: 2, Because: image},
		},
		"Until it is resumed, no child changes and no pod is replaced (reconcilePolicy: Observe).": {
			Pods: preview.Pods{Live: 2, Replaced: true, Because: image, Stopped: v1.ReconcileObserve},
		},
		"Until it is resumed, no child changes, and Fairlead replaces no pod (reconcilePolicy: Observe). The rollout that has begun goes on: Kubernetes replaces the other 2 pods, as new ones become ready.": {
			Pods: preview.Pods{Live: 3, Replaced: true, Because: image, Stopped: v1.ReconcileObserve, Unfinished: 2},
		},
		"No pod is replaced. The pods stay at revision 3 until you remove spec.rollback.toRevision.": {Pods: preview.Pods{Live: 2, Pinned: 3}},
		"No pod changes, because the Deployment does not belong to the Application. Deployment web cannot be adopted because of spec.paused: set it.": {
			Children: []preview.Child{{Kind: "Deployment", Name: "web", Action: preview.Blocked, Reason: "Deployment web cannot be adopted because of spec.paused: set it"}},
		},
	} {
		if got := difference.Sentence(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWithoutDeployment says when pods start. There are none to replace.
func TestWithoutDeployment(t *testing.T) {
	const none = "The Deployment does not exist, so no pod is replaced. "
	for want, pods := range map[string]preview.Pods{
		"2 pods start once it can be written.":                    {Before: new(int32(2)), After: new(int32(2))},
		"1 pod starts once it can be written.":                    {Before: new(int32(2)), After: new(int32(1))},
		"2 pods start once it can be written and rollouts go on.": {After: new(int32(2)), Paused: true},
		"Its pods start once it can be written.":                  {},
		"None is asked for.":                                      {Before: new(int32(2)), After: new(int32(0)), Paused: true},
		"Its pods start once it can be written. The pods stay at revision 3 until you remove spec.rollback.toRevision.": {Pinned: 3},
	} {
		if got := difference.WithoutDeployment(preview.Difference{Pods: pods}, ""); got != none+want {
			t.Errorf("%q, want %q", got, none+want)
		}
	}
}

// TestEditedFirst names what the user edited before what waits, and each field in the same spelling.
func TestEditedFirst(t *testing.T) {
	const template = ".spec.template.spec."
	waiting := []preview.Change{
		{Path: template + `containers[name="web"].env`}, {Path: template + `containers[name="web"].ports[containerPort=80,protocol="TCP"]`},
		{Path: template + `containers[name="web"].volumeMounts[mountPath="/a"]`}, {Path: template + `containers[name="web"].image`},
	}
	edited := []preview.Change{{Path: template + "containers[web].image"}}
	d := preview.Difference{Pods: preview.Pods{Live: 2, Replaced: true, Because: difference.EditedFirst(waiting, edited)}}
	const want = "All 2 pods are replaced, because of containers[web].image, containers[web].env, containers[web].ports[80], 1 more."
	if got := difference.Sentence(d); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for path, want := range map[string]string{
		`.spec.ports[port=80,protocol="TCP"].name`: `.spec.ports[80].name: added "dns"`,
		`.spec.ports[port=53,protocol="UDP"].name`: `.spec.ports[53/UDP].name: added "dns"`, // Another port has that number for TCP.
	} {
		if got := difference.Describe(preview.Change{Path: path, After: "dns"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDeferred: the number of pods changes at once, whatever the new pods wait for.
func TestDeferred(t *testing.T) {
	image := []preview.Change{{Path: ".spec.template.spec.containers[web].image"}}
	const missing = "Secret db does not exist; running pods stay as they are, and new ones that need it wait."
	for want, pods := range map[string]preview.Pods{
		"All 4 pods are replaced, because of containers[web].image. That waits: " + missing:                                                           {Live: 4, Replaced: true, Because: image},
		"All 4 pods are replaced, because of containers[web].image. That waits: " + missing + " The desired number of pods goes from 4 to 5 at once.": {Live: 4, Replaced: true, Because: image, Before: new(int32(4)), After: new(int32(5))},
		"No pod is replaced; the desired number of pods goes from 4 to 0.":                                                                            {Live: 4, Replaced: true, Because: image, Before: new(int32(4)), After: new(int32(0))},
		"Until it is resumed, no child changes and no pod is replaced (reconcilePolicy: Observe).":                                                    {Live: 4, Stopped: v1.ReconcileObserve, Before: new(int32(4)), After: new(int32(5))},
		"No pod is replaced, because there is none yet. That waits: " + missing:                                                                       {Replaced: true, Because: image, Asked: new(int32(2))},
		"No pod is replaced; the desired number of pods goes from 4 to 5. " + missing:                                                                 {Live: 4, Before: new(int32(4)), After: new(int32(5))},
		"No pod is replaced; the desired number of pods goes from 4 to 3.":                                                                            {Live: 4, Before: new(int32(4)), After: new(int32(3))},
		"No pod is replaced, because there is none, and none starts while rollouts are paused. That waits: " + missing:                                {Replaced: true, Because: image, Asked: new(int32(2)), Paused: true},
	} {
		if got := difference.Deferred(preview.Difference{Pods: pods}, missing); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestGoesOnWaiting: an edit that changes no pod template does not have the effect of an earlier one that waits.
func TestGoesOnWaiting(t *testing.T) {
	image := []preview.Change{{Path: ".spec.template.spec.containers[web].image"}}
	const (
		missing = "Secret db does not exist; running pods stay as they are, and new ones that need it wait."
		earlier = " The earlier change of the pods (containers[web].image) goes on waiting"
		foreign = "Fairlead leaves the object alone: ServiceAccount web exists"
	)
	withheld := []preview.Child{{Kind: "ServiceAccount", Name: "web", Action: preview.Blocked, Reason: foreign}}
	for want, test := range map[string]struct {
		missing string
		d       preview.Difference
	}{
		"No pod is replaced." + earlier + ": " + missing: {missing, preview.Difference{Pods: preview.Pods{Live: 2, Paused: true}}},
		"No pod is replaced; the desired number of pods goes from 2 to 1." + earlier + ": " + missing: {
			missing, preview.Difference{Pods: preview.Pods{Live: 2, Before: new(int32(2)), After: new(int32(1))}},
		},
		"No pod is replaced; the desired number of pods goes from 2 to 0.": {missing, preview.Difference{Pods: preview.Pods{Live: 2, Before: new(int32(2)), After: new(int32(0))}}},
		"No pod changes." + earlier + ". " + foreign + ".": {
			"", preview.Difference{Pods: preview.Pods{Live: 2, Before: new(int32(2)), After: new(int32(0))}, Children: withheld},
		},
	} {
		test.d.Pods.Replaced, test.d.Pods.Because = true, image
		if got := difference.GoesOnWaiting(test.d, test.missing); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestJoinBlocked: a Conflict about several children is one sentence.
func TestJoinBlocked(t *testing.T) {
	blocked := func(kind string) preview.Child {
		return preview.Child{Kind: kind, Name: "web", Action: preview.Blocked, Reason: "Fairlead leaves the object alone: " + kind + " web exists"}
	}
	const noPod = "No pod changes, because the Deployment does not belong to the Application. "
	for want, children := range map[string][]preview.Child{
		noPod + "Fairlead leaves the object alone: Deployment web exists.": {blocked("Deployment"), {Kind: "Ingress", Name: "web", Action: preview.Create}},
		noPod + "Fairlead leaves 3 objects alone, because they are not the Application's: ServiceAccount web, Deployment web, Service web ('kubectl fairlead why web' says what to do).": {
			{Kind: "ConfigMap", Name: "web-config", Action: preview.Create}, blocked("ServiceAccount"), blocked("Deployment"), blocked("Service"),
		},
	} {
		before := slices.Clone(children)
		if got := difference.Sentence(difference.JoinBlocked(preview.Difference{Children: children}, "kubectl fairlead why web")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if diff := cmp.Diff(before, children); diff != "" {
			t.Errorf("it changed the children that it got: %s", diff)
		}
	}
}

// TestTakesBack: nothing that the change leaves undone waits for the end of the pause.
func TestTakesBack(t *testing.T) {
	for name, test := range map[string]struct {
		pods preview.Pods
		want bool
	}{
		"all pods have the template":             {preview.Pods{Live: 2, Kept: 2}, true},
		"enough pods have it, the rest stop":     {preview.Pods{Live: 3, Kept: 2, After: new(int32(2))}, true},
		"a pod must start":                       {preview.Pods{Live: 4, Kept: 2, After: new(int32(3))}, false},
		"no pods are asked for":                  {preview.Pods{Live: 1, Asked: new(int32(0))}, false},
		"it is not known":                        {preview.Pods{Live: 3, Kept: -1, After: new(int32(2))}, false},
		"another template":                       {preview.Pods{Live: 3, After: new(int32(2))}, false},
		"another revision stays until it is not": {preview.Pods{Live: 3, Kept: 2, After: new(int32(2)), Pinned: 1}, false},
	} {
		test.pods.Replaced, test.pods.Paused = true, true
		if got := difference.TakesBack(preview.Difference{Pods: test.pods}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestDescribeWhole: a user who accepts a script reads all of it, as it is.
func TestDescribeWhole(t *testing.T) {
	script := strings.Repeat("true && ", 50) + "curl http://example.com/ | sh"
	if got, want := difference.DescribeWhole(preview.Change{Path: ".spec.args", After: script}), ".spec.args: added \""+script+"\""; got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}

// TestPrintRefused: what waits for another Application to give a route up is not promised.
func TestPrintRefused(t *testing.T) {
	image := preview.Change{Path: ".spec.template.spec.containers[web].image", Before: "web:1", After: "web:2"}
	d := preview.Difference{
		Children: []preview.Child{{Kind: "Deployment", Name: "web", Action: preview.Update, Changes: []preview.Change{image}}},
		Pods:     preview.Pods{Live: 2, Replaced: true, Because: []preview.Change{image}},
	}
	golden.Screens(t, "refused", func(to *screen.Screen) {
		difference.Print(to, "shop/web", d, "", `spec.routes[0].hostnames[0]: "a.example.com" belongs to Application shop/first`)
		difference.Print(to, "shop/api", preview.Difference{}, "", `spec.routes[0].hostnames[0]: "a.example.com" belongs to Application shop/first`)
	})
}
