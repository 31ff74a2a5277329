{{/* Labels of every object. Selectors use the name alone, so that an upgrade never changes them. */}}
{{- define "fairlead.labels" -}}
app.kubernetes.io/name: fairlead-controller
app.kubernetes.io/part-of: fairlead
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The digest decides if there is one; the tag then only informs. */}}
{{- define "fairlead.image" -}}
{{- $image := printf "%s:%s" .Values.image.repository .Values.image.tag -}}
{{- if .Values.image.digest }}{{ $image = printf "%s@%s" $image .Values.image.digest }}{{ end -}}
{{- $image -}}
{{- end }}

{{/* True if the controller watches the whole cluster; else empty. What is outside of namespaces depends on it. */}}
{{- define "fairlead.clusterWide" -}}
{{- if not .Values.watchNamespaces }}true{{ end -}}
{{- end }}

{{/* True if cert-manager issues the certificate; else empty. A controller without webhooks needs none. */}}
{{- define "fairlead.certManager" -}}
{{- if and (include "fairlead.clusterWide" .) (eq .Values.certificates.issuer "cert-manager") }}true{{ end -}}
{{- end }}

{{/* True if the controller issues its certificate itself; else empty. */}}
{{- define "fairlead.ownCertificate" -}}
{{- if and (include "fairlead.clusterWide" .) (eq .Values.certificates.issuer "self") }}true{{ end -}}
{{- end }}

{{/* The subject of every binding. */}}
{{- define "fairlead.subject" -}}
- kind: ServiceAccount
  name: fairlead-controller
  namespace: {{ .Release.Namespace }}
{{- end }}
