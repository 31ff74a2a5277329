// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// onlyWide is the priority of the columns that kubectl get shows with -o wide alone.
const onlyWide = 1

// runtimeColumns are the columns of kubectl get applicationruntimes.
func runtimeColumns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the Application"},
		{Name: "Ready", Type: "string", Description: "The Application's condition Ready"},
		{Name: "Pods", Type: "string", Description: "Ready pods of the desired number"},
		{Name: "Restarts", Type: "integer", Description: "Restarts of all containers of the pods that exist"},
		{Name: "Problem", Type: "string", Description: "Reason of the problem that has lasted longest"},
		{Name: "For", Type: "string", Description: "How long the problem has lasted"},
		{Name: "CPU", Type: "string", Description: "Used of the requested CPU"},
		{Name: "Memory", Type: "string", Description: "Used of the requested memory"},
		{Name: "Age", Type: "string", Description: "Time since the Application was created"},
		{Name: "Image", Type: "string", Description: "The running image", Priority: onlyWide},
		{Name: "Message", Type: "string", Description: "Message of the condition Ready", Priority: onlyWide},
	}
}

// runtimeTable converts views for kubectl get. now is the time from which ages count.
func runtimeTable(object, options runtime.Object, now time.Time) (*metav1.Table, error) {
	table := &metav1.Table{}
	if asked, ok := options.(*metav1.TableOptions); !ok || !asked.NoHeaders {
		table.ColumnDefinitions = runtimeColumns()
	}
	switch o := object.(type) {
	case *v1alpha1.ApplicationRuntimeList:
		table.ResourceVersion, table.Continue = o.ResourceVersion, o.Continue
		for i := range o.Items {
			table.Rows = append(table.Rows, runtimeRow(&o.Items[i], now))
		}
	case *v1alpha1.ApplicationRuntime:
		table.ResourceVersion = o.ResourceVersion
		table.Rows = append(table.Rows, runtimeRow(o, now))
	default:
		return nil, fmt.Errorf("no table for %T", object)
	}
	return table, nil
}

func runtimeRow(view *v1alpha1.ApplicationRuntime, now time.Time) metav1.TableRow {
	var problem, lasted string
	if view.OldestProblem != nil {
		problem, lasted = view.OldestProblem.Reason, age(view.OldestProblem.Since, now)
	}
	return metav1.TableRow{
		Cells: []any{
			view.Name, string(view.Ready), fmt.Sprintf("%d/%d", view.Pods.Ready, view.Pods.Desired), int64(view.Restarts),
			problem, lasted, useCell(view.CPU), useCell(view.Memory), age(view.CreationTimestamp, now), view.Image, view.Message,
		},
		Object: runtime.RawExtension{Object: view},
	}
}

// useCell is "used/requested", with a dash for what is not known.
func useCell(use v1alpha1.ResourceUse) string {
	if use.Used == nil && use.Requested == nil {
		return ""
	}
	return orDash(use.Used) + "/" + orDash(use.Requested)
}

func orDash(quantity *resource.Quantity) string {
	if quantity == nil {
		return "-"
	}
	return quantity.String()
}

func age(since metav1.Time, now time.Time) string {
	if since.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(since.Time))
}

// ConvertToTable implements rest.TableConvertor.
func (r *applications) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return runtimeTable(object, options, time.Now())
}
