// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	podsecurity "k8s.io/pod-security-admission/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

var differ = plan.NewDiffer(scheme.Scheme)

func platform(classes ...*v1.ApplicationClass) preview.Platform {
	return preview.Platform{
		Rules:      class.Rules{Classes: classes, Namespace: class.Namespace{Name: "default"}},
		Validation: validation.Options{SecurityProfile: podsecurity.LevelRestricted},
		Facts:      render.Facts{RouteControllerNamespaces: []string{"ingress-nginx", "traefik"}, MonitoringNamespaces: []string{"monitoring"}},
	}
}

func rendered(t *testing.T, application *v1.Application, live child.Snapshot, p preview.Platform) preview.Rendering {
	t.Helper()
	rendering, err := preview.Render(application, live, p, treetest.Now)
	if err != nil {
		t.Fatal(err)
	}
	if len(rendering.Invalid) > 0 {
		t.Fatalf("%s: %v", rendering.Reason, rendering.Invalid)
	}
	return rendering
}

// TestAsController wants what the preview renders to be what the controller wrote, in each case in which it could.
func TestAsController(t *testing.T) {
	for _, name := range []string{"healthy", "autoscaler", "image", "crash", "paused", "quota"} {
		t.Run(name, func(t *testing.T) {
			objects, _ := treetest.Load(t, name)
			live := objects.Snapshot()
			for _, desired := range rendered(t, objects.Application, live, platform()).Children {
				difference, err := differ.Compare(desired, live.Children[desired.Ref])
				if err != nil {
					t.Fatal(err)
				}
				if len(difference.Fields) > 0 {
					t.Errorf("%s differs from the live one in %q", desired.Ref, difference.Fields)
				}
			}
		})
	}
}

// TestCompare wants what becomes of the pods, and which children change.
func TestCompare(t *testing.T) {
	for name, test := range map[string]struct {
		edit     func(*v1.ApplicationSpec)
		replaced bool
		because  []string
		children []string
	}{
		"nothing": {edit: func(*v1.ApplicationSpec) {}},
		"image": {
			edit:     func(spec *v1.ApplicationSpec) { spec.Image = "example.com/web:2" },
			replaced: true, because: []string{".spec.template.spec.containers[cart].image"},
			children: []string{"Create ControllerRevision", "Update Deployment"},
		},
		"a removed variable": {
			edit:     func(spec *v1.ApplicationSpec) { spec.Env = spec.Env[1:] },
			replaced: true, because: []string{".spec.template.spec.containers[cart].env"},
			children: []string{"Update Deployment"}, // Back to the revision that runs.
		},
		"number of pods": {
			edit:     func(spec *v1.ApplicationSpec) { spec.Replicas = new(int32(5)) },
			children: []string{"Update Deployment"},
		},
		"pause": {
			edit:     func(spec *v1.ApplicationSpec) { spec.Paused = new(true) },
			children: []string{"Update Deployment"},
		},
		"no route": {
			edit:     func(spec *v1.ApplicationSpec) { spec.Routes = nil },
			children: []string{"Update NetworkPolicy", "Delete Ingress"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, _ := treetest.Load(t, "healthy")
			live := objects.Snapshot()
			edited := objects.Application.DeepCopy()
			edited.Spec.Env = append([]corev1.EnvVar{{Name: "PODINFO_UI_MESSAGE", Value: "x"}}, edited.Spec.Env...)
			before := rendered(t, edited, live, platform())
			edited = edited.DeepCopy()
			test.edit(&edited.Spec)
			difference, err := preview.Compare(differ, before, rendered(t, edited, live, platform()), live)
			if err != nil {
				t.Fatal(err)
			}
			if difference.Pods.Replaced != test.replaced || difference.Pods.Live != 3 {
				t.Errorf("replaced %t of %d pods, want %t of 3", difference.Pods.Replaced, difference.Pods.Live, test.replaced)
			}
			var because, children []string
			for _, change := range difference.Pods.Because {
				because = append(because, change.Path)
			}
			for _, c := range difference.Children {
				children = append(children, string(c.Action)+" "+c.Kind)
			}
			if diff := cmp.Diff(test.because, because); diff != "" {
				t.Errorf("because -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(test.children, children); diff != "" {
				t.Errorf("children -want +got:\n%s", diff)
			}
			if difference.Empty() != (len(test.children) == 0) {
				t.Errorf("empty is %t", difference.Empty())
			}
		})
	}
}

// TestCompareWithLive compares with the live children where there is nothing else: the Application does not exist yet.
func TestCompareWithLive(t *testing.T) {
	objects, _ := treetest.Load(t, "conflict")
	application := objects.Application.DeepCopy()
	application.UID, application.Status = "new", v1.ApplicationStatus{}
	live := objects.Snapshot()
	difference, err := preview.Compare(differ, preview.Rendering{}, rendered(t, application, live, platform()), live)
	if err != nil {
		t.Fatal(err)
	}
	blocked := 0
	for _, c := range difference.Children {
		if c.Action == preview.Blocked {
			blocked++
		}
	}
	if blocked == 0 || difference.Pods.Replaced {
		t.Errorf("%+v", difference)
	}
}

// TestClass takes the defaults of the class, and its refusal.
func TestClass(t *testing.T) {
	objects, _ := treetest.Load(t, "image")
	standard := &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: "standard"}}
	standard.Spec.Defaults = &v1.ApplicationDefaults{Strategy: &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}}
	standard.Spec.Limits = &v1.ApplicationLimits{MaxReplicas: new(int32(1))}
	application := objects.Application.DeepCopy()
	application.Spec.ClassName = "standard"
	rendering, err := preview.Render(application, objects.Snapshot(), platform(standard), treetest.Now)
	if err != nil {
		t.Fatal(err)
	}
	if rendering.Reason != v1.ReasonClassLimitExceeded || len(rendering.Children) > 0 {
		t.Errorf("reason %q with %d children, want %s without", rendering.Reason, len(rendering.Children), v1.ReasonClassLimitExceeded)
	}
	application.Spec.Replicas = new(int32(1))
	after := rendered(t, application, objects.Snapshot(), platform(standard))
	difference, err := preview.Compare(differ, rendered(t, objects.Application, objects.Snapshot(), platform()), after, objects.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	if difference.Pods.Strategy != appsv1.RecreateDeploymentStrategyType || after.Class == nil || after.Class.Name != "standard" {
		t.Errorf("strategy %s, class %+v", difference.Pods.Strategy, after.Class)
	}
}

// TestNewReference names the hash that only the controller can compute, and replaces the pods for it.
func TestNewReference(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	live := objects.Snapshot()
	edited := objects.Application.DeepCopy()
	edited.Spec.EnvFrom = append(edited.Spec.EnvFrom, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "new"}}})
	difference, err := preview.Compare(differ, rendered(t, objects.Application, live, platform()), rendered(t, edited, live, platform()), live)
	if err != nil {
		t.Fatal(err)
	}
	found := slices.ContainsFunc(difference.Pods.Because, func(change preview.Change) bool {
		return change.Path == ".spec.template.metadata.annotations["+v1.AnnotationSecretsHash+"]" && change.After == preview.ComputedHash
	})
	if !found || !difference.Pods.Replaced {
		t.Errorf("%+v", difference.Pods)
	}
}

// TestCompareAdopts says which objects of another owner the Application adopts, and why it does not adopt the others.
func TestCompareAdopts(t *testing.T) {
	consent := func(a *v1.Application, d *appsv1.Deployment) {
		a.Spec.AdoptionPolicy, a.Spec.Paused = v1.AdoptionConsented, new(true)
		d.Annotations[v1.AnnotationAdoptableBy] = string(a.UID)
	}
	for name, test := range map[string]struct {
		edit   func(*v1.Application, *appsv1.Deployment)
		action preview.Action
		reason string
	}{
		"a consent": {consent, preview.Adopt, "a user consented"},
		"not paused": {
			func(a *v1.Application, d *appsv1.Deployment) { consent(a, d); a.Spec.Paused = nil },
			preview.Blocked, "Fairlead leaves the object alone: Deployment cart cannot be adopted because of spec.paused: the adoption would replace the pods at once",
		},
		"no consent": {
			func(a *v1.Application, _ *appsv1.Deployment) { a.Spec.AdoptionPolicy = v1.AdoptionConsented },
			preview.Blocked, "Fairlead leaves the object alone: Deployment cart exists and has no consent to its adoption; annotate it with apps.fairlead.dev/adoptable-by=",
		},
		"a new Application": {
			func(a *v1.Application, _ *appsv1.Deployment) { a.Spec.AdoptionPolicy, a.UID = v1.AdoptionConsented, "" },
			preview.Blocked, "Fairlead leaves the object alone: Deployment cart exists and has no consent to its adoption, with the UID of the Application",
		},
		"never": {
			func(*v1.Application, *appsv1.Deployment) {},
			preview.Blocked, "Fairlead leaves the object alone: Deployment cart exists and does not belong to the Application; let the Application adopt it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			application, deployment, live := foreign(t)
			test.edit(application, deployment)
			difference, err := preview.Compare(differ, preview.Rendering{}, rendered(t, application, live, platform()), live)
			if err != nil {
				t.Fatal(err)
			}
			if difference.Pods.Replaced || difference.Pods.Held != 0 {
				t.Errorf("pods are replaced: %+v", difference.Pods)
			}
			at := slices.IndexFunc(difference.Children, func(c preview.Child) bool { return c.Kind == "Deployment" })
			if at < 0 {
				t.Fatalf("no Deployment in %+v", difference.Children)
			}
			c := difference.Children[at]
			const path = ".spec.paused" // The values are those before and after.
			adopted := slices.ContainsFunc(c.Changes, func(change preview.Change) bool {
				return change.Path == path && change.Before == nil && change.After == true
			})
			if adopted != (test.action == preview.Adopt) || !adopted && len(c.Changes) > 0 {
				t.Errorf("%s changes %+v", c.Action, c.Changes)
			}
			if c.Action != test.action || !strings.HasPrefix(c.Reason, test.reason) {
				t.Errorf("%s: %s\nwant %s: %s", c.Action, c.Reason, test.action, test.reason)
			}
		})
	}
}

// foreign returns a healthy Application whose Deployment belongs to another owner.
func foreign(t *testing.T) (*v1.Application, *appsv1.Deployment, child.Snapshot) {
	t.Helper()
	objects, _ := treetest.Load(t, "healthy")
	live := objects.Snapshot()
	application := objects.Application.DeepCopy()
	application.Spec.DisruptionBudget = &v1.DisruptionBudget{Mode: v1.DisruptionBudgetDisabled}
	deployment := child.Get[*appsv1.Deployment](live, child.Deployment, application.Name).DeepCopy()
	deployment.OwnerReferences, deployment.UID = nil, "foreign"
	delete(deployment.Annotations, v1.AnnotationOwnerUID)
	delete(deployment.Labels, v1.LabelManagedBy)
	live.Children = maps.Clone(live.Children)
	live.Children[child.Ref{Kind: child.Deployment, Namespace: application.Namespace, Name: application.Name}] = deployment
	return application, deployment, live
}

// TestCompareResumes says that the pods which a paused rollout left are replaced.
func TestCompareResumes(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	live := objects.Snapshot()
	paused := objects.Application.DeepCopy()
	paused.Spec.Paused = new(true)
	deployment := child.Get[*appsv1.Deployment](live, child.Deployment, paused.Name)
	deployment.Spec.Paused, deployment.Status.UpdatedReplicas = true, 1
	resumed := paused.DeepCopy()
	resumed.Spec.Paused = nil
	for after, held := range map[*v1.Application]int32{resumed: 2, paused: 0} {
		difference, err := preview.Compare(differ, rendered(t, paused, live, platform()), rendered(t, after, live, platform()), live)
		if err != nil {
			t.Fatal(err)
		}
		if difference.Pods.Held != held || difference.Pods.Replaced {
			t.Errorf("paused %v: %+v, want %d held pods", after.Spec.Paused, difference.Pods, held)
		}
	}
}

// TestCompareStarts: a Deployment that was created while rollouts were paused has no pods, and gets them when they go on.
func TestCompareStarts(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	live := objects.Snapshot()
	paused := objects.Application.DeepCopy()
	paused.Spec.Paused, paused.Spec.Replicas = new(true), new(int32(3))
	deployment := child.Get[*appsv1.Deployment](live, child.Deployment, paused.Name)
	deployment.Spec.Paused, deployment.Spec.Replicas, deployment.Status = true, new(int32(2)), appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation}
	resumed, unset, none := paused.DeepCopy(), paused.DeepCopy(), paused.DeepCopy()
	resumed.Spec.Paused, unset.Spec.Paused, none.Spec.Paused = nil, nil, nil
	unset.Spec.Replicas, *none.Spec.Replicas = nil, 0
	for after, started := range map[*v1.Application]int32{resumed: 3, unset: 2, none: 0, paused: 0} {
		difference, err := preview.Compare(differ, rendered(t, paused, live, platform()), rendered(t, after, live, platform()), live)
		if err != nil {
			t.Fatal(err)
		}
		if difference.Pods.Started != started || difference.Pods.Held != 0 {
			t.Errorf("paused %v, replicas %v: %+v, want %d started pods", after.Spec.Paused, after.Spec.Replicas, difference.Pods, started)
		}
		if asked := difference.Pods.Asked; (asked != nil) != (after == unset) || asked != nil && *asked != 2 {
			t.Errorf("replicas %v: %d pods are asked for, want the Deployment's 2 where the spec has no number", after.Spec.Replicas, asked)
		}
	}
}

// TestCompareKeepsRestart: what the spec says of an earlier restart replaces no pod, whether it is compared with what runs or
// with the spec before, because the controller keeps a later kubectl rollout restart.
func TestCompareKeepsRestart(t *testing.T) {
	const earlier, later, latest = "2026-01-02T03:04:05Z", "2026-01-02T03:04:15Z", "2026-01-02T03:04:25Z"
	restarted := func(at string) *v1.Application {
		objects, _ := treetest.Load(t, "healthy")
		if at != "" {
			objects.Application.Spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: at}}
		}
		return objects.Application
	}
	for name, test := range map[string]struct {
		live, before, after string
		fromSpec, replaced  bool
	}{
		"restarted since":                       {live: later, after: earlier},
		"restarted before":                      {live: earlier, after: later, replaced: true},
		"another spec, restarted since":         {live: later, before: earlier, after: "", fromSpec: true},
		"another spec, and its restart is live": {live: earlier, before: earlier, after: "", fromSpec: true, replaced: true},
		"first restart":                         {after: earlier, replaced: true},
		"another spec, first restart":           {after: earlier, fromSpec: true, replaced: true},
		"restarted again":                       {live: later, before: earlier, after: latest, fromSpec: true, replaced: true},
	} {
		t.Run(name, func(t *testing.T) {
			objects, _ := treetest.Load(t, "healthy")
			live := objects.Snapshot()
			deployment := child.Get[*appsv1.Deployment](live, child.Deployment, objects.Application.Name)
			deployment.Spec.Template.Annotations = nil
			if test.live != "" {
				deployment.Spec.Template.Annotations = map[string]string{v1.AnnotationRestartedAt: test.live}
			}
			var before preview.Rendering
			if test.fromSpec {
				before = rendered(t, restarted(test.before), live, platform())
			}
			difference, err := preview.Compare(differ, before, rendered(t, restarted(test.after), live, platform()), live)
			if err != nil {
				t.Fatal(err)
			}
			if difference.Pods.Replaced != test.replaced {
				t.Errorf("replaced %t because of %v, want %t", difference.Pods.Replaced, difference.Pods.Because, test.replaced)
			}
			const path = ".spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]"
			if because := difference.Pods.Because; test.replaced && (len(because) != 1 || because[0].Path != path) {
				t.Errorf("because of %v, want only %s", because, path)
			}
		})
	}
}
