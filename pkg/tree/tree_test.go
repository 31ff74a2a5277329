// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestBuild wants the nodes that are not healthy, by their path, in each case of treetest.
func TestBuild(t *testing.T) {
	for name, want := range map[string][]string{
		"healthy":    nil,
		"autoscaler": {"Application/storefront HorizontalPodAutoscaler/storefront: Degraded FailedGetResourceMetric"},
		"image": {
			"Application/web: Degraded ImagePullFailed",
			"Application/web Deployment/web: Degraded ProgressDeadlineExceeded",
			"Application/web Deployment/web ReplicaSet/web-b678fc7cd: Progressing PodsNotReady",
			"Application/web Deployment/web ReplicaSet/web-b678fc7cd Pod: Degraded ImagePullBackOff",
			"Application/web Service/web: Degraded NoEndpoints",
			"Application/web Service/web EndpointSlice: Progressing NotReady",
		},
		"conflict": {
			"Application/web: Degraded Conflict",
			"Application/web Service/web: Degraded Conflict",
			"Application/web Ingress/web: Progressing Pending",
		},
		"missing": {
			"Application/web: Progressing ConfigMissing",
			"Application/web ControllerRevision: Progressing Pending",
			"Application/web Deployment/web: Progressing Pending",
		},
		"policy": {
			"Application/web: Degraded PolicyDenied",
			"Application/web Deployment/web: Degraded Failed",
		},
		"paused": {
			"Application/web: Progressing Paused",
			"Application/web Deployment/web: Suspended Paused",
		},
		"observe": {
			"Application/web ControllerRevision: Degraded Drifted",
			"Application/web Deployment/web: Degraded Drifted",
		},
		"deleting": {
			"Application/web: Progressing Deleting",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, _ := treetest.Load(t, name)
			if diff := cmp.Diff(want, unhealthy(tree.Build(objects), "")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// unhealthy returns a line for each different node that is not healthy.
func unhealthy(node *tree.Node, above string) []string {
	ref := node.Ref()
	if node.Kind == "Pod" || node.Kind == "EndpointSlice" || node.Kind == "ControllerRevision" {
		ref = node.Kind // Their names have hashes.
	}
	path := strings.TrimSpace(above + " " + ref)
	var lines []string
	if node.Health != tree.Healthy {
		lines = append(lines, path+": "+string(node.Health)+" "+node.Reason)
	}
	for _, below := range node.Children {
		for _, line := range unhealthy(below, path) {
			if len(lines) == 0 || lines[len(lines)-1] != line {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// TestForeignObjects wants nothing of another owner in the tree: neither the ReplicaSets of a foreign Deployment, nor
// ReplicaSets with the label that another Deployment controls.
func TestForeignObjects(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	for _, live := range objects.Children {
		if deployment, ok := live.(*appsv1.Deployment); ok {
			deployment.OwnerReferences[0].UID = "another"
		}
	}
	for _, node := range tree.Build(objects).All() {
		if node.Kind == "ReplicaSet" || node.Kind == "Pod" {
			t.Errorf("%s is in the tree, although the Deployment belongs to another owner", node.Ref())
		}
	}
	objects, _ = treetest.Load(t, "healthy")
	for _, r := range objects.ReplicaSets {
		r.OwnerReferences[0].UID = "another"
	}
	for _, node := range tree.Build(objects).All() {
		if node.Kind == "ReplicaSet" {
			t.Errorf("%s is in the tree, although another Deployment controls it", node.Ref())
		}
	}
}

// TestImage: the image at the root is the one that runs, if an earlier revision runs instead of the spec.
func TestImage(t *testing.T) {
	ask := func(a *v1.Application) { a.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))} }
	pin := func(a *v1.Application) { ask(a); a.Status.Revision = &v1.RevisionStatus{Current: 1} }
	missing := func(a *v1.Application) { ask(a); a.Status.Revision = &v1.RevisionStatus{Current: 2} }
	rollBack := func(a *v1.Application) {
		meta.SetStatusCondition(&a.Status.Conditions, metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionTrue, Reason: v1.ReasonImagePullFailed})
	}
	for name, test := range map[string]struct {
		change  func(*v1.Application)
		running string
		want    string
	}{
		"in a rollout":          {func(*v1.Application) {}, "web:1", "web:2"},
		"pinned":                {pin, "web:1", "web:1 (pinned to revision 1)"},
		"pinned to none":        {missing, "web:1", "web:1 (revision 1 is asked for)"},
		"pinned, and not known": {pin, "", "(pinned to revision 1)"},
		"rolled back":           {rollBack, "web:1", "web:1 (after a rollback)"},
	} {
		objects, _ := treetest.Load(t, "healthy")
		objects.Application.Spec.Image, objects.Application.Status.Image = "web:2", test.running
		test.change(objects.Application)
		if got := tree.Build(objects).Info; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestDriftedForeign: under Observe, status takes for missing what the controller does not see, and the tree knows better.
func TestDriftedForeign(t *testing.T) {
	const (
		missing = "It is missing, or not the Application's."
		foreign = "It exists, and is not the Application's."
		adopted = "It would be adopted."
	)
	for _, test := range []struct {
		name   string
		change func(*tree.Objects, *appsv1.Deployment, *v1.ResourceStatus)
		want   string
	}{
		{"another's", func(_ *tree.Objects, live *appsv1.Deployment, _ *v1.ResourceStatus) {
			live.OwnerReferences, live.Labels = nil, nil
		}, foreign},
		{"to be adopted", func(_ *tree.Objects, live *appsv1.Deployment, status *v1.ResourceStatus) {
			live.OwnerReferences, status.Message = nil, adopted
		}, adopted},
		{"the Application's", func(_ *tree.Objects, live *appsv1.Deployment, _ *v1.ResourceStatus) { live.Labels = nil }, missing},
		{"released", func(_ *tree.Objects, live *appsv1.Deployment, status *v1.ResourceStatus) {
			live.OwnerReferences, live.Labels, status.UID = nil, nil, live.UID
		}, missing},
		{"absent", func(objects *tree.Objects, _ *appsv1.Deployment, _ *v1.ResourceStatus) { objects.Children = nil }, missing},
	} {
		objects, _ := treetest.Load(t, "healthy")
		resources := objects.Application.Status.Resources
		status := &resources[slices.IndexFunc(resources, func(resource v1.ResourceStatus) bool { return resource.Kind == child.Deployment.Kind })]
		status.State, status.UID, status.Message = v1.ResourceDrifted, "", missing
		for _, live := range objects.Children {
			if deployment, ok := live.(*appsv1.Deployment); ok {
				deployment.Annotations = nil
				test.change(&objects, deployment, status)
			}
		}
		for _, node := range tree.Build(objects).All() {
			if node.Kind == child.Deployment.Kind && node.Message != test.want {
				t.Errorf("%s: %q, want %q", test.name, node.Message, test.want)
			}
		}
	}
}

// TestAbsent wants a child that status lists, and that does not exist, as Missing.
func TestAbsent(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	objects.Children, objects.ReplicaSets, objects.Pods = nil, nil, nil
	root := tree.Build(objects)
	if len(root.Children) != len(objects.Application.Status.Resources) {
		t.Errorf("%d children, want the %d of status", len(root.Children), len(objects.Application.Status.Resources))
	}
	for _, node := range root.Children {
		if node.Health != tree.Missing {
			t.Errorf("%s is %s, want Missing", node.Ref(), node.Health)
		}
	}
}

// TestNotObserved wants the reason why a change of a large Application takes its time.
func TestNotObserved(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	objects.Application.Generation++
	const message = "The controller has not observed this generation yet."
	if got := tree.Build(objects).Message; got != message {
		t.Errorf("%q, want %q", got, message)
	}
	objects.Application.Spec.Config = &v1.Config{MountPath: "/etc/web", Data: map[string]string{"a": strings.Repeat("x", v1.LargeCost)}}
	if got, want := tree.Build(objects).Message, message+" The Application is large, and large Applications of a namespace take turns, seconds apart."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEmptyEndpointSlice: an empty EndpointSlice is not healthy below a Service without endpoints, unless no pod is asked for.
func TestEmptyEndpointSlice(t *testing.T) {
	for _, test := range []struct {
		name    string
		desired int32
		full    bool
		want    string
		without bool // a Deployment
	}{
		{"no endpoint", 2, false, "Progressing NoEndpoints: No pod that the Service selects has an IP address yet. (no endpoints)", false},
		{"scaled to zero", 0, false, "Healthy : (0/0 endpoints ready)", false},
		{"another one has endpoints", 2, true, "Healthy : (0/0 endpoints ready)", false},
		{"no Deployment", 0, false, "Progressing NoEndpoints: No pod that the Service selects has an IP address yet. (no endpoints)", true},
	} {
		objects, _ := treetest.Load(t, "healthy")
		objects.Application.Status.DesiredReplicas = test.desired
		if test.without {
			objects.Children = slices.DeleteFunc(objects.Children, func(object child.Object) bool { _, is := object.(*appsv1.Deployment); return is })
		}
		empty := objects.EndpointSlices[0].DeepCopy()
		empty.Name, empty.Endpoints = "empty", nil
		if !test.full {
			objects.EndpointSlices = nil
		}
		objects.EndpointSlices = append(objects.EndpointSlices, empty)
		got := ""
		for _, node := range tree.Build(objects).All() {
			if node.Name == "empty" {
				got = strings.TrimSpace(string(node.Health)+" "+node.Reason+": "+node.Message) + " (" + node.Info + ")"
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestUnservedPort: ready pods that lack a port of the Service get no request at it.
func TestUnservedPort(t *testing.T) {
	const (
		message  = `port "http" of the Service leads to no pod: no container of them has that port`
		degraded = "Degraded PortUnserved: " + message
	)
	for name, test := range map[string]struct {
		change         func(*tree.Objects, *corev1.Service, *discoveryv1.EndpointSlice)
		service, slice string
	}{
		"served":  {func(*tree.Objects, *corev1.Service, *discoveryv1.EndpointSlice) {}, "Healthy :", "Healthy :"},
		"renamed": {func(_ *tree.Objects, _ *corev1.Service, slice *discoveryv1.EndpointSlice) { slice.Ports = nil }, degraded, degraded},
		"other pods have it": {func(objects *tree.Objects, _ *corev1.Service, slice *discoveryv1.EndpointSlice) {
			objects.EndpointSlices, slice.Ports = append(objects.EndpointSlices, slice.DeepCopy()), nil
			objects.EndpointSlices[1].Name = "other"
		}, "Healthy :", "Healthy :"},
		"by number": {func(_ *tree.Objects, service *corev1.Service, slice *discoveryv1.EndpointSlice) {
			service.Spec.Ports[0].TargetPort, slice.Ports = intstr.FromInt32(8080), nil
		}, "Healthy :", "Healthy :"},
		"headless without ports": {func(_ *tree.Objects, service *corev1.Service, slice *discoveryv1.EndpointSlice) {
			service.Spec.Ports, slice.Ports = nil, nil
		}, "Healthy :", "Healthy :"},
		"no pod is ready": {func(_ *tree.Objects, _ *corev1.Service, slice *discoveryv1.EndpointSlice) {
			slice.Ports = nil
			for i := range slice.Endpoints {
				slice.Endpoints[i].Conditions.Ready = new(false)
			}
		}, "Degraded NoEndpoints: No pod serves it: requests fail.", "Progressing NotReady:"},
	} {
		objects, _ := treetest.Load(t, "healthy")
		i := slices.IndexFunc(objects.Children, func(object child.Object) bool { _, is := object.(*corev1.Service); return is })
		slice := objects.EndpointSlices[0]
		test.change(&objects, objects.Children[i].(*corev1.Service), slice)
		for _, node := range tree.Build(objects).All() {
			got := strings.TrimSpace(string(node.Health) + " " + node.Reason + ": " + node.Message)
			if node.Kind == child.Service.Kind && got != test.service || node.Name == slice.Name && got != test.slice {
				t.Errorf("%s: %s is %q, want the Service %q, the EndpointSlice %q", name, node.Ref(), got, test.service, test.slice)
			}
		}
	}
}

// TestUnnamedPort: a Service may have one port without a name.
func TestUnnamedPort(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	i := slices.IndexFunc(objects.Children, func(object child.Object) bool { _, is := object.(*corev1.Service); return is })
	objects.Children[i].(*corev1.Service).Spec.Ports = []corev1.ServicePort{{Port: 80}}
	for _, node := range tree.Build(objects).All() {
		if node.Kind == child.Service.Kind && node.Info != "80" {
			t.Errorf("the Service is shown with %q, want its number", node.Info)
		}
	}
}

// TestSanitized wants no control character of a component's message in the tree: a terminal would obey it.
func TestSanitized(t *testing.T) {
	objects, _ := treetest.Load(t, "image")
	for _, pod := range objects.Pods {
		pod.Status.ContainerStatuses[0].State.Waiting.Message = "gone\x1b]0;owned\a\nnow"
	}
	found := false
	for _, node := range tree.Build(objects).All() {
		found = found || strings.Contains(node.Message, "gone")
		if strings.ContainsAny(node.Message, "\x1b\a\n") {
			t.Errorf("%s: %q", node.Ref(), node.Message)
		}
	}
	if !found {
		t.Error("the message is not in the tree")
	}
}

// TestRestarts counts those of the containers of a pod.
func TestRestarts(t *testing.T) {
	for restarts, want := range map[int32]string{0: "0/1 ready", 1: "0/1 ready, 1 restart", 2: "0/1 ready, 2 restarts"} {
		objects, _ := treetest.Load(t, "image")
		for _, pod := range objects.Pods {
			pod.Status.ContainerStatuses[0].RestartCount, pod.Spec.NodeName = restarts, ""
		}
		var got []string
		for _, node := range tree.Build(objects).All() {
			if node.Kind == "Pod" {
				got = append(got, node.Info)
			}
		}
		if len(got) == 0 || got[0] != want {
			t.Errorf("%d: %q, want %q", restarts, got, want)
		}
	}
}

// TestPodsUnavailable: a pod that fails after a rollout begins none. A former ReplicaSet whose pods are not ready is not healthy either.
func TestPodsUnavailable(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	for _, live := range objects.Children {
		if deployment, ok := live.(*appsv1.Deployment); ok {
			deployment.Status.AvailableReplicas, deployment.Status.ReadyReplicas = 2, 2
		}
	}
	former := objects.ReplicaSets[0].DeepCopy()
	former.Name, former.UID, former.Annotations[child.RevisionAnnotation] = "former", "former", "0"
	former.Spec.Replicas, former.Status.ReadyReplicas = new(int32(1)), 0
	objects.ReplicaSets = append(objects.ReplicaSets, former)
	for _, node := range tree.Build(objects).All() {
		switch {
		case node.Kind == child.Deployment.Kind && (node.Reason != v1.ReasonPodsUnavailable || node.Message != "2 of 3 pods are available."):
			t.Errorf("the Deployment is %s, %q", node.Reason, node.Message)
		case node.Name == "former" && (node.Reason != "PodsNotReady" || node.Info != "0/1 ready, former revision"):
			t.Errorf("the former ReplicaSet is %s, %q", node.Reason, node.Info)
		}
	}
}

// TestUncreatedReplicaSet: the Deployment controller has observed the change, and failed.
func TestUncreatedReplicaSet(t *testing.T) {
	const message = `Failed to create new replica set "web-3": replicasets.apps "web-3" is forbidden: exceeded quota: sets`
	objects, _ := treetest.Load(t, "healthy")
	for _, live := range objects.Children {
		if deployment, ok := live.(*appsv1.Deployment); ok {
			deployment.Generation = deployment.Status.ObservedGeneration + 1
			deployment.Status.Conditions = []appsv1.DeploymentCondition{{
				Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ReplicaSetCreateError", Message: message,
			}}
		}
	}
	for _, node := range tree.Build(objects).All() {
		if node.Kind == child.Deployment.Kind && (node.Health != tree.Degraded || node.Message != message) {
			t.Errorf("the Deployment is %s, %q", node.Health, node.Message)
		}
	}
}
