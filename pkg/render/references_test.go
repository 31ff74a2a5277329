// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// The pods have the hash, but not the versions, which also change when the content does not.
func TestReferenceHashes(t *testing.T) {
	for _, test := range []struct {
		name             string
		references       ReferenceHashes
		deployment, pods map[string]string
	}{
		{"none", ReferenceHashes{}, nil, nil},
		{"one kind", ReferenceHashes{Secrets: ReferenceHash{"abc", "1"}},
			map[string]string{v1.AnnotationSecretsVersions: "1"}, map[string]string{v1.AnnotationSecretsHash: "abc"}},
		{"both kinds", ReferenceHashes{ConfigMaps: ReferenceHash{"def", "2"}, Secrets: ReferenceHash{"abc", "1"}},
			map[string]string{v1.AnnotationConfigMapsVersions: "2", v1.AnnotationSecretsVersions: "1"},
			map[string]string{v1.AnnotationConfigMapsHash: "def", v1.AnnotationSecretsHash: "abc"}},
		{"without versions", ReferenceHashes{Secrets: ReferenceHash{Hash: "abc"}}, nil, map[string]string{v1.AnnotationSecretsHash: "abc"}},
		{"versions of nothing", ReferenceHashes{Secrets: ReferenceHash{Versions: "1"}}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			app := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: v1.ApplicationSpec{
				Image:       "web:1",
				PodMetadata: &v1.PodMetadata{Annotations: map[string]string{"team": "shop", v1.AnnotationSecretsHash: "forged"}},
			}}
			rendered, err := deployments(app, Facts{References: test.references})
			if err != nil {
				t.Fatal(err)
			}
			deployment, _ := rendered[0].(*appsv1ac.DeploymentApplyConfiguration)
			pods := map[string]string{"team": "shop"}
			maps.Copy(pods, test.pods)
			if diff := cmp.Diff(pods, deployment.Spec.Template.Annotations); diff != "" {
				t.Errorf("annotations of the pods (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.deployment, deployment.Annotations); diff != "" {
				t.Errorf("annotations of the Deployment (-want +got):\n%s", diff)
			}
		})
	}
}
