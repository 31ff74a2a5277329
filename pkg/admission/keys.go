// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/reference"
)

// newKeys returns the keys without which no pod starts, and that the old spec did not name, by the object that must have them.
func newKeys(old, updated *v1.Application) map[Reference][]string {
	before := requiredKeys(old)
	added := requiredKeys(updated)
	for object, keys := range added {
		added[object] = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(before[object], key) })
	}
	return added
}

func requiredKeys(application *v1.Application) map[Reference][]string {
	required := map[Reference][]string{}
	if application == nil {
		return required
	}
	for _, used := range reference.FromSpec(&application.Spec) {
		if used.Required && len(used.Keys) > 0 {
			required[Reference{Kind: string(used.Kind), Namespace: application.Namespace, Name: used.Name}] = used.Keys
		}
	}
	return required
}

// lackingKeys warns of those of the keys that an existing object does not have.
func lackingKeys(of Reference, object *metav1.PartialObjectMetadata, wanted []string) []string {
	if len(wanted) == 0 {
		return nil
	}
	keys, known := keysOf(object)
	if !known {
		return nil
	}
	var lacking []string
	for _, key := range wanted {
		if !keys.Has(key) {
			lacking = append(lacking, strconv.Quote(key))
		}
	}
	switch len(lacking) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("%s %q in namespace %q has no key %s, and the pods need it", of.Kind, of.Name, of.Namespace, lacking[0])}
	default:
		return []string{fmt.Sprintf("%s %q in namespace %q has no keys %s, and the pods need them", of.Kind, of.Name, of.Namespace, strings.Join(lacking, ", "))}
	}
}

// keysOf returns the keys of a ConfigMap or Secret. managedFields has their names: the API server records there which client wrote
// which field, so no value is read. known is false if it may lack some: it is empty until the first apply after a client has cleared
// it, and it names what was applied as stringData, but not the keys of data that became of it.
func keysOf(object *metav1.PartialObjectMetadata) (keys sets.Set[string], known bool) {
	keys = sets.New[string]()
	for _, entry := range object.ManagedFields {
		var fields map[string]map[string]json.RawMessage
		if entry.FieldsV1 == nil || entry.FieldsType != "FieldsV1" {
			return nil, false
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			return nil, false
		}
		if _, written := fields["f:stringData"]; written {
			return nil, false
		}
		for _, field := range []string{"f:data", "f:binaryData"} {
			for name := range fields[field] {
				if key, isKey := strings.CutPrefix(name, "f:"); isKey {
					keys.Insert(key)
				}
			}
		}
	}
	return keys, len(object.ManagedFields) > 0
}
