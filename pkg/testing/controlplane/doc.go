// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane gives tests a real Kubernetes API server.
//
// It runs bin/fairlead-cluster, which `make cluster` builds, and imports nothing of Kubernetes but client-go. A test
// package shares one cluster, started when the first test asks for it:
//
//	var shared = controlplane.NewShared(controlplane.WithAuditLog())
//
//	func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
//
//	func TestSomething(t *testing.T) {
//		cp := shared.Get(t)
//		namespace := cp.Namespace(t)
//		client := kubernetes.NewForConfigOrDie(cp.Config())
//		...
//	}
//
// A test that needs a cluster of its own calls [ForTest].
//
// The cluster is always one that the tests start. KUBECONFIG is never read: what tests do to a cluster, they must not do
// to one that people use.
//
// Components can be killed, paused and restarted one by one. What a test leaves broken is repaired when it ends, so the
// next test finds a working cluster. Tests that disturb a shared cluster must not be parallel.
package controlplane
