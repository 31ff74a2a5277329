// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/pkg/admission"
)

// A user in trouble copies the names of the webhook configurations from the handbook.
func TestHandbookNamesTheWebhookConfigurations(t *testing.T) {
	text := readFile(t, handbook)
	for _, want := range []string{
		"kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration " + admission.ConfigurationName + "\n",
		"`" + admission.OutOfClusterConfigurationName + "`",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", handbook, want)
		}
	}
}
