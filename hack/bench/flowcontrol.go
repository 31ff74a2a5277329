// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// allowedGroup may do everything. Unlike the administrators' group it is not exempt from the API server's queues.
	allowedGroup = "fairlead-bench"
	tenantUser   = "tenant"
	// controllerUser is the ServiceAccount of artifacts/controller.
	controllerUser = "system:serviceaccount:fairlead-system:fairlead-controller"
)

// controlFlow installs the flow-control component, and has the controller and the users of Applications be whom it knows
// instead of the administrator. It returns the controller's kubeconfig.
func (l *lab) controlFlow(ctx context.Context) (kubeconfig string, err error) {
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: allowedGroup},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: allowedGroup}},
	}
	if _, err := l.clients.kube.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("allow the users of the bench everything: %w", err)
	}
	if err := l.installFlowControl(ctx, filepath.Join(l.options.root, "artifacts", "components", "flow-control", "flow-control.yaml")); err != nil {
		return "", fmt.Errorf("install the flow-control component: %w", err)
	}
	if l.users, err = l.newClients(agent, tenantUser); err != nil {
		return "", err
	}
	l.controller = controllerUser
	return l.kubeconfigOf(controllerUser)
}

// endFlowControl makes everybody the administrator again.
func (l *lab) endFlowControl() {
	l.users.http.CloseIdleConnections()
	l.users, l.controller = l.clients, ""
}

func (l *lab) installFlowControl(ctx context.Context, file string) error {
	manifest, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = manifest.Close() }()
	client := l.clients.kube.FlowcontrolV1()
	documents := yaml.NewYAMLToJSONDecoder(manifest)
	for {
		var raw runtime.RawExtension
		if err := documents.Decode(&raw); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw.Raw, nil, nil)
		if err != nil {
			return err
		}
		switch object := object.(type) {
		case *flowcontrolv1.PriorityLevelConfiguration:
			_, err = client.PriorityLevelConfigurations().Create(ctx, object, metav1.CreateOptions{})
		case *flowcontrolv1.FlowSchema:
			_, err = client.FlowSchemas().Create(ctx, object, metav1.CreateOptions{})
		default:
			err = fmt.Errorf("%s has a %T", file, object)
		}
		if err != nil {
			return err
		}
	}
}

// kubeconfigOf writes the administrator's kubeconfig with a user to impersonate.
func (l *lab) kubeconfigOf(user string) (string, error) {
	config, err := clientcmd.LoadFromFile(l.plane.Kubeconfig())
	if err != nil {
		return "", err
	}
	for _, info := range config.AuthInfos {
		info.Impersonate, info.ImpersonateGroups = user, []string{allowedGroup}
	}
	file := filepath.Join(l.dir, "controller.kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
}
