{{- /*
A pod: dict of
  root          $
  component     component label, and name of the container
  config        values of the component: settings, resources, container, pod
  args          command
  env           settings, without the prefix SHUTTERFLEET_
  files         settings read from files: { NAME: { secret, key } }, or { configMap, key }, or { audience } for a token of the service
                account; reread: whether a change of the Secret needs no restart
  ports         { name: port }
  probes        whether it serves /livez and /readyz; such pods are also spread and scraped
  ready         port of the readiness probe, if not that of the probes
  podName       whether the pod's name is passed as a setting
  token         service account whose token is mounted
  account       service account without a token, if not that of the services
  volumes       { name: { mountPath, ...volume } }
  affinity      overrides pods.affinity
  traced        whether it sends traces
  migrates      whether an init container migrates the database
  grace         seconds from SIGTERM to SIGKILL; longer delays and drains in the settings lengthen it
  restartPolicy
  name          of a Pod without a controller
  annotations   additional annotations
  labels        additional labels
*/}}
{{- define "shutterfleet.pod" -}}
{{- $root := .root -}}
{{- $settings := dict -}}
{{- range $name, $value := .env }}{{ $_ := set $settings (printf "SHUTTERFLEET_%s" $name) $value }}{{ end -}}
{{- range $name, $from := .files }}{{ $_ := set $settings (printf "SHUTTERFLEET_%s_FILE" $name) (printf "/run/secrets/shutterfleet/%s" $name) }}{{ end -}}
{{- range $name, $value := .config.settings }}{{ $_ := set $settings (printf "SHUTTERFLEET_%s" $name) $value }}{{ end -}}
{{- if and (hasKey .files "DATABASE_URL") $root.Values.postgresql.passwordCommand }}{{ $_ := set $settings "SHUTTERFLEET_DATABASE_PASSWORD_COMMAND" (join "," $root.Values.postgresql.passwordCommand) }}{{ end -}}
{{- if $root.Values.extraCa.configMap }}{{ $_ := set $settings "NODE_EXTRA_CA_CERTS" "/etc/shutterfleet/ca.crt" }}{{ end -}}
{{- if and .traced $root.Values.tracing.endpoint }}{{ $_ := merge $settings (fromYaml (include "shutterfleet.tracing" $root)) }}{{ end -}}
{{- $container := fromYaml (include "shutterfleet.container" (merge (dict "settings" $settings) .)) -}}
{{- range $own := list $root.Values.pods.container .config.container }}
{{- $container = mergeOverwrite $container (omit (deepCopy $own) "env" "volumeMounts") -}}
{{- range list "env" "volumeMounts" }}{{ if hasKey $own . }}{{ $_ := set $container . (concat (index $container .) (index $own .)) }}{{ end }}{{ end -}}
{{- end -}}
{{- $spec := fromYaml (include "shutterfleet.podSpec" (merge (dict "settings" $settings) .)) -}}
{{- $_ := set $spec "containers" (list $container) -}}
{{- /* A Job whose pod has another container that does not end does not end either. */}}
{{- $common := ternary (omit $root.Values.pods.pod "containers") $root.Values.pods.pod (hasKey . "restartPolicy") -}}
{{- range $own := list $common .config.pod }}
{{- $spec = mergeOverwrite $spec (omit (deepCopy $own) "containers" "initContainers" "volumes") -}}
{{- range list "containers" "initContainers" "volumes" }}{{ if hasKey $own . }}{{ $_ := set $spec . (concat (index $spec . | default list) (index $own .)) }}{{ end }}{{ end -}}
{{- end -}}
{{- $own := include "shutterfleet.selector" (list $root .component) -}}
{{- $labels := merge (dict) (.labels | default dict) (include "shutterfleet.strings" (list $root .config.podLabels) | fromYaml) (include "shutterfleet.strings" (list $root $root.Values.pods.labels) | fromYaml) (include "shutterfleet.commonLabels" $root | fromYaml) -}}
{{- if .probes }}{{ $_ := set $labels "shutterfleet.dev/metrics" "true" }}{{ end -}}
{{- range $name, $_ := fromYaml $own }}{{ $_ := unset $labels $name }}{{ end -}}
metadata:
  {{- with .name }}
  name: {{ . }}
  namespace: {{ $root.Release.Namespace | quote }}
  {{- end }}
  labels:
    {{- $own | nindent 4 }}
    {{- with $labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with merge (dict) (.annotations | default dict) .config.podAnnotations $root.Values.pods.annotations (include "shutterfleet.commonAnnotations" $root | fromYaml) (include "shutterfleet.secretVersions" . | fromYaml) (ternary dict (dict "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes" "tmp") (hasKey . "restartPolicy")) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "shutterfleet.yaml" $spec | nindent 2 }}
{{- end }}

{{- define "shutterfleet.tracing" -}}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ .Values.tracing.endpoint | quote }}
OTEL_TRACES_SAMPLER: parentbased_traceidratio
OTEL_TRACES_SAMPLER_ARG: {{ .Values.tracing.sampleRatio | quote }}
{{- end }}

{{- define "shutterfleet.env" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "shutterfleet.mounts" -}}
{{- if .files }}
- { name: secrets, mountPath: /run/secrets/shutterfleet, readOnly: true }
{{- end }}
{{- if .root.Values.extraCa.configMap }}
- { name: extra-ca, mountPath: /etc/shutterfleet, readOnly: true }
{{- end }}
{{- if and (hasKey .files "DATABASE_URL") .root.Values.postgresql.certificateSecret }}
- { name: postgresql, mountPath: /run/secrets/postgresql, readOnly: true }
{{- end }}
- { name: tmp, mountPath: /tmp }
{{- range $name, $volume := .volumes }}
- { name: {{ $name }}, mountPath: {{ $volume.mountPath }} }
{{- end }}
{{- end }}

{{- define "shutterfleet.container" -}}
name: {{ .component }}
image: {{ include "shutterfleet.image" (list .root "server") | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ toJson .args }}
env:
  {{- with .settings }}
  {{- include "shutterfleet.env" . | nindent 2 }}
  {{- else }} []
  {{- end }}
  {{- if .podName }}
  - name: SHUTTERFLEET_CONTROLLER_POD
    valueFrom: { fieldRef: { fieldPath: metadata.name } }
  {{- end }}
  {{- with .root.Values.tracing }}
  {{- if and $.traced .endpoint .existingSecret }}
  - name: OTEL_EXPORTER_OTLP_HEADERS
    valueFrom: { secretKeyRef: { name: {{ tpl .existingSecret $.root | quote }}, key: {{ .headersKey | quote }} } }
  {{- end }}
  {{- end }}
{{- with .ports }}
ports:
  {{- range $name, $port := . }}
  - { name: {{ $name }}, containerPort: {{ $port }} }
  {{- end }}
{{- end }}
{{- if .probes }}
startupProbe:
  httpGet: { path: /livez, port: probe }
  periodSeconds: 1
  timeoutSeconds: 5
  failureThreshold: 120
{{- /* Half a minute: on nodes without idle processors, restarts would only add to what waits for one. */}}
livenessProbe:
  httpGet: { path: /livez, port: probe }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: {{ .ready | default "probe" }} }
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}
resources:
  {{- toYaml .config.resources | nindent 2 }}
{{ include "shutterfleet.containerSecurity" . }}
volumeMounts:
  {{- include "shutterfleet.mounts" . | nindent 2 }}
{{- end }}

{{- define "shutterfleet.podSpec" -}}
{{ include "shutterfleet.podSecurity" . }}
{{ include "shutterfleet.pullSecrets" .root }}
serviceAccountName: {{ coalesce .token .account (include "shutterfleet.fullname" .root) | quote }}
automountServiceAccountToken: {{ ne (.token | default "") "" }}
enableServiceLinks: false
{{- /* What the settings lengthen, with what follows it. */}}
{{- $stopMs := 0 }}
{{- range $name, $value := .settings }}
{{- if regexMatch "_(SHUTDOWN_DELAY|DRAIN)_MS$" $name }}{{ $stopMs = add $stopMs (int64 $value) }}{{ end }}
{{- end }}
terminationGracePeriodSeconds: {{ max (.grace | default 30) (add 15 (div $stopMs 1000)) }}
{{- with .restartPolicy }}
restartPolicy: {{ . }}
{{- end }}
{{- with .root.Values.pods.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .root.Values.pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity | default .root.Values.pods.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .probes }}
{{- with .root.Values.pods.spreadOver }}
topologySpreadConstraints:
  {{- range . }}
  - topologyKey: {{ . | quote }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "shutterfleet.selector" (list $.root $.component) | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- end }}
{{- if .migrates }}
initContainers:
  - name: migrate
    image: {{ include "shutterfleet.image" (list .root "server") | quote }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: [shutterfleet, migrate, --wait, 5m]
    env:
      - { name: SHUTTERFLEET_DATABASE_URL_FILE, value: /run/secrets/shutterfleet/DATABASE_URL }
      {{- if .root.Values.plans }}
      - { name: SHUTTERFLEET_PLANS, value: /etc/shutterfleet-plans/plans.json }
      {{- end }}
    resources:
      {{- toYaml .root.Values.jobs.resources | nindent 6 }}
    {{- include "shutterfleet.containerSecurity" . | nindent 4 }}
    volumeMounts:
      {{- include "shutterfleet.mounts" . | nindent 6 }}
{{- end }}
volumes:
  - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
  {{- if .root.Values.extraCa.configMap }}
  - name: extra-ca
    configMap:
      name: {{ tpl .root.Values.extraCa.configMap .root | quote }}
      items: [{ key: {{ .root.Values.extraCa.key | quote }}, path: ca.crt }]
  {{- end }}
  {{- if .files }}
  - name: secrets
    projected:
      # Readable by the group, which is the container's through fsGroup.
      defaultMode: 0440
      sources:
        {{- range $name, $from := .files }}
        {{- if $from.audience }}
        - serviceAccountToken: { audience: {{ $from.audience | quote }}, path: {{ $name }} }
        {{- else if $from.configMap }}
        - configMap: { name: {{ $from.configMap | quote }}, items: [{ key: {{ $from.key | quote }}, path: {{ $name }} }] }
        {{- else }}
        - secret: { name: {{ $from.secret | quote }}, items: [{ key: {{ $from.key | quote }}, path: {{ $name }} }] }
        {{- end }}
        {{- end }}
  {{- end }}
  {{- if and (hasKey .files "DATABASE_URL") .root.Values.postgresql.certificateSecret }}
  - { name: postgresql, secret: { secretName: {{ tpl .root.Values.postgresql.certificateSecret .root | quote }}, defaultMode: 0440 } }
  {{- end }}
  {{- range $name, $volume := .volumes }}
  - {{ toJson (merge (dict "name" $name) (omit $volume "mountPath")) }}
  {{- end }}
{{- end }}

{{- /* A Deployment and its PodDisruptionBudget: the dict of shutterfleet.pod with replicas, autoscaled, recreate. */}}
{{- define "shutterfleet.service" -}}
{{- $root := .root -}}
{{- $pod := merge (dict "probes" true) . -}}
{{- $_ := set $pod "ports" (merge (dict "probe" 9090) (.ports | default dict)) -}}
{{- $_ = set $pod "env" (merge (dict "PROBE_HOST" "::" "PROBE_PORT" "9090" "LOG_LEVEL" $root.Values.logLevel) .env) -}}
{{- $spec := dict "revisionHistoryLimit" 3 -}}
{{- if not .autoscaled }}{{ $_ = set $spec "replicas" .replicas }}{{ end -}}
{{- $spec = mergeOverwrite $spec (deepCopy $root.Values.pods.deployment) (deepCopy .config.deployment) -}}
{{- if .recreate }}{{ $_ = set $spec "strategy" (dict "type" "Recreate") }}{{ end -}}
{{- $budget := dict "enabled" true "unhealthyPodEvictionPolicy" "AlwaysAllow" "maxUnavailable" 1 -}}
{{- range $own := list $root.Values.pods.disruptionBudget .config.disruptionBudget }}
{{- /* The API server refuses both. */}}
{{- if or (hasKey $own "minAvailable") (hasKey $own "maxUnavailable") }}{{ $budget = omit $budget "minAvailable" "maxUnavailable" }}{{ end -}}
{{- $budget = mergeOverwrite $budget (deepCopy $own) -}}
{{- end -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- $own := dict "labels" $root.Values.pods.deploymentLabels "annotations" $root.Values.pods.deploymentAnnotations }}
  {{- include "shutterfleet.metadata" (list $root .component (printf "%s-%s" (include "shutterfleet.fullname" $root) .component) $own) | nindent 2 }}
spec:
  {{- include "shutterfleet.yaml" (omit $spec "selector" "template") | nindent 2 }}
  selector:
    matchLabels:
      {{- include "shutterfleet.selector" (list $root .component) | nindent 6 }}
  template:
    {{- include "shutterfleet.pod" $pod | nindent 4 }}
{{- if $budget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "shutterfleet.metadata" (list $root .component (printf "%s-%s" (include "shutterfleet.fullname" $root) .component)) | nindent 2 }}
spec:
  # By default, a node drain evicts one pod at a time; pods that are not ready never block it.
  {{- include "shutterfleet.yaml" (omit $budget "enabled" "selector") | nindent 2 }}
  selector:
    matchLabels:
      {{- include "shutterfleet.selector" (list $root .component) | nindent 6 }}
{{- end }}
{{- end }}

{{- /* An annotation that changes with the content of the Secrets that the pod reads, so that an upgrade restarts it. Salted with the
       random uid of the Secret, because annotations of pods are less protected. Empty without a cluster, where Secrets are unknown. */}}
{{- define "shutterfleet.secretVersions" -}}
{{- $root := .root -}}
{{- if .probes }}
{{- $names := list -}}
{{- range .files }}{{ if not .reread }}{{ $names = append $names .secret }}{{ end }}{{ end -}}
{{- if and .traced $root.Values.tracing.endpoint $root.Values.tracing.existingSecret }}{{ $names = append $names (tpl $root.Values.tracing.existingSecret $root) }}{{ end -}}
{{- $content := "" -}}
{{- /* A Job fills the Secret of keys after Helm has rendered, unless it is the user's. */}}
{{- if not $root.Values.keys.existingSecret }}{{ $names = without $names (include "shutterfleet.keysSecret" $root) }}{{ end -}}
{{- range uniq $names | sortAlpha }}
{{- with lookup "v1" "Secret" $root.Release.Namespace . }}{{ $content = printf "%s %s %s" $content .metadata.uid (toJson .data) }}{{ end -}}
{{- end -}}
{{- with $content }}
shutterfleet.dev/secrets: {{ sha256sum . }}
{{- end }}
{{- end }}
{{- end }}
