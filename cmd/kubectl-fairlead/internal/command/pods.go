// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/cmd/exec"
	"k8s.io/kubectl/pkg/cmd/logs"
	"k8s.io/kubectl/pkg/cmd/portforward"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/text"
	"fairlead.dev/fairlead/pkg/tree"
)

// maxLogs is how many pods are followed at once; kubectl's default is 5.
const maxLogs = "50"

// logs is `kubectl logs` for all pods of Applications.
func (t *tool) logs() *cobra.Command {
	cmd := logs.NewCmdLogs(t.factory, t.IOStreams)
	run := cmd.Run
	chosen := selection{}
	cmd.Use = "logs NAME... [flags]"
	cmd.Short = "Print the logs of all pods of an Application"
	cmd.Long = "Print the logs of all pods of an Application, each line with its pod. It is kubectl logs, and takes its flags. " +
		"Where some pods have no log yet, it says so and prints those of the others, unless you set --ignore-errors=false or --follow."
	cmd.Example = examples(`
		# The last ten lines of each pod, and what follows
		kubectl fairlead logs web -f

		# What the container said before it crashed
		kubectl fairlead logs web --previous --tail=100`)
	cmd.Flags().BoolVar(&chosen.all, "all", false, "Select all Applications of the namespace.")
	cmd.Flags().Lookup("selector").Usage = "Select Applications by their labels, for example team=shop."
	tail := cmd.Flags().Lookup("tail") // kubectl prints all lines without a selector; here there is always one.
	tail.Usage, tail.DefValue = "The last lines of each log to print; -1 for all.", "10"
	cmd.Args = func(cmd *cobra.Command, args []string) (err error) {
		if chosen.selector, err = cmd.Flags().GetString("selector"); err != nil {
			return err
		}
		return chosen.check(cmd, args)
	}
	cmd.ValidArgsFunction = t.completeNames()
	hide(cmd, "all-pods", "max-log-requests", "insecure-skip-tls-verify-backend", "pod-running-timeout")
	cmd.Run = nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		clients, err := t.clients()
		if err != nil {
			return err
		}
		applications, missing, err := chosen.readShown(cmd.Context(), t, clients, args)
		if err != nil {
			return err
		}
		missing = t.sayNow(missing)
		if len(applications) == 1 {
			if err := t.checkScaledToZero(applications[0]); err != nil {
				return err
			}
		}
		selector, err := podsOf(applications)
		if err != nil {
			return err
		}
		pods, err := t.checkStarted(cmd.Context(), clients, applications, selector)
		if err != nil {
			return err
		}
		if container, _ := cmd.Flags().GetString("container"); container != "" {
			selector = t.withContainer(selector, pods, container)
		}
		set := map[string]string{"selector": selector, "prefix": "true", "max-log-requests": maxLogs}
		// kubectl asks for the logs in no order, and ends at the first error. While it follows them, it tries again instead.
		follows, _ := cmd.Flags().GetBool("follow")
		previous, _ := cmd.Flags().GetBool("previous")
		if !follows && !cmd.Flags().Changed("ignore-errors") && someLackLogs(pods, previous) {
			set["ignore-errors"] = "true"
		}
		for flag, value := range set {
			if err := cmd.Flags().Set(flag, value); err != nil {
				return err
			}
		}
		run(cmd, nil)
		return missing
	}
	return cmd
}

// sayNow prints an error that what follows could hide: logs may have no end, and kubectl may end the process. It returns what ends the command.
func (t *tool) sayNow(err error) error {
	if err == nil {
		return nil
	}
	fmt.Fprintf(t.ErrOut, "error: %s\n", explain(err))
	return errSaid
}

// podsOf selects the pods of the Applications. An adopted Deployment keeps its selector, and its pods may lack the label of the
// Application: no selector has those and others.
func podsOf(applications []*v1.Application) (string, error) {
	if only := applications[0]; len(applications) == 1 {
		return cmp.Or(only.Status.Selector, v1.LabelApplication+"="+only.Name), nil
	}
	var names []string
	for _, application := range applications {
		if selector := application.Status.Selector; selector != "" && !strings.Contains(selector, v1.LabelApplication+"="+application.Name) {
			return "", fmt.Errorf("the pods of %s have no label of it before their first rollout: print their logs in a command of their own", application.Name)
		}
		names = append(names, application.Name)
	}
	return v1.LabelApplication + " in (" + strings.Join(names, ",") + ")", nil
}

// someLackLogs reports whether some of the pods have a log, or one of a container that has exited before, and others have none yet. If none
// has, kubectl's error is all that there is to say.
func someLackLogs(pods []corev1.Pod, previous bool) bool {
	hasLog := func(pod corev1.Pod) bool {
		statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
		return slices.ContainsFunc(statuses, func(container corev1.ContainerStatus) bool {
			return container.RestartCount > 0 || !previous && (container.State.Running != nil || container.State.Terminated != nil)
		})
	}
	has := slices.ContainsFunc(pods, hasLog)
	return has && slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return !hasLog(pod) })
}

// withContainer leaves out the pods of a revision that lacks the container: kubectl prints no log at all if one of them does.
func (t *tool) withContainer(selector string, pods []corev1.Pod, name string) string {
	var have []string
	lack := 0
	for _, pod := range pods {
		hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		switch {
		case !slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(container corev1.Container) bool { return container.Name == name }):
			lack++
		case hash == "":
			return selector // Such a pod cannot be selected.
		case !slices.Contains(have, hash):
			have = append(have, hash)
		}
	}
	if lack == 0 || len(have) == 0 {
		return selector
	}
	without := "1 pod has no container " + name + ", and is left out."
	if lack > 1 {
		without = fmt.Sprintf("%d pods have no container %s, and are left out.", lack, name)
	}
	fmt.Fprintln(t.ErrOut, without)
	return selector + "," + appsv1.DefaultDeploymentUniqueLabelKey + " in (" + strings.Join(have, ",") + ")"
}

// checkStarted returns the pods, and reports that none has logs. kubectl says nothing about that, or too little to go on.
func (t *tool) checkStarted(ctx context.Context, clients *cluster.Clients, applications []*v1.Application, selector string) ([]corev1.Pod, error) {
	namespace := applications[0].Namespace
	pods, err := clients.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return pod.Spec.NodeName != "" }) {
		return pods.Items, nil
	}
	var names []string
	for _, application := range applications {
		names = append(names, application.Name)
	}
	what := "there are no logs, because there is no pod of " + text.Enumerate(names)
	if len(pods.Items) > 0 {
		what = "there are no logs, because no pod of " + text.Enumerate(names) + " has a node yet"
	}
	return nil, fmt.Errorf("%s: see '%s'", what, t.commandLine(namespace, "why "+strings.Join(names, " ")))
}

// exec is `kubectl exec` in one healthy pod of an Application.
func (t *tool) exec() *cobra.Command {
	cmd := exec.NewCmdExec(t.factory, t.IOStreams)
	run := cmd.Run
	cmd.Use = "exec NAME [-c CONTAINER] [flags] -- COMMAND [ARGS...]"
	cmd.Short = "Run a command in a healthy pod of an Application"
	cmd.Long = "Run a command in a ready pod of the current revision. While there is none, it takes a ready pod of an earlier revision, and says so. " +
		"It is kubectl exec, and takes its flags."
	cmd.Example = examples(`
		# A shell
		kubectl fairlead exec web -it -- sh

		# The variables of the sidecar proxy
		kubectl fairlead exec web -c proxy -- env`)
	cmd.ValidArgsFunction = t.completeNames()
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := required("name an Application", "pass the command to run, after --")(cmd, args); err != nil || cmd.ArgsLenAtDash() == 1 {
			return err
		}
		return errors.New("write -- between the one Application and the command")
	}
	hide(cmd, "filename", "pod-running-timeout")
	cmd.Run = nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		pod, _, err := t.healthyPod(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		run(cmd, append([]string{pod}, args[1:]...))
		return nil
	}
	return cmd
}

// portForward is `kubectl port-forward` to one healthy pod of an Application.
func (t *tool) portForward() *cobra.Command {
	cmd := portforward.NewCmdPortForward(t.factory, t.IOStreams)
	run := cmd.Run
	cmd.Use = "port-forward NAME [[LOCAL_PORT:]REMOTE_PORT...] [flags]"
	cmd.Short = "Forward local ports to a healthy pod of an Application"
	cmd.Long = "Forward local ports to a ready pod of the current revision; without ports, all of spec.ports. While there is none, it takes a ready " +
		"pod of an earlier revision, and says so. It is kubectl port-forward, and takes its flags."
	cmd.Example = examples(`
		# All ports of the Application, under the same numbers
		kubectl fairlead port-forward web

		# Port 8080 of the pod as port 9000 here
		kubectl fairlead port-forward web 9000:8080`)
	cmd.ValidArgsFunction = t.completeNames()
	cmd.Args = required("name an Application")
	hide(cmd, "pod-running-timeout")
	cmd.Run = nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		pod, application, err := t.healthyPod(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		ports := args[1:]
		if len(ports) == 0 {
			for _, port := range application.Spec.Ports {
				ports = append(ports, strconv.Itoa(int(port.ContainerPort)))
			}
		}
		if len(ports) == 0 {
			return fmt.Errorf("%s has no ports: name one", application.Name)
		}
		run(cmd, append([]string{"pod/" + pod}, ports...))
		return nil
	}
	return cmd
}

// application reads one Application of the namespace.
func (t *tool) application(ctx context.Context, name string) (*v1.Application, error) {
	clients, err := t.clients()
	if err != nil {
		return nil, err
	}
	applications, err := (&selection{}).read(ctx, t, clients, []string{name})
	if err != nil {
		return nil, err
	}
	return applications[0], nil
}

// healthyPod returns a pod that serves; one of the current revision, if there is one. If not, it says so: the user may look for what the last
// change of the spec brought, which an earlier pod does not have.
func (t *tool) healthyPod(ctx context.Context, arg string) (string, *v1.Application, error) {
	application, err := t.application(ctx, arg)
	if err != nil {
		return "", nil, err
	}
	clients, err := t.clients()
	if err != nil {
		return "", nil, err
	}
	loaded, err := clients.Load(ctx, application)
	if err != nil {
		return "", nil, err
	}
	pod, earlier := servingPod(loaded)
	if earlier {
		fmt.Fprintf(t.ErrOut, "No pod of the current revision is ready: pod %s is of an earlier one.\n", pod)
	}
	if pod != "" {
		return pod, application, nil
	}
	if err := t.checkScaledToZero(application); err != nil {
		return "", nil, err
	}
	name, namespace := application.Name, application.Namespace
	if forbidden := loaded.Unreadable["pods"]; forbidden != nil {
		return "", nil, forbidden
	}
	if hidden := abovePods(loaded); len(hidden) > 0 { // Only those know the pods of an adopted Deployment.
		return "", nil, fmt.Errorf("no pod of %s/%s is known to be ready, because you may not list %s", namespace, name, strings.Join(hidden, ", "))
	}
	return "", nil, fmt.Errorf("no pod of %s/%s is ready: see '%s'", namespace, name, t.commandLine(namespace, "why "+name))
}

// servingPod returns the name of a pod that serves, and whether it is known to be of an earlier revision; "" if none is known. If the user may
// not read which revision a pod has, it is the newest.
func servingPod(loaded *cluster.Loaded) (name string, earlier bool) {
	// The tree has the ReplicaSet of the current revision first, and each before its pods.
	for _, node := range tree.Build(loaded.Objects).All() {
		switch {
		case node.Kind == "ReplicaSet":
			earlier = isEarlier(loaded, node.Name)
		case node.Kind == "Pod" && node.Health == tree.Healthy:
			return node.Name, earlier
		}
	}
	if len(abovePods(loaded)) == 0 {
		return "", false
	}
	var newest *corev1.Pod
	for _, pod := range loaded.Pods {
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner == nil || owner.Kind != "ReplicaSet" || pod.DeletionTimestamp != nil || !tree.PodReady(pod) {
			continue
		}
		if newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp) {
			newest = pod
		}
	}
	if newest == nil {
		return "", false
	}
	return newest.Name, false
}

// isEarlier reports whether the ReplicaSet is not of the revision of its Deployment.
func isEarlier(loaded *cluster.Loaded, replicaSet string) bool {
	for _, r := range loaded.ReplicaSets {
		for _, above := range loaded.Children {
			if r.Name == replicaSet && metav1.IsControlledBy(r, above) {
				return r.Annotations[child.RevisionAnnotation] != above.GetAnnotations()[child.RevisionAnnotation]
			}
		}
	}
	return false
}

// abovePods are the resources between an Application and its pods that the user may not list.
func abovePods(loaded *cluster.Loaded) []string {
	return slices.DeleteFunc([]string{child.Deployment.Resource, "replicasets"}, func(resource string) bool { return loaded.Unreadable[resource] == nil })
}

// checkScaledToZero reports that the Application has no pods because it asks for none.
func (t *tool) checkScaledToZero(application *v1.Application) error {
	name, namespace := application.Name, application.Namespace
	switch ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady); {
	case ready == nil || ready.Reason != v1.ReasonScaledToZero:
		return nil
	case application.Spec.Autoscaling != nil:
		return fmt.Errorf("%s/%s has no pods, because its autoscaler asks for none: set spec.autoscaling.minReplicas and maxReplicas to 1 or more", namespace, name)
	default:
		return fmt.Errorf("%s/%s has no pods, because it asks for none: see '%s'", namespace, name, t.commandLine(namespace, "scale "+name+" --replicas=1"))
	}
}
