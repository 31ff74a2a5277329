{{- define "gvDetails" -}}
## {{ .GroupVersionString }}
{{ range .SortedKinds }}
{{ template "type" ($.TypeForKind .) }}
{{- end }}
{{- range .SortedTypes }}
{{- if not .GVK }}{{ template "type" . }}{{ end }}
{{- end }}
{{- end -}}
