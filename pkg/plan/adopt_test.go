// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// adopting is the spec of an Application that can adopt the objects of a usual chart.
const adopting = `
adoptionPolicy: Consented
paused: true
replicas: 2
ports: [{name: http, containerPort: 8080, servicePort: 80, servicePortName: web}]
podMetadata: {labels: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: release, tier: front}}
disruptionBudget: {mode: Disabled}
`

const liveDeployment = `
metadata:
  name: web
  namespace: shop
  uid: live-deployment
  resourceVersion: "7"
  generation: 3
  labels: {app.kubernetes.io/managed-by: fairlead, apps.fairlead.dev/application: web, chart: shop-1.2}
  annotations: {apps.fairlead.dev/adoptable-by: application-uid}
spec:
  replicas: 2
  selector: {matchLabels: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: release}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: release, tier: front}}
    spec:
      hostNetwork: true
      volumes: [{name: host, hostPath: {path: /}}]
      containers:
      - {name: shop, image: "shop:1", ports: [{name: http, containerPort: 8080, protocol: TCP}], volumeMounts: [{name: host, mountPath: /host}]}
status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2}
`

const liveService = `
metadata:
  name: web
  namespace: shop
  uid: live-service
  resourceVersion: "8"
  labels: {app.kubernetes.io/managed-by: fairlead, apps.fairlead.dev/application: web}
  annotations: {apps.fairlead.dev/adoptable-by: application-uid}
spec:
  type: ClusterIP
  clusterIP: 10.0.0.1
  sessionAffinity: None
  selector: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: release}
  ports: [{name: web, port: 80, targetPort: 8080, protocol: TCP}]
`

// foreignSnapshot has an Application and what runs already under its name.
func foreignSnapshot(t *testing.T) child.Snapshot {
	t.Helper()
	snapshot := child.Snapshot{Application: application(t, adopting), Children: map[child.Ref]child.Object{}}
	for kind, fields := range map[child.Kind]string{child.Deployment: liveDeployment, child.Service: liveService} {
		object := map[string]any{}
		if err := yaml.Unmarshal([]byte(fields), &object); err != nil {
			t.Fatal(err)
		}
		live, err := typed(kind, object)
		if err != nil {
			t.Fatal(err)
		}
		snapshot.Children[ref(kind)] = live
	}
	return snapshot
}

// Each case changes one thing about objects that could be adopted.
func TestAdoptDeployment(t *testing.T) {
	now := metav1.Now()
	for _, test := range []struct {
		name   string
		change func(app *v1.Application, live *appsv1.Deployment)
		want   plan.Adoption
		reason string
	}{
		{"all is as it must be", func(*v1.Application, *appsv1.Deployment) {}, "", "a user consented to its adoption"},
		{"never, by default", func(app *v1.Application, _ *appsv1.Deployment) { app.Spec.AdoptionPolicy = "" }, "", "does not belong to the Application; let the Application adopt it"},
		{"never", func(app *v1.Application, _ *appsv1.Deployment) { app.Spec.AdoptionPolicy = v1.AdoptionNever }, "", "does not belong to the Application; let the Application adopt it"},
		{"another controller", func(_ *v1.Application, live *appsv1.Deployment) {
			live.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Shop", Name: "front", UID: "shop-uid", Controller: new(true)}}
		}, "", "belongs to Shop front"},
		{"no consent", func(_ *v1.Application, live *appsv1.Deployment) { live.Annotations = nil }, plan.AdoptionAwaitsConsent, "apps.fairlead.dev/adoptable-by=application-uid"},
		{"a consent to another Application", func(_ *v1.Application, live *appsv1.Deployment) {
			live.Annotations[v1.AnnotationAdoptableBy] = "another-uid"
		}, plan.AdoptionAwaitsConsent, "no consent"},
		{"a consent without a UID", func(app *v1.Application, live *appsv1.Deployment) {
			app.UID, live.Annotations[v1.AnnotationAdoptableBy] = "", ""
		}, plan.AdoptionAwaitsConsent, "no consent"},
		{"being deleted", func(_ *v1.Application, live *appsv1.Deployment) { live.DeletionTimestamp = &now }, plan.AdoptionRefused, "metadata.deletionTimestamp"},
		{"an owner that is no controller", func(_ *v1.Application, live *appsv1.Deployment) {
			live.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "c"}}
		}, plan.AdoptionRefused, "metadata.ownerReferences"},
		{"Helm", func(_ *v1.Application, live *appsv1.Deployment) { live.Annotations["meta.helm.sh/release-name"] = "r" }, plan.AdoptionRefused, "metadata.annotations[meta.helm.sh/release-name]"},
		{"Argo CD by annotation", func(_ *v1.Application, live *appsv1.Deployment) {
			live.Annotations["argocd.argoproj.io/tracking-id"] = "a"
		}, plan.AdoptionRefused, "metadata.annotations[argocd.argoproj.io/tracking-id]"},
		{"Argo CD by label", func(_ *v1.Application, live *appsv1.Deployment) { live.Labels["argocd.argoproj.io/instance"] = "a" }, plan.AdoptionRefused, "metadata.labels[argocd.argoproj.io/instance]"},
		{"Flux", func(_ *v1.Application, live *appsv1.Deployment) {
			live.Labels["kustomize.toolkit.fluxcd.io/name"] = "a"
		}, plan.AdoptionRefused, "metadata.labels[kustomize.toolkit.fluxcd.io/name]"},
		{"expressions", func(_ *v1.Application, live *appsv1.Deployment) {
			live.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}
		}, plan.AdoptionRefused, "spec.selector.matchExpressions"},
		{"a selector of labels that the new pods lack", func(_ *v1.Application, live *appsv1.Deployment) {
			live.Spec.Selector.MatchLabels["release"] = "r"
		}, plan.AdoptionRefused, `spec.selector.matchLabels[release]: the new pods need the label too; add release: "r" to spec.podMetadata.labels`},
		{"a selector of labels that the new pods have with another value", func(app *v1.Application, _ *appsv1.Deployment) {
			app.Spec.PodMetadata.Labels["app.kubernetes.io/name"] = "other"
		}, plan.AdoptionRefused, "spec.selector.matchLabels[app.kubernetes.io/name]"},
		{"labels of the pods that others may select by", func(_ *v1.Application, live *appsv1.Deployment) {
			live.Spec.Template.Labels["track"] = "stable"
		}, plan.AdoptionRefused, "spec.template.metadata.labels[track]"},
		{"a label of another Application", func(_ *v1.Application, live *appsv1.Deployment) {
			live.Spec.Template.Labels[v1.LabelApplication] = "victim"
		}, plan.AdoptionRefused, "spec.template.metadata.labels[apps.fairlead.dev/application]"},
		{"a named port that the new pods lack", func(_ *v1.Application, live *appsv1.Deployment) {
			live.Spec.Template.Spec.Containers[0].Ports[0].Name = "www"
		}, plan.AdoptionRefused, "spec.template.spec.containers[shop].ports[www]"},
		{"a named port with another number", func(app *v1.Application, _ *appsv1.Deployment) { app.Spec.Ports[0].ContainerPort = 9090 }, plan.AdoptionRefused, "with containerPort 8080"},
		{"not paused", func(app *v1.Application, _ *appsv1.Deployment) { app.Spec.Paused = nil }, plan.AdoptionRefused, "spec.paused"},
		{"another number of pods", func(app *v1.Application, _ *appsv1.Deployment) { app.Spec.Replicas = new(int32(1)) }, plan.AdoptionRefused, "spec.replicas: the adoption would change the number of pods from 2 to 1"},
		{"the default number of pods", func(_ *v1.Application, live *appsv1.Deployment) { live.Spec.Replicas = nil }, plan.AdoptionRefused, "from 1 to 2"},
		{"a rollout in progress", func(_ *v1.Application, live *appsv1.Deployment) { live.Status.UpdatedReplicas = 1 }, plan.AdoptionHeld, "a rollout is in progress"},
		{"a rollout that has not begun", func(_ *v1.Application, live *appsv1.Deployment) { live.Generation = 4 }, plan.AdoptionHeld, "a rollout is in progress"},
		{"pods that are not available", func(_ *v1.Application, live *appsv1.Deployment) { live.Status.AvailableReplicas = 0 }, "", "a user consented"},
		{"an open number of pods", func(app *v1.Application, _ *appsv1.Deployment) { app.Spec.Replicas = nil }, "", "a user consented"},
		{"pods that read the ConfigMap of the Application", func(app *v1.Application, live *appsv1.Deployment) {
			app.Spec.Config = &v1.Config{MountPath: "/etc/web", Data: map[string]string{"a": "b"}}
			live.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "web-config"}, Optional: new(true)}}}
		}, plan.AdoptionRefused, "spec.config"},
		{"an autoscaler", func(app *v1.Application, _ *appsv1.Deployment) {
			app.Spec.Replicas, app.Spec.Autoscaling = nil, &v1.Autoscaling{MaxReplicas: 5}
		}, plan.AdoptionRefused, "because of spec.autoscaling: the Deployment may have an autoscaler already; remove the field, " +
			"and once the condition Adopted is True, delete any other autoscaler and set the field again"},
		{"a disruption budget", func(app *v1.Application, _ *appsv1.Deployment) { app.Spec.DisruptionBudget = nil }, plan.AdoptionRefused,
			"because of spec.disruptionBudget: the pods may have a budget already; set mode Disabled, and once the condition Adopted is True, delete any other budget and set another mode"},
		{"all at once", func(app *v1.Application, live *appsv1.Deployment) {
			live.Spec.Selector.MatchLabels["release"], live.Spec.Template.Labels["release"] = "r", "r"
			app.Spec.Paused, app.Spec.Replicas = nil, new(int32(1))
		}, plan.AdoptionRefused, `because of spec.selector.matchLabels[release]: the new pods need the label too; add release: "r" to spec.podMetadata.labels; and because of spec.paused: ` +
			`the adoption would replace the pods at once; set it to true in the Application, and to false once they may be replaced; and because of spec.replicas: `},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := foreignSnapshot(t)
			test.change(snapshot.Application, live[*appsv1.Deployment](snapshot, child.Deployment))
			got := step(t, compute(t, snapshot), ref(child.Deployment))
			adopts := strings.HasPrefix(test.reason, "a user consented")
			if (got.Action == plan.Adopt) != adopts || !adopts && got.Action != plan.NotOwned {
				t.Errorf("the action is %s: %s", got.Action, got.Reason)
			}
			if got.Adoption != test.want || !strings.Contains(got.Reason, test.reason) {
				t.Errorf("got %q: %s\nwant %q: … %s …", got.Adoption, got.Reason, test.want, test.reason)
			}
			if adopts && !got.RecheckOwner {
				t.Error("the object would get the ownerReference of an Application that may be deleted")
			}
			if held := test.want == plan.AdoptionHeld; held != (got.RecheckAfter > 0) {
				t.Errorf("it is checked again after %s, although only an adoption that waits for a rollout is", got.RecheckAfter)
			}
		})
	}
}

// While ConfigMaps or Secrets are missing, the new pods could not start.
func TestAdoptWaitsForReferences(t *testing.T) {
	snapshot := foreignSnapshot(t)
	steps := computeFrom(t, plan.Input{Snapshot: snapshot, Missing: "Secret shop/db not found"})
	if got := step(t, steps, ref(child.Deployment)); got.Action != plan.NotOwned || !strings.Contains(got.Reason, "Secret shop/db not found") {
		t.Errorf("got %s: %s", got.Action, got.Reason)
	}
}

// adopted makes the Deployment of the snapshot the Application's, as its adoption and rollout leave it.
func adopted(t *testing.T, snapshot child.Snapshot) *appsv1.Deployment {
	t.Helper()
	was := live[*appsv1.Deployment](snapshot, child.Deployment)
	for _, desired := range rendered(t, snapshot.Application) {
		if desired.Kind == child.Deployment {
			snapshot.Children[desired.Ref] = stored(t, desired)
		}
	}
	is := live[*appsv1.Deployment](snapshot, child.Deployment)
	is.UID, is.Spec.Selector = was.UID, was.Spec.Selector
	is.Status = appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}
	return is
}

// Each case changes one thing about a Service that could be adopted, beside an adopted Deployment.
func TestAdoptService(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(app *v1.Application, deployment *appsv1.Deployment, live *corev1.Service)
		want   plan.Adoption
		reason string
	}{
		{"all is as it must be", func(*v1.Application, *appsv1.Deployment, *corev1.Service) {}, "", "a user consented"},
		{"by the name of the container port", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			live.Spec.Ports[0].TargetPort.Type, live.Spec.Ports[0].TargetPort.StrVal = 1, "http"
		}, "", "a user consented"},
		{"no consent", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) { live.Annotations = nil }, plan.AdoptionAwaitsConsent, "no consent"},
		{"old pods", func(_ *v1.Application, deployment *appsv1.Deployment, _ *corev1.Service) {
			deployment.Status.UpdatedReplicas = 1
		}, plan.AdoptionHeld, "once every pod carries the label"},
		{"a pod too many", func(_ *v1.Application, deployment *appsv1.Deployment, _ *corev1.Service) {
			deployment.Status.Replicas = 3
		}, plan.AdoptionHeld, "once every pod"},
		{"pods that are not available", func(_ *v1.Application, deployment *appsv1.Deployment, _ *corev1.Service) {
			deployment.Status.AvailableReplicas = 0
		}, plan.AdoptionHeld, "once every pod"},
		{"no pods, and the next would be old ones", func(_ *v1.Application, deployment *appsv1.Deployment, _ *corev1.Service) {
			deployment.Spec.Replicas, deployment.Status.Replicas, deployment.Status.UpdatedReplicas, deployment.Status.AvailableReplicas = new(int32(0)), 0, 0, 0
		}, plan.AdoptionHeld, "once every pod"},
		{"a status of before", func(_ *v1.Application, deployment *appsv1.Deployment, _ *corev1.Service) { deployment.Generation = 2 }, plan.AdoptionHeld, "once every pod"},
		{"a Deployment that is not as rendered", func(_ *v1.Application, deployment *appsv1.Deployment, _ *corev1.Service) {
			deployment.Spec.Template.Labels[v1.LabelApplication] = "other"
		}, plan.AdoptionHeld, "once every pod"},
		{"a Deployment that is not the Application's", func(_ *v1.Application, deployment *appsv1.Deployment, _ *corev1.Service) {
			deployment.OwnerReferences = nil
		}, plan.AdoptionHeld, "once every pod"},
		{"ExternalName", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			live.Spec.Type, live.Spec.ExternalName = corev1.ServiceTypeExternalName, "example.com"
		}, plan.AdoptionRefused, "spec.type"},
		{"headless", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) { live.Spec.ClusterIP = "None" }, plan.AdoptionRefused, "spec.clusterIP"},
		{"without a selector", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) { live.Spec.Selector = nil }, plan.AdoptionRefused, "spec.selector"},
		{"a selector that the new pods do not match", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			live.Spec.Selector["track"] = "stable"
		}, plan.AdoptionRefused, "spec.selector[track]"},
		{"another type", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			live.Spec.Type = corev1.ServiceTypeLoadBalancer
		}, plan.AdoptionRefused, "set spec.service.type"},
		{"sticky sessions", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			live.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
		}, plan.AdoptionRefused, "spec.sessionAffinity"},
		{"another name of a port", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) { live.Spec.Ports[0].Name = "" }, plan.AdoptionRefused, `spec.ports[80/TCP]: its name is ""; set servicePortName to "" in the Application`},
		{"no name of a port, and the Application has two", func(app *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			app.Spec.Ports = append(app.Spec.Ports, v1.ApplicationPort{Name: "metrics", ContainerPort: 9090})
			live.Spec.Ports[0].Name = ""
		}, plan.AdoptionRefused, `its name is ""; set servicePortName to "" in the Application, and remove the other ports from spec.ports: only a single port of a Service may have no name`},
		{"another target", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			live.Spec.Ports[0].TargetPort.IntVal = 8081
		}, plan.AdoptionRefused, "spec.ports[80/TCP]: it leads to port 8081 of the pods; set containerPort to 8081 in the Application"},
		{"another name and another target", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			live.Spec.Ports[0].Name, live.Spec.Ports[0].TargetPort.IntVal = "80-3000", 3000
		}, plan.AdoptionRefused, `spec.ports[80/TCP]: its name is "80-3000" and it leads to port 3000 of the pods; set containerPort to 3000 and servicePortName to "80-3000" in the Application`},
		{"another named target", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			live.Spec.Ports[0].TargetPort = intstr.FromString("front")
		}, plan.AdoptionRefused, `spec.ports[80/TCP]: it leads to port "front" of the pods; set name to "front" in the Application`},
		{"another named target, and the name of the port is the default", func(app *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			app.Spec.Ports[0].ServicePortName = nil
			live.Spec.Ports[0].Name, live.Spec.Ports[0].TargetPort = "http", intstr.FromString("front")
		}, plan.AdoptionRefused, `spec.ports[80/TCP]: it leads to port "front" of the pods; set name to "front" and servicePortName to "http" in the Application`},
		{"the target of another port", func(app *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			app.Spec.Ports = append(app.Spec.Ports, v1.ApplicationPort{Name: "metrics", ContainerPort: 9090})
			live.Spec.Ports[0].TargetPort.IntVal = 9090
		}, plan.AdoptionRefused, `spec.ports[80/TCP]: it leads to port 9090 of the pods; set servicePort to 80 and servicePortName to "web" at the port "metrics" of the Application instead`},
		{"a port that the Application lacks", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			live.Spec.Ports[0].Port = 81
		}, plan.AdoptionRefused, "spec.ports[81/TCP]: spec.ports of the Application has no such servicePort"},
		{"another protocol", func(_ *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			live.Spec.Ports[0].Protocol = corev1.ProtocolUDP
		}, plan.AdoptionRefused, "spec.ports[80/UDP]"},
		{"a further port in the cluster", func(app *v1.Application, _ *appsv1.Deployment, _ *corev1.Service) {
			app.Spec.Ports = append(app.Spec.Ports, v1.ApplicationPort{Name: "metrics", ContainerPort: 9090})
		}, "", "a user consented"},
		{"a further port outside of the cluster", func(app *v1.Application, _ *appsv1.Deployment, live *corev1.Service) {
			app.Spec.Ports = append(app.Spec.Ports, v1.ApplicationPort{Name: "metrics", ContainerPort: 9090})
			app.Spec.Service = &v1.Service{Type: corev1.ServiceTypeLoadBalancer}
			live.Spec.Type = corev1.ServiceTypeLoadBalancer
		}, plan.AdoptionRefused, "spec.ports: the adoption would expose"},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := foreignSnapshot(t)
			service := live[*corev1.Service](snapshot, child.Service)
			test.change(snapshot.Application, &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}}}, service.DeepCopy()) // The Application first: the Deployment is rendered from it.
			deployment := adopted(t, snapshot)
			test.change(snapshot.Application.DeepCopy(), deployment, service)
			got := step(t, compute(t, snapshot), ref(child.Service))
			adopts := strings.HasPrefix(test.reason, "a user consented")
			if (got.Action == plan.Adopt) != adopts || !adopts && got.Action != plan.NotOwned {
				t.Errorf("the action is %s: %s", got.Action, got.Reason)
			}
			if got.Adoption != test.want || !strings.Contains(got.Reason, test.reason) {
				t.Errorf("got %q: %s\nwant %q: … %s …", got.Adoption, got.Reason, test.want, test.reason)
			}
			if adopts && len(got.Selects) != 2 {
				t.Errorf("the writer proves nothing about the pods that %v selects", got.Selects)
			}
		})
	}
}

// An adopted Deployment differs in its selector for ever, and that is no difference.
func TestAdoptedDeploymentKeepsItsSelector(t *testing.T) {
	snapshot := foreignSnapshot(t)
	adopted(t, snapshot)
	got := step(t, compute(t, snapshot), ref(child.Deployment))
	if got.Action != plan.Keep {
		t.Errorf("got %s: %s %v", got.Action, got.Reason, got.Fields)
	}
	live[*appsv1.Deployment](snapshot, child.Deployment).Spec.MinReadySeconds = 9
	snapshot.Application.Spec.MinReadySeconds = new(int32(5))
	got = step(t, compute(t, snapshot), ref(child.Deployment))
	object, err := got.Desired.Object()
	if err != nil {
		t.Fatal(err)
	}
	if _, has := object.Object["spec"].(map[string]any)["selector"]; has || got.Action != plan.Apply {
		t.Errorf("got %s with the selector: %t", got.Action, has)
	}
}

// What acts on pods by Fairlead's label waits while they lack it, and never again.
func TestChildrenWaitForLabels(t *testing.T) {
	policy := ref(child.NetworkPolicy)
	snapshot := foreignSnapshot(t)
	snapshot.Application.Spec.NetworkPolicy = &v1.NetworkPolicy{}
	want := func(when string, action plan.Action) {
		t.Helper()
		if got := step(t, compute(t, snapshot), policy); got.Action != action {
			t.Errorf("%s: got %s: %s", when, got.Action, got.Reason)
		}
	}
	want("with the adoption", plan.WaitDependency)
	foreign := live[*appsv1.Deployment](snapshot, child.Deployment)
	consent := foreign.Annotations
	foreign.Annotations = nil
	want("without a consent", plan.WaitDependency)
	foreign.Annotations = consent
	delete(snapshot.Children, ref(child.Deployment))
	want("with a Deployment that the informers lack, or that does not exist", plan.Create)
	snapshot.Children[ref(child.Deployment)] = foreign
	deployment := adopted(t, snapshot)
	deployment.Status.UpdatedReplicas = 0
	want("before the rollout", plan.WaitDependency)
	deployment.Status.UpdatedReplicas = 2
	want("after the rollout", plan.Create)
	snapshot.Application.Status.Conditions = []metav1.Condition{{Type: v1.ConditionAdopted, Status: metav1.ConditionTrue}}
	deployment.Status.UpdatedReplicas = 0
	want("in a later rollout", plan.Create)
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelApplication: "web"}}
	snapshot.Application.Status.Conditions = nil
	want("with a Deployment that Fairlead created", plan.Create)
}

// A Deployment that cannot be adopted because it refers to a foreign account is foreign, and nothing takes it for owned: its
// UID in the status would make it the Application's without the checks of an adoption.
func TestWaitingAdoptionIsNotOwned(t *testing.T) {
	snapshot := foreignSnapshot(t)
	account := ref(child.ServiceAccount)
	snapshot.Children[account] = &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "another-uid"}}
	steps := compute(t, snapshot)
	if got := step(t, steps, ref(child.Deployment)); got.Action != plan.NotOwned || got.Adoption != plan.AdoptionHeld {
		t.Errorf("in the plan: %s %s: %s", got.Action, got.Adoption, got.Reason)
	}
	// The same, if only the writer finds the account.
	delete(snapshot.Children, account)
	got := step(t, compute(t, snapshot), ref(child.Deployment))
	if got.Action != plan.Adopt || len(got.Needs) != 1 {
		t.Fatalf("got %s with %v", got.Action, got.Needs)
	}
	if got = got.WaitOwned(plan.Result{Step: plan.Step{Action: plan.NotOwned, Ref: account}}); got.Action != plan.NotOwned || got.Adoption != plan.AdoptionHeld {
		t.Errorf("in the writer: %s %s: %s", got.Action, got.Adoption, got.Reason)
	}
}

// A route would make a Service public that is not the Application's yet.
func TestDependentsWaitForAdoption(t *testing.T) {
	snapshot := foreignSnapshot(t)
	snapshot.Application.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"web.example.com"}}}
	if got := step(t, compute(t, snapshot), ref(child.Ingress)); got.Action != plan.WaitDependency {
		t.Errorf("the Service is held, and the Ingress is %s", got.Action)
	}
	adopted(t, snapshot)
	if got := step(t, compute(t, snapshot), ref(child.Ingress)); got.Action != plan.Create || len(got.Needs) != 1 {
		t.Errorf("the Service is adopted, and the Ingress is %s with %v", got.Action, got.Needs)
	}
}
