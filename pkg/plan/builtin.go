// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	_ "embed"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// builtInSchema is the schema of those built-in kinds that Fairlead renders. client-go has it in its schema of all kinds,
// but reading that would take a start five times as long.
//
//go:embed builtin.yaml
var builtInSchema typed.YAMLObject

// newBuiltInConverter converts the kinds of builtInSchema.
func newBuiltInConverter(scheme *runtime.Scheme) managedfields.TypeConverter {
	return managedfields.NewSchemeTypeConverter(scheme, builtInTypes())
}

// builtInTypes reads builtInSchema, a constant, once for all Differs.
var builtInTypes = sync.OnceValue(func() *typed.Parser {
	parser, err := typed.NewParser(builtInSchema)
	if err != nil {
		panic(err)
	}
	return parser
})
