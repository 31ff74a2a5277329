// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// serviceAccounts renders the Application's own ServiceAccount, unless the spec names another one.
func serviceAccounts(app *v1.Application, _ Facts) ([]any, error) {
	var annotations map[string]string
	if account := app.Spec.ServiceAccount; account != nil {
		if account.Name != "" {
			return nil, nil
		}
		annotations = account.Annotations
	}
	account := corev1ac.ServiceAccount(ServiceAccountName(app), app.Namespace).
		WithAutomountServiceAccountToken(automountToken(app))
	account.ObjectMetaApplyConfiguration = objectMeta(app, ServiceAccountName(app), annotations)
	return []any{account}, nil
}
