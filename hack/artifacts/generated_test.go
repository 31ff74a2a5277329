// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/pkg/admission"
)

var update = flag.Bool("update", false, "write the generated files instead of comparing them")

const (
	header = "# Copyright The Fairlead Authors.\n# SPDX-License-Identifier: Apache-2.0\n\n"

	operatorNamespace = "fairlead-system"
	webhookService    = "fairlead-webhook"
)

// TestGenerated compares the files that are made from others, or writes them. The second is made from
// the first among others, hence the order.
func TestGenerated(t *testing.T) {
	type generated struct {
		file string
		make func(*testing.T) []byte
	}
	const templates = "artifacts/chart/fairlead/templates/"
	tests := []generated{
		{"artifacts/webhook/configurations.yaml", webhookConfigurations},
		{"artifacts/install.yaml", installation},
		{templates + "_rules.tpl", chartRulesLibrary},
	}
	for _, template := range chartTemplates {
		tests = append(tests, generated{templates + template.file, template.render})
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			want := test.make(t)
			path := filepath.Join(root, filepath.FromSlash(test.file))
			if *update {
				if err := os.WriteFile(path, want, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), readFile(t, test.file)); diff != "" {
				t.Errorf("%s is out of date: run make generate (-want +got):\n%s", test.file, diff)
			}
		})
	}
}

// webhookConfigurations writes down what pkg/admission decides. The caBundle is absent: whoever makes
// the certificates puts it in, and applying the file again does not take it out.
func webhookConfigurations(t *testing.T) []byte {
	t.Helper()
	mutating, validating := admission.Configurations(admission.ConfigurationName, admission.Endpoint{
		Service: &admissionregistrationv1.ServiceReference{Namespace: operatorNamespace, Name: webhookService, Port: new(int32(443))},
	}, operatorNamespace)
	var file bytes.Buffer
	file.WriteString(header + "# Generated from pkg/admission/configuration.go by make generate. Do not edit.\n")
	for _, configuration := range []any{mutating, validating} {
		document, err := yaml.Marshal(configuration)
		if err != nil {
			t.Fatal(err)
		}
		file.WriteString("---\n")
		file.Write(document)
	}
	return file.Bytes()
}

// installation is the CRDs and the default overlay in one file, for who has neither make nor kustomize.
func installation(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	file.WriteString(header + `# Generated from artifacts/crds and artifacts/overlays/default by make generate. Do not edit.
#
#   kubectl apply --server-side -f artifacts/install.yaml
#
# after the image of the Deployment is where your nodes find it; see docs/operations.md.
`)
	crds, err := filepath.Glob(filepath.Join(root, "artifacts", "crds", "*.yaml"))
	if err != nil || len(crds) == 0 {
		t.Fatalf("list the CRDs: %v, found %d", err, len(crds))
	}
	for _, crd := range crds {
		content, err := os.ReadFile(crd)
		if err != nil {
			t.Fatal(err)
		}
		file.Write(content)
	}
	file.WriteString("---\n")
	file.Write(build(t, "artifacts/overlays/default"))
	return file.Bytes()
}
