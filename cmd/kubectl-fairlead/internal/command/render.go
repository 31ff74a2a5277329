// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/manifest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

func (t *tool) render() *cobra.Command {
	var (
		from platform
		out  output
	)
	cmd := &cobra.Command{
		Use:   "render -f FILE... [flags]",
		Short: "Print the children of the Applications in files",
		Long: long(`
			Print the children that Fairlead would write for each Application in the files, exactly the fields that it sets. The
			classes are those of the cluster; with --class-file, no cluster is needed. Hashes that only the controller can
			compute are named so, and owners have no UID.`),
		Example: examples(`
			# The children, with the defaults of the cluster's class
			kubectl fairlead render -f web.yaml

			# The same without a cluster
			kubectl fairlead render -f web.yaml --class-file=classes/ -o json`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer from.noteUnread(t, from.files)
			applications, checker, err := from.applications(cmd.Context(), t, from.files)
			if err != nil {
				return err
			}
			var children []child.Desired
			for _, application := range applications {
				rendered, err := t.renderOne(cmd.Context(), from, application, checker)
				if err != nil && len(applications) > 1 {
					err = fmt.Errorf("%s: %w", application, err)
				}
				if err != nil {
					return err
				}
				children = append(children, rendered...)
			}
			return t.printChildren(out, children)
		},
	}
	out.addTo(cmd, formatName)
	from.addFiles(cmd)
	from.addClasses(cmd, true)
	from.addFacts(cmd)
	return cmd
}

// renderOne renders the children of one Application.
func (t *tool) renderOne(ctx context.Context, from platform, application filed, checker *manifest.Checker) ([]child.Desired, error) {
	platform, err := from.platformOf(ctx, t, application.Application, checker)
	if err != nil {
		return nil, err
	}
	rendering, err := preview.Render(application.Application, child.Snapshot{}, platform, t.now())
	if err == nil && len(rendering.Invalid) > 0 {
		err = refused(rendering.Reason, rendering.Invalid)
	}
	return rendering.Children, err
}

// refused names the errors of a spec that would not be carried out. An Application of a class that does not exist is stored: the
// class may follow. So is one that names a revision which does not exist, or breaks a rule.
func refused(reason string, errs field.ErrorList) error { return &refusedError{reason, errs} }

// refusedError is why the children of an Application stay as they are.
type refusedError struct {
	reason string
	errs   field.ErrorList
}

func (e *refusedError) Error() string {
	would := "be refused"
	switch {
	case e.reason == v1.ReasonClassNotFound:
		would = "wait for its class"
	case slices.ContainsFunc(e.errs, func(err *field.Error) bool { return isAboutPin(err.Field, err.Detail) }):
		would = wouldBeStored
	}
	return fmt.Sprintf("the Application would %s (%s): %s", would, e.reason, e.errs.ToAggregate())
}

// notCarriedOut says it of a spec that is stored.
func (e *refusedError) notCarriedOut() string {
	return fmt.Sprintf("Fairlead does not carry the spec out (%s): %s", e.reason, e.errs.ToAggregate())
}

// wouldBeStored is what becomes of a spec that names a revision which Fairlead does not run. The API server does not know the revision.
const wouldBeStored = "be stored, but not carried out"

// isAboutPin reports whether an error is about the revision that spec.rollback.toRevision names, and not about the spec.
func isAboutPin(field, message string) bool {
	return field == "spec.rollback.toRevision" || strings.Contains(message, ", which spec.rollback.toRevision asks for: ")
}

func (t *tool) printChildren(out output, children []child.Desired) error {
	if out.format == formatName {
		for _, desired := range children {
			fmt.Fprintln(t.Out, resourceName(desired.Kind.Group, desired.Kind.Kind, desired.Name))
		}
		return nil
	}
	if out.format == formatJSON {
		list := map[string]any{"apiVersion": "v1", "kind": "List", "items": configurations(children)}
		text, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(t.Out, string(text))
		return err
	}
	for i, desired := range children {
		text, err := yaml.Marshal(desired.Configuration)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(t.Out, "---")
		}
		if _, err := t.Out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

func configurations(children []child.Desired) []any {
	items := make([]any, 0, len(children))
	for _, desired := range children {
		items = append(items, desired.Configuration)
	}
	return items
}
