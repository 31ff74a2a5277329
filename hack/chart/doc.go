// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package chart has the tests of artifacts/chart. It is a module of its own, because it uses Helm as a library.
//
// The chart renders the same objects as the overlays of artifacts/overlays; TestSameObjectsAsOverlays compares them. Most
// of its templates are therefore made from the same manifests (see hack/artifacts/chart_test.go). Two kinds of files are
// made here:
//
//	go -C hack/chart test . -update
//
// writes the golden files of testdata/golden, and the table of values in the chart's README.md.
//
// Package lifecycle installs the chart on an embedded cluster: make chart-test.
package chart
