// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package crd

import (
	"encoding/json"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// handler is what the API server calls.
func handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /convert", review(func(r *apiextensionsv1.ConversionReview) {
		r.Response = convertAll(r.Request)
	}))
	mux.HandleFunc("POST /validate", review(func(r *admissionv1.AdmissionReview) {
		r.Response = validate(r.Request)
	}))
	return mux
}

// review decodes a review, calls the handler, and sends the response.
func review[T any](answer func(*T)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(&body)
		w.Header().Set("Content-Type", "application/json")
		// A client that has gone away needs no answer.
		_ = json.NewEncoder(w).Encode(&body)
	}
}

func validate(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	response := &admissionv1.AdmissionResponse{UID: request.UID, Allowed: true}
	var ship struct {
		Spec struct {
			Flag string `json:"flag"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(request.Object.Raw, &ship); err != nil || ship.Spec.Flag == "black" {
		response.Allowed = false
		response.Result = &metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "no pirates"}
	}
	return response
}

func convertAll(request *apiextensionsv1.ConversionRequest) *apiextensionsv1.ConversionResponse {
	response := &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range request.Objects {
		ship := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw.Raw, &ship.Object); err != nil {
			return failed(request, err)
		}
		if err := convert(ship, request.DesiredAPIVersion); err != nil {
			return failed(request, err)
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Object: ship})
	}
	return response
}

func failed(request *apiextensionsv1.ConversionRequest, err error) *apiextensionsv1.ConversionResponse {
	return &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}}
}

// annotation keeps the fields that the old version lacks, so that a round trip loses nothing.
const annotation = group + "/flag"

// convert changes the spec, the version and nothing else.
func convert(ship *unstructured.Unstructured, to string) error {
	ship.SetAPIVersion(to)
	spec, _, err := unstructured.NestedMap(ship.Object, "spec")
	if err != nil {
		return err
	}
	annotations := ship.GetAnnotations()
	if to == group+"/v1" {
		var length, width int64
		if _, err := fmt.Sscanf(fmt.Sprint(spec["size"]), "%dx%d", &length, &width); err != nil {
			return fmt.Errorf("read size %v: %w", spec["size"], err)
		}
		spec = map[string]any{"length": length, "width": width}
		if flag, kept := annotations[annotation]; kept {
			spec["flag"] = flag
			delete(annotations, annotation)
		}
	} else {
		if flag, flies := spec["flag"].(string); flies {
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[annotation] = flag
		}
		spec = map[string]any{"size": fmt.Sprintf("%vx%v", spec["length"], spec["width"])}
	}
	ship.SetAnnotations(annotations)
	return unstructured.SetNestedMap(ship.Object, spec, "spec")
}
