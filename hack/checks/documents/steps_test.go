// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"reflect"
	"testing"
)

func TestSteps(t *testing.T) {
	document := Document{Text: "# A\nWrite `a.yaml`:\n```yaml\na: b\n```\nand apply it:\n```sh\nkubectl apply -f a.yaml\nkubectl get a   # see\n```\n```text\nNAME\n```\nNot a step:\n```text\nx\n```\n"}
	var err error
	if document.Blocks, err = blocks(document.Text); err != nil {
		t.Fatal(err)
	}
	want := []Step{
		{Line: 4, File: "a.yaml", Content: "a: b\n"},
		{Line: 8, Command: "kubectl apply -f a.yaml"},
		{Line: 8, Command: "kubectl get a", Shows: "NAME\n"},
	}
	if got := document.Steps(); !reflect.DeepEqual(got, want) {
		t.Errorf("the steps are %+v", got)
	}
}

func TestMatches(t *testing.T) {
	for output, want := range map[string]bool{
		"NAME  READY  AGE\nhello  True  3s\n":                true,
		"NAME  READY  AGE\nhello  False  3s\n":               false,
		"NAME  READY  AGE\nhello  True  3s\nweb  True  3s\n": false,
	} {
		if got := Matches("NAME    READY  …\nhello   True   …\n", output); got != want {
			t.Errorf("%q matches: %v", output, got)
		}
	}
}
