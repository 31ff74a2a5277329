// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/reference"
)

// Contents compares the ConfigMaps and Secrets that pods use with what they were when the pods started.
type Contents struct {
	// ConfigMaps is the hash of the present content; "" if that has not changed, or is not known.
	ConfigMaps string
	// Unknown are those whose content may have changed.
	Unknown []reference.Reference
	// Missing says what pods need and is not there.
	Missing []string
}

// LoadContents reads the ConfigMaps. There is one hash for all of them, as there is for all Secrets. The hash of Secrets has a key that
// the controller alone has, so of Secrets it reads the metadata: what no client wrote since the controller computed the hash has not changed.
func (c *Clients) LoadContents(ctx context.Context, application *v1.Application, deployment *appsv1.Deployment) (Contents, error) {
	var found Contents
	configMaps, secrets := preview.Followed(application, reference.ConfigMap), preview.Followed(application, reference.Secret)
	hash, err := c.hashConfigMaps(ctx, application.Namespace, configMaps, &found)
	switch {
	case apierrors.IsForbidden(err):
		found.Unknown = append(found.Unknown, configMaps...)
	case err != nil:
		return Contents{}, err
	case hash != deployment.Spec.Template.Annotations[v1.AnnotationConfigMapsHash]:
		found.ConfigMaps = hash
	}
	versions, err := c.secretVersions(ctx, application.Namespace, secrets, &found)
	if err != nil && !apierrors.IsForbidden(err) {
		return Contents{}, err
	}
	digest := deployment.Annotations[v1.AnnotationSecretsVersions]
	if err != nil || len(secrets) > 0 && digest != reference.Digest(deployment.Spec.Template.Annotations[v1.AnnotationSecretsHash], secrets, versions) {
		found.Unknown = append(found.Unknown, secrets...)
	}
	return found, nil
}

// hashConfigMaps is the hash that the controller computes; "" if there is no reference.
func (c *Clients) hashConfigMaps(ctx context.Context, namespace string, references []reference.Reference, found *Contents) (string, error) {
	if len(references) == 0 {
		return "", nil
	}
	contents := make([]reference.Content, len(references))
	for i, r := range references {
		live, err := c.Kube.CoreV1().ConfigMaps(namespace).Get(ctx, r.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			found.absent(r)
		case err != nil:
			return "", fmt.Errorf("get %s: %w", r, err)
		default:
			contents[i] = reference.OfConfigMap(live)
			if lacking := contents[i].Missing(r.Keys); len(lacking) > 0 {
				found.Missing = append(found.Missing, fmt.Sprintf("%s has no key %s", r, strings.Join(lacking, ", ")))
			}
		}
	}
	return reference.Combine(references, contents), nil
}

func (c *Clients) secretVersions(ctx context.Context, namespace string, references []reference.Reference, found *Contents) ([]reference.Version, error) {
	secrets := c.Metadata.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(namespace)
	versions := make([]reference.Version, len(references))
	for i, r := range references {
		live, err := secrets.Get(ctx, r.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			found.absent(r)
		case err != nil:
			return nil, fmt.Errorf("get %s: %w", r, err)
		default:
			versions[i] = reference.Version{UID: live.UID, ResourceVersion: live.ResourceVersion}
		}
	}
	return versions, nil
}

func (f *Contents) absent(r reference.Reference) {
	if r.Required {
		f.Missing = append(f.Missing, fmt.Sprintf("%s does not exist", r))
	}
}
