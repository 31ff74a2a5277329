// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crds embeds the CustomResourceDefinitions, for programs that check objects without a cluster.
package crds

import "embed"

// Files are the definitions, as YAML.
//
//go:embed *.yaml
var Files embed.FS
