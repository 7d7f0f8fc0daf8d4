{{- /* Names */}}
{{- define "shutterfleet.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "shutterfleet.workersNamespace" -}}
{{ .Values.workers.namespace | default (printf "%s-workers" .Release.Namespace) }}
{{- end }}

{{- define "shutterfleet.keysSecret" -}}
{{ .Values.keys.existingSecret | default (printf "%s-keys" (include "shutterfleet.fullname" .)) }}
{{- end }}

{{- define "shutterfleet.firstKeySecret" -}}
{{ include "shutterfleet.fullname" . }}-first-key
{{- end }}

{{- /* Host name of a Service of the release: (list $ name) */}}
{{- define "shutterfleet.host" -}}
{{- $root := index . 0 -}}
{{ include "shutterfleet.fullname" $root }}-{{ index . 1 }}.{{ $root.Release.Namespace }}.svc
{{- end }}

{{- define "shutterfleet.publicUrl" -}}
{{- if .Values.publicUrl -}}
{{ .Values.publicUrl }}
{{- else if and .Values.ingress.enabled .Values.ingress.host -}}
{{ ternary "https" "http" (ne .Values.ingress.tlsSecret "") }}://{{ .Values.ingress.host }}
{{- else if and .Values.httpRoute.enabled .Values.httpRoute.host -}}
https://{{ .Values.httpRoute.host }}
{{- else -}}
http://{{ include "shutterfleet.host" (list . "gateway") }}:{{ .Values.gateway.service.port }}
{{- end -}}
{{- end }}

{{- define "shutterfleet.pools" -}}
{{- range $name := list "standard" "proxied" "stealth" }}
{{- if (index $.Values.pools $name).enabled }} {{ $name }}{{ end }}
{{- end }}
{{- end }}

{{- /* Queues whose workers get a Secret, even if the BrowserPools are not the chart's. */}}
{{- define "shutterfleet.queues" -}}
standard proxied{{ if .Values.pools.stealth.enabled }} stealth{{ end }}
{{- end }}

{{- /* Labels: (list $ component) */}}
{{- define "shutterfleet.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "shutterfleet.labels" -}}
{{- $root := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{ include "shutterfleet.selector" . }}
{{- end }}

{{- /* Metadata of an object of the release: (list $ component name) */}}
{{- define "shutterfleet.metadata" -}}
{{- $root := index . 0 -}}
name: {{ index . 2 }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "shutterfleet.labels" (list $root (index . 1)) | nindent 2 }}
{{- end }}

{{- /* Image reference: (list $ key of values.image) */}}
{{- define "shutterfleet.image" -}}
{{- $root := index . 0 -}}
{{- $image := index $root.Values.image (index . 1) -}}
{{- $name := $image.repository -}}
{{- if $root.Values.image.registry }}{{ $name = printf "%s/%s" $root.Values.image.registry $name }}{{ end -}}
{{- if $image.digest -}}
{{ $name }}@{{ $image.digest }}
{{- else -}}
{{ $name }}:{{ $image.tag | default $root.Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "shutterfleet.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "shutterfleet.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "shutterfleet.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* Sources of keys and URLs: { secret, key } each. */}}
{{- define "shutterfleet.databaseSecret" -}}
{{- if .Values.evaluation.enabled -}}
{ secret: {{ include "shutterfleet.keysSecret" . }}, key: database-url }
{{- else -}}
{ secret: {{ .Values.postgresql.existingSecret }}, key: {{ .Values.postgresql.urlKey }} }
{{- end -}}
{{- end }}

{{- /* URL of PostgreSQL itself, which bypasses a pooler. */}}
{{- define "shutterfleet.directDatabaseSecret" -}}
{{- if .Values.postgresql.directUrlKey -}}
{ secret: {{ .Values.postgresql.existingSecret }}, key: {{ .Values.postgresql.directUrlKey }} }
{{- else -}}
{{ include "shutterfleet.databaseSecret" . }}
{{- end -}}
{{- end }}

{{- define "shutterfleet.databasePassword" -}}
{{- if .Values.postgresql.passwordKey }}
DATABASE_PASSWORD: { secret: {{ .Values.postgresql.existingSecret }}, key: {{ .Values.postgresql.passwordKey }} }
{{- end }}
{{- end }}

{{- define "shutterfleet.databaseFiles" -}}
DATABASE_URL: {{ include "shutterfleet.databaseSecret" . }}
{{- include "shutterfleet.databasePassword" . }}
{{- if .Values.postgresql.directUrlKey }}
DATABASE_DIRECT_URL: {{ include "shutterfleet.directDatabaseSecret" . }}
{{- end }}
{{- end }}

{{- /* (list $ user) */}}
{{- define "shutterfleet.natsSecret" -}}
{{- $root := index . 0 -}}
{{- $keys := include "shutterfleet.keysSecret" $root -}}
{ secret: {{ ternary $keys $root.Values.nats.existingSecret $root.Values.evaluation.enabled }}, key: {{ index . 1 }}-url }
{{- end }}

{{- /* Settings of the object store: { env, files } */}}
{{- define "shutterfleet.storage" -}}
{{- if .Values.evaluation.enabled -}}
env:
  STORAGE_DRIVER: files
  STORAGE_FOLDER: /images
  STORAGE_FILES_URL: http://{{ include "shutterfleet.host" (list . "objects") }}:8082
files:
  STORAGE_SIGNING_KEY: { secret: {{ include "shutterfleet.keysSecret" . }}, key: storage-signing-key }
{{- else -}}
{{- with .Values.storage -}}
env:
  STORAGE_DRIVER: s3
  {{- if ne .keysFrom "url" }}
  S3_KEYS_FROM: {{ .keysFrom }}
  {{- end }}
  {{- if eq .keysFrom "web-identity" }}
  S3_ROLE_ARN: {{ .roleArn | quote }}
  {{- end }}
  {{- with .keysUrl }}
  S3_KEYS_URL: {{ . | quote }}
  {{- end }}
files:
  S3_URL: { secret: {{ .existingSecret }}, key: {{ .urlKey }} }
  {{- if eq .keysFrom "file" }}
  S3_KEYS: { secret: {{ .existingSecret }}, key: {{ .keysKey }} }
  {{- else if has .keysFrom (list "web-identity" "container") }}
  S3_TOKEN: { audience: {{ .audience | default (ternary "pods.eks.amazonaws.com" "sts.amazonaws.com" (eq .keysFrom "container")) }} }
  {{- end }}
{{- end }}
{{- end -}}
{{- end }}
