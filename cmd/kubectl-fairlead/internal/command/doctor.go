// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/doctor"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// The names of the objects that `make deploy` makes.
const (
	systemNamespace   = "fairlead-system"
	controllerName    = "fairlead-controller"
	webhookService    = "fairlead-webhook"
	webhookNameSuffix = ".fairlead.dev"
)

func (t *tool) doctor() *cobra.Command {
	var (
		out       output
		namespace string
	)
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Check the installation of Fairlead, and say what is wrong",
		Long: long(`
			Check the installation: CRDs, controller, leader, webhooks and whether they answer, their certificates, classes,
			Applications that have waited for the controller for longer than a minute, and your permissions. Nothing is stored.

			The exit code is 0 if nothing is wrong, 1 if something is, and 2 if the cluster does not answer.`),
		Example: examples(`
			# Check the cluster of the current context
			kubectl fairlead doctor

			# Check an installation in another namespace, for a program
			kubectl fairlead doctor --system-namespace=platform -o json`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := t.installation(cmd.Context(), namespace)
			if err != nil {
				return err
			}
			results := doctor.Examine(in, t.now())
			if out.machine() {
				err = encode(t.Out, out.format, results, true)
			} else {
				doctor.Print(t.screen(), results)
			}
			if err == nil && doctor.Wrong(results) {
				err = errNo
			}
			return err
		},
	}
	out.addTo(cmd)
	cmd.Flags().StringVar(&namespace, "system-namespace", systemNamespace, "Namespace of the controller.")
	return cmd
}

// installation reads what the checks look at.
func (t *tool) installation(ctx context.Context, namespace string) (doctor.Installation, error) {
	in := doctor.Installation{Namespace: namespace, Unreadable: map[string]error{}}
	clients, err := t.clients()
	if err != nil {
		return in, err
	}
	definitions, err := apiextensions.NewForConfig(clients.Config)
	if err != nil {
		return in, err
	}
	server, err := clients.Kube.Discovery().ServerVersion()
	if err != nil {
		return in, err
	}
	in.Server = server.GitVersion
	kube, all := clients.Kube, metav1.ListOptions{}
	for _, read := range []struct {
		check string
		read  func() error
	}{
		{doctor.Definitions, func() error {
			list, err := definitions.ApiextensionsV1().CustomResourceDefinitions().List(ctx, all)
			if err == nil {
				in.Definitions = list.Items
			}
			return err
		}},
		{doctor.Controller, func() error {
			in.Deployment, err = kube.AppsV1().Deployments(namespace).Get(ctx, controllerName, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				in.Deployment, err = nil, nil
			}
			return err
		}},
		{doctor.Leader, func() error {
			in.Lease, err = kube.CoordinationV1().Leases(namespace).Get(ctx, controllerName, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				in.Lease, err = nil, nil
			}
			return err
		}},
		{doctor.Webhooks, func() error {
			err := readWebhooks(ctx, clients, namespace, &in)
			if err == nil && len(in.Webhooks)+len(in.Mutating) > 0 {
				in.Probe = t.probeWebhooks(ctx, clients, namespace)
			}
			return err
		}},
		{doctor.Classes, func() error {
			list, err := clients.Fairlead.AppsV1().ApplicationClasses().List(ctx, all)
			if apierrors.IsNotFound(err) {
				return nil // The CRDs are missing, as their check says.
			}
			for i := range list.Items {
				in.Classes = append(in.Classes, &list.Items[i])
			}
			return err
		}},
		{doctor.Lag, func() error {
			list, err := clients.Fairlead.AppsV1().Applications(metav1.NamespaceAll).List(ctx, all)
			if err == nil {
				in.Applications = list.Items
			}
			if apierrors.IsNotFound(err) {
				return nil // The CRDs are missing, as their check says.
			}
			return err
		}},
		{doctor.Permissions, func() error {
			if in.Asked, _, err = t.factory.ToRawKubeConfigLoader().Namespace(); err != nil {
				return err
			}
			in.Denied, err = denied(ctx, clients, in.Asked)
			return err
		}},
	} {
		switch err := read.read(); {
		case apierrors.IsForbidden(err):
			in.Unreadable[read.check] = err
		case err != nil:
			return in, err
		}
	}
	return in, nil
}

// readWebhooks reads the webhooks whose names are Fairlead's, and the endpoints of their Service.
func readWebhooks(ctx context.Context, clients *cluster.Clients, namespace string, in *doctor.Installation) error {
	api := clients.Kube.AdmissionregistrationV1()
	validating, err := api.ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range validating.Items {
		for _, webhook := range validating.Items[i].Webhooks {
			if strings.HasSuffix(webhook.Name, webhookNameSuffix) {
				in.Webhooks = append(in.Webhooks, webhook)
				addByURL(in, validating.Items[i].Name, webhook.ClientConfig)
			}
		}
	}
	mutating, err := api.MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range mutating.Items {
		for _, webhook := range mutating.Items[i].Webhooks {
			if strings.HasSuffix(webhook.Name, webhookNameSuffix) {
				in.Mutating = append(in.Mutating, webhook)
				addByURL(in, mutating.Items[i].Name, webhook.ClientConfig)
			}
		}
	}
	slices, err := clients.Kube.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + webhookService})
	if err == nil {
		in.Endpoints = slices.Items
	}
	return err
}

func addByURL(in *doctor.Installation, configuration string, client admissionregistrationv1.WebhookClientConfig) {
	if client.URL != nil && !slices.Contains(in.ByURL, configuration) {
		in.ByURL = append(in.ByURL, configuration)
	}
}

// probeWebhooks lets the API server check an Application that it does not store, so that it asks the webhooks. They leave out
// the controller's own namespace.
func (t *tool) probeWebhooks(ctx context.Context, clients *cluster.Clients, systemNamespace string) error {
	namespace, _, err := t.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return err
	}
	if namespace == systemNamespace {
		namespace = metav1.NamespaceDefault
	}
	probe := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "fairlead-doctor-probe"}, Spec: v1.ApplicationSpec{Image: "probe.invalid/probe:1"}}
	_, err = clients.Fairlead.AppsV1().Applications(namespace).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: fieldManager})
	return err
}

// denied asks the API server for what the commands need in a namespace.
func denied(ctx context.Context, clients *cluster.Clients, namespace string) ([]string, error) {
	var denied []string
	for _, needed := range []authorizationv1.ResourceAttributes{
		{Verb: "list", Group: v1.SchemeGroupVersion.Group, Resource: v1.ApplicationResource},
		{Verb: "patch", Group: v1.SchemeGroupVersion.Group, Resource: v1.ApplicationResource},
		{Verb: "list", Group: "apps", Resource: "deployments"},
		{Verb: "list", Group: "apps", Resource: "controllerrevisions"},
		{Verb: "list", Resource: "pods"},
		{Verb: "get", Resource: "pods", Subresource: "log"},
		{Verb: "list", Resource: "events"},
	} {
		needed.Namespace = namespace
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &needed}}
		answer, err := clients.Kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		if !answer.Status.Allowed {
			denied = append(denied, strings.TrimSuffix(needed.Verb+" "+needed.Resource+"/"+needed.Subresource, "/"))
		}
	}
	return denied, nil
}
