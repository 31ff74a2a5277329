// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// correction replaces what Kubernetes' types say about a field by what is true of an Application.
type correction struct {
	path         *regexp.Regexp
	theirs, ours string
}

// The defaults are those of pkg/render.
var corrections = []correction{
	{regexp.MustCompile(`\.rollingUpdate\.maxUnavailable$`), "Defaults to 25%.", "Defaults to 0, or to 1 if maxSurge is 0."},
	{
		regexp.MustCompile(`\.rollingUpdate$`),
		"Rolling update config params. Present only if DeploymentStrategyType = RollingUpdate.",
		"How many pods a rollout replaces at once. Not with type Recreate.",
	},
	{
		regexp.MustCompile(`\.securityContext\.allowPrivilegeEscalation$`),
		"AllowPrivilegeEscalation is true always when the container is:",
		"Defaults to false where that is possible. AllowPrivilegeEscalation is true always when the container is:",
	},
	{regexp.MustCompile(`^spec\.securityContext\.readOnlyRootFilesystem$`), "Default is false.", "Defaults to true."},
	{
		regexp.MustCompile(`\.securityContext\.capabilities$`),
		"Defaults to the default set of capabilities granted by the container runtime.",
		"If drop is unset or empty, all capabilities are dropped.",
	},
	{
		regexp.MustCompile(`^spec\.podSecurityContext\.runAsNonRoot$`),
		"If unset or false, no such validation will be performed.",
		"Defaults to true. If false, no such validation will be performed.",
	},
	{
		regexp.MustCompile(`\.securityContext\.runAsNonRoot$`),
		"If unset or false, no such validation will be performed.",
		"If unset, the value of podSecurityContext applies, which is true by default. If false, no such validation will be performed.",
	},
	{
		regexp.MustCompile(`\.tolerations\..*\.operator$`), // Of a feature gate that is off by default. The webhook refuses them.
		"Valid operators are Exists, Equal, Lt, and Gt. Defaults to Equal.",
		"Valid operators are Exists and Equal. Defaults to Equal.",
	},
	{
		regexp.MustCompile(`\.tolerations\..*\.operator$`),
		" Lt and Gt perform numeric comparisons (requires feature gate TaintTolerationComparisonOperators).",
		"",
	},
	{
		regexp.MustCompile(`\.lifecycle\.stopSignal$`),
		"StopSignal can only be set for Pods with a non-empty .spec.os.name",
		"An Application cannot set it, because Kubernetes takes it only with the pod's os.name: use STOPSIGNAL of the image, or preStop.",
	},
	{
		regexp.MustCompile(`\.(sidecars|initContainers)\.\[items\]\.image$`), // The webhook refuses a container without one.
		"Container image name.",
		"Container image name. Required.",
	},
	{
		regexp.MustCompile(`\.(sidecars|initContainers)\.\[items\]\.image$`),
		" This field is optional to allow higher level config management to default or override container images in workload controllers like Deployments and StatefulSets.",
		"",
	},
	{regexp.MustCompile(`\.topologySpreadConstraints\.\[items\]\.matchLabelKeys$`), theirMatchLabelKeys, ourMatchLabelKeys},
}

// Theirs is true of a pod. An empty labelSelector of an Application selects the Application's pods, so the keys need no other.
const (
	theirMatchLabelKeys = "MatchLabelKeys is a set of pod label keys to select the pods over which spreading will be calculated. " +
		"The keys are used to lookup values from the incoming pod labels, those key-value labels are ANDed with labelSelector to select " +
		"the group of existing pods over which spreading will be calculated for the incoming pod. " +
		"The same key is forbidden to exist in both MatchLabelKeys and LabelSelector. " +
		"MatchLabelKeys cannot be set when LabelSelector isn't set. Keys that don't exist in the incoming pod labels will be ignored. " +
		"A null or empty list means only match against labelSelector.\n\n" +
		"This is a beta field and requires the MatchLabelKeysInPodTopologySpread feature gate to be enabled (enabled by default)."
	ourMatchLabelKeys = "Keys of labels of the pods. For a new pod, the scheduler counts only those pods of labelSelector that have the same " +
		"values of these labels as the new pod. It ignores a key that the new pod lacks. " +
		"Default: no key, so the old and the new pods of a rollout count together.\n\n" +
		"Use pod-template-hash to count each revision alone: then the new pods of a rollout spread evenly, wherever the old pods are. " +
		"Another key makes sense only if labelSelector selects pods with several values of it, such as pods of several Applications. " +
		"A key must not be in labelSelector too; an empty labelSelector has " + v1.LabelApplication + "."
)

// notUpdatable is true of a pod. Fairlead replaces the pods.
const notUpdatable = " Cannot be updated."

// correct corrects the descriptions of Kubernetes' types, whose lines are joined. kubectl explain shows the description of a field
// alone, without the description of the field above it.
func correct(path string, schema node) error {
	for name, property := range children(schema) {
		if err := correct(path+"."+name, property); err != nil {
			return err
		}
	}
	description, ok := schema["description"].(string)
	if !ok {
		return nil
	}
	description = strings.ReplaceAll(description, notUpdatable, "")
	for _, c := range corrections {
		if !c.path.MatchString(path) {
			continue
		}
		if strings.Count(description, c.theirs) != 1 {
			return fmt.Errorf("%s: the description does not say %q", path, c.theirs)
		}
		description = strings.Replace(description, c.theirs, c.ours, 1)
	}
	schema["description"] = description
	return nil
}
