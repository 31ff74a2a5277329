// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestPodsOf: one selector has the pods of several Applications, but for those that lack the label.
func TestPodsOf(t *testing.T) {
	named := func(name, selector string) *v1.Application {
		application := &v1.Application{Status: v1.ApplicationStatus{Selector: selector}}
		application.Name = name
		return application
	}
	web, api, adopted := named("web", "apps.fairlead.dev/application=web"), named("api", ""), named("shop", "app=shop")
	for _, test := range []struct {
		of         []*v1.Application
		want, fail string
	}{
		{of: []*v1.Application{api}, want: "apps.fairlead.dev/application=api"},
		{of: []*v1.Application{adopted}, want: "app=shop"},
		{of: []*v1.Application{web, api}, want: "apps.fairlead.dev/application in (web,api)"},
		{of: []*v1.Application{web, adopted}, fail: "the pods of shop have no label of it before their first rollout: print their logs in a command of their own"},
	} {
		got, err := podsOf(test.of)
		if got != test.want || (err != nil || test.fail != "") && (err == nil || err.Error() != test.fail) {
			t.Errorf("%q, %v, want %q, %q", got, err, test.want, test.fail)
		}
	}
}
