// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"encoding/json"
	"strings"
)

// redactedValue replaces a redacted value.
const redactedValue = "redacted"

// disclosedFields are the fields whose text is shown: names, and words that the API defines. All other text is redacted,
// so new fields are safe.
var disclosedFields = map[string]bool{
	"apiVersion": true, "kind": true, "name": true, "namespace": true, "uid": true, "resourceVersion": true, "creationTimestamp": true,
	"deletionTimestamp": true, "lastTransitionTime": true, "lastUpdateTime": true, "controller": true, "generateName": true,
	"type": true, "status": true, "reason": true, "phase": true, "state": true, "protocol": true, "appProtocol": true, "action": true,
	"image": true, "imagePullPolicy": true, "restartPolicy": true, "dnsPolicy": true, "policy": true, "mode": true, "className": true,
	"reconcilePolicy": true, "deletionPolicy": true, "configChangePolicy": true, "minAvailable": true, "maxUnavailable": true, "maxSurge": true,
	"cpu": true, "memory": true, "port": true, "targetPort": true, "containerPort": true, "servicePort": true, "secretName": true,
	"serviceAccountName": true, "schedulerName": true, "pathType": true, "resource": true, "group": true, "operator": true, "topologyKey": true,
	"whenUnsatisfiable": true, "unhealthyPodEvictionPolicy": true, "ingressClassName": true, "terminationMessagePolicy": true,
	"replicaSet": true, "deployment": true, "application": true, "revision": true, "securityProfile": true,
}

// named are the fields whose values are maps. Their values are never shown, whatever their names. Labels are shown,
// because selectors use them.
var (
	valuesNever  = map[string]bool{"annotations": true, "data": true, "binaryData": true, "stringData": true, "env": true, "httpHeaders": true}
	valuesAlways = map[string]bool{"labels": true, "matchLabels": true, "selector": true}
	dropped      = map[string]bool{"managedFields": true}
)

// redacted returns an object as JSON, without what may be secret.
func redacted(object any) (any, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var decoded any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		return nil, err
	}
	return redact(decoded, "", someText), nil
}

// disclosure is how much of the text below a field is shown.
type disclosure uint8

const (
	someText disclosure = iota // the text of disclosedFields
	noText                     // no text at all
	everyText
)

func redact(value any, field string, mode disclosure) any {
	switch v := value.(type) {
	case map[string]any:
		cleared := make(map[string]any, len(v))
		for name, below := range v {
			switch {
			case dropped[name]:
			case mode == noText || valuesNever[name]:
				cleared[name] = redact(below, name, noText)
			case valuesAlways[name]:
				cleared[name] = redact(below, name, everyText)
			default:
				cleared[name] = redact(below, name, mode)
			}
		}
		return cleared
	case []any:
		cleared := make([]any, 0, len(v))
		for _, below := range v {
			cleared = append(cleared, redact(below, field, mode))
		}
		return cleared
	case string:
		if mode == everyText || mode == someText && isDisclosed(field) || v == "" {
			return v
		}
		return redactedValue
	default:
		if mode == noText && v != nil {
			return redactedValue
		}
		return v
	}
}

// isDisclosed ignores the case of the first letter, because types without JSON names have Go's.
func isDisclosed(field string) bool {
	return field != "" && disclosedFields[strings.ToLower(field[:1])+field[1:]]
}
