// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package usage compares the resources that the pods of Applications use with those that they ask for. It is pure.
package usage

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Usage is what the pods of one Application use. Its JSON is stable: fields are added, never changed.
type Usage struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Pods are those that run, and Measured those of them with metrics.
	Pods     int `json:"pods"`
	Measured int `json:"measured"`
	// CPU is in millicores, memory in MiB. Requested counts all pods that run.
	CPU             int64 `json:"cpuMillicores"`
	CPURequested    int64 `json:"cpuRequestedMillicores"`
	Memory          int64 `json:"memoryMiB"`
	MemoryRequested int64 `json:"memoryRequestedMiB"`
}

// Of returns the usage of the Applications, in their order. Pods belong to the Application of their label.
func Of(applications []*v1.Application, pods []corev1.Pod, measured []metrics.PodMetrics) []Usage {
	list := make([]Usage, 0, len(applications))
	for _, application := range applications {
		u := Usage{Namespace: application.Namespace, Name: application.Name}
		var cpu, cpuRequested, memory, memoryRequested resource.Quantity
		for i := range pods {
			pod := &pods[i]
			if pod.Namespace != application.Namespace || pod.Labels[v1.LabelApplication] != application.Name || pod.Status.Phase != corev1.PodRunning {
				continue
			}
			u.Pods++
			for _, container := range pod.Spec.Containers {
				cpuRequested.Add(*container.Resources.Requests.Cpu())
				memoryRequested.Add(*container.Resources.Requests.Memory())
			}
			at := slices.IndexFunc(measured, func(m metrics.PodMetrics) bool { return m.Namespace == pod.Namespace && m.Name == pod.Name })
			if at < 0 {
				continue
			}
			u.Measured++
			for _, container := range measured[at].Containers {
				cpu.Add(*container.Usage.Cpu())
				memory.Add(*container.Usage.Memory())
			}
		}
		u.CPU, u.CPURequested = cpu.MilliValue(), cpuRequested.MilliValue()
		u.Memory, u.MemoryRequested = memory.Value()>>20, memoryRequested.Value()>>20
		list = append(list, u)
	}
	return list
}

// Print writes a table, the Application that uses most of what it asks for first.
func Print(to io.Writer, list []Usage, noHeaders bool) error {
	slices.SortStableFunc(list, func(a, b Usage) int { return cmp.Compare(b.share(), a.share()) })
	table := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	if !noHeaders {
		fmt.Fprintln(table, "NAMESPACE\tNAME\tPODS\tCPU\tREQUESTED\tUSED\tMEMORY\tREQUESTED\tUSED")
	}
	for _, u := range list {
		pods := fmt.Sprint(u.Pods)
		if u.Measured < u.Pods {
			pods = fmt.Sprintf("%d of %d", u.Measured, u.Pods)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%dm\t%dm\t%s\t%dMi\t%dMi\t%s\n", u.Namespace, u.Name, pods,
			u.CPU, u.CPURequested, percent(u.CPU, u.CPURequested), u.Memory, u.MemoryRequested, percent(u.Memory, u.MemoryRequested))
	}
	return table.Flush()
}

// share is the larger of the two shares of what was asked for.
func (u Usage) share() float64 {
	share := 0.0
	for _, pair := range [][2]int64{{u.CPU, u.CPURequested}, {u.Memory, u.MemoryRequested}} {
		if pair[1] > 0 {
			share = max(share, float64(pair[0])/float64(pair[1]))
		}
	}
	return share
}

func percent(used, requested int64) string {
	if requested == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", used*100/requested)
}
