// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// output is the flag -o. The empty format is text for users.
type output struct{ format string }

// The formats that all commands with -o have.
const (
	formatJSON = "json"
	formatYAML = "yaml"
	formatName = "name"
	formatWide = "wide"
)

func (o *output) addTo(cmd *cobra.Command, formats ...string) {
	formats = append([]string{formatJSON, formatYAML}, formats...)
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "Output format. One of: "+strings.Join(formats, ", ")+".")
	complete := cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc("output", complete); err != nil {
		panic(err) // The flag was added above.
	}
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if o.format != "" && !slices.Contains(formats, o.format) {
			return usageError(cmd.CommandPath(), "unknown output format %q: use one of %s", o.format, strings.Join(formats, ", "))
		}
		if check == nil {
			return nil
		}
		return check(cmd, args)
	}
}

// machine reports whether the format is one for programs, which get no progress and no hints.
func (o *output) machine() bool { return o.format == formatJSON || o.format == formatYAML }

// applicationName is an Application as `-o name` prints it, for other commands to take.
func applicationName(name string) string { return resourceName(v1.GroupName, v1.ApplicationKind, name) }

// printApplications writes Applications for programs, as kubectl does: with their type, and without the record of who wrote which field.
func printApplications(to io.Writer, out output, applications []*v1.Application, list bool) error {
	if out.format == "" {
		return nil
	}
	var shown []printed
	for _, application := range applications {
		if out.format == formatName {
			fmt.Fprintln(to, applicationName(application.Name))
			continue
		}
		application = application.DeepCopy()
		application.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
		application.ManagedFields = nil
		status := &application.Status
		if application.ResourceVersion == "" {
			status = nil
		}
		shown = append(shown, printed{application.TypeMeta, application.ObjectMeta, application.Spec, status})
	}
	if out.format == formatName {
		return nil
	}
	return encode(to, out.format, shown, list)
}

// printed is an Application. One that is not stored yet, as in a dry run, has no status.
type printed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              v1.ApplicationSpec    `json:"spec"`
	Status            *v1.ApplicationStatus `json:"status,omitempty"`
}

// divert sends the text for users to standard error if programs read standard output, which it returns.
func (o *output) divert(t *tool) io.Writer {
	programs := t.Out
	if o.format != "" {
		t.Out = t.ErrOut
	}
	return programs
}

// addNoHeaders adds --no-headers to a command that prints a table.
func addNoHeaders(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "no-headers", false, "Print no heading.")
}

// encode writes a value as JSON or YAML. Several values are one list, so that a program reads one document.
func encode[T any](to io.Writer, format string, values []T, list bool) error {
	var document any = map[string]any{"items": append([]T{}, values...)}
	if !list && len(values) == 1 {
		document = values[0]
	}
	if format == formatYAML {
		text, err := yaml.Marshal(document)
		if err != nil {
			return err
		}
		_, err = to.Write(text)
		return err
	}
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(to, string(text))
	return err
}
