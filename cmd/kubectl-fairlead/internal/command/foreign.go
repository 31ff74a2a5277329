// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
)

const (
	kubectlApply  = "kubectl apply -f FILE"
	kubectlDelete = "kubectl delete applications.apps.fairlead.dev NAME"
)

// foreign are commands of kubectl, Helm, Compose and the like, and what does the same for an Application. Cobra would suggest
// what is spelled alike: top for stop.
var foreign = map[string]string{
	"apply": kubectlApply, "create": kubectlApply, "deploy": kubectlApply, "install": kubectlApply, "up": kubectlApply, "upgrade": kubectlApply,
	"check": "kubectl fairlead lint -f FILE", "validate": "kubectl fairlead lint -f FILE",
	"delete": kubectlDelete, "down": kubectlDelete, "remove": kubectlDelete, "rm": kubectlDelete, "uninstall": kubectlDelete,
	"describe": "kubectl fairlead status NAME", "info": "kubectl fairlead status NAME", "inspect": "kubectl fairlead status NAME",
	"edit":    "kubectl edit applications.apps.fairlead.dev NAME",
	"events":  "kubectl events --for applications.apps.fairlead.dev/NAME",
	"explain": "kubectl explain applications.apps.fairlead.dev.spec",
	"image":   "kubectl fairlead set image NAME IMAGE",
	"list":    "kubectl fairlead get", "ls": "kubectl fairlead get", "ps": "kubectl fairlead get",
	"rollback": "kubectl fairlead undo NAME",
	"rollout":  "kubectl fairlead restart, undo, history, pause, resume or status, each with a NAME",
	"sh":       "kubectl fairlead exec -it NAME -- sh", "shell": "kubectl fairlead exec -it NAME -- sh", "ssh": "kubectl fairlead exec -it NAME -- sh",
	"start":    "kubectl fairlead scale NAME --replicas=COUNT",
	"stop":     "kubectl fairlead scale NAME --replicas=0",
	"template": "kubectl fairlead render -f FILE",
	"version":  "kubectl fairlead --version",
	"wait":     "kubectl fairlead status NAME --watch",
}

// explainUnknown says what to do about a command that does not exist.
func explainUnknown(message string) string {
	_, rest, _ := strings.Cut(message, `"`)
	word, _, _ := strings.Cut(rest, `"`)
	if instead, known := foreign[word]; known {
		return fmt.Sprintf("unknown command %q: use %s", word, instead)
	}
	return strings.TrimRight(message, "\n") + "\nSee 'kubectl fairlead -h' for the commands"
}
