// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"
)

// TestRecordedForKStatus feeds the Applications that pkg/status recorded, one for every way in
// which an Application can stand, to kstatus.
func TestRecordedForKStatus(t *testing.T) {
	encoded, err := os.ReadFile("../../../pkg/status/testdata/kstatus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var records []struct {
		Scenario    string
		KStatus     kstatus.Status
		Application unstructured.Unstructured
	}
	if err := yaml.Unmarshal(encoded, &records); err != nil {
		t.Fatal(err)
	}
	if len(records) == 0 {
		t.Fatal("nothing is recorded")
	}
	for _, record := range records {
		t.Run(record.Scenario, func(t *testing.T) {
			got, err := kstatus.Compute(&record.Application)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != record.KStatus {
				t.Errorf("kstatus says %s (%s), want %s", got.Status, got.Message, record.KStatus)
			}
		})
	}
}
