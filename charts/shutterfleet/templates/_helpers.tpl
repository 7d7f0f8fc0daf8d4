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
{{ tpl .Values.keys.existingSecret . | default (printf "%s-keys" (include "shutterfleet.fullname" .)) }}
{{- end }}

{{- /* Where the certificates of the egress filters come from: `keys`, `cert-manager`, or empty without TLS. */}}
{{- define "shutterfleet.tls" -}}
{{- if .Values.tls.enabled }}{{ ternary "cert-manager" "keys" (ne (.Values.tls.certManager.issuerRef.name | default "") "") }}{{ end -}}
{{- end }}

{{- /* Ports of an egress filter by name. */}}
{{- define "shutterfleet.egressPorts" -}}
{{- $tls := ne (include "shutterfleet.tls" .) "" -}}
{{- if or (not $tls) .Values.tls.acceptPlain }}
proxy: 3128
{{- end }}
{{- if $tls }}
proxy-tls: 3129
{{- end }}
{{- end }}

{{- /* Address of an egress filter for its clients: (list $ component) */}}
{{- define "shutterfleet.egressAddress" -}}
{{ include "shutterfleet.host" . }}:{{ ternary 3128 3129 (eq (include "shutterfleet.tls" (index . 0)) "") }}
{{- end }}

{{- define "shutterfleet.firstKeySecret" -}}
{{ include "shutterfleet.fullname" . }}-first-key
{{- end }}

{{- /* YAML of a map without its fields that are null: who overrides a field with null removes it. */}}
{{- define "shutterfleet.yaml" -}}
{{- include "shutterfleet.removeNulls" . -}}
{{- toYaml . -}}
{{- end }}

{{- define "shutterfleet.removeNulls" -}}
{{- $value := . -}}
{{- if kindIs "map" $value -}}
{{- range $name, $each := $value }}{{ if kindIs "invalid" $each }}{{ $_ := unset $value $name }}{{ else }}{{ include "shutterfleet.removeNulls" $each }}{{ end }}{{ end -}}
{{- else if kindIs "slice" $value -}}
{{- range $value }}{{ include "shutterfleet.removeNulls" . }}{{ end -}}
{{- end -}}
{{- end }}

{{- /* Host name of a Service of the release: (list $ name) */}}
{{- define "shutterfleet.host" -}}
{{- $root := index . 0 -}}
{{ include "shutterfleet.fullname" $root }}-{{ index . 1 }}.{{ $root.Release.Namespace }}.svc
{{- end }}

{{- /* URL of a Service for HTTP: (list $ component) */}}
{{- define "shutterfleet.serviceUrl" -}}
http://{{ include "shutterfleet.host" . }}:{{ (index (index . 0).Values (index . 1)).service.port }}
{{- end }}

{{- /* The component to which clients connect. */}}
{{- define "shutterfleet.front" -}}
{{ ternary "router" "gateway" .Values.router.enabled }}
{{- end }}

{{- define "shutterfleet.publicUrl" -}}
{{- if .Values.publicUrl -}}
{{ tpl .Values.publicUrl . }}
{{- else if and .Values.ingress.enabled .Values.ingress.host -}}
{{- $hasTls := ne .Values.ingress.tlsSecret "" }}
{{- range .Values.ingress.moreTls }}{{ if has $.Values.ingress.host .hosts }}{{ $hasTls = true }}{{ end }}{{ end -}}
{{ ternary "https" "http" $hasTls }}://{{ tpl .Values.ingress.host . }}
{{- else if and .Values.httpRoute.enabled .Values.httpRoute.host -}}
https://{{ tpl .Values.httpRoute.host . }}
{{- else -}}
{{ include "shutterfleet.serviceUrl" (list . (include "shutterfleet.front" .)) }}
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
app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "shutterfleet.labels" -}}
{{- $root := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{ include "shutterfleet.selector" . }}
{{- end }}

{{- /* Metadata of an object: (list $ component name), and optionally a dict of namespace ("" for an object of the cluster), labels and
       annotations. Those of the chart win over the values' commonLabels and commonAnnotations. */}}
{{- define "shutterfleet.metadata" -}}
{{- $root := index . 0 -}}
{{- $more := dict -}}
{{- if gt (len .) 3 }}{{ $more = index . 3 }}{{ end -}}
{{- $own := include "shutterfleet.labels" (list $root (index . 1)) -}}
{{- $labels := merge (dict) ($more.labels | default dict) (include "shutterfleet.commonLabels" $root | fromYaml) -}}
{{- range $name, $_ := fromYaml $own }}{{ $_ := unset $labels $name }}{{ end -}}
name: {{ index . 2 | quote }}
{{- with ternary $more.namespace $root.Release.Namespace (hasKey $more "namespace") }}
namespace: {{ . | quote }}
{{- end }}
labels:
  {{- $own | nindent 2 }}
  {{- with $labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) ($more.annotations | default dict) (include "shutterfleet.commonAnnotations" $root | fromYaml) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A map of strings that may be templates: (list $ map) */}}
{{- define "shutterfleet.strings" -}}
{{- $root := index . 0 -}}
{{- range $name, $value := index . 1 }}
{{ $name | quote }}: {{ tpl $value $root | quote }}
{{- end }}
{{- end }}

{{- define "shutterfleet.commonLabels" -}}
{{ include "shutterfleet.strings" (list . .Values.commonLabels) }}
{{- end }}

{{- define "shutterfleet.commonAnnotations" -}}
{{ include "shutterfleet.strings" (list . .Values.commonAnnotations) }}
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
  - name: {{ . | quote }}
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
{ secret: {{ include "shutterfleet.keysSecret" . | quote }}, key: database-url }
{{- else -}}
{ secret: {{ tpl .Values.postgresql.existingSecret . | quote }}, key: {{ .Values.postgresql.urlKey | quote }} }
{{- end -}}
{{- end }}

{{- /* URL of PostgreSQL itself, which bypasses a pooler. */}}
{{- define "shutterfleet.directDatabaseSecret" -}}
{{- if .Values.postgresql.directUrlKey -}}
{ secret: {{ tpl .Values.postgresql.existingSecret . | quote }}, key: {{ .Values.postgresql.directUrlKey | quote }} }
{{- else -}}
{{ include "shutterfleet.databaseSecret" . }}
{{- end -}}
{{- end }}

{{- /* Most pods of a service at one time: (list $ service). A rollout starts more before it ends the others. */}}
{{- define "shutterfleet.podsMax" -}}
{{- $root := index . 0 -}}
{{- $config := index $root.Values (index . 1) -}}
{{- $replicas := ternary 1 (int $config.replicas) $root.Values.evaluation.enabled -}}
{{- if (dig "autoscaling" "enabled" false $config) }}{{ $replicas = int $config.autoscaling.maxReplicas }}{{ end -}}
{{- $deployment := mergeOverwrite (deepCopy $root.Values.pods.deployment) (deepCopy $config.deployment) -}}
{{- include "shutterfleet.removeNulls" $deployment -}}
{{- $surge := dig "strategy" "rollingUpdate" "maxSurge" "25%" $deployment | toString -}}
{{- if eq (dig "strategy" "type" "" $deployment) "Recreate" }}{{ $surge = "0" }}{{ end -}}
{{- if hasSuffix "%" $surge }}{{ $surge = divf (mulf (trimSuffix "%" $surge | float64) $replicas) 100 | ceil }}{{ end -}}
{{ add $replicas (int $surge) }}
{{- end }}

{{- /* Most connections to PostgreSQL: of pods, each its pool, or behind a pooler two that listen; and of the Jobs. */}}
{{- define "shutterfleet.databaseConnections" -}}
{{- $sum := 4 -}}
{{- range $service := list "gateway" "ledger" "webhooks" }}
{{- $each := index (index $.Values $service).settings "DATABASE_POOL_MAX" | default 10 | int -}}
{{- if $.Values.postgresql.directUrlKey }}{{ $each = 2 }}{{ end -}}
{{- $sum = add $sum (mul (max 2 $each) (include "shutterfleet.podsMax" (list $ $service) | int)) -}}
{{- end -}}
{{ $sum }}
{{- end }}

{{- define "shutterfleet.databasePassword" -}}
{{- if .Values.postgresql.passwordKey }}
DATABASE_PASSWORD: { secret: {{ tpl .Values.postgresql.existingSecret . | quote }}, key: {{ .Values.postgresql.passwordKey | quote }} }
{{- end }}
{{- end }}

{{- define "shutterfleet.databaseFiles" -}}
DATABASE_URL: {{ include "shutterfleet.databaseSecret" . }}
{{- include "shutterfleet.databasePassword" . }}
{{- if .Values.postgresql.directUrlKey }}
DATABASE_DIRECT_URL: {{ include "shutterfleet.directDatabaseSecret" . }}
{{- end }}
{{- end }}

{{- /* Those of a service, which may have a role of its own: (list $ service) */}}
{{- define "shutterfleet.serviceDatabaseFiles" -}}
{{- $root := index . 0 -}}
{{- $service := index . 1 -}}
{{- $postgresql := $root.Values.postgresql -}}
{{- $files := include "shutterfleet.databaseFiles" $root | fromYaml }}
{{- if and (eq $service "gateway") $postgresql.replicaUrlKey }}
{{- $_ := set $files "DATABASE_REPLICA_URL" (dict "secret" (tpl $postgresql.existingSecret $root) "key" $postgresql.replicaUrlKey) }}
{{- end }}
{{- if index $postgresql.roles $service }}
{{- range $name, $from := $files }}{{ $_ := set $from "key" (printf "%s-%s" $service $from.key) }}{{ end }}
{{- end }}
{{- toYaml $files }}
{{- end }}

{{- /* Files of a user of NATS: (list $ user) */}}
{{- define "shutterfleet.natsFiles" -}}
{{- $root := index . 0 -}}
{{- $user := index . 1 -}}
{{- $secret := ternary (include "shutterfleet.keysSecret" $root) (tpl $root.Values.nats.existingSecret $root) $root.Values.evaluation.enabled -}}
NATS_URL: { secret: {{ $secret | quote }}, key: {{ $user }}-url }
{{- with $root.Values.nats }}
{{- if ne .identity "url" }}
NATS_{{ upper .identity }}: { secret: {{ $secret | quote }}, key: {{ $user }}-{{ .identity }}, reread: true }
{{- end }}
{{- if .certificateSecrets }}
{{- $certificate := printf "%s-%s" (tpl .certificateSecrets $root) $user }}
NATS_CERTIFICATE: { secret: {{ $certificate | quote }}, key: tls.crt, reread: true }
NATS_KEY: { secret: {{ $certificate | quote }}, key: tls.key, reread: true }
{{- end }}
{{- end }}
{{- end }}

{{- /* Files by which workers identify themselves to NATS, of their Secrets. */}}
{{- define "shutterfleet.natsWorkerFiles" -}}
{{- $files := without (list .Values.nats.identity) "url" -}}
{{- if .Values.nats.certificateSecrets }}{{ $files = append $files "certificate" }}{{ end -}}
{{- join "," $files -}}
{{- end }}

{{- /* What the controller makes workers of, which the admission policy demands of them. */}}
{{- define "shutterfleet.workerSettings" -}}
{{- $tls := include "shutterfleet.tls" . -}}
{{- $egressCa := "" -}}
{{- if eq $tls "keys" }}{{ $egressCa = "secret" }}{{ else if $tls }}{{ $egressCa = printf "configmap/%s" (tpl .Values.tls.certManager.caConfigMap .) }}{{ end -}}
{{- $ids := .Values.workers.podSecurityContext -}}
{{- dict
  "secret" (printf "%s-worker" (include "shutterfleet.fullname" .))
  "egress" (include "shutterfleet.egressAddress" (list . "egress"))
  "egressCa" $egressCa
  "extraCa" (toString (ne .Values.extraCa.configMap ""))
  "natsFiles" (include "shutterfleet.natsWorkerFiles" .)
  "seccomp" (.Values.workers.seccompProfile | default "RuntimeDefault")
  "appArmor" .Values.workers.appArmorProfile
  "runAsUser" (include "shutterfleet.id" $ids.runAsUser)
  "runAsGroup" (include "shutterfleet.id" $ids.runAsGroup)
  "fsGroup" (include "shutterfleet.id" $ids.fsGroup)
  "isolation" .Values.workers.isolation
  "unsafeNoSandbox" (toString .Values.workers.unsafeNoSandbox) | toJson -}}
{{- end }}

{{- /* An id as text, empty if there is none. */}}
{{- define "shutterfleet.id" -}}
{{- with . }}{{ int64 . }}{{ end -}}
{{- end }}

{{- /* Settings of the object store: { env, files } */}}
{{- define "shutterfleet.storage" -}}
{{- if .Values.evaluation.enabled -}}
env:
  STORAGE_DRIVER: files
  STORAGE_FOLDER: /images
  STORAGE_FILES_URL: http://{{ include "shutterfleet.host" (list . "objects") }}:8082
files:
  STORAGE_SIGNING_KEY: { secret: {{ include "shutterfleet.keysSecret" . | quote }}, key: storage-signing-key }
{{- else -}}
{{- with .Values.storage -}}
env:
  STORAGE_DRIVER: s3
  {{- if ne .keysFrom "url" }}
  S3_KEYS_FROM: {{ .keysFrom | quote }}
  {{- end }}
  {{- if eq .keysFrom "web-identity" }}
  S3_ROLE_ARN: {{ .roleArn | quote }}
  {{- end }}
  {{- with .keysUrl }}
  S3_KEYS_URL: {{ . | quote }}
  {{- end }}
files:
  S3_URL: { secret: {{ tpl .existingSecret $ | quote }}, key: {{ .urlKey | quote }} }
  {{- if eq .keysFrom "file" }}
  S3_KEYS: { secret: {{ tpl .existingSecret $ | quote }}, key: {{ .keysKey | quote }} }
  {{- else if has .keysFrom (list "web-identity" "container") }}
  S3_TOKEN: { audience: {{ .audience | default (ternary "pods.eks.amazonaws.com" "sts.amazonaws.com" (eq .keysFrom "container")) | quote }} }
  {{- end }}
{{- end }}
{{- end -}}
{{- end }}

{{- /* The spec of a Service: (list $ component fields ports); `services` and then `fields` override the chart's fields. */}}
{{- define "shutterfleet.serviceSpec" -}}
{{- $root := index . 0 -}}
{{- with mergeOverwrite (dict) (deepCopy $root.Values.services) (index . 2) -}}
{{ include "shutterfleet.yaml" (omit . "selector" "ports") }}
{{ end -}}
selector:
  {{- include "shutterfleet.selector" (list $root (index . 1)) | nindent 2 }}
{{- end }}
