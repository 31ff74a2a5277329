// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package walkthrough

import (
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/hack/checks/documents"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// moved is what runs, and an Application that keeps its labels, as those of policies and monitors often must.
const moved = `cat >web.yaml <<'END'
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: example.com/web:2
  replicas: 2
  ports: [{name: http, containerPort: 8080, servicePort: 80}]
  podMetadata: {labels: {app: web}}
END
kubectl create deployment web --image=example.com/web:1 --replicas=2 && kubectl expose deployment web --port=80 --target-port=8080 &&
kubectl wait --for=condition=Available deployment/web --timeout=1m`

// TestMove does what docs/applications.md says about a Deployment that cannot be adopted. The last command deletes the old pods, and no
// new one, although the Application keeps their label.
func TestMove(t *testing.T) {
	const path = "docs/applications.md"
	document, err := documents.Find(root, path)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(document.Blocks, func(b documents.Block) bool {
		return strings.Contains(b.Text, "kubectl delete deployment web --cascade=orphan")
	})
	if at < 0 {
		t.Fatalf("%s does not move a Deployment", path)
	}
	lines := strings.Split(strings.TrimSpace(document.Blocks[at].Text), "\n")
	s := newSession(t, buildKubectl(t), controlplane.ForTest(t).Kubeconfig())
	s.ownKubeconfig()
	s.do("make install")
	s.do("make run")
	in := "cd " + s.directory + " && "
	s.do(in + moved)
	for _, line := range lines[:len(lines)-1] {
		if command, _, _ := strings.Cut(line, "#"); !strings.HasSuffix(strings.TrimSpace(command), "&&") {
			t.Errorf("%q does not keep the next command from running if it fails", line)
		}
	}
	s.do(in + strings.Join(lines[:len(lines)-1], "\n") + "\ntrue")
	const replicaSets = "kubectl get replicasets -l app=web -o jsonpath='{range .items[*]}{.spec.template.spec.containers[0].image}{\"\\n\"}{end}' | sort"
	for _, step := range []struct{ line, want string }{{"true", "example.com/web:1\nexample.com/web:2\n"}, {lines[len(lines)-1], "example.com/web:2\n"}} {
		s.do(step.line)
		if images, err := s.run(replicaSets, ""); err != nil || images != step.want {
			t.Errorf("after %s: %v: the ReplicaSets are of\n%swant\n%s", step.line, err, images, step.want)
		}
	}
	s.do("kubectl wait --for=condition=Available applications.apps.fairlead.dev/web --timeout=1m")
}
