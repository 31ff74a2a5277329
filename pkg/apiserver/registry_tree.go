// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// tree is the registry of applications/tree.
type tree struct {
	caches  *caches
	history *history // It knows whether the caches are filled.
	access  access
}

var (
	_ rest.Getter         = &tree{}
	_ rest.TableConvertor = &tree{}
)

func (r *tree) New() runtime.Object { return &v1alpha1.ApplicationTree{} }
func (r *tree) Destroy()            {}

// Get returns the tree of one Application.
func (r *tree) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if err := r.access.require(ctx, name,
		onApplications("get", name), onPods("list", ""),
		permission{verb: "list", group: "apps", version: "v1", resource: "replicasets"},
		permission{verb: "list", group: "discovery.k8s.io", version: "v1", resource: "endpointslices"},
	); err != nil {
		return nil, err
	}
	if err := r.history.ready(); err != nil {
		return nil, err
	}
	key := cache.ObjectName{Namespace: request.NamespaceValue(ctx), Name: name}
	application, found := r.caches.application(key)
	if !found {
		return nil, apierrors.NewNotFound(v1alpha1.Resource(v1.ApplicationResource), name)
	}
	below, err := r.caches.family(application, key)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return newTree(below, time.Now()), nil
}

// ConvertToTable indents each object below its parent.
func (r *tree) ConvertToTable(_ context.Context, object, _ runtime.Object) (*metav1.Table, error) {
	shown, ok := object.(*v1alpha1.ApplicationTree)
	if !ok {
		return nil, fmt.Errorf("no table for %T", object)
	}
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Object", Type: "string", Description: "Kind and name, indented below the parent"},
		{Name: "Health", Type: "string", Description: "Whether the object works"},
		{Name: "Reason", Type: "string", Description: "Why it does not, in one word"},
		{Name: "Message", Type: "string", Description: "Why it does not", Priority: onlyWide},
	}}
	// The handler wants an object in each row, of which it shows the metadata. The nodes are no objects.
	row := runtime.RawExtension{Object: &v1alpha1.ApplicationTree{ObjectMeta: shown.ObjectMeta}}
	for i := range shown.Nodes {
		node := &shown.Nodes[i]
		table.Rows = append(table.Rows, metav1.TableRow{Object: row, Cells: []any{
			strings.Repeat("  ", int(node.Depth)) + node.Kind + "/" + node.Name, string(node.Health), node.Reason, node.Message,
		}})
	}
	return table, nil
}
