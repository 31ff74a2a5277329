// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// decorate puts into children what others do without touching what Fairlead sets: the API server
// by defaults, controllers by status and annotations, people by labels. Tolerations are one atomic
// value: Fairlead's as a whole if it sets them, and free for others if not.
func decorate(s child.Snapshot) {
	for _, object := range s.Children {
		annotate(object, "example.com/seen", "yes")
		labels := object.GetLabels()
		labels["example.com/team"] = "shop"
		object.SetLabels(labels)
		object.SetFinalizers([]string{"example.com/guard"})
		object.SetOwnerReferences(append(object.GetOwnerReferences(), metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "a", UID: "b"}))
		object.SetManagedFields(nil)
		switch o := object.(type) {
		case *appsv1.Deployment:
			annotate(o, "deployment.kubernetes.io/revision", "3")
			spec := &o.Spec.Template.Spec
			spec.RestartPolicy, spec.DNSPolicy, spec.SchedulerName = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, "default-scheduler"
			spec.DeprecatedServiceAccount = spec.ServiceAccountName
			for i := range spec.Containers {
				c := &spec.Containers[i]
				c.TerminationMessagePath, c.TerminationMessagePolicy = "/dev/termination-log", corev1.TerminationMessageReadFile
				c.Env = append(c.Env, corev1.EnvVar{Name: "INJECTED", Value: "1"})
				c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "injected", MountPath: "/injected"})
				if probe := c.ReadinessProbe; probe != nil && probe.TimeoutSeconds == 0 {
					probe.TimeoutSeconds = 1
				}
			}
			for i := range spec.Volumes {
				if configMap := spec.Volumes[i].ConfigMap; configMap != nil && configMap.DefaultMode == nil {
					configMap.DefaultMode = new(int32(420))
				}
			}
			spec.Containers = append(spec.Containers, corev1.Container{Name: "injected", Image: "proxy:1"})
			if spec.Tolerations == nil {
				spec.Tolerations = []corev1.Toleration{{Key: "example.com/a", Operator: corev1.TolerationOpExists}}
			}
			o.Status.Replicas = 3
			if o.Spec.Replicas == nil {
				o.Spec.Replicas = new(int32(4))
			}
		case *corev1.Service:
			o.Spec.ClusterIP, o.Spec.ClusterIPs = "10.0.0.1", []string{"10.0.0.1"}
			o.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
			o.Spec.InternalTrafficPolicy = new(corev1.ServiceInternalTrafficPolicyCluster)
			o.Spec.Ports[0].NodePort = 30080
		case *corev1.ServiceAccount:
			o.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "injected"}}
		case *corev1.ConfigMap:
			o.Data["theirs"] = "1"
		case *autoscalingv2.HorizontalPodAutoscaler:
			if o.Spec.Behavior == nil {
				o.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(300))}}
			}
			o.Status.CurrentReplicas = 2
		case *policyv1.PodDisruptionBudget:
			o.Status.CurrentHealthy = 2
		case *networkingv1.Ingress:
			if o.Spec.IngressClassName == nil {
				o.Spec.IngressClassName = new("nginx")
			}
			o.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
		}
	}
}

func annotate(object child.Object, key, value string) {
	annotations := object.GetAnnotations()
	annotations[key] = value
	object.SetAnnotations(annotations)
}

func TestFieldsOfOthersMakeNoDifference(t *testing.T) {
	for name, app := range map[string]*v1.Application{
		"every kind": application(t, fullSpec),
		"a probe":    application(t, webSpec+"readinessProbe: {httpGet: {path: /healthz}}"),
		"a worker":   application(t, ""),
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := settled(t, app)
			decorate(snapshot)
			wantSteps(t, compute(t, snapshot))
		})
	}
}

// An atomic value belongs as a whole to who sets a part of it.
func TestAtomicValuesAreComparedAsAWhole(t *testing.T) {
	const spec = `
args: [--a, --b]
ports: [{name: http, containerPort: 8080}]
replicas: 1
tolerations: [{key: example.com/a, operator: Exists}]
networkPolicy: {}
routes: [{name: public, hostnames: [web.example.com]}]
`
	for _, test := range []struct {
		name   string
		change func(child.Snapshot)
		want   string
	}{
		{"an argument was added", func(s child.Snapshot) {
			pod(s).Containers[0].Args = append(pod(s).Containers[0].Args, "--c")
		}, `Apply Deployment shop/web: another client changed it; drift; .spec.template.spec.containers[name="web"].args`},
		{"a toleration was added", func(s child.Snapshot) {
			pod(s).Tolerations = append(pod(s).Tolerations, corev1.Toleration{Key: "b"})
		}, "Apply Deployment shop/web: another client changed it; drift; .spec.template.spec.tolerations"},
		{"a label was added to a selector", func(s child.Snapshot) {
			live[*corev1.Service](s, child.Service).Spec.Selector["a"] = "b"
		}, "Apply Service shop/web: another client changed it; drift; .spec.selector"},
		{"a rule was added to a policy", func(s child.Snapshot) {
			policy := live[*networkingv1.NetworkPolicy](s, child.NetworkPolicy)
			policy.Spec.Egress = append(policy.Spec.Egress, networkingv1.NetworkPolicyEgressRule{})
		}, "Apply NetworkPolicy shop/web: another client changed it; drift; .spec.egress"},
		{"a rule was added to an Ingress", func(s child.Snapshot) {
			ingress := live[*networkingv1.Ingress](s, child.Ingress)
			ingress.Spec.Rules = append(ingress.Spec.Rules, networkingv1.IngressRule{Host: "evil.example.com"})
		}, "Apply Ingress shop/web: another client changed it; drift; .spec.rules"},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settled(t, application(t, spec))
			test.change(snapshot)
			wantSteps(t, compute(t, snapshot), test.want)
		})
	}
}

// Quantities are compared as they are written; the rendering and the API server both write them in
// their canonical form.
func TestQuantities(t *testing.T) {
	snapshot := settled(t, application(t, "resources: {requests: {cpu: '0.1', memory: 1024Mi}}"))
	wantSteps(t, compute(t, snapshot))
	pod(snapshot).Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("200m")
	wantSteps(t, compute(t, snapshot),
		`Apply Deployment shop/web: another client changed it; drift; .spec.template.spec.containers[name="web"].resources.requests.cpu`)
}

// A live object may have what the schema here does not allow: two items of one key. It was
// accepted by its API server, and the comparison goes on.
func TestDuplicateItemsOfOthers(t *testing.T) {
	snapshot := settled(t, application(t, webSpec))
	container := &pod(snapshot).Containers[0]
	container.Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}
	wantSteps(t, compute(t, snapshot))
}
