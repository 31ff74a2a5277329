// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestCostlyQuantityAtTheRequest would not end if the quantity were parsed. The webhooks see it before the schema refuses it.
func TestCostlyQuantityAtTheRequest(t *testing.T) {
	codec, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"apiVersion":"apps.fairlead.dev/v1","kind":"Application","spec":{"image":"a","resources":{"limits":{"cpu":"1e-999999999"}}}}`)
	for name, decoder := range map[string]runtime.Decoder{"strict": codec.strict, "lenient": codec.lenient} {
		if _, _, err := decoder.Decode(body, nil, &v1.Application{}); err == nil {
			t.Errorf("the %s decoder takes it", name)
		}
	}
}
