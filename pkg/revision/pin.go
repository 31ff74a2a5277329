// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// pin selects the revision with the number that spec.rollback.toRevision names. If it cannot be rendered, no child may
// change.
func (f facts) pin(number int64) Selection {
	c := Selection{Application: f.Application, facts: f, spec: f.wanted, pinned: find(f.history, numbered(number))}
	path := field.NewPath("spec", "rollback", "toRevision")
	if c.pinned == nil {
		err := field.NotFound(path, number)
		err.Detail = numbersOf(f.history)
		c.Invalid, c.InvalidReason = field.ErrorList{err}, v1.ReasonRevisionMissing
		return c
	}
	pods, readable := c.pinned.pods(f.Application.UID)
	if !readable {
		err := field.Invalid(path, number, fmt.Sprintf("ControllerRevision %s was changed and cannot be read", c.pinned.name))
		c.Invalid, c.InvalidReason = field.ErrorList{err}, v1.ReasonRevisionMissing
		return c
	}
	c.spec = c.pinned.spec
	if account := accountOf(&pods); account != "" && account != accountOf(&f.Application.Spec) {
		c.Invalid, c.InvalidReason = field.ErrorList{unnamedAccount(path, number, account)}, v1.ReasonInvalid
		return c
	}
	c.Application = withPodFields(f.Application, pods)
	c.Invalid, c.InvalidReason = f.Validate(c.Application)
	for _, err := range c.Invalid {
		// The detail may advise to set a field that the revision has instead of the spec.
		advice := pinAnother
		if !isOfPods(err.Field) {
			advice = editBeside
		}
		err.Detail = fmt.Sprintf("in revision %d, which spec.rollback.toRevision asks for: %s; %s", number, err.Detail, advice)
	}
	return c
}

const (
	// pinAnother and editBeside end the error of a pinned revision: for a field of the pods, which the revision has instead of the spec, and
	// for any other field, which the spec decides.
	pinAnother = "no edit of the spec changes a revision: name another one, or remove toRevision"
	editBeside = "this field is no part of the revision: change it, name another revision, or remove toRevision"
)

// FitsAfterEdit reports whether a pinned revision runs as soon as the fields beside the pods fit it, as the message of its errors says.
func FitsAfterEdit(message string) bool {
	return strings.Contains(message, editBeside) && !strings.Contains(message, pinAnother)
}

// unnamedAccount refuses pods that run as a ServiceAccount which the spec does not name. Admission reviews who names an
// account, and again with every change while the spec names it. It does not see that of a revision.
func unnamedAccount(path *field.Path, number int64, account string) *field.Error {
	return field.Forbidden(path, fmt.Sprintf(
		"the pods of revision %d run as ServiceAccount %q: to go back to it, name that account in spec.serviceAccount.name too", number, account))
}

// accountOf returns the name of the ServiceAccount that a spec names; "" if the Application has its own.
func accountOf(spec *v1.ApplicationSpec) string {
	if spec.ServiceAccount == nil {
		return ""
	}
	return spec.ServiceAccount.Name
}

// numbersOf lists the revisions that exist, the oldest first, and says what to do about another one.
func numbersOf(history []revision) string {
	switch len(history) {
	case 0:
		return "there are no revisions yet; remove the field"
	case 1:
		return fmt.Sprintf("only revision %d exists; name it, or remove the field", history[0].number)
	}
	numbers := make([]string, 0, len(history))
	for _, r := range slices.Backward(history) {
		numbers = append(numbers, strconv.FormatInt(r.number, 10))
	}
	return "only the revisions " + strings.Join(numbers, ", ") + " exist; name one of them, or remove the field"
}
