// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/manifest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
)

const formatSARIF = "sarif"

func (t *tool) lint() *cobra.Command {
	var (
		from platform
		out  output
	)
	cmd := &cobra.Command{
		Use:   "lint -f FILE... [flags]",
		Short: "Check files without a cluster: schema, CEL, validation and class limits",
		Long: long(`
			Check Applications and ApplicationClasses in files, without a cluster: the schema and the CEL rules of the CRDs,
			the rules of the webhooks, and the limits of classes that the files or --class-file have. It also finds an object
			that a file has twice, and a host name that two of the Applications claim. It warns of what the API server would
			accept with a warning, as far as no cluster is needed, and of a field without a value, which only server-side apply
			refuses. Every class is taken to select the namespace, because only a cluster knows its labels. What a class would
			say that the files lack is not checked; with --class-file, such a class is an error.

			The exit code is 0 without findings or with warnings alone, 1 with other findings, and 2 if a file cannot be read.`),
		Example: examples(`
			# Check a file as you type, as FILE:LINE: FIELD: MESSAGE
			kubectl fairlead lint -f web.yaml

			# In CI: check a directory with the platform's classes, for a code host
			kubectl fairlead lint -f deploy/ --class-file=classes/ -o sarif`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer from.noteUnread(t, from.files)
			problems, checked, unchecked, err := t.lintFiles(cmd.Context(), from)
			if err != nil {
				return err
			}
			if err := printProblems(t.screen(), out, problems, checked, unchecked); err != nil {
				return err
			}
			if out.format == "" && slices.ContainsFunc(problems, manifest.Problem.EndsChecks) {
				fmt.Fprintln(t.ErrOut, "An object that cannot be read, or breaks the schema or a CEL rule, is not checked further: correct it, and lint it again.")
			}
			if slices.ContainsFunc(problems, isError) {
				return errNo
			}
			return nil
		},
	}
	out.addTo(cmd, formatSARIF)
	from.addFiles(cmd)
	from.addClasses(cmd, false)
	return cmd
}

func isError(problem manifest.Problem) bool { return !problem.Warning }

// uncheckedClasses are those of Applications whose limits lint does not know, since neither the files nor --class-file have the class.
type uncheckedClasses struct {
	names []string
	// byDefault is that of Applications that name none.
	byDefault bool
	// noDefault means that there are classes, but none for the Applications that name none.
	noDefault bool
	// someKnown means that the files have other classes.
	someKnown bool
}

func (u *uncheckedClasses) add(name string) {
	switch {
	case name == "":
		u.byDefault = true
	case !slices.Contains(u.names, name):
		u.names = append(u.names, name)
	}
}

// note says which classes were not checked; "" if all were.
func (u *uncheckedClasses) note(checked int) string {
	names := strings.Join(u.names, ", ")
	switch {
	case len(u.names) == 1 && checked == 1:
		return fmt.Sprintf("; its class %s was not: pass it with --class-file", names)
	case len(u.names) > 0 && u.byDefault:
		return fmt.Sprintf("; the default class, if there is one, and %s were not: pass them with --class-file", names)
	case len(u.names) == 1 && u.someKnown:
		return fmt.Sprintf("; class %s was not: pass it with --class-file", names) + u.without()
	case len(u.names) > 0 && u.someKnown:
		return fmt.Sprintf("; classes %s were not: pass them with --class-file", names) + u.without()
	case len(u.names) > 0:
		return fmt.Sprintf("; their classes were not: pass them with --class-file (%s)", names)
	case u.byDefault:
		return "; the limits of a default class were not: if there is one, pass it with --class-file"
	default:
		return u.without()
	}
}

// without says that Applications that name no class have none; "" if they have, or if there are none.
func (u *uncheckedClasses) without() string {
	if !u.noDefault {
		return ""
	}
	return fmt.Sprintf("; without a class where spec.className names none: no class of the files has the annotation %s: \"true\"", v1.AnnotationDefaultClass)
}

// lintFiles returns the problems, how many objects it checked, and the classes that it could not check.
func (t *tool) lintFiles(ctx context.Context, from platform) (problems []manifest.Problem, checked int, unchecked uncheckedClasses, err error) {
	if len(from.files) == 0 {
		return nil, 0, unchecked, errors.New("pass files with -f, or -f - for standard input")
	}
	checker, err := from.checker()
	if err != nil {
		return nil, 0, unchecked, err
	}
	checker.Offline = true
	documents, err := manifest.Read(t.In, from.recursive, from.files...)
	if err != nil {
		return nil, 0, unchecked, err
	}
	classes, err := from.readClasses(t)
	if err != nil {
		return nil, 0, unchecked, err
	}
	checker.ClassesKnown = len(from.classFiles) > 0
	problems = slices.Concat(manifest.Unknown(documents), manifest.Twice(documents), checker.AddClasses(ctx, slices.Concat(documents, classes)))
	applications := manifest.Applications(documents)
	if len(applications)+len(checker.Classes)+len(problems) == 0 {
		return nil, 0, unchecked, errors.New("there is no Application or ApplicationClass of apps.fairlead.dev/v1 in the files")
	}
	for _, d := range applications {
		problems = append(problems, checker.Check(ctx, d)...)
		if !checker.KnowsClass(d.ClassName()) {
			unchecked.add(d.ClassName())
		}
		if len(checker.Classes) > 0 && d.ClassName() == "" && !slices.ContainsFunc(checker.Classes, class.IsMarkedDefault) {
			unchecked.noDefault = true
		}
	}
	unchecked.someKnown = len(checker.Classes) > 0
	sortByPlace(problems, slices.Concat(documents, classes))
	return problems, len(applications) + len(checker.Classes), unchecked, nil
}

// sortByPlace puts problems in the order of the files and of their lines, whichever rule found them.
func sortByPlace(problems []manifest.Problem, documents []*manifest.Document) {
	files := map[string]int{}
	for _, d := range documents {
		if _, known := files[d.File]; !known {
			files[d.File] = len(files)
		}
	}
	rank := func(file string) int {
		if at, known := files[file]; known {
			return at
		}
		return len(files) // A file without documents comes last.
	}
	slices.SortStableFunc(problems, func(a, b manifest.Problem) int {
		return cmp.Or(cmp.Compare(rank(a.File), rank(b.File)), cmp.Compare(a.Line, b.Line))
	})
}

func printProblems(to *screen.Screen, out output, problems []manifest.Problem, checked int, unchecked uncheckedClasses) error {
	switch out.format {
	case formatSARIF:
		text, err := json.MarshalIndent(manifest.ToSARIF(problems, version.Get().GitVersion), "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(to.Writer(), string(text))
		return err
	case formatJSON, formatYAML:
		return encode(to.Writer(), out.format, problems, true)
	}
	for _, problem := range problems {
		place := fmt.Sprintf("%s:%d: ", problem.File, problem.Line)
		message := problem.Message
		if problem.Field != "" {
			message = problem.Field + ": " + message
		}
		if problem.Warning {
			message = "warning: " + message
		}
		to.Line(place + message + " (" + string(problem.Rule) + ")")
	}
	if !slices.ContainsFunc(problems, isError) {
		objects := "objects"
		if checked == 1 {
			objects = "object"
		}
		found := "nothing found"
		if len(problems) > 0 {
			found = "nothing else found"
		}
		to.Printf("%d %s checked, %s%s", checked, objects, found, unchecked.note(checked))
	}
	return nil
}
