// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// defaultAccount is the ServiceAccount of pods that name none.
const defaultAccount = "default"

// leaveDefaultAccount says what the pods lose with the ServiceAccount default, since an Application has one of its own. Its pull Secrets
// are no loss for a draft, which takes them over: the API server gave them to pods without any. What the user may not read is left out.
func (a *adopting) leaveDefaultAccount(ctx context.Context, application *v1.Application, isDraft bool) string {
	pods, own := cmp.Or(a.deployment.Spec.Template.Spec.ServiceAccountName, defaultAccount), application.Spec.ServiceAccount
	if pods != defaultAccount || own != nil && own.Name != "" {
		return ""
	}
	said := ""
	account, err := a.clients.Kube.CoreV1().ServiceAccounts(a.namespace).Get(ctx, defaultAccount, metav1.GetOptions{})
	if err == nil && len(account.ImagePullSecrets) > 0 && len(application.Spec.ImagePullSecrets) == 0 {
		names := make([]string, 0, len(account.ImagePullSecrets))
		for _, secret := range account.ImagePullSecrets {
			names = append(names, secret.Name)
		}
		if isDraft {
			application.Spec.ImagePullSecrets = account.ImagePullSecrets
			said += " spec.imagePullSecrets has the pull Secrets of that account: " + strings.Join(names, ", ") + "."
		} else {
			said += " The pods lose the pull Secrets of that account: to keep them, set spec.imagePullSecrets: " + strings.Join(names, ", ") + "."
		}
	}
	if isDraft && err == nil && a.deployment.Spec.Template.Spec.AutomountServiceAccountToken == nil && account.AutomountServiceAccountToken != nil {
		own.AutomountToken = account.AutomountServiceAccountToken // The pods have a token, or none, as before.
	}
	if granted := a.grantedTo(ctx, defaultAccount); granted != "" {
		said += fmt.Sprintf(" The pods lose what %s to that account: grant it to ServiceAccount %s before you release the pods.", granted, a.name)
	}
	if said == "" {
		return ""
	}
	return fmt.Sprintf("The pods will run as ServiceAccount %s of the Application, not as %s.%s", a.name, defaultAccount, said)
}

// grantedTo says which RoleBindings of the namespace and which ClusterRoleBindings name the ServiceAccount; "" if there is none. What the
// user may not list is left out.
func (a *adopting) grantedTo(ctx context.Context, account string) string {
	names := func(s rbacv1.Subject, namespace string) bool {
		return s.Kind == rbacv1.ServiceAccountKind && s.Name == account && cmp.Or(s.Namespace, namespace) == a.namespace
	}
	var inNamespace, inCluster []string
	if bindings, err := a.clients.Kube.RbacV1().RoleBindings(a.namespace).List(ctx, metav1.ListOptions{}); err == nil {
		for i := range bindings.Items {
			if slices.ContainsFunc(bindings.Items[i].Subjects, func(s rbacv1.Subject) bool { return names(s, a.namespace) }) {
				inNamespace = append(inNamespace, bindings.Items[i].Name)
			}
		}
	}
	if bindings, err := a.clients.Kube.RbacV1().ClusterRoleBindings().List(ctx, metav1.ListOptions{}); err == nil {
		for i := range bindings.Items {
			if slices.ContainsFunc(bindings.Items[i].Subjects, func(s rbacv1.Subject) bool { return names(s, "") }) {
				inCluster = append(inCluster, bindings.Items[i].Name)
			}
		}
	}
	var granted []string
	for _, of := range []struct {
		kind  string
		names []string
	}{{"RoleBinding", inNamespace}, {"ClusterRoleBinding", inCluster}} {
		if len(of.names) == 1 {
			granted = append(granted, of.kind+" "+of.names[0])
		} else if len(of.names) > 1 {
			granted = append(granted, of.kind+"s "+strings.Join(of.names, ", "))
		}
	}
	switch {
	case len(granted) == 0:
		return ""
	case len(inNamespace)+len(inCluster) == 1:
		return granted[0] + " gives"
	}
	return strings.Join(granted, " and ") + " give"
}
