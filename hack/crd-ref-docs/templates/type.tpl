{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}
### {{ $type.Name }}

{{ $type.Doc }}
{{ if $type.IsAlias }}
Underlying type: {{ markdownRenderTypeLink $type.UnderlyingType }}.
{{ end }}
{{- if $type.References }}
Appears in: {{ range $i, $reference := $type.SortedReferences }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $reference }}{{ end }}.
{{ end }}
{{- if $type.Members }}
| Field | Type | Meaning | Limits |
| --- | --- | --- | --- |
{{- if $type.GVK }}
| `apiVersion` | string | `{{ $type.GVK.Group }}/{{ $type.GVK.Version }}` | *required* |
| `kind` | string | `{{ $type.GVK.Kind }}` | *required* |
{{- end }}
{{- range $type.Members }}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ template "type_members" . }} | {{ template "limits" . }} |
{{- end }}
{{ end }}
{{- if $type.EnumValues }}
| Value | Meaning |
| --- | --- |
{{- range $type.EnumValues }}
| `{{ .Name }}` | {{ markdownRenderFieldDoc .Doc | replace "<br />" " " | trim }} |
{{- end }}
{{ end }}
{{- end }}
{{- end -}}

{{- define "limits" -}}
{{- $limits := list -}}
{{- $optional := has "Optional: {}" .Validation -}}
{{- if not $optional }}{{ $limits = append $limits "*required*" }}{{ end -}}
{{- if .Default }}{{ $limits = append $limits (printf "default `%s`" (.Default | toString)) }}{{ end -}}
{{- range .Validation -}}
{{- if not (or (eq . "Optional: {}") (eq . "Required: {}")) }}{{ $limits = append $limits (markdownRenderFieldDoc .) }}{{ end -}}
{{- end -}}
{{- join "; " $limits -}}
{{- end -}}
