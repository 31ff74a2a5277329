// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// FieldManager owns the fields that Fairlead renders.
const FieldManager = "fairlead"

// removed returns the fields of the live child that an apply of the rendering removes: those that Fairlead alone owns, and no longer
// renders. Only managedFields know them once the spec has changed while Fairlead carried nothing out. rendered are those of the rendering.
//
// A child that was created by POST, and not applied with other fields since, owns the API server's defaults as well. They come back, so
// they are no change. The number of pods is handed over, so it stays.
func (d Differ) removed(desired child.Desired, rendered *fieldpath.Set, live child.Object, have *typed.TypedValue) (*fieldpath.Set, error) {
	if created := live.GetAnnotations()[v1.AnnotationCreatedFieldSet]; created != "" && created == d.FieldSetHash(desired) {
		return fieldpath.NewSet(), nil // The apply goes alone, and removes nothing; see fieldset.go.
	}
	present, err := fieldsOfTyped(desired, have)
	if err != nil {
		return nil, err
	}
	owned, others := fieldpath.NewSet(), fieldpath.NewSet()
	for _, entry := range live.GetManagedFields() {
		fields := fieldpath.NewSet()
		if entry.FieldsV1 == nil {
			continue
		}
		if err := fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return nil, fmt.Errorf("read the managed fields of %s: %w", desired.Ref, err)
		}
		switch version := desired.Kind.GroupVersionKind().GroupVersion().String(); {
		case entry.Manager != FieldManager || entry.Subresource != "":
			others = others.Union(fields)
		case entry.APIVersion == version && entry.Operation == metav1.ManagedFieldsOperationApply:
			owned = owned.Union(fields.Leaves())
		case entry.APIVersion == version:
			owned = owned.Union(withoutDefaults(fields.Leaves(), have.AsValue().Unstructured()))
		}
	}
	handedOver := fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"))
	return owned.Difference(others).Intersection(present).Difference(rendered).Difference(handedOver), nil
}

// withoutDefaults leaves out the fields that have the API server's default.
func withoutDefaults(fields *fieldpath.Set, live any) *fieldpath.Set {
	set := fieldpath.NewSet()
	for path := range fields.All() {
		if name := path[len(path)-1].FieldName; name != nil {
			values, known := serverDefaults[*name]
			if known && (len(values) == 0 || slices.Contains(values, fmt.Sprint(find(live, path)))) {
				continue
			}
		}
		set.Insert(path)
	}
	return set
}

// serverDefaults are the fields of children that the API server completes, each with its defaults; none if they depend on the object or on
// the cluster.
var serverDefaults = map[string][]string{
	// Deployments
	"progressDeadlineSeconds": {"600"}, "revisionHistoryLimit": {"10"}, "maxSurge": {"25%"}, "maxUnavailable": {"25%"},
	"type": {"RollingUpdate", "ClusterIP", ""},
	// Pods
	"dnsPolicy": {"ClusterFirst"}, "restartPolicy": {"Always"}, "schedulerName": {"default-scheduler"}, "securityContext": {"map[]"},
	"terminationGracePeriodSeconds": {"30"}, "serviceAccount": nil, "enableServiceLinks": {"true"}, "defaultMode": {"420"},
	// Containers
	"imagePullPolicy": nil, "terminationMessagePath": {"/dev/termination-log"}, "terminationMessagePolicy": {"File"}, "resources": {"map[]"},
	"protocol": {"TCP"}, "apiVersion": {"v1"}, "divisor": {"0"}, "scheme": {"HTTP"}, "path": {"/"}, "service": {""},
	"timeoutSeconds": {"1", "10800"}, "periodSeconds": {"10"}, "successThreshold": {"1"}, "failureThreshold": {"3"},
	// Services
	"clusterIP": nil, "clusterIPs": nil, "ipFamilies": nil, "ipFamilyPolicy": nil, "internalTrafficPolicy": {"Cluster"},
	"sessionAffinity": {"None"}, "targetPort": nil, "nodePort": nil, "externalTrafficPolicy": {"Cluster"}, "healthCheckNodePort": nil,
	"allocateLoadBalancerNodePorts": {"true"},
	// Autoscalers
	"minReplicas": {"1"}, "policies": nil, "selectPolicy": {"Max"}, "stabilizationWindowSeconds": {"0"}, "tolerance": nil,
	// Ingresses
	"ingressClassName": nil,
}
