// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package chaos looks for sequences of operations and faults that break an invariant of the controller. docs/reliability.md
// has the invariants, and says how to run it. It takes minutes, so the build tag chaos keeps it out of `go test ./...`.
//
// A program (program_test.go) is what happens to one namespace: operations of users and other controllers
// (operations_test.go), and faults (faults_test.go) in the network between the controller and the API server
// (transport_test.go). run_test.go runs one and judges the end (oracles_test.go), by comparing it with what a fresh
// controller makes of the same inputs (compare_test.go). A program that fails is made shorter (shrink_test.go) and printed
// as a test to keep. matrix_test.go and matrix_etcd_test.go have the faults of the fault matrix that are programs.
package chaos
