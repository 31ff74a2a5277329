{{- define "type_members" -}}
{{- if eq .Name "metadata" -}}
Standard object metadata; see the Kubernetes API documentation.
{{- else -}}
{{ markdownRenderFieldDoc .Doc | replace "<br />" " " | replace "<" "\\<" | trim }}
{{- end -}}
{{- end -}}
