// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTable(t *testing.T) {
	expectLines(t, format(&metav1.Table{
		ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name"}, {Name: "Image", Priority: 1}, {Name: "Restarts"}},
		Rows:              []metav1.TableRow{{Cells: []any{"catalog", "example.com/catalog:1", int64(0)}}, {Cells: []any{"web", "", int64(12)}}},
	}), "NAME      RESTARTS   \ncatalog   0          \nweb       12         \n")
}
