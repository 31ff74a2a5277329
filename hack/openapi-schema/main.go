// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command openapi-schema prints the OpenAPI (v2) document of the Fairlead API types, as
// applyconfiguration-gen wants it. hack/update-codegen.sh runs it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"fairlead.dev/fairlead/pkg/generated/openapi"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "openapi-schema:", err)
		os.Exit(1)
	}
}

func run() error {
	definitions := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/definitions/" + modelName(name))
	})
	schemas := spec.Definitions{}
	for name, definition := range definitions {
		name := modelName(name)
		// The v2 form is what structured merge is built from; types such as IntOrString differ in v3.
		if v2, ok := definition.Schema.Extensions[common.ExtensionV2Schema]; ok {
			if schema, ok := v2.(spec.Schema); ok {
				schemas[name] = schema
				continue
			}
		}
		schemas[name] = definition.Schema
	}
	return json.NewEncoder(os.Stdout).Encode(&spec.Swagger{
		SwaggerProps: spec.SwaggerProps{
			Swagger:     "2.0",
			Info:        &spec.Info{InfoProps: spec.InfoProps{Title: "Fairlead", Version: "v1"}},
			Paths:       &spec.Paths{Paths: map[string]spec.PathItem{}},
			Definitions: schemas,
		},
	})
}

// modelName is the name under which the generator looks for a type. A few types, such as
// IntOrString, come under their Go names.
func modelName(name string) string {
	if strings.Contains(name, "/") {
		return util.ToRESTFriendlyName(name)
	}
	return name
}
