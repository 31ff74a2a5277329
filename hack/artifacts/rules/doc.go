// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rules has the test that tries the alerts of artifacts/components on series in which something is wrong. It is a
// module of its own, because it uses Prometheus as a library.
//
// testdata has what `promtool test rules` reads, too. promtool itself links every kind of service
// discovery and takes three times as long to compile.
package rules
