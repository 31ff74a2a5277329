// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"testing"
)

// TestForReasons: a user reads every reason in a line of its own, and one reason alone as it is.
func TestForReasons(t *testing.T) {
	marked, taken := errors.New("Deployment web cannot be adopted"), errors.New("Ingress web exists already")
	for _, test := range []struct {
		reasons []error
		want    string
	}{
		{[]error{marked}, "Deployment web cannot be adopted"},
		{[]error{marked, taken}, "nothing was written, for 2 reasons:\n- Deployment web cannot be adopted\n- Ingress web exists already"},
	} {
		if err := forReasons(test.reasons); err == nil || err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	if err := forReasons(nil); err != nil {
		t.Errorf("%v without a reason", err)
	}
}

// TestMustStay: what the adoption needs is not offered for --accept.
func TestMustStay(t *testing.T) {
	refused := []error{errors.New("Deployment api cannot be adopted because of spec.template.metadata.labels[team]: the new pods need the label too, " +
		"and because of spec.template.metadata.labels[example.com/tier]: so they do"),
		errors.New("Deployment api cannot be adopted because of spec.selector.matchLabels[app]: the new pods need the label too"),
		errors.New("Service api cannot be adopted because of spec.selector[track]: the new pods need the label too")}
	for path, want := range map[string]bool{
		".metadata.labels.team": true, ".metadata.labels[team]": true, ".metadata.labels[example.com/tier]": true,
		".metadata.labels.app": true, ".metadata.labels.track": true,
		".metadata.labels.tea": false, ".metadata.labels": false, ".spec.containers[api].tty": false,
	} {
		if got := mustStay(path, refused); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}
