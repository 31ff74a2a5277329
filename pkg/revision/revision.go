// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// content is what a ControllerRevision carries as its data.
type content struct {
	// Spec is a v1.ApplicationSpec. It is encoded separately, because its hash is in the name.
	Spec           json.RawMessage `json:"spec"`
	ConfigMapsHash string          `json:"configMapsHash,omitempty"`
	SecretsHash    string          `json:"secretsHash,omitempty"`
}

// revision is one state of the pods.
type revision struct {
	name   string
	number int64
	// former are the numbers that it had before, as far as the status may still name them.
	former []int64
	// rolledBack are the names of the revisions that had been rolled back when it got its number.
	rolledBack []string
	// spec is the key of what the spec said about the pods.
	spec string
	// data is nil if the ControllerRevision is gone.
	data []byte
	// service is what the Service said about the ports when the revision ran last, by the name of each.
	service map[string]servicePort
}

// hashDigits is the length of the hashes in a name, in hex digits. They distinguish the revisions of one Application. The
// API refuses other content under an existing name, so hashes must not collide, even with 10,000 Applications.
const hashDigits = 10

func encode(pods v1.ApplicationSpec) (json.RawMessage, error) {
	encoded, err := json.Marshal(pods)
	if err != nil {
		return nil, fmt.Errorf("encode what the spec says about the pods: %w", err)
	}
	return encoded, nil
}

// keyOf returns the hash of the pod part of the spec. It includes the UID, so that no revision that a former Application of
// the same name left behind, or that a backup restored, has the same name.
func keyOf(uid types.UID, encoded json.RawMessage) string {
	return child.HashOf(string(uid), string(encoded))[:hashDigits]
}

// nameOf is the name of a revision's ControllerRevision.
func nameOf(application *v1.Application, spec, configMapsHash, secretsHash string) string {
	name := application.Name + "-" + spec
	if configMapsHash == "" && secretsHash == "" {
		return name
	}
	return name + "-" + child.HashOf(configMapsHash, secretsHash)[:hashDigits]
}

// keyInName is the key of the spec in the name of a revision, or "".
func keyInName(application *v1.Application, name string) string {
	suffix, found := strings.CutPrefix(name, application.Name+"-")
	key, _, _ := strings.Cut(suffix, "-")
	if !found || len(key) != hashDigits {
		return ""
	}
	return key
}

// read returns the revisions, the newest first. It ignores objects whose names Fairlead did not choose.
func read(application *v1.Application, objects []*appsv1.ControllerRevision) []revision {
	var history []revision
	for _, object := range objects {
		if key := keyInName(application, object.Name); key != "" {
			history = append(history, revision{
				name: object.Name, number: object.Revision, former: readNumbers(object.Annotations[v1.AnnotationFormerNumbers]),
				rolledBack: readNames(application, object.Annotations[v1.AnnotationRolledBackBefore]), spec: key, data: object.Data.Raw,
				service: readServicePorts(object.Annotations[v1.AnnotationServicePorts]),
			})
		}
	}
	slices.SortFunc(history, func(a, b revision) int {
		return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.name, b.name))
	})
	return history
}

// pods returns the pod part of the spec of the revision, and what the Service said about its ports. found is false if it is unknown: the
// object is gone, or its content does not match its name.
func (r revision) pods(uid types.UID) (pods v1.ApplicationSpec, found bool) {
	pods, err := r.decode()
	if err != nil {
		return v1.ApplicationSpec{}, false
	}
	// Encode it again, because the API server changes the order of fields.
	encoded, err := encode(pods)
	found = err == nil && keyOf(uid, encoded) == r.spec
	for i := range pods.Ports {
		r.service[pods.Ports[i].Name].setOn(&pods.Ports[i])
	}
	return pods, found
}

func (r revision) decode() (pods v1.ApplicationSpec, err error) {
	c := content{}
	if err := json.Unmarshal(r.data, &c); err != nil {
		return v1.ApplicationSpec{}, err
	}
	err = json.Unmarshal(c.Spec, &pods)
	return pods, err
}

// String describes the revision to users.
func (r revision) String() string {
	pods, err := r.decode()
	if err != nil || pods.Image == "" {
		return fmt.Sprintf("revision %d", r.number)
	}
	return fmt.Sprintf("revision %d (%s)", r.number, pods.Image)
}

func find(history []revision, matches func(revision) bool) *revision {
	if i := slices.IndexFunc(history, matches); i >= 0 {
		return &history[i]
	}
	return nil
}

func named(name string) func(revision) bool {
	return func(r revision) bool { return r.name == name }
}

func numbered(number int64) func(revision) bool {
	return func(r revision) bool { return r.number == number }
}

// formerlyNumbered is numbered for revisions that got a higher number since.
func formerlyNumbered(number int64) func(revision) bool {
	return func(r revision) bool { return slices.Contains(r.former, number) }
}

// readNumbers reads v1.AnnotationFormerNumbers. What is no number is left out, and so is what is more than a status can name.
func readNumbers(annotation string) []int64 {
	var numbers []int64
	for field := range strings.SplitSeq(annotation, ",") {
		if number, err := strconv.ParseInt(field, 10, 64); err == nil && len(numbers) <= maxFormerHealthy {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// readNames reads v1.AnnotationRolledBackBefore. What is no name of a revision is left out, and so is what is more than a history can have.
func readNames(application *v1.Application, annotation string) []string {
	var names []string
	for name := range strings.SplitSeq(annotation, ",") {
		if keyInName(application, name) != "" && len(name) <= len(application.Name)+2*(hashDigits+1) && len(names) < maxFormerHealthy {
			names = append(names, name)
		}
	}
	return names
}
