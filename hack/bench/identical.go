// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/revision"
)

// rendered are the children of an Application as the controller renders them: with a new revision, since all that the raw
// client writes is new or changed.
func rendered(application *v1.Application) ([]child.Desired, error) {
	choice, err := revision.Select(revision.Input{Application: application})
	if err != nil {
		return nil, err
	}
	record, err := choice.Record("", "")
	if err != nil {
		return nil, err
	}
	return render.Children(choice.Application, render.Facts{Revision: render.Revision{Name: record.Name, Number: record.Number, Data: record.Data}})
}

// checkIdentical compares what the controller wrote for an Application with what the raw client would write, so that both
// do the same work: the hash of all rendered fields that each child carries must be that of the raw client's.
func (l *lab) checkIdentical(ctx context.Context, application *v1.Application) error {
	// What was written first did not know the revision that the status has now.
	fresh := application.DeepCopy()
	fresh.Status = v1.ApplicationStatus{}
	desired, err := rendered(fresh)
	if err != nil {
		return err
	}
	if len(desired) != children {
		return fmt.Errorf("%d children are rendered, want %d", len(desired), children)
	}
	for _, d := range desired {
		body, err := l.clients.kube.CoreV1().RESTClient().Get().AbsPath(path(d.Ref)).DoRaw(ctx)
		if err != nil {
			return fmt.Errorf("get %s, which the raw client would write: %w", d.Ref, err)
		}
		var live struct {
			Metadata struct {
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(body, &live); err != nil {
			return err
		}
		if got := live.Metadata.Annotations[v1.AnnotationRenderedHash]; got != d.Hash {
			return fmt.Errorf("the controller wrote %s as rendered with hash %q, the raw client would write %q: they do not do the same work", d.Ref, got, d.Hash)
		}
	}
	return nil
}

func path(ref child.Ref) string {
	prefix := "/apis/" + ref.Kind.Group + "/" + ref.Kind.Version
	if ref.Kind.Group == "" {
		prefix = "/api/" + ref.Kind.Version
	}
	return prefix + "/namespaces/" + ref.Namespace + "/" + ref.Kind.Resource + "/" + ref.Name
}
