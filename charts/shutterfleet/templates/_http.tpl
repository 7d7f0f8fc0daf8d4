{{- /* The Service and the HorizontalPodAutoscaler of a component that serves HTTP: (list $ component) */}}
{{- define "shutterfleet.http" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $config := index $root.Values $component -}}
{{- $name := printf "%s-%s" (include "shutterfleet.fullname" $root) $component -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "shutterfleet.metadata" (list $root $component $name (pick $config.service "labels" "annotations")) | nindent 2 }}
spec:
  {{- $fields := merge (dict "type" $config.service.type) $config.service.spec }}
  {{- include "shutterfleet.serviceSpec" (list $root $component $fields) | nindent 2 }}
  ports:
    - name: http
      port: {{ $config.service.port }}
      targetPort: http
      appProtocol: http
      {{- with $config.service.nodePort }}
      nodePort: {{ . }}
      {{- end }}
{{- with $config.autoscaling }}
{{- if and .enabled (not $root.Values.evaluation.enabled) }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "shutterfleet.metadata" (list $root $component $name) | nindent 2 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ $name }} }
  minReplicas: {{ .minReplicas }}
  maxReplicas: {{ .maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ .targetCPUUtilizationPercentage }} }
    {{- if .targetMemoryUtilizationPercentage }}
    - type: Resource
      resource:
        name: memory
        target: { type: Utilization, averageUtilization: {{ .targetMemoryUtilizationPercentage }} }
    {{- end }}
    {{- with .metrics }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .behavior }}
  behavior:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}
