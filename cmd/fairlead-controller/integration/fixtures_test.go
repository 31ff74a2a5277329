// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"

	"fairlead.dev/fairlead/pkg/child"
)

// full is an Application with a child of every kind.
const full = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  ports: [{name: http, containerPort: 8080, servicePort: 80}]
  config: {mountPath: /etc/web, data: {web.yaml: "greeting: hello"}}
  env: [{name: COLOUR, value: blue}]
  resources: {requests: {cpu: 10m, memory: 16Mi}}
  autoscaling: {minReplicas: 2, maxReplicas: 4, targetCPUUtilizationPercentage: 70}
  routes: [{name: public, hostnames: [web.example.com]}]
  networkPolicy: {}
`

// small is an Application with few children and a number of replicas that is left open.
const small = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
`

// namedKinds returns the kinds of children whose names are known in advance: all but the history.
func namedKinds() []child.Kind {
	return slices.DeleteFunc(child.Kinds(), func(kind child.Kind) bool { return kind == child.ControllerRevision })
}

// childName is the name of a child of the Application.
func childName(kind child.Kind, application string) string {
	if kind == child.ConfigMap {
		return application + "-config"
	}
	return application
}
