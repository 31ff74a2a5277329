// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// limits refuses new pods, since none has so much memory, or lifts that.
func limits(ctx context.Context, w *world, arguments []string) error {
	client := w.kube.CoreV1().LimitRanges(w.namespace)
	if arguments[0] == "off" {
		return tolerate(client.Delete(ctx, "chaos", metav1.DeleteOptions{}))
	}
	object := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "chaos"}}
	object.Spec.Limits = []corev1.LimitRangeItem{{
		// Of a container, the minimum would become the default: the pods would be created, and never be scheduled.
		Type: corev1.LimitTypePod,
		Min:  corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Ti")},
	}}
	_, err := client.Create(ctx, object, metav1.CreateOptions{FieldManager: user})
	return tolerate(err)
}

// denied are the kinds that a policy of another party may deny.
var denied = []child.Kind{child.Service, child.ConfigMap, child.Deployment, child.Ingress}

func deniedKinds() []string {
	var names []string
	for _, kind := range denied {
		names = append(names, kind.Resource)
	}
	return names
}

// denial is what the policy says.
const denial = "denied by chaos"

// policyName is the name of the policy of this namespace, which like its binding is not namespaced.
func (w *world) policyName() string { return "chaos." + w.namespace }

// deny lets a policy of another party refuse every write to a kind, as those do that want a label or another registry.
// "nothing" deletes the policy, and waits until it is no longer in force.
func deny(ctx context.Context, w *world, arguments []string) error {
	client := w.kube.AdmissionregistrationV1()
	err := errors.Join(
		tolerate(client.ValidatingAdmissionPolicyBindings().Delete(ctx, w.policyName(), metav1.DeleteOptions{})),
		tolerate(client.ValidatingAdmissionPolicies().Delete(ctx, w.policyName(), metav1.DeleteOptions{})),
	)
	if err != nil {
		return err
	}
	if arguments[0] == "nothing" {
		return w.waitDenied(ctx, "")
	}
	kind := kindOf(arguments[0])
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: w.policyName()}}
	rule := admissionregistrationv1.NamedRuleWithOperations{}
	rule.Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete}
	rule.APIGroups, rule.APIVersions, rule.Resources = []string{kind.Group}, []string{kind.Version}, []string{kind.Resource}
	policy.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}},
		ResourceRules:     []admissionregistrationv1.NamedRuleWithOperations{rule},
	}
	// The garbage collector and the controllers of Kubernetes are exempt, as they are from most policies.
	policy.Spec.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "users", Expression: `!request.userInfo.username.startsWith("system:serviceaccount:kube-system:")`}}
	policy.Spec.Validations = []admissionregistrationv1.Validation{{Expression: "false", Message: denial, Reason: new(metav1.StatusReasonForbidden)}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: policy.ObjectMeta}
	binding.Spec.PolicyName = policy.Name
	binding.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	_, policyErr := client.ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{FieldManager: user})
	_, bindingErr := client.ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{FieldManager: user})
	if err := errors.Join(tolerate(policyErr), tolerate(bindingErr)); err != nil {
		return err
	}
	return w.waitDenied(ctx, kind.Resource)
}

// waitDenied waits until the API server denies writes to this resource, and to no other; "" is none.
func (w *world) waitDenied(ctx context.Context, resource string) error {
	err := wait.PollUntilContextTimeout(ctx, period, insistence, true, func(ctx context.Context) (bool, error) {
		for _, kind := range denied {
			object := foreignObject(kind, "probe")
			_, err := w.children(kind).Create(ctx, object, metav1.CreateOptions{FieldManager: user, DryRun: []string{metav1.DryRunAll}})
			if isDenied := apierrors.IsForbidden(err) && strings.Contains(err.Error(), denial); isDenied != (kind.Resource == resource) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("wait until only %q are denied: %w", resource, err)
	}
	return nil
}

// evict asks for the end of the pods of an Application, as a drain does. A PodDisruptionBudget may refuse that.
func (w *world) evict(ctx context.Context, application string) error {
	list, err := w.kube.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application})
	if err != nil {
		return err
	}
	for i := range list.Items {
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: list.Items[i].Name}}
		err := w.kube.CoreV1().RESTClient().Post().Namespace(w.namespace).Resource("pods").Name(eviction.Name).SubResource("eviction").
			MaxRetries(0).Body(eviction).Do(ctx).Error()
		if !apierrors.IsTooManyRequests(err) && tolerate(err) != nil {
			return err
		}
	}
	return nil
}
