// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	_ "embed"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// builtInSchema is what the comparison needs to know of the kinds that are part of Kubernetes. client-go's
// schema has it too, beside that of all other kinds: to read it takes a start five times as long.
//
//go:embed builtin.yaml
var builtInSchema typed.YAMLObject

// newBuiltInConverter reads builtInSchema, a constant.
func newBuiltInConverter(scheme *runtime.Scheme) managedfields.TypeConverter {
	parser, err := typed.NewParser(builtInSchema)
	if err != nil {
		panic(err)
	}
	return managedfields.NewSchemeTypeConverter(scheme, parser)
}
