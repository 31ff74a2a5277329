// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/testing/aggregated"
)

// restarted is the Application that the demo restarts.
const restarted = "catalog"

// showSubresources runs the aggregated API server, and prints what kubectl get applicationruntimes does.
func (d *demo) showSubresources(ctx context.Context) error {
	began := time.Now()
	if err := d.startAPIServer(ctx); err != nil {
		return err
	}
	d.out.Good("%s is available (%s)", v1alpha1.SchemeGroupVersion, steps.Since(began))
	body, err := d.fairlead.SubresourcesV1alpha1().RESTClient().Get().Namespace(namespace).Resource(v1.ApplicationResource).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("get applicationruntimes: %w", err)
	}
	table := &metav1.Table{}
	if err := json.Unmarshal(body, table); err != nil {
		return fmt.Errorf("decode the table of applicationruntimes: %w", err)
	}
	d.out.Printf("  $ kubectl get -n %s applicationruntimes", namespace)
	for line := range strings.Lines(format(table)) {
		d.out.Printf("  %s", strings.TrimRight(line, " \n"))
	}
	return nil
}

// startAPIServer runs the real executable, and registers it with kube-apiserver.
func (d *demo) startAPIServer(ctx context.Context) error {
	server, err := aggregated.Prepare(d.options.binary(aggregated.Name), d.cluster.Kubeconfig, d.files.dir, namespace, v1alpha1.SchemeGroupVersion)
	if err != nil {
		return err
	}
	if d.apiServer, err = process.Start(server.Command, d.files.log(aggregated.Name), d.died); err != nil {
		return err
	}
	for _, object := range []*unstructured.Unstructured{server.Service, server.Registration} {
		if err := d.objects.Apply(ctx, object); err != nil {
			return err
		}
	}
	return steps.Await(ctx, d.out, "the aggregated API server", func(ctx context.Context) (bool, string, error) {
		_, err := d.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error(), nil //nolint:nilerr // It is about to start; the limit of the step ends the wait.
		}
		return true, "", nil
	})
}

// format aligns the columns that kubectl get shows.
func format(table *metav1.Table) string {
	var out strings.Builder
	writer := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	row := func(cell func(i int) any) {
		for i := range table.ColumnDefinitions {
			if table.ColumnDefinitions[i].Priority == 0 {
				fmt.Fprintf(writer, "%v\t", cell(i))
			}
		}
		fmt.Fprintln(writer)
	}
	row(func(i int) any { return strings.ToUpper(table.ColumnDefinitions[i].Name) })
	for _, r := range table.Rows {
		row(func(i int) any { return r.Cells[i] })
	}
	_ = writer.Flush() // A strings.Builder takes everything.
	return out.String()
}

// restart replaces the pods of one Application with one request.
func (d *demo) restart(ctx context.Context) error {
	began := time.Now()
	before, err := d.fairlead.AppsV1().Applications(namespace).Get(ctx, restarted, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get Application: %w", err)
	}
	answer, err := d.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(namespace).Restart(ctx, restarted, &v1alpha1.RestartOptions{}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("restart %s: %w", restarted, err)
	}
	d.out.Good("%s has generation %d now: the server changed its spec, and the controller does the rest", restarted, answer.Generation)
	applications, err := d.await(ctx, []string{restarted}, func(application *v1.Application) bool {
		return application.Generation == answer.Generation && allWell(application) && revisionOf(application) > revisionOf(before)
	})
	if err != nil {
		return err
	}
	d.out.Good("all pods of %s are of revision %d (%s)", restarted, revisionOf(applications[0]), steps.Since(began))
	return nil
}

func revisionOf(application *v1.Application) int64 {
	if application.Status.Revision == nil {
		return 0
	}
	return application.Status.Revision.Current
}
