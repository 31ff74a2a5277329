// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	component         = "../../../artifacts/components/aggregated-api"
	serverAccount     = "system:serviceaccount:fairlead-system:fairlead-apiserver"
	controllerAccount = "system:serviceaccount:fairlead-system:fairlead-controller"
	// serverRole owns the APIService.
	serverRole = "fairlead-apiserver"
)

// applyRoles creates the roles of the components, so that the server and the keeper have the permissions of an installation,
// and no others.
func applyRoles(ctx context.Context, client rbacclient.RbacV1Interface) error {
	for _, file := range []string{"role.yaml", "keeper.yaml", "../aggregated-api-connect/role.yaml", "../aggregated-api-timeline/role.yaml"} {
		content, err := os.ReadFile(filepath.Join(component, file))
		if err != nil {
			return err
		}
		for documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = createRole(ctx, client, document)
			}
			if err != nil {
				return fmt.Errorf("create what %s has: %w", file, err)
			}
		}
	}
	return nil
}

func createRole(ctx context.Context, client rbacclient.RbacV1Interface, document []byte) error {
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
	if err != nil {
		return err
	}
	options := metav1.CreateOptions{}
	switch o := object.(type) {
	case *rbacv1.ClusterRole:
		_, err = client.ClusterRoles().Create(ctx, o, options)
	case *rbacv1.ClusterRoleBinding:
		_, err = client.ClusterRoleBindings().Create(ctx, o, options)
	case *rbacv1.Role:
		_, err = client.Roles(o.Namespace).Create(ctx, o, options)
	case *rbacv1.RoleBinding:
		_, err = client.RoleBindings(o.Namespace).Create(ctx, o, options)
	default:
		err = fmt.Errorf("%s is no role", kind)
	}
	return err
}

// kubeconfigFor writes a kubeconfig for a ServiceAccount.
func kubeconfigFor(account, file string) error {
	config, err := clientcmd.LoadFromFile(cluster.Kubeconfig())
	if err != nil {
		return err
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = account
	}
	return clientcmd.WriteToFile(*config, file)
}
