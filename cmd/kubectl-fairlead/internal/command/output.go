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
	"sigs.k8s.io/yaml"
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
