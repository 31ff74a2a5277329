{{- define "gvList" -}}
<!-- Generated from pkg/apis by make generate. Do not edit. -->

# API reference

The same text, for one field and below: `kubectl explain applications.apps.fairlead.dev.spec.ports`.
A field is optional unless it says *required*.

{{ range . }}{{ template "gvDetails" . }}{{ end }}
{{- end -}}
