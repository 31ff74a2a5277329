// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane gives tests a real Kubernetes API server.
//
// It runs bin/fairlead-cluster, which `make cluster` builds, and imports only client-go. The tests of a package share one
// cluster, which starts when the first test needs it:
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
// Tests always start their own cluster. They never read KUBECONFIG, because what they do to a cluster they must not do to
// one that people use.
//
// Tests can kill, pause and restart each component. The end of a test repairs what it left broken, so that the next test
// has a working cluster. Tests that disturb a shared cluster must not be parallel.
package controlplane
