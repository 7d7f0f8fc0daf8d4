{{- /* Labels of the pods that the controller creates. */}}
{{- define "shutterfleet.workerSelector" -}}
app.kubernetes.io/name: shutterfleet
app.kubernetes.io/instance: {{ include "shutterfleet.fullname" . | quote }}
app.kubernetes.io/component: worker
{{- end }}

{{- /* Egress rule for a component of the release: (list $ component port) */}}
{{- define "shutterfleet.rule" -}}
to:
  - podSelector:
      matchLabels:
        {{- include "shutterfleet.selector" (list (index . 0) (index . 1)) | nindent 8 }}
ports: [{ port: {{ index . 2 }} }]
{{- end }}

{{- define "shutterfleet.ruleFromWorkers" -}}
{{- $root := index . 0 -}}
to:
  - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: {{ $root.Release.Namespace | quote }} } }
    podSelector:
      matchLabels:
        {{- include "shutterfleet.selector" (list $root (index . 1)) | nindent 8 }}
ports: [{ port: {{ index . 2 }} }]
{{- end }}

{{- /* All addresses except the denied networks. */}}
{{- define "shutterfleet.world" -}}
{{- $v4 := list }}
{{- $v6 := list }}
{{- range .Values.networkPolicy.deniedNetworks }}
{{- if contains ":" . }}{{ $v6 = append $v6 . }}{{ else }}{{ $v4 = append $v4 . }}{{ end }}
{{- end }}
to:
  - ipBlock: {{ toJson (merge (dict "cidr" "0.0.0.0/0") (ternary (dict "except" $v4) dict (gt (len $v4) 0))) }}
  - ipBlock: {{ toJson (merge (dict "cidr" "::/0") (ternary (dict "except" $v6) dict (gt (len $v6) 0))) }}
{{- end }}

{{- /* Egress rules for the API server, as the cluster shows its addresses: those of its Service, and those behind it. None without a cluster. */}}
{{- define "shutterfleet.apiServer" -}}
{{- $rules := list }}
{{- with lookup "v1" "Service" "default" "kubernetes" }}
{{- $rules = append $rules (dict "addresses" .spec.clusterIPs "ports" .spec.ports) }}
{{- end }}
{{- with lookup "discovery.k8s.io/v1" "EndpointSlice" "default" "kubernetes" }}
{{- $ports := .ports }}
{{- range .endpoints }}{{ $rules = append $rules (dict "addresses" .addresses "ports" $ports) }}{{ end }}
{{- end }}
{{- $out := list }}
{{- range $rules }}
{{- $peers := list }}
{{- range .addresses }}{{ $peers = append $peers (dict "ipBlock" (dict "cidr" (printf "%s/%s" . (ternary "128" "32" (contains ":" .))))) }}{{ end }}
{{- $ports := list }}
{{- range .ports }}{{ $ports = append $ports (dict "port" (int .port)) }}{{ end }}
{{- $out = append $out (dict "to" $peers "ports" $ports) }}
{{- end }}
{{- toYaml $out }}
{{- end }}
