// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package helm takes objects out of a Helm release, and gives them back. It is pure.
//
// Helm stores each revision of a release in a Secret of its own, and the newest one decides what an upgrade or an uninstall
// finds. So each change here is one more revision of the same chart and values, whose manifest has fewer or more objects.
// Nothing is rendered again: a chart may draw new passwords each time. Helm's own types are not used, because they drop what
// another version of Helm stored.
package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// By these an object says which release it belongs to. A full upgrade refuses objects without them.
const (
	annotationName      = "meta.helm.sh/release-name"
	annotationNamespace = "meta.helm.sh/release-namespace"
	labelManagedBy      = "app.kubernetes.io/managed-by"
	managedByHelm       = "Helm"
)

// Marks are the annotations by which an object belongs to a release.
func Marks() []string { return []string{annotationName, annotationNamespace} }

// Unmark removes what says that an object belongs to a release.
func Unmark(object metav1.Object) {
	annotations, marks := maps.Clone(object.GetAnnotations()), maps.Clone(object.GetLabels())
	maps.DeleteFunc(annotations, func(key, _ string) bool { return slices.Contains(Marks(), key) })
	maps.DeleteFunc(marks, func(key, value string) bool { return key == labelManagedBy && value == managedByHelm })
	object.SetAnnotations(annotations)
	object.SetLabels(marks)
}

// ReleaseOf returns the release to which an object belongs.
func ReleaseOf(object metav1.Object) (release types.NamespacedName, found bool) {
	annotations := object.GetAnnotations()
	release = types.NamespacedName{Namespace: annotations[annotationNamespace], Name: annotations[annotationName]}
	return release, release.Name != "" && release.Namespace != ""
}

// Selector selects the Secrets with the revisions of a release. The name comes from an annotation, and may be anything.
func Selector(release string) (labels.Selector, error) {
	return labels.Set{labelOwner: "helm", labelName: release}.AsValidatedSelector()
}

const (
	secretType = "helm.sh/release.v1"
	dataKey    = "release"

	labelOwner   = "owner"
	labelName    = "name"
	labelStatus  = "status"
	labelVersion = "version"
	labelCreated = "createdAt"
	labelChanged = "modifiedAt"
)

// Status is the state of a revision.
type Status string

// Those states of a revision that matter here. While the newest revision is pending, Helm refuses to upgrade the release.
const (
	Deployed   Status = "deployed"
	Superseded Status = "superseded"
	Pending    Status = "pending-upgrade"
)

// Revision is one revision of a release.
type Revision struct {
	Number      int
	Status      Status
	Description string
	Manifest    string

	secret *corev1.Secret
	fields map[string]json.RawMessage
	info   map[string]json.RawMessage
}

// ErrNoRelease says that no Secret has a revision.
var ErrNoRelease = errors.New("no Secret has a revision of it")

// Newest returns the newest revision of those in the Secrets of one release.
func Newest(secrets []corev1.Secret) (*Revision, error) {
	var newest *corev1.Secret
	highest := 0
	for i := range secrets {
		number, err := strconv.Atoi(secrets[i].Labels[labelVersion])
		if err == nil && secrets[i].Type == secretType && number > highest {
			newest, highest = &secrets[i], number
		}
	}
	if newest == nil {
		return nil, ErrNoRelease
	}
	return Read(newest)
}

// Read reads the revision of a Secret.
func Read(secret *corev1.Secret) (*Revision, error) {
	fail := func(err error) (*Revision, error) {
		return nil, fmt.Errorf("read Secret %s of Helm: %w", secret.Name, err)
	}
	text, err := decode(secret.Data[dataKey])
	if err != nil {
		return fail(err)
	}
	r := &Revision{secret: secret}
	if err := json.Unmarshal(text, &r.fields); err != nil {
		return fail(err)
	}
	if err := json.Unmarshal(r.fields["info"], &r.info); err != nil {
		return fail(fmt.Errorf("info: %w", err))
	}
	if r.info == nil || secret.Labels[labelName] == "" {
		return fail(errors.New("it has no info, or no label with the name of the release"))
	}
	for _, field := range []struct {
		of   map[string]json.RawMessage
		name string
		into any
	}{{r.fields, "version", &r.Number}, {r.fields, "manifest", &r.Manifest}, {r.info, "status", &r.Status}, {r.info, "description", &r.Description}} {
		if value, has := field.of[field.name]; has {
			if err := json.Unmarshal(value, field.into); err != nil {
				return fail(fmt.Errorf("%s: %w", field.name, err))
			}
		}
	}
	return r, nil
}

// Next is the Secret of the next revision: pending, with another manifest.
func (r *Revision) Next(manifest, description string, now time.Time) (*corev1.Secret, error) {
	next := &Revision{
		Number: r.Number + 1, Status: Pending, Description: description, Manifest: manifest,
		fields: maps.Clone(r.fields), info: maps.Clone(r.info),
	}
	delete(next.info, "rollback_revision")
	deployed, err := json.Marshal(now)
	if err != nil {
		return nil, err
	}
	next.info["last_deployed"] = deployed
	data, err := next.encode()
	if err != nil {
		return nil, err
	}
	name := r.secret.Labels[labelName]
	marks := maps.Clone(r.secret.Labels)
	delete(marks, labelChanged)
	maps.Copy(marks, map[string]string{
		labelVersion: strconv.Itoa(next.Number), labelStatus: string(next.Status), labelCreated: strconv.FormatInt(now.Unix(), 10),
	})
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.secret.Namespace, Name: secretName(name, next.Number), Labels: marks},
		Type:       secretType, Data: map[string][]byte{dataKey: data},
	}, nil
}

// secretName is the name of a revision's Secret.
func secretName(release string, number int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", release, number)
}

// Previous is the name of the Secret of the revision before.
func (r *Revision) Previous() string { return secretName(r.secret.Labels[labelName], r.Number-1) }

// With is the Secret of this revision with another status.
func (r *Revision) With(status Status, now time.Time) (*corev1.Secret, error) {
	changed := *r
	changed.Status, changed.fields, changed.info = status, maps.Clone(r.fields), maps.Clone(r.info)
	data, err := changed.encode()
	if err != nil {
		return nil, err
	}
	secret := r.secret.DeepCopy()
	secret.Labels[labelStatus], secret.Labels[labelChanged] = string(status), strconv.FormatInt(now.Unix(), 10)
	secret.Data[dataKey] = data
	return secret, nil
}

// encode is the counterpart of decode, for the revision's fields.
func (r *Revision) encode() ([]byte, error) {
	for _, field := range []struct {
		of    map[string]json.RawMessage
		name  string
		value any
	}{{r.info, "status", r.Status}, {r.info, "description", r.Description}, {r.fields, "version", r.Number}, {r.fields, "manifest", r.Manifest}, {r.fields, "info", r.info}} {
		encoded, err := json.Marshal(field.value)
		if err != nil {
			return nil, err
		}
		field.of[field.name] = encoded
	}
	text, err := json.Marshal(r.fields)
	if err != nil {
		return nil, err
	}
	var compressed bytes.Buffer
	// As Helm does: a release that just fits into a Secret must fit again.
	writer, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(text); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, compressed.Bytes()), nil
}

// decode returns the JSON of a revision, which Helm compresses, and encodes for a Secret that encodes it once more.
func decode(data []byte) ([]byte, error) {
	// maxSize is far more than compresses into a Secret of one mebibyte, unless it was made to fill the memory.
	const maxSize = 64 << 20
	compressed, err := base64.StdEncoding.AppendDecode(nil, data)
	if err != nil {
		return nil, err
	}
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(reader, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = errors.New("it is larger than 64 MiB")
	}
	return text, err
}
