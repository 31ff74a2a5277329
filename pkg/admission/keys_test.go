// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// A key that an existing object lacks is warned of when a request begins to name it. What managedFields does not tell is not.
func TestMissingKeys(t *testing.T) {
	written := func(fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	user := written(`{"f:data":{".":{},"f:user":{}},"f:type":{}}`)
	secret := func(optional bool, keys ...string) *v1.Application {
		return application(func(a *v1.Application) {
			for _, key := range keys {
				a.Spec.Env = append(a.Spec.Env, corev1.EnvVar{Name: "V_" + key, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: key, Optional: &optional,
				}}})
			}
		})
	}
	configMap := application(func(a *v1.Application) {
		a.Spec.Mounts = []v1.Mount{{MountPath: "/etc/web", ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}, Items: []corev1.KeyToPath{{Key: "web.conf", Path: "web.conf"}},
		}}}
	})
	const password = `Secret "db" in namespace "shop" has no key "password", and the pods need it`
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		fields       []metav1.ManagedFieldsEntry
		want         []string
	}{
		{name: "there", updated: secret(false, "user"), fields: []metav1.ManagedFieldsEntry{user}},
		{name: "missing", updated: secret(false, "user", "password"), fields: []metav1.ManagedFieldsEntry{user}, want: []string{password}},
		{
			name: "several", updated: secret(false, "port", "password"), fields: []metav1.ManagedFieldsEntry{user},
			want: []string{`Secret "db" in namespace "shop" has no keys "password", "port", and the pods need them`},
		},
		{name: "all of them, without data", updated: secret(false, "password"), fields: []metav1.ManagedFieldsEntry{written(`{"f:type":{}}`)}, want: []string{password}},
		{name: "of another client", updated: secret(false, "user", "password"), fields: []metav1.ManagedFieldsEntry{user, written(`{"f:data":{"f:password":{}}}`)}},
		{name: "optional", updated: secret(true, "password"), fields: []metav1.ManagedFieldsEntry{user}},
		{name: "as before", updated: secret(false, "password"), old: secret(false, "password"), fields: []metav1.ManagedFieldsEntry{user}},
		{name: "by an update", updated: secret(false, "user", "password"), old: secret(false, "user"), fields: []metav1.ManagedFieldsEntry{user}, want: []string{password}},
		{name: "managedFields cleared", updated: secret(false, "password")},
		{name: "applied as stringData", updated: secret(false, "password"), fields: []metav1.ManagedFieldsEntry{user, written(`{"f:stringData":{"f:user":{}}}`)}},
		{name: "in a form that is not known", updated: secret(false, "password"), fields: []metav1.ManagedFieldsEntry{written(`[]`)}},
		{
			name: "of a ConfigMap", updated: configMap, fields: []metav1.ManagedFieldsEntry{user},
			want: []string{`ConfigMap "conf" in namespace "shop" has no key "web.conf", and the pods need it`},
		},
		{name: "binary data", updated: configMap, fields: []metav1.ManagedFieldsEntry{written(`{"f:binaryData":{"f:web.conf":{}}}`)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			of := cluster{config: func(config *Config) {
				config.Find = func(_ context.Context, reference Reference) (*metav1.PartialObjectMetadata, error) {
					if reference.Kind != KindSecret && reference.Kind != KindConfigMap {
						return nil, nil
					}
					return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: reference.Name, ManagedFields: test.fields}}, nil
				}
			}}
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, of.handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}
